//! Arguments of `tutte train` for networks.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use tutte::learn::Recipe;
#[cfg(feature = "neural")]
use tutte::learn::network::{EncoderSource, NetworkTraining};
use tutte::learn::objective::Objective;

use crate::failure::advise;
#[cfg(feature = "neural")]
use crate::input::read_rules;
use crate::session::Session;

/// Arguments for networks.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network")]
pub(super) struct NetworkArgs {
    /// Train a network over an encoder: a folder with config.json, tokenizer.json and model.safetensors, or scratch
    ///
    /// A network replaces features. It is more accurate where a pretrained encoder exists, and many times slower.
    /// scratch is a small encoder that starts from random weights. Needs a program built with --features neural.
    #[arg(long, value_name = "DIR|scratch")]
    #[arg(conflicts_with_all = ["preset", "clusters", "templates", "bits", "pruning", "labels", "tags", "factors", "factor_iterations"])]
    encoder: Option<PathBuf>,

    /// Train features, too, and add the scores of both; DEV decides their weights
    ///
    /// It takes the time of two trainings. `tutte calibrate --with-features` joins two models that are trained already.
    #[arg(long, requires = "encoder")]
    with_features: bool,

    /// Keep the weights of the encoder; faster to train, less accurate
    #[arg(long, requires = "encoder")]
    frozen_encoder: bool,

    /// Leave the encoder out of MODEL, which names its folder and has a hash of it
    ///
    /// MODEL is small, and several models share one encoder. The folder, or a link to it, must be beside MODEL, here and
    /// wherever MODEL is used.
    #[arg(long, requires = "frozen_encoder")]
    encoder_outside: bool,

    /// Objective of arcs: likelihood (of whole trees), softmax (of each word apart), softmax-margin(COST), risk(GAMMA),
    /// decoded-risk(TEMPERATURE), brier, entropy, renyi(ORDER), distil, or a sum such as likelihood+0.1*entropy [default:
    /// likelihood]
    #[arg(long, value_name = "OBJECTIVE", requires = "encoder")]
    objective: Option<Objective>,

    /// Rules for the sentences of TRAIN without heads, as in `tutte learn`
    ///
    /// The network learns from trees and rules together, or from rules alone.
    #[arg(long, value_name = "RULES", requires = "encoder", conflicts_with = "with_features")]
    rules: Option<PathBuf>,

    /// Weight of the rules: with 1, their losses together count as much as the mean loss per word [default: 1]
    #[arg(long, value_name = "WEIGHT", requires = "rules")]
    rules_weight: Option<f64>,

    /// Number of sub-words of a batch [default: 1000]
    #[arg(long, value_name = "N", requires = "encoder")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    batch: Option<u32>,

    /// Number of batches per step, whose gradients are added: N small batches instead of a large one save memory
    /// [default: 1]
    #[arg(long, value_name = "N", requires = "encoder")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    accumulate: Option<u32>,

    /// Make batches of sentences of similar length
    #[arg(long, requires = "encoder")]
    sort_by_length: bool,

    /// Learning rate of the encoder [default: 2e-4; 1e-3 with --encoder scratch]
    #[arg(long, value_name = "RATE", requires = "encoder")]
    encoder_rate: Option<f32>,

    /// Learning rate of everything above the encoder [default: 1e-3]
    #[arg(long, value_name = "RATE", requires = "encoder")]
    rate: Option<f32>,

    /// Factor of the rate from one layer of the encoder to the one below [default: 1]
    #[arg(long, value_name = "FACTOR", requires = "encoder")]
    layer_decay: Option<f32>,

    /// Number of steps in which rates rise, at most a tenth of all [default: 200]
    #[arg(long, value_name = "STEPS", requires = "encoder")]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=10_000_000))]
    warm_up: Option<u32>,

    /// Dropout above the encoder [default: 0.33]
    #[arg(long, value_name = "SHARE", requires = "encoder")]
    dropout: Option<f32>,

