//! What a shift–reduce parser sees of where it stands.
//!
//! Elementary values (`s0.lemma`: the lemma of the word on top of the stack) become numbers once a step; a
//! template is a list of them, and its key their sum, multiplied so that its first bits tell all:
//!
//! ```text
//! key(template) = (seed + Σ value) · K   mod 2⁶⁴        row = key / 2^(64 − bits)
//! ```

use std::sync::LazyLock;

use tutte_linear::{GOLDEN, mix};

use super::state::{Configuration, Direction, STEPS, Step};
use crate::features::{Atoms, Attribute};

/// What is looked at in words.
pub(crate) const COLUMNS: [Attribute; 5] =
    [Attribute::Form, Attribute::Lemma, Attribute::Upos, Attribute::Tag, Attribute::Feats];

/// The places that are looked at: in the stack from its top, and in the queue.
const PLACES: [&str; 6] = ["s0", "s1", "s2", "n0", "n1", "n2"];
/// What is looked at in each.
const OF_WORDS: [&str; 5] = ["form", "lemma", "upos", "tag", "feats"];
/// Those below which something may have been built, by their number.
const BUILT: [usize; 3] = [0, 1, 3];
/// What is looked at there: modifiers (leftmost, nearest to the left, rightmost), how many there are, and
/// which labels they have.
const OF_BUILT: [&str; 10] = [
    "left.lemma",
    "left.upos",
    "left.label",
    "near.upos",
    "near.label",
    "right.lemma",
    "right.upos",
    "right.label",
    "valency",
    "labels",
];
/// Of the whole: how far s1 is from s0, and s0 from n0; how high the stack is.
const OF_ALL: [&str; 3] = ["inside", "ahead", "height"];

const WORDS_START: usize = 0;
const BUILT_START: usize = PLACES.len() * OF_WORDS.len();
const ALL_START: usize = BUILT_START + BUILT.len() * OF_BUILT.len();
const VALUES: usize = ALL_START + OF_ALL.len();

