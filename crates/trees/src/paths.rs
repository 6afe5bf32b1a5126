//! Probabilities of paths: P(there is a path from the ancestor a down to the word w).
//!
//! For **projective** trees, O(n³) gives the exact answer for all pairs (`projective/dominance.rs`).
//!
//! For **non-projective** trees, even deciding whether the probability is above zero is NP-complete:
//! it asks for a simple path from the root through a to w in a directed graph (Fortune, Hopcroft &
//! Wyllie 1980). But most sentences are not that hard. Walk from w upwards: the partial paths
//!
//! ```text
//! w ← h₁ ← … ← h_k        with probability P(h₁→w, h₂→h₁, …, h_k→h_{k−1})
//! ```
//!
//! are disjoint, and each of these joint probabilities is a determinant of the arcs' kernel, O(k³).
//! A path that reaches a counts, and one that reaches the root does not. Any other path is extended
//! by the heads of h_k, the most probable path first. The undecided probability therefore falls
//! quickly where the entropy is low. There are three outcomes:
//!
//! - It falls below 10⁻⁹: the answer is exact.
//! - It falls below 10⁻³ within the budget: the answer is bounded by the probability of the paths that
//!   have reached a, and that plus the undecided probability.
//! - Otherwise trees are sampled to estimate the undecided part, and that part only.

use std::cmp::Ordering;
use std::collections::{BTreeSet, BinaryHeap};

use rand_core::Rng;

use crate::matrix::check_arc;
use crate::{Error, Estimate, TreeDistribution, projective};

/// Undecided probability below which the answer counts as exact.
const EXACT: f64 = 1e-9;
/// Undecided probability below which its bounds are tighter than an estimate from samples.
const TIGHT: f64 = 1e-3;
/// Budget of a search, in joint probabilities from the kernel.
const BUDGET: usize = 10_000;
/// Cost of a joint probability that the kernel cannot give and that takes O(n³), in the same unit.
const SLOW_COST: usize = 50;
/// Largest error of a joint probability.
const MAX_ERROR: f64 = 1e-13;
/// Number of trees sampled for an estimate.
const SAMPLES: u32 = 4_000;

/// A path upwards from the word that has not reached the ancestor or the root.
#[derive(PartialEq)]
struct PartialPath {
    probability: f64,
    /// The word, its head, the head of that, …
    words: Vec<usize>,
}

impl Eq for PartialPath {}

/// The result of a search.
struct Search {
    /// The probability of the paths that have reached the ancestor.
    arrived: f64,
    /// The probability of the undecided paths, and a bound of the rounding errors.
    undecided: f64,
    /// The words of the undecided paths.
    open: BTreeSet<Vec<usize>>,
}

impl Ord for PartialPath {
    /// Orders by probability; ties are popped off a heap in lexicographic order of words.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_probability = self.probability.total_cmp(&other.probability);
        by_probability.then_with(|| other.words.cmp(&self.words))
    }
}

