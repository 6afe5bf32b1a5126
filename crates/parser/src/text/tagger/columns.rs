//! What a tagger looks at: columns of numbers, a value for each word, and templates that name values of a
//! word and its neighbours. A template whose values are all there fires with a key, the hash of them, and
//! the key finds the template's row of weights.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::lexicon::{self, Entry, Lexicon};

/// Stems as long as this are not looked for: each costs its length, and what is longer is no word.
const LONGEST_STEM: usize = 64;

/// What can be looked at in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// Always the same.
    Bias,
    /// The word as written.
    Form,
    /// The word in lower case.
    Lower,
    /// The first 1 to 5 characters, in lower case; absent if there are not so many.
    Prefix1,
    Prefix2,
    Prefix3,
    Prefix4,
    Prefix5,
    /// The last 1 to 6 characters.
    Suffix1,
    Suffix2,
    Suffix3,
    Suffix4,
    Suffix5,
    Suffix6,
    /// At most the last three characters; never absent.
    Ending,
    /// At most the last two.
    ShortEnding,
    /// Kinds of characters: `Xxx-dd` with repetitions cut to two.
    Shape,
    /// Whether the word is the first, and whether no word has small letters.
    Place,
    /// The class of the word in the lexicon; of one never seen, its ending.
    Class,
    /// The word's most frequent tag; of one never seen, its short ending.
    Usual,
    /// The most frequent tag of the longest known word that this one starts with, of three letters at least.
    Stem,
    /// What follows that word.
    AfterStem,
    /// The coarse tag, once that is known.
    Upos,
}

use Column::{
    AfterStem, Bias, Class, Ending, Form, Lower, Place, Prefix1, Prefix2, Prefix3, Prefix4,
    Prefix5, Shape, ShortEnding, Stem, Suffix1, Suffix2, Suffix3, Suffix4, Suffix5, Suffix6, Upos,
    Usual,
};

const COLUMNS: usize = Upos as usize + 1;

/// Values of words at some distance: those of one template.
pub(super) type Template = &'static [(Column, i8)];

/// By what coarse tags are chosen, besides their neighbours.
pub(super) const COARSE: &[Template] = &[
    &[(Form, 0)],
    &[(Lower, 0)],
    &[(Bias, 0)],
    &[(Prefix1, 0)],
    &[(Prefix2, 0)],
    &[(Prefix3, 0)],
    &[(Prefix4, 0)],
    &[(Prefix5, 0)],
    &[(Suffix1, 0)],
    &[(Suffix2, 0)],
    &[(Suffix3, 0)],
    &[(Suffix4, 0)],
    &[(Suffix5, 0)],
    &[(Suffix6, 0)],
    &[(Shape, 0)],
    &[(Shape, 0), (Place, 0)],
    &[(Lower, -1)],
    &[(Lower, 1)],
    &[(Lower, -2)],
    &[(Lower, 2)],
    &[(Lower, -1), (Lower, 0)],
    &[(Lower, 0), (Lower, 1)],
    &[(Lower, -1), (Lower, 1)],
    &[(Ending, -1)],
    &[(Ending, 1)],
    &[(ShortEnding, -1), (ShortEnding, 0)],
    &[(ShortEnding, 0), (ShortEnding, 1)],
    &[(Shape, -1), (Shape, 0)],
    &[(Shape, 0), (Shape, 1)],
    &[(Stem, 0)],
    &[(Stem, 0), (AfterStem, 0)],
    &[(Class, 0)],
    &[(Class, -1)],
    &[(Class, 1)],
    &[(Class, 2)],
    &[(Class, -2)],
    &[(Class, 0), (Usual, 1)],
    &[(Usual, -1), (Class, 0)],
    &[(Usual, -1), (Class, 0), (Usual, 1)],
    &[(Class, 0), (Usual, 1), (Usual, 2)],
    &[(Usual, -2), (Usual, -1), (Class, 0)],
    &[(Usual, -1), (Usual, 1)],
    &[(Usual, 1), (Usual, 2)],
    &[(Lower, 0), (Usual, 1)],
    &[(Usual, -1), (Lower, 0)],
    &[(Ending, 0), (Usual, 1)],
    &[(Usual, -1), (Ending, 0)],
];

