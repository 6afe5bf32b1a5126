//! Distribution over the trees of a sentence with uncertain tags.
//!
//! The distribution of a parser is conditional on the tags t. If the tags have several readings with probabilities
//! P(t), the probability of a tree is the mean over the readings:
//!
//! ```text
//! P(tree) = Σ_t P(t) P(tree | t)       P(h → m) = Σ_t P(t) P(h → m | t)
//! ```
//!
//! The sum is over the k most probable readings, renormalised. Everything else is exact, except
//! [`entropy`](Mixture::entropy). Usually there is one reading. The cost is O(n²) for each reading, in addition to
//! its distribution.

use std::borrow::Cow;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use tutte_treebank::Sentence;
use tutte_trees::{
    ArcMatrix, Constraints, LabelledArcMatrix, LabelledTree, LabelledTreeDistribution, MomentMatch,
    MomentOptions, Tree, TreeSet, Workspace, arcs as arcs_of, fit_marginals, mbr_with,
};

use crate::parse::annotation::reported_head_probs;
use crate::parse::distribution::{annotated_columns, head_rank, marginal, most_probable};
use crate::parse::label_limits::ChosenTree;
use crate::{
    Alternative, Error, Isotonic, LabelLimits, LabelledDistribution, Parse, RankedTree, Repair,
};

/// The distribution over the labelled trees of a sentence under several readings of its tags:
/// P(tree) = Σ_t P(t) P(tree | t).
///
/// ```
/// # use tutte::{TrainingOptions, Parser, train};
/// # let treebank: [tutte_treebank::Sentence; 1] =
/// #     ["1\tTea\ttea\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\tcool\tVERB\t_\t_\t0\troot\t_\t_\n".parse()?];
/// # let options = TrainingOptions::plain().with_passes(1).with_bits(12).with_label_bits(8);
/// # let model = train(&treebank, &options, &mut ())?;
/// use tutte::Mixture;
/// let mut other = treebank[0].clone(); // "cools" read as a noun
/// other.set(2, tutte_treebank::Column::Upos, "NOUN")?;
/// let one = Parser::new(&model).distribution(&treebank[0])?;
/// let other = Parser::new(&model).distribution(&other)?;
/// let both = Mixture::new(vec![(0.75, &one), (0.25, &other)]);
/// let mean = 0.75 * one.head_probs(1)?[2] + 0.25 * other.head_probs(1)?[2];
/// assert!((both.marginals()[(2, 1)] - mean).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Mixture<'a, 'd> {
    /// Weights, which sum to 1, and distributions of the same sentence; at least one.
    readings: Vec<(f64, &'d LabelledDistribution<'a>)>,
    /// Marginals of candidate arcs.
    marginals: Cow<'d, ArcMatrix>,
    /// Probabilities of all arcs, as they are reported.
    arc_probs: Cow<'d, ArcMatrix>,
    /// Limits of the labels of the best tree.
    label_limits: LabelLimits,
}

/// The arc-factored distribution that is nearest to a [`Mixture`], by [`Mixture::nearest_distribution`].
#[derive(Clone, Debug)]
pub struct NearestDistribution<'a> {
    /// The distribution.
    pub distribution: LabelledDistribution<'a>,
    /// Largest difference between a marginal of the mixture and one of the distribution.
    pub residual: f64,
}

