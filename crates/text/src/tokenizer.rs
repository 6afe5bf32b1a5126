//! A tokenizer: models of token boundaries, sentence boundaries and multiword tokens, applied in this order.

use tutte_linear::{Compact, Weights};
use tutte_treebank::Sentence;

use crate::Error;
use crate::characters::{CharSpan, Characters};
use crate::listed_tokens::ListedTokens;
use crate::multiword::{Multiword, Rule};
use crate::progress::{PassCounter, ProgressObserver};
use crate::scripts::Scripts;
use crate::segmentation::{Segmentation, SegmentedToken};
use crate::sentence_boundaries::SentenceBoundaries;
use crate::sentence_decoder::SentenceDecoder;
use crate::token_attributes::TokenAttributes;
use crate::token_boundaries::{GapFeatures, TokenBoundaries};
use crate::training_text::GoldParagraph;
use crate::unicode;

/// Options of training a [`Tokenizer`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenizerOptions {
    /// Seed of the order of examples.
    pub seed: u64,
    /// Number of passes over the treebank.
    pub passes: usize,
    /// Maximal number of threads. The result does not depend on it.
    pub threads: usize,
    /// Binary logarithm of the size of each table of weights, that of tokens and that of sentences. By default a table
    /// has about four cells per word of the treebank, from 2^14 to 2^18.
    pub bits: Option<u32>,
}

tutte_linear::setters! {
    TokenizerOptions {
        with_seed => seed: u64,
        with_passes => passes: usize,
        with_threads => threads: usize,
        with_bits => bits: Option<u32>,
    }
}

impl Default for TokenizerOptions {
    fn default() -> Self {
        Self { seed: 1, passes: 8, threads: 1, bits: None }
    }
}

/// Divides raw text into sentences, tokens and words. A [`Segmenter`](crate::Segmenter) applies it to an input.
///
/// Weights have 32 bits when they are trained ([`train`](Self::train)), and 8 bits in model files
/// ([`compact`](Self::compact)).
#[derive(Clone, Debug)]
pub struct Tokenizer<W = Vec<f32>> {
    /// `None` for a tokenizer that follows Unicode's rules alone.
    pub(crate) models: Option<Models<W>>,
}

/// The trained models of a tokenizer.
#[derive(Clone, Debug)]
pub(crate) struct Models<W> {
    pub(crate) token_boundaries: TokenBoundaries<W>,
    pub(crate) sentence_boundaries: SentenceBoundaries<W>,
    pub(crate) multiword: Multiword<W>,
    /// Scripts of the treebank.
    pub(crate) scripts: Scripts,
}

impl Tokenizer {
    /// Trains a tokenizer on a treebank. The same seed gives the same weights.
    ///
    /// # Errors
    /// [`Error::NoWords`] if the treebank has no words, [`Error::Setting`] if an option is out of range.
    #[cfg(feature = "train")]
    pub fn train(sentences: &[Sentence], options: &TokenizerOptions) -> Result<Self, Error> {
        Self::train_observed(sentences, options, &mut ())
    }

    /// Trains a tokenizer, and calls `observer` after every pass.
    ///
    /// # Errors
    /// As [`train`](Self::train), and [`Error::Stopped`].
    #[cfg(feature = "train")]
    pub fn train_observed(
        sentences: &[Sentence],
        options: &TokenizerOptions,
        observer: &mut ProgressObserver<'_>,
    ) -> Result<Self, Error> {
        let words: usize = sentences.iter().map(Sentence::len).sum();
        if words == 0 {
            return Err(Error::NoWords);
        }
        let &TokenizerOptions { seed, passes, threads, bits } = options;
        let bits = bits.unwrap_or_else(|| (words.ilog2() + 2).clamp(14, 18));
        if !(8..=28).contains(&bits) {
            return Err(Error::Setting(format!(
                "the tables of a tokenizer cannot have 2^{bits} weights: set bits to 8 … 28"
            )));
        }
        if passes == 0 {
            return Err(Error::Setting(
                "a tokenizer cannot be trained in 0 passes: set passes to 1 or more".to_owned(),
            ));
        }
        let paragraphs = GoldParagraph::of(sentences);
        let listed = ListedTokens::of(&paragraphs);
        // One model of tokens, several of sentences.
        let boundary_passes = passes * (1 + SentenceBoundaries::MODELS);
        let counter = PassCounter::new(boundary_passes + Multiword::passes(passes), observer);
        let token_boundaries =
            TokenBoundaries::train(&paragraphs, &listed, bits, passes, seed, &counter)?;
        let sentence_boundaries =
            SentenceBoundaries::train(&paragraphs, bits, passes, seed, threads, &counter)?;
        let multiword = Multiword::train(&paragraphs, &listed, passes, seed, &counter)?;
        let characters = paragraphs.iter().flat_map(|p| p.characters.lower.iter().copied());
        let scripts = Scripts::of(characters);
        Ok(Self {
            models: Some(Models { token_boundaries, sentence_boundaries, multiword, scripts }),
        })
    }

