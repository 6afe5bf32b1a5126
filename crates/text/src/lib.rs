//! From raw text to sentences, words and tags: what comes before trees.
//!
//! ```
//! use tutte_text::{Segmenter, Tokenizer, TokenizerOptions};
//! use tutte_treebank::{Reader, Sentence};
//!
//! let treebank = "\
//! 1\tTea\t_\t_\t_\t_\t_\t_\t_\t_
//! 2\tcools\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
//! 3\t.\t_\t_\t_\t_\t_\t_\t_\t_
//!
//! 1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
//! 1\tDo\t_\t_\t_\t_\t_\t_\t_\t_
//! 2\tn't\t_\t_\t_\t_\t_\t_\t_\t_
//! 3\twait\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
//! 4\t.\t_\t_\t_\t_\t_\t_\t_\t_
//!
//! ";
//! let treebank: Vec<Sentence> = Reader::new(treebank.as_bytes()).collect::<Result<_, _>>()?;
//! let tokenizer = Tokenizer::train(&treebank, &TokenizerOptions::default())?.compact();
//!
//! let mut segmenter = Segmenter::new(&tokenizer, "Tea cools. Don't wait.\n".as_bytes());
//! let mut sentence = Sentence::default();
//! assert!(segmenter.read(&mut sentence)?);
//! assert_eq!(sentence.text(), Some("Tea cools."));
//! assert!(segmenter.read(&mut sentence)?);
//! let words: Vec<&str> = sentence.words().map(|word| word.form()).collect();
//! assert_eq!(words, ["Do", "n't", "wait", "."]);
//! assert!(!segmenter.read(&mut sentence)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Tokenizer`] is learnt from a treebank's own text ([`raw_text`]): where tokens end (`gaps`), where
//! sentences end (`breaks`, and `segments` for the sentences of which most are expected to be right), which
//! tokens are several words (`multiword`). [`Tokenizer::fallback`] has learnt nothing and follows Unicode, as all do in
//! what is written in scripts that their treebank does not have.
//! [`Segmenter`] applies one to a stream of any length, and loses nothing: [`raw_text`] of what it gives is
//! what it read.
//!
//! A [`Tagger`] gives words UPOS, XPOS, FEATS and lemmas, with exact probabilities.

mod characters;
mod conllu_output;
mod document;
mod error;
mod lemma;
mod multiword;
mod progress;
mod raw_text;
mod scripts;
mod segmenter;
mod segments;
mod sentence_boundaries;
mod source;
mod tagger;
mod token_attributes;
mod token_boundaries;
mod tokenizer;
mod training_text;
mod unicode;

pub use document::TokenizerDocument;
pub use error::{DocumentProblem, Error};
pub use progress::{Observer, Progress};
pub use raw_text::raw_text;
pub use segmenter::{Segmenter, SegmenterOptions};
pub use tagger::{
    TagScores, Tagger, TaggerMemory, TaggerOptions, Tagging, greedy_baseline, is_untagged,
    jackknife, jackknife_observed,
};
pub use tagger::{TaggerDocument, TaggerTables};
pub use tokenizer::{Tokenizer, TokenizerOptions};

#[cfg(test)]
mod tests;
