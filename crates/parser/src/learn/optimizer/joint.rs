//! Joint training of arcs and labels: θ(h → m, ℓ) = w·f(x, h, m) + w_ℓ·g(x, h, m), with the cells of labels after
//! those of arcs. Optimizers treat labelled arcs and arcs by the same code (see [`Scorer`]). Labels add O(n² L) numbers
//! per sentence, for L labels.
//!
//! [Factors](crate::model::factors) refine the sums over labels, θ(e) = log Σ_ℓ exp θ(e, ℓ), and leave p(ℓ | e) as it is.
//! With g the derivatives of an objective by the refined scores θ′(e, ℓ), and J the Jacobian of θ′(e) by θ(e),
//!
//! ```text
//! θ′(e, ℓ) = θ(e, ℓ) + θ′(e) − θ(e)        ḡ(e) = Σ_ℓ g(e, ℓ)
//! ∂/∂θ(e, ℓ) = g(e, ℓ) + p(ℓ | e) · ((Jᵀḡ)(e) − ḡ(e))
//! ```

use tutte_trees::{
    ArcMatrix, Error as TreesError, LabelledArcMatrix, LabelledTreeDistribution, TreeSet,
    Workspace, arcs, argmax_with, log_partition_with,
};

use super::scorer::{Differentiable, PartScorer, PartTable, Scorer, Term};
use crate::features::Prepared;
use crate::learn::corpus::Example;
use crate::learn::objective::labelled::{add_scaled, sum_out};
use crate::learn::objective::{LabelledScored, Scratch, labelled};
use crate::model::factors::{FactorMemory, Refinement};
use crate::{ArcModel, FactorModel, LabelModel};

/// A model of labelled arcs.
#[derive(Clone, Debug)]
pub(crate) struct Joint {
    pub(crate) arcs: ArcModel,
    pub(crate) labels: LabelModel,
    /// Factors, and the set of trees they refine scores for.
    pub(crate) factors: Option<(FactorModel, TreeSet)>,
}

impl Joint {
    /// Returns the table of a weight and its position there.
    #[inline]
    fn place(&self, cell: usize) -> (Part, usize) {
        let arcs = self.arcs.weights.len();
        let labels = self.labels.weights.len();
        if cell < arcs {
            (Part::Arcs, cell)
        } else if cell < arcs + labels {
            (Part::Labels, cell - arcs)
        } else {
            (Part::Factors, cell - arcs - labels)
        }
    }

    fn factor_weights(&self) -> &[f32] {
        self.factors.as_ref().map_or(&[], |(factors, _)| &factors.weights)
    }
}

/// The tables of a [`Joint`] model, in the order of its cells.
enum Part {
    Arcs,
    Labels,
    Factors,
}

/// Looked-up features of a sentence, and buffers.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    arcs: Prepared,
    labels: Prepared,
    rows: Vec<usize>,
    scores: Vec<f32>,
    factors: FactorMemory,
    /// For each template of factors, `false` if dropout leaves it out.
    kept_factors: Vec<bool>,
    /// p(ℓ | e), for factors.
    given: LabelledArcMatrix,
    /// Sums over labels, for factors.
    summed: ArcMatrix,
}

impl Scorer for Joint {
    type Memory = Memory;
    type Scores = LabelledArcMatrix;

    fn cells(&self) -> usize {
        self.arcs.weights.len() + self.labels.weights.len() + self.factor_weights().len()
    }

    #[inline]
    fn weight(&self, cell: usize) -> f32 {
        match self.place(cell) {
            (Part::Arcs, at) => self.arcs.weights[at],
            (Part::Labels, at) => self.labels.weights[at],
            (Part::Factors, at) => self.factor_weights()[at],
        }
    }

    #[inline]
    fn weight_mut(&mut self, cell: usize) -> &mut f32 {
        match (self.place(cell), &mut self.factors) {
            ((Part::Labels, at), _) => &mut self.labels.weights[at],
            ((Part::Factors, at), Some((factors, _))) => &mut factors.weights[at],
            ((_, at), _) => &mut self.arcs.weights[at],
        }
    }

    fn weights(&self) -> impl Iterator<Item = &f32> {
        self.arcs.weights.iter().chain(&self.labels.weights).chain(self.factor_weights())
    }

    fn weights_mut(&mut self) -> impl Iterator<Item = &mut f32> {
        let factors = self.factors.iter_mut().flat_map(|(factors, _)| &mut factors.weights);
        self.arcs.weights.iter_mut().chain(&mut self.labels.weights).chain(factors)
    }

    fn templates(&self) -> usize {
        let factors = self.factors.as_ref().map_or(0, |(factors, _)| factors.features.len());
        self.arcs.features.templates().len() + self.labels.features.templates().len() + factors
    }

