//! Second order: the arcs of a random tree are a determinantal point process.
//!
//! Scaling arc e by (1 + t) changes the Laplacian by a matrix of rank one. Hence, for distinct arcs
//! (Burton & Pemantle 1993; here for directed trees, both root modes),
//!
//! ```text
//! P(e₁, …, e_k ∈ y) = det [K(e_i, e_j)]        K(e, f) = a_e · (W[m_e][h_f] − W[m_e][m_f])
//! ```
//!
//! with a the arc weights and W\[m\]\[x\] = B\[m\]\[m\] − B\[m\]\[x\] = U\[m\]\[x\]/ρ\[m\] (so W\[m\]\[m\] = 0), W\[m\]\[0\] =
//! 1/ρ\[m\]; for a single-root set and h_f = 0 the second term is dropped. The diagonal is the
//! marginal, a_e·W\[m\]\[h\]; a pair costs O(1), k arcs O(k³).
//!
//! The covariance of one function G(y) = Σ_{e∈y} g_e with *every* arc is two matrix products:
//!
//! ```text
//! M[m][m'] = Σ_{f into m'} g_f a_f (W[m][h_f] − W[m][m'])
//! Cov(1_e, G) = g_e μ_e − a_e Σ_{m'} M[m_e][m']·(W[m'][h_e] − W[m'][m_e])
//! ```
//!
//! It is the directional derivative of all marginals along g. So it is also a Hessian–vector product
//! of ln Z and, since covariances are symmetric, a vector–Jacobian product of the marginals.

use crate::simd::{LANES, add_four_products, dispatched};
use crate::weight::Weight;
use crate::{ArcMatrix, tree_set::Roots};

use super::eliminate::Elimination;

/// a and W of one distribution.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kernel {
    words: usize,
    single_root: bool,
    /// a\[h\]\[m\] at h·n + m−1: row 0 the root.
    weights: Vec<f64>,
    /// W\[m\]\[x\] at (m−1)·stride + x; columns beyond n are zero.
    response: Vec<f64>,
}

/// Scratch memory for [`Kernel::arc_covariances`], rows of one stride throughout.
#[derive(Clone, Debug, Default)]
pub(crate) struct CovarianceWorkspace {
    centred: Vec<f64>,
    column_sums: Vec<f64>,
    means: Vec<f64>,
    m: Vec<f64>,
    t: Vec<f64>,
}

impl Kernel {
    /// Makes room for n words, all values at 0.
    pub(crate) fn reset(&mut self, words: usize, roots: Roots) {
        self.words = words;
        self.single_root = roots == Roots::Single;
        self.weights.clear();
        self.weights.resize((words + 1) * words, 0.0);
        self.response.clear();
        self.response.resize(words.next_multiple_of(4) * self.stride(), 0.0);
    }

    fn stride(&self) -> usize {
        (self.words + 1).next_multiple_of(LANES)
    }

    pub(crate) fn weights_mut(&mut self, head: usize) -> &mut [f64] {
        &mut self.weights[head * self.words..(head + 1) * self.words]
    }

    /// The row W\[m\], starting at x = 0.
    pub(crate) fn response_mut(&mut self, m: usize) -> &mut [f64] {
        let stride = self.stride();
        &mut self.response[(m - 1) * stride..m * stride]
    }

    /// Reads a and W off a solved elimination.
    pub(crate) fn fill<W: Weight>(&mut self, solved: &Elimination<W>, roots: Roots) {
        let n = solved.rho.len();
        self.reset(n, roots);
        for (value, weight) in self.weights.iter_mut().zip(&solved.weights) {
            *value = weight.value();
        }
        for m in 0..n {
            let rho = solved.rho[m];
            let row = self.response_mut(m + 1);
            row[0] = W::one().over(rho).value();
            for x in 0..n {
                row[x + 1] = solved.u[x * n + m].over(rho).value();
            }
        }
    }

    fn weight(&self, (head, modifier): (usize, usize)) -> f64 {
        self.weights[head * self.words + modifier - 1]
    }

