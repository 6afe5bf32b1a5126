//! The certified fast path: one subtraction-free Gauss–Jordan sweep.
//!
//! **The matrix-tree theorem** (Tutte 1948). Give arc h → m the weight A\[h\]\[m\] = exp θ\[h\]\[m\] and
//! the root's arcs the weights r\[m\]. The Laplacian L = diag(column sums of A, plus r) − A of the
//! words has det L = Σ over trees of the product of arc weights = Z. With B = L⁻¹, an arc has
//! probability A\[h\]\[m\]·(B\[m\]\[m\] − B\[m\]\[h\]), and a root arc r\[m\]·B\[m\]\[m\].
//!
//! **Without subtraction.** Grassmann, Taksar & Heyman (1985) eliminate such a matrix without ever
//! forming its diagonal: the pivot of word k is d = Σ (weights of the arcs into k from words still
//! active, and from the root), and removing k adds A\[i\]\[k\]·A\[k\]\[j\]/d to every A\[i\]\[j\]. This extends
//! from elimination to the in-place inverse (the *sweep* operator of statistics). After sweeping a
//! set E of words, the four blocks hold, up to a known sign,
//!
//! ```text
//!                 columns in E              columns active
//! rows in E       L_EE⁻¹          ≥ 0       −L_EE⁻¹ L_Ea    ≥ 0
//! rows active     −L_aE L_EE⁻¹    ≥ 0       A after elimination ≥ 0
//! ```
//!
//! and sweeping k updates all four in the same way, N\[i\]\[j\] += (N\[i\]\[k\]/d)·N\[k\]\[j\]: only sums,
//! products and quotients of non-negative numbers. So every entry of B is accurate to a few n·ε
//! *relative*, for any scores that do not leave the range of `f64`. The cost is n³ multiply–adds, as
//! for LU and inverse.
//!
//! **Single-root** trees take the same sweep: make one word a absorbing (never swept) and carry the
//! root's weights r as a passive row that does not count in pivots. Afterwards, with G = inverse of
//! the Laplacian of the other words, w = r G, x = G A\[·\]\[a\] (x_a = 1, w_a = 0, row and column a of G
//! zero), s = Σ r x:
//!
//! ```text
//! Z = det · s      P(0 → m) = r[m] x[m] / s
//! P(h → m) = A[h][m]·((G[m][m] − G[m][h]) − x[m]·(w[m] − w[h])/s)
//! ```
//!
//! x\[m\]/x\[a\] is the total weight of trees rooted in m over that of trees rooted in a, so a should be
//! a likely root: the word whose root arc exceeds its best word head by most.
//!
//! **The certificate.** The only cancellation is in the last line, and its absolute error is at
//! most about n·ε·A\[h\]\[m\]·(B\[m\]\[m\] + …). [`Swept::certificate`] is the largest such bound over all
//! arcs, plus n·ε for the rest of the arithmetic. A caller accepts the marginals if it is small and
//! uses [`super::eliminate`] otherwise.

use super::blocked::{self, BlockWorkspace};
use super::eliminate::Elimination;
use super::kernel::Kernel;
use super::shift::Shift;
use crate::exp::exp;
use crate::simd::{LANES, dispatched};
use crate::{ArcMatrix, tree_set::Roots};

/// Smallest pivot with a guaranteed relative accuracy: below it, contributions may have been flushed
/// to zero. (Cautious: in tests, results broke down only below 1e−140.)
pub(super) const SMALLEST_PIVOT: f64 = 1e-60;

/// Scratch memory for sentences up to the longest seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct SweepWorkspace {
    /// The number of words of the weights loaded last.
    words: usize,
    /// The last sweep and its certificate, as long as the matrix still holds it.
    last: Option<(Loaded, f64)>,
    /// (n+1)·stride, row 0 the root, column m−1 word m: swept in place.
    matrix: Vec<f64>,
    /// The weights before sweeping, same layout.
    weights: Vec<f64>,
    /// Largest weight from a word head, per column.
    top_weight: Vec<f64>,
    blocks: BlockWorkspace,
    /// Per column: B\[m\]\[m\], x\[m\]/s and w\[m\] when marginals are read off.
    diagonal: Vec<f64>,
    root_share: Vec<f64>,
    root_row: Vec<f64>,
}

