//! A part of a batch: scores of its sentences, the loss, and the gradient of the network.

use tutte_neural::{Activations, Coefficients, Gradients, Mode, Network, cross_entropy};
use tutte_trees::{ArcMatrix, TreeSet, arcs};

use super::examples::Example;
use crate::Error;
use crate::learn::objective::{Objective, Scored, Scratch};

/// Factor of the loss of tags.
const TAG_FACTOR: f32 = 0.3;

/// Everything that the shards of a batch share.
pub(super) struct Task<'a> {
    pub(super) network: &'a Network,
    pub(super) examples: &'a [Example],
    pub(super) tree_set: TreeSet,
    pub(super) progress: f64,
    /// Number of words of the batch.
    pub(super) words: f64,
}

/// A part of a batch, with the memory of a thread.
pub(super) struct Shard {
    pub(super) number: usize,
    pub(super) sentences: Vec<usize>,
    activations: Activations,
    coefficients: Coefficients,
    pub(super) gradients: Gradients,
    scratch: Scratch,
    scores: ArcMatrix,
    arc_gradient: ArcMatrix,
    label_scores: Vec<f32>,
    target: Vec<f32>,
    gradient: Vec<f32>,
    pub(super) loss: f64,
}

impl Shard {
    pub(super) fn new(gradients: Gradients) -> Self {
        Self {
            number: 0,
            sentences: Vec::new(),
            activations: Activations::new(),
            coefficients: Coefficients::new(),
            gradients,
            scratch: Scratch::default(),
            scores: ArcMatrix::default(),
            arc_gradient: ArcMatrix::default(),
            label_scores: Vec::new(),
            target: Vec::new(),
            gradient: Vec::new(),
            loss: 0.0,
        }
    }

    /// Computes the loss and the gradient of the shard's sentences.
    pub(super) fn run(
        &mut self,
        task: &Task<'_>,
        objective: &Objective,
        seed: u64,
    ) -> Result<(), Error> {
        self.gradients.clear();
        self.loss = 0.0;
        if self.sentences.is_empty() {
            return Ok(());
        }
        let inputs = self.sentences.iter().map(|&at| &task.examples[at].input);
        task.network.forward(inputs, Mode::Train { seed }, &mut self.activations);
        self.coefficients.reset(&self.activations);
        for number in 0..self.sentences.len() {
            let example = &task.examples[self.sentences[number]];
            self.score_arcs(number, example, task, objective)?;
            self.score_labels(number, example, objective, task.words);
            self.score_tags(number, example, task.words);
        }
        task.network.backward(&mut self.activations, &self.coefficients, &mut self.gradients);
        Ok(())
    }

    fn score_arcs(
        &mut self,
        number: usize,
        example: &Example,
        task: &Task<'_>,
        objective: &Objective,
    ) -> Result<(), Error> {
        let words = example.heads.len();
        let places = words + 1;
        self.scores.reset(words, f64::NEG_INFINITY);
        let found = self.activations.arc_scores(number);
        for (head, modifier) in arcs(words) {
            self.scores[(head, modifier)] = f64::from(found[head * places + modifier]);
        }
        let scored = Scored {
            scores: &self.scores,
            gold: &example.heads,
            teacher: &example.teacher,
            tree_set: task.tree_set,
        };
        self.loss +=
            objective.evaluate(scored, task.progress, &mut self.scratch, &mut self.arc_gradient)?;
        let coefficients = self.coefficients.arcs_mut(number);
        for (head, modifier) in arcs(words) {
            coefficients[head * places + modifier] =
                (self.arc_gradient[(head, modifier)] / task.words) as f32;
        }
        Ok(())
    }

    /// Scores the labels of gold arcs, or of all arcs that a teacher gives.
    fn score_labels(
        &mut self,
        number: usize,
        example: &Example,
        objective: &Objective,
        words: f64,
    ) {
        if objective.has_distil() && !example.teacher.is_empty() {
            for soft in &example.teacher {
                let Some(label) = soft.label else { continue };
                let arc = (soft.head, soft.modifier);
                self.add_label(number, arc, label, soft.probability as f32, words);
            }
            return;
        }
        let gold = (1..).zip(&example.heads).zip(&example.labels);
        let gold = gold.filter_map(|((word, head), label)| Some((((*head)?, word), (*label)?)));
        for (arc, label) in gold {
            self.add_label(number, arc, label, 1.0, words);
        }
    }

    fn add_label(
        &mut self,
        number: usize,
        arc: (usize, usize),
        label: usize,
        factor: f32,
        words: f64,
    ) {
        self.activations.label_scores(number, &[arc], &mut self.label_scores);
        let sum = tutte_linear::log_sum(&self.label_scores);
        self.label_scores.iter_mut().for_each(|score| *score -= sum);
        self.loss += self.add_class(label, factor, words);
        self.coefficients.add_labels(number, arc, &self.gradient);
    }

    /// Computes the gradient of −log p of a class from the log-probabilities in `label_scores`; returns the loss.
    fn add_class(&mut self, class: usize, factor: f32, words: f64) -> f64 {
        self.target.clear();
        self.target.resize(self.label_scores.len(), 0.0);
        self.target[class] = factor;
        self.gradient.resize(self.label_scores.len(), 0.0);
        let loss = cross_entropy(&self.label_scores, &self.target, &mut self.gradient);
        self.gradient.iter_mut().for_each(|derivative| *derivative /= words as f32);
        loss
    }

    fn score_tags(&mut self, number: usize, example: &Example, words: f64) {
        for (head, classes) in example.tags.iter().enumerate() {
            let width = self.activations.tag_log_probs(number, head).len() / classes.len().max(1);
            for (word, class) in classes.iter().enumerate() {
                let Some(class) = *class else { continue };
                let log_probs = self.activations.tag_log_probs(number, head);
                self.label_scores.clear();
                self.label_scores.extend_from_slice(&log_probs[word * width..][..width]);
                self.loss += self.add_class(class, TAG_FACTOR, words);
                self.coefficients.tags_mut(number, head)[word * width..][..width]
                    .copy_from_slice(&self.gradient);
            }
        }
    }
}