/// What steps are chosen by, after Zhang & Nivre (2011).
pub(crate) const TEMPLATES: &str = "
s0.lemma
s0.form s0.upos
s0.upos
s0.tag s0.feats
s0.lemma s0.upos
s1.lemma
s1.form s1.upos
s1.upos
s1.tag s1.feats
s1.lemma s1.upos
n0.lemma
n0.form n0.upos
n0.upos
n0.tag n0.feats
n0.lemma n0.upos
n1.lemma
n1.form n1.upos
n1.upos
n1.tag n1.feats
n1.lemma n1.upos
n2.upos
n2.lemma n2.upos
s2.upos
s2.lemma s2.upos
s0.upos n0.upos
s0.lemma n0.upos
s0.upos n0.lemma
s0.lemma n0.lemma
s0.tag n0.tag
s0.upos s0.feats n0.upos n0.feats
s1.upos s0.upos
s1.lemma s0.upos
s1.upos s0.lemma
s1.lemma s0.lemma
s1.tag s0.tag
s1.upos s1.feats s0.upos s0.feats
s1.upos n0.upos
s1.lemma n0.upos
s1.upos n0.lemma
s1.lemma n0.lemma
s1.tag n0.tag
s1.upos s1.feats n0.upos n0.feats
n0.upos n1.upos
n0.lemma n1.upos
n0.upos n1.lemma
n0.lemma n1.lemma
n0.tag n1.tag
s0.upos n0.upos ahead
s0.lemma ahead
n0.lemma ahead
s0.upos ahead
n0.upos ahead
s0.lemma n0.upos ahead
s0.upos n0.lemma ahead
s1.upos s0.upos inside
s1.lemma inside
s0.lemma inside
s1.upos inside
s0.upos inside
s1.lemma s0.upos inside
s1.upos s0.lemma inside
s0.upos n0.upos n1.upos
n0.upos n1.upos n2.upos
s1.upos s0.upos n0.upos
s2.upos s1.upos s0.upos
s1.upos s0.upos n0.upos n1.upos
s1.lemma s0.upos n0.upos
s1.upos s0.lemma n0.upos
s1.upos s0.upos n0.lemma
s0.upos n0.upos n1.upos n2.upos
s0.lemma n0.upos n1.upos
s0.upos n0.lemma n1.upos
s0.upos n0.upos n1.lemma
s0.upos s0.left.upos s0.left.label
s0.upos s0.right.upos s0.right.label
s0.upos s0.left.label s0.right.label
s0.lemma s0.left.label
s0.lemma s0.right.label
s0.upos s0.valency
s0.lemma s0.valency
s0.upos s0.labels
s0.lemma s0.labels
s0.upos s0.left.lemma
s0.upos s0.right.lemma
s0.upos s0.near.upos s0.near.label
s1.upos s1.left.upos s1.left.label
s1.upos s1.right.upos s1.right.label
s1.upos s1.left.label s1.right.label
s1.lemma s1.left.label
s1.lemma s1.right.label
s1.upos s1.valency
s1.lemma s1.valency
s1.upos s1.labels
s1.lemma s1.labels
s1.upos s1.left.lemma
s1.upos s1.right.lemma
s1.upos s1.near.upos s1.near.label
n0.upos n0.left.upos n0.left.label
n0.lemma n0.left.label
n0.upos n0.valency
n0.lemma n0.valency
n0.upos n0.labels
n0.lemma n0.labels
n0.upos n0.left.lemma
n0.upos n0.near.upos n0.near.label
s0.upos n0.upos s0.left.upos s0.left.label
s0.upos n0.upos s0.right.upos s0.right.label
s0.upos n0.upos n0.left.upos n0.left.label
s0.upos n0.upos n0.near.label
s1.upos s0.upos s0.left.upos s0.left.label
s1.upos s0.upos s0.right.upos s0.right.label
s1.upos s0.upos s1.left.upos s1.left.label
s1.upos s0.upos s1.right.upos s1.right.label
s1.upos s0.upos n0.upos s0.right.label
s1.upos s0.upos n0.upos s0.left.label
s1.upos s0.upos n0.upos s1.right.label
s1.upos s0.upos n0.upos s0.labels
s1.upos s0.upos n0.upos s1.labels
s0.upos n0.upos s0.labels n0.labels
s1.upos s0.upos s1.labels s0.labels
s0.lemma n0.lemma s0.left.lemma
s1.lemma s0.lemma s0.left.lemma
s1.upos s0.upos s0.left.lemma
s0.upos n0.upos s0.left.lemma
s0.upos n0.upos n0.left.lemma
s0.upos height
";

/// What the label of the arc that a step makes is chosen by. Its modifier is s0; its head is n0 or s1.
const OF_LABELS: &str = "
s0.lemma
s0.form s0.upos
s0.upos s0.feats
s0.tag
s0.lemma s0.left.lemma
s0.upos s0.left.label s0.right.label
s0.upos s0.left.lemma
s0.upos s0.labels
s0.upos s0.valency
s0.lemma s0.labels
";

/// And by head: that of a step to the left, that of one to the right.
const OF_HEADS: [&str; 2] = [
    "
n0.upos s0.upos ahead
n0.lemma s0.upos
n0.upos s0.lemma
n0.lemma s0.lemma
n0.upos s0.upos n0.labels
n0.lemma s0.upos n0.labels
n0.upos n0.feats s0.upos s0.feats
n0.upos s0.upos s0.left.lemma
n0.lemma s0.left.lemma
n0.upos n1.upos s0.upos
n0.tag s0.tag
",
    "
s1.upos s0.upos inside
s1.lemma s0.upos
s1.upos s0.lemma
s1.lemma s0.lemma
s1.upos s0.upos s1.labels
s1.lemma s0.upos s1.labels
s1.upos s1.feats s0.upos s0.feats
s1.upos s0.upos s0.left.lemma
s1.lemma s0.left.lemma
s1.upos n0.upos s0.upos
s1.tag s0.tag
",
];

/// What makes the keys of reading backwards others.
const BACKWARDS: u64 = 0xbac << 32;

/// Which values a template sees: at most four; in place of others stands that which is always 0.
type Template = [u8; 4];

/// The number of the value that is always 0, the last there is room for.
const NOTHING: usize = ROOM - 1;
/// A power of two, so that no number of a value need be checked.
const ROOM: usize = 64;
const _: () = assert!(VALUES < ROOM);