    fn prepare(&self, example: &Example, keep: impl Fn(usize) -> bool, memory: &mut Memory) {
        let first = self.arcs.features.templates().len();
        let allowed = |head, modifier| example.candidates.allows(head, modifier);
        memory.arcs.fill_for(&self.arcs.features, &example.arcs, &keep, allowed);
        let keep_label = |label| keep(first + label);
        memory.labels.fill_for(&self.labels.features, &example.labels, keep_label, allowed);
        let first = first + self.labels.features.templates().len();
        let factors = self.factors.as_ref().map_or(0, |(factors, _)| factors.features.len());
        memory.kept_factors.clear();
        memory.kept_factors.extend((first..first + factors).map(keep));
    }

    fn score(&self, example: &Example, scale: f64, memory: &mut Memory) -> LabelledArcMatrix {
        let mut labelled = self.score_arcs(example, memory);
        for (head, modifier) in arcs(labelled.words()) {
            let labels = labelled.labels_of_mut(head, modifier).into_iter().flatten();
            labels.for_each(|score| *score *= scale);
        }
        if let Some((factors, tree_set)) = &self.factors {
            refine(factors, *tree_set, example, scale, &mut labelled, memory);
        }
        labelled
    }

    fn accumulate(
        &self,
        memory: &mut Memory,
        coefficients: &LabelledArcMatrix,
        negligible: f64,
        mut add: impl FnMut(usize, f32),
    ) {
        let of = |(head, modifier)| coefficients.labels_of(head, modifier).unwrap_or_default();
        let words = coefficients.words();
        let by_arc = ArcMatrix::from_fn(words, |head, modifier| of((head, modifier)).iter().sum());
        let first = self.arcs.weights.len() + self.labels.weights.len();
        let add_factor = |cell, amount| add(first + cell, amount);
        let followed_back = self.factors.as_ref().and_then(|(factors, _)| {
            factors.accumulate(&mut memory.factors, &by_arc, negligible, add_factor)
        });
        let Some(by_score) = followed_back else {
            self.accumulate_arcs(memory, coefficients, &by_arc, negligible, add);
            return;
        };
        let mut changed = coefficients.clone();
        for arc @ (head, modifier) in arcs(words) {
            let change = by_score[arc] - by_arc[arc];
            add_scaled(&mut changed, &memory.given, (head, modifier), change);
        }
        let by_score = by_score.clone();
        self.accumulate_arcs(memory, &changed, &by_score, negligible, add);
    }
}

/// Refines the scores of a sentence by factors.
fn refine(
    factors: &FactorModel,
    tree_set: TreeSet,
    example: &Example,
    scale: f64,
    labelled: &mut LabelledArcMatrix,
    memory: &mut Memory,
) {
    let Memory { factors: memory, kept_factors, given, summed, .. } = memory;
    given.clone_from(labelled);
    sum_out(given, summed);
    let mut refined = summed.clone();
    let best = |head, modifier| best_label(given.labels_of(head, modifier).unwrap_or_default()).0;
    let refinement =
        Refinement { tree_set, scale, keep: |template| kept_factors[template], is_recorded: true };
    // Scores that are not numbers stay as they are, for the objective to report.
    if factors.refine(&example.arcs, best, &mut refined, refinement, memory).is_err() {
        memory.clear();
        return;
    }
    for arc @ (head, modifier) in arcs(refined.words()) {
        let change = refined[arc] - summed[arc];
        if change.is_finite() {
            let labels = labelled.labels_of_mut(head, modifier).into_iter().flatten();
            labels.for_each(|score| *score += change);
        }
    }
}

impl Joint {
    /// Scores labelled arcs without factors.
    fn score_arcs(&self, example: &Example, memory: &mut Memory) -> LabelledArcMatrix {
        let Memory { arcs: prepared, labels, rows, scores: by_label, .. } = memory;
        let words = example.gold.len();
        let mut scores = ArcMatrix::zeros(words);
        self.arcs.score(prepared, |h, m| example.candidates.allows(h, m), &mut scores);
        let mut labelled = LabelledArcMatrix::forbidden(words, self.labels.labels().len());
        for (head, modifier) in arcs(words).filter(|&(h, m)| example.candidates.allows(h, m)) {
            self.labels.rows(labels, head, modifier, rows);
            self.labels.scores(rows, head, 1.0, by_label);
            let score = scores[(head, modifier)];
            let sums = labelled.labels_of_mut(head, modifier).into_iter().flatten();
            for (sum, by_label) in sums.zip(&*by_label) {
                *sum = score + f64::from(*by_label);
            }
        }
        labelled
    }

