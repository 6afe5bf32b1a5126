//! The features of a shift-reduce parser's state.
//!
//! Elementary values (`s0.lemma`: the lemma of the word on top of the stack) become numbers once per
//! step. A template is a list of them. Its key is their sum, multiplied so that its first bits depend on
//! all others:
//!
//! ```text
//! key(template) = (seed + Σ value) · K   mod 2⁶⁴        row = key / 2^(64 − bits)
//! ```

use std::sync::LazyLock;

use tutte_linear::{mix, spread};

use super::state::{Direction, ParserState, STEPS, Step};
use crate::features::{Atoms, Attribute};

/// Attributes of words in the templates.
pub(crate) const COLUMNS: [Attribute; 5] =
    [Attribute::Form, Attribute::Lemma, Attribute::Upos, Attribute::Tag, Attribute::Feats];

/// Places of words: in the stack from its top, and in the queue.
const PLACES: [&str; 6] = ["s0", "s1", "s2", "n0", "n1", "n2"];
/// Names of the values of a word, in the order of [`COLUMNS`].
const OF_WORDS: [&str; 5] = ["form", "lemma", "upos", "tag", "feats"];
/// Indices of the [`PLACES`] that may have modifiers: s0, s1 and n0.
const WITH_MODIFIERS: [usize; 3] = [0, 1, 3];
/// Names of the values of modifiers: the leftmost, the nearest to the left, the rightmost, their number,
/// and the set of their labels.
const OF_MODIFIERS: [&str; 10] = [
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
/// Names of the values of the whole state: distance of s1 from s0, of s0 from n0, height of the stack.
const OF_STATE: [&str; 3] = ["inside", "ahead", "height"];

const WORDS_START: usize = 0;
const MODIFIERS_START: usize = PLACES.len() * OF_WORDS.len();
const STATE_START: usize = MODIFIERS_START + WITH_MODIFIERS.len() * OF_MODIFIERS.len();
const VALUES: usize = STATE_START + OF_STATE.len();

/// Templates of steps, after Zhang & Nivre (2011).
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

/// Templates of labels of the modifier, s0.
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

/// Templates of labels of the head: n0 for a left step, s1 for a right step.
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

/// Salt of the keys when reading backwards.
const BACKWARDS: u64 = 0xbac << 32;

/// Indices of the values of a template: at most four, padded with [`NOTHING`].
type Template = [u8; 4];

/// Index of a value that is always 0, the last there is room for.
const NOTHING: usize = ROOM - 1;
/// Room for values: a power of two, so that indices need no bounds check.
const ROOM: usize = 64;
const _: () = assert!(VALUES < ROOM);

/// Returns the index of a value by its name.
fn value(name: &str) -> Option<usize> {
    let of_state = OF_STATE.iter().position(|it| *it == name).map(|at| STATE_START + at);
    let (place, what) = name.split_once('.').unwrap_or((name, ""));
    let place = PLACES.iter().position(|it| *it == place);
    let of_word = || {
        let what = OF_WORDS.iter().position(|it| *it == what)?;
        Some(WORDS_START + place? * OF_WORDS.len() + what)
    };
    let of_modifiers = || {
        let place = WITH_MODIFIERS.iter().position(|it| Some(*it) == place)?;
        let what = OF_MODIFIERS.iter().position(|it| *it == what)?;
        Some(MODIFIERS_START + place * OF_MODIFIERS.len() + what)
    };
    of_state.or_else(of_word).or_else(of_modifiers)
}

/// Reads templates, one per line. Tests check that all of them can be read.
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

/// Salts that make equal values at different indices differ, forwards and backwards.
static SALTS: LazyLock<[[u64; VALUES]; 2]> = LazyLock::new(|| {
    [0, BACKWARDS].map(|salt| std::array::from_fn(|value| mix(value as u64 ^ salt)))
});
static STEP_TEMPLATES: LazyLock<Vec<Template>> = LazyLock::new(|| templates(TEMPLATES));
static LABEL_TEMPLATES: LazyLock<[Vec<Template>; 2]> =
    LazyLock::new(|| OF_HEADS.map(|of_head| templates(&format!("{OF_LABELS}{of_head}"))));

/// The features of a parser's state.
#[derive(Debug)]
pub(crate) struct StepFeatures {
    values: [u64; ROOM],
    /// Starts of the rows of step weights.
    rows: Vec<usize>,
    label_bits: u32,
    label_rows: Vec<usize>,
}

impl Default for StepFeatures {
    fn default() -> Self {
        let values = [0; ROOM];
        Self { values, rows: Vec::new(), label_bits: 0, label_rows: Vec::new() }
    }
}

impl StepFeatures {
    /// Computes the features of a state.
    pub(crate) fn fill(&mut self, atoms: &Atoms, state: &ParserState, bits: u32, label_bits: u32) {
        let columns = COLUMNS.map(|attribute| atoms.values(atoms.column(attribute), 0));
        let direction = state.direction();
        let turn = |place: usize| direction.turn(place, atoms.words());
        // Reading backwards has its own weights, in the same tables.
        let (salt, salts) = match direction {
            Direction::Forwards => (0, &SALTS[0]),
            Direction::Backwards => (BACKWARDS, &SALTS[1]),
        };
        let stacked = [0, 1, 2].map(|depth| state.stacked(depth));
        let queued = [0, 1, 2].map(|behind| state.queued(behind));
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
        for (number, place) in WITH_MODIFIERS.into_iter().enumerate() {
            let modifiers = places[place].map(|place| *state.modifiers(place)).unwrap_or_default();
            let lemma = |word: usize| if word == 0 { 0 } else { lemmas[turn(word)] };
            let tag = |word: usize| if word == 0 { 0 } else { tags[turn(word)] };
            let label = |word: usize| if word == 0 { 0 } else { state.label(word) as u64 + 1 };
            let valency = 4 * modifiers.lefts.min(3) + modifiers.rights.min(3);
            let values = [
                lemma(modifiers.left),
                tag(modifiers.left),
                label(modifiers.left),
                tag(modifiers.near),
                label(modifiers.near),
                lemma(modifiers.right),
                tag(modifiers.right),
                label(modifiers.right),
                valency as u64,
                modifiers.labels,
            ];
            let start = MODIFIERS_START + number * OF_MODIFIERS.len();
            (start..).zip(values).for_each(|(value, what)| set(value, what));
        }
        let distance = |from: Option<usize>, to: Option<usize>| match (from, to) {
            // The root has distance 0: it is always behind the last word.
            (None, _) | (_, None | Some(0)) => 0,
            (Some(from), Some(to)) => match to - from {
                distance @ 0..=4 => distance as u64,
                5..=9 => 5,
                _ => 6,
            },
        };
        let inside = distance(stacked[1], stacked[0]);
        let ahead = distance(stacked[0], queued[0]);
        let height = state.depth().min(4) as u64;
        let of_state = [inside, ahead, height];
        (STATE_START..).zip(of_state).for_each(|(value, what)| set(value, what));
        self.label_bits = label_bits;
        self.rows.clear();
        // The first row is a bias: it is part of every state.
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

    /// Returns the starts of the rows of step weights.
    pub(crate) fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Returns the starts of the rows of label weights, for the arc that a step makes.
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

/// Returns the key of a template, before it is multiplied.
#[inline]
fn sum(values: &[u64; ROOM], seed: usize, template: &Template) -> u64 {
    let seed = spread(seed as u64);
    template.iter().fold(seed, |sum, value| sum.wrapping_add(values[usize::from(*value) % ROOM]))
}

/// Returns the row of a key.
#[inline]
fn row(key: u64, bits: u32) -> usize {
    (spread(key) >> (u64::BITS - bits)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_every_template_exists() {
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
    fn values_have_distinct_indices() {
        let words = PLACES.iter().flat_map(|it| OF_WORDS.map(|what| format!("{it}.{what}")));
        let modifiers = WITH_MODIFIERS
            .iter()
            .flat_map(|it| OF_MODIFIERS.map(|what| format!("{}.{what}", PLACES[*it])));
        let names = words.chain(modifiers).chain(OF_STATE.map(str::to_owned));
        let numbers: Vec<Option<usize>> = names.map(|name| value(&name)).collect();
        assert_eq!(numbers, (0..VALUES).map(Some).collect::<Vec<_>>());
    }
}
