//! The distribution over the trees of one sentence, as a value.

use std::sync::OnceLock;

use rand_core::Rng;

use crate::nonprojective::kernel::Kernel;
use crate::nonprojective::{
    kbest as nonprojective_kbest, sample::WilsonSampler, sample::ancestral,
};
use crate::nonprojective::{solve, solve::SolveWorkspace};
use crate::projective;
use crate::workspace::{argmax_with, mbr_with, unchecked_log_partition, unchecked_marginals};
use crate::{ArcMatrix, Constraints, Error, Tree, TreeSet, Workspace};

/// A tree and the sum of its arc scores.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredTree {
    /// The tree.
    pub tree: Tree,
    /// Σ of the scores of its arcs, in nats: its unnormalised log-probability.
    pub score: f64,
}

/// The distribution p(y) ∝ exp Σ_{(h→m)∈y} θ\[h\]\[m\] over the trees y of a [`TreeSet`].
///
/// [`new`](Self::new) finds the best tree, so impossible scores are an error at once. Everything else
/// is computed when first asked for, and kept.
///
/// ```
/// use tutte_trees::{ArcMatrix, TreeDistribution, TreeSet};
/// // "I saw her": 1 and 3 may hang on 2, or 3 on 1.
/// let mut scores = ArcMatrix::zeros(3);
/// scores[(0, 2)] = 2.0;
/// scores[(2, 1)] = 1.5;
/// scores[(2, 3)] = 1.0;
/// let d = TreeDistribution::new(scores, TreeSet::NonProjectiveSingleRoot)?;
///
/// assert_eq!(d.argmax().tree.heads(), [2, 0, 2]);
/// let probability = d.marginal(2, 3)?;            // of the arc 2 → 3
/// assert!(probability > 0.6 && probability < 1.0);
/// assert!(d.entropy() > 0.0);
/// # Ok::<(), tutte_trees::Error>(())
/// ```
#[derive(Debug)]
pub struct TreeDistribution {
    scores: ArcMatrix,
    tree_set: TreeSet,
    best: ScoredTree,
    /// θ\[h\]\[m\] − θ\[ŷ(m)\]\[m\]: the arcs of the best tree ŷ score 0. Shifting a column changes no
    /// probability, and with these scores logarithms near 0 do not cancel.
    pub(crate) shifted: ArcMatrix,
    /// log Z of the shifted scores.
    pub(crate) log_excess: OnceLock<f64>,
    pub(crate) marginals: OnceLock<ArcMatrix>,
    /// `None` inside if the weights leave the range of `f64`.
    pub(crate) kernel: OnceLock<Option<Kernel>>,
    sampler: OnceLock<Sampler>,
}

#[derive(Debug)]
enum Sampler {
    Wilson(WilsonSampler),
    /// `None` never occurs: a distribution has a tree.
    Chart(Option<projective::Sampler>),
}

impl Clone for TreeDistribution {
    /// Copies the scores and the results computed so far, but not the sampler's tables.
    fn clone(&self) -> Self {
        Self {
            scores: self.scores.clone(),
            tree_set: self.tree_set,
            best: self.best.clone(),
            shifted: self.shifted.clone(),
            log_excess: self.log_excess.clone(),
            marginals: self.marginals.clone(),
            kernel: self.kernel.clone(),
            sampler: OnceLock::new(),
        }
    }
}

impl TreeDistribution {
    /// Makes the distribution with these arc scores over the trees of `tree_set`.
    ///
    /// Scores are logarithms in nats, of any finite size; −∞ forbids an arc.
    ///
    /// # Errors
    /// [`Error::BadScore`] naming the arc that is NaN, +∞ or beyond 1e300;
    /// [`Error::NoTree`] naming the words that cannot be attached.
    pub fn new(scores: ArcMatrix, tree_set: TreeSet) -> Result<Self, Error> {
        let mut heads = Vec::new();
        let score = argmax_with(&scores, tree_set, &mut Workspace::default(), &mut heads)?;
        let best = ScoredTree { tree: Tree::from_decoder(heads), score };
        let mut shifted = scores.clone();
        shifted.shift_by(&scores, &best.tree);
        Ok(Self {
            scores,
            tree_set,
            best,
            shifted,
            log_excess: OnceLock::new(),
            marginals: OnceLock::new(),
            kernel: OnceLock::new(),
            sampler: OnceLock::new(),
        })
    }

