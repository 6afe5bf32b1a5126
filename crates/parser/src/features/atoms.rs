//! The attributes of a sentence's words as numbers, computed once a sentence.

use std::borrow::Cow;
use std::sync::Arc;

use tutte_treebank::{Sentence, Token};

use super::guide::Guide;
use super::template::FARTHEST;
use super::{ArcAttribute, Attribute};

/// What stands for words that are none: outside the sentence, the root, and no word at all.
pub(super) const BEFORE: &str = "<s>";
pub(super) const AFTER: &str = "</s>";
const ROOT: &str = "<root>";
pub(super) const NONE: &str = "<none>";

/// The attributes of the words of a sentence. Places are 0 for the root and 1 to n for words, and
/// two more on either side.
///
/// The marker of a word is the lemma of the nearest adposition, subordinator or particle before it
/// with only modifiers of a noun in between (`in the old house`: the marker of `house` is `in`);
/// failing that, of an adposition right behind it.
#[derive(Clone, Debug, Default)]
pub struct Atoms {
    words: usize,
    /// `values[column][place + FARTHEST]`.
    values: Vec<Vec<u64>>,
    /// `features[place]`: the morphological features, each once, sorted.
    features: Vec<Vec<u64>>,
    /// How many characters the form at a place has; of no interest if no template cuts it.
    lengths: Vec<usize>,
    tags: Tags,
    guide: Option<Arc<Guide>>,
}

impl Atoms {
    /// Looks up the attributes of all words.
    pub fn new(sentence: &Sentence, columns: &[Attribute]) -> Self {
        Self::with_guide(sentence, columns, None)
    }

    /// The same, with what a first pass thought of the sentence.
    pub fn guided(sentence: &Sentence, columns: &[Attribute], guide: Arc<Guide>) -> Self {
        Self::with_guide(sentence, columns, Some(guide))
    }

    fn with_guide(sentence: &Sentence, columns: &[Attribute], guide: Option<Arc<Guide>>) -> Self {
        let words = sentence.len();
        let margin = FARTHEST as usize;
        let column = |&attribute: &Attribute| {
            let mut values = Vec::with_capacity(words + 1 + 2 * margin);
            values.resize(margin, attribute.hash(BEFORE));
            values.extend((0..=words).map(|place| {
                let value = value(sentence, guide.as_deref(), place, attribute);
                attribute.hash(&value)
            }));
            values.resize(words + 1 + 2 * margin, attribute.hash(AFTER));
            values
        };
        let values = columns.iter().map(column).collect();
        let mut features = vec![Vec::new()];
        features.extend(sentence.words().map(|word| {
            let mut items: Vec<u64> = items(word).map(|i| Attribute::Feat.hash(i)).collect();
            items.sort_unstable();
            items.dedup();
            items
        }));
        let mut lengths = Vec::new();
        if columns.iter().any(|attribute| matches!(attribute, Attribute::Cut(_))) {
            lengths.push(0);
            lengths.extend(sentence.words().map(|word| word.form().chars().count()));
        }
        Self { words, values, features, lengths, tags: Tags::new(sentence), guide }
    }

    /// The number of words.
    pub fn words(&self) -> usize {
        self.words
    }

    pub(super) fn value(&self, column: usize, place: usize, offset: i8) -> u64 {
        self.values[column][(place + FARTHEST as usize).wrapping_add_signed(isize::from(offset))]
    }

    pub(super) fn features(&self, place: usize) -> &[u64] {
        &self.features[place]
    }

    /// Whether the form at a place is longer than so many characters; the root has none.
    pub(super) fn is_longer(&self, place: usize, length: u8) -> bool {
        self.lengths.get(place).is_some_and(|found| *found > usize::from(length))
    }

    /// What a first pass thought of the sentence.
    pub(super) fn guide(&self) -> Option<&Guide> {
        self.guide.as_deref()
    }

    /// An attribute of an arc. Without a guide, its attributes are all the same.
    pub(super) fn arc(&self, attribute: ArcAttribute, head: usize, modifier: usize) -> u64 {
        /// More words than this between two others are not told apart.
        const MANY: u32 = 4;
        let Tags { punctuation, verb, .. } = self.tags;
        let between = |tag| u64::from(self.tags.between(head, modifier, tag).min(MANY));
        let tag = |place: Option<usize>| place.map_or(0, |place| self.tags.hash(place));
        let sisters = || self.guide.as_ref().map_or((None, None), |g| g.sisters(head, modifier));
        match attribute {
            ArcAttribute::Punctuation => between(punctuation),
            ArcAttribute::Verbs => between(verb),
            ArcAttribute::Guide => {
                self.guide.as_ref().map_or(0, |guide| guide.confidence(head, modifier))
            }
            ArcAttribute::Inner => tag(sisters().0),
            ArcAttribute::Outer => tag(sisters().1),
        }
    }
}

