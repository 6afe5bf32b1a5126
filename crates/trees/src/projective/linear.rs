//! Sums over trees in plain `f64`: the fast path, and the rule that says when it is accurate.
//!
//! **Scaling.** Each word has one head, so subtracting a constant c\[m\] from a column of scores
//! divides every tree by the same factor. A single-root tree has one root arc, so for that set the
//! root row also has a constant. The first choice is the maximum of each column (and row), which
//! makes every weight at most 1. If that fails, the constants are the scores of the best tree's arcs.
//! The probable trees then weigh about 1, even in a long sentence.
//!
//! **Acceptance.** Sums and products of positive numbers keep their relative precision as long as
//! nothing overflows or underflows. An overflow of the inside pass gives a total that is not finite
//! (every item is a factor of a larger one, and ∞·0 is NaN). An overflow of the outside pass gives
//! heads whose probabilities do not add up to 1. Underflow is harmless in either of two cases:
//!
//! * [`too_little_flushed`], for column maxima: one operation that underflows has an error of at most
//!   2⁻¹⁰⁷⁴. On its way to the total, or to a probability before the division by Z, this error is
//!   multiplied by a factor. Weights are at most 1, so the factor is at most the number of trees,
//!   below 6.75ⁿ. There are fewer than 4(n+1)³ operations. If the product of the three is below
//!   10⁻¹⁰⁰·Z, the loss is negligible. This is the case of shorter sentences: improbable spans vanish.
//! * [`nothing_flushed`]: the weight of every allowed arc and every item that is not zero lie in
//!   [10⁻¹⁰⁰, 10¹⁰⁰], so no product of two items and an arc underflows. This is the case of long
//!   sentences. (An outside value may underflow: it is then multiplied by at most 10¹⁰⁰ and divided
//!   by at least 10⁻¹⁰⁰.)

use super::chart::Chart;
use super::outside::Outside;
use crate::ArcMatrix;
use crate::exp::exp;
use crate::simd::dispatched;
use crate::tree_set::Roots;

#[derive(Clone, Debug, Default)]
pub(super) struct Linear {
    chart: Chart<f64>,
    weights: ArcMatrix,
    /// The constant subtracted from each column of scores; in entry 0, that of the root row.
    shifts: Vec<f64>,
    outside: Outside<f64>,
}

/// The constants subtracted from the columns.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scale<'a> {
    /// Their maxima.
    ByMaxima,
    /// The scores of this tree's arcs, given as heads.
    ByTree(&'a [usize]),
}

impl Linear {
    /// Returns ln Z, or `None` if this path may be inaccurate (also if Z = 0).
    pub(super) fn log_partition(
        &mut self,
        scores: &ArcMatrix,
        roots: Roots,
        scale: Scale<'_>,
    ) -> Option<f64> {
        let total = inside(self, scores, roots, scale);
        let trusted = total.is_finite()
            && total > 0.0
            && (matches!(scale, Scale::ByMaxima) && too_little_flushed(scores.words(), total)
                || nothing_flushed(self, scores));
        trusted.then(|| total.ln() + self.shifts.iter().sum::<f64>())
    }

    /// Writes the probability of every arc, after a [`log_partition`](Self::log_partition) that was
    /// accepted; returns false if the probabilities are not accurate.
    pub(super) fn marginals(&mut self, roots: Roots, out: &mut ArcMatrix) -> bool {
        outside(self, roots, out);
        adds_up(out)
    }

    /// The weights that the chart was filled with; cells that are not arcs may hold any value.
    pub(super) fn weights(&self) -> &ArcMatrix {
        &self.weights
    }

    /// The chart, after a [`log_partition`](Self::log_partition) that was accepted.
    pub(super) fn into_chart(self) -> Chart<f64> {
        self.chart
    }
}

/// Checks the first case of the module's acceptance rule.
fn too_little_flushed(words: usize, total: f64) -> bool {
    let n = words as f64;
    let log_lost = f64::from(-1074) * std::f64::consts::LN_2
        + (4.0 * (n + 1.0).powi(3)).ln()
        + n * 6.75f64.ln();
    log_lost <= total.ln() - 100.0 * std::f64::consts::LN_10
}

