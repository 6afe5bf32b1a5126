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
    ArcMatrix, Constraints, LabelledTree, MomentMatch, MomentOptions, Tree, TreeSet, Workspace,
    arcs as arcs_of, fit_marginals, mbr_with,
};

use crate::parse::annotation::reported_head_probs;
use crate::parse::distribution::{annotated_columns, head_rank, marginal, most_probable};
use crate::{Alternative, Error, Isotonic, LabelledDistribution, Parse, RankedTree};

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
            };
        }
        let mut marginals = ArcMatrix::zeros(first.words());
        let mut arc_probs = ArcMatrix::zeros(first.words());
        for (weight, distribution) in &readings {
            let add = |sum: f64, prob: f64| sum + weight * prob;
            marginals.zip_in_place(distribution.arcs().marginals(), add);
            arc_probs.zip_in_place(distribution.arc_probs(), add);
        }
        Self { readings, marginals: Cow::Owned(marginals), arc_probs: Cow::Owned(arc_probs) }
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

    /// Returns the arc-factored distribution over bare trees that is nearest to the mixture in KL(mixture‖q): the one
    /// with the same [marginals](Self::marginals). It answers all questions of a
    /// [`TreeDistribution`](tutte_trees::TreeDistribution), such as conditioning and entropy, in one value. With one
    /// reading, it is the distribution itself.
    ///
    /// Its entropy is at least that of the mixture over bare trees, since no distribution with these marginals has a
    /// larger one.
    ///
    /// # Errors
    /// None for distributions that have trees: their mean is in the polytope of trees.
    pub fn nearest_tree_distribution(&self) -> Result<MomentMatch, Error> {
        if let [(_, one)] = self.readings[..] {
            return Ok(MomentMatch::exact(one.arcs().clone()));
        }
        Ok(fit_marginals(&self.marginals, self.tree_set(), &MomentOptions::default())?)
    }

    /// Returns the tree with the most arcs expected to be right, with the most probable label of each arc. The
    /// probabilities of its heads are calibrated, except for arcs that the constraints require.
    ///
    /// # Errors
    /// None for distributions that have trees.
    pub fn best_parse(&self, constraints: &Constraints) -> Result<Parse, Error> {
        let mut arcs = ArcMatrix::default();
        possible(&self.marginals, &mut arcs);
        let mut heads = Vec::with_capacity(self.words());
        let mut workspace = Workspace::default();
        mbr_with(&arcs, &self.marginals, self.tree_set(), &mut workspace, &mut heads)?;
        let labels = (1..).zip(&heads).map(|(word, &head)| self.best_label(head, word));
        let (labels, label_probs) = labels.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        let head_probs = reported_head_probs(self.isotonic(), &heads, &self.arc_probs, constraints);
        Ok(Parse { tree: Tree::new(&heads)?, labels, head_probs, label_probs, pieces: 1 })
    }
}

