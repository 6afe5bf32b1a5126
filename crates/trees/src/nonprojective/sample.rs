//! Exact samples from p(y) ∝ exp Σ θ(h → m) when arcs may cross.
//!
//! **Wilson's algorithm** (Wilson 1996; Propp & Wilson 1998). From each word not yet in the tree,
//! walk to a head drawn with probability ∝ exp θ(· → word). Repeat until the walk meets the tree.
//! Each word keeps the last head drawn for it, and the walk joins the tree. The number of steps is
//! the mean hitting time of the root, a small multiple of n on ordinary scores. Each step searches
//! a table of cumulative weights, O(log n).
//!
//! **One root.** Draw the root word r from its marginal μ(0, ·) (drawing it ∝ exp θ(0 → ·) would
//! be biased), then walk towards r over arcs between words.
//!
//! **Giving up.** Two words that strongly prefer each other hold a walk for an exponential time. A
//! walk therefore has a budget of steps. Think of the heads drawn for a word as a stack of cards. The walk
//! removes cycles from the top, and these cycles are independent of the tree that remains below
//! (Propp & Wilson 1998, the cycle-popping theorem). The number of steps counts the cards seen. So
//! replacing an abandoned walk by another exact sampler does not bias the result, provided that it
//! *keeps the root*: the length of a walk does depend on the root word r. A single-root draw that
//! replaces an abandoned one must therefore keep r, which [`GaveUp`] carries.
//!
//! **Ancestral sampling** (after Colbourn, Myrvold & Neufeld 1996) is the replacement: draw the
//! head of each word from its marginals given the heads drawn before. It takes up to n solves for
//! any scores. An update of the inverse after each word (Sherman & Morrison 1950) would be n times
//! cheaper. But it cancels on exactly the scores on which walks get stuck, so every draw solves from
//! scratch.

use rand_core::Rng;

use super::feasible::{possible_root_words, unattachable};
use crate::ArcMatrix;
use crate::exp::exp;
use crate::tree_set::Roots;
use crate::uniform::uniform;

/// Number of steps that a walk may take per word; shorter sentences count as ten words.
const STEPS_PER_WORD: usize = 200;

/// Draws an index with probability ∝ its increment of `cumulative`; `None` if all are zero.
///
/// An index of zero weight is never drawn: its entry repeats the one before, and the first entry
/// *above* u·total never does. There is such an entry, because u ≤ 1 − 2⁻⁵³ and total·(1 − 2⁻⁵³)
/// rounds down.
fn draw<R: Rng + ?Sized>(cumulative: &[f64], rng: &mut R) -> Option<usize> {
    let total = *cumulative.last()?;
    let threshold = uniform(rng) * total;
    Some(cumulative.partition_point(|&sum| sum <= threshold)).filter(|&at| at < cumulative.len())
}

/// A walk that used up its steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GaveUp {
    /// The root word that was drawn, in single-root mode. The replacing tree must keep it, or root
    /// words with short walks would be drawn too often.
    pub(crate) root_word: Option<usize>,
}

impl GaveUp {
    /// Forbids all root arcs but that of the root word drawn, in the scores to draw from instead.
    pub(crate) fn keep_root_word(&self, scores: &mut ArcMatrix) {
        if let Some(root_word) = self.root_word {
            for word in (1..=scores.words()).filter(|&word| word != root_word) {
                scores.forbid(0, word);
            }
        }
    }
}

/// Wilson's sampler with its tables, for any number of draws.
#[derive(Debug, Clone)]
pub(crate) struct WilsonSampler {
    words: usize,
    roots: Roots,
    /// `cumulative[m·(n+1) + h]`: Σ over heads ≤ h of exp θ(· → m), up to a factor per word.
    cumulative: Vec<f64>,
    /// Σ over words ≤ m of μ(0, ·); single-root only.
    root_cumulative: Vec<f64>,
    budget: usize,
}

impl WilsonSampler {
    /// Builds the tables. `root_marginals[m]` is μ(0, m), entry 0 unused; read for [`Roots::Single`]
    /// only.
    pub(crate) fn new(scores: &ArcMatrix, roots: Roots, root_marginals: &[f64]) -> Self {
        let n = scores.words();
        let side = n + 1;
        let mut cumulative = vec![0.0; side * side];
        let first_head = match roots {
            Roots::Multi => 0,
            Roots::Single => 1,
        };
        for m in 1..side {
            let table = &mut cumulative[m * side..(m + 1) * side];
            let heads = || (first_head..side).filter(|&head| head != m);
            // A factor per word changes nothing; with this one the largest weight is 1.
            let high = heads().map(|head| scores[(head, m)]).fold(f64::NEG_INFINITY, f64::max);
            if high == f64::NEG_INFINITY {
                continue;
            }
            for head in heads() {
                table[head] = exp(scores[(head, m)] - high);
            }
            accumulate(table);
        }
        let mut root_cumulative = Vec::new();
        if roots == Roots::Single {
            root_cumulative.extend(root_marginals.iter().take(side));
            root_cumulative.resize(side, 0.0);
            let possible = possible_root_words(scores);
            keep_possible(&mut root_cumulative, |word| possible[word]);
            accumulate(&mut root_cumulative);
        }
        let budget = STEPS_PER_WORD * n.max(10);
        WilsonSampler { words: n, roots, cumulative, root_cumulative, budget }
    }

