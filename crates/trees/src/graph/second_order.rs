//! Joint probabilities and covariances of arcs.
//!
//! Components are independent. Given that a pooled arc is in the tree, its member is an independent
//! draw with shares q. With ḡ the mean of g over a pool,
//! Cov(1_a, G) = q_a·(Cov(1_pool, Ḡ) + P(pool)·(g_a − ḡ)). This is applied twice: to arcs from outside
//! a component, and to parallel arcs.

use super::distribution::GraphDistribution;
use super::edges::Place;
use crate::{ArcMatrix, Error};

impl<N> GraphDistribution<N> {
    /// P(both arcs are in the tree), arcs by number.
    ///
    /// ```
    /// # use tutte_trees::{ArcMatrix, Graph, GraphDistribution, TreeSet};
    /// let graph = Graph::from_matrix(["◇", "Ann", "Anna"], &ArcMatrix::zeros(2))?;
    /// let new_ann = graph.arc_between(0, 1).unwrap();
    /// let new_anna = graph.arc_between(0, 2).unwrap();
    /// let d = GraphDistribution::new(graph, TreeSet::NonProjectiveMultiRoot)?;
    /// let apart = d.pair_marginal(new_ann, new_anna)?;
    /// assert!((apart - 1.0 / 3.0).abs() < 1e-12); // in one of three trees neither is a copy
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchGraphArc`].
    pub fn pair_marginal(&self, first: usize, second: usize) -> Result<f64, Error> {
        self.check_arc(first)?;
        self.check_arc(second)?;
        let mu = self.marginals();
        if first == second {
            return Ok(mu[first]);
        }
        let a = self.graph().arcs[first];
        let b = self.graph().arcs[second];
        if a.child == b.child || mu[first] == 0.0 || mu[second] == 0.0 {
            return Ok(0.0); // a node has one parent
        }
        if !self.components.inside(a.child, b.child) {
            return Ok(mu[first] * mu[second]);
        }
        let local = |parent: usize, child: usize| {
            let inside = self.components.inside(parent, child);
            let head = if inside { self.components.place[parent] + 1 } else { 0 };
            (head, self.components.place[child] + 1)
        };
        let dense = self.dense(self.components.of[a.child]);
        let x = local(a.parent, a.child);
        let y = local(b.parent, b.child);
        // The share of an arc in its pool; clamped, because rounding may make the pool less probable.
        let part = |arc: usize, pool: (usize, usize)| (mu[arc] / dense.marginals()[pool]).min(1.0);
        Ok(dense.pair_marginal(x, y)? * part(first, x) * part(second, y))
    }

    /// Cov(1_a, G) for every arc a, where G sums `g` over the arcs of a tree.
    ///
    /// This is also Σ_b g_b ∂μ_b/∂θ_a, the vector–Jacobian product of back-propagation. O(k³) time and
    /// O(k²) memory for a component of k nodes.
    ///
    /// # Errors
    /// As [`expectation`](Self::expectation).
    #[doc(alias = "vjp")]
    pub fn arc_covariances(&self, g: &[f64]) -> Result<Vec<f64>, Error> {
        self.check_function(g)?;
        let mut means = vec![0.0; self.edges.parent.len()];
        for (value, place) in g.iter().zip(&self.places) {
            if let Some(place) = place {
                means[place.edge] += place.share * value;
            }
        }
        let edge_covariances = self.edge_covariances(&means);
        let mu = self.edge_marginals();
        let one = |(value, place): (&f64, &Option<Place>)| {
            place.map_or(0.0, |place| {
                let edge = place.edge;
                place.share * (edge_covariances[edge] + mu[edge] * (value - means[edge]))
            })
        };
        Ok(g.iter().zip(&self.places).map(one).collect())
    }

    /// Cov(F, G) where F and G sum `f` and `g` over the arcs of a tree. Same cost as
    /// [`arc_covariances`](Self::arc_covariances).
    ///
    /// # Errors
    /// As [`expectation`](Self::expectation).
    pub fn covariance(&self, f: &[f64], g: &[f64]) -> Result<f64, Error> {
        self.check_function(f)?;
        let covariances = self.arc_covariances(g)?;
        // A constant per node changes F by a constant. Centred, large values do not cancel.
        let possible = || {
            let arcs = self.graph().arcs.iter().zip(self.marginals()).zip(f).zip(&covariances);
            arcs.zip(&self.places).filter(|(_, place)| place.is_some()).map(|(arc, _)| arc)
        };
        let mut means = vec![0.0; self.graph().nodes() + 1];
        for (((arc, p), value), _) in possible() {
            means[arc.child] += p * value;
        }
        Ok(possible().map(|(((arc, _), value), c)| c * (value - means[arc.child])).sum())
    }

    fn edge_covariances(&self, g: &[f64]) -> Vec<f64> {
        let mut covariances = vec![0.0; g.len()];
        for (component, nodes) in self.components.nodes.iter().enumerate() {
            let parts = self.parts(component);
            let dense = self.dense(component);
            let mut pooled = ArcMatrix::zeros(nodes.len());
            for (place, &child) in nodes.iter().enumerate() {
                let share = parts.outside_shares(child, &self.shifted);
                for edge in self.edges.entering(child) {
                    let parent = self.edges.parent[edge];
                    if self.components.inside(parent, child) {
                        pooled[(self.components.place[parent] + 1, place + 1)] = g[edge];
                    } else {
                        pooled[(0, place + 1)] += share(self.shifted[edge]) * g[edge];
                    }
                }
            }
            // Means of values that the caller has checked, at most a rounding error larger.
            let local = dense.unchecked_covariances(&pooled);
            for (place, &child) in nodes.iter().enumerate() {
                let share = parts.outside_shares(child, &self.shifted);
                let root = (0, place + 1);
                let mean = pooled[root];
                for edge in self.edges.entering(child) {
                    let parent = self.edges.parent[edge];
                    covariances[edge] = if self.components.inside(parent, child) {
                        local[(self.components.place[parent] + 1, place + 1)]
                    } else {
                        let within = dense.marginals()[root] * (g[edge] - mean);
                        share(self.shifted[edge]) * (local[root] + within)
                    };
                }
            }
        }
        covariances
    }
}
