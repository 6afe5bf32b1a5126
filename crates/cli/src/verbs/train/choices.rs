//! Choices of the command line, and their values in the library.

use clap::ValueEnum;
use tutte::learn::{Part, Preset, TagVersions};

/// Value of `--preset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PresetArg {
    Fast,
    Compact,
    Default,
    Plain,
}

impl From<PresetArg> for Preset {
    fn from(preset: PresetArg) -> Self {
        match preset {
            PresetArg::Fast => Preset::Fast,
            PresetArg::Compact => Preset::Compact,
            PresetArg::Default => Preset::Default,
            PresetArg::Plain => Preset::Plain,
        }
    }
}

/// Value of `--with`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PartArg {
    Tokenizer,
    Tagger,
    Parser,
}

impl From<PartArg> for Part {
    fn from(part: PartArg) -> Self {
        match part {
            PartArg::Tokenizer => Part::Tokenizer,
            PartArg::Tagger => Part::Tagger,
            PartArg::Parser => Part::Parser,
        }
    }
}

/// Value of `--tags`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TagsArg {
    Jackknife,
    Gold,
}

impl From<TagsArg> for TagVersions {
    fn from(tags: TagsArg) -> Self {
        match tags {
            TagsArg::Jackknife => TagVersions::Jackknifed,
            TagsArg::Gold => TagVersions::Gold,
        }
    }
}
