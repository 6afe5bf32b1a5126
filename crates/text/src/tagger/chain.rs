//! Linear chains: exact inference over the tag sequences of a sentence.
//!
//! ```text
//! P(t₁ … tₙ) ∝ exp( Σᵢ e(i, tᵢ) + Σᵢ w(tᵢ₋₁, tᵢ) )        t₀ is the start
//! ```
//!
//! Forward and backward sums (Baum et al. 1970; Lafferty, McCallum & Pereira 2001) give the probability of every tag
//! of every word, and of every pair of neighbouring tags. With max in place of sum and lists in place of numbers,
//! they give the k best sequences (Viterbi 1967). Cost: O(n·T²) for n words and T tags, times k log k for k
//! sequences.
//!
//! The sums are of exponentials. Those of each word are scaled by the largest, so nothing overflows. No 64-bit sum
//! underflows to 0 as long as no score is more than [`MAX_DIFFERENCE`] below the best of its word, or of all pairs.
//! Scores of a wider range are summed as logarithms, which is slower.

/// Largest difference to the best score for which exponentials are summed.
const MAX_DIFFERENCE: f64 = 300.0;

/// Scores of pairs of neighbouring tags, and their exponentials.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    tags: usize,
    /// w, `[before · tags + tag]`; the last row is that of the start.
    scores: Vec<f32>,
    /// exp(w − max w).
    exps: Vec<f64>,
    /// The scores are too far apart to sum their exponentials.
    is_wide: bool,
}

/// Memory of inference, which the next sentence reuses.
#[derive(Clone, Debug, Default)]
pub(super) struct ChainMemory {
    /// exp(e), scaled for each word.
    exps: Vec<f64>,
    /// α, scaled so that the values of a word sum to 1.
    forward: Vec<f64>,
    /// β of one word, scaled.
    backward: Vec<f64>,
    /// exp(e) · β of one word.
    next: Vec<f64>,
    /// P(tᵢ = t), `[word · tags + tag]`.
    pub(super) marginals: Vec<f64>,
}

/// A tag sequence and its probability.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RankedTags {
    pub(super) tags: Vec<usize>,
    pub(super) log_prob: f64,
}

impl Chain {
    /// Creates a chain from the scores of pairs: `tags` + 1 rows, the last that of the start.
    pub(super) fn new(tags: usize, scores: Vec<f32>) -> Self {
        debug_assert_eq!(scores.len(), (tags + 1) * tags);
        let mut chain = Self { tags, exps: vec![0.0; scores.len()], scores, is_wide: false };
        chain.update();
        chain
    }

    pub(super) fn scores(&self) -> &[f32] {
        &self.scores
    }

    /// Returns the scores for changes. [`update`](Self::update) must follow.
    pub(super) fn scores_mut(&mut self) -> &mut [f32] {
        &mut self.scores
    }

    /// Computes the exponentials of changed scores.
    pub(super) fn update(&mut self) {
        let best = highest_of(&self.scores);
        for (exp, score) in self.exps.iter_mut().zip(&self.scores) {
            *exp = (f64::from(*score) - best).exp();
        }
        self.is_wide = is_wide(&self.scores, best);
    }

    /// Returns the cell of a pair of tags; `None` is the start.
    pub(super) fn cell(&self, before: Option<usize>, tag: usize) -> usize {
        before.unwrap_or(self.tags) * self.tags + tag
    }

    fn row(&self, before: Option<usize>) -> &[f64] {
        &self.exps[self.cell(before, 0)..][..self.tags]
    }