    /// Keep a moving average of the weights with this decay, such as 0.998 [default: the weights themselves]
    #[arg(long, value_name = "DECAY", requires = "encoder")]
    average: Option<f32>,
}

/// Value of `--encoder` that is not a folder.
const SCRATCH: &str = "scratch";

/// Files that are read from the folder of an encoder.
const FILES: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];

impl NetworkArgs {
    /// Returns the folder of the pretrained encoder, if there is one.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.encoder.as_deref().filter(|folder| *folder != Path::new(SCRATCH))
    }

    /// Returns the file of rules.
    pub(super) fn rules(&self) -> Option<&PathBuf> {
        self.rules.as_ref()
    }

    /// Returns the files of the pretrained encoder.
    pub(super) fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.folder().into_iter().flat_map(|folder| FILES.map(|name| folder.join(name)))
    }

    /// Checks that an encoder outside of the model will be found, before the training starts.
    #[cfg(feature = "neural")]
    fn check_place(&self, output: &Path) -> Result<()> {
        let Some(folder) = self.folder().filter(|_| self.encoder_outside) else { return Ok(()) };
        let beside = output.parent().zip(folder.file_name()).map(|(place, name)| place.join(name));
        let real = |path: &Path| path.canonicalize().ok();
        match beside {
            Some(beside) if real(&beside).is_some() && real(&beside) == real(folder) => Ok(()),
            _ => Err(advise(
                anyhow::anyhow!(
                    "with --encoder-outside, the encoder must be beside {}: the model names it without a path",
                    output.display()
                ),
                format!("make a link in the folder of the model: `ln -s {}`", folder.display()),
            )),
        }
    }

    /// Adds the network to a recipe, whose model goes to `output`.
    #[cfg(feature = "neural")]
    pub(super) fn add_to(
        &self,
        recipe: Recipe,
        output: &Path,
        session: &Session,
    ) -> Result<Recipe> {
        self.check_place(output)?;
        let Some(encoder) = &self.encoder else { return Ok(recipe) };
        let encoder = if encoder.as_os_str() == SCRATCH {
            EncoderSource::Scratch
        } else {
            EncoderSource::Folder(encoder.clone())
        };
        let mut training =
            NetworkTraining::of_encoder(&encoder).with_frozen_encoder(self.frozen_encoder);
        training = training.with_encoder_outside(self.encoder_outside);
        if let Some(objective) = &self.objective {
            training = training.with_objective(objective.clone());
        }
        if let Some(rules) = &self.rules {
            training = training.with_rules(read_rules(rules, session)?);
        }
        if let Some(weight) = self.rules_weight {
            training = training.with_rules_weight(weight);
        }
        if let Some(batch) = self.batch {
            training = training.with_batch(batch as usize);
        }
        if let Some(batches) = self.accumulate {
            training = training.with_accumulated_batches(batches as usize);
        }
        training = training.with_sorted_batches(self.sort_by_length);
        if let Some(rate) = self.encoder_rate {
            training = training.with_encoder_rate(rate);
        }
        if let Some(rate) = self.rate {
            training = training.with_rate(rate);
        }
        if let Some(factor) = self.layer_decay {
            training = training.with_layer_decay(factor);
        }
        if let Some(steps) = self.warm_up {
            training = training.with_warmup(steps as usize);
        }
        if let Some(dropout) = self.dropout {
            training = training.with_dropout(dropout);
        }
        if let Some(decay) = self.average {
            training = training.with_average(decay);
        }
        let recipe = recipe.with_encoder(encoder).with_network_training(training);
        Ok(if self.with_features { recipe.with_features_too() } else { recipe })
    }

    /// Refuses an encoder, because this program has no networks.
    #[cfg(not(feature = "neural"))]
    pub(super) fn add_to(&self, recipe: Recipe, _: &Path, _: &Session) -> Result<Recipe> {
        if self.encoder.is_none() {
            return Ok(recipe);
        }
        let error =
            anyhow::anyhow!("--encoder needs networks, and this tutte was built without them");
        Err(advise(
            error,
            "`cargo install --path crates/cli --features neural` builds it with them",
        ))
    }
}