    /// W\[m\]\[h_f\] and W\[m\]\[m_f\], the two terms of K(·, f); the second is 0 for root arcs of single-root
    /// sets.
    fn response(&self, m: usize, (head, modifier): (usize, usize)) -> (f64, f64) {
        let row = &self.response[(m - 1) * self.stride()..m * self.stride()];
        let second = if head == 0 && self.single_root { 0.0 } else { row[modifier] };
        (row[head], second)
    }

    /// K(e, f), and a bound on its rounding error.
    fn entry(&self, e: (usize, usize), f: (usize, usize)) -> (f64, f64) {
        let a = self.weight(e);
        let (first, second) = self.response(e.1, f);
        let slack = (self.words + 8) as f64 * f64::EPSILON;
        (a * (first - second), slack * a * (first + second))
    }

    /// P(e and f), for distinct arcs, and a bound on its error.
    pub(crate) fn pair(&self, e: (usize, usize), f: (usize, usize)) -> (f64, f64) {
        let (ee, _) = self.entry(e, e);
        let (ff, _) = self.entry(f, f);
        let ((ef, ef_error), (fe, fe_error)) = (self.entry(e, f), self.entry(f, e));
        let slack = (self.words + 8) as f64 * f64::EPSILON;
        let value = ee * ff - ef * fe;
        let error = slack + ef_error * fe.abs() + fe_error * ef.abs() + ef_error * fe_error;
        (value.clamp(0.0, ee.min(ff).clamp(0.0, 1.0)), error)
    }

    /// P(all of these distinct arcs), and a bound on its error.
    pub(crate) fn joint(&self, arcs: &[(usize, usize)]) -> (f64, f64) {
        let k = arcs.len();
        let mut matrix = vec![0.0; k * k];
        // |det(K + E) − det K| ≤ Π(row norm + error) − Π(row norm), to first order by rows.
        let (mut norms, mut widened) = (1.0f64, 1.0f64);
        for (i, &e) in arcs.iter().enumerate() {
            let (mut norm, mut error) = (0.0f64, 0.0f64);
            for (j, &f) in arcs.iter().enumerate() {
                let (value, slack) = self.entry(e, f);
                matrix[i * k + j] = value;
                norm += value.abs();
                error += slack;
            }
            // The determinant's own elimination adds k·ε per row.
            error += k as f64 * f64::EPSILON * norm;
            norms *= norm;
            widened *= norm + error;
        }
        (determinant(&mut matrix, k).clamp(0.0, 1.0), widened - norms)
    }

    /// Bound of the error that the subtraction in an entry of K may cause: n·ε·max a\[h\]\[m\]·W\[m\]\[x\].
    /// W is large where two words strongly prefer each other and random walks between them are long.
    pub(crate) fn cancellation(&self) -> f64 {
        let n = self.words;
        let mut largest = 0.0f64;
        for m in 1..=n {
            let into = (0..=n).filter(|&h| h != m).map(|h| self.weight((h, m)));
            let row = &self.response[(m - 1) * self.stride()..m * self.stride()];
            largest =
                largest.max(into.fold(0.0, f64::max) * row.iter().copied().fold(0.0, f64::max));
        }
        n as f64 * f64::EPSILON * largest
    }

    /// Writes Cov(1_e, Σ g) for every arc into `out`; `marginals` are those of this distribution.
    ///
    /// Returns the largest |Σ_h Cov(1_{h→m}, G)|. It is zero in exact arithmetic, because every word has
    /// one head, so it measures rounding. It does not show errors that are the same for all heads;
    /// [`cancellation`](Self::cancellation) bounds those.
    pub(crate) fn arc_covariances(
        &self,
        g: &ArcMatrix,
        marginals: &ArcMatrix,
        ws: &mut CovarianceWorkspace,
        out: &mut ArcMatrix,
    ) -> f64 {
        covariances(self, g, marginals, ws, out)
    }
}