    /// The number of words.
    pub fn words(&self) -> usize {
        self.scores.words()
    }

    /// The set of trees that the distribution ranges over.
    pub fn tree_set(&self) -> TreeSet {
        self.tree_set
    }

    /// The arc scores θ.
    pub fn scores(&self) -> &ArcMatrix {
        &self.scores
    }

    /// log Z = log Σ_y exp(score of y).
    pub fn log_partition(&self) -> f64 {
        self.best.score + self.log_excess()
    }

    /// log Z minus the best tree's score: −log of the best tree's probability.
    pub(crate) fn log_excess(&self) -> f64 {
        *self.log_excess.get_or_init(|| self.clamp_log_excess(self.log_partition_of(&self.shifted)))
    }

    /// Clamps log Z of the shifted scores to its range: the best of at most (n+1)ⁿ⁻¹ trees scores 0.
    fn clamp_log_excess(&self, log_excess: f64) -> f64 {
        let most = self.words().saturating_sub(1) as f64 * (self.words() as f64).ln_1p();
        log_excess.clamp(0.0, most)
    }

    /// log Z of other scores in this set.
    pub(crate) fn log_partition_of(&self, scores: &ArcMatrix) -> f64 {
        unchecked_log_partition(scores, self.tree_set, &mut Workspace::default())
    }

    /// The probability of every arc. Each column sums to 1.
    pub fn marginals(&self) -> &ArcMatrix {
        self.marginals.get_or_init(|| {
            let mut marginals = ArcMatrix::default();
            let workspace = &mut Workspace::default();
            let solved =
                unchecked_marginals(&self.shifted, self.tree_set, workspace, &mut marginals);
            debug_assert!(solved.is_some(), "a distribution has a tree");
            // The solve also gives log Z: keep it.
            if let Some(log_z) = solved {
                self.log_excess.get_or_init(|| self.clamp_log_excess(log_z));
            }
            marginals
        })
    }

    /// The probability of one arc.
    ///
    /// # Errors
    /// [`Error::NoSuchArc`].
    pub fn marginal(&self, head: usize, modifier: usize) -> Result<f64, Error> {
        crate::matrix::check_arc(self.words(), head, modifier)?;
        Ok(self.marginals()[(head, modifier)])
    }

    /// The arcs with probability at least `threshold`, as (head, modifier, probability), by head
    /// and then modifier.
    pub fn arcs_above(&self, threshold: f64) -> Vec<(usize, usize, f64)> {
        self.marginals().arcs().filter(|&(_, _, p)| p >= threshold).collect()
    }

