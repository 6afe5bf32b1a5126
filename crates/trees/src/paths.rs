//! Does one word dominate another? P(there is a path from a down to w).
//!
//! **Projective** trees answer exactly for all pairs, in O(n³) (`projective/dominance.rs`).
//!
//! **Non-projective** ones cannot: whether the probability is above zero asks for a simple path from
//! the root to w that leads through a, which is NP-complete in directed graphs (Fortune, Hopcroft &
//! Wyllie 1980). But most sentences are not that hard. Walk from w upwards: the ways to begin,
//!
//! ```text
//! w ← h₁ ← … ← h_k        with probability P(h₁→w, h₂→h₁, …, h_k→h_{k−1})
//! ```
//!
//! are disjoint, and each of these joint probabilities is a determinant of the arcs' kernel, O(k³).
//! A way that arrives at a counts, one that arrives at the root does not, and any other goes on to the
//! heads of h_k. The most probable is taken first, so what is not yet decided falls quickly where the
//! model is mostly sure. When it is below 10⁻⁹, the answer is exact; when it does not fall so far in
//! time, but below 10⁻³, the truth lies between what has arrived and that much more; and otherwise
//! trees are drawn to estimate the undecided part, and that part only.

use std::cmp::Ordering;
use std::collections::{BTreeSet, BinaryHeap};

use rand_core::Rng;

use crate::matrix::check_arc;
use crate::{Error, Estimate, TreeDistribution, projective};

/// What is undecided below this is nothing.
const EXACT: f64 = 1e-9;
/// What is undecided below this is not worth drawing trees: they would not be as sure.
const CLOSE: f64 = 1e-3;
/// Joint probabilities asked for before it is given up; one that the kernel cannot answer, and that so
/// costs O(n³), counts as many.
const QUESTIONS: usize = 10_000;
const SLOW: usize = 50;
/// The largest error of an answer of the kernel.
const ROUNDING: f64 = 1e-13;
/// Trees drawn then.
const DRAWS: u32 = 4_000;

/// A way up from the word that has not arrived.
#[derive(PartialEq)]
struct Way {
    probability: f64,
    /// The word, its head, the head of that, …
    places: Vec<usize>,
}

impl Eq for Way {}

/// How far a search has come.
struct Search {
    /// The probability of the ways that have arrived.
    arrived: f64,
    /// What more it may be at most: the probability of those that have not, and rounding.
    undecided: f64,
    /// Those that have not.
    ways: BTreeSet<Vec<usize>>,
}

impl Ord for Way {
    /// By probability; of equal ones the smaller places come first out of a heap.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_probability = self.probability.total_cmp(&other.probability);
        by_probability.then_with(|| other.places.cmp(&self.places))
    }
}

impl PartialOrd for Way {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl TreeDistribution {
    /// P(`word` is `ancestor` or lies below it), as [`Tree::descends`](crate::Tree::descends) says;
    /// 1 if the ancestor is 0, the root.
    ///
    /// Exact in projective sets, O(n³). In the others exact to 10⁻⁹, with a standard error of 0, where
    /// the probable paths between the two are not too many; then known to lie within the standard
    /// error, at most 0.0005; and otherwise estimated from 4,000 samples, for which alone the
    /// generator is used.
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
    /// [`Error::NoSuchArc`] if one of the two does not exist.
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
        let Search { arrived, undecided, ways } = self.search(ancestor, word, QUESTIONS)?;
        if undecided <= EXACT {
            return Ok(exactly(arrived.clamp(0.0, 1.0)));
        }
        if undecided <= CLOSE {
            let half = undecided / 2.0;
            return Ok(Estimate { mean: (arrived + half).min(1.0), standard_error: half });
        }
        let estimate = self.draw(ancestor, word, &ways, rng);
        Ok(Estimate { mean: (arrived + estimate.mean).min(1.0), ..estimate })
    }

    /// Follows the ways up from `word`, the most probable first, until all but nothing is decided or so
    /// many questions have been asked.
    fn search(&self, ancestor: usize, word: usize, questions: usize) -> Result<Search, Error> {
        let mut ways = BinaryHeap::from([Way { probability: 1.0, places: vec![word] }]);
        let (mut arrived, mut undecided, mut errors, mut asked) = (0.0, 1.0, 0.0, 0);
        let mut arcs = Vec::new();
        while undecided > EXACT / 2.0
            && asked < questions
            && let Some(Way { probability: whole, places }) = ways.pop()
        {
            undecided -= whole;
            let top = places.last().copied().unwrap_or(word);
            for head in (1..=self.words()).filter(|head| !places.contains(head)) {
                if self.scores()[(head, top)] == f64::NEG_INFINITY {
                    continue;
                }
                arcs.clear();
                arcs.extend(places.windows(2).map(|pair| (pair[1], pair[0])));
                arcs.push((head, top));
                let (probability, questions) = self.joint_of_path(&mut arcs)?;
                let probability = probability.clamp(0.0, whole);
                asked += questions;
                errors += ROUNDING;
                if head == ancestor {
                    arrived += probability;
                } else if probability > 0.0 {
                    undecided += probability;
                    let places = places.iter().copied().chain([head]).collect();
                    ways.push(Way { probability, places });
                }
            }
        }
        let undecided = undecided.max(0.0) + errors;
        let ways = ways.into_iter().map(|way| way.places).collect();
        Ok(Search { arrived, undecided, ways })
    }

    /// P(all of these arcs), and as how many questions that counts.
    fn joint_of_path(&self, arcs: &mut [(usize, usize)]) -> Result<(f64, usize), Error> {
        if let [(head, modifier)] = *arcs {
            return Ok((self.marginal(head, modifier)?, 1));
        }
        arcs.sort_unstable_by_key(|&(_, modifier)| modifier);
        match self.joint_by_kernel(arcs) {
            Some((probability, error)) if error <= ROUNDING => Ok((probability, 1)),
            _ => Ok((self.joint_marginal(arcs)?, SLOW)),
        }
    }

    /// P(`word` lies below `ancestor`, on a path that begins with an undecided way), from samples.
    fn draw<R: Rng + ?Sized>(
        &self,
        ancestor: usize,
        word: usize,
        undecided: &BTreeSet<Vec<usize>>,
        rng: &mut R,
    ) -> Estimate {
        let (mut heads, mut places) = (Vec::new(), Vec::new());
        let mut below = 0u32;
        for _ in 0..DRAWS {
            self.sample_into(rng, &mut heads);
            places.clear();
            let (mut at, mut is_undecided) = (word, false);
            while at != 0 && at != ancestor {
                places.push(at);
                is_undecided = is_undecided || undecided.contains(&places);
                at = heads[at - 1];
            }
            below += u32::from(is_undecided && at == ancestor);
        }
        let (below, draws) = (f64::from(below), f64::from(DRAWS));
        // Half a success more, so that none at all is not taken for certainty.
        let p = (below + 0.5) / (draws + 1.0);
        Estimate { mean: below / draws, standard_error: (p * (1.0 - p) / draws).sqrt() }
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
            questions in 0usize..40,
        ) {
            for set in [TreeSet::NonProjectiveSingleRoot, TreeSet::NonProjectiveMultiRoot] {
                let Some(d) = distribution(5, &cells, set) else { continue };
                let Search { arrived, undecided, ways } = d.search(1, 4, questions).unwrap();
                let rest = d.draw(1, 4, &ways, &mut Pcg64::seed_from_u64(7));
                let (found, wanted) = (arrived + rest.mean, expected(&d, 1, 4));
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
        // All words are alike: a word has as many ancestors as its depth, on average.
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
