//! Token boundaries: a decision at every gap between two characters.
//!
//! A paragraph is a sequence of chunks with white space between them. Inside a chunk, a token ends at the gap before
//! character i with probability σ(w·f(i)). It is taken to end there if that is above ½. Decisions are made from left
//! to right, and the features see where the current token began. The other features are the characters around the
//! gap, their classes, the chunk before and after the gap, its shape, and the next chunk. Gaps between two letters
//! have fewer features: nearly all gaps are such, and few tokens end there.
//!
//! Between chunks a token always ends, unless the treebank has tokens with spaces inside (`1 000`). Then a single space
//! is a gap like others. A token never ends inside a grapheme cluster (UAX #29), and always ends on both sides of an
//! emoji.
//!
//! Training is logistic regression on a treebank that is smaller than the language. Two kinds of noise make up for it:
//!
//! - **Dropout of words.** In a part of the examples, all features with the identity of a word are left out. So the
//!   shapes around a gap learn to decide alone, as they must beside unknown words (`Ph.D.`, `10-20`).
//! - **Upper case.** A part of the paragraphs is read as if written in capitals. So `MR.` is known from `Mr.`.
//!
//! Some gaps have few, dense features instead, which learn from few examples ([`GapKind`]). A stop before a number is
//! one of them: is the word before it known without a stop? Abbreviations are short words that rarely stand alone (Kiss
//! & Strunk 2006). While training, the count of a word leaves out the occurrence at hand.
//!
//! Other gaps beside signs see how often the forms beside the gap are tokens, and how often the form across it is:
//! `Mrs.` is a token of the treebank, `home.` is not. What a treebank cannot tell is listed
//! ([`listed_tokens`](crate::listed_tokens)): such tokens are never divided, unless a quotation starts with them.
//!
//! Cost: linear in the text; a gap sees at most 2⁸ characters.

mod gap_features;

use std::collections::{BTreeSet, HashMap};

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use tutte_linear::{BinaryLearner, Compact, Order, Weights, score, sigmoid};

pub(crate) use self::gap_features::GapFeatures;
use self::gap_features::GapKind;
use crate::Error;
use crate::characters::{CharSpan, Characters, class, is_letter};
use crate::listed_tokens::ListedTokens;
use crate::progress::PassCounter;
use crate::token_attributes::form_hash;
use crate::training_text::{GoldParagraph, UpperCase, frequency};
use crate::unicode;

/// Length of the pieces in which longer chunks are read.
const PIECE: usize = 1 << 8;

/// A model of token boundaries.
#[derive(Clone, Debug)]
pub(crate) struct TokenBoundaries<W> {
    pub(crate) weights: W,
    /// Allows spaces inside tokens.
    pub(crate) has_spaces_in_tokens: bool,
    /// Templates with which it was trained.
    pub(crate) templates: GapTemplates,
    /// Tokens of [lists](crate::listed_tokens), in lower case. Other tokens start after them, unless they are quoted.
    pub(crate) listed: BTreeSet<String>,
}

/// Templates of a model. Each version has those of the version before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum GapTemplates {
    /// Those of the first models.
    First,
    /// Those of all kinds of gaps ([`GapKind`]), with shapes.
    WithShapes,
    /// Those of forms that are known as tokens, too. All dashes are one sign, and case is ignored where it says nothing.
    WithFrequencies,
}

/// Frequency class of a form as a token of its own: 0 for never, 1 for once, 2 for two or three times, and so on.
pub(crate) type Frequency = u8;

impl<W: Weights> TokenBoundaries<W> {
    /// Finds the tokens of a paragraph. Chunks in a foreign script are divided by Unicode's rules. `frequency` returns
    /// the frequency class of a form by its hash.
    pub(crate) fn tokens(
        &self,
        text: &Characters,
        is_foreign: impl Fn(&[char]) -> bool,
        frequency: impl Fn(u64) -> Frequency,
        gaps: &mut GapFeatures,
        tokens: &mut Vec<CharSpan>,
    ) {
        tokens.clear();
        gaps.read(text, self.templates);
        for chunk in 0..gaps.chunks.len() {
            let CharSpan { start, end } = gaps.chunks[chunk];
            if is_foreign(&text.lower[start..end]) {
                let written: String = text.lower[start..end].iter().collect();
                let mut at = start;
                unicode::each_token(&written, |_, token| {
                    let end = at + token.chars().count();
                    tokens.push(CharSpan { start: at, end });
                    at = end;
                });
                continue;
            }
            let mut token_start = start;
            if self.has_spaces_in_tokens
                && let Some(features) = gaps.space_features(text, chunk)
                && score(&self.weights, features) <= 0.0
                && let Some(joined) = tokens.pop()
            {
                token_start = joined.start;
            }
            let is_quotation = !self.listed.is_empty() && gaps.is_quotation(text, chunk);
            let listed_end = |token_start: usize| {
                if is_quotation { None } else { self.listed_end(text, token_start, end) }
            };
            let mut next_end = listed_end(token_start);
            gaps.each_gap(
                text,
                chunk,
                |form, _| frequency(form),
                |gap, kind, features| {
                    let is_end = match next_end {
                        Some(end) => gap == end,
                        None => {
                            kind == GapKind::BesideEmoji || score(&self.weights, features) > 0.0
                        }
                    };
                    if is_end {
                        tokens.push(CharSpan { start: token_start, end: gap });
                        token_start = gap;
                        next_end = listed_end(gap);
                    }
                    is_end
                },
            );
            tokens.push(CharSpan { start: token_start, end });
        }
    }

