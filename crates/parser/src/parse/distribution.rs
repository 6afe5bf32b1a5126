//! The labelled trees of a sentence and their probabilities, with labels by name.
//!
//! ```text
//! P(h → m, ℓ) = μ(h, m) · p(ℓ | h → m)
//! ```
//!
//! μ are the arc marginals of all trees together (the matrix-tree theorem or the inside–outside
//! algorithm, see [`tutte_trees`]); labels are independent given the tree. Arcs that the model has left
//! out have no labels and cost nothing, so a question costs what it costs of bare trees, O(n³) at most
//! and once, plus O(labels) for each arc that is left.
//!
//! **What the probabilities are of.** Of the trees of the tree set that are made of the arcs the model
//! looks at: what the pruner left out, and the first pass thought hopeless, has probability zero. They
//! are those of the last pass, which has seen the tree of the first (see [`SecondPass`](crate::SecondPass)): a
//! proper distribution, given that tree.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;
use tutte_treebank::Sentence;
use tutte_trees::rand_core::Rng;
use tutte_trees::{
    Constraints, Error, Estimate, LabelledTree, LabelledTreeDistribution, Tree, TreeDistribution,
    TreeSet,
};

/// The distribution over the labelled trees of a sentence, from
/// [`Parser::distribution`](crate::Parser::distribution). Words are numbered from 1; 0 is the root.
///
/// Everything is exact, but for [`path_prob`](Self::path_prob) where it says so.
///
/// ```
/// # use tutte::{TrainingOptions, Parser, train};
/// # let treebank: [tutte_treebank::Sentence; 1] = ["\
/// # 1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
/// # 2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
/// # 3\tcats\tcat\tNOUN\t_\t_\t2\tobj\t_\t_
/// # ".parse()?];
/// # let options = TrainingOptions { bits: 14, label_bits: 8, passes: 2, ..TrainingOptions::plain() };
/// # let model = train(&treebank, &options, |_, _| {})?;
/// use tutte_trees::Constraints;
///
/// let d = Parser::new(&model).distribution(&treebank[0])?; // "Dogs chase cats"
/// for other in d.alternatives(3, 2)? {
///     println!("{} {} {:.2}", other.head, other.label, other.probability); // 2 obj 0.93 …
/// }
/// println!("{:.2} nats", d.entropy()); // how sure is everything?
/// println!("{:.2}", d.path_prob(2, 3)?.mean); // is "cats" somewhere below "chase"?
/// for ranked in d.kbest(3) {
///     println!("{:?} {:.2}", ranked.tree.tree().heads(), ranked.log_prob.exp());
/// }
///
/// // And if "Dogs" is known to head "cats"?
/// let known = Constraints::new().require_arc(1, 3);
/// let posterior = d.condition(&known)?;
/// assert!((posterior.head_probs(3)?[1] - 1.0).abs() < 1e-9);
/// assert!((d.log_prob_of(&known)?.exp() - d.head_probs(3)?[1]).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LabelledDistribution<'a> {
    trees: LabelledTreeDistribution,
    names: &'a [String],
}

/// A head that a word may have, with the label that goes best with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alternative<'a> {
    /// The head, 0 for the root.
    pub head: usize,
    /// Its probability, whatever the label.
    pub probability: f64,
    /// The most probable label of this arc; `_` if the model has no labels.
    pub label: &'a str,
    /// The probability of the label, given the head.
    pub label_probability: f64,
}

/// A labelled tree and the logarithm of its probability.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedTree {
    /// The tree.
    pub tree: LabelledTree,
    /// log P(tree), in nats.
    pub log_prob: f64,
}

impl<'a> LabelledDistribution<'a> {
    /// Labels are numbers among the names; without names there is one label.
    pub(crate) fn new(trees: LabelledTreeDistribution, names: &'a [String]) -> Self {
        Self { trees, names }
    }

    /// The number of words.
    pub fn words(&self) -> usize {
        self.trees.words()
    }

