//! What a tagger learns from: the tags of a treebank, and each of its words as if it were new.

use std::collections::HashMap;
use std::sync::Arc;

use tutte_treebank::{Sentence, Token};

use super::MOST_TAGS;
use super::columns::{Columns, Knowledge};
use super::lexicon::{self, Counter, Entry, Lexicon};
use crate::Error;

/// A treebank as taggers learn from it.
pub(super) struct Lessons<'a> {
    pub(super) sentences: Vec<&'a Sentence>,
    /// Coarse tags.
    pub(super) upos: Vec<String>,
    /// The coarse tag of every word.
    pub(super) tags: Vec<Vec<u8>>,
    /// The key of the lemma of every word.
    lemmas: Vec<Vec<u64>>,
    counter: Counter,
    pub(super) lexicon: Arc<Lexicon>,
}

impl<'a> Lessons<'a> {
    pub(super) fn new(sentences: Vec<&'a Sentence>) -> Result<Self, Error> {
        let words = || sentences.iter().flat_map(|sentence| sentence.words());
        let mut upos: Vec<&str> = words().map(Token::upos).collect();
        upos.sort_unstable();
        upos.dedup();
        match upos[..] {
            [] => return Err(Error::NoWords),
            ["_"] => {
                let why =
                    "a tagger learns from tags, and the treebank has none: its UPOS are all _";
                return Err(Error::Setting(why.to_owned()));
            }
            _ if upos.len() > MOST_TAGS => {
                let why = format!(
                    "the treebank has {} different UPOS tags; a tagger can learn {MOST_TAGS}",
                    upos.len()
                );
                return Err(Error::Setting(why));
            }
            _ => {}
        }
        let number: HashMap<&str, u8> = upos.iter().copied().zip(0..).collect();
        let mut counter = Counter::default();
        let (mut tags, mut lemmas) = (Vec::with_capacity(sentences.len()), Vec::new());
        for sentence in &sentences {
            let own: Vec<u8> = sentence.words().map(|word| number[word.upos()]).collect();
            for (word, tag) in sentence.words().zip(&own) {
                counter.add(lexicon::key(&word.form().to_lowercase()), *tag);
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

    /// Looks at a sentence as if it were new.
    pub(super) fn look(&self, at: usize, columns: &mut Columns) {
        let forms = self.sentences[at].words().map(Token::form);
        let Self { lexicon, counter, .. } = self;
        let own = LeftOut { lexicon, counter, tags: &self.tags[at], lemmas: &self.lemmas[at] };
        columns.fill(forms, lexicon, &own);
    }
}

/// What is known of words without what they tell themselves.
struct LeftOut<'a> {
    lexicon: &'a Lexicon,
    counter: &'a Counter,
    tags: &'a [u8],
    lemmas: &'a [u64],
}

impl Knowledge for LeftOut<'_> {
    fn form(&self, word: usize, key: u64) -> Entry {
        self.counter.without(key, self.tags[word])
    }

    fn lemma(&self, word: usize, key: u64) -> Entry {
        match key == self.lemmas[word] {
            true => self.counter.without(key, self.tags[word]),
            false => self.lexicon.get(key),
        }
    }
}
