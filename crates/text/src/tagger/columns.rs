//! What a tagger looks at: columns of numbers, a value for each word, of which [templates](super::templates)
//! name some. A template whose values are all there fires with a key, the hash of them, and the key finds
//! the template's row of weights.

use tutte_linear::chain;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::lexicon::{self, Entry, Lexicon};
use super::templates::Column::{
    AfterLemma, AfterStem, Bias, Class, Ending, Form, Lemma, Lower, Place, Prefix1, Prefix5, Shape,
    ShortEnding, Skeleton5, Skeleton7, Stem, Suffix1, Suffix6, Upos, Usual,
};
use super::templates::{COLUMNS, Column, Template};
use crate::characters;

/// Stems as long as this are not looked for: each costs its length, and what is longer is no word.
const LONGEST_STEM: usize = 64;
/// The same of lemmas.
const LONGEST_LEMMA: usize = 24;

/// What stands before and after a sentence, in all columns.
const OUTSIDE: u64 = 0x5eed;
/// How far templates look.
pub(super) const MARGIN: usize = 2;
/// The value of what is absent.
const ABSENT: u64 = 0;

/// The values of a sentence.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    words: usize,
    /// `[column][MARGIN + word]`.
    values: Vec<u64>,
    lower: String,
    skeleton: Vec<char>,
    shape: String,
    starts: Vec<usize>,
}

/// What is known of words.
pub(super) trait Knowledge {
    /// Of a word, by its number in the sentence and its key.
    fn form(&self, word: usize, key: u64) -> Entry;
    /// Of a lemma with which that word may start.
    fn lemma(&self, word: usize, key: u64) -> Entry;
}

/// Of new sentences, all.
impl Knowledge for Lexicon {
    fn form(&self, _: usize, key: u64) -> Entry {
        self.get(key)
    }

    fn lemma(&self, _: usize, key: u64) -> Entry {
        self.get(key)
    }
}