impl PartialOrd for PartialPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl TreeDistribution {
    /// P(`word` is `ancestor` or lies below it), as [`Tree::descends`](crate::Tree::descends) defines
    /// it; 1 if the ancestor is 0, the root.
    ///
    /// In projective sets, the answer is exact and takes O(n³). In the others it is one of three:
    ///
    /// - exact to 10⁻⁹, with a standard error of 0, if there are few probable paths between the two;
    /// - certain to lie within the standard error, which is at most 0.0005;
    /// - estimated from 4,000 samples. Only this case uses the generator.
    ///
    /// ```
    /// use tutte_trees::{ArcMatrix, TreeDistribution, TreeSet};
    /// use rand_pcg::{Pcg64, rand_core::SeedableRng};
    /// let d = TreeDistribution::new(ArcMatrix::zeros(3), TreeSet::NonProjectiveMultiRoot)?;
    /// let below = d.path_prob(1, 2, &mut Pcg64::seed_from_u64(1))?;
    /// assert!((below.mean - 5.0 / 16.0).abs() < 1e-9); // in 5 of 16 trees 2 is below 1
    /// assert_eq!(below.standard_error, 0.0);           // exactly
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchArc`] if one of the two words does not exist.
    pub fn path_prob<R: Rng + ?Sized>(
        &self,
        ancestor: usize,
        word: usize,
        rng: &mut R,
    ) -> Result<Estimate, Error> {
        if ancestor != word {
            check_arc(self.words(), ancestor, word)?;
        }
        check_arc(self.words(), 0, word)?;
        let exactly = |mean| Estimate { mean, standard_error: 0.0 };
        if ancestor == 0 || ancestor == word {
            return Ok(exactly(1.0));
        }
        if self.tree_set().is_projective() {
            let roots = self.tree_set().roots();
            return Ok(exactly(projective::dominance(&self.shifted, roots)[(ancestor, word)]));
        }
        let Search { arrived, undecided, open } = self.search(ancestor, word, BUDGET)?;
        if undecided <= EXACT {
            return Ok(exactly(arrived.clamp(0.0, 1.0)));
        }
        if undecided <= TIGHT {
            let half = undecided / 2.0;
            return Ok(Estimate { mean: (arrived + half).min(1.0), standard_error: half });
        }
        let estimate = self.estimate(ancestor, word, &open, rng);
        Ok(Estimate { mean: (arrived + estimate.mean).min(1.0), ..estimate })
    }

    /// Extends the paths upwards from `word`, the most probable first, until the undecided probability
    /// is negligible or the budget is spent.
    fn search(&self, ancestor: usize, word: usize, budget: usize) -> Result<Search, Error> {
        let mut open = BinaryHeap::from([PartialPath { probability: 1.0, words: vec![word] }]);
        let mut arrived = 0.0;
        let mut undecided = 1.0;
        let mut errors = 0.0;
        let mut spent = 0;
        let mut arcs = Vec::new();
        while undecided > EXACT / 2.0
            && spent < budget
            && let Some(PartialPath { probability: whole, words }) = open.pop()
        {
            undecided -= whole;
            let top = words.last().copied().unwrap_or(word);
            for head in (1..=self.words()).filter(|head| !words.contains(head)) {
                if self.scores()[(head, top)] == f64::NEG_INFINITY {
                    continue;
                }
                arcs.clear();
                arcs.extend(words.windows(2).map(|pair| (pair[1], pair[0])));
                arcs.push((head, top));
                let (probability, cost) = self.joint_of_path(&mut arcs)?;
                let probability = probability.clamp(0.0, whole);
                spent += cost;
                errors += MAX_ERROR;
                if head == ancestor {
                    arrived += probability;
                } else if probability > 0.0 {
                    undecided += probability;
                    let words = words.iter().copied().chain([head]).collect();
                    open.push(PartialPath { probability, words });
                }
            }
        }
        let undecided = undecided.max(0.0) + errors;
        let open = open.into_iter().map(|path| path.words).collect();
        Ok(Search { arrived, undecided, open })
    }

    /// P(all of these arcs), and its cost.
    fn joint_of_path(&self, arcs: &mut [(usize, usize)]) -> Result<(f64, usize), Error> {
        if let [(head, modifier)] = *arcs {
            return Ok((self.marginal(head, modifier)?, 1));
        }
        arcs.sort_unstable_by_key(|&(_, modifier)| modifier);
        match self.joint_by_kernel(arcs) {
            Some((probability, error)) if error <= MAX_ERROR => Ok((probability, 1)),
            _ => Ok((self.joint_marginal(arcs)?, SLOW_COST)),
        }
    }

    /// Estimates P(`word` lies below `ancestor`, on a path that begins with an undecided one) from
    /// samples.
    fn estimate<R: Rng + ?Sized>(
        &self,
        ancestor: usize,
        word: usize,
        undecided: &BTreeSet<Vec<usize>>,
        rng: &mut R,
    ) -> Estimate {
        let mut heads = Vec::new();
        let mut path = Vec::new();
        let mut below = 0u32;
        for _ in 0..SAMPLES {
            self.sample_into(rng, &mut heads);
            path.clear();
            let mut at = word;
            let mut is_undecided = false;
            while at != 0 && at != ancestor {
                path.push(at);
                is_undecided = is_undecided || undecided.contains(&path);
                at = heads[at - 1];
            }
            below += u32::from(is_undecided && at == ancestor);
        }
        let below = f64::from(below);
        let samples = f64::from(SAMPLES);
        // Half a success more, so that zero successes do not give a standard error of zero.
        let p = (below + 0.5) / (samples + 1.0);
        Estimate { mean: below / samples, standard_error: (p * (1.0 - p) / samples).sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_pcg::{Pcg64, rand_core::SeedableRng};

    use super::*;
    use crate::{ArcMatrix, TreeSet, oracle};

    fn distribution(words: usize, cells: &[f64], set: TreeSet) -> Option<TreeDistribution> {
        let scores = ArcMatrix::from_fn(words, |head, modifier| match cells[head * 6 + modifier] {
            cell if cell < -8.0 => f64::NEG_INFINITY,
            cell => cell,
        });
        TreeDistribution::new(scores, set).ok()
    }

    fn expected(d: &TreeDistribution, ancestor: usize, word: usize) -> f64 {
        let below = |tree: &crate::Tree| f64::from(tree.descends(word, ancestor));
        oracle::expectation(d.scores(), d.tree_set(), below)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]

        #[test]
        fn paths_are_as_probable_as_enumeration_says(
            words in 1usize..5,
            cells in proptest::collection::vec(-12.0..6.0f64, 36),
        ) {
            for set in TreeSet::ALL {
                let Some(d) = distribution(words, &cells, set) else { continue };
                let mut rng = Pcg64::seed_from_u64(1);
                for word in 1..=words {
                    for ancestor in 0..=words {
                        let found = d.path_prob(ancestor, word, &mut rng).unwrap();
                        let wanted = expected(&d, ancestor, word);
                        prop_assert!((found.mean - wanted).abs() < 1e-9, "{found:?} {wanted} {set}");
                        prop_assert_eq!(found.standard_error, 0.0);
                    }
                }
                prop_assert!(rng == Pcg64::seed_from_u64(1), "nothing was drawn");
            }
        }

        #[test]
        fn what_is_not_decided_in_time_is_estimated(
            cells in proptest::collection::vec(-1.0..1.0f64, 36),
            budget in 0usize..40,
        ) {
            for set in [TreeSet::NonProjectiveSingleRoot, TreeSet::NonProjectiveMultiRoot] {
                let Some(d) = distribution(5, &cells, set) else { continue };
                let Search { arrived, undecided, open } = d.search(1, 4, budget).unwrap();
                let rest = d.estimate(1, 4, &open, &mut Pcg64::seed_from_u64(7));
                let found = arrived + rest.mean;
                let wanted = expected(&d, 1, 4);
                prop_assert!(arrived - 1e-9 <= wanted && wanted <= arrived + undecided + 1e-9);
                prop_assert!((found - wanted).abs() < 6.0 * rest.standard_error, "{found} {wanted}");
                prop_assert!(rest.standard_error > 0.0 && rest.standard_error < 0.01);
            }
        }
    }

    #[test]
    fn long_sentences_without_any_preference_are_estimated() {
        let d =
            TreeDistribution::new(ArcMatrix::zeros(30), TreeSet::NonProjectiveMultiRoot).unwrap();
        let found = d.path_prob(3, 17, &mut Pcg64::seed_from_u64(5)).unwrap();
        assert!(found.standard_error > 0.0 && found.standard_error < 0.01, "{found:?}");
        // All words are alike, so the mean depth of a word gives the probability of each ancestor.
        let mut rng = Pcg64::seed_from_u64(6);
        let mut depth = 0;
        for _ in 0..5_000 {
            let tree = d.sample(&mut rng);
            depth += (1..=30).filter(|&other| other != 17 && tree.descends(17, other)).count();
        }
        let wanted = f64::from(u32::try_from(depth).unwrap()) / 5_000.0 / 29.0;
        assert!((found.mean - wanted).abs() < 0.02, "{found:?} {wanted}");
    }

    #[test]
    fn words_that_do_not_exist_have_no_path() {
        let d = TreeDistribution::new(ArcMatrix::zeros(2), TreeSet::ProjectiveMultiRoot).unwrap();
        for (ancestor, word) in [(3, 1), (1, 3), (0, 0), (1, 0), (3, 3)] {
            let error = d.path_prob(ancestor, word, &mut Pcg64::seed_from_u64(1)).unwrap_err();
            assert!(matches!(error, Error::NoSuchArc { .. }), "{error}");
        }
        assert_eq!(d.path_prob(2, 2, &mut Pcg64::seed_from_u64(1)).unwrap().mean, 1.0);
    }
}
