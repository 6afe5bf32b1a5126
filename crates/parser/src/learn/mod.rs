//! Learning: a treebank, rules or raw text in, a model out.
//!
//! [`train_pipeline`] is all of `tutte train` in one call. [`train`](train()) learns a parser alone, by any
//! [`Optimizer`] of any [`Objective`](objective::Objective); [`weak`] learns one from rules and raw text.

pub(crate) mod calibrate;
pub(crate) mod corpus;
mod dictionary;
pub mod objective;
pub mod optimizer;
pub mod recipe;
pub(crate) mod temperature;
pub(crate) mod train;
mod training_set;
pub(crate) mod transition;
pub mod weak;

pub use calibrate::{Calibrator, Comparison};
pub use optimizer::Optimizer;
pub use recipe::{
    Ending, Event, EventObserver, Part, PassReport, Preset, Recipe, Stage, TagVersions,
    TemperatureSource, Trained, TreeSetChoice, TreeSetComparison, Work, best_path, train_pipeline,
};
pub use train::{
    Checkpoint, CheckpointPlace, Checkpoints, FirstPassOptions, LabelOptions, Pass, PassObserver,
    PrunerOptions, SecondPassOptions, Snapshot, TrainedPass, TrainingOptions, TransitionOptions,
    train, train_further, train_resumable,
};
pub use training_set::TrainingSet;
pub use tutte_linear::{Observer, Reply};
