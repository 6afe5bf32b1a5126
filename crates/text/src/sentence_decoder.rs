//! Minimum Bayes risk decoding of sentences: from probabilities of breaks to the division into sentences with the
//! highest expected F₁.
//!
//! Let p_i be the probability of a break after token i, independent of the others, and 1 at both ends of the
//! paragraph. Tokens i+1 … j are exactly one sentence with probability
//!
//! > P(i, j) = p_i · p_j · ∏_{i<k<j} (1 − p_k).
//!
//! F₁ = 2·right / (gold + predicted) is not a sum over sentences. But the division that maximises it also maximises
//! Σ (P(i, j) − λ) over the predicted sentences, where λ is half of that maximum (Dinkelbach 1967). The penalty λ is
//! chosen on held-out sentences. The best division has the value
//!
//! > best(j) = max_{i<j} best(i) + P(i, j) − λ.
//!
//! A threshold on p_i would optimise breaks, not sentences: a sentence is right only if both of its breaks are.
//!
//! Cost: once ∏ (1 − p_k) is below 2⁻²⁰, P counts as 0 and the best i further left is known. So time is linear in the
//! number of tokens, with as many steps per token as a sentence has tokens.

/// Decoder of sentences, with the memory of its dynamic programme.
#[derive(Debug, Default)]
pub(crate) struct SentenceDecoder {
    /// best(j), for the first j tokens.
    best: Vec<f32>,
    /// Start of the last sentence in the best division of the first j tokens.
    from: Vec<u32>,
    /// argmax of best(0) … best(j).
    leader: Vec<u32>,
}

impl SentenceDecoder {
    /// Products below this count as 0.
    const NEGLIGIBLE: f32 = 1e-6;
    /// Number of tokens after which the search back ends in any case.
    const MAX_LOOK_BACK: usize = 1000;

    /// Writes the end of each sentence, as the number of tokens before it, to `ends`. `penalty` is λ.
    pub(crate) fn decode(&mut self, probabilities: &[f32], penalty: f32, ends: &mut Vec<usize>) {
        let n = probabilities.len();
        let p = |tokens: usize| match tokens {
            0 => 1.0,
            _ if tokens == n => 1.0,
            _ => probabilities[tokens - 1],
        };
        self.best.clear();
        self.from.clear();
        self.leader.clear();
        self.best.push(0.0);
        self.from.push(0);
        self.leader.push(0);
        for j in 1..=n {
            let mut inside = p(j);
            let mut best = f32::NEG_INFINITY;
            let mut from = j - 1;
            let mut i = j;
            while i > 0 {
                i -= 1;
                let value = self.best[i] + p(i) * inside;
                if value > best {
                    (best, from) = (value, i);
                }
                inside *= 1.0 - p(i);
                if inside < Self::NEGLIGIBLE || j - i >= Self::MAX_LOOK_BACK {
                    break;
                }
            }
            if i > 0 {
                let leader = self.leader[i - 1] as usize;
                if self.best[leader] > best {
                    (best, from) = (self.best[leader], leader);
                }
            }
            best -= penalty;
            let leader = self.leader[j - 1] as usize;
            self.leader.push(if best > self.best[leader] { j } else { leader } as u32);
            self.best.push(best);
            self.from.push(from as u32);
        }
        ends.clear();
        let mut end = n;
        while end > 0 {
            ends.push(end);
            end = self.from[end] as usize;
        }
        ends.reverse();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns Σ (P − λ) of a division, by the formula.
    fn value(p: &[f32], penalty: f32, ends: &[usize]) -> f32 {
        let n = p.len();
        let at = |tokens: usize| if tokens == 0 || tokens == n { 1.0 } else { p[tokens - 1] };
        let starts = std::iter::once(&0).chain(ends);
        let one = |(&start, &end): (&usize, &usize)| {
            let inside: f32 = (start + 1..end).map(|k| 1.0 - at(k)).product();
            at(start) * at(end) * inside - penalty
        };
        starts.zip(ends).map(one).sum()
    }

    proptest! {
        #[test]
        fn divisions_are_the_best_of_all(
            p in prop::collection::vec(prop_oneof![0.0f32..1.0, Just(0.0), Just(1.0)], 1..10),
            penalty in 0.0f32..0.6,
        ) {
            let mut ends = Vec::new();
            SentenceDecoder::default().decode(&p, penalty, &mut ends);
            prop_assert_eq!(ends.last(), Some(&p.len()));
            let found = value(&p, penalty, &ends);
            for set in 0u32..1 << (p.len() - 1) {
                let other: Vec<usize> = (1..p.len()).filter(|k| set >> (k - 1) & 1 == 1).chain([p.len()]).collect();
                prop_assert!(value(&p, penalty, &other) <= found + 1e-4, "{:?} {:?}", ends, other);
            }
        }
    }

    #[test]
    fn long_paragraphs_take_linear_time() {
        let mut ends = Vec::new();
        SentenceDecoder::default().decode(&vec![0.0; 300_000], 0.3, &mut ends);
        assert_eq!(ends, [300_000]);
        SentenceDecoder::default().decode(&vec![1.0; 300_000], 0.3, &mut ends);
        assert_eq!(ends.len(), 300_000);
    }
}
