//! The exact number of non-projective trees: an integer determinant.
//!
//! With every allowed arc at weight 1 the determinant of the Laplacian *is* the number of trees.
//! Bareiss (1968) eliminates over the integers: every intermediate value is a minor of the matrix,
//! so the divisions are exact. O(n³).

use crate::{ArcMatrix, tree_set::Roots};

/// Returns the number of trees of allowed arcs, if all intermediate products fit 128 bits.
pub(crate) fn count(scores: &ArcMatrix, roots: Roots) -> Option<u128> {
    let n = scores.words();
    let allowed = |head: usize, modifier: usize| {
        i128::from(head != modifier && scores[(head, modifier)] > f64::NEG_INFINITY)
    };
    // Column m: −1 for each word head; on the diagonal, the number of heads.
    let mut laplacian = vec![vec![0i128; n]; n];
    for m in 1..=n {
        for h in (1..=n).filter(|&h| h != m) {
            laplacian[h - 1][m - 1] = -allowed(h, m);
            laplacian[m - 1][m - 1] += allowed(h, m);
        }
        match roots {
            Roots::Multi => laplacian[m - 1][m - 1] += allowed(0, m),
            Roots::Single => {} // Koo et al. 2007: the first row becomes the root's arcs
        }
    }
    if roots == Roots::Single && n > 0 {
        for m in 1..=n {
            laplacian[0][m - 1] = allowed(0, m);
        }
    }
    determinant(laplacian).and_then(|value| u128::try_from(value).ok())
}

fn determinant(mut a: Vec<Vec<i128>>) -> Option<i128> {
    let n = a.len();
    let mut sign = 1;
    let mut previous = 1;
    for k in 0..n {
        let Some(pivot) = (k..n).find(|&i| a[i][k] != 0) else { return Some(0) };
        if pivot != k {
            a.swap(pivot, k);
            sign = -sign;
        }
        for i in k + 1..n {
            for j in k + 1..n {
                let minor =
                    a[i][j].checked_mul(a[k][k])?.checked_sub(a[i][k].checked_mul(a[k][j])?)?;
                a[i][j] = minor / previous;
            }
        }
        previous = a[k][k];
    }
    Some(if n == 0 { 1 } else { sign * a[n - 1][n - 1] })
}
