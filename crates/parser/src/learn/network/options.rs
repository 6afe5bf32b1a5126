//! Settings for training a network.

use std::sync::Arc;

use super::EncoderSource;
use crate::Error;
use crate::learn::objective::{Objective, distil, likelihood};
use crate::learn::train::Settings;
use crate::rules::RuleSet;

/// Settings for training a network, with one method for each.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkTraining {
    pub(super) epochs: usize,
    pub(super) batch: usize,
    pub(super) encoder_rate: f32,
    pub(super) rate: f32,
    pub(super) layer_decay: f32,
    pub(super) warmup: usize,
    pub(super) dropout: f32,
    pub(super) has_frozen_encoder: bool,
    pub(super) has_encoder_outside: bool,
    pub(super) average: Option<f32>,
    pub(super) objective: Objective,
    pub(super) rules: Option<Arc<RuleSet>>,
    pub(super) rules_weight: f64,
    pub(super) accumulated: usize,
    pub(super) is_sorted: bool,
    pub(super) seed: u64,
    pub(super) threads: usize,
}

impl Default for NetworkTraining {
    fn default() -> Self {
        Self {
            epochs: 10,
            batch: 1000,
            encoder_rate: 2e-4,
            rate: 1e-3,
            layer_decay: 1.0,
            warmup: 200,
            dropout: 0.33,
            has_frozen_encoder: false,
            has_encoder_outside: false,
            average: None,
            objective: likelihood(),
            rules: None,
            rules_weight: 1.0,
            accumulated: 1,
            is_sorted: false,
            seed: 1,
            threads: 1,
        }
    }
}

impl NetworkTraining {
    /// Returns the default settings, which suit pretrained encoders.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns settings for encoders that start from random weights.
    pub fn scratch() -> Self {
        Self { epochs: 20, encoder_rate: 1e-3, rate: 1e-3, ..Self::default() }
    }

    /// Returns the usual settings for an encoder: [`new`](Self::new) or [`scratch`](Self::scratch).
    pub fn of_encoder(encoder: &EncoderSource) -> Self {
        match encoder {
            EncoderSource::Folder(_) => Self::new(),
            EncoderSource::Scratch => Self::scratch(),
        }
    }

    /// Sets the number of passes over the treebank.
    pub fn with_epochs(self, epochs: usize) -> Self {
        Self { epochs, ..self }
    }

    /// Returns the number of passes over the treebank.
    pub fn epochs(&self) -> usize {
        self.epochs
    }

    /// Sets the number of sub-words of a batch.
    pub fn with_batch(self, batch: usize) -> Self {
        Self { batch, ..self }
    }

    /// Sets the number of batches whose gradients are added before a step. Memory is that of one batch, so small batches
    /// learn as large ones do in less memory. The model is not the same as with larger batches: sentences are divided in
    /// another way.
    pub fn with_accumulated_batches(self, accumulated: usize) -> Self {
        Self { accumulated, ..self }
    }

    /// Makes batches of sentences of similar length. Their order is random.
    pub fn with_sorted_batches(self, is_sorted: bool) -> Self {
        Self { is_sorted, ..self }
    }

    /// Sets the rates of the encoder and of everything above it.
    pub fn with_rates(self, encoder_rate: f32, rate: f32) -> Self {
        Self { encoder_rate, rate, ..self }
    }

    /// Sets the rate of the encoder.
    pub fn with_encoder_rate(self, encoder_rate: f32) -> Self {
        Self { encoder_rate, ..self }
    }

    /// Sets the rate of everything above the encoder.
    pub fn with_rate(self, rate: f32) -> Self {
        Self { rate, ..self }
    }

    /// Sets the factor of the rate from one layer of the encoder to the one below. Below 1, layers near the words
    /// change less.
    pub fn with_layer_decay(self, layer_decay: f32) -> Self {
        Self { layer_decay, ..self }
    }

    /// Sets the number of steps in which the rates rise.
    pub fn with_warmup(self, warmup: usize) -> Self {
        Self { warmup, ..self }
    }

    /// Sets the dropout above the encoder.
    pub fn with_dropout(self, dropout: f32) -> Self {
        Self { dropout, ..self }
    }

    /// Keeps the weights of the encoder.
    pub fn with_frozen_encoder(self, has_frozen_encoder: bool) -> Self {
        Self { has_frozen_encoder, ..self }
    }

    /// Leaves the encoder out of model files, see [`NetworkScorer::with_encoder_outside`]. Needs a frozen pretrained encoder.
    ///
    /// [`NetworkScorer::with_encoder_outside`]: crate::NetworkScorer::with_encoder_outside
    pub fn with_encoder_outside(self, has_encoder_outside: bool) -> Self {
        Self { has_encoder_outside, ..self }
    }

    /// Evaluates and keeps an exponential moving average of the weights with this decay, such as 0.998, in place of the
    /// weights themselves. See [`WeightAverage`](tutte_neural::WeightAverage).
    pub fn with_average(self, decay: f32) -> Self {
        Self { average: Some(decay), ..self }
    }

