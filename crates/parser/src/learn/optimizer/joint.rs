//! Joint training of arcs and labels: θ(h → m, ℓ) = w·f(x, h, m) + w_ℓ·g(x, h, m), with the cells of labels after
//! those of arcs. Optimizers treat labelled arcs and arcs by the same code (see [`Scorer`]). Labels add O(n² L) numbers
//! per sentence, for L labels.

use tutte_trees::{
    ArcMatrix, Error as TreesError, LabelledArcMatrix, LabelledTreeDistribution, TreeSet,
    Workspace, arcs, argmax_with, log_partition_with,
};

use super::scorer::{Differentiable, PartScorer, PartTable, Scorer, Term};
use crate::features::Prepared;
use crate::learn::corpus::Example;
use crate::learn::objective::{LabelledScored, Scratch, labelled};
use crate::{ArcModel, LabelModel};

/// A model of labelled arcs.
#[derive(Clone, Debug)]
pub(crate) struct Joint {
    pub(crate) arcs: ArcModel,
    pub(crate) labels: LabelModel,
}

/// Looked-up features of a sentence, and buffers.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    arcs: Prepared,
    labels: Prepared,
    rows: Vec<usize>,
    scores: Vec<f32>,
}

impl Scorer for Joint {
    type Memory = Memory;
    type Scores = LabelledArcMatrix;

    fn cells(&self) -> usize {
        self.arcs.weights.len() + self.labels.weights.len()
    }

    #[inline]
    fn weight(&self, cell: usize) -> f32 {
        let first = self.arcs.weights.len();
        if cell < first { self.arcs.weights[cell] } else { self.labels.weights[cell - first] }
    }

    #[inline]
    fn weight_mut(&mut self, cell: usize) -> &mut f32 {
        let first = self.arcs.weights.len();
        if cell < first {
            &mut self.arcs.weights[cell]
        } else {
            &mut self.labels.weights[cell - first]
        }
    }

    fn weights(&self) -> impl Iterator<Item = &f32> {
        self.arcs.weights.iter().chain(&self.labels.weights)
    }

    fn weights_mut(&mut self) -> impl Iterator<Item = &mut f32> {
        self.arcs.weights.iter_mut().chain(&mut self.labels.weights)
    }

    fn templates(&self) -> usize {
        self.arcs.features.templates().len() + self.labels.features.templates().len()
    }

    fn prepare(&self, example: &Example, keep: impl Fn(usize) -> bool, memory: &mut Memory) {
        let first = self.arcs.features.templates().len();
        let allowed = |head, modifier| example.candidates.allows(head, modifier);
        memory.arcs.fill_for(&self.arcs.features, &example.arcs, &keep, allowed);
        let keep_label = |label| keep(first + label);
        memory.labels.fill_for(&self.labels.features, &example.labels, keep_label, allowed);
    }

    fn score(&self, example: &Example, memory: &mut Memory) -> LabelledArcMatrix {
        let Memory { arcs: prepared, labels, rows, scores: by_label } = memory;
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

    fn accumulate(
        &self,
        memory: &mut Memory,
        coefficients: &LabelledArcMatrix,
        negligible: f64,
        mut add: impl FnMut(usize, f32),
    ) {
        let Memory { arcs: prepared, labels, rows, .. } = memory;
        let words = coefficients.words();
        let of = |(head, modifier)| coefficients.labels_of(head, modifier).unwrap_or_default();
        let summed = ArcMatrix::from_fn(words, |head, modifier| of((head, modifier)).iter().sum());
        self.arcs.accumulate(prepared, &summed, negligible, &mut add);
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
    fn scale(&mut self, by: f64) {
        for (head, modifier) in arcs(self.words()) {
            let labels = self.labels_of_mut(head, modifier).into_iter().flatten();
            labels.for_each(|score| *score *= by);
        }
    }

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
