//! A tokenizer: three models and the order in which they are asked.

use tutte_linear::{Compact, Weights};
use tutte_treebank::Sentence;

use super::characters::Characters;
use super::multiword::{Multiword, Rule};
use super::progress::{Observer, PassCounter, unobserved};
use super::scripts::Scripts;
use super::segments::Segments;
use super::sentence_boundaries::Breaks;
use super::token_attributes::Facts;
use super::token_boundaries::{self, Gaps, Stretch};
use super::training_text::Paragraph;
use super::unicode;
use crate::Error;

/// How to learn a [`Tokenizer`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenizerOptions {
    /// Decides the order in which examples are seen.
    pub seed: u64,
    /// How often each is seen.
    pub passes: usize,
    /// How many threads may learn; what is learnt is the same for any number.
    pub threads: usize,
    /// The tables of tokens and of sentences have 2^bits cells each. By default about four times as many as the treebank has words, 2^14 to 2^18.
    pub bits: Option<u32>,
}

impl Default for TokenizerOptions {
    fn default() -> Self {
        Self { seed: 1, passes: 8, threads: 1, bits: None }
    }
}

/// Finds sentences, tokens and words in text; see the [module](super).
#[derive(Clone, Debug)]
pub struct Tokenizer<W = Vec<f32>> {
    /// Without, Unicode decides.
    pub(super) learnt: Option<Learnt<W>>,
}

#[derive(Clone, Debug)]
pub(super) struct Learnt<W> {
    pub(super) gaps: Gaps<W>,
    pub(super) breaks: Breaks<W>,
    pub(super) multiword: Multiword<W>,
    /// Those of the treebank.
    pub(super) scripts: Scripts,
}

impl Tokenizer {
    /// Learns from a treebank. The same seed gives the same weights.
    ///
    /// # Errors
    /// [`Error::NoWords`] if the treebank has none, [`Error::Setting`] if the options make no sense.
    pub fn train(sentences: &[Sentence], options: &TokenizerOptions) -> Result<Self, Error> {
        Self::train_observed(sentences, options, &unobserved)
    }

    /// The same, telling of every pass.
    ///
    /// # Errors
    /// As [`train`](Self::train), and [`Error::Stopped`].
    pub fn train_observed(
        sentences: &[Sentence],
        options: &TokenizerOptions,
        observer: &Observer<'_>,
    ) -> Result<Self, Error> {
        let words: usize = sentences.iter().map(Sentence::len).sum();
        if words == 0 {
            return Err(Error::NoWords);
        }
        let &TokenizerOptions { seed, passes, bits, .. } = options;
        let bits = bits.unwrap_or_else(|| (words.ilog2() + 2).clamp(14, 18));
        if !(8..=28).contains(&bits) {
            return Err(Error::Setting(format!(
                "a tokenizer's tables have 2^8 to 2^28 weights, not 2^{bits}"
            )));
        }
        if passes == 0 {
            return Err(Error::Setting("a tokenizer learns in at least one pass".to_owned()));
        }
        let paragraphs = Paragraph::of(sentences);
        let laps =
            PassCounter::new(passes * (Breaks::MODELS + 1) + Multiword::passes(passes), observer);
        Ok(Self {
            learnt: Some(Learnt {
                gaps: Gaps::train(&paragraphs, bits, passes, seed, &laps)?,
                breaks: Breaks::train(&paragraphs, options, bits, &laps)?,
                multiword: Multiword::train(&paragraphs, passes, seed, &laps)?,
                scripts: Scripts::of(
                    paragraphs.iter().flat_map(|p| p.characters.lower.iter().copied()),
                ),
            }),
        })
    }

    /// With 8 bits a weight, to be stored and applied.
    pub fn compact(&self) -> Tokenizer<Compact> {
        let learnt =
            self.learnt.as_ref().map(|Learnt { gaps, breaks, multiword, scripts }| Learnt {
                gaps: Gaps { weights: Compact::new(&gaps.weights), spaces: gaps.spaces },
                breaks: Breaks {
                    weights: Compact::new(&breaks.weights),
                    temperature: breaks.temperature,
                    price: breaks.price,
                },
                multiword: multiword.compact(),
                scripts: scripts.clone(),
            });
        Tokenizer { learnt }
    }
}

impl Tokenizer<Compact> {
    /// Without a treebank: words and sentences as Unicode (UAX #29) finds them in any script. Addresses of
    /// pages and mails are one token; there are no multiword tokens.
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
    /// # Ok::<(), tutte::Error>(())
    /// ```
    pub fn fallback() -> Self {
        Self { learnt: None }
    }
}

/// What a paragraph was found to be, and memory to find it.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) tokens: Vec<FoundToken>,
    /// The sentences: the number of tokens up to the end of each.
    pub(super) ends: Vec<usize>,
    /// The probability of a break after each token.
    pub(super) probabilities: Vec<f32>,
    characters: Characters,
    stretches: Vec<Stretch>,
    gaps: token_boundaries::View,
    facts: Facts,
    segments: Segments,
    features: Vec<u32>,
}

/// A token: its bytes, and the rule that makes its words if it is several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundToken {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) rule: Option<u16>,
}

impl<W: Weights> Tokenizer<W> {
    /// Takes a text without blank lines apart, and what is of a script that nothing was learnt of by Unicode's
    /// rules. If it is known to be one sentence, it stays one.
    pub(super) fn find(&self, text: &str, one_sentence: bool, found: &mut Found) {
        match &self.learnt {
            Some(learnt) if !learnt.scripts.are_foreign_to(text.chars()) => {
                learnt.find(text, found)
            }
            _ => unicode::find(text, found),
        }
        if one_sentence {
            found.ends.clear();
            found.ends.extend((!found.tokens.is_empty()).then_some(found.tokens.len()));
        }
    }

    pub(super) fn rule(&self, rule: u16) -> Option<&Rule> {
        self.learnt.as_ref()?.multiword.rules.get(usize::from(rule))
    }
}

impl<W: Weights> Learnt<W> {
    fn find(&self, text: &str, found: &mut Found) {
        let Found { characters, stretches, facts, features, probabilities, .. } = found;
        characters.read(text);
        let is_foreign = |chunk: &[char]| self.scripts.are_foreign_to(chunk.iter().copied());
        self.gaps.tokens(characters, is_foreign, &mut found.gaps, stretches);
        facts.read(characters, stretches);
        self.breaks.probabilities(facts, features, probabilities);
        found.segments.divide(probabilities, self.breaks.price, &mut found.ends);
        found.tokens.clear();
        for (at, &Stretch { start, end }) in stretches.iter().enumerate() {
            let rule = self.multiword.rule(&characters.lower[start..end], facts, at, features);
            let (start, end) = (characters.offsets[start], characters.offsets[end]);
            found.tokens.push(FoundToken { start: start as usize, end: end as usize, rule });
        }
    }
}