impl Columns {
    /// Looks at the forms of a sentence; `known` is what is known of each word.
    pub(super) fn fill<'a>(
        &mut self,
        forms: impl Iterator<Item = &'a str> + Clone,
        lexicon: &Lexicon,
        known: &impl Knowledge,
    ) {
        self.words = forms.clone().count();
        self.values.clear();
        self.values.resize(COLUMNS * self.stride(), OUTSIDE);
        let small = |form: &str| form.chars().any(char::is_lowercase);
        let no_small_letters = !forms.clone().any(small);
        for (word, form) in forms.enumerate() {
            self.word(word, form, no_small_letters, lexicon, known);
        }
    }

    fn word(
        &mut self,
        word: usize,
        form: &str,
        no_small_letters: bool,
        lexicon: &Lexicon,
        known: &impl Knowledge,
    ) {
        let mut lower = std::mem::take(&mut self.lower);
        lower.clear();
        match form.is_ascii() {
            true => lower.extend(form.bytes().map(|byte| char::from(byte.to_ascii_lowercase()))),
            false => lower.push_str(&form.to_lowercase()),
        }
        self.starts.clear();
        self.starts.extend(lower.char_indices().map(|(at, _)| at));
        let letters = self.starts.len();
        let start = |of: usize, starts: &[usize]| starts.get(of).copied().unwrap_or(lower.len());
        for (column, length) in (Prefix1 as usize..=Prefix5 as usize).zip(1..) {
            let value = match letters >= length {
                true => hash(3, &lower[..start(length, &self.starts)]),
                false => ABSENT,
            };
            self.set_number(column, word, value);
        }
        let last = |length: usize, starts: &[usize]| {
            &lower[start(letters.saturating_sub(length), starts)..]
        };
        for (column, length) in (Suffix1 as usize..=Suffix6 as usize).zip(1..) {
            let value = match letters >= length {
                true => hash(4, last(length, &self.starts)),
                false => ABSENT,
            };
            self.set_number(column, word, value);
        }
        let (ending, short) = (hash(5, last(3, &self.starts)), hash(6, last(2, &self.starts)));
        self.set(Ending, word, ending);
        self.set(ShortEnding, word, short);
        let key = lexicon::key(&lower);
        let entry = known.form(word, key);
        let of_class = |seed, value: u64| xxh3_64_with_seed(&value.to_le_bytes(), seed);
        let (class, usual) = match entry.tag {
            0 => (ending, short),
            tag => (of_class(7, entry.class.into()), of_class(8, tag.into())),
        };
        self.set(Class, word, class);
        self.set(Usual, word, usual);
        let stems = (3..letters.min(LONGEST_STEM)).rev().map(|length| start(length, &self.starts));
        let stem = stems.map(|end| (end, lexicon.get(lexicon::key(&lower[..end])).tag));
        let (end, tag) = stem.into_iter().find(|(_, tag)| *tag != 0).unwrap_or((0, 0));
        self.set(Stem, word, of_class(9, tag.into()));
        self.set(AfterStem, word, hash(10, &lower[end..]));
        let lemmas = (2..=letters.min(LONGEST_LEMMA))
            .rev()
            .map(|length| (length, start(length, &self.starts)));
        let lemma = lemmas.map(|(length, end)| {
            (length, known.lemma(word, lexicon::lemma_key(&lower[..end])).tag)
        });
        let (length, tag) = lemma.into_iter().find(|(_, tag)| *tag != 0).unwrap_or((0, 0));
        self.set(Lemma, word, of_class(12, tag.into()));
        self.skeleton.clear();
        self.skeleton.extend(lower.chars().map(characters::skeleton));
        let after = hash_of(13, &self.skeleton[length..]);
        self.set(AfterLemma, word, after);
        for (column, length) in [(Skeleton5, 5), (Skeleton7, 7)] {
            let value = match letters.checked_sub(length) {
                Some(first) => hash_of(14, &self.skeleton[first..]),
                None => ABSENT,
            };
            self.set(column, word, value);
        }
        self.set(Bias, word, 1);
        self.set(Form, word, hash(1, form));
        self.set(Lower, word, hash(2, &lower));
        shape_of(form, &mut self.shape);
        let shape = hash(11, &self.shape);
        self.set(Shape, word, shape);
        self.set(Place, word, 1 + u64::from(word == 0) + 2 * u64::from(no_small_letters));
        self.lower = lower;
    }

    /// Tells the coarse tag of a word.
    pub(super) fn set_upos(&mut self, word: usize, upos: usize) {
        self.set(Upos, word, upos as u64 + 1);
    }

    fn set(&mut self, column: Column, word: usize, value: u64) {
        self.set_number(column as usize, word, value);
    }

    fn set_number(&mut self, column: usize, word: usize, value: u64) {
        let at = column * self.stride() + MARGIN + word;
        self.values[at] = value;
    }

    fn stride(&self) -> usize {
        self.words + 2 * MARGIN
    }

    /// The number of words.
    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// The keys of the templates that fire for a word, with the numbers of these.
    pub(super) fn keys(
        &self,
        templates: &[Template],
        word: usize,
        mut found: impl FnMut(usize, u64),
    ) {
        let stride = self.stride();
        for (number, template) in templates.iter().enumerate() {
            let mut key = number as u64 + 1;
            let mut fires = true;
            for &(column, offset) in *template {
                let at =
                    column as usize * stride + (MARGIN + word).wrapping_add_signed(offset.into());
                let value = self.values[at];
                fires &= value != ABSENT;
                key = chain(key, value);
            }
            if fires {
                found(number, key);
            }
        }
    }
}

/// Never [`ABSENT`].
fn hash(seed: u64, text: &str) -> u64 {
    xxh3_64_with_seed(text.as_bytes(), seed).max(1)
}

/// The same of characters.
fn hash_of(seed: u64, characters: &[char]) -> u64 {
    characters.iter().fold(chain(0, seed), |key, &c| chain(key, c.into())).max(1)
}