impl<'a, 'd> Mixture<'a, 'd> {
    /// Makes a mixture from weights, which need not sum to 1, and distributions of one model over the trees of one
    /// sentence.
    ///
    /// # Panics
    /// If there are no readings, or they have different lengths.
    pub fn new(mut readings: Vec<(f64, &'d LabelledDistribution<'a>)>) -> Self {
        let total: f64 = readings.iter().map(|(weight, _)| weight).sum();
        readings.iter_mut().for_each(|(weight, _)| *weight /= total);
        let (_, first) = readings[0];
        if let [(weight, one)] = &mut readings[..] {
            *weight = 1.0;
            return Self {
                marginals: Cow::Borrowed(one.arcs().marginals()),
                arc_probs: Cow::Borrowed(one.arc_probs()),
                readings,
                label_limits: LabelLimits::default(),
            };
        }
        let mut marginals = ArcMatrix::zeros(first.words());
        let mut arc_probs = ArcMatrix::zeros(first.words());
        for (weight, distribution) in &readings {
            let add = |sum: f64, prob: f64| sum + weight * prob;
            marginals.zip_in_place(distribution.arcs().marginals(), add);
            arc_probs.zip_in_place(distribution.arc_probs(), add);
        }
        Self {
            readings,
            marginals: Cow::Owned(marginals),
            arc_probs: Cow::Owned(arc_probs),
            label_limits: LabelLimits::default(),
        }
    }

    /// Sets labels that at most one modifier of each head may have in the best tree. Probabilities do not change.
    pub fn with_label_limits(self, label_limits: LabelLimits) -> Self {
        Self { label_limits, ..self }
    }

    fn first(&self) -> &'d LabelledDistribution<'a> {
        self.readings[0].1
    }

