//! ln Z and marginals of non-projective trees, by the fastest path that is accurate.
//!
//! | path | cost | accurate if | used for |
//! |---|---|---|---|
//! | [`sweep`] in `f64` | n³ | its certificate is small | nearly everything |
//! | [`eliminate`](super::eliminate) in `f64` | 1.3 n³ | no pivot below 1e−60 | strong cycles |
//! | the same in [`Log`] | 1.3 n³ log-additions | always (several roots) | any range of scores |
//! | the same in [`Graded`] | 1.3 n³ log-additions | always (one root) | any range, any mask |
//!
//! Each path is tried when the one before it fails; the last ones decide whether there is a tree.

use super::eliminate::{Eliminate, Elimination, LogTotal, PivotRule};
use super::kernel::Kernel;
use super::shift::Shift;
use super::sweep::{self, SMALLEST_PIVOT, SweepWorkspace};
use crate::simd::dispatched;
use crate::weight::{Graded, Log, Semiring, Tangent, Weight};
use crate::{ArcMatrix, tree_set::Roots};

/// Largest certificate with which marginals of the fast path are used. This value still accepts nearly
/// all N(0, 3) scores and practically all scores of a trained model.
pub(crate) const LARGEST_CERTIFICATE: f64 = 1e-12;

/// The path that gave an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    Sweep,
    Linear,
    Extended,
}

/// Scratch memory of every path.
#[derive(Clone, Debug, Default)]
pub(crate) struct SolveWorkspace {
    shift: Shift,
    sweep: SweepWorkspace,
    linear: Elimination<f64>,
    log: Elimination<Log>,
    graded: Elimination<Graded>,
    sums: Vec<f64>,
}

/// Returns ln Z; −∞ if there is no tree.
pub(crate) fn log_partition(scores: &ArcMatrix, roots: Roots, ws: &mut SolveWorkspace) -> f64 {
    if scores.words() == 0 {
        return 0.0;
    }
    if !ws.shift.measure(scores, roots) {
        return f64::NEG_INFINITY;
    }
    if let Some(log_z) = sweep::log_partition(scores, roots, &ws.shift, &mut ws.sweep) {
        return log_z;
    }
    let total = match roots {
        Roots::Multi => {
            load(scores, &ws.shift, Log, &mut ws.log);
            ws.log.total(PivotRule::WithRoot, |d| !d.is_zero())
        }
        Roots::Single => {
            load(scores, &ws.shift, root_of_order_one, &mut ws.graded);
            ws.graded.total(PivotRule::WithRoot, |d| !d.is_zero())
        }
    };
    match total {
        Some(LogTotal { log, order }) if feasible(order, roots) => log + ws.shift.total,
        _ => f64::NEG_INFINITY,
    }
}

/// Writes every marginal; returns ln Z and the path taken, or `None` (and zeros) if there is no tree.
pub(crate) fn marginals(
    scores: &ArcMatrix,
    roots: Roots,
    ws: &mut SolveWorkspace,
    out: &mut ArcMatrix,
) -> Option<(f64, Path)> {
    out.reset(scores.words(), 0.0);
    ws.sweep.forget();
    if scores.words() == 0 {
        return Some((0.0, Path::Sweep));
    }
    if !ws.shift.measure(scores, roots) {
        return None;
    }
    let swept = sweep::marginals(scores, roots, &ws.shift, LARGEST_CERTIFICATE, &mut ws.sweep, out);
    if let Some(swept) = &swept
        && swept.certificate <= LARGEST_CERTIFICATE
    {
        return Some((swept.log_partition, Path::Sweep));
    }
    let path = if linear(roots, ws).is_some() {
        read_linear(&mut ws.linear, &mut ws.sums, out);
        Path::Linear
    } else {
        match roots {
            Roots::Multi => {
                log(scores, ws)?;
                read_marginals(&mut ws.log, &mut ws.sums, out);
            }
            Roots::Single => {
                feasible(graded(scores, ws)?, roots).then_some(())?;
                read_marginals(&mut ws.graded, &mut ws.sums, out);
            }
        }
        Path::Extended
    };
    // The sweep's ln Z has no cancellation, even if the certificate of its marginals is large. It is the
    // number that `log_partition` returns, so the two agree to the last bit.
    let log_z = match swept {
        Some(swept) => swept.log_partition,
        None => log_partition(scores, roots, ws),
    };
    Some((log_z, path))
}

