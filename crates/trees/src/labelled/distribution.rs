//! The distribution over the labelled trees of one sentence.

use std::sync::OnceLock;

use rand_core::Rng;

use super::{LabelledArcMatrix, LabelledTree, cells, kbest};
use crate::matrix::{check_arc, is_number};
use crate::second_order::LARGE;
use crate::uniform::uniform;
use crate::{ArcMatrix, Constraints, Error, TreeDistribution, TreeSet};

/// A labelled tree and the sum of its labelled arc scores.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredLabelledTree {
    /// The tree with its labels.
    pub tree: LabelledTree,
    /// Σ of the scores of its labelled arcs, in nats.
    pub score: f64,
}

/// The distribution p(y, ℓ) ∝ exp Σ θ\[h\]\[m\]\[ℓ_m\] over the labelled trees of a [`TreeSet`].
///
/// [`arcs`](Self::arcs) answers questions about bare trees, with labels summed out.
///
/// ```
/// use tutte_trees::{LabelledArcMatrix, LabelledTreeDistribution, TreeSet};
/// let mut scores = LabelledArcMatrix::zeros(2, 3);
/// scores[(0, 2, 0)] = 4.0;
/// scores[(2, 1, 1)] = 3.0;
/// let d = LabelledTreeDistribution::new(scores, TreeSet::NonProjectiveSingleRoot)?;
/// let best = d.argmax();
/// assert_eq!(best.tree.labels(), [1, 0]);
/// let p = d.marginal(2, 1, 1)?;
/// assert!((p - d.arcs().marginal(2, 1)? * d.label_probs(2, 1)?[1]).abs() < 1e-12);
/// # Ok::<(), tutte_trees::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LabelledTreeDistribution {
    scores: LabelledArcMatrix,
    arcs: TreeDistribution,
    /// Trees scored by their arcs' best labels.
    best_labels: OnceLock<TreeDistribution>,
}

impl LabelledTreeDistribution {
    /// Makes the distribution with these labelled arc scores over the trees of `tree_set`.
    ///
    /// # Errors
    /// [`Error::BadScore`] naming arc and label; [`Error::NoTree`].
    pub fn new(scores: LabelledArcMatrix, tree_set: TreeSet) -> Result<Self, Error> {
        scores.check_scores()?;
        let arcs = TreeDistribution::new(scores.log_sum_labels(), tree_set)?;
        Ok(Self { scores, arcs, best_labels: OnceLock::new() })
    }

