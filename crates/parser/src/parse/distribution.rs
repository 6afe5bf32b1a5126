//! Distribution over the labelled trees of a sentence, with labels by name.
//!
//! ```text
//! P(h → m, ℓ) = μ(h, m) · p(ℓ | h → m)
//! ```
//!
//! μ are the arc marginals of all trees together (the matrix-tree theorem or the inside–outside
//! algorithm, see [`tutte_trees`]). Labels are independent given the tree. Arcs that the model pruned have no labels
//! and cost nothing. A query costs as much as for unlabelled trees, at most O(n³) and once, plus O(labels) for each
//! remaining arc.
//!
//! **Sample space.** The trees of the tree set that consist of candidate arcs. Arcs that the pruner or the first pass
//! left out have probability zero here; [`LabelledDistribution::arc_probs`] includes them. The probabilities are those of the last pass, which has seen the tree of the
//! first pass (see [`SecondPass`](crate::SecondPass)): a proper distribution, given that tree.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;
use tutte_treebank::Sentence;
use tutte_trees::rand_core::Rng;
use tutte_trees::{
    ArcMatrix, Constraints, Error, Estimate, LabelledTree, LabelledTreeDistribution, Tree,
    TreeDistribution, TreeSet,
};

use crate::Isotonic;

/// The distribution over the labelled trees of a sentence, from
/// [`Parser::distribution`](crate::Parser::distribution). Words are numbered from 1; 0 is the root.
///
/// Everything is exact, except [`path_prob`](Self::path_prob) where it says so.
///
/// ```
/// # use tutte::{TrainingOptions, Parser, train};
/// # let treebank: [tutte_treebank::Sentence; 1] = ["\
/// # 1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
/// # 2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
/// # 3\tcats\tcat\tNOUN\t_\t_\t2\tobj\t_\t_
/// # ".parse()?];
/// # let options = TrainingOptions::plain().with_bits(14).with_label_bits(8).with_passes(2);
/// # let model = train(&treebank, &options, &mut ())?;
/// use tutte_trees::Constraints;
///
/// let d = Parser::new(&model).distribution(&treebank[0])?; // "Dogs chase cats"
/// for other in d.alternatives(3, 2)? {
///     println!("{} {} {:.2}", other.head, other.label, other.probability); // 2 obj 0.93 …
/// }
/// println!("{:.2} nats", d.entropy()); // how uncertain is the tree?
/// println!("{:.2}", d.path_prob(2, 3)?.mean); // is "cats" somewhere below "chase"?
/// for ranked in d.kbest(3) {
///     println!("{:?} {:.2}", ranked.tree.tree().heads(), ranked.log_prob.exp());
/// }
///
/// // Given that "Dogs" is the head of "cats":
/// let constraints = Constraints::new().require_arc(1, 3);
/// let posterior = d.condition(&constraints)?;
/// assert!((posterior.head_probs(3)?[1] - 1.0).abs() < 1e-9);
/// assert!((d.log_prob_of(&constraints)?.exp() - d.head_probs(3)?[1]).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LabelledDistribution<'a> {
    trees: LabelledTreeDistribution,
    names: &'a [String],
    /// Probabilities of all arcs, if the model left some out.
    arc_probs: Option<ArcMatrix>,
    /// Map from the probabilities of the best tree's arcs to confidences.
    isotonic: Option<&'a Isotonic>,
}

/// A possible head of a word, with the most probable label of that arc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alternative<'a> {
    /// The head, 0 for the root.
    pub head: usize,
    /// Probability of the head, summed over labels.
    pub probability: f64,
    /// The most probable label of this arc; `_` if the model has no labels.
    pub label: &'a str,
    /// Probability of the label given the head.
    pub label_probability: f64,
}

/// A labelled tree and its log-probability.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedTree {
    /// The tree.
    pub tree: LabelledTree,
    /// log P(tree), in nats.
    pub log_prob: f64,
}

impl<'a> LabelledDistribution<'a> {
    /// Makes a distribution whose labels are indices in `names`. Without names there is one label.
    pub(crate) fn new(trees: LabelledTreeDistribution, names: &'a [String]) -> Self {
        Self { trees, names, arc_probs: None, isotonic: None }
    }

    /// Sets the probabilities of all arcs, including those that the model left out.
    pub(crate) fn with_arc_probs(self, arc_probs: ArcMatrix) -> Self {
        Self { arc_probs: Some(arc_probs), ..self }
    }

    /// Sets the calibration of reported probabilities.
    pub(crate) fn with_isotonic(self, isotonic: Option<&'a Isotonic>) -> Self {
        Self { isotonic, ..self }
    }

