//! Training data of a tagger: the tags of a treebank, and attributes of its words that leave out the word itself.

use std::collections::HashMap;
use std::sync::Arc;

use tutte_treebank::{Sentence, Token};

use super::MAX_TAGS;
use super::columns::{Columns, LookUp};
use super::lexicon::{self, Counter, Entry, Lexicon};
use crate::Error;

/// A treebank with its tags and its lexicon.
pub(super) struct TrainingData<'a> {
    pub(super) sentences: Vec<&'a Sentence>,
    /// Coarse tags.
    pub(super) upos: Vec<String>,
    /// Coarse tag of every word, as an index.
    pub(super) tags: Vec<Vec<u8>>,
    /// Key of the lemma of every word.
    lemmas: Vec<Vec<u64>>,
    counter: Counter,
    pub(super) lexicon: Arc<Lexicon>,
}

impl<'a> TrainingData<'a> {
    pub(super) fn new(sentences: Vec<&'a Sentence>) -> Result<Self, Error> {
        let words = || sentences.iter().flat_map(|sentence| sentence.words());
        let mut upos: Vec<&str> = words().map(Token::upos).collect();
        upos.sort_unstable();
        upos.dedup();
        match upos[..] {
            [] => return Err(Error::NoWords),
            ["_"] => {
                let why =
                    "a tagger cannot be trained on a treebank without tags: its UPOS are all _";
                return Err(Error::Setting(why.to_owned()));
            }
            _ if upos.len() > MAX_TAGS => {
                let why = format!(
                    "the treebank has {} different UPOS tags, but a tagger can have at most {MAX_TAGS}: \
                     put finer tags into XPOS",
                    upos.len()
                );
                return Err(Error::Setting(why));
            }
            _ => {}
        }
        let number: HashMap<&str, u8> = upos.iter().copied().zip(0..).collect();
        let mut counter = Counter::default();
        let mut tags = Vec::with_capacity(sentences.len());
        let mut lemmas = Vec::new();
        for sentence in &sentences {
            let own: Vec<u8> = sentence.words().map(|word| number[word.upos()]).collect();
            for (word, tag) in sentence.words().zip(&own) {
                counter.add(lexicon::form_key(&word.form().to_lowercase()), *tag);
            }
            let lemma = |word: Token<'_>| lexicon::lemma_key(&word.lemma().to_lowercase());
            let own_lemmas: Vec<u64> = sentence.words().map(lemma).collect();
            own_lemmas.iter().zip(&own).for_each(|(lemma, tag)| counter.add(*lemma, *tag));
            lemmas.push(own_lemmas);
            tags.push(own);
        }
        let lexicon = Arc::new(counter.lexicon());
        let upos = upos.into_iter().map(str::to_owned).collect();
        Ok(Self { sentences, upos, tags, lemmas, counter, lexicon })
    }

    /// Computes the attributes of the words of a sentence, each word without its own occurrence.
    pub(super) fn fill_columns(&self, sentence: usize, columns: &mut Columns) {
        let forms = self.sentences[sentence].words().map(Token::form);
        let Self { lexicon, counter, .. } = self;
        let tags = &self.tags[sentence];
        let lemmas = &self.lemmas[sentence];
        columns.fill(forms, lexicon, &LeaveOneOut { lexicon, counter, tags, lemmas });
    }
}

/// Looks up words without their occurrence in the sentence.
struct LeaveOneOut<'a> {
    lexicon: &'a Lexicon,
    counter: &'a Counter,
    tags: &'a [u8],
    lemmas: &'a [u64],
}

impl LookUp for LeaveOneOut<'_> {
    fn form(&self, word: usize, key: u64) -> Entry {
        self.counter.without(key, self.tags[word])
    }

    fn lemma(&self, word: usize, key: u64) -> Entry {
        if key == self.lemmas[word] {
            self.counter.without(key, self.tags[word])
        } else {
            self.lexicon.get(key)
        }
    }
}
