//! From raw text to sentences of tagged words: everything that comes before trees.
//!
//! A [`Tokenizer`] and a [`Tagger`] are trained on a treebank. A [`Segmenter`] applies the tokenizer to a stream of
//! text of any length.
//!
//! ```
//! use tutte_text::{Segmenter, Tagger, TaggerMemory, TaggerOptions, Tokenizer, TokenizerOptions};
//! use tutte_treebank::{Reader, Sentence};
//!
//! let treebank = "\
//! 1\tTea\ttea\tNOUN\t_\t_\t_\t_\t_\t_
//! 2\tcools\tcool\tVERB\t_\t_\t_\t_\t_\tSpaceAfter=No
//! 3\t.\t.\tPUNCT\t_\t_\t_\t_\t_\t_
//!
//! 1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
//! 1\tDo\tdo\tAUX\t_\t_\t_\t_\t_\t_
//! 2\tn't\tnot\tPART\t_\t_\t_\t_\t_\t_
//! 3\twait\twait\tVERB\t_\t_\t_\t_\t_\tSpaceAfter=No
//! 4\t.\t.\tPUNCT\t_\t_\t_\t_\t_\t_
//!
//! ";
//! let treebank: Vec<Sentence> = Reader::new(treebank.as_bytes()).collect::<Result<_, _>>()?;
//! let tokenizer = Tokenizer::train(&treebank, &TokenizerOptions::default())?;
//! let tagger = Tagger::train(&treebank, &TaggerOptions::for_words(7))?;
//!
//! let mut segmenter = Segmenter::new(&tokenizer, "Tea cools. Don't wait.\n".as_bytes());
//! let mut sentence = Sentence::default();
//! assert!(segmenter.read(&mut sentence)?);
//! assert_eq!(sentence.text(), Some("Tea cools."));
//! assert!(segmenter.read(&mut sentence)?);
//! tagger.annotate(&mut sentence, &mut TaggerMemory::default())?;
//! let words: Vec<_> = sentence.words().map(|word| (word.form(), word.upos())).collect();
//! assert_eq!(words, [("Do", "AUX"), ("n't", "PART"), ("wait", "VERB"), (".", "PUNCT")]);
//! assert!(!segmenter.read(&mut sentence)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Tokenizer`]: where tokens end (`token_boundaries`), where sentences end (`sentence_boundaries` gives the
//!   probabilities, `sentence_decoder` the sentences), and which tokens are several words (`multiword`). It is trained
//!   on the treebank's own text ([`raw_text()`]). Text in a script that the treebank does not have follows Unicode's
//!   rules (`unicode`), and so does all text for [`Tokenizer::fallback`].
//! - [`Segmenter`]: sentences of a stream, one at a time. Nothing is lost: [`raw_text()`] of the sentences is the
//!   input.
//! - [`Tagger`]: UPOS, XPOS, FEATS and lemmas of words, with exact probabilities ([`TagProbabilities`]).
//!   [`jackknife`] tags a treebank by taggers that did not see the tagged part.
//! - [`SoftTag`]: probabilities of tags that a teacher gives to words ([`write_soft_tags`], [`read_soft_tags`]).
//! - [`TokenizerDocument`], [`TaggerDocument`], [`TaggerTables`]: tokenizers and taggers in model files.
//! - [`ProgressObserver`], [`Progress`]: an [`Observer`](tutte_linear::Observer) that is called after every pass of a
//!   training, which it can stop.

// Much of what models offer is used by training alone.
#![cfg_attr(not(feature = "train"), allow(dead_code, unused_imports, unreachable_pub))]

mod characters;
mod conllu_output;
mod document;
mod error;
mod feature_tables;
mod lemma;
mod listed_tokens;
mod multiword;
mod progress;
mod raw_text;
mod scripts;
mod segmentation;
mod segmenter;
mod sentence_boundaries;
mod sentence_decoder;
mod source;
mod tagger;
mod token_attributes;
mod token_boundaries;
mod tokenizer;
mod training_text;
mod unicode;

pub use document::TokenizerDocument;
pub use error::{DocumentProblem, Error};
pub use lemma::LemmaRule;
#[cfg(feature = "train")]
pub use progress::{Progress, ProgressObserver};
pub use raw_text::{raw_text, token_ranges};
pub use segmenter::{Segmenter, SegmenterOptions};
pub use tagger::{
    SoftTag, TEACHER_TAGS, TagAlternative, TagProbabilities, TagScores, Tagger, TaggerDocument,
    TaggerMemory, TaggerShapes, TaggerTables, Tagging, is_untagged, read_soft_tags,
    write_soft_tags,
};
#[cfg(feature = "train")]
pub use tagger::{TaggerOptions, greedy_baseline, jackknife, jackknife_observed};
pub use tokenizer::Tokenizer;
#[cfg(feature = "train")]
pub use tokenizer::TokenizerOptions;

#[cfg(all(test, feature = "train"))]
mod tests;
