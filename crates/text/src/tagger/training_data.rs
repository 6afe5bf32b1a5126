//! Training data of a tagger: the tags of a treebank, their probabilities if a teacher gave them, and attributes of its
//! words that leave out the word itself.

use std::collections::HashMap;
use std::sync::Arc;

use tutte_treebank::{Sentence, Token};

use super::MAX_TAGS;
use super::columns::{Columns, LookUp};
use super::lexicon::{self, Counter, Entry, Lexicon};
use super::soft_tags::{SoftTag, Target, read_soft_tags};
use crate::Error;

/// Tags of a word that the teacher was not sure of.
pub(super) struct SoftWord {
    /// Coarse tags.
    upos: Vec<Target>,
    /// XPOS and FEATS with the coarse tag of the column UPOS, and their probabilities, not scaled.
    bundles: Vec<((String, String), f64)>,
    /// Probability of the UPOS in its column.
    own_upos: f64,
    /// Probability of UPOS and FEATS in their columns, which a lemma depends on.
    own_tags: f64,
}

/// A treebank with its tags and its lexicon.
pub(super) struct TrainingData<'a> {
    pub(super) sentences: Vec<&'a Sentence>,
    /// Coarse tags.
    pub(super) upos: Vec<String>,
    /// Coarse tag of every word, as an index.
    pub(super) tags: Vec<Vec<u8>>,
    /// Each coarse tag, with the probability 1.
    certain: Vec<Target>,
    /// Words that the teacher was not sure of, by sentence and word.
    soft: Vec<HashMap<usize, SoftWord>>,
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
        let mut soft = Vec::with_capacity(sentences.len());
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
            let words = sentence.words().zip(read_soft_tags(sentence)?).enumerate();
            let uncertain = words.filter_map(|(word, (token, tags))| {
                Some((word, SoftWord::new(token, &tags, &number)?))
            });
            soft.push(uncertain.collect());
        }
        let lexicon = Arc::new(counter.lexicon());
        let upos: Vec<String> = upos.into_iter().map(str::to_owned).collect();
        let certain = (0..upos.len()).map(|tag| (tag, 1.0)).collect();
        Ok(Self { sentences, upos, tags, certain, soft, lemmas, counter, lexicon })
    }

    /// Returns the coarse tags of a word with their probabilities. A tag of the treebank has the probability 1.
    pub(super) fn upos_targets(&self, sentence: usize, word: usize) -> &[Target] {
        match self.soft[sentence].get(&word) {
            Some(soft) => &soft.upos,
            None => std::slice::from_ref(&self.certain[usize::from(self.tags[sentence][word])]),
        }
    }

    /// Writes the bundles of a word with their probabilities given its UPOS to `targets`, and returns the probability of
    /// this UPOS. `gold` is the bundle of its columns, which is certain unless a teacher says otherwise. Bundles that
    /// are not in `numbers` are left out.
    pub(super) fn bundle_targets(
        &self,
        sentence: usize,
        word: usize,
        gold: usize,
        numbers: &HashMap<(&str, &str), usize>,
        targets: &mut Vec<Target>,
    ) -> f64 {
        targets.clear();
        let soft = self.soft[sentence].get(&word);
        for ((xpos, feats), probability) in soft.into_iter().flat_map(|soft| &soft.bundles) {
            if let Some(&bundle) = numbers.get(&(xpos.as_str(), feats.as_str())) {
                targets.push((bundle, *probability));
            }
        }
        let sum: f64 = targets.iter().map(|(_, probability)| probability).sum();
        if sum > 0.0 {
            targets.iter_mut().for_each(|(_, probability)| *probability /= sum);
        } else {
            targets.clear();
            targets.push((gold, 1.0));
        }
        soft.map_or(1.0, |soft| soft.own_upos)
    }

    /// Returns the probability of the tags of a word; 1 unless the teacher was not sure of them.
    pub(super) fn confidence(&self, sentence: usize, word: usize) -> f64 {
        self.soft[sentence].get(&word).map_or(1.0, |soft| soft.own_tags)
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

impl SoftWord {
    /// Makes the targets of a word. Tags that the treebank lacks are left out, and the others are scaled to a sum of 1.
    /// Returns `None` if none is left: then the columns count as certain.
    fn new(token: Token<'_>, tags: &[SoftTag<'_>], numbers: &HashMap<&str, u8>) -> Option<Self> {
        let mut upos: Vec<Target> = Vec::new();
        let mut bundles: Vec<((String, String), f64)> = Vec::new();
        let mut own_tags = 0.0;
        let mut sum = 0.0;
        for SoftTag { upos: name, xpos, feats, probability } in tags {
            let Some(&tag) = numbers.get(name.as_ref()) else { continue };
            sum += probability;
            match upos.iter_mut().find(|(known, _)| *known == usize::from(tag)) {
                Some((_, known)) => *known += probability,
                None => upos.push((tag.into(), *probability)),
            }
            if name == token.upos() {
                let bundle = (xpos.to_string(), feats.to_string());
                match bundles.iter_mut().find(|(known, _)| *known == bundle) {
                    Some((_, known)) => *known += probability,
                    None => bundles.push((bundle, *probability)),
                }
                own_tags += if feats == token.feats() { *probability } else { 0.0 };
            }
        }
        if sum <= 0.0 {
            return None;
        }
        upos.iter_mut().for_each(|(_, probability)| *probability /= sum);
        let own: f64 = bundles.iter().map(|(_, probability)| probability).sum();
        Some(Self { upos, bundles, own_upos: own / sum, own_tags: own_tags / sum })
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
