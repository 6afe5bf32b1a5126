//! What a treebank tells of the word that a multiword token may begin with: how often it stands alone, and of
//! which parts of speech it is, as a form and as a lemma. Turkish `kent`, a noun, makes `kentli` two words, and
//! `kazan`, a verb, leaves `kazandı` one.

use std::collections::HashMap;

use tutte_linear::{Compact, Hash, Weights};

use crate::training_text::{Paragraph, Word};

/// Never, once, two or three times, up to seven, more often.
pub(super) type Frequency = u8;

fn frequency(count: u32) -> Frequency {
    count.checked_ilog2().map_or(0, |log| log as Frequency + 1).min(4)
}

/// The parts of speech that are told apart, a bit each; 127 is what a cell of 8 bits with a sign can hold.
const KINDS: [&str; 7] = ["NOUN", "PROPN", "ADJ", "VERB", "ADV", "PRON", "NUM"];

/// The number of a part of speech, if it is told apart.
pub(in super::super) fn kind(upos: &str) -> Option<u8> {
    KINDS.iter().position(|kind| *kind == upos).map(|at| at as u8)
}

/// What is known of a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// How often it was a token of its own.
    pub(super) alone: Frequency,
    /// Its parts of speech as a form and as a lemma.
    pub(super) as_form: u8,
    pub(super) as_lemma: u8,
}

/// The key of a word as a form or as a lemma.
fn keys(word: u64) -> [u64; 2] {
    [8, 9].map(|salt| Hash::of(salt).and(word).value())
}

/// What is known of words, by hashes of their forms: Bloom filters with two hashes, which know all that was
/// seen, and rarely something that was not.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Lexicon<W> {
    /// The frequency of forms.
    pub(in super::super) forms: W,
    /// The parts of speech of forms and lemmas.
    pub(in super::super) kinds: W,
}

/// The two cells of a key.
fn cells(key: u64, count: usize) -> [usize; 2] {
    [251, 252].map(|salt| Hash::of(salt).and(key).feature() as usize & (count - 1))
}

/// The two numbers of a key.
fn read<W: Weights>(table: &W, key: u64) -> [u8; 2] {
    let all = table.cells();
    if all.is_empty() {
        return [0; 2];
    }
    cells(key, all.len()).map(|cell| {
        let value: f32 = all[cell].into();
        (value * table.scale()).round() as u8
    })
}

impl<W: Weights> Lexicon<W> {
    /// How often a form was a token of its own.
    pub(super) fn frequency(&self, form: u64) -> Frequency {
        let [one, other] = read(&self.forms, form);
        one.min(other)
    }

    pub(super) fn known(&self, word: u64) -> Known {
        let [as_form, as_lemma] = keys(word).map(|key| {
            let [one, other] = read(&self.kinds, key);
            one & other
        });
        Known { alone: self.frequency(word), as_form, as_lemma }
    }
}

impl Lexicon<Vec<f32>> {
    pub(super) fn compact(&self) -> Lexicon<Compact> {
        Lexicon { forms: Compact::new(&self.forms), kinds: Compact::new(&self.kinds) }
    }
}

/// How often all this was seen.
#[derive(Debug, Default)]
pub(super) struct Counts {
    forms: HashMap<u64, u32>,
    kinds: HashMap<u64, [u32; KINDS.len()]>,
}

