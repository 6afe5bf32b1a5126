//! The alignment of two analyses, and where they agree.
//!
//! The algorithm is in `spans.rs`; this module holds its result.

use std::iter;

use super::difference::Difference;
use super::spans::{Side, Word, align, is_surface, overlap};
use crate::{Error, Sentence, Token};

/// A word of a list of sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct WordRef {
    /// Index of the sentence, from 0.
    pub sentence: usize,
    /// Number of the word in its sentence, from 1.
    pub word: usize,
}

/// Comparison of labels with subtypes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Subtypes {
    /// Subtypes are ignored: `nsubj:pass` equals `nsubj`. The rule of Universal Dependencies and
    /// its shared tasks.
    #[default]
    Ignore,
    /// Labels are compared as they are. The rule of CoNLL-X, whose labels have no subtypes.
    Keep,
}

impl Subtypes {
    /// Returns the part of a label that is compared.
    pub fn compared(self, label: &str) -> &str {
        match self {
            Subtypes::Ignore => label.split_once(':').map_or(label, |(universal, _)| universal),
            Subtypes::Keep => label,
        }
    }
}

/// A pair of aligned words, and whether their analyses agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The word in the gold standard.
    pub gold: WordRef,
    /// The word in the system's analysis.
    pub system: WordRef,
    /// True if the heads are aligned with each other, or both words are roots. An unknown head is
    /// never correct.
    pub head_correct: bool,
    /// True if the labels agree. The heads do not matter.
    pub label_correct: bool,
}

/// Numbers of spans on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlap {
    /// Spans of the gold standard.
    pub gold: usize,
    /// Spans of the system's analysis.
    pub system: usize,
    /// Spans of both.
    pub common: usize,
}

/// A gold standard and a system's analysis of the same text, word by word.
#[derive(Clone, Debug)]
pub struct Alignment<'a> {
    gold: &'a [Sentence],
    system: &'a [Sentence],
    subtypes: Subtypes,
    tokens: Overlap,
    sentences: Overlap,
    /// The aligned words, in text order.
    pairs: Vec<Pair>,
    /// Number of words before each sentence; the last entry is the number of all words.
    gold_words_before: Vec<usize>,
    system_words_before: Vec<usize>,
    /// The system sentence with the same span as each gold sentence.
    same_sentence: Vec<Option<usize>>,
    /// Number of pairs before each gold sentence; the last entry is the number of all pairs.
    pairs_before: Vec<usize>,
    /// Number of system words that start before each gold sentence; the last entry is their total
    /// number.
    system_words_before_gold: Vec<usize>,
    /// Index of each word in `pairs`.
    pair_of_gold: Vec<Option<u32>>,
    pair_of_system: Vec<Option<u32>>,
}

impl<'a> Alignment<'a> {
    /// Aligns by characters. Sentences, tokens and words may differ. Labels are compared without
    /// subtypes.
    ///
    /// # Errors
    /// [`Error::DifferentText`] with the first place where the characters differ.
    pub fn new(gold: &'a [Sentence], system: &'a [Sentence]) -> Result<Self, Error> {
        let g = Side::new(gold, is_surface);
        let s = Side::new(system, is_surface);
        if g.characters != s.characters {
            return Err(Error::DifferentText(Box::new(Difference::of_characters(gold, system))));
        }
        let matches = align(&g.words, &s.words);
        Ok(Self::from_matches(&g, &s, &matches, Subtypes::Ignore))
    }

    /// Aligns word by word. Sentences, their lengths and their forms must be the same, as in the
    /// shared tasks of 2006 and 2007. Labels are compared as they are.
    ///
    /// # Errors
    /// [`Error::DifferentText`] with the first word that differs.
    pub fn by_position(gold: &'a [Sentence], system: &'a [Sentence]) -> Result<Self, Error> {
        let same_words = |(g, s): (&Sentence, &Sentence)| {
            g.len() == s.len() && iter::zip(g.words(), s.words()).all(|(g, s)| g.form() == s.form())
        };
        if gold.len() != system.len() || !iter::zip(gold, system).all(same_words) {
            return Err(Error::DifferentText(Box::new(Difference::of_words(gold, system))));
        }
        // Multiword tokens are ignored here, so that both sides have the same characters.
        let is_word = |token: Token<'_>, _: &mut usize| token.id().word().is_some();
        let g = Side::new(gold, is_word);
        let s = Side::new(system, is_word);
        let matches: Vec<_> = (0..g.words.len()).map(|word| (word, word)).collect();
        Ok(Self::from_matches(&g, &s, &matches, Subtypes::Keep))
    }

