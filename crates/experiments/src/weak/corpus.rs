//! Corpora of short sentences with tags.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use tutte_treebank::{Sentence, Token};

use crate::data::Data;

/// Selection and simplification of the sentences of a treebank.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Corpus {
    pub(crate) treebank: String,
    pub(crate) tags: TagColumn,
    /// Largest number of words.
    pub(crate) longest: usize,
    /// Keeps punctuation.
    pub(crate) punctuation: bool,
}

/// Column of the tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum TagColumn {
    /// UPOS, CPOSTAG.
    Coarse,
    /// XPOS, POSTAG.
    Fine,
}

/// The simplified sentences.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) train: Vec<Sentence>,
    pub(crate) dev: Vec<Sentence>,
    pub(crate) test: Vec<Sentence>,
}

impl Corpus {
    /// Returns sentences of at most `longest` words, without punctuation.
    pub(crate) fn short(treebank: &str, tags: TagColumn, longest: usize) -> Self {
        Self { treebank: treebank.to_owned(), tags, longest, punctuation: false }
    }

    /// Returns sentences of at most `longest` words, with punctuation and coarse tags.
    pub(crate) fn whole(treebank: &str, longest: usize) -> Self {
        Self { treebank: treebank.to_owned(), tags: TagColumn::Coarse, longest, punctuation: true }
    }

    /// Reads the sentences. Each corpus is read once.
    pub(crate) fn read(&self, data: &Data) -> Result<Arc<Parts>> {
        static READ: OnceLock<Mutex<BTreeMap<Corpus, Arc<Parts>>>> = OnceLock::new();
        let read = READ.get_or_init(Mutex::default);
        let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(parts) = read.get(self) {
            return Ok(Arc::clone(parts));
        }
        let [train, dev, test] = data.parts(&self.treebank)?.map(|sentences| -> Result<_> {
            let mut kept = Vec::new();
            for sentence in &sentences {
                kept.extend(self.simplified(sentence)?);
            }
            Ok(kept)
        });
        let parts = Arc::new(Parts { train: train?, dev: dev?, test: test? });
        read.insert(self.clone(), Arc::clone(&parts));
        Ok(parts)
    }

    /// Simplifies a sentence. Returns `None` if the result is empty or too long. A word whose head is removed is
    /// attached to the nearest remaining ancestor.
    fn simplified(&self, sentence: &Sentence) -> Result<Option<Sentence>> {
        let is_kept = |word: &Token<'_>| self.punctuation || !is_punctuation(word);
        let words: Vec<(usize, Token<'_>)> =
            (1..).zip(sentence.words()).filter(|(_, word)| is_kept(word)).collect();
        if words.is_empty() || words.len() > self.longest {
            return Ok(None);
        }
        let mut numbers = vec![0; sentence.len() + 1];
        for (new, (old, _)) in (1..).zip(&words) {
            numbers[*old] = new;
        }
        let mut text = String::new();
        for (new, (_, word)) in (1..).zip(&words) {
            let tag = match self.tags {
                TagColumn::Fine if word.xpos() != "_" => word.xpos(),
                _ => word.upos(),
            };
            let mut head = word.head().unwrap_or(0);
            // Trees have been checked, so this ends at the root.
            while let Some(above) = sentence.word(head).filter(|word| !is_kept(word)) {
                head = above.head().unwrap_or(0);
            }
            let form = word.form();
            let lemma = word.lemma();
            let feats = word.feats();
            let head = numbers[head];
            writeln!(text, "{new}\t{form}\t{lemma}\t{tag}\t_\t{feats}\t{head}\t_\t_\t_")?;
        }
        text.parse().map(Some).with_context(|| sentence.place().to_string())
    }
}

/// Returns true for punctuation, by the tag sets of all treebanks.
pub(crate) fn is_punctuation(word: &Token<'_>) -> bool {
    matches!(word.upos(), "PUNCT" | "LET" | "F") || word.xpos() == "XP"
}

impl fmt::Display for Corpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.treebank.strip_prefix("ud/").unwrap_or(&self.treebank);
        write!(f, "{name} ≤ {}", self.longest)?;
        match self.tags {
            TagColumn::Coarse => Ok(()),
            TagColumn::Fine => f.write_str(" XPOS"),
        }
    }
}