    /// Returns this tokenizer with weights of 8 bits, as a model file holds them.
    pub fn compact(&self) -> Tokenizer<Compact> {
        let models = self.models.as_ref().map(|models| Models {
            token_boundaries: models.token_boundaries.compact(),
            sentence_boundaries: models.sentence_boundaries.compact(),
            multiword: models.multiword.compact(),
            scripts: models.scripts.clone(),
        });
        Tokenizer { models }
    }
}

impl Tokenizer<Compact> {
    /// Returns a tokenizer that needs no treebank: it finds words and sentences of any script by Unicode's rules
    /// (UAX #29). Addresses of web pages and mailboxes are one token. There are no multiword tokens.
    ///
    /// ```
    /// use tutte_text::{Segmenter, Tokenizer};
    /// use tutte_treebank::Sentence;
    ///
    /// let tokenizer = Tokenizer::fallback();
    /// let mut segmenter = Segmenter::new(&tokenizer, "我喜欢茶。See http://tea.example/a?b=1.".as_bytes());
    /// let mut sentence = Sentence::default();
    /// segmenter.read(&mut sentence)?;
    /// assert_eq!(sentence.words().map(|w| w.form()).collect::<Vec<_>>(), ["我", "喜", "欢", "茶", "。"]);
    /// segmenter.read(&mut sentence)?;
    /// let words: Vec<&str> = sentence.words().map(|word| word.form()).collect();
    /// assert_eq!(words, ["See", "http://tea.example/a?b=1", "."]);
    /// # Ok::<(), tutte_text::Error>(())
    /// ```
    pub fn fallback() -> Self {
        Self { models: None }
    }
}

/// The segmentation of a block, and memory that the next block reuses.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    pub(crate) segmentation: Segmentation,
    characters: Characters,
    tokens: Vec<CharSpan>,
    gap_features: GapFeatures,
    attributes: TokenAttributes,
    decoder: SentenceDecoder,
    features: Vec<u32>,
}

impl<W: Weights> Tokenizer<W> {
    /// Returns the names of the scripts of the treebank. There are none if they were not recorded.
    pub fn scripts(&self) -> Vec<&'static str> {
        self.models.as_ref().map(|models| models.scripts.full_names()).unwrap_or_default()
    }

    /// Returns the name of the most frequent script of a text, if most of its letters belong to scripts that the
    /// treebank does not have.
    pub fn foreign_script(&self, text: impl Iterator<Item = char>) -> Option<&'static str> {
        self.models.as_ref().and_then(|models| models.scripts.foreign_script(text))
    }

    /// Divides a text without blank lines into tokens and sentences. Text in a script that the treebank does not have
    /// follows Unicode's rules. With `is_one_sentence`, all tokens are one sentence.
    pub(crate) fn segment(&self, text: &str, is_one_sentence: bool, workspace: &mut Workspace) {
        match &self.models {
            Some(models) if !models.scripts.are_foreign_to(text.chars()) => {
                models.segment(text, workspace)
            }
            _ => unicode::segment(text, &mut workspace.segmentation),
        }
        if is_one_sentence {
            let Segmentation { tokens, sentence_ends, .. } = &mut workspace.segmentation;
            sentence_ends.clear();
            sentence_ends.extend((!tokens.is_empty()).then_some(tokens.len()));
        }
    }

    /// Returns a rule of multiword tokens by its index.
    pub(crate) fn rule(&self, rule: u16) -> Option<&Rule> {
        self.models.as_ref()?.multiword.rules.get(usize::from(rule))
    }
}

impl<W: Weights> Models<W> {
    fn segment(&self, text: &str, workspace: &mut Workspace) {
        let Workspace { characters, tokens, attributes, features, .. } = workspace;
        let segmentation = &mut workspace.segmentation;
        characters.read(text);
        let is_foreign = |chunk: &[char]| self.scripts.are_foreign_to(chunk.iter().copied());
        let frequency = |form: u64| self.multiword.lexicon.frequency(form);
        let gaps = &mut workspace.gap_features;
        self.token_boundaries.tokens(characters, is_foreign, frequency, gaps, tokens);
        attributes.read(characters, tokens);
        let break_probs = &mut segmentation.break_probs;
        self.sentence_boundaries.break_probs(attributes, features, break_probs);
        let penalty = self.sentence_boundaries.penalty;
        workspace.decoder.decode(break_probs, penalty, &mut segmentation.sentence_ends);
        segmentation.tokens.clear();
        for (at, &CharSpan { start, end }) in tokens.iter().enumerate() {
            let form = &characters.lower[start..end];
            let rule = self.multiword.rule(form, attributes, at, features);
            segmentation.tokens.push(SegmentedToken {
                start: characters.offsets[start] as usize,
                end: characters.offsets[end] as usize,
                rule,
            });
        }
    }
}