    /// Makes the distribution of trees with these arc scores and of labels given their arcs. The scores x
    /// of labels need not be normalised:
    ///
    /// ```text
    /// p(y, ℓ) = p(y) · Π p(ℓ_m | h → m)        p(ℓ | h → m) = exp x_ℓ / Σ_ℓ′ exp x_ℓ′
    /// ```
    ///
    /// This is [`new`](Self::new) with θ(h → m, ℓ) = θ(h → m) + log p(ℓ | h → m), except that bare trees
    /// keep their scores to the last bit.
    ///
    /// ```
    /// use tutte_trees::{ArcMatrix, LabelledArcMatrix, LabelledTreeDistribution, TreeSet};
    /// let mut labels = LabelledArcMatrix::zeros(2, 3);
    /// labels[(2, 1, 1)] = 3.0;
    /// let arcs = ArcMatrix::zeros(2);
    /// let d = LabelledTreeDistribution::given_arcs(arcs, labels, TreeSet::NonProjectiveSingleRoot)?;
    /// assert_eq!(d.arcs().marginal(2, 1)?, 0.5); // whatever its label
    /// assert!(d.label_probs(2, 1)?[1] > 0.9);
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::DifferentLengths`]; [`Error::BadScore`] naming arc or label; [`Error::NoTree`].
    pub fn given_arcs(
        mut arcs: ArcMatrix,
        mut labels: LabelledArcMatrix,
        tree_set: TreeSet,
    ) -> Result<Self, Error> {
        if arcs.words() != labels.words() {
            return Err(Error::DifferentLengths { left: arcs.words(), right: labels.words() });
        }
        arcs.check_scores()?;
        labels.check_scores()?;
        labels.join(&mut arcs);
        // The sum of two valid scores may be too large.
        labels.check_scores()?;
        let arcs = TreeDistribution::new(arcs, tree_set)?;
        Ok(Self { scores: labels, arcs, best_labels: OnceLock::new() })
    }

    /// The distribution over bare trees: labels summed out.
    pub fn arcs(&self) -> &TreeDistribution {
        &self.arcs
    }

    /// The set of trees that the distribution ranges over.
    pub fn tree_set(&self) -> TreeSet {
        self.arcs.tree_set()
    }

    /// The labelled scores θ.
    pub fn scores(&self) -> &LabelledArcMatrix {
        &self.scores
    }

    /// The number of words.
    pub fn words(&self) -> usize {
        self.scores.words()
    }

    /// The number of labels.
    pub fn labels(&self) -> usize {
        self.scores.labels()
    }

    /// log Σ over labelled trees of exp(score).
    pub fn log_partition(&self) -> f64 {
        self.arcs.log_partition()
    }

    /// P(label | the arc is in the tree), by label; all zero for a forbidden arc.
    ///
    /// # Errors
    /// [`Error::NoSuchArc`].
    pub fn label_probs(&self, head: usize, modifier: usize) -> Result<Vec<f64>, Error> {
        check_arc(self.words(), head, modifier)?;
        Ok(self.softmax(head, modifier).collect())
    }

    pub(super) fn softmax(&self, head: usize, modifier: usize) -> std::vec::IntoIter<f64> {
        let mut probs = Vec::new();
        cells::softmax(self.scores.cell(head, modifier), &mut probs);
        probs.into_iter()
    }

    /// The probability of every labelled arc: μ(h, m, ℓ) = μ(h, m)·softmax_ℓ θ\[h\]\[m\].
    pub fn marginals(&self) -> LabelledArcMatrix {
        let mut marginals = LabelledArcMatrix::zeros(self.words(), self.labels());
        for (head, modifier, p) in self.arcs.marginals().arcs() {
            let cell = marginals.cell_mut(head, modifier);
            for (value, given_arc) in cell.iter_mut().zip(self.softmax(head, modifier)) {
                *value = p * given_arc;
            }
        }
        marginals
    }

    /// The probability of one labelled arc.
    ///
    /// # Errors
    /// [`Error::NoSuchArc`], [`Error::NoSuchLabel`].
    pub fn marginal(&self, head: usize, modifier: usize, label: usize) -> Result<f64, Error> {
        self.joint_marginal(&[(head, modifier, label)])
    }

    /// P(all of these labelled arcs are in the tree), arcs as (head, modifier, label); 1 for none.
    ///
    /// The product of [`TreeDistribution::joint_marginal`] and the probabilities of the labels given
    /// their arcs.
    ///
    /// ```
    /// # use tutte_trees::{LabelledArcMatrix, LabelledTreeDistribution, TreeSet};
    /// let scores = LabelledArcMatrix::zeros(2, 5);
    /// let d = LabelledTreeDistribution::new(scores, TreeSet::NonProjectiveSingleRoot)?;
    /// let tree = d.joint_marginal(&[(0, 1, 4), (1, 2, 0)])?;
    /// assert!((tree - 1.0 / 50.0).abs() < 1e-12); // one of 2 trees, one of 25 labellings
    /// assert_eq!(d.joint_marginal(&[(0, 1, 4), (0, 1, 0)])?, 0.0); // an arc has one label
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchArc`], [`Error::NoSuchLabel`].
    pub fn joint_marginal(&self, arcs: &[(usize, usize, usize)]) -> Result<f64, Error> {
        let mut distinct = arcs.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let bare: Vec<_> = distinct.iter().map(|&(head, modifier, _)| (head, modifier)).collect();
        let trees = self.arcs.joint_marginal(&bare)?;
        for &(.., label) in &distinct {
            self.check_label(label)?;
        }
        if bare.windows(2).any(|pair| pair[0] == pair[1]) {
            return Ok(0.0); // two labels on one arc
        }
        let label = |&(head, modifier, label): &(usize, usize, usize)| {
            self.softmax(head, modifier).nth(label).unwrap_or(0.0)
        };
        Ok(trees * distinct.iter().map(label).product::<f64>())
    }

    /// The log-probability of a labelled tree; −∞ if it is impossible.
    ///
    /// # Errors
    /// [`Error::DifferentLengths`], [`Error::NoSuchLabel`].
    pub fn log_prob(&self, tree: &LabelledTree) -> Result<f64, Error> {
        let score = self.scores.sum_over(tree)?;
        let log_prob = self.arcs.log_prob(tree.tree())?;
        if score == f64::NEG_INFINITY || log_prob == f64::NEG_INFINITY {
            return Ok(f64::NEG_INFINITY);
        }
        let labels: f64 = tree
            .arcs()
            .map(|(head, modifier, label)| {
                self.scores[(head, modifier, label)] - self.arcs.scores()[(head, modifier)]
            })
            .sum();
        Ok((log_prob + labels).min(0.0))
    }

    /// The most probable labelled tree (MAP): the best tree when every arc takes its best label.
    pub fn argmax(&self) -> ScoredLabelledTree {
        let best = self.best_labels().argmax().clone();
        let labels = best_labels(&best.tree, |head, modifier| self.scores.cell(head, modifier));
        ScoredLabelledTree { tree: LabelledTree { tree: best.tree, labels }, score: best.score }
    }

    /// The distribution of trees scored by their arcs' best labels.
    fn best_labels(&self) -> &TreeDistribution {
        self.best_labels.get_or_init(|| {
            // Never an error: this distribution has a tree, and so has that one.
            TreeDistribution::new(self.scores.best_labels(), self.tree_set())
                .unwrap_or_else(|_| self.arcs.clone())
        })
    }

    /// The labelled tree with the largest expected number of correct labelled arcs.
    pub fn mbr(&self) -> LabelledTree {
        self.mbr_in(self.tree_set()).unwrap_or_else(|_| self.argmax().tree)
    }

    /// Like [`mbr`](Self::mbr), but among the trees of another set.
    ///
    /// # Errors
    /// [`Error::NoTree`] if that set has no tree of allowed arcs.
    pub fn mbr_in(&self, tree_set: TreeSet) -> Result<LabelledTree, Error> {
        let mut gains = self.arcs.marginals().clone();
        for (head, modifier, p) in self.arcs.marginals().arcs().filter(|&(_, _, p)| p > 0.0) {
            gains[(head, modifier)] = p * self.softmax(head, modifier).fold(0.0, f64::max);
        }
        let tree = self.arcs.mbr_of(&gains, tree_set)?;
        let labels = best_labels(&tree, |head, modifier| self.scores.cell(head, modifier));
        Ok(LabelledTree { tree, labels })
    }

    /// The `k` most probable labelled trees, best first; fewer if there are fewer.
    pub fn kbest(&self, k: usize) -> Vec<ScoredLabelledTree> {
        let groups = self.best_labels().kbest(k);
        kbest::kbest(&self.scores, &groups, k)
            .into_iter()
            .map(|(score, group, labels)| ScoredLabelledTree {
                tree: LabelledTree { tree: groups[group].tree.clone(), labels },
                score,
            })
            .collect()
    }

    /// Draws a labelled tree from the distribution, exactly.
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> LabelledTree {
        let tree = self.arcs.sample(rng);
        let labels = tree
            .arcs()
            .map(|(head, modifier)| {
                let mut left = uniform(rng);
                let mut drawn = 0;
                for (label, p) in self.softmax(head, modifier).enumerate() {
                    if p > 0.0 {
                        drawn = label; // the last possible label takes the rest that rounding leaves
                        left -= p;
                        if left < 0.0 {
                            break;
                        }
                    }
                }
                drawn
            })
            .collect();
        LabelledTree { tree, labels }
    }

    /// Returns the distribution given constraints on arcs and labels.
    ///
    /// ```
    /// # use tutte_trees::{Constraints, LabelledArcMatrix, LabelledTreeDistribution, TreeSet};
    /// let scores = LabelledArcMatrix::zeros(3, 2);
    /// let d = LabelledTreeDistribution::new(scores, TreeSet::ProjectiveSingleRoot)?;
    /// let known = Constraints::new().require_arc(2, 1).require_label(1, 1);
    /// assert!((d.log_prob_of(&known)?.exp() - d.marginal(2, 1, 1)?).abs() < 1e-12);
    /// assert!((d.condition(&known)?.marginal(2, 1, 1)? - 1.0).abs() < 1e-12);
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoTree`], [`Error::NoSuchArc`], [`Error::NoSuchLabel`].
    pub fn condition(&self, constraints: &Constraints) -> Result<Self, Error> {
        Self::new(self.masked(constraints)?, self.tree_set())
    }

    /// The log of the probability that a labelled tree satisfies the constraints; −∞ if none does.
    ///
    /// # Errors
    /// [`Error::NoSuchArc`], [`Error::NoSuchLabel`].
    pub fn log_prob_of(&self, constraints: &Constraints) -> Result<f64, Error> {
        let mut masked = self.masked(constraints)?.log_sum_labels();
        masked.shift_by(self.arcs.scores(), &self.arcs.argmax().tree);
        Ok((self.arcs.log_partition_of(&masked) - self.arcs.log_excess()).min(0.0))
    }

    /// The scores, with the labelled arcs that the constraints exclude at −∞.
    fn masked(&self, constraints: &Constraints) -> Result<LabelledArcMatrix, Error> {
        let mut scores = self.scores.clone();
        let n = self.words();
        constraints.exclude(n, self.tree_set(), |head, modifier| {
            scores.forbid_arc(head, modifier);
        })?;
        let required = constraints.required_labels().iter().map(|&pair| (pair, true));
        let forbidden = constraints.forbidden_labels().iter().map(|&pair| (pair, false));
        for ((modifier, label), is_required) in required.chain(forbidden) {
            check_arc(n, 0, modifier)?;
            self.check_label(label)?;
            for head in (0..=n).filter(|&head| head != modifier) {
                if scores.is_absent(head, modifier) {
                    continue;
                }
                for (other, score) in scores.cell_mut(head, modifier).iter_mut().enumerate() {
                    if (other == label) != is_required {
                        *score = f64::NEG_INFINITY;
                    }
                }
            }
        }
        Ok(scores)
    }

    fn check_label(&self, label: usize) -> Result<(), Error> {
        let labels = self.labels();
        if label < labels { Ok(()) } else { Err(Error::NoSuchLabel { label, labels }) }
    }

    /// E\[Σ f(h, m, ℓ)\] over the labelled arcs of a tree.
    ///
    /// # Errors
    /// [`Error::DifferentLengths`], [`Error::Shape`], [`Error::BadScore`].
    pub fn expectation(&self, f: &LabelledArcMatrix) -> Result<f64, Error> {
        self.check_function(f)?;
        Ok(crate::workspace::expectation(self.arcs.marginals(), &self.label_means(f)))
    }

    /// Cov(1_{h→m with ℓ}, Σ g) for every labelled arc:
    /// p(ℓ|e)·(Cov(1_e, Σ ḡ) + μ_e·(g(e,ℓ) − ḡ_e)), with ḡ_e the mean of g over the arc's labels.
    ///
    /// # Errors
    /// [`Error::DifferentLengths`], [`Error::Shape`], [`Error::BadScore`].
    pub fn arc_covariances(&self, g: &LabelledArcMatrix) -> Result<LabelledArcMatrix, Error> {
        self.check_function(g)?;
        let means = self.label_means(g);
        let covariances = self.arcs.unchecked_covariances(&means);
        let mut result = LabelledArcMatrix::zeros(self.words(), self.labels());
        for (head, modifier, p) in self.arcs.marginals().arcs() {
            let mean = means[(head, modifier)];
            let c = covariances[(head, modifier)];
            let values = g.cell(head, modifier);
            let cell = result.cell_mut(head, modifier);
            for ((out, q), &value) in cell.iter_mut().zip(self.softmax(head, modifier)).zip(values)
            {
                if q > 0.0 {
                    *out = q * (c + p * (value - mean));
                }
            }
        }
        Ok(result)
    }

    /// Cov(F, G) of two functions of labelled arcs; ±∞ if beyond `f64`.
    ///
    /// # Errors
    /// [`Error::DifferentLengths`], [`Error::Shape`], [`Error::BadScore`].
    pub fn covariance(&self, f: &LabelledArcMatrix, g: &LabelledArcMatrix) -> Result<f64, Error> {
        self.check_function(f)?;
        self.check_function(g)?;
        Ok(self.covariance_of(f, g))
    }

    pub(super) fn covariance_of(&self, f: &LabelledArcMatrix, g: &LabelledArcMatrix) -> f64 {
        let f_size = self.size_of(f);
        let g_size = self.size_of(g);
        if f_size.max(g_size) <= LARGE {
            return self.moderate_covariance(f, g);
        }
        // Products of such values overflow: scale both to 1 and back.
        let scaled = |f: &LabelledArcMatrix, size: f64| {
            LabelledArcMatrix::from_fn(self.words(), self.labels(), |head, modifier, label| {
                let value = f[(head, modifier, label)];
                if size > 0.0 { value / size } else { value }
            })
        };
        self.moderate_covariance(&scaled(f, f_size), &scaled(g, g_size)) * f_size * g_size
    }

    /// The largest value of a function on a labelled arc that is allowed.
    fn size_of(&self, f: &LabelledArcMatrix) -> f64 {
        let pairs = self.arcs.scores().arcs().flat_map(|(head, modifier, _)| {
            self.scores.cell(head, modifier).iter().zip(f.cell(head, modifier))
        });
        let allowed = pairs.filter(|&(&score, _)| score > f64::NEG_INFINITY);
        allowed.fold(0.0f64, |size, (_, value)| size.max(value.abs()))
    }

    fn moderate_covariance(&self, f: &LabelledArcMatrix, g: &LabelledArcMatrix) -> f64 {
        let f_means = self.label_means(f);
        let g_means = self.label_means(g);
        let between = self.arcs.unchecked_covariance(&f_means, &g_means);
        let within: f64 = self
            .arcs
            .marginals()
            .arcs()
            .filter(|&(_, _, p)| p > 0.0)
            .map(|(head, modifier, p)| {
                let pairs = f.cell(head, modifier).iter().zip(g.cell(head, modifier));
                let f_mean = f_means[(head, modifier)];
                let g_mean = g_means[(head, modifier)];
                p * self
                    .softmax(head, modifier)
                    .zip(pairs)
                    .filter(|&(q, _)| q > 0.0)
                    .map(|(q, (x, y))| q * (x - f_mean) * (y - g_mean))
                    .sum::<f64>()
            })
            .sum();
        between + within
    }

    /// E\[f(e, ℓ) | e\] for every arc; 0 for forbidden ones.
    fn label_means(&self, f: &LabelledArcMatrix) -> ArcMatrix {
        ArcMatrix::from_fn(self.words(), |head, modifier| {
            self.softmax(head, modifier)
                .zip(f.cell(head, modifier))
                .filter(|&(q, _)| q > 0.0)
                .map(|(q, value)| q * value)
                .sum()
        })
    }

    /// Checks that `f` has the shape of the scores, and is a number wherever a labelled arc is allowed.
    fn check_function(&self, f: &LabelledArcMatrix) -> Result<(), Error> {
        if f.words() != self.words() {
            return Err(Error::DifferentLengths { left: self.words(), right: f.words() });
        }
        if f.labels() != self.labels() {
            return Err(Error::Shape {
                expected: format!("values for {} labels", self.labels()),
                found: format!("values for {} labels", f.labels()),
            });
        }
        for (head, modifier, _) in self.arcs.scores().arcs() {
            let allowed = self.scores.cell(head, modifier);
            for (label, (&score, &value)) in allowed.iter().zip(f.cell(head, modifier)).enumerate()
            {
                if score > f64::NEG_INFINITY && !is_number(value) {
                    return Err(Error::BadScore { head, modifier, label: Some(label), value });
                }
            }
        }
        Ok(())
    }
}

/// Returns the best label of each arc; the smallest in case of a tie.
fn best_labels<'a>(tree: &crate::Tree, cell: impl Fn(usize, usize) -> &'a [f64]) -> Vec<usize> {
    let best = |(head, modifier)| {
        let values = cell(head, modifier).iter().enumerate();
        values.fold(
            (0, f64::NEG_INFINITY),
            |best, (label, &value)| {
                if value > best.1 { (label, value) } else { best }
            },
        )
    };
    tree.arcs().map(|arc| best(arc).0).collect()
}