    pub(crate) fn isotonic(&self) -> Option<&'a Isotonic> {
        self.isotonic
    }

    /// Returns the number of words.
    pub fn words(&self) -> usize {
        self.trees.words()
    }

    /// Returns the tree set.
    pub fn tree_set(&self) -> TreeSet {
        self.trees.tree_set()
    }

    /// Returns the distribution without label names, which has more queries: divergences, covariances and others.
    pub fn trees(&self) -> &LabelledTreeDistribution {
        &self.trees
    }

    /// Returns the distribution over unlabelled trees, with labels summed out.
    pub fn arcs(&self) -> &TreeDistribution {
        self.trees.arcs()
    }

    /// Returns the probability of every arc, as it is reported. Arcs that a step of the model left out have the
    /// probability that the step gave them. The marginals of the others are scaled down to make room. The heads of a
    /// word sum to 1. Without such steps, and after [`condition`](Self::condition), these are the
    /// [marginals](TreeDistribution::marginals).
    pub fn arc_probs(&self) -> &ArcMatrix {
        self.arc_probs.as_ref().unwrap_or_else(|| self.arcs().marginals())
    }

    /// Returns the names of the labels by their number; empty if the model has no labels.
    pub fn labels(&self) -> &'a [String] {
        self.names
    }

    /// Returns the number of a label.
    pub fn label(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|other| other == name)
    }

    /// Returns the name of a label; `_` if there is no such number.
    pub fn name(&self, label: usize) -> &'a str {
        self.names.get(label).map_or("_", String::as_str)
    }

    /// Returns the probability of each head of a word. `[0]` is the root, and the entry of the word itself is 0.
    /// They sum to 1.
    ///
    /// # Errors
    /// [`Error::NoSuchArc`] if there is no such word.
    pub fn head_probs(&self, word: usize) -> Result<Vec<f64>, Error> {
        self.check_word(word)?;
        let marginals = self.arcs().marginals();
        let prob = |head| if head == word { 0.0 } else { marginals[(head, word)] };
        Ok((0..=self.words()).map(prob).collect())
    }

    /// Returns the probability of each label given an arc, by the number of the label.
    ///
    /// # Errors
    /// [`Error::NoSuchArc`].
    pub fn label_probs(&self, head: usize, word: usize) -> Result<Vec<f64>, Error> {
        self.trees.label_probs(head, word)
    }

    /// Returns the most probable label of an arc and its probability given the arc. Ties go to the first label.
    ///
    /// # Errors
    /// [`Error::NoSuchArc`].
    pub fn best_label(&self, head: usize, word: usize) -> Result<(usize, f64), Error> {
        Ok(most_probable(&self.label_probs(head, word)?))
    }

    /// Returns the `k` most probable heads of a word, best first, each with its best label; fewer if fewer are
    /// possible. The probabilities of all possible heads sum to 1.
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

    /// Returns the rank of a head of a word: 1 plus the number of more probable heads.
    ///
    /// # Errors
    /// [`Error::NoSuchArc`].
    pub fn head_rank(&self, word: usize, head: usize) -> Result<usize, Error> {
        head_rank(self.arc_probs(), head, word)
    }

    /// Returns the entropy H = −Σ p log p over labelled trees, in nats.
    pub fn entropy(&self) -> f64 {
        self.trees.entropy()
    }

    /// Returns the entropy of the head of a word, in nats: the information that knowing the head gives about the
    /// tree.
    ///
    /// # Errors
    /// [`Error::NoSuchArc`] if there is no such word.
    pub fn head_entropy(&self, word: usize) -> Result<f64, Error> {
        self.arcs().head_entropy(word)
    }

    /// Returns log P(tree), in nats; −∞ if the tree is impossible.
    ///
    /// # Errors
    /// [`Error::DifferentLengths`], [`Error::NoSuchLabel`].
    pub fn log_prob(&self, tree: &LabelledTree) -> Result<f64, Error> {
        self.trees.log_prob(tree)
    }

    /// Returns log P(the tree satisfies the constraints); −∞ if no tree does.
    ///
    /// # Errors
    /// [`Error::NoSuchArc`], [`Error::NoSuchLabel`].
    pub fn log_prob_of(&self, constraints: &Constraints) -> Result<f64, Error> {
        self.trees.log_prob_of(constraints)
    }

    /// Returns log P(heads and labels of a sentence), with those that are `_` summed out. It is −∞ if they are
    /// impossible: a cycle, an arc that was pruned, a label that the model does not have. A label without a head is
    /// ignored.
    ///
    /// # Errors
    /// [`Error::DifferentLengths`] if the sentence has another length.
    pub fn log_prob_in(&self, sentence: &Sentence) -> Result<f64, Error> {
        self.log_prob_of_columns(&annotated_columns(sentence))
    }

    /// Returns the [log-probability](Self::log_prob_in) of a head and a label for each word.
    pub(crate) fn log_prob_of_columns(
        &self,
        columns: &[(Option<usize>, &str)],
    ) -> Result<f64, Error> {
        self.check_length(columns.len())?;
        let mut constraints = Constraints::new();
        let mut heads = Vec::with_capacity(columns.len());
        let mut labels = Vec::with_capacity(columns.len());
        for (word, &(head, name)) in (1..).zip(columns) {
            let Some(head) = head else { continue };
            constraints = constraints.require_arc(head, word);
            heads.push(head);
            if !self.names.is_empty() && name != "_" {
                let Some(label) = self.label(name) else { return Ok(f64::NEG_INFINITY) };
                constraints = constraints.require_label(word, label);
                labels.push(label);
            } else if self.names.is_empty() {
                labels.push(0);
            }
        }
        // A complete tree needs no sum over trees.
        if heads.len() == columns.len() && labels.len() == heads.len() {
            return match Tree::new(&heads) {
                Ok(tree) => self.log_prob(&LabelledTree::new(tree, labels)?),
                Err(_) => Ok(f64::NEG_INFINITY),
            };
        }
        self.log_prob_of(&constraints)
    }

    /// Conditions the distribution on constraints: p(y | constraints) = p(y) / P(constraints).
    ///
    /// Arcs that the model pruned stay impossible. If constraints are known before a sentence is parsed,
    /// [`Parser::analyse`](crate::Parser::analyse) keeps required arcs as candidates and conditions every step of
    /// the model.
    ///
    /// # Errors
    /// [`Error::NoTree`] if no tree satisfies them, [`Error::NoSuchArc`], [`Error::NoSuchLabel`].
    pub fn condition(&self, constraints: &Constraints) -> Result<Self, Error> {
        let trees = self.trees.condition(constraints)?;
        Ok(Self::new(trees, self.names).with_isotonic(self.isotonic))
    }

    /// Returns the `k` most probable labelled trees, best first; fewer if there are fewer.
    pub fn kbest(&self, k: usize) -> Vec<RankedTree> {
        let best = self.trees.kbest(k).into_iter();
        best.map(|scored| {
            // Trees of the list have the right length.
            let log_prob = self.trees.log_prob(&scored.tree).unwrap_or(f64::NEG_INFINITY);
            RankedTree { tree: scored.tree, log_prob }
        })
        .collect()
    }

    /// Samples a labelled tree.
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> LabelledTree {
        self.trees.sample(rng)
    }

    /// Samples several labelled trees independently. The same seed gives the same trees.
    pub fn samples(&self, count: usize, seed: u64) -> Vec<LabelledTree> {
        let mut rng = Pcg64::seed_from_u64(seed);
        (0..count).map(|_| self.sample(&mut rng)).collect()
    }

    /// Returns P(`word` is `ancestor` or one of its descendants).
    ///
    /// Exact, with a standard error of 0, in projective sets and where there are not too many probable paths
    /// between the two words. Otherwise estimated from samples, with a fixed seed
    /// ([`TreeDistribution::path_prob`]).
    ///
    /// # Errors
    /// [`Error::NoSuchArc`] if one of the words does not exist.
    pub fn path_prob(&self, ancestor: usize, word: usize) -> Result<Estimate, Error> {
        self.arcs().path_prob(ancestor, word, &mut Pcg64::seed_from_u64(1))
    }

    fn check_word(&self, word: usize) -> Result<(), Error> {
        let words = self.words();
        if (1..=words).contains(&word) {
            Ok(())
        } else {
            Err(Error::NoSuchArc { head: 0, modifier: word, words })
        }
    }

    /// Refuses a number of words that is not that of the distribution.
    pub(crate) fn check_length(&self, words: usize) -> Result<(), Error> {
        let left = self.words();
        if left == words { Ok(()) } else { Err(Error::DifferentLengths { left, right: words }) }
    }
}