/// Weights in place, before any elimination.
#[derive(Clone, Copy, Debug)]
struct Loaded {
    words: usize,
    stride: usize,
    roots: Roots,
    /// The absorbing word of single-root mode, which changes places with word 1.
    absorbing: usize,
    /// ln Z of the original scores minus ln Z of the loaded weights.
    log_scale: f64,
}

/// The result of one sweep.
pub(crate) struct Swept {
    pub(crate) log_partition: f64,
    /// Bound on the absolute error of every marginal.
    pub(crate) certificate: f64,
}

/// Returns ln Z alone, n³/3 multiply–adds; `None` if a pivot is too small for `f64`.
pub(crate) fn log_partition(
    scores: &ArcMatrix,
    roots: Roots,
    shift: &Shift,
    ws: &mut SweepWorkspace,
) -> Option<f64> {
    let loaded = load(scores, roots, shift, ws);
    let log_det = eliminate_words(&loaded, ws)?;
    Some(loaded.log_scale + log_det)
}

/// Returns ln Z and the certificate, n³ multiply–adds; `None` if a pivot is too small for `f64`. Writes
/// the marginals only if their certificate is at most `limit`.
pub(crate) fn marginals(
    scores: &ArcMatrix,
    roots: Roots,
    shift: &Shift,
    limit: f64,
    ws: &mut SweepWorkspace,
    out: &mut ArcMatrix,
) -> Option<Swept> {
    let loaded = load(scores, roots, shift, ws);
    let log_det = sweep_words(&loaded, ws)?;
    let certificate = prepare_reading(&loaded, ws);
    ws.last = Some((loaded, certificate));
    if certificate <= limit {
        read_marginals(&loaded, ws, out);
    }
    Some(Swept { log_partition: loaded.log_scale + log_det, certificate })
}

/// Writes a and W of the determinantal kernel and returns their certificate; `None` if a pivot is too
/// small.
pub(crate) fn kernel(
    scores: &ArcMatrix,
    roots: Roots,
    shift: &Shift,
    ws: &mut SweepWorkspace,
    kernel: &mut Kernel,
) -> Option<f64> {
    let loaded = load(scores, roots, shift, ws);
    sweep_words(&loaded, ws)?;
    ws.last = Some((loaded, prepare_reading(&loaded, ws)));
    kernel_of_last(ws, kernel)
}

/// Like [`kernel()`] for the scores that were swept last, without sweeping again; `None` if there are
/// none.
pub(crate) fn kernel_of_last(ws: &SweepWorkspace, kernel: &mut Kernel) -> Option<f64> {
    let (loaded, certificate) = ws.last?;
    read_kernel(&loaded, ws, kernel);
    Some(certificate)
}

/// The position of a word (or of the root, 0): words 1 and `absorbing` change places.
#[inline(always)]
fn position(word: usize, absorbing: usize) -> usize {
    if word == 1 {
        absorbing
    } else if word == absorbing {
        1
    } else {
        word
    }
}

dispatched! {
    /// Fills `ws.weights` with exp(θ − shift).
    pub(crate) fn load_weights(scores: &ArcMatrix, shift: &Shift, ws: &mut SweepWorkspace) {
        let n = scores.words();
        let stride = n.next_multiple_of(LANES);
        let cells = (n + 1) * stride;
        ws.words = n;
        ws.last = None;
        ws.weights.resize(cells.max(ws.weights.len()), 0.0);
        for head in 0..=n {
            let row = &mut ws.weights[head * stride..(head + 1) * stride];
            let root_shift = if head == 0 { shift.root } else { 0.0 };
            let from = scores.row(head)[1..].iter().zip(&shift.column);
            for (cell, (&score, &c)) in row.iter_mut().zip(from) {
                *cell = score - c - root_shift;
            }
            row[n..].fill(f64::NEG_INFINITY);
            if head > 0 {
                row[head - 1] = f64::NEG_INFINITY;
            }
        }
        for weight in &mut ws.weights[..cells] {
            *weight = exp(*weight);
        }
    }
}

