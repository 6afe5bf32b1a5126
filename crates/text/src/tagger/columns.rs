//! Attributes of the words of a sentence, and the features that [templates](super::templates) make of them.
//!
//! Attributes are columns of numbers, with one value per word. A template fires if none of its values is absent. Its
//! key is the hash of the values, and the key leads to a row of weights.

use tutte_linear::{chain, hash_bytes, hash_text};

use super::lexicon::{self, Entry, Lexicon};
use super::templates::Column::{
    AfterLemma, AfterStem, Bias, Class, Ending, Form, LemmaTag, Lower, Position, Prefix1, Prefix5,
    Shape, ShortEnding, Skeleton5, Skeleton7, StemTag, Suffix1, Suffix6, Upos, UsualTag,
};
use super::templates::{COLUMNS, Column, Template};
use crate::characters::skeleton;

/// Stems of this length or more are not looked up: each look-up costs the length of the stem.
const MAX_STEM: usize = 64;
/// Maximal length of the lemmas that are looked up.
const MAX_LEMMA: usize = 24;

/// Value before and after the sentence, in all columns.
const OUTSIDE: u64 = 0x5eed;
/// Largest offset of a template.
pub(super) const MARGIN: usize = 2;
/// Value of an absent attribute.
const ABSENT: u64 = 0;

/// Values of the attributes of a sentence.
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

/// Looks up the words of a sentence: in the lexicon, or in training without the occurrence itself.
pub(super) trait LookUp {
    /// Returns the entry of a form. `word` is its index in the sentence.
    fn form(&self, word: usize, key: u64) -> Entry;
    /// Returns the entry of a lemma with which that word may start.
    fn lemma(&self, word: usize, key: u64) -> Entry;
}

impl LookUp for Lexicon {
    fn form(&self, _: usize, key: u64) -> Entry {
        self.get(key)
    }

    fn lemma(&self, _: usize, key: u64) -> Entry {
        self.get(key)
    }
}