    /// Computes the marginals of all tags into `memory`, and calls `pair` with the cell and the marginal of each pair
    /// of tags. Returns log Z. `scores` are e, `[word · tags + tag]`.
    pub(super) fn marginals(
        &self,
        scores: &[f32],
        memory: &mut ChainMemory,
        mut pair: impl FnMut(usize, f64),
    ) -> f64 {
        let tags = self.tags;
        let ChainMemory { exps, forward, backward, next, marginals } = memory;
        let words = scores.len() / tags.max(1);
        let mut log_sum = words as f64 * highest_of(&self.scores);
        exps.clear();
        for word in scores.chunks_exact(tags) {
            let best = highest_of(word);
            if self.is_wide || is_wide(word, best) {
                return self.log_marginals(scores, marginals, pair);
            }
            log_sum += best;
            exps.extend(word.iter().map(|score| (f64::from(*score) - best).exp()));
        }
        forward.clear();
        forward.resize(scores.len(), 0.0);
        for word in 0..words {
            let (before, here) = forward.split_at_mut(word * tags);
            let here = &mut here[..tags];
            if word == 0 {
                here.copy_from_slice(self.row(None));
            } else {
                for (tag, &sum) in before[(word - 1) * tags..].iter().enumerate() {
                    let row = self.row(Some(tag)).iter();
                    here.iter_mut().zip(row).for_each(|(here, exp)| *here += sum * exp);
                }
            }
            here.iter_mut().zip(&exps[word * tags..]).for_each(|(here, exp)| *here *= exp);
            let sum: f64 = here.iter().sum();
            here.iter_mut().for_each(|here| *here /= sum);
            log_sum += sum.ln();
        }
        marginals.clear();
        marginals.resize(scores.len(), 0.0);
        backward.clear();
        backward.resize(tags, 1.0);
        for word in (0..words).rev() {
            let here = &forward[word * tags..][..tags];
            let probs = &mut marginals[word * tags..][..tags];
            probs.iter_mut().zip(here.iter().zip(&*backward)).for_each(|(p, (a, b))| *p = a * b);
            let sum: f64 = probs.iter().sum();
            probs.iter_mut().for_each(|p| *p /= sum);
            if word == 0 {
                probs.iter().enumerate().for_each(|(tag, p)| pair(self.cell(None, tag), *p));
                break;
            }
            // exp(e(i, t)) β(i, t), for all t.
            next.clear();
            next.extend(exps[word * tags..].iter().zip(&*backward).map(|(exp, b)| exp * b));
            let before = &forward[(word - 1) * tags..][..tags];
            for (tag, sum) in backward.iter_mut().enumerate() {
                *sum = self.row(Some(tag)).iter().zip(&*next).map(|(exp, n)| exp * n).sum();
            }
            let all: f64 = before.iter().zip(&*backward).map(|(a, b)| a * b).sum();
            for (tag, a) in before.iter().enumerate() {
                let share = a / all;
                if share > 0.0 {
                    for (to, (exp, n)) in self.row(Some(tag)).iter().zip(&*next).enumerate() {
                        pair(self.cell(Some(tag), to), share * exp * n);
                    }
                }
            }
            let largest = backward.iter().copied().fold(0.0, f64::max);
            backward.iter_mut().for_each(|b| *b /= largest);
        }
        log_sum
    }

    /// Computes what [`marginals`](Self::marginals) does, for scores of any range.
    #[cold]
    fn log_marginals(
        &self,
        scores: &[f32],
        marginals: &mut Vec<f64>,
        mut pair: impl FnMut(usize, f64),
    ) -> f64 {
        let tags = self.tags;
        let words = scores.len() / tags;
        let own = |word: usize, tag: usize| finite(scores[word * tags + tag]);
        let step = |before: Option<usize>, tag: usize| finite(self.scores[self.cell(before, tag)]);
        // log α, scaled so that the exponentials of a word sum to 1.
        let mut forward: Vec<Vec<f64>> = Vec::with_capacity(words);
        let mut log_sum = 0.0;
        for word in 0..words {
            let reach = |tag: usize| match forward.last() {
                None => step(None, tag),
                Some(before) => {
                    let paths = before.iter().enumerate();
                    log_sum_exp(paths.map(|(from, sum)| sum + step(Some(from), tag)))
                }
            };
            let mut here: Vec<f64> = (0..tags).map(|tag| reach(tag) + own(word, tag)).collect();
            let sum = log_sum_exp(here.iter().copied());
            here.iter_mut().for_each(|here| *here -= sum);
            forward.push(here);
            log_sum += sum;
        }
        marginals.clear();
        marginals.resize(scores.len(), 0.0);
        // log β, scaled so that the largest is 0.
        let mut backward = vec![0.0; tags];
        for word in (0..words).rev() {
            let probs = &mut marginals[word * tags..][..tags];
            let sums = forward[word].iter().zip(&backward);
            probs.iter_mut().zip(sums).for_each(|(p, (a, b))| *p = a + b);
            normalise(probs);
            if word == 0 {
                probs.iter().enumerate().for_each(|(tag, p)| pair(self.cell(None, tag), *p));
                break;
            }
            let paths = |from: usize| {
                let backward = &backward;
                (0..tags).map(move |tag| step(Some(from), tag) + own(word, tag) + backward[tag])
            };
            let before = &forward[word - 1];
            let mut pairs: Vec<f64> = (0..tags)
                .flat_map(|from| paths(from).map(move |path| before[from] + path))
                .collect();
            normalise(&mut pairs);
            pairs.iter().enumerate().for_each(|(cell, p)| pair(cell, *p));
            let mut sums: Vec<f64> = (0..tags).map(|from| log_sum_exp(paths(from))).collect();
            let largest = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            sums.iter_mut().for_each(|sum| *sum -= largest);
            backward = sums;
        }
        log_sum
    }