dispatched! {
    /// Fills `ws.matrix`, with the absorbing word in position 1, and `ws.top_weight`.
    fn load(scores: &ArcMatrix, roots: Roots, shift: &Shift, ws: &mut SweepWorkspace) -> Loaded {
        load_weights(scores, shift, ws);
        let n = scores.words();
        let stride = n.next_multiple_of(LANES);
        let cells = (n + 1) * stride;
        ws.top_weight.clear();
        ws.top_weight.resize(stride, 0.0);
        for row in ws.weights[stride..cells].chunks_exact(stride) {
            for (top, &weight) in ws.top_weight.iter_mut().zip(row) {
                *top = if weight > *top { weight } else { *top };
            }
        }

        ws.matrix.resize(cells.max(ws.matrix.len()), 0.0);
        let absorbing = match roots {
            Roots::Multi => 1,
            Roots::Single => shift.likely_root,
        };
        if absorbing == 1 {
            ws.matrix[..cells].copy_from_slice(&ws.weights[..cells]);
        } else {
            for word in 0..=n {
                let at = position(word, absorbing) * stride;
                let row = &mut ws.matrix[at..at + stride];
                row.copy_from_slice(&ws.weights[word * stride..(word + 1) * stride]);
                row.swap(0, absorbing - 1);
            }
        }
        Loaded { words: n, stride, roots, absorbing, log_scale: shift.total }
    }
}

impl SweepWorkspace {
    /// Forgets the last sweep, so that [`kernel_of_last`] does not use it.
    pub(crate) fn forget(&mut self) {
        self.last = None;
    }

    /// Copies the loaded weights for [`super::eliminate`].
    pub(crate) fn copy_weights(&self, into: &mut Elimination<f64>) {
        let n = self.words;
        let stride = n.next_multiple_of(LANES);
        let weights = into.load(n);
        if n > 0 {
            let rows = self.weights.chunks_exact(stride);
            for (row, from) in weights.chunks_exact_mut(n).zip(rows) {
                row.copy_from_slice(&from[..n]);
            }
        }
    }
}

dispatched! {
    /// Sweeps every word (single-root: except the absorbing one): `ws.matrix` becomes the inverse.
    fn sweep_words(loaded: &Loaded, ws: &mut SweepWorkspace) -> Option<f64> {
        eliminate_loaded::<true>(loaded, ws)
    }
}

dispatched! {
    /// Eliminates every word without keeping an inverse.
    fn eliminate_words(loaded: &Loaded, ws: &mut SweepWorkspace) -> Option<f64> {
        eliminate_loaded::<false>(loaded, ws)
    }
}

/// Returns ln det (single-root: ln(det · s)) of the loaded weights; `None` if a pivot is too small.
#[inline(always)]
fn eliminate_loaded<const INVERT: bool>(loaded: &Loaded, ws: &mut SweepWorkspace) -> Option<f64> {
    let &Loaded { words: n, stride, roots, .. } = loaded;
    let matrix = &mut ws.matrix[..(n + 1) * stride];
    // Single-root: row 0 is carried along but does not count in pivots, and position 1 is never swept.
    let (first_active, keep) = match roots {
        Roots::Multi => (0, 0),
        Roots::Single => (1, 1),
    };
    let mut determinant = LogProduct::default();
    let mut usable = |d: f64| {
        determinant.multiply(d);
        d >= SMALLEST_PIVOT // false for NaN
    };
    let shape = (n, stride);
    blocked::eliminate::<INVERT>(matrix, shape, first_active, keep, &mut ws.blocks, |_, d, _| {
        usable(d)
    })
    .then_some(())?;
    if roots == Roots::Single {
        // The root reaches the absorbing word directly or through any other: s.
        usable(matrix[0]).then_some(())?;
    }
    Some(determinant.ln())
}

/// Stores, by column, the values that every reading of the swept matrix needs: G\[m\]\[m\] or B\[m\]\[m\],
/// x\[m\]/s, w\[m\]. Returns the certificate.
#[inline(always)]
fn prepare_reading(loaded: &Loaded, ws: &mut SweepWorkspace) -> f64 {
    let &Loaded { words: n, stride, roots, absorbing, .. } = loaded;
    let matrix = &ws.matrix[..(n + 1) * stride];
    for column in [&mut ws.diagonal, &mut ws.root_share, &mut ws.root_row] {
        column.clear();
        column.resize(stride, 0.0);
    }
    for m in 0..n {
        ws.diagonal[m] = matrix[(m + 1) * stride + m];
    }
    let mut largest_root_row = 0.0f64;
    match roots {
        Roots::Multi => ws.root_share[..n].copy_from_slice(&ws.diagonal[..n]),
        Roots::Single => {
            let reach = matrix[0];
            ws.diagonal[0] = 0.0;
            ws.root_share[0] = 1.0 / reach;
            for m in 1..n {
                ws.root_share[m] = matrix[(m + 1) * stride] / reach;
                ws.root_row[m] = matrix[m];
                largest_root_row = largest_root_row.max(matrix[m]);
            }
        }
    }

    // The subtractions act on numbers of at most this size, each accurate to about n·ε relative.
    let mut largest = 0.0f64;
    for m in 0..n {
        let word = position(m + 1, absorbing);
        let size = ws.diagonal[m] + ws.root_share[m] * largest_root_row;
        largest = largest.max(ws.top_weight[word - 1] * size);
    }
    if ws.root_share.iter().chain(&ws.diagonal).all(|&x| x < 1e200) {
        (n + 8) as f64 * f64::EPSILON * (1.0 + largest)
    } else {
        f64::INFINITY
    }
}

