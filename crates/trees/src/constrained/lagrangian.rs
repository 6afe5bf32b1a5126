//! The Lagrangian bound: prices on the arcs of violated rows.
//!
//! For prices 0 ≤ λ_r ≤ ρ_r on rows "at most c_r arcs of A_r, each further one costs ρ_r",
//!
//! ```text
//! L(λ) = max_y [ s(y) − Σ_r λ_r |y ∩ A_r| ] + Σ_r λ_r c_r   ≥   max_y [ s(y) − Σ_r ρ_r (|y ∩ A_r| − c_r)⁺ ]
//! λ_r ← clamp(λ_r + step · (|y ∩ A_r| − c_r), 0, ρ_r)
//! ```
//!
//! A row gets a price when a decoded tree first violates it. The step is Polyak's, (L − best)/‖g‖², where
//! a tree is known that satisfies the constraints, and shrinks otherwise. Rows that a node has paid for
//! have no price.

use super::search::{Decoder, Nodes, Search, rounding};
use super::{LabelledHeads, Row, Settled};

/// Prices of rows, and scratch memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Lagrangian {
    priced: Vec<Priced>,
    violated: Vec<Row>,
}

#[derive(Clone, Copy, Debug)]
struct Priced {
    constraint: usize,
    row: Row,
    price: f64,
    /// |y ∩ A| − c of the last tree.
    excess: f64,
}

impl Lagrangian {
    /// Returns the smallest bound found for a node whose own tree is in the decoder.
    #[expect(clippy::too_many_arguments, reason = "parts of one workspace, borrowed apart")]
    pub(super) fn bound(
        &mut self,
        search: &mut Search<'_>,
        node: usize,
        nodes: &Nodes,
        decoder: &mut Decoder,
        rounds: usize,
        tree_bound: f64,
        (best_heads, best_labels): (&mut Vec<usize>, &mut Vec<usize>),
    ) -> f64 {
        self.priced.clear();
        let paid = nodes.paid(node);
        let mut bound = tree_bound;
        let mut last = tree_bound;
        for round in 0..rounds {
            self.add_rows(search, node, nodes, decoder.tree());
            self.measure(search, decoder.tree());
            let squared: f64 = self.priced.iter().map(|priced| priced.excess.powi(2)).sum();
            if squared == 0.0 {
                return bound;
            }
            let known = search.incumbent.value();
            let step = if known > f64::NEG_INFINITY {
                ((last - known) / squared).max(0.0)
            } else {
                let words = search.scores.words() as f64;
                (tree_bound.abs() / words).max(1e-3) / (1.0 + round as f64).sqrt()
            };
            let mut moved = false;
            for priced in &mut self.priced {
                let price = (priced.price + step * priced.excess).clamp(0.0, priced.row.penalty);
                moved |= price != priced.price;
                priced.price = price;
            }
            if !moved {
                return bound;
            }
            last = self.decode(search, node, nodes, decoder) - paid;
            if last == f64::NEG_INFINITY {
                return bound; // prices overflowed: no arc is left
            }
            bound = bound.min(last);
            let reached = search.consider(decoder.tree(), best_heads, best_labels);
            let known = search.incumbent.value();
            if reached >= last - rounding(last) || bound <= known + rounding(bound) {
                // The best tree reaches the bound, up to rounding.
                return bound.min(known);
            }
        }
        bound
    }

    /// Gives the rows that a tree violates a price of 0, if they are new.
    fn add_rows(
        &mut self,
        search: &Search<'_>,
        node: usize,
        nodes: &Nodes,
        tree: LabelledHeads<'_>,
    ) {
        for (constraint, rule) in search.constraints.iter().enumerate() {
            self.violated.clear();
            let settled = Settled { search: nodes, node, constraint };
            rule.violated_rows(tree, settled, &mut self.violated);
            for &row in &self.violated {
                let is_old = self
                    .priced
                    .iter()
                    .any(|priced| (priced.constraint, priced.row.key) == (constraint, row.key));
                if !is_old {
                    self.priced.push(Priced { constraint, row, price: 0.0, excess: 0.0 });
                }
            }
        }
    }

    /// Counts the arcs of a tree in every priced row.
    fn measure(&mut self, search: &Search<'_>, tree: LabelledHeads<'_>) {
        let labels = search.scores.labels();
        for priced in &mut self.priced {
            let mut count = 0.0;
            let rule = search.constraints[priced.constraint];
            rule.visit_row(&priced.row, tree.words(), labels, &mut |head, modifier, label| {
                let at = modifier.wrapping_sub(1);
                if tree.heads().get(at) == Some(&head) && tree.labels().get(at) == Some(&label) {
                    count += 1.0;
                }
            });
            priced.excess = count - priced.row.capacity;
        }
    }

    /// Decodes with the prices, and returns the Lagrangian value of the tree before payments.
    fn decode(
        &self,
        search: &Search<'_>,
        node: usize,
        nodes: &Nodes,
        decoder: &mut Decoder,
    ) -> f64 {
        let words = search.scores.words();
        let labels = search.scores.labels();
        let mut refund = 0.0;
        for priced in self.priced.iter().filter(|priced| priced.price > 0.0) {
            refund += priced.price * priced.row.capacity;
            let rule = search.constraints[priced.constraint];
            rule.visit_row(&priced.row, words, labels, &mut |head, modifier, label| {
                decoder.prices.push((head, modifier, label, priced.price));
            });
        }
        decoder.decode(search.scores, search.tree_set, nodes, node) + refund
    }
}