    /// Returns the k most probable sequences with a probability of at least `least`, the best first. Ties are in the
    /// order of the indices of their tags, from the last word.
    ///
    /// `log_sum` is log Z. `marginals` are those of all tags: no sequence is more probable than any of its tags, so few
    /// tags are possible unless `least` is tiny.
    pub(super) fn kbest(
        &self,
        scores: &[f32],
        marginals: &[f64],
        k: usize,
        least: f64,
        log_sum: f64,
    ) -> Vec<RankedTags> {
        let tags = self.tags;
        let words = scores.len() / tags.max(1);
        if words == 0 || k == 0 {
            return Vec::new();
        }
        // Allows for rounding.
        let threshold = least * (1.0 - 1e-6);
        // Paths to all tags of all words. Those to one tag are neighbours, the best first.
        let mut paths: Vec<Path> = Vec::new();
        let mut before = 0..0;
        for word in 0..words {
            let start = paths.len();
            for tag in (0..tags).filter(|tag| marginals[word * tags + tag] >= threshold) {
                let own = finite(scores[word * tags + tag]);
                let step = |from| finite(self.scores[self.cell(from, tag)]) + own;
                let first = paths.len();
                if word == 0 {
                    paths.push(Path { score: step(None), tag, from: 0 });
                }
                for from in before.clone() {
                    let score = paths[from].score + step(Some(paths[from].tag));
                    paths.push(Path { score, tag, from });
                }
                paths[first..].sort_by(|a, b| b.score.total_cmp(&a.score));
                paths.truncate(first + k);
            }
            before = start..paths.len();
        }
        let mut ends: Vec<usize> = before.collect();
        ends.sort_by(|a, b| paths[*b].score.total_cmp(&paths[*a].score));
        ends.truncate(k);
        let sequence = |end: usize| {
            let mut found = vec![0; words];
            let mut at = end;
            for tag in found.iter_mut().rev() {
                (*tag, at) = (paths[at].tag, paths[at].from);
            }
            // Rounding of huge scores may give a positive difference.
            RankedTags { tags: found, log_prob: (paths[end].score - log_sum).min(0.0) }
        };
        let all = ends.into_iter().map(sequence);
        all.take_while(|ranked| ranked.log_prob.exp() >= threshold).collect()
    }
}

/// A path to a tag of a word.
struct Path {
    score: f64,
    tag: usize,
    /// Index of the path to the word before.
    from: usize,
}

fn highest_of(scores: &[f32]) -> f64 {
    scores.iter().copied().fold(f32::MIN, f32::max).into()
}

/// Returns `true` if a score is too far below the best to sum exponentials, or is not finite.
fn is_wide(scores: &[f32], best: f64) -> bool {
    // A comparison with NaN is false.
    !scores.iter().all(|score| best - f64::from(*score) <= MAX_DIFFERENCE)
}

/// Returns the nearest finite score. Weights without bounds could give infinities and NaN, which counts as the lowest.
fn finite(score: f32) -> f64 {
    let finite = if score.is_nan() { f32::MIN } else { score.clamp(f32::MIN, f32::MAX) };
    finite.into()
}

/// Returns log Σ exp x.
fn log_sum_exp(logs: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = logs.clone().fold(f64::NEG_INFINITY, f64::max);
    largest + logs.map(|log| (log - largest).exp()).sum::<f64>().ln()
}

