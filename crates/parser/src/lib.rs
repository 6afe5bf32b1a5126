//! Dependency parsing with exact probabilities.
//!
//! ```
//! use tutte::learn::TrainedPass;
//! use tutte::{TrainingOptions, Parser, train};
//! use tutte_treebank::Sentence;
//!
//! let treebank: [Sentence; 1] = ["\
//! 1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
//! 2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
//! 3\tcats\tcat\tNOUN\t_\t_\t2\tobj\t_\t_
//! ".parse()?];
//! let options = TrainingOptions::default().with_bits(16).with_label_bits(10);
//! let model = train(&treebank, &options, &mut |event: TrainedPass<'_>| println!("{:.3}", event.pass.loss))?;
//!
//! let mut parser = Parser::new(&model);
//! let parse = parser.parse(&treebank[0])?; // the tree with the most arcs expected to be right
//! assert_eq!(parse.tree.heads(), [2, 0, 2]);
//! assert!(parse.head_probs[0] > 0.5); // the probability of each head
//!
//! let distribution = parser.distribution(&treebank[0])?; // all labelled trees
//! assert!(distribution.entropy() < 3.0);
//! assert_eq!(distribution.alternatives(3, 1)?[0].label, "obj");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Contents
//!
//! Parse:
//! - [`Pipeline`]: raw text in, sentences with tags and trees out, by all parts of a [`Model`].
//! - [`Parser`]: one sentence at a time; [`parse_stream`]: many, on several threads; [`Clock`]: the time of each
//!   stage.
//! - [`LabelledDistribution`]: all trees of a sentence and their probabilities, to query, condition and sample.
//!   [`Parser::analyse`] returns it beside the best tree, given constraints ([`KeepColumns`]).
//! - [`Annotation`]: the result for one sentence, from which all outputs are written.
//! - [`ModelFile`], [`About`]: models as files.
//!
//! Learn (feature `train`):
//! - [`learn::train_pipeline`]: all of `tutte train` in one call.
//! - [`train()`]: a parser from trees, whole or partial, by any [`Optimizer`] of any [`learn::objective`];
//!   [`train_resumable`] can be interrupted.
//! - [`weak`]: a parser from [`rules`] and raw text, from a few trees, or from both.
//! - [`Calibrator`]: calibrated probabilities, and the threshold that reaches a precision ([`PrecisionTable`]).
//!
//! Annotate:
//! - [`active`]: the words to annotate next; [`audit`]: the arcs of a treebank that look wrong.
//!
//! Parts: [`features`] (templates as text), [`text`] (tokenizer, tagger), [`rules`], [`treebank`], [`trees`].
//!
//! # References
//!
//! - R. McDonald, K. Crammer, F. Pereira (2005). Online large-margin training of dependency parsers.
//! - T. Koo, A. Globerson, X. Carreras, M. Collins (2007). Structured prediction models via the
//!   matrix-tree theorem.
//! - D. Smith, N. Smith (2007). Probabilistic models of nonprojective dependency trees.
//! - L.-M. Nguyen, A. Shimazu, P.-T. Nguyen, X.-H. Phan (2007). A multilingual dependency analysis
//!   system using online passive-aggressive learning.
#![forbid(unsafe_code)]
// Much of the code of models is used by learning only.
#![cfg_attr(not(feature = "train"), allow(dead_code, unused_imports))]

pub mod annotate;
mod error;
pub mod features;
#[cfg(feature = "train")]
pub mod learn;
mod model;
mod parse;

pub use tutte_linear::{Cell, Compact, Rounding, Weights};
pub use tutte_rules as rules;
pub use tutte_text as text;
pub use tutte_treebank as treebank;
pub use tutte_treebank::Sentence;
pub use tutte_trees as trees;
pub use tutte_trees::{
    ArcMatrix, Candidates, Constraints, MomentMatch, MomentOptions, Tree, TreeSet, fit_marginals,
};

pub use annotate::active;
#[cfg(feature = "train")]
pub use annotate::audit;
pub use error::{CheckpointProblem, Contradiction, Error, MemoryCause, ModelProblem};
pub use features::TransitionParse;
pub use features::index::{Dictionary, Index, Name, Names, Support};
#[cfg(feature = "train")]
pub use learn::{
    Calibrator, Checkpoint, CheckpointPlace, Checkpoints, Comparison, FactorOptions,
    FirstPassOptions, LabelOptions, Optimizer, Pass, PrunerOptions, SecondPassOptions, Snapshot,
    TrainingOptions, TransitionOptions, train, train_further, train_resumable, weak,
};
pub use model::latent;
pub use model::{
    About, ArcModel, Calibration, DevScores, FactorModel, Isotonic, KeptHeads, LabelModel,
    Labelling, Method, Model, ModelFile, NetworkScorer, ParserModel, PrecisionTable, Pruner,
    ScoreWeights, ScorerWeights, SecondPass, TagClasses, TextCalibration, TransitionParser,
    WordSource,
};
pub use parse::{
    Alternative, Analysis, AnnotatedWord, Annotation, AnnotationOptions, Annotator, BATCH_WORDS,
    BatchWorker, Clock, Decoding, Detail, Familiarity, KeepColumns, LONGEST_DISTRIBUTION,
    LONGEST_WHOLE, LabelLimits, LabelledDistribution, Limits, Listed, LongSentenceParse, Mixture,
    NearestDistribution, Parse, Parser, Pipeline, RankedTree, ReadingDistributions, Repair, Stage,
    TagReadings, TagSource, Times, TreeScore, Unfamiliar, check_heads, map_batches, map_stream,
    parse_stream,
};