    /// Sets the objective of arcs. Labels and tags are softmax classifiers in any case. With
    /// [`distil`](crate::learn::objective::distil), the labels of a sentence with a teacher are those of the teacher.
    pub fn with_objective(self, objective: Objective) -> Self {
        Self { objective, ..self }
    }

    /// Adds the term [`distil`] to the objective, unless it has it: sentences with a teacher learn from its distribution.
    pub fn learning_from_teachers(self) -> Self {
        let objective = self.objective.clone();
        let has_distil = objective.has_distil();
        Self { objective: if has_distil { objective } else { objective + distil() }, ..self }
    }

    /// Adds the loss of rules to the objective: the expectations of arcs in the sentences without heads
    /// ([`expectation`](crate::learn::objective::expectation)). The sum of the losses of rules counts as much as the mean
    /// loss per word of everything else, times [a weight](Self::with_rules_weight). Rules with `always` or `never` become
    /// part of the parser.
    pub fn with_rules(self, rules: RuleSet) -> Self {
        Self { rules: Some(Arc::new(rules)), ..self }
    }

    /// Sets the weight of all rules.
    pub fn with_rules_weight(self, rules_weight: f64) -> Self {
        Self { rules_weight, ..self }
    }

    /// Returns `true` if the training has rules.
    pub(in crate::learn) fn has_rules(&self) -> bool {
        self.rules.is_some()
    }

    /// Sets the seed of all random choices.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the number of threads, which does not change the result. More than four are not used.
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }
}

impl NetworkTraining {
    /// Refuses settings that cannot be.
    pub(super) fn check(&self) -> Result<(), Error> {
        let positive = |name: &str, value: f32| {
            let is_fine = value.is_finite() && value > 0.0;
            (!is_fine).then(|| format!("{name} is {value}; it must be a positive number"))
        };
        let share = |name: &str, value: f32| {
            let is_fine = (0.0..1.0).contains(&value);
            (!is_fine).then(|| format!("{name} is {value}; it must be at least 0 and below 1"))
        };
        let problem = self
            .objective
            .problem()
            .or_else(|| {
                (self.epochs == 0).then(|| "a training needs at least one epoch".to_owned())
            })
            .or_else(|| (self.batch == 0).then(|| "a batch needs at least one sub-word".to_owned()))
            .or_else(|| {
                (self.accumulated == 0).then(|| "a step needs at least one batch".to_owned())
            })
            .or_else(|| {
                let weight = self.rules_weight;
                let is_fine = weight.is_finite() && weight >= 0.0;
                (!is_fine).then(|| format!("the weight of rules is {weight}; it must be 0 or more"))
            })
            .or_else(|| {
                (self.has_encoder_outside && !self.has_frozen_encoder).then(|| {
                    "an encoder that training changes cannot be outside of the model; freeze it"
                        .to_owned()
                })
            })
            .or_else(|| positive("the rate of the encoder", self.encoder_rate))
            .or_else(|| positive("the rate", self.rate))
            .or_else(|| positive("the factor of the rate per layer", self.layer_decay))
            .or_else(|| share("dropout", self.dropout))
            .or_else(|| share("the decay of the average", self.average.unwrap_or(0.0)));
        problem.map_or(Ok(()), |problem| Err(Error::Setting(problem)))
    }

    /// Returns all settings that decide the bits of the model, by name. The number of threads does not.
    pub(in crate::learn) fn settings(&self) -> Settings {
        // All by name, so that the compiler asks about every new option.
        let Self {
            epochs,
            batch,
            encoder_rate,
            rate,
            layer_decay,
            warmup,
            dropout,
            has_frozen_encoder,
            has_encoder_outside,
            average,
            objective,
            rules,
            rules_weight,
            accumulated,
            is_sorted,
            seed: _,
            threads: _,
        } = self;
        let mut settings: Settings = [
            ("epochs", epochs.to_string()),
            ("sub-words per batch", batch.to_string()),
            ("rate of the encoder", encoder_rate.to_string()),
            ("rate", rate.to_string()),
            ("factor of the rate per layer", layer_decay.to_string()),
            ("steps of warm-up", warmup.to_string()),
            ("dropout", dropout.to_string()),
            ("frozen encoder", has_frozen_encoder.to_string()),
            ("average of weights", average.map_or("none".to_owned(), |decay| decay.to_string())),
            ("objective", objective.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        let mut add = |name: &str, value: String| settings.push((name.to_owned(), value));
        if *has_encoder_outside {
            add("encoder outside", "true".to_owned());
        }
        if *accumulated > 1 {
            add("batches per step", accumulated.to_string());
        }
        if *is_sorted {
            add("batches by length", "true".to_owned());
        }
        if let Some(rules) = rules {
            add("weight of rules", rules_weight.to_string());
            for rule in rules.rules() {
                add(&format!("rule {}", rule.name), rule.to_string());
            }
        }
        settings
    }

    /// Returns the encoder and the settings, for the description of a model.
    pub(in crate::learn) fn described(&self, encoder: &EncoderSource) -> Settings {
        let name = match encoder {
            EncoderSource::Folder(folder) => {
                folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
            }
            EncoderSource::Scratch => "scratch".to_owned(),
        };
        let mut described = vec![("encoder".to_owned(), name)];
        described.extend(self.settings());
        described
    }
}