impl Mixture<'_, '_> {
    /// Returns the most probable labelled tree. The probabilities of its heads are calibrated, except for arcs that the
    /// constraints require.
    ///
    /// # Errors
    /// None for distributions that have trees.
    pub fn most_probable_parse(&self, constraints: &Constraints) -> Result<Parse, Error> {
        let Some(RankedTree { tree, .. }) = self.kbest(1)?.pop() else {
            return self.best_parse(constraints);
        };
        let label_probs = tree
            .arcs()
            .map(|(head, word, label)| Ok(self.label_probs(head, word)?[label]))
            .collect::<Result<Vec<_>, Error>>()?;
        let head_probs =
            reported_head_probs(self.isotonic(), tree.tree().heads(), &self.arc_probs, constraints);
        let labels = tree.labels().to_vec();
        Ok(Parse { tree: tree.tree().clone(), labels, head_probs, label_probs, pieces: 1 })
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
mod tests {
    use tutte_treebank::Column;

    use super::*;
    use crate::{Parser, TrainingOptions, train};

    const TREEBANK: &str = "\
1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
3\tcats\tcat\tNOUN\t_\t_\t2\tobj\t_\t_

1\tBlack\tblack\tADJ\t_\t_\t2\tamod\t_\t_
2\tcats\tcat\tNOUN\t_\t_\t3\tnsubj\t_\t_
3\tsleep\tsleep\tVERB\t_\t_\t0\troot\t_\t_

";

    fn treebank() -> Vec<Sentence> {
        tutte_treebank::Reader::new(TREEBANK.as_bytes()).collect::<Result<_, _>>().unwrap()
    }

    fn options() -> TrainingOptions {
        TrainingOptions { passes: 2, bits: 12, label_bits: 8, ..TrainingOptions::plain() }
    }

    /// Returns all trees of a distribution, best first.
    fn all_trees(distribution: &LabelledDistribution<'_>) -> Vec<RankedTree> {
        let trees = distribution.kbest(100_000);
        assert!((trees.iter().map(|tree| tree.log_prob.exp()).sum::<f64>() - 1.0).abs() < 1e-9);
        trees
    }

    /// Compares with the definition, tree by tree.
    #[test]
    fn a_mixture_is_the_mean_over_all_trees() {
        let treebank = treebank();
        let model = train(&treebank, &options(), &mut ()).unwrap();
        let mut other = treebank[0].clone();
        other.set(2, Column::Upos, "NOUN").unwrap();
        let one = Parser::new(&model).distribution(&treebank[0]).unwrap();
        let two = Parser::new(&model).distribution(&other).unwrap();
        let mixture = Mixture::new(vec![(0.3, &one), (0.1, &two)]);
        let trees = all_trees(&one);
        let mut marginals = ArcMatrix::zeros(3);
        let mut labels = vec![0.0; mixture.labels().len()];
        for ranked in &trees {
            let prob = |d: &LabelledDistribution<'_>| d.log_prob(&ranked.tree).unwrap().exp();
            let prob = 0.75 * prob(&one) + 0.25 * prob(&two);
            for (head, word, label) in ranked.tree.arcs() {
                marginals[(head, word)] += prob;
                labels[label] += if (head, word) == (2, 3) { prob } else { 0.0 };
            }
            let mut sentence = treebank[0].clone();
            sentence.set_tree(ranked.tree.tree()).unwrap();
            let names: Vec<&str> =
                ranked.tree.labels().iter().map(|label| mixture.name(*label)).collect();
            sentence.set_deprels(&names).unwrap();
            let found = mixture.log_prob_in(&sentence).unwrap().exp();
            assert!((found - prob).abs() < 1e-9, "{found} {prob}");
        }
        for arc in arcs_of(3) {
            assert!((mixture.marginals()[arc] - marginals[arc]).abs() < 1e-6);
        }
        let found = mixture.label_probs(2, 3).unwrap();
        for (found, sum) in found.iter().zip(&labels) {
            assert!((found - sum / marginals[(2, 3)]).abs() < 1e-6);
        }
        let parse = mixture.best_parse(&Constraints::new()).unwrap();
        assert_eq!(parse.tree.heads(), [2, 0, 2]);
        assert!((parse.head_probs[0] - marginals[(2, 1)]).abs() < 1e-6);
        assert_eq!(mixture.greedy_heads(), [2, 0, 2]);
        let others = mixture.alternatives_above(1, 0.0).unwrap();
        assert!((others.iter().map(|other| other.probability).sum::<f64>() - 1.0).abs() < 1e-9);
    }

    /// Compares the most probable trees with all trees, and frequencies of samples with probabilities.
    #[test]
    fn several_trees_are_those_of_the_mixture() {
        let treebank = treebank();
        let model = train(&treebank, &options(), &mut ()).unwrap();
        let mut other = treebank[0].clone();
        other.set(2, Column::Upos, "NOUN").unwrap();
        other.set(1, Column::Upos, "VERB").unwrap();
        let one = Parser::new(&model).distribution(&treebank[0]).unwrap();
        let two = Parser::new(&model).distribution(&other).unwrap();
        let mixture = Mixture::new(vec![(0.6, &one), (0.4, &two)]);
        let log_prob = |ranked: RankedTree| mixture.log_prob(&ranked.tree).unwrap();
        let mut all: Vec<f64> = all_trees(&one).into_iter().map(log_prob).collect();
        assert!((all.iter().map(|log_prob| log_prob.exp()).sum::<f64>() - 1.0).abs() < 1e-9);
        all.sort_by(|a, b| b.total_cmp(a));
        for k in [1, 2, 7, 30] {
            let found = mixture.kbest(k).unwrap();
            assert_eq!(found.len(), k);
            for (ranked, expected) in found.iter().zip(&all) {
                assert!((ranked.log_prob - expected).abs() < 1e-9, "{k}");
            }
        }
        let samples = mixture.samples(4000, 1);
        assert_eq!(samples, mixture.samples(4000, 1));
        for arc in arcs_of(3) {
            let has_arc = |tree: &&LabelledTree| tree.tree().head(arc.1) == Some(arc.0);
            let share = samples.iter().filter(has_arc).count() as f64 / 4000.0;
            let expected = mixture.marginals()[arc];
            // Five standard errors.
            let error = 5.0 * (expected * (1.0 - expected) / 4000.0).sqrt() + 1e-9;
            assert!((share - expected).abs() < error, "{arc:?}: {share} and {expected}");
        }
        let best = mixture.most_probable_parse(&Constraints::new()).unwrap();
        let tree = LabelledTree::new(best.tree, best.labels).unwrap();
        assert!((mixture.log_prob(&tree).unwrap() - all[0]).abs() < 1e-9);
    }

    /// The nearest arc-factored distribution has the marginals of the mixture, also given constraints that the
    /// readings agree on, and the largest entropy.
    #[test]
    fn the_nearest_tree_distribution_has_the_marginals() {
        let treebank = treebank();
        let model = train(&treebank, &options(), &mut ()).unwrap();
        let mut other = treebank[0].clone();
        other.set(2, Column::Upos, "NOUN").unwrap();
        other.set(1, Column::Upos, "VERB").unwrap();
        let one = Parser::new(&model).distribution(&treebank[0]).unwrap();
        let two = Parser::new(&model).distribution(&other).unwrap();
        let mixture = Mixture::new(vec![(0.6, &one), (0.4, &two)]);
        let nearest = mixture.nearest_tree_distribution().unwrap();
        assert!(nearest.residual < 1e-8, "{}", nearest.residual);
        for arc in arcs_of(3) {
            let found = nearest.distribution.marginals()[arc];
            assert!((found - mixture.marginals()[arc]).abs() < 1e-8, "{arc:?}");
        }
        let bare: Vec<Tree> =
            nearest.distribution.kbest(1000).into_iter().map(|t| t.tree).collect();
        let prob = |tree: &Tree| {
            let of = |d: &LabelledDistribution<'_>| d.arcs().log_prob(tree).unwrap().exp();
            0.6 * of(&one) + 0.4 * of(&two)
        };
        let total: f64 = bare.iter().map(prob).sum();
        assert!((total - 1.0).abs() < 1e-9);
        let entropy: f64 = bare.iter().map(|tree| -prob(tree) * prob(tree).ln()).sum();
        assert!(nearest.distribution.entropy() >= entropy - 1e-9);
        let given = nearest.distribution.condition(&Constraints::new().require_root(2)).unwrap();
        assert!(given.entropy() < nearest.distribution.entropy());

        let single = Mixture::from(&one).nearest_tree_distribution().unwrap();
        assert_eq!(single.distribution.marginals(), one.arcs().marginals());
        assert_eq!((single.residual, single.steps), (0.0, 0));
    }

    #[test]
    fn one_reading_is_the_distribution_itself() {
        let treebank = treebank();
        let options =
            TrainingOptions { passes: 2, bits: 12, label_bits: 8, ..TrainingOptions::default() };
        let model = train(&treebank, &options, &mut ()).unwrap();
        for sentence in &treebank {
            let constraints = Constraints::new();
            let analysis = Parser::new(&model).analyse(sentence, &constraints).unwrap();
            let mixture = Mixture::new(vec![(0.4, &analysis.distribution)]);
            assert_eq!(mixture.best_parse(&constraints).unwrap(), analysis.parse);
            assert_eq!(mixture.entropy(), analysis.distribution.entropy());
            let own = analysis.distribution.log_prob_in(sentence).unwrap();
            assert_eq!(mixture.log_prob_in(sentence).unwrap(), own);
        }
    }
}