    /// Returns the end of the listed token at `start`. Only punctuation follows it, up to the end of the chunk.
    fn listed_end(&self, text: &Characters, start: usize, chunk_end: usize) -> Option<usize> {
        /// Number of characters after the token.
        const PUNCTUATION: usize = 3;
        if self.listed.is_empty() || (start..chunk_end).all(|at| is_letter(text.class(at))) {
            return None;
        }
        let longest = self.listed.iter().map(String::len).max().unwrap_or(0);
        let is_word = |at: usize| is_letter(text.class(at)) || text.class(at) == class::DIGIT;
        for end in (start + 1..=chunk_end).rev().take(1 + PUNCTUATION) {
            if end - start <= longest {
                let plain = |&c: &char| if c == '’' { '\'' } else { c };
                let form: String = text.lower[start..end].iter().map(plain).collect();
                if self.listed.contains(&form) {
                    return Some(end);
                }
            }
            if is_word(end - 1) {
                break;
            }
        }
        None
    }
}

impl TokenBoundaries<Vec<f32>> {
    const RATE: f32 = 0.5;
    /// Examples with a smaller gradient move no weights.
    const MIN_GRADIENT: f32 = 0.005;

    /// Part of the examples, in 256, that are seen without the identity of words.
    const WORD_DROPOUT: u64 = 40;

    /// Trains a model on paragraphs.
    pub(crate) fn train(
        paragraphs: &[GoldParagraph<'_>],
        listed: &ListedTokens,
        bits: u32,
        passes: usize,
        seed: u64,
        counter: &PassCounter<'_>,
    ) -> Result<Self, Error> {
        let mut learner = BinaryLearner::new(bits, Self::RATE);
        let mut generator = Pcg64::seed_from_u64(seed);
        let mut kept = Vec::new();
        let mut learn = |kind: Option<GapKind>, features: &[u32], is_end: bool| {
            let features = match kind {
                Some(kind) if generator.next_u64() & 0xff < Self::WORD_DROPOUT => {
                    kind.without_words(features, &mut kept);
                    &kept
                }
                _ => features,
            };
            learner.tick();
            let gradient = sigmoid(learner.score(features)) - if is_end { 1.0 } else { 0.0 };
            if gradient.abs() > Self::MIN_GRADIENT {
                learner.update(features, gradient);
            }
            is_end
        };
        let has_spaces_in_tokens = paragraphs.iter().any(GoldParagraph::has_spaces_in_tokens);
        let templates = GapTemplates::WithFrequencies;
        let counts = count_forms(paragraphs);
        let mut gaps = GapFeatures::default();
        let mut order = Order::new(seed, 0);
        let mut capitals = UpperCase::new(seed);
        for _ in 0..passes {
            for paragraph in order.shuffled(paragraphs.len()) {
                let GoldParagraph { characters, starts, .. } = &paragraphs[paragraph];
                let in_capitals = capitals.next().then(|| characters.in_upper_case());
                let text = in_capitals.as_ref().unwrap_or(characters);
                gaps.read(text, templates);
                for chunk in 0..gaps.chunks.len() {
                    let start = gaps.chunks[chunk].start;
                    if has_spaces_in_tokens && let Some(features) = gaps.space_features(text, chunk)
                    {
                        learn(None, features, starts[start]);
                    }
                    // A token is in the counts itself.
                    let others = |form: u64, span: CharSpan| {
                        let count = counts.get(&form).copied().unwrap_or(0);
                        let is_own = count > 0 && paragraphs[paragraph].is_token(span);
                        frequency(count.saturating_sub(is_own.into()))
                    };
                    gaps.each_gap(text, chunk, others, |gap, kind, features| match kind {
                        GapKind::BesideEmoji => starts[gap],
                        _ => learn(Some(kind), features, starts[gap]),
                    });
                }
            }
            counter.finish_pass()?;
        }
        let listed = listed.words.iter().map(|&word| word.to_owned()).collect();
        Ok(Self { weights: learner.averaged(), has_spaces_in_tokens, templates, listed })
    }

    /// Returns this model with weights of 8 bits.
    pub(crate) fn compact(&self) -> TokenBoundaries<Compact> {
        TokenBoundaries {
            weights: Compact::new(&self.weights),
            has_spaces_in_tokens: self.has_spaces_in_tokens,
            templates: self.templates,
            listed: self.listed.clone(),
        }
    }
}

/// Counts the forms of tokens that are single words, by their hashes.
fn count_forms(paragraphs: &[GoldParagraph<'_>]) -> HashMap<u64, u32> {
    let mut counts = HashMap::new();
    for form in paragraphs.iter().flat_map(GoldParagraph::forms_of_single_words) {
        *counts.entry(form_hash(form.iter().copied())).or_default() += 1;
    }
    counts
}