    fn from_matches(
        g: &Side<'a>,
        s: &Side<'a>,
        matches: &[(usize, usize)],
        subtypes: Subtypes,
    ) -> Self {
        let mut pair_of_gold = vec![None; g.words.len()];
        let mut pair_of_system = vec![None; s.words.len()];
        for (&(gold, system), number) in iter::zip(matches, 0u32..) {
            pair_of_gold[gold] = Some(number);
            pair_of_system[system] = Some(number);
        }
        // Heads are the same if both are the root or they are aligned.
        let same_head =
            |gold: &Word<'_>, system: &Word<'_>| match (gold.token.head(), system.token.head()) {
                (Some(0), Some(0)) => true,
                (None | Some(0), _) | (_, None | Some(0)) => false,
                (Some(gold_head), Some(system_head)) => {
                    let gold_head = g.words_before[gold.at.sentence] + gold_head - 1;
                    let system_head = s.words_before[system.at.sentence] + system_head - 1;
                    pair_of_gold[gold_head].is_some()
                        && pair_of_gold[gold_head] == pair_of_system[system_head]
                }
            };
        let pairs: Vec<Pair> = matches
            .iter()
            .map(|&(gold, system)| {
                let gold = &g.words[gold];
                let system = &s.words[system];
                let compared = |word: &Word<'a>| subtypes.compared(word.token.deprel());
                Pair {
                    gold: gold.at,
                    system: system.at,
                    head_correct: same_head(gold, system),
                    label_correct: compared(gold) == compared(system),
                }
            })
            .collect();

        let mut same_sentence = vec![None; g.sentences.len()];
        let sentences = overlap(&g.sentences, &s.sentences, |gold, system| {
            same_sentence[gold] = Some(system);
        });
        let pairs_before = g
            .words_before
            .iter()
            .map(|&before| matches.partition_point(|&(gold, _)| gold < before))
            .collect();
        let mut system_words_before_gold: Vec<usize> = g
            .sentences
            .iter()
            .map(|gold| s.words.partition_point(|word| word.span.start < gold.start))
            .collect();
        system_words_before_gold.push(s.words.len());
        Alignment {
            gold: g.list,
            system: s.list,
            subtypes,
            tokens: overlap(&g.tokens, &s.tokens, |_, _| {}),
            sentences,
            pairs,
            gold_words_before: g.words_before.clone(),
            system_words_before: s.words_before.clone(),
            same_sentence,
            pairs_before,
            system_words_before_gold,
            pair_of_gold,
            pair_of_system,
        }
    }

