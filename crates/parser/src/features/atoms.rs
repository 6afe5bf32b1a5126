//! The attributes of a sentence's words as numbers, computed once per sentence.

use std::borrow::Cow;
use std::sync::Arc;

use tutte_treebank::{Sentence, Token};

use super::first_pass::FirstPassOutput;
use super::template::FARTHEST;
use super::{ArcAttribute, Attribute};

/// The value of every attribute at places without a word: before and after the sentence, at the root,
/// and where there is no word at all.
pub(super) const BEFORE: &str = "<s>";
pub(super) const AFTER: &str = "</s>";
const ROOT: &str = "<root>";
pub(super) const NONE: &str = "<none>";

/// The attributes of the words of a sentence. Place 0 is the root, places 1 to n are words; there are
/// two more places on either side.
///
/// The marker of a word is the lemma of the nearest adposition, subordinator or particle before it.
/// Only modifiers of a noun may stand in between (`in the old house`: the marker of `house` is `in`).
/// Without one, it is the lemma of an adposition right after the word.
///
/// One value serves several feature sets, if it has the attributes of all of them.
#[derive(Clone, Debug, Default)]
pub struct Atoms {
    words: usize,
    columns: Vec<Attribute>,
    /// `[column · stride + place + FARTHEST]`, where a stride covers all places and the margins.
    values: Vec<u64>,
    /// Morphological features of all places; those of a place are sorted and distinct.
    features: Vec<u64>,
    /// End of each place's features.
    feature_ends: Vec<usize>,
    /// Number of characters of the form at each place; empty if no template cuts forms.
    lengths: Vec<usize>,
    /// Number of punctuation marks, and of verbs, up to and including each place.
    cumulative: [Vec<u32>; 2],
    first_pass: Option<TaggedFirstPass>,
}

/// The output of the first pass, and the coarse tag of each place.
#[derive(Clone, Debug)]
struct TaggedFirstPass {
    output: Arc<FirstPassOutput>,
    tags: Vec<u64>,
}

impl Atoms {
    /// Looks up the attributes of all words.
    pub fn new(sentence: &Sentence, columns: &[Attribute]) -> Self {
        let mut atoms = Self::default();
        atoms.fill(sentence, columns);
        atoms
    }

    /// Looks up the attributes of all words, including those of the first pass.
    pub fn with_first_pass(
        sentence: &Sentence,
        columns: &[Attribute],
        first_pass_output: Arc<FirstPassOutput>,
    ) -> Self {
        let mut atoms = Self::new(sentence, columns);
        atoms.set_first_pass(sentence, first_pass_output);
        atoms
    }

    /// Looks up the attributes of another sentence, in the same memory.
    pub(crate) fn fill(&mut self, sentence: &Sentence, columns: &[Attribute]) {
        self.words = sentence.len();
        self.first_pass = None;
        self.columns.clear();
        self.columns.extend_from_slice(columns);
        self.values.clear();
        self.values.resize(columns.len() * self.stride(), 0);
        (0..columns.len()).for_each(|column| self.look_up(sentence, column));
        let Self { features, feature_ends, lengths, cumulative, .. } = self;
        features.clear();
        feature_ends.clear();
        feature_ends.push(0);
        for word in sentence.words() {
            let start = features.len();
            for item in items(word).map(|item| Attribute::Feat.hash(item)) {
                if let Err(at) = features[start..].binary_search(&item) {
                    features.insert(start + at, item);
                }
            }
            feature_ends.push(features.len());
        }
        lengths.clear();
        if columns.iter().any(|attribute| matches!(attribute, Attribute::Cut(_))) {
            lengths.push(0);
            lengths.extend(sentence.words().map(|word| word.form().chars().count()));
        }
        for (counts, tag) in cumulative.iter_mut().zip(["PUNCT", "VERB"]) {
            let mut count = 0;
            counts.clear();
            counts.push(count);
            counts.extend(sentence.words().map(|word| {
                count += u32::from(word.upos() == tag);
                count
            }));
        }
    }

    /// Adds the output of the first pass for the sentence, which must be the same.
    pub(crate) fn set_first_pass(
        &mut self,
        sentence: &Sentence,
        first_pass_output: Arc<FirstPassOutput>,
    ) {
        let mut tags = vec![Attribute::Upos.hash(ROOT)];
        tags.extend(sentence.words().map(|word| Attribute::Upos.hash(word.upos())));
        self.first_pass = Some(TaggedFirstPass { output: first_pass_output, tags });
        for column in 0..self.columns.len() {
            if self.columns[column].needs_first_pass() {
                self.look_up(sentence, column);
            }
        }
    }

    /// Looks up one attribute of all words.
    fn look_up(&mut self, sentence: &Sentence, column: usize) {
        let attribute = self.columns[column];
        let stride = self.stride();
        let margin = FARTHEST as usize;
        let first_pass_output = self.first_pass.as_ref().map(|first_pass| &*first_pass.output);
        let values = &mut self.values[column * stride..][..stride];
        values[..margin].fill(attribute.hash(BEFORE));
        for (place, cell) in values[margin..stride - margin].iter_mut().enumerate() {
            *cell = attribute.hash(&value(sentence, first_pass_output, place, attribute));
        }
        values[stride - margin..].fill(attribute.hash(AFTER));
    }

