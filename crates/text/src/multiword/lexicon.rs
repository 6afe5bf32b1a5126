//! Lexicon of the words with which a multiword token may begin: how often a word is a token of its own, and its parts
//! of speech as a form and as a lemma. Turkish `kent` is a noun, so `kentli` is two words; `kazan` is a verb, so
//! `kazandı` is one.

use std::collections::HashMap;

use tutte_linear::{Compact, Hash, Weights};

use crate::training_text::{GoldParagraph, GoldWord, PARTS_OF_SPEECH, frequency};

/// Frequency class, see [`frequency`].
pub(super) type Frequency = u8;

/// Set of parts of speech, one bit for each of [`PARTS_OF_SPEECH`].
pub(super) type PosSet = u8;

/// Returns the parts of speech of a set, in their order.
pub(super) fn each_pos(set: PosSet) -> impl Iterator<Item = u64> + Clone {
    (0..8).filter(move |pos| set >> pos & 1 == 1)
}

/// Entry of a word in the lexicon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// Frequency of the word as a token of its own.
    pub(super) frequency: Frequency,
    /// Its parts of speech as a form.
    pub(super) form_pos: PosSet,
    /// Its parts of speech as a lemma.
    pub(super) lemma_pos: PosSet,
}

/// Returns the keys of a word as a form and as a lemma.
fn keys(word: u64) -> [u64; 2] {
    [8, 9].map(|salt| Hash::of(salt).and(word).value())
}

/// Lexicon by the hashes of words: Bloom filters with two hashes. They hold every word of the treebank, and rarely
/// seem to hold another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lexicon<W> {
    /// [`Frequency`] of forms.
    pub(crate) frequencies: W,
    /// [`PosSet`] of forms and lemmas.
    pub(crate) parts_of_speech: W,
}

/// Returns the two cells of a key.
fn cells(key: u64, count: usize) -> [usize; 2] {
    [251, 252].map(|salt| Hash::of(salt).and(key).feature() as usize & (count - 1))
}

/// Returns the values of the two cells of a key.
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
    /// Returns how often a form was a token of its own.
    pub(crate) fn frequency(&self, form: u64) -> Frequency {
        let [one, other] = read(&self.frequencies, form);
        one.min(other)
    }

    /// Returns the entry of a word.
    pub(super) fn entry(&self, word: u64) -> Entry {
        let [form_pos, lemma_pos] = keys(word).map(|key| {
            let [one, other] = read(&self.parts_of_speech, key);
            one & other
        });
        Entry { frequency: self.frequency(word), form_pos, lemma_pos }
    }
}

impl Lexicon<Vec<f32>> {
    pub(super) fn compact(&self) -> Lexicon<Compact> {
        Lexicon {
            frequencies: Compact::new(&self.frequencies),
            parts_of_speech: Compact::new(&self.parts_of_speech),
        }
    }
}

/// Counts from which a [`Lexicon`] is made.
#[derive(Debug, Default)]
pub(super) struct Counts {
    forms: HashMap<u64, u32>,
    parts_of_speech: HashMap<u64, [u32; PARTS_OF_SPEECH.len()]>,
}

