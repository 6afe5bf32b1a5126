//! Evaluation of an analysis against a gold standard.
//!
//! Everything starts from an [`Alignment`], which pairs words of the system with words of the gold
//! standard. Both must have the same text, but may divide it into different sentences, tokens and
//! words. [`Metrics`] are the scores of the CoNLL 2018 shared task, from tokens to enhanced graphs.
//! [`conllx`] has those of 2006 and 2007. [`Attachment`] scores heads and labels without files.
//!
//! [`Arcs`] is the basis of error analyses: [`Breakdown`] by label, tag, length and so on,
//! [`Confusions`], [`FrequentErrors`], and the tables of [`Druck`] et al. Two modules work on plain
//! numbers: [`significance`] compares two systems, [`calibration`] evaluates probabilities.
//!
//! ```
//! use tutte_treebank::{Reader, Sentence, eval::Alignment};
//!
//! let gold = "\
//! 1\tI\tI\tPRON\t_\t_\t2\tnsubj\t_\t_
//! 2\twanna\twanna\tVERB\t_\t_\t0\troot\t_\t_
//! 3\tsleep\tsleep\tVERB\t_\t_\t2\txcomp\t_\t_
//!
//! ";
//! let system = "\
//! 1\tI\tI\tPRON\t_\t_\t2\tnsubj\t_\t_
//! 2\twan\twant\tVERB\t_\t_\t0\troot\t_\t_
//! 3\tna\tto\tPART\t_\t_\t4\tmark\t_\t_
//! 4\tsleep\tsleep\tVERB\t_\t_\t2\txcomp\t_\t_
//!
//! ";
//! let gold: Vec<Sentence> = Reader::new(gold.as_bytes()).collect::<Result<_, _>>()?;
//! let system: Vec<Sentence> = Reader::new(system.as_bytes()).collect::<Result<_, _>>()?;
//! let alignment = Alignment::new(&gold, &system)?;
//! assert_eq!(alignment.pairs().len(), 2); // "I" and "sleep"
//! // Their heads "wanna" and "wan" are not aligned.
//! assert!(alignment.pairs().iter().all(|pair| !pair.head_correct && pair.label_correct));
//! # Ok::<(), tutte_treebank::Error>(())
//! ```

mod alignment;
mod arcs;
mod attachment;
mod breakdown;
pub mod calibration;
mod confusion;
pub mod conllx;
mod difference;
mod druck;
pub mod enhanced;
mod errors;
mod graphs;
mod irregular;
pub mod metrics;
mod score;
pub mod significance;
mod spans;

pub use alignment::{Alignment, Overlap, Pair, Subtypes, WordRef};
pub use arcs::{Arcs, Criterion, Direction, HEAD_PROBABILITY, HeadProbabilities, ScoredArc, Side};
pub use attachment::Attachment;
pub use breakdown::{Breakdown, ClassScore, Grouping, Row};
pub use confusion::{Cell, Confusion, Confusions};
pub use difference::{Difference, Spot};
pub use druck::{Druck, FalsePositive, Share};
pub use errors::{Attached, ErrorKind, ErrorRate, Example, FrequentErrors, Shift};
pub use graphs::{GraphConflicts, copied_graphs};
pub use irregular::Irregular;
pub use metrics::{Metric, Metrics};
pub use score::{CompleteMatch, Score};

#[cfg(test)]
mod tests;