    /// Accumulates coefficients of scores without factors. `by_arc` are their sums over labels.
    fn accumulate_arcs(
        &self,
        memory: &mut Memory,
        coefficients: &LabelledArcMatrix,
        by_arc: &ArcMatrix,
        negligible: f64,
        mut add: impl FnMut(usize, f32),
    ) {
        let Memory { arcs: prepared, labels, rows, .. } = memory;
        let words = coefficients.words();
        let of = |(head, modifier)| coefficients.labels_of(head, modifier).unwrap_or_default();
        self.arcs.accumulate(prepared, by_arc, negligible, &mut add);
        let first = self.arcs.weights.len();
        let mut kept = Vec::new();
        for (head, modifier) in arcs(words) {
            kept.clear();
            let coefficients = of((head, modifier)).iter().enumerate();
            kept.extend(coefficients.filter(|(_, coefficient)| coefficient.abs() > negligible));
            if kept.is_empty() {
                continue;
            }
            self.labels.rows(labels, head, modifier, rows);
            for row in &*rows {
                kept.iter().for_each(|&(label, amount)| add(first + row + label, *amount as f32));
            }
        }
    }
}

impl PartScorer for Joint {
    fn possible(&self, example: &Example) -> LabelledArcMatrix {
        let labels = self.labels.labels().len();
        LabelledArcMatrix::from_fn(example.gold.len(), labels, |head, modifier, label| {
            let is_possible =
                example.candidates.allows(head, modifier) && self.labels.allows(head, label);
            if is_possible { 0.0 } else { f64::NEG_INFINITY }
        })
    }
}

impl Differentiable for LabelledArcMatrix {
    fn evaluate(
        &self,
        term: Term<'_>,
        scratch: &mut Scratch,
        gradient: &mut Self,
    ) -> Result<f64, TreesError> {
        let Term { objective, example, tree_set, progress } = term;
        let scored = LabelledScored {
            scores: self,
            gold: &example.gold,
            labels: &example.label_of,
            teacher: &example.teacher,
            tree_set,
        };
        objective.evaluate_labelled(scored, progress, scratch, gradient)
    }
}

impl PartTable for LabelledArcMatrix {
    type Part = (usize, usize, usize);

    fn zeros(&self) -> Self {
        LabelledArcMatrix::zeros(self.words(), self.labels())
    }

    fn parts(&self) -> impl Iterator<Item = Self::Part> + use<> {
        let labels = self.labels();
        arcs(self.words())
            .flat_map(move |(head, modifier)| (0..labels).map(move |label| (head, modifier, label)))
    }

    fn modifier((_, modifier, _): Self::Part) -> usize {
        modifier
    }

    fn gold(example: &Example) -> Vec<Self::Part> {
        let heads = (1..).zip(&example.gold).zip(&example.label_of);
        heads
            .filter_map(|((modifier, head), label)| Some(((*head)?, modifier, (*label)?)))
            .collect()
    }

    fn cost(example: &Example, (head, modifier, label): Self::Part) -> f64 {
        labelled::cost(&example.gold, &example.label_of, head, modifier, label)
    }

    fn log_partition(
        &self,
        tree_set: TreeSet,
        workspace: &mut Workspace,
    ) -> Result<f64, TreesError> {
        let mut summed = ArcMatrix::default();
        labelled::sum_out(&mut self.clone(), &mut summed);
        log_partition_with(&summed, tree_set, workspace)
    }

    fn marginals(
        &self,
        tree_set: TreeSet,
        workspace: &mut Workspace,
        marginals: &mut Self,
    ) -> Result<f64, TreesError> {
        labelled::marginals(self, tree_set, workspace, marginals)
    }

    fn argmax(
        &self,
        tree_set: TreeSet,
        workspace: &mut Workspace,
    ) -> Result<(f64, Vec<Self::Part>), TreesError> {
        let best =
            |(head, modifier)| best_label(self.labels_of(head, modifier).unwrap_or_default());
        let scores = ArcMatrix::from_fn(self.words(), |head, modifier| best((head, modifier)).1);
        let mut heads = Vec::new();
        let score = argmax_with(&scores, tree_set, workspace, &mut heads)?;
        let arcs = heads.into_iter().zip(1..);
        Ok((
            score,
            arcs.map(|(head, modifier)| (head, modifier, best((head, modifier)).0)).collect(),
        ))
    }

    fn kbest(self, k: usize, tree_set: TreeSet) -> Result<Vec<Vec<Self::Part>>, TreesError> {
        let best = LabelledTreeDistribution::new(self, tree_set)?.kbest(k);
        Ok(best.into_iter().map(|scored| scored.tree.arcs().collect()).collect())
    }
}

/// Returns the best label and its score; the first of equals. A NaN score is passed on.
fn best_label(scores: &[f64]) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (label, &score) in scores.iter().enumerate() {
        if score > best.1 || score.is_nan() {
            best = (label, score);
        }
    }
    best
}

#[cfg(test)]
mod tests;
