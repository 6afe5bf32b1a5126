//! TREE and PTREE: the global factor, answered by the engine.
//!
//! Its value is 1 if the arcs that are true form a tree of the set, else 0. With the incoming log-odds q
//! as arc scores, the engine gives the marginals μ and ln Z in O(n³), and
//!
//! ```text
//! t_e = logit μ_e          r_e = t_e − q_e
//! ```
//!
//! 1 − μ_e is the sum of the other heads' marginals, all positive, so t keeps its digits near 1. The
//! variable's total is q_e + r_e = t_e, so t is stored with the q it belongs to: where q has not changed
//! since, the belief is μ itself, however large the scores are.
//!
//! The adjoint is the engine's vector–Jacobian product (Koo et al. 2007; `kernel.rs`):
//!
//! ```text
//! q̄ = Cov · (r̄ / (μ(1−μ))) − r̄
//! ```
//!
//! Max-product: m_e is the score of the best tree with e. Every word has one head, so the best tree
//! without e has another arc into the same word: t_e = m_e − max_{e'≠e} m_{e'}. PTREE gets all m from one
//! inside and one outside pass, O(n³); TREE from one spanning tree for each arc, O(n²) each.

use super::algebra::{Algebra, Sum, bounded, log_odds, sigmoid};
use super::graph::FactorGraph;
use crate::workspace::unchecked_marginals;
use crate::{
    ArcMatrix, Workspace, arc_covariances_with, argmax_with, log_partition_with, projective,
};

/// Logits of probabilities below the smallest number are cut off here.
const LARGEST_LOGIT: f64 = 745.0;
/// Smallest μ(1−μ) whose derivative is followed.
const SMALLEST_VARIANCE: f64 = 1e-40;

/// Memory of the factor.
#[derive(Clone, Debug, Default)]
pub(super) struct TreeScratch {
    pub(super) workspace: Workspace,
    pub(super) scores: ArcMatrix,
    marginals: ArcMatrix,
    direction: ArcMatrix,
    heads: Vec<usize>,
    lowered: Vec<f64>,
}

impl TreeScratch {
    /// Sets the scores to the log-odds `q` of each arc, and forbids all other arcs.
    pub(super) fn load(&mut self, graph: &FactorGraph, algebra: Algebra, q: &[f64]) {
        self.scores.reset(graph.words(), f64::NEG_INFINITY);
        for (cell, &q) in q.iter().enumerate() {
            self.scores[graph.arc(cell)] = bounded(algebra.cooled(q));
        }
    }

    /// Writes τ·t of each arc, for the log-odds `q`.
    pub(super) fn logits(
        &mut self,
        graph: &FactorGraph,
        algebra: Algebra,
        q: &[f64],
        logits: &mut [f64],
    ) {
        self.load(graph, algebra, q);
        let set = graph.tree_set();
        match algebra.sum {
            Sum::All => {
                // A tree exists, since log-odds are finite. If no digit were left to find it with, the
                // logits would be equal.
                unchecked_marginals(&self.scores, set, &mut self.workspace, &mut self.marginals);
                for modifier in 1..=graph.words() {
                    let column = graph.column(modifier);
                    write_logits(graph, &self.marginals, column, algebra.temperature, logits);
                }
            }
            Sum::Best => self.best_differences(graph, logits),
        }
    }

    /// Writes, for each arc, the best tree with it minus the best without it.
    fn best_differences(&mut self, graph: &FactorGraph, logits: &mut [f64]) {
        let set = graph.tree_set();
        let Self { workspace, scores, marginals, heads, lowered, .. } = self;
        if set.is_projective() {
            projective::max_marginals(scores, set.roots(), &mut workspace.projective, marginals);
        } else {
            marginals.reset(graph.words(), f64::NEG_INFINITY);
            let best = argmax_with(scores, set, workspace, heads).unwrap_or(f64::NEG_INFINITY);
            for (index, &head) in heads.iter().enumerate() {
                marginals[(head, index + 1)] = best;
            }
            for arc in graph.arcs() {
                if marginals[arc] == f64::NEG_INFINITY {
                    marginals[arc] = best_with(graph, arc, scores, workspace, heads, lowered);
                }
            }
        }
        for modifier in 1..=graph.words() {
            let column = graph.column(modifier);
            for cell in column.clone() {
                let others = column.clone().filter(|&other| other != cell);
                let others = others.map(|other| marginals[graph.arc(other)]);
                let without = others.fold(f64::NEG_INFINITY, f64::max);
                logits[cell] = log_odds(marginals[graph.arc(cell)], without);
            }
        }
    }