/// Eliminates, in `f64`, the weights that the sweep has loaded.
fn linear(roots: Roots, ws: &mut SolveWorkspace) -> Option<i32> {
    ws.sweep.copy_weights(&mut ws.linear);
    let rule = match roots {
        Roots::Multi => PivotRule::WithRoot,
        Roots::Single => PivotRule::WordsOnly,
    };
    solve_linear(&mut ws.linear, rule)
}

dispatched! {
    fn solve_linear(elimination: &mut Elimination<f64>, rule: PivotRule) -> Option<i32> {
        elimination.solve(rule, |d| d >= SMALLEST_PIVOT)
    }
}

dispatched! {
    fn read_linear(solved: &mut Elimination<f64>, sums: &mut Vec<f64>, out: &mut ArcMatrix) {
        read_marginals(solved, sums, out);
    }
}

fn log(scores: &ArcMatrix, ws: &mut SolveWorkspace) -> Option<i32> {
    load(scores, &ws.shift, Log, &mut ws.log);
    ws.log.solve(PivotRule::WithRoot, |d| !d.is_zero())
}

fn graded(scores: &ArcMatrix, ws: &mut SolveWorkspace) -> Option<i32> {
    load(scores, &ws.shift, root_of_order_one, &mut ws.graded);
    ws.graded.solve(PivotRule::WithRoot, |d| !d.is_zero())
}

fn root_of_order_one(log: f64) -> Graded {
    Graded { order: 1, log }
}

/// True if trees exist. A single-root tree exists exactly if Z starts with the first power of ε.
fn feasible(order: i32, roots: Roots) -> bool {
    roots == Roots::Multi || order == 1
}

/// Loads shifted weights; those of the root's arcs are made by `root_weight`.
pub(super) fn load<W: Eliminate>(
    scores: &ArcMatrix,
    shift: &Shift,
    root_weight: impl Fn(f64) -> W,
    into: &mut Elimination<W>,
) {
    let n = scores.words();
    let weights = into.load(n);
    for m in 1..=n {
        let score = scores[(0, m)] - shift.column[m - 1] - shift.root;
        weights[m - 1] = if score == f64::NEG_INFINITY { W::zero() } else { root_weight(score) };
        for h in (1..=n).filter(|&h| h != m) {
            weights[h * n + m - 1] = W::from_log(scores[(h, m)] - shift.column[m - 1]);
        }
    }
}

/// Writes the marginals P(h → m) = A·U\[m\]\[h\]/ρ\[m\], with U\[m\]\[0\] = 1.
///
/// Every word has one head, so ρ\[m\] is the sum of the numerators. Dividing by that sum makes the
/// probabilities of a word's heads sum to 1, however much the logarithms have lost to rounding. (Next
/// to 1e300 they do not distinguish one tree from two.)
#[inline(always)]
pub(super) fn read_marginals<W: Weight>(
    solved: &mut Elimination<W>,
    sums: &mut Vec<f64>,
    out: &mut ArcMatrix,
) {
    let n = out.words();
    if n == 0 {
        return;
    }
    let Elimination { weights, u, rho, .. } = solved;
    let (root_row, word_rows) = weights.split_at(n);
    // ρ again, as the sum of the numerators; U[m][m] = 0, so the diagonal adds nothing.
    rho.copy_from_slice(root_row);
    for (a, u) in word_rows.chunks_exact(n).zip(u.chunks_exact(n)) {
        for ((sum, a), u) in rho.iter_mut().zip(a).zip(u) {
            *sum = sum.plus(&a.times(u));
        }
    }
    let share = |numerator: W, sum: W| numerator.over(sum).value();
    for ((p, &r), &sum) in out.row_mut(0)[1..].iter_mut().zip(root_row).zip(rho.iter()) {
        *p = share(r, sum);
    }
    for (h, (a, u)) in word_rows.chunks_exact(n).zip(u.chunks_exact(n)).enumerate() {
        let row = &mut out.row_mut(h + 1)[1..];
        for (((p, a), u), &sum) in row.iter_mut().zip(a).zip(u).zip(rho.iter()) {
            *p = share(a.times(u), sum);
        }
    }
    out.normalise_columns(sums);
}

