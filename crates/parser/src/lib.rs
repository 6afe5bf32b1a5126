//! Dependency parsing with exact probabilities: features, models, learners.
//!
//! ```
//! use tutte::{Options, Parser, train};
//! use tutte_treebank::Sentence;
//!
//! let treebank: [Sentence; 1] = ["\
//! 1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
//! 2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
//! 3\tcats\tcat\tNOUN\t_\t_\t2\tobj\t_\t_
//! ".parse()?];
//! let options = Options { bits: 16, label_bits: 10, ..Options::default() };
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
//! - [`train()`] learns a [`Model`] from trees by any [`Learner`]; [`signal`] says what is wanted.
//!   [`train_resumable`] does so in several sittings.
//! - [`Parser`] parses one sentence, [`parse_stream`] many with several threads; [`Clock`] says where the
//!   time goes.
//! - [`LabelledDistribution`] is all the trees of a sentence and their probabilities, to be asked,
//!   conditioned and sampled; [`Parser::analyse`] gives it beside the best tree, given what is known
//!   ([`Keep`]) of the sentence, and [`Notes`] writes it into the sentence.
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

mod arcs;
pub mod ask;
pub mod audit;
mod batch;
mod calibration;
mod candidates;
mod clock;
mod decoding;
mod distribution;
mod error;
pub mod features;
mod guided;
mod index;
mod judge;
mod known;
mod labels;
pub mod learner;
mod log_sum;
mod mapped;
mod mixture;
mod model;
mod notes;
mod parser;
mod pieces;
mod pipeline;
mod pruner;
pub mod rules;
mod shifter;
pub mod signal;
mod tape;
mod temperature;
pub mod text;
mod train;
pub mod weak;
mod weights;

pub use arcs::ArcModel;
pub use batch::{map_stream, parse_stream};
pub use calibration::{
    Calibration, Calibrator, Comparison, Isotonic, Kept, Method, PrecisionTable,
};
pub use candidates::Candidates;
pub use clock::{Clock, Stage, Times};
pub use decoding::Decoding;
pub use distribution::{Alternative, LabelledDistribution, RankedTree};
pub use error::{CheckpointProblem, Contradiction, Error, ModelProblem};
pub use guided::Guided;
pub use index::{Dictionary, Index, Name, Names, Support};
pub use judge::Judgement;
pub use known::{Keep, check_heads};
pub use labels::{LabelModel, Labelling};
pub use learner::Learner;
pub use mixture::Mixture;
pub use model::{About, DevScores, Model, ModelFile};
pub use notes::{Certainty, Notes};
pub use parser::{Analysis, Parse, Parser};
pub use pieces::{LONGEST_DISTRIBUTION, LONGEST_WHOLE, Limits, Pieces, Thresholds};
pub use pipeline::{Annotator, Pipeline, Readings, Tags, Trees};
pub use pruner::{Pruner, PrunerMemory};
pub use shifter::{Opinion, Shifter};
pub use train::{
    Checkpoint, Checkpoints, FirstPass, LabelOptions, Options, Pass, Place, Pruning, SecondPass,
    Shifting, Snapshot, Verdict, train, train_further, train_resumable,
};
pub use weights::{Cell, Compact, Weights};