/// Checks the second case. Arcs are checked too, because an arc of tiny weight may make an item zero.
fn nothing_flushed(linear: &Linear, scores: &ArcMatrix) -> bool {
    let safe = |x: &f64| *x == 0.0 || (1e-100..=1e100).contains(x);
    linear.chart.complete().iter().all(safe)
        && linear.chart.incomplete().iter().all(safe)
        && scores.arcs().all(|(head, modifier, score)| {
            score == f64::NEG_INFINITY || linear.weights[(head, modifier)] >= 1e-100
        })
}

/// True if the probabilities of every word's heads are numbers that sum to 1.
fn adds_up(marginals: &ArcMatrix) -> bool {
    let words = marginals.words();
    (1..=words).all(|modifier| {
        let sum: f64 = (0..=words).map(|head| marginals[(head, modifier)]).sum();
        (sum - 1.0).abs() <= 1e-11
    })
}

dispatched! {
    /// Scales the scores, exponentiates them and fills the chart.
    fn inside(linear: &mut Linear, scores: &ArcMatrix, roots: Roots, scale: Scale<'_>) -> f64 {
        match scale {
            Scale::ByMaxima => shift_by_maxima(&mut linear.shifts, scores, roots),
            Scale::ByTree(heads) => shift_by_tree(&mut linear.shifts, scores, heads),
        }
        exponentiate(linear, scores);
        let weights = &linear.weights;
        linear.chart.inside(scores.words(), roots, |head, modifier| weights[(head, modifier)])
    }
}

/// Sets each shift to the maximum of its column, 0 if it has none. In single-root sets, the maximum is
/// over word heads only, and entry 0 is the shift of the root row.
#[inline(always)]
fn shift_by_maxima(shifts: &mut Vec<f64>, scores: &ArcMatrix, roots: Roots) {
    let words = scores.words();
    shifts.clear();
    shifts.resize(words + 1, f64::NEG_INFINITY);
    let raise = |shifts: &mut [f64], row: &[f64]| {
        for (shift, &score) in shifts.iter_mut().zip(row) {
            *shift = if score > *shift { score } else { *shift };
        }
    };
    if roots == Roots::Multi {
        raise(&mut shifts[1..], &scores.row(0)[1..]);
    }
    for head in 1..=words {
        let row = scores.row(head);
        raise(&mut shifts[1..head], &row[1..head]);
        raise(&mut shifts[head + 1..], &row[head + 1..]);
    }
    let or_zero = |x: f64| if x == f64::NEG_INFINITY { 0.0 } else { x };
    shifts[1..].iter_mut().for_each(|shift| *shift = or_zero(*shift));
    shifts[0] = match roots {
        Roots::Multi => 0.0,
        Roots::Single => {
            let root_row = scores.row(0)[1..].iter().zip(&shifts[1..]);
            or_zero(root_row.fold(f64::NEG_INFINITY, |high, (s, c)| high.max(s - c)))
        }
    };
}

fn shift_by_tree(shifts: &mut Vec<f64>, scores: &ArcMatrix, heads: &[usize]) {
    shifts.clear();
    shifts.push(0.0);
    shifts.extend(heads.iter().enumerate().map(|(index, &head)| scores[(head, index + 1)]));
}

/// Writes the weights exp(score − shift). Cells that are not arcs may hold any value; nothing reads
/// them.
#[inline(always)]
fn exponentiate(linear: &mut Linear, scores: &ArcMatrix) {
    let Linear { weights, shifts, .. } = linear;
    weights.reset(scores.words(), 0.0);
    for head in 0..=scores.words() {
        let own = if head == 0 { shifts[0] } else { 0.0 };
        let row = &scores.row(head)[1..];
        let weights = &mut weights.row_mut(head)[1..];
        for ((weight, &score), &shift) in weights.iter_mut().zip(row).zip(&shifts[1..]) {
            *weight = exp(score - shift - own);
        }
    }
}

dispatched! {
    /// Writes μ = I · Î / Z for every arc.
    fn outside(linear: &mut Linear, roots: Roots, out: &mut ArcMatrix) {
        let Linear { chart, weights, outside, .. } = linear;
        let words = weights.words();
        let total = chart.complete()[words];
        out.reset(words, 0.0);
        outside.run(
            chart,
            words,
            roots,
            |head, modifier| weights[(head, modifier)],
            |head, modifier, product| out[(head, modifier)] = product / total,
        );
    }
}