impl Counts {
    /// Of forms that are tokens of their own, and all words of paragraphs.
    pub(super) fn new(paragraphs: &[Paragraph<'_>], alone: impl Iterator<Item = u64>) -> Self {
        let mut counts = Self::default();
        for form in alone {
            *counts.forms.entry(form).or_default() += 1;
        }
        for word in paragraphs.iter().flat_map(|paragraph| &paragraph.words) {
            let Some(kind) = word.kind else { continue };
            let [form, lemma] = [keys(word.form)[0], keys(word.lemma)[1]];
            for key in [form, lemma] {
                counts.kinds.entry(key).or_default()[usize::from(kind)] += 1;
            }
        }
        counts
    }

    /// The frequency of a form, of which some are not to be counted.
    pub(super) fn frequency(&self, form: u64, without: u32) -> Frequency {
        frequency(self.forms.get(&form).copied().unwrap_or(0).saturating_sub(without))
    }

    /// What other words tell than some.
    pub(super) fn known(&self, word: u64, without: &[Word]) -> Known {
        let mask = |key: u64, own: &dyn Fn(&Word) -> bool| {
            let Some(counts) = self.kinds.get(&key) else { return 0 };
            let is_known = |kind: u8| {
                let own = without.iter().filter(|word| word.kind == Some(kind) && own(word));
                counts[usize::from(kind)] as usize > own.count()
            };
            (0..KINDS.len() as u8).fold(0, |mask, kind| mask | u8::from(is_known(kind)) << kind)
        };
        let [form, lemma] = keys(word);
        Known {
            alone: self.frequency(word, 0),
            as_form: mask(form, &|own| own.form == word),
            as_lemma: mask(lemma, &|own| own.lemma == word),
        }
    }

    /// In tables with 16 cells or more for each key, so that they rarely know what was not seen.
    pub(super) fn lexicon(&self) -> Lexicon<Vec<f32>> {
        let bits = |keys: usize| (16 * keys).next_power_of_two().ilog2().clamp(10, 22);
        self.in_tables(bits(self.forms.len()), bits(self.kinds.len()))
    }

    /// In tables of 2^bits cells.
    fn in_tables(&self, forms: u32, kinds: u32) -> Lexicon<Vec<f32>> {
        let (mut forms, mut kinds) = (vec![0u8; 1 << forms], vec![0u8; 1 << kinds]);
        for (&form, &count) in &self.forms {
            for cell in cells(form, forms.len()) {
                forms[cell] = forms[cell].max(frequency(count));
            }
        }
        for (&key, counts) in &self.kinds {
            let seen = |(kind, count): (usize, &u32)| u8::from(*count > 0) << kind;
            let mask = counts.iter().enumerate().map(seen).fold(0, |mask, bit| mask | bit);
            for cell in cells(key, kinds.len()) {
                kinds[cell] |= mask;
            }
        }
        let numbers = |cells: Vec<u8>| cells.into_iter().map(f32::from).collect();
        Lexicon { forms: numbers(forms), kinds: numbers(kinds) }
    }
}

#[cfg(test)]
mod tests {
    use tutte_treebank::Sentence;

    use super::*;
    use crate::token_attributes;

    #[test]
    fn what_a_word_tells_itself_can_be_left_out() {
        let line = |id: &str, form: &str, lemma: &str, upos: &str| {
            format!("{id}\t{form}\t{lemma}\t{upos}\t_\t_\t_\t_\t_\t_\n")
        };
        let sentence: Sentence = [
            line("1", "Kentler", "kent", "NOUN"),
            line("2-3", "kentli", "_", "_"),
            line("2", "kent", "kent", "NOUN"),
            line("3", "li", "li", "ADP"),
            line("4", "kazan", "kazan", "VERB"),
        ]
        .concat()
        .parse()
        .unwrap();
        let sentences = [sentence];
        let paragraphs = Paragraph::of(&sentences);
        let word = |form: &str| token_attributes::form(form.chars());
        let alone = ["kentler", "kazan"].map(word);
        let counts = Counts::new(&paragraphs, alone.into_iter());
        let noun = 1 << kind("NOUN").unwrap();
        let kent = Known { alone: 0, as_form: noun, as_lemma: noun };
        assert_eq!(counts.known(word("kent"), &[]), kent);
        let own = paragraphs[0].words_of(1);
        assert_eq!(own.len(), 2);
        assert_eq!(counts.known(word("kent"), own), Known { as_form: 0, ..kent });
        let verb = 1 << kind("VERB").unwrap();
        let kazan = Known { alone: 1, as_form: verb, as_lemma: verb };
        for lexicon in [counts.lexicon().compact(), counts.in_tables(4, 4).compact()] {
            let found = lexicon.known(word("kazan"));
            assert_eq!(found.as_form & verb, verb, "all that was seen is known");
            assert!(found.alone >= 1);
        }
        assert_eq!(counts.lexicon().compact().known(word("kazan")), kazan);
        assert_eq!(counts.lexicon().compact().known(word("kent")), kent);
        assert_eq!(counts.lexicon().compact().known(word("tea")), Known::default());
        assert_eq!(kind("PUNCT"), None);
    }
}
