//! Source of tags, and number of their readings.

use anyhow::{Result, anyhow};
use clap::{Args, ValueEnum};
use serde::Serialize;
use tutte::{Compact, Model, Pipeline, TagSource};

use crate::failure::advise;

/// Options of tagging, flattened into the arguments of verbs. Serialised, they are part of what decides the output.
#[derive(Args, Clone, Copy, Debug, Serialize)]
pub(crate) struct TagOptions {
    /// Source of tags and lemmas
    #[arg(long, value_name = "SOURCE", default_value = "auto")]
    tags: Whose,

    /// Number of tag sequences to average over, for sentences that the model tags
    ///
    /// Probabilities are averaged over the K most probable tag sequences; improbable ones are left out. Trees of
    /// --kbest, --sample and --decode map come from the same average.
    #[arg(long, value_name = "K", default_value_t = 4, hide_short_help = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=100))]
    tag_uncertainty: u16,
}

/// Source of tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum Whose {
    /// The file; sentences without tags are tagged by the model
    Auto,
    /// The file, even for sentences without tags
    File,
    /// The model's tagger
    Model,
}

impl TagOptions {
    /// Refuses options that a model, of this name, does not support.
    pub(crate) fn check(&self, model: &Model<Compact>, name: &str) -> Result<()> {
        if self.tags == Whose::Model && !model.finds_tags() {
            let error = anyhow!("{name} has no tagger");
            return Err(advise(error, "`tutte train TRAIN -o MODEL` learns one with the parser"));
        }
        Ok(())
    }

    /// Makes a pipeline with these options.
    pub(crate) fn of<'a>(&self, model: &'a Model<Compact>) -> Pipeline<'a> {
        let tags = match self.tags {
            Whose::Auto => TagSource::Auto,
            Whose::File => TagSource::Given,
            Whose::Model => TagSource::Model,
        };
        Pipeline::new(model).with_tags(tags).with_readings(self.tag_uncertainty.into())
    }
}
