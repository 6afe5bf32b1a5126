//! The kit that every linear model of tutte is built from.
//!
//! A linear model is a table of weights, a hash that leads from a feature to its cell, and a rule that
//! moves weights. This crate holds those parts and the tools that training needs around them. Features
//! themselves belong to the parser, the tagger and the tokenizer.
//!
//! ```
//! use tutte_linear::{BinaryLearner, Compact, Hash, score};
//!
//! // Two features, told apart by one of them: a coin that lands on its marked side.
//! let [marked, coin] = [1, 2].map(|feature| Hash::of(feature).feature());
//! let mut learner = BinaryLearner::new(10, 0.5);
//! for _ in 0..100 {
//!     learner.learn(&[marked, coin], true);
//!     learner.learn(&[coin], false);
//! }
//! let weights = Compact::new(&learner.averaged()); // 8 bits per weight
//! assert!(score(&weights, &[marked, coin]) > 0.0);
//! assert!(score(&weights, &[coin]) < 0.0);
//! ```
//!
//! - [`Weights`]: a table of weights, [`f32`] while it is learnt, [`Compact`] once it is stored.
//! - [`struct@Hash`], [`hash_text`], [`mix`], [`KeyedMap`]: hashes that are part of the model format, and maps keyed by
//!   them; [`Checksum`]: the hash of a file.
//! - [`AdaGrad`], [`BinaryLearner`]: weights that move; [`Average`], [`LazyAverage`]: their means.
//! - [`Order`], [`RandomStream`], [`gaussian`]: random numbers that a seed determines.
//! - [`SparseSum`], [`SparseVector`]: sums over few of many cells.
//! - [`in_parts`], [`for_each_part`], [`join`]: work on several threads, with results that do not depend
//!   on their number.
//! - [`Observer`]: sees the progress of long work, and can stop it.
//! - [`Codec`], [`Checkpointed`]: the state of a training as bytes.
//! - [`Content`]: the bytes of a model file, mapped into memory.
//! - [`packing`]: a model packed inside the program.
//! - [`setters!`]: options that are built field by field.
// Denied, not forbidden: `mapped` holds the one exception.
#![deny(unsafe_code)]

mod adagrad;
mod average;
mod binary;
mod codec;
mod hashing;
mod log_sum;
mod mapped;
mod observer;
mod order;
pub mod packing;
mod parallel;
mod setters;
mod sparse;
mod weights;

pub use adagrad::AdaGrad;
pub use average::{Average, LazyAverage};
pub use binary::{BinaryLearner, score, sigmoid};
pub use codec::{Checkpointed, Codec, Plain, invalid};
pub use hashing::{
    Checksum, GOLDEN, Hash, KeyedMap, PassThroughHasher, chain, chain_half, hash_bytes, hash_text,
    mix, spread,
};
pub use log_sum::{highest, log_sum};
pub use mapped::Content;
pub use observer::{Observer, Reply};
pub use order::{Order, RandomStream, draw_templates, gaussian, seed_of_stream};
pub use parallel::{for_each_part, in_parts, join};
pub use sparse::{SparseSum, SparseVector};
pub use weights::{Cell, Compact, Rounding, Weights};