    /// The log-probability of a tree; −∞ if it is not in the set or uses a forbidden arc.
    ///
    /// ```
    /// # use tutte_trees::{ArcMatrix, Tree, TreeDistribution, TreeSet};
    /// let d = TreeDistribution::new(ArcMatrix::zeros(3), TreeSet::ProjectiveSingleRoot)?;
    /// let chain = Tree::new(&[0, 1, 2])?;
    /// assert!((d.log_prob(&chain)?.exp() - 1.0 / 7.0).abs() < 1e-12); // one of seven
    /// let two_roots = Tree::new(&[0, 0, 2])?;
    /// assert_eq!(d.log_prob(&two_roots)?, f64::NEG_INFINITY);
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::DifferentLengths`] if the tree is of another sentence length.
    pub fn log_prob(&self, tree: &Tree) -> Result<f64, Error> {
        let above_best = self.shifted.sum_over(tree)?;
        if tree.check_in(self.tree_set).is_err() {
            return Ok(f64::NEG_INFINITY);
        }
        Ok((above_best - self.log_excess()).min(0.0))
    }

    /// The most probable tree (MAP). Ties are always broken in the same way.
    pub fn argmax(&self) -> &ScoredTree {
        &self.best
    }

    /// The tree with the largest expected number of correct arcs (minimum Bayes risk under head errors).
    pub fn mbr(&self) -> Tree {
        // A distribution always has a tree of allowed arcs in its own set.
        self.mbr_in(self.tree_set).unwrap_or_else(|_| self.best.tree.clone())
    }

    /// Like [`mbr`](Self::mbr), but among the trees of another set that use allowed arcs only.
    ///
    /// ```
    /// # use tutte_trees::{ArcMatrix, TreeDistribution, TreeSet};
    /// let d = TreeDistribution::new(ArcMatrix::zeros(4), TreeSet::NonProjectiveMultiRoot)?;
    /// let tree = d.mbr_in(TreeSet::ProjectiveSingleRoot)?;
    /// assert!(tree.is_projective() && tree.root_words().count() == 1);
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoTree`] if that set has no such tree.
    pub fn mbr_in(&self, tree_set: TreeSet) -> Result<Tree, Error> {
        self.mbr_of(self.marginals(), tree_set)
    }

    /// The tree of allowed arcs with the largest sum of `gains`.
    pub(crate) fn mbr_of(&self, gains: &ArcMatrix, tree_set: TreeSet) -> Result<Tree, Error> {
        let mut heads = Vec::new();
        mbr_with(&self.scores, gains, tree_set, &mut Workspace::default(), &mut heads)?;
        Ok(Tree::from_decoder(heads))
    }

    /// Each word's most probable head. The heads need not form a [`Tree`].
    pub fn greedy_heads(&self) -> Vec<usize> {
        column_argmax(self.marginals())
    }

    /// Each word's highest-scoring head. The heads need not form a [`Tree`].
    pub fn greedy_heads_by_score(&self) -> Vec<usize> {
        column_argmax(&self.scores)
    }

    /// The `k` most probable trees, best first; fewer if there are fewer.
    ///
    /// O(k·n²) for non-projective sets (Zmigrod, Vieira & Cotterell 2021); for projective ones the
    /// chart, O(n³), and little more for each tree (Huang & Chiang 2005).
    ///
    /// ```
    /// # use tutte_trees::{ArcMatrix, TreeDistribution, TreeSet};
    /// let scores = ArcMatrix::from_fn(3, |head, modifier| -(head.abs_diff(modifier) as f64));
    /// let d = TreeDistribution::new(scores, TreeSet::NonProjectiveMultiRoot)?;
    /// let best = d.kbest(2);
    /// assert_eq!(best[0].tree.heads(), [0, 1, 2]);
    /// assert!(best[0].score > best[1].score);
    /// assert_eq!(d.kbest(1000).len(), 16); // there are no more
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    pub fn kbest(&self, k: usize) -> Vec<ScoredTree> {
        let roots = self.tree_set.roots();
        let ranked = if self.tree_set.is_projective() {
            projective::kbest(&self.scores, roots, k)
        } else {
            nonprojective_kbest::kbest(&self.scores, roots, k)
        };
        let scored = |(score, heads)| ScoredTree { tree: Tree::from_decoder(heads), score };
        ranked.into_iter().map(scored).collect()
    }

    /// Draws a tree from the distribution, exactly.
    ///
    /// The same generator state gives the same tree on every machine.
    ///
    /// ```
    /// # use tutte_trees::{ArcMatrix, TreeDistribution, TreeSet};
    /// use rand_pcg::{Pcg64, rand_core::SeedableRng};
    /// let d = TreeDistribution::new(ArcMatrix::zeros(5), TreeSet::ProjectiveSingleRoot)?;
    /// let mut rng = Pcg64::seed_from_u64(1);
    /// assert!(d.sample(&mut rng).is_projective());
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Tree {
        let mut heads = Vec::new();
        self.sample_into(rng, &mut heads);
        Tree::from_decoder(heads)
    }

    /// Draws a tree into a list of heads that is reused; `heads[0]` is word 1's.
    pub fn sample_into<R: Rng + ?Sized>(&self, rng: &mut R, heads: &mut Vec<usize>) {
        match self.sampler.get_or_init(|| self.make_sampler()) {
            Sampler::Chart(Some(sampler)) => sampler.sample(rng, heads),
            Sampler::Chart(None) => {
                heads.clear();
                heads.extend_from_slice(self.best.tree.heads());
            }
            Sampler::Wilson(sampler) => {
                if let Err(gave_up) = sampler.sample(rng, heads) {
                    let mut scores = self.shifted.clone();
                    gave_up.keep_root_word(&mut scores);
                    let mut ws = SolveWorkspace::default();
                    let roots = self.tree_set.roots();
                    let mut solve = |scores: &ArcMatrix, marginals: &mut ArcMatrix| {
                        let _ = solve::marginals(scores, roots, &mut ws, marginals);
                    };
                    ancestral(&scores, roots, rng, &mut solve, heads);
                }
            }
        }
    }