dispatched! {
    fn covariances(
        kernel: &Kernel,
        g: &ArcMatrix,
        marginals: &ArcMatrix,
        ws: &mut CovarianceWorkspace,
        out: &mut ArcMatrix,
    ) -> f64 {
        let n = kernel.words;
        let stride = kernel.stride();
        out.reset(n, 0.0);
        // Subtracting a constant from a column of g changes G by a constant: centre it, so that only
        // differences between heads enter. Forbidden arcs contribute nothing, whatever their g.
        for column in [&mut ws.means, &mut ws.column_sums] {
            column.clear();
            column.resize(n, 0.0);
        }
        for h in 0..=n {
            let p = &marginals.row(h)[1..];
            let g = &g.row(h)[1..];
            for (m, mean) in ws.means.iter_mut().enumerate() {
                *mean += if m + 1 != h && p[m] > 0.0 { p[m] * g[m] } else { 0.0 };
            }
        }
        // (g − mean)·a: row h, word m in column m as in W.
        ws.centred.clear();
        ws.centred.resize((n + 1).next_multiple_of(4) * stride, 0.0);
        for h in 0..=n {
            let a = &kernel.weights[h * n..(h + 1) * n];
            let g = &g.row(h)[1..];
            let row = &mut ws.centred[h * stride + 1..h * stride + 1 + n];
            for m in 0..n {
                let allowed = m + 1 != h && a[m] > 0.0;
                row[m] = if allowed { a[m] * (g[m] - ws.means[m]) } else { 0.0 };
            }
            if h > 0 || !kernel.single_root {
                ws.column_sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += *value);
            }
        }
        // M = W·(g a) − W ∘ column sums.
        multiply(&kernel.response, &ws.centred, &mut ws.m, n, n + 1, stride);
        for m in 0..n {
            let w = &kernel.response[m * stride + 1..m * stride + 1 + n];
            let row = &mut ws.m[m * stride + 1..m * stride + 1 + n];
            for ((value, w), sum) in row.iter_mut().zip(w).zip(&ws.column_sums) {
                *value -= w * sum;
            }
        }
        // T = M·W, word m' in column m' of M and row m'−1 of W; Cov = g μ − a (T[m][h] − T[m][m]).
        multiply(&ws.m[1..], &kernel.response, &mut ws.t, n, n, stride);
        ws.column_sums.fill(0.0);
        for h in 0..=n {
            let own = h > 0 || !kernel.single_root;
            let a = &kernel.weights[h * n..(h + 1) * n];
            let p = &marginals.row(h)[1..];
            let g = &g.row(h)[1..];
            let row = &mut out.row_mut(h)[1..];
            for m in 0..n {
                if m + 1 != h && a[m] > 0.0 {
                    let t = &ws.t[m * stride..m * stride + n + 1];
                    let response = t[h] - if own { t[m + 1] } else { 0.0 };
                    row[m] = (g[m] - ws.means[m]) * p[m] - a[m] * response;
                    ws.column_sums[m] += row[m];
                }
            }
        }
        let size = |sum: &f64| if sum.is_nan() { f64::INFINITY } else { sum.abs() };
        ws.column_sums.iter().map(size).fold(0.0, f64::max)
    }
}

/// Computes `c = a·b`, where a has `rows` rows and b has `inner` rows. All are row-major with one stride.
/// Matrix b is padded with zeros to a multiple of four rows; the matching columns of a must be finite.
#[inline(always)]
fn multiply(a: &[f64], b: &[f64], c: &mut Vec<f64>, rows: usize, inner: usize, stride: usize) {
    c.clear();
    c.resize(rows * stride + LANES, 0.0); // factors are read up to a multiple of four
    let target = &mut c[..rows * stride];
    for (k, four) in b.chunks_exact(4 * stride).take(inner.div_ceil(4)).enumerate() {
        add_four_products(target, stride, stride, &a[4 * k..], [stride, 1], four);
    }
}

/// Returns the determinant, by elimination with row exchanges; destroys the matrix.
fn determinant(matrix: &mut [f64], size: usize) -> f64 {
    let mut result = 1.0;
    for step in 0..size {
        let pivot = (step..size)
            .max_by(|&i, &j| {
                matrix[i * size + step].abs().total_cmp(&matrix[j * size + step].abs())
            })
            .unwrap_or(step);
        if matrix[pivot * size + step] == 0.0 {
            return 0.0;
        }
        if pivot != step {
            for column in 0..size {
                matrix.swap(pivot * size + column, step * size + column);
            }
            result = -result;
        }
        result *= matrix[step * size + step];
        for i in step + 1..size {
            let factor = matrix[i * size + step] / matrix[step * size + step];
            for column in step + 1..size {
                matrix[i * size + column] -= factor * matrix[step * size + column];
            }
        }
    }
    result
}