impl Counts {
    /// Counts the words of paragraphs, and the forms that are tokens of their own, in `alone`.
    pub(super) fn new(paragraphs: &[GoldParagraph<'_>], alone: impl Iterator<Item = u64>) -> Self {
        let mut counts = Self::default();
        for form in alone {
            *counts.forms.entry(form).or_default() += 1;
        }
        for word in paragraphs.iter().flat_map(|paragraph| &paragraph.words) {
            let Some(pos) = word.part_of_speech else { continue };
            let [form, lemma] = [keys(word.form)[0], keys(word.lemma)[1]];
            for key in [form, lemma] {
                counts.parts_of_speech.entry(key).or_default()[usize::from(pos)] += 1;
            }
        }
        counts
    }

    /// Returns the frequency of a form after `without` is subtracted from its count.
    pub(super) fn frequency(&self, form: u64, without: u32) -> Frequency {
        frequency(self.forms.get(&form).copied().unwrap_or(0).saturating_sub(without))
    }

    /// Returns the entry of a word, without the occurrences in `left_out`.
    pub(super) fn entry(&self, word: u64, left_out: &[GoldWord]) -> Entry {
        let pos_set = |key: u64, is_same: &dyn Fn(&GoldWord) -> bool| {
            let Some(counts) = self.parts_of_speech.get(&key) else { return 0 };
            let is_known = |pos: u8| {
                let own = left_out
                    .iter()
                    .filter(|word| word.part_of_speech == Some(pos) && is_same(word));
                counts[usize::from(pos)] as usize > own.count()
            };
            let all = 0..PARTS_OF_SPEECH.len() as u8;
            all.fold(0, |set, pos| set | u8::from(is_known(pos)) << pos)
        };
        let [form, lemma] = keys(word);
        Entry {
            frequency: self.frequency(word, 0),
            form_pos: pos_set(form, &|own| own.form == word),
            lemma_pos: pos_set(lemma, &|own| own.lemma == word),
        }
    }

    /// Returns the lexicon. Its tables have 16 cells or more for each key, so false entries are rare.
    pub(super) fn lexicon(&self) -> Lexicon<Vec<f32>> {
        let bits = |keys: usize| (16 * keys).next_power_of_two().ilog2().clamp(10, 22);
        self.in_tables(bits(self.forms.len()), bits(self.parts_of_speech.len()))
    }

    /// Returns the lexicon without parts of speech, which only multiword tokens need.
    pub(super) fn lexicon_of_forms(&self) -> Lexicon<Vec<f32>> {
        Lexicon { parts_of_speech: Vec::new(), ..self.lexicon() }
    }

    /// Returns the lexicon with tables of 2^bits cells.
    fn in_tables(&self, form_bits: u32, pos_bits: u32) -> Lexicon<Vec<f32>> {
        let mut frequencies = vec![0u8; 1 << form_bits];
        for (&form, &count) in &self.forms {
            for cell in cells(form, frequencies.len()) {
                frequencies[cell] = frequencies[cell].max(frequency(count));
            }
        }
        let mut parts_of_speech = vec![0u8; 1 << pos_bits];
        for (&key, counts) in &self.parts_of_speech {
            let bit = |(pos, count): (usize, &u32)| u8::from(*count > 0) << pos;
            let set = counts.iter().enumerate().map(bit).fold(0, |set, bit| set | bit);
            for cell in cells(key, parts_of_speech.len()) {
                parts_of_speech[cell] |= set;
            }
        }
        let numbers = |cells: Vec<u8>| cells.into_iter().map(f32::from).collect();
        Lexicon { frequencies: numbers(frequencies), parts_of_speech: numbers(parts_of_speech) }
    }
}

#[cfg(test)]
mod tests {
    use tutte_treebank::Sentence;

    use super::*;
    use crate::token_attributes::form_hash;
    use crate::training_text::part_of_speech;

    #[test]
    fn the_occurrence_of_a_word_can_be_left_out() {
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
        let paragraphs = GoldParagraph::of(&sentences);
        let word = |form: &str| form_hash(form.chars());
        let alone = ["kentler", "kazan"].map(word);
        let counts = Counts::new(&paragraphs, alone.into_iter());
        let noun = 1 << part_of_speech("NOUN").unwrap();
        let kent = Entry { frequency: 0, form_pos: noun, lemma_pos: noun };
        assert_eq!(counts.entry(word("kent"), &[]), kent);
        let own = paragraphs[0].words_of(1);
        assert_eq!(own.len(), 2);
        assert_eq!(counts.entry(word("kent"), own), Entry { form_pos: 0, ..kent });
        let verb = 1 << part_of_speech("VERB").unwrap();
        let kazan = Entry { frequency: 1, form_pos: verb, lemma_pos: verb };
        for lexicon in [counts.lexicon().compact(), counts.in_tables(4, 4).compact()] {
            let found = lexicon.entry(word("kazan"));
            assert_eq!(found.form_pos & verb, verb, "every word of the treebank is found");
            assert!(found.frequency >= 1);
        }
        assert_eq!(counts.lexicon().compact().entry(word("kazan")), kazan);
        assert_eq!(counts.lexicon().compact().entry(word("kent")), kent);
        assert_eq!(counts.lexicon().compact().entry(word("tea")), Entry::default());
        assert_eq!(part_of_speech("PUNCT"), None);
    }
}