    fn make_sampler(&self) -> Sampler {
        let roots = self.tree_set.roots();
        if self.tree_set.is_projective() {
            Sampler::Chart(projective::Sampler::new(&self.shifted, roots))
        } else {
            let root_marginals: &[f64] =
                if self.tree_set.is_single_root() { self.marginals().row(0) } else { &[] };
            Sampler::Wilson(WilsonSampler::new(&self.shifted, roots, root_marginals))
        }
    }

    /// Returns the distribution given the constraints.
    ///
    /// ```
    /// # use tutte_trees::{ArcMatrix, Constraints, Error, TreeDistribution, TreeSet};
    /// let d = TreeDistribution::new(ArcMatrix::zeros(3), TreeSet::NonProjectiveSingleRoot)?;
    /// let known = Constraints::new().require_root(2).forbid_arc(2, 3);
    /// let posterior = d.condition(&known)?;
    /// assert_eq!(posterior.argmax().tree.heads(), [2, 0, 1]); // nothing else is left
    ///
    /// // Contradictory constraints are an error that names the words.
    /// let nothing = d.condition(&known.forbid_arc(1, 3)).unwrap_err();
    /// assert!(matches!(nothing, Error::NoTree { words, .. } if words == [3]));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoTree`] naming the words that cannot be attached if no tree satisfies the
    /// constraints; [`Error::NoSuchArc`]; [`Error::NoSuchLabel`] for constraints on labels, since this
    /// distribution has none.
    pub fn condition(&self, constraints: &Constraints) -> Result<Self, Error> {
        Self::new(self.masked(constraints)?, self.tree_set)
    }

    /// The log of the probability that a tree satisfies the constraints; −∞ if none does.
    ///
    /// ```
    /// # use tutte_trees::{ArcMatrix, Constraints, TreeDistribution, TreeSet};
    /// let d = TreeDistribution::new(ArcMatrix::zeros(3), TreeSet::NonProjectiveMultiRoot)?;
    /// // P(only 1 is a root word): 3 of 16 trees.
    /// let only_one = Constraints::new().forbid_root(2).forbid_root(3);
    /// assert!((d.log_prob_of(&only_one)?.exp() - 3.0 / 16.0).abs() < 1e-12);
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchArc`], [`Error::NoSuchLabel`].
    pub fn log_prob_of(&self, constraints: &Constraints) -> Result<f64, Error> {
        let mut masked = self.shifted.clone();
        mask(constraints, self.tree_set, &mut masked)?;
        Ok((self.log_partition_of(&masked) - self.log_excess()).min(0.0))
    }

    /// The scores, with the arcs that the constraints exclude at −∞.
    pub(crate) fn masked(&self, constraints: &Constraints) -> Result<ArcMatrix, Error> {
        let mut masked = self.scores.clone();
        mask(constraints, self.tree_set, &mut masked)?;
        Ok(masked)
    }
}

fn mask(constraints: &Constraints, set: TreeSet, scores: &mut ArcMatrix) -> Result<(), Error> {
    let labels = constraints.required_labels().iter().chain(constraints.forbidden_labels());
    if let Some(&(_, label)) = labels.into_iter().next() {
        return Err(Error::NoSuchLabel { label, labels: 0 });
    }
    constraints.exclude(scores.words(), set, |head, modifier| scores.forbid(head, modifier))
}

/// The head with the largest value for each word; the first in case of a tie.
fn column_argmax(values: &ArcMatrix) -> Vec<usize> {
    (1..=values.words())
        .map(|modifier| {
            (0..=values.words())
                .filter(|&head| head != modifier)
                .fold((0, f64::NEG_INFINITY), |best, head| {
                    let value = values[(head, modifier)];
                    if value > best.1 { (head, value) } else { best }
                })
                .0
        })
        .collect()
}
