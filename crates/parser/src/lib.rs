//! Dependency parsing with exact probabilities: features, models, learners.
//!
//! ```
//! use tutte::{TrainingOptions, Parser, train};
//! use tutte_treebank::Sentence;
//!
//! let treebank: [Sentence; 1] = ["\
//! 1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
//! 2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
//! 3\tcats\tcat\tNOUN\t_\t_\t2\tobj\t_\t_
//! ".parse()?];
//! let options = TrainingOptions { bits: 16, label_bits: 10, ..TrainingOptions::default() };
//! let model = train(&treebank, &options, |pass, _| println!("{:.3}", pass.loss))?;
//!
//! let mut parser = Parser::new(&model);
//! let parse = parser.parse(&treebank[0])?; // the tree with the most arcs expected to be right
//! assert_eq!(parse.tree.heads(), [2, 0, 2]);
//! assert!(parse.head_probs[0] > 0.5); // and how sure the model is of each
//!
//! let distribution = parser.distribution(&treebank[0])?; // all labelled trees
//! assert!(distribution.entropy() < 3.0);
//! assert_eq!(distribution.alternatives(3, 1)?[0].label, "obj");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The doors
//!
//! - [`train()`] learns a [`Model`] from trees by any [`Optimizer`]; [`signal`] says what is wanted.
//!   [`train_resumable`] does so in several sittings.
//! - [`Parser`] parses one sentence, [`parse_stream`] many with several threads; [`Clock`] says where the
//!   time goes.
//! - [`LabelledDistribution`] is all the trees of a sentence and their probabilities, to be asked,
//!   conditioned and sampled; [`Parser::analyse`] gives it beside the best tree, given what is known
//!   ([`KeepColumns`]) of the sentence, and [`Notes`] writes it into the sentence.
//! - [`ask`]: which words somebody should annotate next; [`train()`] learns from partial trees.
//! - [`Calibrator`] makes probabilities as high as they are right, and knows which threshold keeps heads that
//!   are right so often as is asked ([`PrecisionTable`]).
//! - [`audit`] ranks the arcs of a treebank by how much they surprise models that have not seen them.
//! - [`weak`]: a parser from rules and raw text, from a few trees, or from both.
//! - [`Model::compact`], [`ModelFile`] and [`About`]: models as files.
//! - [`text`]: sentences and words of raw text, by a treebank or by Unicode, and their tags.
//! - [`Pipeline`]: raw text in, sentences with tags and trees out, by all parts of a model.
//! - [`rules`]: what a linguist knows, as text, and the arcs that match it.
//! - [`features`]: what models look at, as text; [`Dictionary`]: features by their names.
//!
//! # References
//!
//! - R. McDonald, K. Crammer, F. Pereira (2005). Online large-margin training of dependency parsers.
//! - T. Koo, A. Globerson, X. Carreras, M. Collins (2007). Structured prediction models via the
//!   matrix-tree theorem.
//! - D. Smith, N. Smith (2007). Probabilistic models of nonprojective dependency trees.
//! - L.-M. Nguyen, A. Shimazu, P.-T. Nguyen, X.-H. Phan (2007). A multilingual dependency analysis
//!   system using online passive-aggressive learning.
// Denied, not forbidden: `mapped.rs` holds the one exception.
#![deny(unsafe_code)]
// Much of what models offer is used by learning alone.
#![cfg_attr(not(feature = "train"), allow(dead_code, unused_imports))]

pub mod annotate;
mod error;
pub mod features;
#[cfg(feature = "train")]
pub mod learn;
mod model;
mod parse;

pub use tutte_linear::{Cell, Compact, Weights};
#[cfg(feature = "train")]
pub use tutte_rules as rules;
pub use tutte_text as text;
pub use tutte_treebank as treebank;
pub use tutte_treebank::Sentence;
pub use tutte_trees as trees;
pub use tutte_trees::{ArcMatrix, Candidates, Constraints, Tree, TreeSet};

pub use annotate::active as ask;
#[cfg(feature = "train")]
pub use annotate::audit;
pub use error::{CheckpointProblem, Contradiction, Error, ModelProblem};
pub use features::TransitionParse;
pub use features::index::{Dictionary, Index, Name, Names, Support};
#[cfg(feature = "train")]
pub use learn::{
    Calibrator, Checkpoint, CheckpointPlace, Checkpoints, Comparison, FirstPassOptions,
    LabelOptions, Optimizer, Pass, PrunerOptions, SecondPassOptions, Snapshot, TrainingOptions,
    TransitionOptions, Verdict, train, train_further, train_resumable, weak,
};
pub use model::latent;
pub use model::{
    About, ArcModel, Calibration, DevScores, Isotonic, Kept, LabelModel, Labelling, Method, Model,
    ModelFile, ParserModel, PrecisionTable, Pruner, PrunerMemory, SecondPass, TransitionParser,
};
pub use parse::{
    Alternative, Analysis, Annotator, Certainty, Clock, Decoding, KeepColumns,
    LONGEST_DISTRIBUTION, LONGEST_WHOLE, LabelledDistribution, Limits, Mixture, Notes, Parse,
    Parser, Pieces, Pipeline, RankedTree, Readings, Stage, Tags, Thresholds, Times, TreeScore,
    Trees, check_heads, map_stream, parse_stream,
};
