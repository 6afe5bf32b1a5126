//! A part of a batch: scores of its sentences, the loss, and the gradient of the network.

use tutte_neural::{Activations, Coefficients, Gradients, Mode, Network, cross_entropy};
use tutte_trees::{ArcMatrix, TreeSet, arcs};

use super::examples::Example;
use super::rules::RuleScratch;
use crate::Error;
use crate::learn::objective::{Objective, Scored, Scratch};

/// Factor of the loss of tags.
const TAG_FACTOR: f32 = 0.3;

/// A network, and sentences that it scores.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) network: &'a Network,
    pub(super) examples: &'a [Example],
    pub(super) tree_set: TreeSet,
}

/// The loss of a step.
#[derive(Clone, Copy)]
pub(super) struct Goal<'a> {
    pub(super) objective: &'a Objective,
    pub(super) progress: f64,
    /// Number of words of all batches of the step.
    pub(super) words: f64,
    /// Derivatives of the loss of each rule.
    pub(super) slopes: &'a [f64],
}

/// A part of a batch, with the memory of a thread.
pub(super) struct Shard {
    pub(super) number: usize,
    pub(super) sentences: Vec<usize>,
    activations: Activations,
    coefficients: Coefficients,
    pub(super) gradients: Gradients,
    scratch: Scratch,
    rules: RuleScratch,
    /// Probability of each matched arc, sentence by sentence.
    pub(super) probs: Vec<f64>,
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
            rules: RuleScratch::default(),
            probs: Vec::new(),
            scores: ArcMatrix::default(),
            arc_gradient: ArcMatrix::default(),
            label_scores: Vec::new(),
            target: Vec::new(),
            gradient: Vec::new(),
            loss: 0.0,
        }
    }

    /// Sets gradients and loss to 0.
    pub(super) fn clear(&mut self) {
        self.gradients.clear();
        self.loss = 0.0;
    }

    /// Runs the network over the shard's sentences, and computes the probabilities of the arcs that rules match.
    pub(super) fn forward(&mut self, task: Task<'_>, mode: Mode) -> Result<(), Error> {
        self.probs.clear();
        if self.sentences.is_empty() {
            return Ok(());
        }
        let inputs = self.sentences.iter().map(|&at| &task.examples[at].input);
        task.network.forward(inputs, mode, &mut self.activations);
        for number in 0..self.sentences.len() {
            let example = &task.examples[self.sentences[number]];
            if !example.matches.is_empty() {
                self.read_scores(number, example);
                let Self { rules, scores, probs, .. } = self;
                rules.probs(&example.matches, scores, task.tree_set, probs)?;
            }
        }
        Ok(())
    }

    /// Adds the loss and the gradient of the sentences of the last [`forward`](Self::forward).
    pub(super) fn backward(&mut self, task: Task<'_>, goal: Goal<'_>) -> Result<(), Error> {
        if self.sentences.is_empty() {
            return Ok(());
        }
        self.coefficients.reset(&self.activations);
        for number in 0..self.sentences.len() {
            let example = &task.examples[self.sentences[number]];
            self.score_arcs(number, example, task.tree_set, goal)?;
            self.score_labels(number, example, goal.objective, goal.words);
            self.score_tags(number, example, goal.words);
        }
        task.network.backward(&mut self.activations, &self.coefficients, &mut self.gradients);
        Ok(())
    }

    /// Takes the scores of the arcs of a sentence from the network.
    fn read_scores(&mut self, number: usize, example: &Example) {
        let words = example.heads.len();
        let places = words + 1;
        self.scores.reset(words, f64::NEG_INFINITY);
        let found = self.activations.arc_scores(number);
        let is_allowed =
            |&(head, modifier): &(usize, usize)| example.candidates.allows(head, modifier);
        for (head, modifier) in arcs(words).filter(is_allowed) {
            self.scores[(head, modifier)] = f64::from(found[head * places + modifier]);
        }
    }

    fn score_arcs(
        &mut self,
        number: usize,
        example: &Example,
        tree_set: TreeSet,
        goal: Goal<'_>,
    ) -> Result<(), Error> {
        self.read_scores(number, example);
        let words = example.heads.len();
        let places = words + 1;
        let scored = Scored {
            scores: &self.scores,
            gold: &example.heads,
            teacher: &example.teacher,
            tree_set,
        };
        let Goal { objective, progress, slopes, .. } = goal;
        self.loss +=
            objective.evaluate(scored, progress, &mut self.scratch, &mut self.arc_gradient)?;
        if !example.matches.is_empty() {
            let Self { rules, scores, arc_gradient, .. } = self;
            rules.add_gradient(&example.matches, slopes, scores, tree_set, arc_gradient)?;
        }
        let coefficients = self.coefficients.arcs_mut(number);
        for (head, modifier) in arcs(words) {
            coefficients[head * places + modifier] =
                (self.arc_gradient[(head, modifier)] / goal.words) as f32;
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