/// The morphological features of a word, one by one.
pub(super) fn items<'a>(word: Token<'a>) -> impl Iterator<Item = &'a str> {
    word.feats().split('|').filter(|item| !matches!(*item, "" | "_"))
}

/// An attribute of the root or of a word as text.
pub(super) fn value<'a>(
    sentence: &'a Sentence,
    guide: Option<&Guide>,
    place: usize,
    attribute: Attribute,
) -> Cow<'a, str> {
    let upos = |place: Option<usize>| match place {
        None => NONE,
        Some(0) => ROOT,
        Some(place) => sentence.word(place).map_or(NONE, Token::upos),
    };
    match attribute {
        Attribute::GuideHead => return upos(guide.and_then(|guide| guide.head(place))).into(),
        Attribute::GuideLeft => return upos(guide.and_then(|g| g.outermost(place).0)).into(),
        Attribute::GuideRight => return upos(guide.and_then(|g| g.outermost(place).1)).into(),
        Attribute::GuideValency => {
            let (left, right) = guide.map_or((0, 0), |guide| guide.valency(place));
            return format!("{left} {right}").into();
        }
        _ => {}
    }
    let Some(word) = sentence.word(place) else { return ROOT.into() };
    match attribute {
        Attribute::Form => word.form(),
        Attribute::Lemma => word.lemma(),
        Attribute::Upos => word.upos(),
        Attribute::Tag if word.xpos() == "_" => word.upos(),
        Attribute::Tag => word.xpos(),
        Attribute::Feats | Attribute::Feat => return sorted(word.feats()),
        Attribute::Prefix(length) | Attribute::Cut(length) => prefix(word.form(), length),
        Attribute::Suffix(length) => suffix(word.form(), length),
        _ => marker(sentence, place),
    }
    .into()
}

/// Morphological features in alphabetical order, as CoNLL-U has them already and CoNLL-X may not.
fn sorted(feats: &str) -> Cow<'_, str> {
    let order = |a: &&str, b: &&str| {
        let [a, b] = [a, b].map(|item| item.bytes().map(|byte| byte.to_ascii_lowercase()));
        a.cmp(b)
    };
    if feats.split('|').is_sorted_by(|a, b| order(a, b).is_le()) {
        return feats.into();
    }
    let mut items: Vec<&str> = feats.split('|').collect();
    items.sort_by(order);
    items.join("|").into()
}

fn prefix(form: &str, length: u8) -> &str {
    let end = form.char_indices().nth(length.into()).map_or(form.len(), |(at, _)| at);
    &form[..end]
}

fn suffix(form: &str, length: u8) -> &str {
    let before = usize::from(length).saturating_sub(1);
    let start = form.char_indices().rev().nth(before).map_or(0, |(at, _)| at);
    &form[start..]
}

fn marker(sentence: &Sentence, place: usize) -> &str {
    for before in (1..place).rev().filter_map(|place| sentence.word(place)) {
        match before.upos() {
            "ADP" | "SCONJ" | "PART" => return before.lemma(),
            "DET" | "ADJ" | "NUM" | "PROPN" | "PRON" => {}
            _ => break,
        }
    }
    sentence.word(place + 1).filter(|after| after.upos() == "ADP").map_or(NONE, Token::lemma)
}

/// The coarse tags of a sentence, numbered as they occur, and how often each has occurred so far.
#[derive(Clone, Debug, Default)]
struct Tags {
    /// The number of each place's tag; the root's is 0.
    of: Vec<usize>,
    hashes: Vec<u64>,
    /// `so_far[tag][place]`: how many places up to and including this one have the tag.
    so_far: Vec<Vec<u32>>,
    punctuation: Option<usize>,
    verb: Option<usize>,
}

impl Tags {
    fn new(sentence: &Sentence) -> Self {
        let mut names = vec![ROOT];
        let mut of = vec![0];
        for word in sentence.words() {
            let known = names.iter().position(|name| *name == word.upos());
            of.push(known.unwrap_or(names.len()));
            if known.is_none() {
                names.push(word.upos());
            }
        }
        let so_far = (0..names.len()).map(|tag| {
            let mut count = 0;
            let counts = of.iter().map(|&found| {
                count += u32::from(found == tag);
                count
            });
            counts.collect()
        });
        let number = |tag: &str| names.iter().position(|name| *name == tag);
        Self {
            so_far: so_far.collect(),
            hashes: names.iter().map(|name| Attribute::Upos.hash(name)).collect(),
            punctuation: number("PUNCT"),
            verb: number("VERB"),
            of,
        }
    }

    fn hash(&self, place: usize) -> u64 {
        self.hashes[self.of[place]]
    }

    /// How many words between two places have a tag.
    fn between(&self, head: usize, modifier: usize, tag: Option<usize>) -> u32 {
        let (from, to) = (head.min(modifier), head.max(modifier));
        tag.map_or(0, |tag| self.so_far[tag][to - 1] - self.so_far[tag][from])
    }
}
