//! From probabilities of breaks to sentences: those of which most are expected to be right.
//!
//! With p_i the probability of a break after token i, independent of the others, the tokens i+1 … j are a
//! sentence of their own with probability
//!
//! > P(i, j) = p_i · p_j · ∏_{i<k<j} (1 − p_k),  p of the paragraph's ends being 1.
//!
//! F₁ = 2·right / (gold + predicted) is not a sum over sentences, but its maximum is also one of
//! Σ (P(i, j) − λ) over the predicted sentences, with λ half of that maximum (Dinkelbach 1967); λ is chosen on
//! sentences that were held out. The best division has the value
//!
//! > best(j) = max_{i<j} best(i) + P(i, j) − λ.
//!
//! This is minimum Bayes risk decoding; a threshold on p_i would be for breaks, not for sentences, which
//! are right only if both of their breaks are. Cost: once ∏ (1 − p_k) is below 2⁻²⁰, P is taken for 0, and the
//! best i further left is known; so time is linear with as many steps a token as sentences are long.

/// Memory for the dynamic programme.
#[derive(Debug, Default)]
pub(super) struct Segments {
    /// best(j), for the first j tokens.
    best: Vec<f32>,
    /// Where the last sentence of the best division of j tokens starts.
    from: Vec<u32>,
    /// argmax of best(0) … best(j).
    leader: Vec<u32>,
}

impl Segments {
    /// Where P counts as 0, and how many tokens back the search ends at the latest.
    const NOTHING: f32 = 1e-6;
    const LONGEST: usize = 1000;

    /// Writes the ends of the sentences, each the number of tokens up to it.
    pub(super) fn divide(&mut self, probabilities: &[f32], price: f32, ends: &mut Vec<usize>) {
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
            let (mut best, mut from) = (f32::NEG_INFINITY, j - 1);
            let mut i = j;
            while i > 0 {
                i -= 1;
                let value = self.best[i] + p(i) * inside;
                if value > best {
                    (best, from) = (value, i);
                }
                inside *= 1.0 - p(i);
                if inside < Self::NOTHING || j - i >= Self::LONGEST {
                    break;
                }
            }
            if i > 0 {
                let leader = self.leader[i - 1] as usize;
                if self.best[leader] > best {
                    (best, from) = (self.best[leader], leader);
                }
            }
            best -= price;
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

    /// Σ (P − λ) of a division, by the formula.
    fn value(p: &[f32], price: f32, ends: &[usize]) -> f32 {
        let n = p.len();
        let at = |tokens: usize| if tokens == 0 || tokens == n { 1.0 } else { p[tokens - 1] };
        let starts = std::iter::once(&0).chain(ends);
        let one = |(&start, &end): (&usize, &usize)| {
            let inside: f32 = (start + 1..end).map(|k| 1.0 - at(k)).product();
            at(start) * at(end) * inside - price
        };
        starts.zip(ends).map(one).sum()
    }

    proptest! {
        #[test]
        fn divisions_are_the_best_of_all(
            p in prop::collection::vec(prop_oneof![0.0f32..1.0, Just(0.0), Just(1.0)], 1..10),
            price in 0.0f32..0.6,
        ) {
            let mut ends = Vec::new();
            Segments::default().divide(&p, price, &mut ends);
            prop_assert_eq!(ends.last(), Some(&p.len()));
            let found = value(&p, price, &ends);
            for set in 0u32..1 << (p.len() - 1) {
                let other: Vec<usize> = (1..p.len()).filter(|k| set >> (k - 1) & 1 == 1).chain([p.len()]).collect();
                prop_assert!(value(&p, price, &other) <= found + 1e-4, "{:?} {:?}", ends, other);
            }
        }
    }

    #[test]
    fn long_paragraphs_take_linear_time() {
        let mut ends = Vec::new();
        Segments::default().divide(&vec![0.0; 300_000], 0.3, &mut ends);
        assert_eq!(ends, [300_000]);
        Segments::default().divide(&vec![1.0; 300_000], 0.3, &mut ends);
        assert_eq!(ends.len(), 300_000);
    }
}
