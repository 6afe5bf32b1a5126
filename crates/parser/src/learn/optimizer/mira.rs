//! MIRA, the margin infused relaxed algorithm (Crammer & Singer 2003; for dependency trees McDonald, Crammer &
//! Pereira 2005): the shortest step after which the gold tree beats each of the k best trees by the number of their
//! wrong words,
//!
//! ```text
//! min ½‖w′ − w‖²    subject to    w′·d_j ≥ Δ_j    for all j
//! ```
//!
//! by Hildreth's method (1957; Censor & Zenios 1997). w′ = w + Σ a_j d_j, and each iteration changes the a_j with the
//! longest step. It ends when every margin is met or its a_j is at a bound, 0 ≤ a_j ≤ C. Cost: O(k²) products of sparse
//! vectors, then O(k) per iteration. With k = 1 it is a passive-aggressive update with cost Δ.

use super::mistake::WrongTree;

/// Returns a_j for each wrong tree.
pub(super) fn sizes(trees: &[WrongTree], weight: impl Fn(usize) -> f32, c: f64) -> Vec<f64> {
    let violations =
        trees.iter().map(|tree| tree.wrong as f64 - tree.difference.dot_weights(&weight)).collect();
    let gram: Vec<Vec<f64>> = trees
        .iter()
        .map(|a| trees.iter().map(|b| a.difference.dot(&b.difference)).collect())
        .collect();
    hildreth(violations, &gram, c)
}

/// Returns the a that minimise ½ aᵀ G a − bᵀ a for 0 ≤ a ≤ C. b is `violations`, the missing margins at a = 0, and
/// G is `gram`, the scalar products of the d_j.
fn hildreth(mut violations: Vec<f64>, gram: &[Vec<f64>], c: f64) -> Vec<f64> {
    const MOST_ITERATIONS: usize = 10_000;
    const SHORTEST_STEP: f64 = 1e-8;
    let mut sizes = vec![0.0; violations.len()];
    for _ in 0..MOST_ITERATIONS {
        let step = |j: usize| {
            // A tree with the features of the gold tree (d = 0) gets no step.
            let whole = if gram[j][j] > 0.0 { violations[j] / gram[j][j] } else { 0.0 };
            f64::clamp(sizes[j] + whole, 0.0, c) - sizes[j]
        };
        let longest = (0..sizes.len())
            .map(|j| (j, step(j)))
            .reduce(|best, next| if next.1.abs() > best.1.abs() { next } else { best });
        let Some((j, step)) = longest.filter(|(_, step)| step.abs() >= SHORTEST_STEP) else {
            break;
        };
        sizes[j] += step;
        violations.iter_mut().zip(&gram[j]).for_each(|(violation, g)| *violation -= step * g);
    }
    sizes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::learn::optimizer::passive_aggressive::Update;

    fn gram(vectors: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum();
        vectors.iter().map(|a| vectors.iter().map(|b| dot(a, b)).collect()).collect()
    }

    #[test]
    fn one_wrong_tree_is_passive_aggressive() {
        for (loss, norm) in [(3.0, 4.0), (0.5, 7.0), (-1.0, 2.0), (1.0, 0.0)] {
            let sizes = |c| hildreth(vec![loss], &[vec![norm]], c)[0];
            assert_eq!(sizes(f64::INFINITY), Update::Pa.size(loss, norm));
            assert_eq!(sizes(0.05), Update::PaI { c: 0.05 }.size(loss, norm));
        }
    }

    #[test]
    fn no_wrong_trees_no_steps() {
        assert!(hildreth(Vec::new(), &[], 1.0).is_empty());
    }

    proptest! {
        /// Checks the Karush–Kuhn–Tucker conditions: margins are met exactly where a is between its bounds, at least
        /// where a is 0, and at most where a is C.
        #[test]
        fn solutions_are_optimal(
            vectors in prop::collection::vec(prop::collection::vec(-1.0..1.0f64, 8), 1..=5),
            violations in prop::collection::vec(-1.0..3.0f64, 5),
            capped in any::<bool>(),
        ) {
            let c = if capped { 0.4 } else { f64::INFINITY };
            let g = gram(&vectors);
            // Without a cap, margins that nearly contradict each other have no bounded solution.
            prop_assume!(capped || independent(&g));
            let b = violations[..vectors.len()].to_vec();
            let a = hildreth(b.clone(), &g, c);
            for j in 0..a.len() {
                let left: f64 = b[j] - (0..a.len()).map(|i| g[j][i] * a[i]).sum::<f64>();
                prop_assert!((0.0..=c).contains(&a[j]));
                if a[j] < c {
                    prop_assert!(left < 1e-6, "margin {j} is missed by {left}");
                }
                if a[j] > 0.0 {
                    prop_assert!(left > -1e-6, "margin {j} is exceeded by {}", -left);
                }
            }
        }
    }

    /// True if the vectors are clearly independent: all pivots of the Gram matrix are large.
    fn independent(gram: &[Vec<f64>]) -> bool {
        let mut g = gram.to_vec();
        (0..g.len()).all(|k| {
            let pivot = g[k][k];
            for i in k + 1..g.len() {
                let factor = g[i][k] / pivot;
                for j in k..g.len() {
                    g[i][j] -= factor * g[k][j];
                }
            }
            pivot > 0.05
        })
    }
}