    /// Returns ln Z of the factor for the log-odds `q`, or the score of the best tree in max-product.
    pub(super) fn log_partition(
        &mut self,
        graph: &FactorGraph,
        algebra: Algebra,
        q: &[f64],
    ) -> f64 {
        self.load(graph, algebra, q);
        if algebra.sum == Sum::Best {
            let Self { workspace, scores, heads, .. } = self;
            return argmax_with(scores, graph.tree_set(), workspace, heads)
                .unwrap_or(f64::NEG_INFINITY);
        }
        log_partition_with(&self.scores, graph.tree_set(), &mut self.workspace)
            .unwrap_or(f64::NEG_INFINITY)
    }

    /// Adds Σ r̄·∂r/∂q to `q_bar`, given the logits t at log-odds `q`.
    pub(super) fn adjoint(
        &mut self,
        graph: &FactorGraph,
        algebra: Algebra,
        q: &[f64],
        logits: &[f64],
        r_bar: &[f64],
        q_bar: &mut [f64],
    ) {
        self.load(graph, algebra, q);
        self.direction.reset(graph.words(), 0.0);
        for (cell, (&r_bar, &logit)) in r_bar.iter().zip(logits).enumerate() {
            let logit = logit / algebra.temperature;
            let variance = sigmoid(logit) * sigmoid(-logit);
            let is_open = variance > SMALLEST_VARIANCE;
            self.direction[graph.arc(cell)] = if is_open { bounded(r_bar / variance) } else { 0.0 };
        }
        let covariances = &mut self.marginals;
        let set = graph.tree_set();
        let ws = &mut self.workspace;
        if arc_covariances_with(&self.scores, &self.direction, set, ws, covariances).is_err() {
            return;
        }
        for (cell, (q_bar, r_bar)) in q_bar.iter_mut().zip(r_bar).enumerate() {
            *q_bar += covariances[graph.arc(cell)] - r_bar;
        }
    }
}

/// Returns the score of the best tree with an arc. The scores are restored.
fn best_with(
    graph: &FactorGraph,
    (head, modifier): (usize, usize),
    scores: &mut ArcMatrix,
    workspace: &mut Workspace,
    heads: &mut Vec<usize>,
    lowered: &mut Vec<f64>,
) -> f64 {
    let kept = scores[(head, modifier)];
    let column = graph.column(modifier);
    lowered.clear();
    lowered.extend(column.clone().map(|cell| scores[graph.arc(cell)]));
    column.clone().for_each(|cell| scores.forbid(graph.arc(cell).0, modifier));
    scores[(head, modifier)] = kept;
    let best = argmax_with(scores, graph.tree_set(), workspace, heads);
    column.zip(lowered).for_each(|(cell, score)| scores[graph.arc(cell)] = *score);
    best.unwrap_or(f64::NEG_INFINITY)
}

/// Writes the logits of one word's heads, times the temperature.
fn write_logits(
    graph: &FactorGraph,
    marginals: &ArcMatrix,
    column: std::ops::Range<usize>,
    temperature: f64,
    logits: &mut [f64],
) {
    for cell in column.clone() {
        let p = marginals[graph.arc(cell)];
        let rest = if p <= 0.5 {
            1.0 - p
        } else {
            let others = column.clone().filter(|&other| other != cell);
            others.map(|other| marginals[graph.arc(other)]).sum()
        };
        let logit = (p.ln() - rest.ln()).clamp(-LARGEST_LOGIT, LARGEST_LOGIT);
        logits[cell] = temperature * if p == rest { 0.0 } else { logit };
    }
}