    /// The trees that are possible.
    pub fn tree_set(&self) -> TreeSet {
        self.trees.tree_set()
    }

    /// The same without names: divergences, covariances and more are asked there.
    pub fn trees(&self) -> &LabelledTreeDistribution {
        &self.trees
    }

    /// The distribution over bare trees, labels summed out.
    pub fn arcs(&self) -> &TreeDistribution {
        self.trees.arcs()
    }

    /// The names of the labels, in the order of their numbers; none if the model has no labels.
    pub fn labels(&self) -> &'a [String] {
        self.names
    }

    /// The number of a label.
    pub fn label(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|other| other == name)
    }

    /// The name of a label; `_` if there is none of this number.
    pub fn name(&self, label: usize) -> &'a str {
        self.names.get(label).map_or("_", String::as_str)
    }

    /// The probability of each head of a word: `[0]` is the root's, and its own place is 0. They sum
    /// to 1.
    ///
    /// # Errors
    /// [`Error::NoSuchArc`] if there is no such word.
    pub fn head_probs(&self, word: usize) -> Result<Vec<f64>, Error> {
        self.check_word(word)?;
        let marginals = self.arcs().marginals();
        let prob = |head| if head == word { 0.0 } else { marginals[(head, word)] };
        Ok((0..=self.words()).map(prob).collect())
    }

    /// The probability of each label of an arc, given the arc, by the label's number.
    ///
    /// # Errors
    /// [`Error::NoSuchArc`].
    pub fn label_probs(&self, head: usize, word: usize) -> Result<Vec<f64>, Error> {
        self.trees.label_probs(head, word)
    }

    /// The most probable label of an arc and its probability, given the arc. Of several, the first.
    ///
    /// # Errors
    /// [`Error::NoSuchArc`].
    pub fn best_label(&self, head: usize, word: usize) -> Result<(usize, f64), Error> {
        let probs = self.label_probs(head, word)?;
        let best = probs.iter().copied().enumerate().rev().max_by(|a, b| a.1.total_cmp(&b.1));
        Ok(best.unwrap_or((0, 0.0)))
    }

    /// The `k` most probable heads of a word, best first, each with its best label; fewer if fewer are
    /// possible. All of them sum to 1.
    ///
    /// # Errors
    /// [`Error::NoSuchArc`] if there is no such word.
    pub fn alternatives(&self, word: usize, k: usize) -> Result<Vec<Alternative<'a>>, Error> {
        let probs = self.head_probs(word)?.into_iter().enumerate();
        let mut heads: Vec<(usize, f64)> = probs.filter(|(_, p)| *p > 0.0).collect();
        heads.sort_by(|a, b| b.1.total_cmp(&a.1));
        let alternative = |(head, probability)| {
            let (label, label_probability) = self.best_label(head, word)?;
            Ok(Alternative { head, probability, label: self.name(label), label_probability })
        };
        heads.into_iter().take(k).map(alternative).collect()
    }

    /// H = −Σ p log p over labelled trees, in nats.
    pub fn entropy(&self) -> f64 {
        self.trees.entropy()
    }

    /// The entropy of a word's head, in nats: what asking somebody for it would tell about the tree.
    ///
    /// # Errors
    /// [`Error::NoSuchArc`] if there is no such word.
    pub fn head_entropy(&self, word: usize) -> Result<f64, Error> {
        self.arcs().head_entropy(word)
    }

    /// log P(tree), in nats; −∞ if it is impossible.
    ///
    /// # Errors
    /// [`Error::DifferentLengths`], [`Error::NoSuchLabel`].
    pub fn log_prob(&self, tree: &LabelledTree) -> Result<f64, Error> {
        self.trees.log_prob(tree)
    }

    /// log P(a tree satisfies the constraints); −∞ if none does.
    ///
    /// # Errors
    /// [`Error::NoSuchArc`], [`Error::NoSuchLabel`].
    pub fn log_prob_of(&self, known: &Constraints) -> Result<f64, Error> {
        self.trees.log_prob_of(known)
    }

    /// log P(the heads and labels that a sentence's columns give), with those that are `_` summed out;
    /// −∞ if that is impossible: a cycle, an arc that was left out, a label that the model does not
    /// have. A label without a head counts for nothing.
    ///
    /// # Errors
    /// [`Error::DifferentLengths`] if it is a sentence of another length.
    pub fn log_prob_in(&self, sentence: &Sentence) -> Result<f64, Error> {
        self.check_length(sentence)?;
        let mut known = Constraints::new();
        let mut labels = Vec::new();
        for (word, token) in (1..).zip(sentence.words()) {
            let Some(head) = token.head() else { continue };
            known = known.require_arc(head, word);
            if !self.names.is_empty() && token.deprel() != "_" {
                let Some(label) = self.label(token.deprel()) else {
                    return Ok(f64::NEG_INFINITY);
                };
                known = known.require_label(word, label);
                labels.push(label);
            } else if self.names.is_empty() {
                labels.push(0);
            }
        }
        // A whole tree needs no sum over trees.
        match sentence.heads() {
            Some(heads) if labels.len() == heads.len() => match Tree::new(&heads) {
                Ok(tree) => self.log_prob(&LabelledTree::new(tree, labels)?),
                Err(_) => Ok(f64::NEG_INFINITY),
            },
            _ => self.log_prob_of(&known),
        }
    }

    /// The distribution given what is known about arcs and labels: p(y | known) = p(y) / P(known).
    ///
    /// What the model has left out stays out. If a head is known before a sentence is parsed,
    /// [`Parser::analyse`](crate::Parser::analyse) looks at it in any case, and lets the rest of the model
    /// know.
    ///
    /// # Errors
    /// [`Error::NoTree`] if nothing satisfies it, [`Error::NoSuchArc`], [`Error::NoSuchLabel`].
    pub fn condition(&self, known: &Constraints) -> Result<Self, Error> {
        Ok(Self { trees: self.trees.condition(known)?, names: self.names })
    }

    /// The `k` most probable labelled trees, best first; fewer if there are fewer.
    pub fn kbest(&self, k: usize) -> Vec<RankedTree> {
        let best = self.trees.kbest(k).into_iter();
        best.map(|scored| {
            // A tree of the list is one of the distribution.
            let log_prob = self.trees.log_prob(&scored.tree).unwrap_or(f64::NEG_INFINITY);
            RankedTree { tree: scored.tree, log_prob }
        })
        .collect()
    }

    /// A labelled tree drawn at random from the distribution.
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> LabelledTree {
        self.trees.sample(rng)
    }

    /// Several, independent of each other; the same seed, the same trees.
    pub fn samples(&self, count: usize, seed: u64) -> Vec<LabelledTree> {
        let mut rng = Pcg64::seed_from_u64(seed);
        (0..count).map(|_| self.sample(&mut rng)).collect()
    }

    /// P(`word` is `ancestor` or lies below it).
    ///
    /// Exact, with a standard error of 0, in projective sets and wherever the probable paths between
    /// the two are not too many; otherwise estimated from samples, always the same
    /// ([`TreeDistribution::path_prob`]).
    ///
    /// # Errors
    /// [`Error::NoSuchArc`] if one of the two does not exist.
    pub fn path_prob(&self, ancestor: usize, word: usize) -> Result<Estimate, Error> {
        self.arcs().path_prob(ancestor, word, &mut Pcg64::seed_from_u64(1))
    }

    fn check_word(&self, word: usize) -> Result<(), Error> {
        let words = self.words();
        match (1..=words).contains(&word) {
            true => Ok(()),
            false => Err(Error::NoSuchArc { head: 0, modifier: word, words }),
        }
    }

    pub(crate) fn check_length(&self, sentence: &Sentence) -> Result<(), Error> {
        let (left, right) = (self.words(), sentence.len());
        if left == right { Ok(()) } else { Err(Error::DifferentLengths { left, right }) }
    }
}

#[cfg(test)]
mod tests;