    /// Returns the calibration of reported probabilities.
    pub(crate) fn isotonic(&self) -> Option<&'a Isotonic> {
        self.first().isotonic()
    }

    /// Returns the number of words.
    pub fn words(&self) -> usize {
        self.first().words()
    }

    /// Returns the tree set.
    pub fn tree_set(&self) -> TreeSet {
        self.first().tree_set()
    }

    /// Returns the names of the labels; empty if the model has no labels.
    pub fn labels(&self) -> &'a [String] {
        self.first().labels()
    }

    /// Returns the name of a label; `_` if there is no such number.
    pub fn name(&self, label: usize) -> &'a str {
        self.first().name(label)
    }

    /// Returns the marginals of all arcs, over the trees of candidate arcs.
    pub fn marginals(&self) -> &ArcMatrix {
        &self.marginals
    }

    /// Returns the probability of every arc, as it is reported: with those that the model left out, see
    /// [`LabelledDistribution::arc_probs`].
    pub fn arc_probs(&self) -> &ArcMatrix {
        &self.arc_probs
    }

    /// Returns the [reported probability](Self::arc_probs) of an arc.
    ///
    /// # Errors
    /// If there is no such arc.
    pub fn arc_prob(&self, head: usize, word: usize) -> Result<f64, Error> {
        Ok(marginal(&self.arc_probs, head, word)?)
    }

    /// Returns the rank of a head of a word: 1 plus the number of more probable heads.
    ///
    /// # Errors
    /// If there is no such arc.
    pub fn head_rank(&self, word: usize, head: usize) -> Result<usize, Error> {
        Ok(head_rank(&self.arc_probs, head, word)?)
    }

    /// Returns the most probable head of each word. They need not form a tree.
    pub fn greedy_heads(&self) -> Vec<usize> {
        let best = |word: usize| {
            let heads = (0..=self.words()).filter(|head| *head != word);
            let probable = |a: &usize, b: &usize| {
                self.marginals[(*a, word)].total_cmp(&self.marginals[(*b, word)])
            };
            // Ties go to the first head.
            heads.rev().max_by(probable).unwrap_or(0)
        };
        (1..=self.words()).map(best).collect()
    }

    /// Returns the probability of each label given an arc, by the number of the label:
    /// Σ_t P(t) P(h → m | t) P(ℓ | h → m, t) / P(h → m).
    ///
    /// # Errors
    /// If there is no such arc.
    pub fn label_probs(&self, head: usize, word: usize) -> Result<Vec<f64>, Error> {
        if let [(_, one)] = self.readings[..] {
            return Ok(one.label_probs(head, word)?);
        }
        let mut sums = vec![0.0; self.labels().len().max(1)];
        for (weight, distribution) in &self.readings {
            let share = weight * distribution.arcs().marginal(head, word)?;
            if share > 0.0 {
                let probs = distribution.label_probs(head, word)?;
                sums.iter_mut().zip(probs).for_each(|(sum, prob)| *sum += share * prob);
            }
        }
        let total: f64 = sums.iter().sum();
        if total > 0.0 {
            sums.iter_mut().for_each(|sum| *sum /= total);
        }
        Ok(sums)
    }

    /// Returns the most probable label of an arc and its probability given the arc. Ties go to the first label.
    ///
    /// # Errors
    /// If there is no such arc.
    pub fn best_label(&self, head: usize, word: usize) -> Result<(usize, f64), Error> {
        Ok(most_probable(&self.label_probs(head, word)?))
    }

    /// Returns the candidate heads of a word that are more probable than a threshold, best first, each with its best
    /// label.
    ///
    /// # Errors
    /// If there is no such word.
    pub fn alternatives_above(
        &self,
        word: usize,
        threshold: f64,
    ) -> Result<Vec<Alternative<'a>>, Error> {
        self.others_above(word, None, threshold)
    }

    /// Returns the [alternatives](Self::alternatives_above) to one head.
    pub(crate) fn others_above(
        &self,
        word: usize,
        excluded: Option<usize>,
        threshold: f64,
    ) -> Result<Vec<Alternative<'a>>, Error> {
        self.arc_prob(usize::from(word == 0), word)?;
        let heads = (0..=self.words()).filter(|head| *head != word && Some(*head) != excluded);
        // Arcs that were left out have no labels.
        let candidates = heads.filter(|&head| self.marginals[(head, word)] > 0.0);
        let probs = candidates.map(|head| (head, self.arc_probs[(head, word)]));
        let mut heads: Vec<(usize, f64)> = probs.filter(|(_, prob)| *prob > threshold).collect();
        heads.sort_by(|a, b| b.1.total_cmp(&a.1));
        let alternative = |(head, probability)| {
            let (label, label_probability) = self.best_label(head, word)?;
            Ok(Alternative { head, probability, label: self.name(label), label_probability })
        };
        heads.into_iter().map(alternative).collect()
    }

    /// Returns log P(heads and labels of a sentence), as [`LabelledDistribution::log_prob_in`] does for one reading.
    ///
    /// # Errors
    /// If the sentence has another length.
    pub fn log_prob_in(&self, sentence: &Sentence) -> Result<f64, Error> {
        self.log_prob_of_columns(&annotated_columns(sentence))
    }

    /// Returns the [log-probability](Self::log_prob_in) of a head and a label for each word.
    pub(crate) fn log_prob_of_columns(
        &self,
        columns: &[(Option<usize>, &str)],
    ) -> Result<f64, Error> {
        self.log_mean(|reading| Ok(reading.log_prob_of_columns(columns)?))
    }

    /// Returns log P(tree), in nats; −∞ if the tree is impossible.
    ///
    /// # Errors
    /// If the tree has another length, or a label that the model does not have.
    pub fn log_prob(&self, tree: &LabelledTree) -> Result<f64, Error> {
        self.log_mean(|reading| Ok(reading.log_prob(tree)?))
    }

    /// Returns log Σ_t P(t) exp(log_prob(t)).
    fn log_mean(
        &self,
        log_prob: impl Fn(&LabelledDistribution<'_>) -> Result<f64, Error>,
    ) -> Result<f64, Error> {
        let terms = self.readings.iter().map(|(weight, it)| Ok(weight.ln() + log_prob(it)?));
        Ok(log_sum(&terms.collect::<Result<Vec<f64>, Error>>()?))
    }

    /// Returns the `k` most probable labelled trees, best first; fewer if there are fewer. A tree counts once, with the
    /// sum of its probabilities under all readings.
    ///
    /// The trees are among the k' best of some reading. A tree that is in none of these lists has at most the
    /// probability Σ_t P(t) P(last tree of list t | t). While that is more than the k-th tree has, the lists are made
    /// longer, up to 16 k trees. The result is exact unless that limit is reached, and then no tree that is missing is
    /// more probable than this bound.
    ///
    /// # Errors
    /// None for distributions of one model.
    pub fn kbest(&self, k: usize) -> Result<Vec<RankedTree>, Error> {
        if let [(_, one)] = self.readings[..] {
            return Ok(one.kbest(k));
        }
        let mut length = k;
        loop {
            let mut trees: Vec<LabelledTree> = Vec::new();
            let mut bound = 0.0;
            for (weight, distribution) in &self.readings {
                let list = distribution.kbest(length);
                if list.len() == length {
                    bound += weight * list.last().map_or(0.0, |last| last.log_prob.exp());
                }
                for ranked in list {
                    if !trees.contains(&ranked.tree) {
                        trees.push(ranked.tree);
                    }
                }
            }
            let mut ranked = trees
                .into_iter()
                .map(|tree| Ok(RankedTree { log_prob: self.log_prob(&tree)?, tree }))
                .collect::<Result<Vec<_>, Error>>()?;
            // Ties keep their order: by reading, then by rank.
            ranked.sort_by(|a, b| b.log_prob.total_cmp(&a.log_prob));
            ranked.truncate(k);
            let last = ranked.last().map_or(0.0, |last| last.log_prob.exp());
            if ranked.len() < k || last >= bound || length >= 16 * k.max(1) {
                return Ok(ranked);
            }
            length *= 2;
        }
    }

    /// Samples a labelled tree: first a reading, then a tree given the reading.
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> LabelledTree {
        let mut chosen = self.first();
        if self.readings.len() > 1 {
            // 53 random bits: a number in [0, 1).
            let mut rest = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            for (weight, distribution) in &self.readings {
                chosen = distribution;
                rest -= weight;
                if rest < 0.0 {
                    break;
                }
            }
        }
        chosen.sample(rng)
    }

    /// Samples several labelled trees independently. The same seed gives the same trees.
    pub fn samples(&self, count: usize, seed: u64) -> Vec<LabelledTree> {
        let mut rng = Pcg64::seed_from_u64(seed);
        (0..count).map(|_| self.sample(&mut rng)).collect()
    }

    /// Returns Σ_t P(t) H(tree | t), in nats: the entropy of the tree given the tags. It is a lower bound of the
    /// entropy of the mixture, and equal to it with one reading.
    pub fn entropy(&self) -> f64 {
        self.readings.iter().map(|(weight, distribution)| weight * distribution.entropy()).sum()
    }

    /// Returns the arc-factored distribution q over labelled trees that is nearest to the mixture p in KL(p‖q):
    ///
    /// ```text
    /// q(y, ℓ) = q(y) · Π_m q(ℓ_m | h → m)      q(h → m) = p(h → m)      q(ℓ | h → m) = p(ℓ | h → m)
    /// ```
    ///
    /// It has the marginals of the mixture for all arcs and labels, and answers all questions of a
    /// [`LabelledDistribution`] in one value: conditioning, entropy, paths, pairs of arcs, divergences. With one reading, it
    /// is the distribution itself. It takes a few Newton steps of O(n³) each.
    ///
    /// Where readings disagree, they differ in several arcs at once. q does not know which of these belong together.
    /// So [`kbest`](Self::kbest), [`sample`](Self::sample), [`log_prob`](Self::log_prob) and
    /// [`most_probable_parse`](Self::most_probable_parse) ask the mixture itself, which is exact and as fast. The entropy
    /// of q is at least that of the mixture, since no distribution with these marginals has a larger one.
    ///
    /// ```
    /// # use tutte::{TrainingOptions, Parser, train};
    /// # let treebank: [tutte_treebank::Sentence; 1] =
    /// #     ["1\tTea\ttea\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\tcool\tVERB\t_\t_\t0\troot\t_\t_\n".parse()?];
    /// # let options = TrainingOptions::plain().with_passes(1).with_bits(12).with_label_bits(8);
    /// # let model = train(&treebank, &options, &mut ())?;
    /// use tutte::Mixture;
    /// use tutte_trees::Constraints;
    ///
    /// let mut other = treebank[0].clone(); // "cools" read as a noun
    /// other.set(2, tutte_treebank::Column::Upos, "NOUN")?;
    /// let one = Parser::new(&model).distribution(&treebank[0])?;
    /// let other = Parser::new(&model).distribution(&other)?;
    /// let both = Mixture::new(vec![(0.75, &one), (0.25, &other)]);
    /// let nearest = both.nearest_distribution()?.distribution;
    /// assert!((nearest.head_probs(1)?[2] - both.marginals()[(2, 1)]).abs() < 1e-9);
    /// assert!(nearest.entropy() >= both.entropy());
    /// let given = nearest.condition(&Constraints::new().require_root(2))?;
    /// assert!((given.head_probs(1)?[2] - 1.0).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// None for distributions that have trees: their mean is in the polytope of trees.
    pub fn nearest_distribution(&self) -> Result<NearestDistribution<'a>, Error> {
        if let [(_, one)] = self.readings[..] {
            return Ok(NearestDistribution { distribution: one.clone(), residual: 0.0 });
        }
        let tree_set = self.tree_set();
        let MomentMatch { distribution: bare, residual, .. } =
            fit_marginals(&self.marginals, tree_set, &MomentOptions::default())?;
        let arcs = bare.scores().clone();
        let mut labels = LabelledArcMatrix::sparse(self.words(), self.labels().len().max(1));
        for (head, word) in arcs_of(self.words()) {
            if arcs[(head, word)] == f64::NEG_INFINITY {
                continue;
            }
            for (label, prob) in self.label_probs(head, word)?.into_iter().enumerate() {
                if prob > 0.0 {
                    labels[(head, word, label)] = prob.ln();
                }
            }
        }
        let trees = LabelledTreeDistribution::given_arcs(arcs, labels, tree_set)?;
        let distribution = LabelledDistribution::new(trees, self.labels())
            .with_arc_probs(self.arc_probs.clone().into_owned())
            .with_isotonic(self.isotonic());
        Ok(NearestDistribution { distribution, residual })
    }

    /// Returns the tree with the most arcs expected to be right, with the most probable label of each arc, within the
    /// [limits of labels](Self::with_label_limits). The probabilities of its heads are calibrated, except for arcs that
    /// the constraints require.
    ///
    /// # Errors
    /// None for distributions that have trees.
    pub fn best_parse(&self, constraints: &Constraints) -> Result<Parse, Error> {
        let mut arcs = ArcMatrix::default();
        possible(&self.marginals, &mut arcs);
        let mut heads = Vec::with_capacity(self.words());
        let mut workspace = Workspace::default();
        mbr_with(&arcs, &self.marginals, self.tree_set(), &mut workspace, &mut heads)?;
        let tree = Tree::new(&heads)?;
        let labels = (1..).zip(&heads).map(|(word, &head)| Ok(self.best_label(head, word)?.0));
        let labels = labels.collect::<Result<Vec<_>, Error>>()?;
        let mut chosen = ChosenTree { tree, labels, repair: Repair::None };
        if !self.label_limits.allow(chosen.tree.heads(), &chosen.labels) {
            let mut scores = self.marginals.clone().into_owned();
            scores.map_in_place(|prob| if prob > 0.0 { prob } else { f64::NEG_INFINITY });
            chosen = self.repaired(chosen, &scores, |marginal, prob| marginal * prob)?;
        }
        self.parse_of(chosen, constraints)
    }

    /// Returns the best tree that satisfies the limits of labels. `value` is that of a label of positive probability given
    /// an arc, from the probabilities of both.
    fn repaired(
        &self,
        chosen: ChosenTree,
        scores: &ArcMatrix,
        value: impl Fn(f64, f64) -> f64,
    ) -> Result<ChosenTree, Error> {
        let (count, tree_set) = (self.labels().len(), self.tree_set());
        self.label_limits.repaired(chosen, scores, count, tree_set, |head, word, values| {
            let marginal = self.marginals[(head, word)];
            let value = |prob| if prob > 0.0 { value(marginal, prob) } else { f64::NEG_INFINITY };
            values.extend(self.label_probs(head, word)?.into_iter().map(value));
            Ok(())
        })
    }

    /// Adds the probabilities of heads and labels to a tree.
    fn parse_of(&self, chosen: ChosenTree, constraints: &Constraints) -> Result<Parse, Error> {
        let ChosenTree { tree, labels, repair } = chosen;
        let arcs = (1..).zip(tree.heads()).zip(&labels);
        let label_probs = arcs
            .map(|((word, &head), &label)| Ok(self.label_probs(head, word)?[label]))
            .collect::<Result<Vec<_>, Error>>()?;
        let head_probs =
            reported_head_probs(self.isotonic(), tree.heads(), &self.arc_probs, constraints);
        Ok(Parse { tree, labels, head_probs, label_probs, pieces: 1, repair })
    }
}