/// Replaces logarithms by their exponentials, scaled to sum to 1.
fn normalise(logs: &mut [f64]) {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logs.iter_mut().for_each(|log| *log = (*log - largest).exp());
    let sum: f64 = logs.iter().sum();
    logs.iter_mut().for_each(|prob| *prob /= sum);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns all sequences with their scores.
    fn all(chain: &Chain, scores: &[f32]) -> Vec<(Vec<usize>, f64)> {
        let tags = chain.tags;
        let words = scores.len() / tags;
        let mut sequences = vec![(Vec::new(), 0.0)];
        for word in 0..words {
            let longer = |(before, score): &(Vec<usize>, f64)| {
                let step = |tag: usize| {
                    let cell = chain.cell(before.last().copied(), tag);
                    let step = f64::from(chain.scores[cell]) + f64::from(scores[word * tags + tag]);
                    ([&before[..], &[tag]].concat(), score + step)
                };
                (0..tags).map(step).collect::<Vec<_>>()
            };
            sequences = sequences.iter().flat_map(longer).collect();
        }
        sequences
    }

    fn any_chain() -> impl Strategy<Value = (Chain, Vec<f32>)> {
        (1..4usize, 1..6usize, prop_oneof![Just(1f32), Just(20.0), Just(60.0), Just(1e4)])
            .prop_flat_map(|(tags, words, range)| {
                let score = move || -range..range;
                let pairs = prop::collection::vec(score(), (tags + 1) * tags);
                let words = prop::collection::vec(score(), words * tags);
                (pairs.prop_map(move |pairs| Chain::new(tags, pairs)), words)
            })
    }

    proptest! {
        #[test]
        fn sums_are_those_of_all_sequences((chain, scores) in any_chain()) {
            let sequences = all(&chain, &scores);
            let z = log_sum_exp(sequences.iter().map(|(_, score)| *score));
            let mut memory = ChainMemory::default();
            let mut pairs = vec![0.0; chain.scores.len()];
            let found = chain.marginals(&scores, &mut memory, |cell, p| pairs[cell] += p);
            prop_assert!((found - z).abs() < 1e-9 * z.abs().max(1.0), "{found} {z}");
            let mut expected = vec![0.0; chain.scores.len()];
            let mut marginals = vec![0.0; scores.len()];
            for (tags, score) in &sequences {
                let mut before = None;
                for (word, &tag) in tags.iter().enumerate() {
                    expected[chain.cell(before, tag)] += (score - z).exp();
                    marginals[word * chain.tags + tag] += (score - z).exp();
                    before = Some(tag);
                }
            }
            for (found, expected) in pairs.iter().chain(&memory.marginals).zip(expected.iter().chain(&marginals)) {
                prop_assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            }
        }

        #[test]
        fn the_best_sequences_are_the_best((chain, scores) in any_chain(), k in 1..12usize) {
            let mut sequences = all(&chain, &scores);
            let z = log_sum_exp(sequences.iter().map(|(_, score)| *score));
            sequences.sort_by(|a, b| b.1.total_cmp(&a.1));
            let mut memory = ChainMemory::default();
            chain.marginals(&scores, &mut memory, |_, _| {});
            let found = chain.kbest(&scores, &memory.marginals, k, 0.0, z);
            prop_assert_eq!(found.len(), k.min(sequences.len()));
            // None of the sequences above the threshold is lost.
            let probable = sequences.iter().filter(|(_, score)| (score - z).exp() >= 0.1).count();
            let some = chain.kbest(&scores, &memory.marginals, k, 0.1, z);
            prop_assert_eq!(some.len(), k.min(probable));
            prop_assert_eq!(&some[..], &found[..some.len()]);
            for (found, (_, score)) in found.iter().zip(&sequences) {
                prop_assert!((found.log_prob - (score - z)).abs() < 1e-9);
                let own = sequences.iter().find(|(tags, _)| *tags == found.tags);
                prop_assert!(own.is_some_and(|(_, own)| (own - score).abs() < 1e-9));
            }
            let mut distinct: Vec<_> = found.iter().map(|ranked| &ranked.tags).collect();
            distinct.sort();
            distinct.dedup();
            prop_assert_eq!(distinct.len(), found.len());
        }
    }

    /// Checks ∂ log Z / ∂ score = marginal by finite differences.
    #[test]
    fn gradients_are_probabilities() {
        let pairs: Vec<f32> = (0..12).map(|i| ((i * 7) % 5) as f32 / 3.0 - 0.5).collect();
        let scores: Vec<f32> = (0..15).map(|i| ((i * 11) % 7) as f32 / 4.0).collect();
        let chain = Chain::new(3, pairs.clone());
        let mut memory = ChainMemory::default();
        let mut found = [0.0; 12];
        chain.marginals(&scores, &mut memory, |cell, p| found[cell] += p);
        let sum = |pairs: &[f32], scores: &[f32]| {
            Chain::new(3, pairs.to_vec()).marginals(scores, &mut ChainMemory::default(), |_, _| {})
        };
        let step = 1.0 / 64.0;
        let moved = |list: &[f32], at: usize, by: f32| {
            let mut list = list.to_vec();
            list[at] += by;
            list
        };
        for cell in 0..12 {
            let slope = sum(&moved(&pairs, cell, step), &scores)
                - sum(&moved(&pairs, cell, -step), &scores);
            assert!((slope / (2.0 * f64::from(step)) - found[cell]).abs() < 1e-4);
        }
        for cell in 0..15 {
            let slope = sum(&pairs, &moved(&scores, cell, step))
                - sum(&pairs, &moved(&scores, cell, -step));
            assert!((slope / (2.0 * f64::from(step)) - memory.marginals[cell]).abs() < 1e-4);
        }
    }

    /// The best tag of the word and the best first tag exclude each other: both sequences are far below the sum of the
    /// best scores, and one is far below the other.
    #[test]
    fn differences_below_the_best_scores_count() {
        let chain = Chain::new(2, vec![0.0, 0.0, 0.0, 0.0, -2000.0, 0.0]);
        let mut memory = ChainMemory::default();
        let sum = chain.marginals(&[0.0, -1000.0], &mut memory, |_, _| {});
        assert_eq!((sum, &memory.marginals[..]), (-1000.0, &[0.0, 1.0][..]));
    }

    /// Sums of exponentials and of logarithms agree where both can be used.
    #[test]
    fn logarithms_give_the_same_sums() {
        let pairs: Vec<f32> = (0..12).map(|i| ((i * 7) % 5) as f32 * 30.0).collect();
        let scores: Vec<f32> = (0..15).map(|i| ((i * 11) % 7) as f32 * 20.0).collect();
        let chain = Chain::new(3, pairs);
        let mut memory = ChainMemory::default();
        let mut by_exps = [0.0; 12];
        let sum = chain.marginals(&scores, &mut memory, |cell, p| by_exps[cell] += p);
        let mut marginals = Vec::new();
        let mut by_logs = [0.0; 12];
        let log_sum = chain.log_marginals(&scores, &mut marginals, |cell, p| by_logs[cell] += p);
        assert!((sum - log_sum).abs() < 1e-9);
        let found = memory.marginals.iter().chain(&by_exps);
        assert!(found.zip(marginals.iter().chain(&by_logs)).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn scores_that_are_not_finite_give_probabilities() {
        for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for scores in [[odd, odd, odd, odd], [odd, 0.0, 0.0, 1.0]] {
                let chain = Chain::new(2, vec![0.5; 6]);
                let mut memory = ChainMemory::default();
                let sum =
                    chain.marginals(&scores, &mut memory, |_, p| assert!((0.0..=1.0).contains(&p)));
                assert!(memory.marginals.iter().all(|p| (0.0..=1.0).contains(p)), "{memory:?}");
                let best = chain.kbest(&scores, &memory.marginals, 3, 0.0, sum);
                assert!(best.iter().all(|ranked| ranked.log_prob <= 0.0), "{best:?}");
            }
        }
    }

    #[test]
    fn no_range_of_scores_is_too_wide() {
        let chain = Chain::new(2, vec![1e30, -1e30, -1e30, 1e30, 0.0, -3e30]);
        let scores = [-1e30, 1e30, 1e30, -1e30, 0.0, 0.0];
        let mut memory = ChainMemory::default();
        let sum = chain.marginals(&scores, &mut memory, |_, p| assert!(p.is_finite()));
        assert!(sum.is_finite());
        assert!(memory.marginals.iter().all(|p| (0.0..=1.0).contains(p)), "{memory:?}");
        let none: &[f32] = &[];
        assert_eq!(chain.marginals(none, &mut memory, |_, _| {}), 0.0);
        assert!(chain.kbest(none, &[], 3, 0.0, 0.0).is_empty());
    }
}