impl Columns {
    /// Computes the attributes of the words of a sentence. Stems are looked up in `lexicon`, words and lemmas in
    /// `look_up`.
    pub(super) fn fill<'a>(
        &mut self,
        forms: impl Iterator<Item = &'a str> + Clone,
        lexicon: &Lexicon,
        look_up: &impl LookUp,
    ) {
        self.words = forms.clone().count();
        self.values.clear();
        self.values.resize(COLUMNS * self.stride(), OUTSIDE);
        let has_lower_case = |form: &str| form.chars().any(char::is_lowercase);
        let is_upper_case = !forms.clone().any(has_lower_case);
        for (word, form) in forms.enumerate() {
            self.fill_word(word, form, is_upper_case, lexicon, look_up);
        }
    }

    /// Computes the attributes of one word. `is_upper_case` is `true` if no word of the sentence has lower-case
    /// letters.
    fn fill_word(
        &mut self,
        word: usize,
        form: &str,
        is_upper_case: bool,
        lexicon: &Lexicon,
        look_up: &impl LookUp,
    ) {
        let mut lower = std::mem::take(&mut self.lower);
        lower.clear();
        if form.is_ascii() {
            lower.extend(form.bytes().map(|byte| char::from(byte.to_ascii_lowercase())));
        } else {
            lower.push_str(&form.to_lowercase());
        }
        self.starts.clear();
        self.starts.extend(lower.char_indices().map(|(at, _)| at));
        let letters = self.starts.len();
        let start = |of: usize, starts: &[usize]| starts.get(of).copied().unwrap_or(lower.len());
        for (column, length) in (Prefix1 as usize..=Prefix5 as usize).zip(1..) {
            let value = if letters >= length {
                hash(3, &lower[..start(length, &self.starts)])
            } else {
                ABSENT
            };
            self.set_number(column, word, value);
        }
        let last = |length: usize, starts: &[usize]| {
            &lower[start(letters.saturating_sub(length), starts)..]
        };
        for (column, length) in (Suffix1 as usize..=Suffix6 as usize).zip(1..) {
            let value =
                if letters >= length { hash(4, last(length, &self.starts)) } else { ABSENT };
            self.set_number(column, word, value);
        }
        let ending = hash(5, last(3, &self.starts));
        let short_ending = hash(6, last(2, &self.starts));
        self.set(Ending, word, ending);
        self.set(ShortEnding, word, short_ending);
        let key = lexicon::form_key(&lower);
        let entry = look_up.form(word, key);
        let hash_number = |seed, value: u64| hash_bytes(&value.to_le_bytes(), seed);
        let (class, usual_tag) = match entry.tag {
            0 => (ending, short_ending),
            tag => (hash_number(7, entry.class.into()), hash_number(8, tag.into())),
        };
        self.set(Class, word, class);
        self.set(UsualTag, word, usual_tag);
        let stems = (3..letters.min(MAX_STEM)).rev().map(|length| start(length, &self.starts));
        let stem = stems.map(|end| (end, lexicon.get(lexicon::form_key(&lower[..end])).tag));
        let (end, tag) = stem.into_iter().find(|(_, tag)| *tag != 0).unwrap_or((0, 0));
        self.set(StemTag, word, hash_number(9, tag.into()));
        self.set(AfterStem, word, hash(10, &lower[end..]));
        let lemmas =
            (2..=letters.min(MAX_LEMMA)).rev().map(|length| (length, start(length, &self.starts)));
        let lemma = lemmas.map(|(length, end)| {
            (length, look_up.lemma(word, lexicon::lemma_key(&lower[..end])).tag)
        });
        let (length, tag) = lemma.into_iter().find(|(_, tag)| *tag != 0).unwrap_or((0, 0));
        self.set(LemmaTag, word, hash_number(12, tag.into()));
        self.skeleton.clear();
        self.skeleton.extend(lower.chars().map(skeleton));
        let after = hash_characters(13, &self.skeleton[length..]);
        self.set(AfterLemma, word, after);
        for (column, length) in [(Skeleton5, 5), (Skeleton7, 7)] {
            let value = match letters.checked_sub(length) {
                Some(first) => hash_characters(14, &self.skeleton[first..]),
                None => ABSENT,
            };
            self.set(column, word, value);
        }
        self.set(Bias, word, 1);
        self.set(Form, word, hash(1, form));
        self.set(Lower, word, hash(2, &lower));
        write_shape(form, &mut self.shape);
        let shape = hash(11, &self.shape);
        self.set(Shape, word, shape);
        self.set(Position, word, 1 + u64::from(word == 0) + 2 * u64::from(is_upper_case));
        self.lower = lower;
    }

    /// Sets the coarse tag of a word.
    pub(super) fn set_upos(&mut self, word: usize, upos: usize) {
        self.set(Upos, word, upos as u64 + 1);
    }

    /// Sets the coarse tags of all words.
    pub(super) fn set_all_upos(&mut self, upos: &[usize]) {
        upos.iter().enumerate().for_each(|(word, &tag)| self.set_upos(word, tag));
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

    /// Returns the number of words.
    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// Calls `found` with the index and the key of each template that fires for a word.
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

/// Returns the hash of a text; it is never [`ABSENT`].
fn hash(seed: u64, text: &str) -> u64 {
    hash_text(text, seed).max(1)
}

/// Returns the hash of characters; it is never [`ABSENT`].
fn hash_characters(seed: u64, characters: &[char]) -> u64 {
    characters.iter().fold(chain(0, seed), |key, &c| chain(key, c.into())).max(1)
}

/// Writes the shape of a form, see [`Shape`].
fn write_shape(form: &str, shape: &mut String) {
    shape.clear();
    let mut last = ' ';
    let mut run = 0;
    for character in form.chars() {
        let class = match character {
            c if c.is_uppercase() => 'X',
            c if c.is_lowercase() => 'x',
            c if c.is_numeric() => 'd',
            c if c.is_alphabetic() => 'a',
            other => other,
        };
        run = if class == last { run + 1 } else { 1 };
        last = class;
        if run <= 2 {
            shape.push(class);
        }
    }
}

/// Layout of a table of weights: 2^bits rows of `width` cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowLayout {
    pub(super) bits: u32,
    pub(super) width: usize,
}

impl RowLayout {
    /// Returns the first cell of a key's row. The key is a fraction of 2⁶⁴, and the row is the same fraction of all
    /// rows.
    pub(super) fn start(self, key: u64) -> usize {
        (key >> (u64::BITS - self.bits)) as usize * self.width
    }

    /// Returns the number of cells.
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
            let is_different = template
                .iter()
                .any(|(column, offset)| *offset == -1 && !matches!(column, Shape | Position));
            assert_eq!(differs(number), is_different, "{template:?}");
        }
    }

    #[test]
    fn short_words_have_no_long_affixes() {
        let absent = |form: &str| COARSE.len() - keys(&[form], 0).len();
        assert_eq!(absent("tea"), 2 + 3 + 2);
        assert_eq!(absent("kettle"), 1);
        assert_eq!(absent("kettles"), 0);
        assert_eq!(absent(""), 5 + 6 + 2, "an empty form does no harm");
    }

    /// `gelmiş` and `kalmış` have the same suffix after lemmas with the same tag, if these are in the lexicon.
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
        for column in [LemmaTag, AfterLemma] {
            assert_eq!(value(&both, "gelmiş", column), value(&both, "Kalmış", column));
            assert_ne!(value(&both, "gelmiş", column), value(&lexicon(&["kal"]), "gelmiş", column));
        }
        assert_ne!(value(&both, "gelmiş", Skeleton5), value(&both, "gelmez", Skeleton5));
        assert_eq!(value(&both, "gelmişti", Skeleton7), value(&both, "kalmıştı", Skeleton7));
    }

    #[test]
    fn shapes_are_classes_of_characters() {
        let shape = |form| {
            let mut shape = String::new();
            write_shape(form, &mut shape);
            shape
        };
        assert_eq!(shape("McDonald's"), "XxXxx'x");
        assert_eq!(shape("2026-11-16"), "dd-dd-dd");
        assert_eq!(shape("茶"), "a");
    }
}