impl Mixture<'_, '_> {
    /// Returns the most probable labelled tree. The probabilities of its heads are calibrated, except for arcs that the
    /// constraints require.
    ///
    /// If it does not satisfy the [limits of labels](Self::with_label_limits), returns the most probable tree that does,
    /// of the [nearest](Self::nearest_distribution) arc-factored distribution.
    ///
    /// # Errors
    /// None for distributions that have trees.
    pub fn most_probable_parse(&self, constraints: &Constraints) -> Result<Parse, Error> {
        let Some(RankedTree { tree, .. }) = self.kbest(1)?.pop() else {
            return self.best_parse(constraints);
        };
        let labels = tree.labels().to_vec();
        let mut chosen = ChosenTree { tree: tree.tree().clone(), labels, repair: Repair::None };
        if !self.label_limits.allow(chosen.tree.heads(), &chosen.labels) {
            let nearest = self.nearest_distribution()?.distribution;
            let labelled = nearest.trees().scores();
            let scores = ArcMatrix::from_fn(self.words(), |head, word| {
                let scores = labelled.labels_of(head, word).unwrap_or_default();
                scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)
            });
            chosen = self.repaired(chosen, &scores, |_, prob| prob.ln())?;
            if self.readings.len() > 1 && chosen.repair == Repair::Certified {
                // It is the best tree of the nearest distribution only.
                chosen.repair = Repair::Uncertified;
            }
        }
        self.parse_of(chosen, constraints)
    }
}

/// Returns log Σ exp(term); −∞ for none.
fn log_sum(terms: &[f64]) -> f64 {
    let highest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if highest == f64::NEG_INFINITY {
        return highest;
    }
    highest + terms.iter().map(|term| (term - highest).exp()).sum::<f64>().ln()
}

impl<'a, 'd> From<&'d LabelledDistribution<'a>> for Mixture<'a, 'd> {
    /// Makes a mixture of one reading.
    fn from(distribution: &'d LabelledDistribution<'a>) -> Self {
        Self::new(vec![(1.0, distribution)])
    }
}

/// Fills `scores` with 0 for arcs of positive probability and −∞ for all others.
pub(crate) fn possible(marginals: &ArcMatrix, scores: &mut ArcMatrix) {
    scores.reset(marginals.words(), f64::NEG_INFINITY);
    for arc in arcs_of(marginals.words()).filter(|arc| marginals[*arc] > 0.0) {
        scores[arc] = 0.0;
    }
}

#[cfg(test)]
mod tests;
