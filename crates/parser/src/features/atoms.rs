//! The attributes of a sentence's words as numbers, computed once a sentence.

use std::borrow::Cow;
use std::sync::Arc;

use tutte_treebank::{Sentence, Token};

use super::first_pass::FirstPassOutput;
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
///
/// One of them serves any number of feature sets, if it has the attributes of all.
#[derive(Clone, Debug, Default)]
pub struct Atoms {
    words: usize,
    columns: Vec<Attribute>,
    /// `[column · stride + place + FARTHEST]`, where a stride is all places and the margins.
    values: Vec<u64>,
    /// The morphological features of all places, for each place sorted and each once.
    features: Vec<u64>,
    /// Where those of a place end.
    feature_ends: Vec<usize>,
    /// How many characters the form at a place has; of no interest if no template cuts it.
    lengths: Vec<usize>,
    /// How many places up to and including this one are punctuation, and how many are verbs.
    so_far: [Vec<u32>; 2],
    first_pass_output: Option<SeenFirstPass>,
}

/// What a first pass thought, and the coarse tag of each place.
#[derive(Clone, Debug)]
struct SeenFirstPass {
    first_pass_output: Arc<FirstPassOutput>,
    tags: Vec<u64>,
}

impl Atoms {
    /// Looks up the attributes of all words.
    pub fn new(sentence: &Sentence, columns: &[Attribute]) -> Self {
        let mut atoms = Self::default();
        atoms.fill(sentence, columns);
        atoms
    }

    /// The same, with what a first pass thought of the sentence.
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
        self.first_pass_output = None;
        self.columns.clear();
        self.columns.extend_from_slice(columns);
        self.values.clear();
        self.values.resize(columns.len() * self.stride(), 0);
        (0..columns.len()).for_each(|column| self.look_up(sentence, column));
        let Self { features, feature_ends, lengths, so_far, .. } = self;
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
        for (so_far, tag) in so_far.iter_mut().zip(["PUNCT", "VERB"]) {
            let mut count = 0;
            so_far.clear();
            so_far.push(count);
            so_far.extend(sentence.words().map(|word| {
                count += u32::from(word.upos() == tag);
                count
            }));
        }
    }

    /// Adds what a first pass thought of the sentence, which must be the same.
    pub(crate) fn set_first_pass(
        &mut self,
        sentence: &Sentence,
        first_pass_output: Arc<FirstPassOutput>,
    ) {
        let mut tags = vec![Attribute::Upos.hash(ROOT)];
        tags.extend(sentence.words().map(|word| Attribute::Upos.hash(word.upos())));
        self.first_pass_output = Some(SeenFirstPass { first_pass_output, tags });
        for column in 0..self.columns.len() {
            if self.columns[column].is_of_guide() {
                self.look_up(sentence, column);
            }
        }
    }

    /// Looks up one attribute of all words.
    fn look_up(&mut self, sentence: &Sentence, column: usize) {
        let (attribute, stride, margin) = (self.columns[column], self.stride(), FARTHEST as usize);
        let first_pass_output =
            self.first_pass_output.as_ref().map(|second_pass| &*second_pass.first_pass_output);
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

    /// The number of words.
    pub fn words(&self) -> usize {
        self.words
    }

    /// The number of an attribute's column.
    pub(crate) fn column(&self, attribute: Attribute) -> usize {
        let found = self.columns.iter().position(|other| *other == attribute);
        debug_assert!(found.is_some(), "{attribute} was not looked up");
        found.unwrap_or_default()
    }

    /// What is so far from each place, from the root's on.
    #[inline]
    pub(crate) fn values(&self, column: usize, offset: i8) -> &[u64] {
        let start = (column * self.stride() + FARTHEST as usize).wrapping_add_signed(offset.into());
        &self.values[start..=start + self.words]
    }

    pub(crate) fn features(&self, place: usize) -> &[u64] {
        let start = place.checked_sub(1).map_or(0, |before| self.feature_ends[before]);
        &self.features[start..self.feature_ends[place]]
    }

    /// Whether the form at a place is longer than so many characters; the root has none.
    pub(super) fn is_longer(&self, place: usize, length: u8) -> bool {
        self.lengths.get(place).is_some_and(|found| *found > usize::from(length))
    }

    /// What a first pass thought of the sentence.
    pub(super) fn first_pass_output(&self) -> Option<&FirstPassOutput> {
        self.first_pass_output.as_ref().map(|second_pass| &*second_pass.first_pass_output)
    }

    /// An attribute of an arc. Without a guide, its attributes are all the same.
    pub(super) fn arc(&self, attribute: ArcAttribute, head: usize, modifier: usize) -> u64 {
        /// More words than this between two others are not told apart.
        const MANY: u32 = 4;
        let (from, to) = (head.min(modifier), head.max(modifier));
        let between = |so_far: &[u32]| u64::from((so_far[to - 1] - so_far[from]).min(MANY));
        let second_pass = self.first_pass_output.as_ref();
        match attribute {
            ArcAttribute::Side => u64::from(head < modifier),
            ArcAttribute::Punctuation => between(&self.so_far[0]),
            ArcAttribute::Verbs => between(&self.so_far[1]),
            ArcAttribute::FirstPass => {
                second_pass.map_or(0, |g| g.first_pass_output.confidence(head, modifier))
            }
            ArcAttribute::Inner => {
                second_pass.map_or(0, |g| g.tag(g.first_pass_output.sisters(head, modifier).0))
            }
            ArcAttribute::Outer => {
                second_pass.map_or(0, |g| g.tag(g.first_pass_output.sisters(head, modifier).1))
            }
            ArcAttribute::Level => {
                second_pass.map_or(0, |g| g.first_pass_output.level(head, modifier))
            }
            ArcAttribute::Above => {
                second_pass.map_or(0, |g| g.first_pass_output.above(head, modifier))
            }
            ArcAttribute::Transition => {
                second_pass.map_or(0, |g| g.first_pass_output.transition_agreement(head, modifier))
            }
        }
    }
}

impl SeenFirstPass {
    /// The tag of a place; 0 if it is none.
    fn tag(&self, place: Option<usize>) -> u64 {
        place.map_or(0, |place| self.tags[place])
    }
}

/// The morphological features of a word, one by one.
pub(super) fn items<'a>(word: Token<'a>) -> impl Iterator<Item = &'a str> {
    word.feats().split('|').filter(|item| !matches!(*item, "" | "_"))
}

/// An attribute of the root or of a word as text.
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
            return upos(
                first_pass_output.and_then(|first_pass_output| first_pass_output.head(place)),
            )
            .into();
        }
        Attribute::FirstPassLeft => {
            return upos(first_pass_output.and_then(|g| g.outermost(place).0)).into();
        }
        Attribute::FirstPassRight => {
            return upos(first_pass_output.and_then(|g| g.outermost(place).1)).into();
        }
        Attribute::FirstPassValency => {
            let (left, right) = first_pass_output
                .map_or((0, 0), |first_pass_output| first_pass_output.valency(place));
            return format!("{left} {right}").into();
        }
        Attribute::Function => {
            let function =
                first_pass_output.and_then(|first_pass_output| first_pass_output.function(place));
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