/// The number of a value by its name.
fn value(name: &str) -> Option<usize> {
    let whole = OF_ALL.iter().position(|it| *it == name).map(|at| ALL_START + at);
    let (place, what) = name.split_once('.').unwrap_or((name, ""));
    let place = PLACES.iter().position(|it| *it == place);
    let of_word = || {
        let what = OF_WORDS.iter().position(|it| *it == what)?;
        Some(WORDS_START + place? * OF_WORDS.len() + what)
    };
    let of_built = || {
        let place = BUILT.iter().position(|it| Some(*it) == place)?;
        let what = OF_BUILT.iter().position(|it| *it == what)?;
        Some(BUILT_START + place * OF_BUILT.len() + what)
    };
    whole.or_else(of_word).or_else(of_built)
}

/// The templates of a text, one a line, which tests have read.
fn templates(text: &str) -> Vec<Template> {
    let lines = text.lines().filter(|line| !line.is_empty());
    let numbers = |line: &str| {
        let mut template = [NOTHING as u8; 4];
        let values = line.split(' ').filter_map(value);
        template.iter_mut().zip(values).for_each(|(number, value)| *number = value as u8);
        template
    };
    lines.map(numbers).collect()
}

/// What tells values from each other, in reading forwards and backwards.
static SALTS: LazyLock<[[u64; VALUES]; 2]> = LazyLock::new(|| {
    [0, BACKWARDS].map(|salt| std::array::from_fn(|value| mix(value as u64 ^ salt)))
});
static STEP_TEMPLATES: LazyLock<Vec<Template>> = LazyLock::new(|| templates(TEMPLATES));
static LABEL_TEMPLATES: LazyLock<[Vec<Template>; 2]> =
    LazyLock::new(|| OF_HEADS.map(|of_head| templates(&format!("{OF_LABELS}{of_head}"))));

/// What is seen at a step.
#[derive(Debug)]
pub(crate) struct Seen {
    values: [u64; ROOM],
    /// Where the weights of steps start.
    rows: Vec<usize>,
    label_bits: u32,
    label_rows: Vec<usize>,
}

impl Default for Seen {
    fn default() -> Self {
        let values = [0; ROOM];
        Self { values, rows: Vec::new(), label_bits: 0, label_rows: Vec::new() }
    }
}

impl Seen {
    /// Looks at where a parser stands.
    pub(crate) fn look(&mut self, atoms: &Atoms, at: &Configuration, bits: u32, label_bits: u32) {
        let columns = COLUMNS.map(|attribute| atoms.values(atoms.column(attribute), 0));
        let direction = at.direction();
        let turn = |place: usize| direction.turn(place, atoms.words());
        // What is seen in reading backwards has weights of its own, in the same tables.
        let (salt, salts) = match direction {
            Direction::Forwards => (0, &SALTS[0]),
            Direction::Backwards => (BACKWARDS, &SALTS[1]),
        };
        let stacked = [0, 1, 2].map(|depth| at.stacked(depth));
        let queued = [0, 1, 2].map(|behind| at.queued(behind));
        let places = [stacked[0], stacked[1], stacked[2], queued[0], queued[1], queued[2]];
        let mut set = |value: usize, what: u64| {
            self.values[value] = mix(what ^ salts[value]);
        };
        for (number, place) in places.into_iter().enumerate() {
            let start = WORDS_START + number * OF_WORDS.len();
            for (value, column) in (start..).zip(columns) {
                set(value, place.map_or(0, |place| column[turn(place)]));
            }
        }
        let [_, lemmas, tags, ..] = columns;
        for (number, place) in BUILT.into_iter().enumerate() {
            let below = places[place].map(|place| *at.below(place)).unwrap_or_default();
            let lemma = |word: usize| if word == 0 { 0 } else { lemmas[turn(word)] };
            let tag = |word: usize| if word == 0 { 0 } else { tags[turn(word)] };
            let label = |word: usize| if word == 0 { 0 } else { at.label(word) as u64 + 1 };
            let valency = 4 * below.lefts.min(3) + below.rights.min(3);
            let values = [
                lemma(below.left),
                tag(below.left),
                label(below.left),
                tag(below.near),
                label(below.near),
                lemma(below.right),
                tag(below.right),
                label(below.right),
                valency as u64,
                below.labels,
            ];
            let start = BUILT_START + number * OF_BUILT.len();
            (start..).zip(values).for_each(|(value, what)| set(value, what));
        }
        let far = |from: Option<usize>, to: Option<usize>| match (from, to) {
            // The root is no way off: it stands behind the last word, whichever that is.
            (None, _) | (_, None | Some(0)) => 0,
            (Some(from), Some(to)) => match to - from {
                distance @ 0..=4 => distance as u64,
                5..=9 => 5,
                _ => 6,
            },
        };
        let whole =
            [far(stacked[1], stacked[0]), far(stacked[0], queued[0]), at.depth().min(4) as u64];
        (ALL_START..).zip(whole).for_each(|(value, what)| set(value, what));
        self.label_bits = label_bits;
        self.rows.clear();
        // The first is always seen.
        self.rows.push(row(mix(salt), bits) * STEPS);
        let values = &self.values;
        let key = |(number, template)| sum(values, number, template);
        self.rows.extend((1..).zip(&*STEP_TEMPLATES).map(|it| row(key(it), bits) * STEPS));
        for (seed, head, modifier) in [(1, queued[0], stacked[0]), (2, stacked[1], stacked[0])] {
            let (Some(head), Some(modifier)) = (head, modifier) else { continue };
            for head in atoms.features(turn(head)) {
                let half = mix(head ^ seed ^ salt);
                let pairs = atoms.features(turn(modifier)).iter();
                self.rows
                    .extend(pairs.map(|modifier| row(half.wrapping_add(*modifier), bits) * STEPS));
            }
        }
    }