dispatched! {
    /// Reads the marginals off the swept matrix.
    fn read_marginals(loaded: &Loaded, ws: &SweepWorkspace, out: &mut ArcMatrix) {
        let &Loaded { words: n, stride, roots, absorbing, .. } = loaded;
        let matrix = &ws.matrix[..(n + 1) * stride];
        out.reset(n, 0.0);
        for m in 0..n {
            let word = position(m + 1, absorbing);
            out[(0, word)] = (ws.weights[word - 1] * ws.root_share[m]).min(1.0);
        }
        for head in 1..=n {
            let at = position(head, absorbing);
            let weights = &ws.weights[head * stride..head * stride + n];
            let row = &mut out.row_mut(head)[1..];
            match roots {
                Roots::Multi => {
                    for m in 0..n {
                        row[m] = ws.diagonal[m] - matrix[(m + 1) * stride + at - 1];
                    }
                }
                Roots::Single => {
                    let w = ws.root_row[at - 1];
                    for m in 0..n {
                        // Column 0 holds x, not G, and row 1 ones: both are zero in G.
                        let between = if at == 1 || m == 0 {
                            0.0
                        } else {
                            matrix[(m + 1) * stride + at - 1]
                        };
                        row[m] = (ws.diagonal[m] - between)
                            - ws.root_share[m] * (ws.root_row[m] - w);
                    }
                    row.swap(0, absorbing - 1);
                }
            }
            for (value, weight) in row.iter_mut().zip(weights) {
                *value = (*value * weight).clamp(0.0, 1.0);
            }
            row[head - 1] = 0.0;
        }
    }
}

dispatched! {
    /// Reads a and W off the swept matrix.
    fn read_kernel(loaded: &Loaded, ws: &SweepWorkspace, kernel: &mut Kernel) {
        let &Loaded { words: n, stride, roots, absorbing, .. } = loaded;
        kernel.reset(n, roots);
        for head in 0..=n {
            let from = &ws.weights[head * stride..head * stride + n];
            kernel.weights_mut(head).copy_from_slice(from);
        }
        for word in 1..=n {
            let m = position(word, absorbing) - 1;
            let share = ws.root_share[m];
            let w = ws.root_row[m];
            let response = kernel.response_mut(word);
            response[0] = share;
            let g = &ws.matrix[(m + 1) * stride..(m + 1) * stride + n];
            let row = &mut response[1..=n];
            for (x, value) in row.iter_mut().enumerate() {
                *value = (ws.diagonal[m] - g[x]) - share * (w - ws.root_row[x]);
            }
            if roots == Roots::Single {
                // Column 0 holds x, not G, and row 1 ones: both are zero in G.
                row[0] = ws.diagonal[m] - share * (w - ws.root_row[0]);
                if m == 0 {
                    for (x, value) in row.iter_mut().enumerate() {
                        *value = share * ws.root_row[x];
                    }
                }
                row.swap(0, absorbing - 1);
            }
            row[word - 1] = 0.0;
        }
    }
}

/// A product of any number of positive factors, kept in the range of `f64`.
#[derive(Debug)]
struct LogProduct {
    product: f64,
    log: f64,
}

impl Default for LogProduct {
    fn default() -> Self {
        Self { product: 1.0, log: 0.0 }
    }
}

impl LogProduct {
    #[inline(always)]
    fn multiply(&mut self, factor: f64) {
        self.product *= factor;
        if !(1e-150..1e150).contains(&self.product) {
            self.log += self.product.ln();
            self.product = 1.0;
        }
    }

    #[inline(always)]
    fn ln(self) -> f64 {
        self.log + self.product.ln()
    }
}