/// By what fine tags and morphological features are chosen, once coarse tags are known.
pub(super) const FINE: &[Template] = &[
    &[(Upos, 0), (Form, 0)],
    &[(Upos, 0), (Lower, 0)],
    &[(Upos, 0)],
    &[(Upos, 0), (Prefix2, 0)],
    &[(Upos, 0), (Prefix4, 0)],
    &[(Upos, 0), (Suffix1, 0)],
    &[(Upos, 0), (Suffix2, 0)],
    &[(Upos, 0), (Suffix3, 0)],
    &[(Upos, 0), (Suffix4, 0)],
    &[(Upos, 0), (Suffix5, 0)],
    &[(Upos, 0), (Suffix6, 0)],
    &[(Upos, 0), (Shape, 0)],
    &[(Upos, 0), (AfterStem, 0)],
    &[(Upos, 0), (Lower, -1)],
    &[(Upos, 0), (Lower, 1)],
    &[(Upos, 0), (Lower, -2)],
    &[(Upos, 0), (Lower, 2)],
    &[(Upos, 0), (Lower, -1), (Lower, 0)],
    &[(Upos, 0), (Lower, 0), (Lower, 1)],
    &[(Upos, 0), (Ending, -1)],
    &[(Upos, 0), (Ending, 1)],
    &[(Upos, 0), (ShortEnding, 0), (ShortEnding, -1)],
    &[(Upos, 0), (ShortEnding, 0), (ShortEnding, 1)],
    &[(Upos, -1), (Upos, 0), (Upos, 1)],
    &[(Upos, -2), (Upos, -1), (Upos, 0)],
    &[(Upos, -1), (Upos, 0), (Ending, 0)],
    &[(Upos, 0), (Upos, 1), (Ending, 0)],
    &[(Upos, -1), (Upos, 0), (Lower, 0)],
];

/// The templates of the word itself, which a learner leaves out now and then; they come first.
pub(super) const OF_THE_WORD: usize = 2;

/// What stands before and after a sentence, in all columns.
const OUTSIDE: u64 = 0x5eed;
/// How far templates look.
const MARGIN: usize = 2;
/// The value of what is absent.
const ABSENT: u64 = 0;

/// The values of a sentence.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    words: usize,
    /// `[column][MARGIN + word]`.
    values: Vec<u64>,
    lower: String,
    shape: String,
    starts: Vec<usize>,
}

impl Columns {
    /// Looks at the forms of a sentence; `known` is what is known of each word, by its number and its key.
    pub(super) fn fill<'a>(
        &mut self,
        forms: impl Iterator<Item = &'a str> + Clone,
        lexicon: &Lexicon,
        known: impl Fn(usize, u64) -> Entry,
    ) {
        self.words = forms.clone().count();
        self.values.clear();
        self.values.resize(COLUMNS * self.stride(), OUTSIDE);
        let small = |form: &str| form.chars().any(char::is_lowercase);
        let no_small_letters = !forms.clone().any(small);
        for (word, form) in forms.enumerate() {
            self.word(word, form, no_small_letters, lexicon, &known);
        }
    }

    fn word(
        &mut self,
        word: usize,
        form: &str,
        no_small_letters: bool,
        lexicon: &Lexicon,
        known: &impl Fn(usize, u64) -> Entry,
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
        let entry = known(word, key);
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
                key = mix(key, value);
            }
            if fires {
                found(number, key);
            }
        }
    }
}

/// A number for a list of numbers, one after the other; the high bits are good.
fn mix(key: u64, value: u64) -> u64 {
    (key.rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Never [`ABSENT`].
fn hash(seed: u64, text: &str) -> u64 {
    xxh3_64_with_seed(text.as_bytes(), seed).max(1)
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
    use super::*;

    fn keys(forms: &[&str], word: usize) -> Vec<(usize, u64)> {
        let mut columns = Columns::default();
        columns.fill(forms.iter().copied(), &Lexicon::default(), |_, _| Entry::default());
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
        assert_eq!(absent("tea"), 2 + 3);
        assert_eq!(absent("kettle"), 0);
        assert_eq!(absent(""), 5 + 6, "even an empty form does no harm");
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

    #[test]
    fn the_templates_of_the_word_itself_come_first() {
        for templates in [COARSE, FINE] {
            let own = |template: &Template| {
                template.len() <= 2
                    && template
                        .iter()
                        .all(|(column, at)| *at == 0 && matches!(column, Form | Lower | Upos))
                    && template.iter().any(|(column, _)| matches!(column, Form | Lower))
            };
            assert!(templates[..OF_THE_WORD].iter().all(own));
            assert!(!templates[OF_THE_WORD..].iter().any(own));
        }
    }
}