    /// Draws a tree; word m's head is at `heads[m - 1]`. An abandoned walk leaves no heads.
    pub(crate) fn sample<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        heads: &mut Vec<usize>,
    ) -> Result<(), GaveUp> {
        let side = self.words + 1;
        // A word outside the tree has n+1 added to its head; the end of the walk subtracts it.
        heads.clear();
        heads.resize(self.words, side);
        let mut root_word = None;
        if self.roots == Roots::Single && self.words > 0 {
            root_word = draw(&self.root_cumulative, rng);
            match root_word {
                Some(word) => heads[word - 1] = 0,
                None => {
                    heads.clear();
                    return Err(GaveUp { root_word });
                }
            }
        }
        let mut steps_left = self.budget;
        for start in 1..side {
            let mut word = start;
            while word > 0 && heads[word - 1] >= side {
                let drawn = draw(&self.cumulative[word * side..(word + 1) * side], rng);
                let (Some(head), true) = (drawn, steps_left > 0) else {
                    heads.clear();
                    return Err(GaveUp { root_word });
                };
                steps_left -= 1;
                heads[word - 1] = head + side;
                word = head;
            }
            word = start;
            while word > 0 && heads[word - 1] >= side {
                heads[word - 1] -= side;
                word = heads[word - 1];
            }
        }
        Ok(())
    }
}

/// Sets the weights of impossible choices, which rounding may leave above zero, to zero: drawing one
/// would make a cycle. If no weight remains, all possible choices get weight 1.
fn keep_possible(weights: &mut [f64], possible: impl Fn(usize) -> bool) {
    let mut any = false;
    for (index, weight) in weights.iter_mut().enumerate() {
        *weight = if *weight > 0.0 && possible(index) { *weight } else { 0.0 };
        any |= *weight > 0.0;
    }
    if !any {
        for (index, weight) in weights.iter_mut().enumerate() {
            *weight = f64::from(u8::from(possible(index)));
        }
    }
}

/// Replaces weights by their running sums.
fn accumulate(weights: &mut [f64]) {
    let mut sum = 0.0;
    for weight in weights {
        sum += *weight;
        *weight = sum;
    }
}

/// Draws a tree word by word; returns the log of the product of the drawn conditionals, which is
/// log p(y). Returns −∞ and no heads if the marginals of a word are all zero.
///
/// `scores` must allow a tree. `marginals(scores, out)` must write the arc marginals of the caller's
/// tree set. It is called with these scores, in which some columns are reduced to one arc.
pub(crate) fn ancestral<R: Rng + ?Sized>(
    scores: &ArcMatrix,
    roots: Roots,
    rng: &mut R,
    marginals: &mut dyn FnMut(&ArcMatrix, &mut ArcMatrix),
    heads: &mut Vec<usize>,
) -> f64 {
    let n = scores.words();
    let mut given = scores.clone();
    let mut conditional = ArcMatrix::zeros(n);
    let mut up_to_date = false;
    let mut weights = vec![0.0; n + 1];
    let mut log_prob = 0.0;
    heads.clear();
    for m in 1..=n {
        let mut allowed = (0..=n).filter(|&head| head != m && given[(head, m)] > f64::NEG_INFINITY);
        if let (Some(only), None) = (allowed.next(), allowed.next()) {
            heads.push(only);
            continue;
        }
        if !up_to_date {
            marginals(&given, &mut conditional);
        }
        for head in 0..=n {
            weights[head] = conditional[(head, m)];
        }
        // A marginal may be the rounding error of an arc that is in no tree.
        let possible = |head: usize| {
            head != m
                && given[(head, m)] > f64::NEG_INFINITY
                && leaves_a_tree(&given, roots, head, m)
        };
        keep_possible(&mut weights, possible);
        accumulate(&mut weights);
        let Some(head) = draw(&weights, rng) else {
            heads.clear();
            return f64::NEG_INFINITY;
        };
        log_prob += (conditional[(head, m)] / weights[n]).ln();
        heads.push(head);
        // A head that was certain does not change the marginals of other words.
        up_to_date = true;
        for other in (0..=n).filter(|&other| other != head && other != m) {
            given.forbid(other, m);
            up_to_date &= conditional[(other, m)] <= 0.0;
        }
    }
    log_prob
}

/// True if a tree remains possible with the arc `head → modifier`.
fn leaves_a_tree(scores: &ArcMatrix, roots: Roots, head: usize, modifier: usize) -> bool {
    let mut given = scores.clone();
    for other in (0..=scores.words()).filter(|&other| other != head) {
        given.forbid(other, modifier);
    }
    unattachable(&given, roots).is_empty()
}

#[cfg(test)]
mod tests;