    /// Where the weights of what was seen start.
    pub(crate) fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// The same of so many labels, for the arc that a step makes.
    pub(crate) fn label_rows(&mut self, step: Step, labels: usize) -> &[usize] {
        let Self { values, label_bits, label_rows, .. } = self;
        let of_step = &LABEL_TEMPLATES[usize::from(step == Step::Right)];
        let seeds = 0x100 * step as usize..;
        label_rows.clear();
        label_rows.extend(
            seeds.zip(of_step).map(|(seed, it)| row(sum(values, seed, it), *label_bits) * labels),
        );
        label_rows
    }
}

#[inline]
fn sum(values: &[u64; ROOM], seed: usize, template: &Template) -> u64 {
    let seed = (seed as u64).wrapping_mul(GOLDEN);
    template.iter().fold(seed, |sum, value| sum.wrapping_add(values[usize::from(*value) % ROOM]))
}

/// The row of a key.
#[inline]
fn row(key: u64, bits: u32) -> usize {
    (key.wrapping_mul(GOLDEN) >> (u64::BITS - bits)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_every_template_is_known() {
        let texts = [TEMPLATES, OF_LABELS, OF_HEADS[0], OF_HEADS[1]];
        for line in texts.iter().flat_map(|text| text.lines()).filter(|line| !line.is_empty()) {
            for name in line.split(' ') {
                assert!(value(name).is_some(), "{name} in {line}");
            }
            assert!(line.split(' ').count() <= Template::default().len(), "{line} is too long");
        }
        let all: Vec<&str> = TEMPLATES.lines().collect();
        let mut different = all.clone();
        different.sort_unstable();
        different.dedup();
        // The first line and the last are empty.
        assert_eq!(different.len(), all.len(), "a template twice");
        assert_eq!((value("s2.left.upos"), value("s0.height"), value("")), (None, None, None));
    }

    #[test]
    fn values_have_numbers_of_their_own() {
        let words = PLACES.iter().flat_map(|it| OF_WORDS.map(|what| format!("{it}.{what}")));
        let built =
            BUILT.iter().flat_map(|it| OF_BUILT.map(|what| format!("{}.{what}", PLACES[*it])));
        let names = words.chain(built).chain(OF_ALL.map(str::to_owned));
        let numbers: Vec<Option<usize>> = names.map(|name| value(&name)).collect();
        assert_eq!(numbers, (0..VALUES).map(Some).collect::<Vec<_>>());
    }
}
