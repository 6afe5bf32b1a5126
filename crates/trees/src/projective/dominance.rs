//! Dominance in projective trees: P(a dominates w) for all pairs at once.
//!
//! The words below a form a span, so a dominates w > a exactly if its span ends at or after w. The two
//! ends of a word's span appear when it is attached, h → a: the near one where the incomplete item is
//! split, `I[h][a] = … C[a][near] …`, the far one where that item is completed,
//! `C[h][far] = … I[h][a]·C[a][far] …`. The pass over probabilities ([`posterior`](super::posterior))
//! visits both, and
//!
//! ```text
//! P(a dominates w) = Σ_{e beyond or at w} P(the span of a ends at e on w's side)
//! ```
//!
//! Θ(n³), like marginals.

use super::chart::{Chart, Item};
use super::log_chart;
use super::posterior::Posterior;
use crate::ArcMatrix;
use crate::tree_set::Roots;

/// Returns P(a dominates w) as `matrix[(a, w)]`. The scores must allow a tree; the root dominates all
/// words.
pub(crate) fn dominance(scores: &ArcMatrix, roots: Roots) -> ArcMatrix {
    let words = scores.words();
    let mut chart = Chart::default();
    log_chart(&mut chart, scores, roots);
    // P(the span of a word ends at another), on either side.
    let mut ends = ArcMatrix::zeros(words);
    Posterior::default().outside_telling(&chart, words, |item, split, probability: f64| {
        let (first, second) = item.parts(split);
        let attached = match (item, first, second) {
            (Item::Complete { .. }, _, whole) => whole,
            (Item::Incomplete { modifier, .. }, Item::Complete { head, .. }, _)
                if head == modifier =>
            {
                first
            }
            _ => second,
        };
        if let Item::Complete { head: word, end } = attached
            && word != end
        {
            ends[(word, end)] += probability;
        }
    });
    let mut dominance = ArcMatrix::from_fn(words, |ancestor, _| f64::from(ancestor == 0));
    for ancestor in 1..=words {
        let mut sum_up = |word: usize, beyond: f64| {
            // Rounding must not make a sum of shares exceed 1.
            let sum = (beyond + ends[(ancestor, word)]).min(1.0);
            dominance[(ancestor, word)] = sum;
            sum
        };
        (ancestor + 1..=words).rev().fold(0.0, |beyond, word| sum_up(word, beyond));
        (1..ancestor).fold(0.0, |beyond, word| sum_up(word, beyond));
    }
    dominance
}