    /// Compares labels in another way.
    #[must_use]
    pub fn with_subtypes(mut self, subtypes: Subtypes) -> Self {
        self.subtypes = subtypes;
        for pair in &mut self.pairs {
            let compared = |sentences: &'a [Sentence], at| {
                token(sentences, at).map(|word| subtypes.compared(word.deprel()))
            };
            pair.label_correct =
                compared(self.gold, pair.gold) == compared(self.system, pair.system);
        }
        self
    }

    /// The comparison of labels.
    pub fn subtypes(&self) -> Subtypes {
        self.subtypes
    }

    /// The gold standard.
    pub fn gold(&self) -> &'a [Sentence] {
        self.gold
    }

    /// The system's analysis.
    pub fn system(&self) -> &'a [Sentence] {
        self.system
    }

    /// Returns a word of the gold standard, or `None` if there is no such word.
    pub fn gold_token(&self, at: WordRef) -> Option<Token<'a>> {
        token(self.gold, at)
    }

    /// Returns a word of the system's analysis, or `None` if there is no such word.
    pub fn system_token(&self, at: WordRef) -> Option<Token<'a>> {
        token(self.system, at)
    }

    /// Returns all aligned words, in text order.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// Numbers of words. Common words are aligned ones.
    pub fn words(&self) -> Overlap {
        Overlap {
            gold: self.pair_of_gold.len(),
            system: self.pair_of_system.len(),
            common: self.pairs.len(),
        }
    }

    /// Numbers of surface tokens: multiword tokens, and words outside them. Common tokens have the
    /// same span of characters.
    pub fn tokens(&self) -> Overlap {
        self.tokens
    }

    /// Numbers of sentences. Common sentences have the same span of characters.
    pub fn sentences(&self) -> Overlap {
        self.sentences
    }

    /// Returns the system's word that is aligned with a gold word.
    pub fn system_of(&self, gold: WordRef) -> Option<WordRef> {
        self.pair_of(gold).map(|pair| pair.system)
    }

    /// Returns the gold word that is aligned with a system's word.
    pub fn gold_of(&self, system: WordRef) -> Option<WordRef> {
        let number = self.pair_of_system.get(index(&self.system_words_before, system)?)?;
        Some(self.pairs[(*number)? as usize].gold)
    }

    /// Returns the pair of a gold word.
    pub fn pair_of(&self, gold: WordRef) -> Option<&Pair> {
        let number = self.pair_of_gold.get(index(&self.gold_words_before, gold)?)?;
        Some(&self.pairs[(*number)? as usize])
    }

    /// Returns the pairs of a gold sentence; none if there is no such sentence.
    pub fn pairs_of_sentence(&self, gold_sentence: usize) -> &[Pair] {
        match self.pairs_before.get(gold_sentence..gold_sentence + 2) {
            Some(&[start, end]) => &self.pairs[start..end],
            _ => &[],
        }
    }

    /// Returns the system's words in the span of a gold sentence. A word belongs to the gold
    /// sentence in which it starts, so each is counted once.
    pub fn system_words_in(
        &self,
        gold_sentence: usize,
    ) -> impl ExactSizeIterator<Item = WordRef> + '_ {
        let numbers = match self.system_words_before_gold.get(gold_sentence..gold_sentence + 2) {
            Some(&[start, end]) => start..end,
            _ => 0..0,
        };
        numbers.map(|number| {
            let sentence = self.system_words_before.partition_point(|&before| before <= number) - 1;
            WordRef { sentence, word: number - self.system_words_before[sentence] + 1 }
        })
    }

    /// Returns the system's sentence with exactly the characters of a gold sentence.
    pub fn same_sentence(&self, gold_sentence: usize) -> Option<usize> {
        self.same_sentence.get(gold_sentence).copied().flatten()
    }

    /// True if the system found this gold sentence, divided it into the same words, and all heads
    /// are correct.
    pub fn unlabelled_match(&self, gold_sentence: usize) -> bool {
        self.same_words(gold_sentence)
            && self.pairs_of_sentence(gold_sentence).iter().all(|pair| pair.head_correct)
    }

    /// True if it is an unlabelled match and all labels are correct.
    pub fn labelled_match(&self, gold_sentence: usize) -> bool {
        self.unlabelled_match(gold_sentence)
            && self.pairs_of_sentence(gold_sentence).iter().all(|pair| pair.label_correct)
    }

    fn same_words(&self, gold_sentence: usize) -> bool {
        self.same_sentence(gold_sentence).is_some_and(|system_sentence| {
            let pairs = self.pairs_of_sentence(gold_sentence).len();
            pairs == self.gold[gold_sentence].len() && pairs == self.system[system_sentence].len()
        })
    }
}

fn token(sentences: &[Sentence], at: WordRef) -> Option<Token<'_>> {
    sentences.get(at.sentence)?.word(at.word)
}

/// Returns the index of a word among all words.
fn index(words_before: &[usize], at: WordRef) -> Option<usize> {
    let &[start, end] = words_before.get(at.sentence..at.sentence + 2)? else { return None };
    (1..=end - start).contains(&at.word).then(|| start + at.word - 1)
}
