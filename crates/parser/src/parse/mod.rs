//! Parsing: from a sentence to an [`Annotation`].

mod annotation;
mod clock;
pub(crate) mod constraints;
mod decoding;
mod distribution;
mod familiarity;
mod label_limits;
mod long_sentences;
pub(crate) mod mixture;
mod parser;
mod pipeline;
mod stream;
mod tree_score;

pub use annotation::{AnnotatedWord, Annotation, AnnotationOptions, Detail, Listed};
pub use clock::{Clock, Stage, Times};
pub use constraints::{KeepColumns, check_heads};
pub use decoding::Decoding;
pub use distribution::{Alternative, LabelledDistribution, RankedTree};
pub use familiarity::{Familiarity, Unfamiliar};
pub use label_limits::{LabelLimits, Repair};
pub use long_sentences::{LONGEST_WHOLE, Limits, LongSentenceParse};
pub use mixture::{Mixture, NearestDistribution};
#[cfg(feature = "train")]
#[cfg(all(feature = "train", feature = "neural"))]
pub(crate) use parser::ScoreParts;
pub(crate) use parser::add_left_out;
pub use parser::{Analysis, Parse, Parser};
pub use pipeline::{Annotator, Pipeline, ReadingDistributions, TagReadings, TagSource};
pub use stream::{BATCH_WORDS, BatchWorker, map_batches, map_stream, parse_stream};
pub use tree_score::TreeScore;
pub use tutte_treebank::LONGEST_DISTRIBUTION;