    fn stride(&self) -> usize {
        self.words + 1 + 2 * FARTHEST as usize
    }

    /// Number of words.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Returns the column of an attribute.
    pub(crate) fn column(&self, attribute: Attribute) -> usize {
        let found = self.columns.iter().position(|other| *other == attribute);
        debug_assert!(found.is_some(), "{attribute} was not looked up");
        found.unwrap_or_default()
    }

    /// Returns the values at this offset from each place, starting with the root.
    #[inline]
    pub(crate) fn values(&self, column: usize, offset: i8) -> &[u64] {
        let start = (column * self.stride() + FARTHEST as usize).wrapping_add_signed(offset.into());
        &self.values[start..=start + self.words]
    }

    /// Returns the morphological features of a place.
    pub(crate) fn features(&self, place: usize) -> &[u64] {
        let start = place.checked_sub(1).map_or(0, |before| self.feature_ends[before]);
        &self.features[start..self.feature_ends[place]]
    }

    /// Returns `true` if the form at a place has more than `length` characters; the root has no form.
    pub(super) fn is_longer(&self, place: usize, length: u8) -> bool {
        self.lengths.get(place).is_some_and(|found| *found > usize::from(length))
    }

    /// Returns the output of the first pass.
    pub(super) fn first_pass_output(&self) -> Option<&FirstPassOutput> {
        self.first_pass.as_ref().map(|first_pass| &*first_pass.output)
    }

    /// Returns an attribute of an arc. Without a first pass, its attributes are all 0.
    pub(super) fn arc(&self, attribute: ArcAttribute, head: usize, modifier: usize) -> u64 {
        /// Largest count of words in between; higher counts are not distinguished.
        const MANY: u32 = 4;
        let (from, to) = (head.min(modifier), head.max(modifier));
        let between = |counts: &[u32]| u64::from((counts[to - 1] - counts[from]).min(MANY));
        let first_pass = self.first_pass.as_ref();
        match attribute {
            ArcAttribute::Side => u64::from(head < modifier),
            ArcAttribute::Punctuation => between(&self.cumulative[0]),
            ArcAttribute::Verbs => between(&self.cumulative[1]),
            ArcAttribute::FirstPass => {
                first_pass.map_or(0, |first| first.output.confidence(head, modifier))
            }
            ArcAttribute::Inner => {
                first_pass.map_or(0, |first| first.tag(first.output.sisters(head, modifier).0))
            }
            ArcAttribute::Outer => {
                first_pass.map_or(0, |first| first.tag(first.output.sisters(head, modifier).1))
            }
            ArcAttribute::Level => first_pass.map_or(0, |first| first.output.level(head, modifier)),
            ArcAttribute::Above => first_pass.map_or(0, |first| first.output.above(head, modifier)),
            ArcAttribute::Transition => {
                first_pass.map_or(0, |first| first.output.transition_agreement(head, modifier))
            }
        }
    }
}

impl TaggedFirstPass {
    /// Returns the tag of a place; 0 for `None`.
    fn tag(&self, place: Option<usize>) -> u64 {
        place.map_or(0, |place| self.tags[place])
    }
}

/// Returns the morphological features of a word, one by one.
pub(super) fn items<'a>(word: Token<'a>) -> impl Iterator<Item = &'a str> {
    word.feats().split('|').filter(|item| !matches!(*item, "" | "_"))
}

/// Returns an attribute of the root or of a word as text.
pub(super) fn value<'a>(
    sentence: &'a Sentence,
    first_pass_output: Option<&FirstPassOutput>,
    place: usize,
    attribute: Attribute,
) -> Cow<'a, str> {
    let upos = |place: Option<usize>| match place {
        None => NONE,
        Some(0) => ROOT,
        Some(place) => sentence.word(place).map_or(NONE, Token::upos),
    };
    match attribute {
        Attribute::FirstPassHead => {
            return upos(first_pass_output.and_then(|output| output.head(place))).into();
        }
        Attribute::FirstPassLeft => {
            return upos(first_pass_output.and_then(|output| output.outermost(place).0)).into();
        }
        Attribute::FirstPassRight => {
            return upos(first_pass_output.and_then(|output| output.outermost(place).1)).into();
        }
        Attribute::FirstPassValency => {
            let (left, right) = first_pass_output.map_or((0, 0), |output| output.valency(place));
            return format!("{left} {right}").into();
        }
        Attribute::Function => {
            let function = first_pass_output.and_then(|output| output.function(place));
            return function.map_or(NONE.into(), |label| label.to_string().into());
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

/// Puts morphological features into alphabetical order: CoNLL-U requires it, CoNLL-X does not.
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

/// Returns the marker of a word, see [`Atoms`].
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