/// Fills the kernel without cancellation; returns false if the weights do not fit `f64`.
pub(crate) fn kernel(
    scores: &ArcMatrix,
    roots: Roots,
    ws: &mut SolveWorkspace,
    kernel: &mut Kernel,
) -> bool {
    if !ws.shift.measure(scores, roots) {
        return false;
    }
    sweep::load_weights(scores, &ws.shift, &mut ws.sweep);
    let solved = linear(roots, ws).is_some();
    if solved {
        kernel.fill(&ws.linear, roots);
    }
    solved
}

/// Fills the kernel from one sweep, in about half the time of [`kernel`]; returns false unless nearly
/// all digits are correct. If these scores were swept last, as [`marginals`] does, uses that sweep.
pub(crate) fn fast_kernel(
    scores: &ArcMatrix,
    roots: Roots,
    ws: &mut SolveWorkspace,
    kernel: &mut Kernel,
) -> bool {
    let certificate = sweep::kernel_of_last(&ws.sweep, kernel).or_else(|| {
        ws.shift.measure(scores, roots).then_some(())?;
        sweep::kernel(scores, roots, &ws.shift, &mut ws.sweep, kernel)
    });
    certificate.is_some_and(|certificate| certificate <= LARGEST_CERTIFICATE / 10.0)
}

/// Returns Cov(1_e, Σ g) for every arc, for any range of scores: the derivative of every marginal along
/// g, carried through the elimination. O(n³) like the kernel's, but with a much larger constant.
pub(crate) fn arc_covariances(scores: &ArcMatrix, roots: Roots, g: &ArcMatrix) -> ArcMatrix {
    let mut out = ArcMatrix::zeros(scores.words());
    let mut shift = Shift::default();
    if scores.words() == 0 || !shift.measure(scores, roots) {
        return out;
    }
    match roots {
        Roots::Multi => tangents(scores, &shift, Log, g, &mut out),
        Roots::Single => tangents(scores, &shift, root_of_order_one, g, &mut out),
    }
    out
}

fn tangents<W: Weight>(
    scores: &ArcMatrix,
    shift: &Shift,
    root_weight: impl Fn(f64) -> W,
    g: &ArcMatrix,
    out: &mut ArcMatrix,
) {
    let n = scores.words();
    let mut elimination = Elimination::<Tangent<W>>::default();
    load(scores, shift, |log| Tangent { weight: root_weight(log), slope: 0.0 }, &mut elimination);
    for (index, weight) in elimination.weights.iter_mut().enumerate() {
        let (head, modifier) = (index / n, index % n + 1);
        if head != modifier && !weight.is_zero() {
            weight.slope = g[(head, modifier)];
        }
    }
    if elimination.solve(PivotRule::WithRoot, |d| !d.is_zero()).is_none() {
        return;
    }
    for m in 1..=n {
        let rho = elimination.rho[m - 1];
        for h in (0..=n).filter(|&h| h != m) {
            let a = elimination.weights[h * n + m - 1];
            let u = if h == 0 { Tangent::one() } else { elimination.u[(h - 1) * n + m - 1] };
            let marginal = a.times(&u).over(rho);
            if !marginal.is_zero() && marginal.order() == 0 {
                out[(h, m)] = marginal.value() * marginal.slope;
            }
        }
    }
}
