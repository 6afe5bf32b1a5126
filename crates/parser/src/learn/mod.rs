//! Learning: a treebank, rules or raw text in, a model out.
//!
//! [`train_pipeline`] is all of `tutte train` in one call. [`train`](train()) learns a parser alone, by any
//! [`Optimizer`] of any [`Objective`](objective::Objective); [`weak`] learns one from rules and raw text. An
//! [`Observer`] sees every pass, and can stop the training:
//!
//! ```
//! # let text = "1\tTea\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\t_\tVERB\t_\t_\t0\troot\t_\t_\n";
//! # let treebank: Vec<tutte_treebank::Sentence> = vec![text.parse()?, text.parse()?];
//! use tutte::learn::TrainedPass;
//! use tutte::{TrainingOptions, train};
//!
//! let options = TrainingOptions::plain().with_bits(12).with_passes(3);
//! let mut losses = Vec::new();
//! train(&treebank, &options, &mut |event: TrainedPass<'_>| losses.push(event.pass.loss))?;
//! assert_eq!(losses.len(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod annealing;
pub(crate) mod calibrate;
pub(crate) mod corpus;
mod dictionary;
mod distillation;
pub mod experts;

#[cfg(feature = "neural")]
mod mix;
#[cfg(feature = "neural")]
pub mod network;
pub mod objective;
pub mod optimizer;
pub mod recipe;
pub(crate) mod teacher;
pub(crate) mod temperature;
pub(crate) mod train;
mod training_set;
pub(crate) mod transition;
pub mod weak;

pub use annealing::{AnnealedStage, Annealing, Cooling, Quench};
pub use calibrate::{Calibrator, Comparison};
pub use distillation::{Coverage, TeacherOptions, answer};
#[cfg(feature = "neural")]
pub use mix::{FactorWeight, Mixed, TagAccuracy, mix};
pub use optimizer::Optimizer;
pub use recipe::{
    Ending, Event, EventObserver, Part, PassReport, Preset, Recipe, Stage, TagVersions,
    TemperatureSource, Trained, TreeSetChoice, TreeSetComparison, Work, best_path, train_pipeline,
};
pub use teacher::{SoftArc, TEACHER, has_answers, write_answers};
pub use train::{
    Checkpoint, CheckpointPlace, Checkpoints, FactorOptions, FirstPassOptions, LabelOptions, Pass,
    PassObserver, PrunerOptions, SecondPassOptions, Snapshot, TrainedPass, TrainingOptions,
    TransitionOptions, train, train_further, train_resumable,
};
pub use training_set::TrainingSet;
pub use tutte_linear::{Observer, Reply};
