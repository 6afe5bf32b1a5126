//! From raw text to words with tags.
//!
//! ```text
//! tagger/   UPOS, XPOS, FEATS of words, with exact probabilities
//! lemma.rs  lemmas by learnt edit rules
//! ```

mod lemma;
mod tagger;

pub use tagger::{TagScores, Tagger, TaggerMemory, TaggerOptions, Tagging, jackknife};
pub(crate) use tagger::{TaggerDocument, TaggerTables};