fn shape_of(form: &str, shape: &mut String) {
    shape.clear();
    let (mut last, mut run) = (' ', 0);
    for character in form.chars() {
        let kind = match character {
            c if c.is_uppercase() => 'X',
            c if c.is_lowercase() => 'x',
            c if c.is_numeric() => 'd',
            c if c.is_alphabetic() => 'a',
            other => other,
        };
        run = if kind == last { run + 1 } else { 1 };
        last = kind;
        if run <= 2 {
            shape.push(kind);
        }
    }
}

/// Where the rows of keys are in a table of weights: 2^bits rows of so many cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rows {
    pub(super) bits: u32,
    pub(super) width: usize,
}

impl Rows {
    /// The first cell of a key's row: a key is a fraction of 2⁶⁴, and this the same fraction of all rows.
    pub(super) fn start(self, key: u64) -> usize {
        (key >> (u64::BITS - self.bits)) as usize * self.width
    }

    pub(super) fn cells(self) -> usize {
        self.width << self.bits
    }
}

#[cfg(test)]
mod tests {
    use super::super::templates::COARSE;
    use super::*;

    fn keys(forms: &[&str], word: usize) -> Vec<(usize, u64)> {
        let mut columns = Columns::default();
        let lexicon = Lexicon::default();
        columns.fill(forms.iter().copied(), &lexicon, &lexicon);
        let mut found = Vec::new();
        columns.keys(COARSE, word, |number, key| found.push((number, key)));
        found
    }

    #[test]
    fn templates_see_what_they_name() {
        let [one, other] = [keys(&["Old", "tea", "cools"], 1), keys(&["New", "tea", "cools"], 1)];
        let differs = |number: usize| {
            let key =
                |list: &[(usize, u64)]| list.iter().find(|(n, _)| *n == number).map(|(_, k)| *k);
            key(&one) != key(&other)
        };
        for (number, template) in COARSE.iter().enumerate() {
            let looks = template
                .iter()
                .any(|(column, offset)| *offset == -1 && !matches!(column, Shape | Place));
            assert_eq!(differs(number), looks, "{template:?}");
        }
    }

    #[test]
    fn short_words_have_no_long_affixes() {
        let absent = |form: &str| COARSE.len() - keys(&[form], 0).len();
        assert_eq!(absent("tea"), 2 + 3 + 2);
        assert_eq!(absent("kettle"), 1);
        assert_eq!(absent("kettles"), 0);
        assert_eq!(absent(""), 5 + 6 + 2, "even an empty form does no harm");
    }

    /// `gelmiş` and `kalmış` have one suffix after lemmas of one tag, as far as these are known.
    #[test]
    fn suffixes_are_what_follows_lemmas_whatever_their_vowels() {
        let lexicon = |lemmas: &[&str]| {
            let mut counter = lexicon::Counter::default();
            lemmas.iter().for_each(|lemma| counter.add(lexicon::lemma_key(lemma), 3));
            counter.lexicon()
        };
        let value = |lexicon: &Lexicon, form: &str, column: Column| {
            let mut columns = Columns::default();
            columns.fill([form].into_iter(), lexicon, lexicon);
            columns.values[column as usize * columns.stride() + MARGIN]
        };
        let both = lexicon(&["gel", "kal"]);
        for column in [Lemma, AfterLemma] {
            assert_eq!(value(&both, "gelmiş", column), value(&both, "Kalmış", column));
            assert_ne!(value(&both, "gelmiş", column), value(&lexicon(&["kal"]), "gelmiş", column));
        }
        assert_ne!(value(&both, "gelmiş", Skeleton5), value(&both, "gelmez", Skeleton5));
        assert_eq!(value(&both, "gelmişti", Skeleton7), value(&both, "kalmıştı", Skeleton7));
    }

    #[test]
    fn shapes_are_kinds_of_characters() {
        let shape = |form| {
            let mut shape = String::new();
            shape_of(form, &mut shape);
            shape
        };
        assert_eq!(shape("McDonald's"), "XxXxx'x");
        assert_eq!(shape("2026-11-16"), "dd-dd-dd");
        assert_eq!(shape("茶"), "a");
    }
}