/// Returns the marginal of an arc.
pub(crate) fn marginal(marginals: &ArcMatrix, head: usize, word: usize) -> Result<f64, Error> {
    let words = marginals.words();
    if head <= words && (1..=words).contains(&word) && head != word {
        Ok(marginals[(head, word)])
    } else {
        Err(Error::NoSuchArc { head, modifier: word, words })
    }
}

/// Returns the most probable label and its probability. Ties go to the first label.
pub(crate) fn most_probable(probs: &[f64]) -> (usize, f64) {
    let best = probs.iter().copied().enumerate().rev().max_by(|a, b| a.1.total_cmp(&b.1));
    best.unwrap_or((0, 0.0))
}

/// Returns the head and the label of each word, as the sentence has them.
pub(crate) fn annotated_columns(sentence: &Sentence) -> Vec<(Option<usize>, &str)> {
    sentence.words().map(|word| (word.head(), word.deprel())).collect()
}

/// Returns 1 plus the number of heads of a word that are more probable than this one.
pub(crate) fn head_rank(marginals: &ArcMatrix, head: usize, word: usize) -> Result<usize, Error> {
    let own = marginal(marginals, head, word)?;
    let heads = (0..=marginals.words()).filter(|head| *head != word);
    Ok(1 + heads.filter(|head| marginals[(*head, word)] > own).count())
}

#[cfg(test)]
mod tests;
