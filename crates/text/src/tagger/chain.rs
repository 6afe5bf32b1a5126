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
//! The sums are of exponentials. Those of each word are scaled by the largest, so nothing overflows. A score more
//! than [`MAX_DIFFERENCE`] below the best of its word, or of all pairs, counts as that far below. So no 64-bit sum
//! underflows to 0.

/// Largest difference to the best score that counts. e⁻³⁰⁰ is negligible in any case.
const MAX_DIFFERENCE: f64 = 300.0;

/// Scores of pairs of neighbouring tags, and their exponentials.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    tags: usize,
    /// w, `[before · tags + tag]`; the last row is that of the start.
    scores: Vec<f32>,
    /// exp(w − max w).
    exps: Vec<f64>,
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
        let mut chain = Self { tags, exps: vec![0.0; scores.len()], scores };
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
        let best = self.best();
        for (exp, score) in self.exps.iter_mut().zip(&self.scores) {
            *exp = limit(f64::from(*score) - best).exp();
        }
    }

    fn best(&self) -> f64 {
        self.scores.iter().copied().fold(f32::MIN, f32::max).into()
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
        let mut log_sum = words as f64 * self.best();
        exps.clear();
        for word in scores.chunks_exact(tags) {
            let best = f64::from(word.iter().copied().fold(f32::MIN, f32::max));
            log_sum += best;
            exps.extend(word.iter().map(|score| limit(f64::from(*score) - best).exp()));
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
                let own = f64::from(scores[word * tags + tag]);
                let step = |from| f64::from(self.scores[self.cell(from, tag)]) + own;
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
            RankedTags { tags: found, log_prob: paths[end].score - log_sum }
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

/// Limits a difference to the best score, which is negative, to [`MAX_DIFFERENCE`].
fn limit(difference: f64) -> f64 {
    difference.max(-MAX_DIFFERENCE)
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

    fn log_sum(scores: impl Iterator<Item = f64> + Clone) -> f64 {
        let best = scores.clone().fold(f64::NEG_INFINITY, f64::max);
        best + scores.map(|score| (score - best).exp()).sum::<f64>().ln()
    }

    fn any_chain() -> impl Strategy<Value = (Chain, Vec<f32>)> {
        (1..4usize, 1..6usize, prop_oneof![Just(1f32), Just(20.0), Just(60.0)]).prop_flat_map(
            |(tags, words, range)| {
                let score = move || -range..range;
                let pairs = prop::collection::vec(score(), (tags + 1) * tags);
                let words = prop::collection::vec(score(), words * tags);
                (pairs.prop_map(move |pairs| Chain::new(tags, pairs)), words)
            },
        )
    }

    proptest! {
        #[test]
        fn sums_are_those_of_all_sequences((chain, scores) in any_chain()) {
            let sequences = all(&chain, &scores);
            let z = log_sum(sequences.iter().map(|(_, score)| *score));
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
            let z = log_sum(sequences.iter().map(|(_, score)| *score));
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
