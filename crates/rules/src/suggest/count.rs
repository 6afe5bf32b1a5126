//! A treebank encoded as integers, and counts of its candidate arcs by predicate.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use tutte_treebank::{Sentence, Token};

use super::TagColumn;
use crate::condition::{Alternative, Attribute, Condition, Test, Value};
use crate::rule::{Distance, Neighbour};

/// Number of the root. Tags have numbers from 1.
pub(super) const ROOT: u32 = 0;

/// Ranges of distances, smallest and largest; those of the paper.
const DISTANCES: [(usize, Option<usize>); 7] = [
    (1, Some(1)),
    (2, Some(2)),
    (3, Some(3)),
    (4, Some(4)),
    (5, Some(5)),
    (6, Some(10)),
    (11, None),
];

/// Predicate without clauses: arcs with this head, dependent, direction and distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Family {
    pub(super) dependent: u32,
    pub(super) head: u32,
    /// True if the head stands to the right of the dependent.
    pub(super) is_head_right: bool,
    /// Index in [`DISTANCES`], from 1; 0 is any distance.
    distance: u8,
}

/// One or two clauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Context {
    /// Declared before `first` so that contexts with one clause sort before those with two.
    second: Option<Clause>,
    first: Clause,
}

/// Clause: a word with this tag stands in this slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Clause {
    pub(super) slot: Slot,
    pub(super) tag: u32,
}

/// Position of the word that a clause is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Slot {
    /// Anywhere strictly between head and dependent.
    Between,
    /// Beside one of them.
    Beside(Neighbour),
}

/// Number of matches, and number of gold arcs among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// Pairs or words.
    pub(super) units: u64,
    pub(super) arcs: u64,
}

pub(super) type Counts = HashMap<Family, Count>;

/// Counts by family and context.
pub(super) type ContextCounts = HashMap<Family, HashMap<Context, Count>>;

/// A treebank with tags as integers.
pub(super) struct EncodedTreebank {
    /// Tag number t is `tags[t - 1]`.
    tags: Vec<Tag>,
    column: TagColumn,
    sentences: Vec<EncodedSentence>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Tag {
    name: String,
    /// True for the UPOS of a word without an XPOS.
    is_fallback: bool,
}

struct EncodedSentence {
    /// By word, from 1; index 0 is the root.
    tags: Vec<u32>,
    /// By word, from 1; index 0 is the root.
    heads: Vec<Option<usize>>,
}

/// A candidate arc of a sentence.
struct Pair<'a> {
    words: &'a EncodedSentence,
    head: usize,
    modifier: usize,
    /// True for an arc of the gold tree.
    is_arc: bool,
    /// Distinct tags of the words strictly between.
    between: &'a [u32],
}

impl EncodedTreebank {
    pub(super) fn new(treebank: &[Sentence], column: TagColumn) -> Self {
        let words = treebank.iter().flat_map(Sentence::words);
        let distinct: HashSet<(&str, bool)> = words.map(|word| tag_of(word, column)).collect();
        let mut tags: Vec<Tag> = (distinct.into_iter())
            .map(|(name, is_fallback)| Tag { name: name.to_owned(), is_fallback })
            .collect();
        tags.sort_unstable();
        let numbers: HashMap<(&str, bool), u32> =
            tags.iter().map(|tag| (&*tag.name, tag.is_fallback)).zip(ROOT + 1..).collect();
        let number = |word: Token<'_>| numbers.get(&tag_of(word, column)).copied().unwrap_or(ROOT);
        let encode = |sentence: &Sentence| EncodedSentence {
            tags: [ROOT].into_iter().chain(sentence.words().map(number)).collect(),
            heads: [None].into_iter().chain(sentence.partial_heads()).collect(),
        };
        let sentences = treebank.iter().map(encode).collect();
        Self { tags, column, sentences }
    }

    /// Counts candidate arcs by family, with distances or without.
    pub(super) fn pairs(&self, with_distance: bool) -> Counts {
        let mut counts = Counts::new();
        self.for_each_pair(|pair| {
            counts.entry(pair.family(with_distance)).or_default().add(pair.is_arc);
        });
        counts
    }

    /// Counts words with a candidate head by family, and those attached to the nearest candidate.
    pub(super) fn nearest(&self) -> Counts {
        let mut counts = Counts::new();
        self.for_each_pair(|pair| {
            if !pair.between.contains(&pair.words.tags[pair.head]) {
                counts.entry(pair.family(false)).or_default().add(pair.is_arc);
            }
        });
        counts
    }

    /// Counts candidate arcs of the selected families by context. Only contexts of gold arcs are counted.
    pub(super) fn contexts(&self, is_selected: impl Fn(Family) -> bool) -> ContextCounts {
        let mut counts = ContextCounts::new();
        self.for_each_pair(|pair| {
            let family = pair.family(true);
            if pair.is_arc && is_selected(family) {
                let counts = counts.entry(family).or_default();
                pair.contexts(|context| {
                    counts.entry(context).or_default();
                });
            }
        });
        self.for_each_pair(|pair| {
            if let Some(counts) = counts.get_mut(&pair.family(true)) {
                pair.contexts(|context| {
                    if let Some(count) = counts.get_mut(&context) {
                        count.add(pair.is_arc);
                    }
                });
            }
        });
        counts
    }

    /// Calls `visit` with every candidate arc of a word that has a head.
    fn for_each_pair(&self, mut visit: impl FnMut(Pair<'_>)) {
        let mut between = Vec::new();
        for words in &self.sentences {
            let n = words.heads.len() - 1;
            for (modifier, gold) in words.heads.iter().enumerate() {
                let Some(gold) = *gold else { continue };
                let mut side = |heads: &mut dyn Iterator<Item = usize>| {
                    between.clear();
                    for head in heads {
                        let is_arc = head == gold;
                        visit(Pair { words, head, modifier, is_arc, between: &between });
                        let tag = words.tags[head];
                        if !between.contains(&tag) {
                            between.push(tag);
                        }
                    }
                };
                side(&mut (0..modifier).rev());
                side(&mut (modifier + 1..=n));
            }
        }
    }

    /// Returns the test for a tag.
    pub(super) fn test(&self, tag: u32) -> Test {
        let Tag { name, is_fallback } = self.tag(tag);
        match self.column {
            TagColumn::Upos => Test::upos(name),
            TagColumn::Xpos if !is_fallback => Test::xpos(name),
            TagColumn::Xpos => {
                let is = |attribute, value: &str| Condition {
                    attribute,
                    value: Value::Is(value.to_owned()),
                };
                let conditions = vec![is(Attribute::Upos, name), is(Attribute::Xpos, EMPTY)];
                Test { alternatives: vec![Alternative { conditions }] }
            }
        }
    }

    /// Returns the name of a predicate: `DET-NOUN-right-1`, or with clauses `NOUN-VERB-left-2+between-ADP`.
    pub(super) fn name(&self, family: Family, context: Option<&Context>) -> String {
        let dependent = &self.tag(family.dependent).name;
        let mut name = match family.head {
            ROOT => format!("{dependent}-ROOT"),
            head => {
                let side = if family.is_head_right { "right" } else { "left" };
                format!("{dependent}-{}-{side}", self.tag(head).name)
            }
        };
        match family.distance() {
            None => {}
            Some(Distance { least, most: None }) => name += &format!("-{least}.."),
            Some(Distance { least, most: Some(most) }) if least == most => {
                name += &format!("-{least}");
            }
            Some(Distance { least, most: Some(most) }) => name += &format!("-{least}..{most}"),
        }
        for clause in context.into_iter().flat_map(Context::clauses) {
            let place = match clause.slot {
                Slot::Between => "between",
                Slot::Beside(Neighbour::BeforeHead) => "head-after",
                Slot::Beside(Neighbour::AfterHead) => "head-before",
                Slot::Beside(Neighbour::BeforeDependent) => "after",
                Slot::Beside(Neighbour::AfterDependent) => "before",
            };
            name += &format!("+{place}-{}", self.tag(clause.tag).name);
        }
        name
    }

    fn tag(&self, number: u32) -> &Tag {
        &self.tags[number as usize - 1]
    }
}

/// Value of an empty column.
const EMPTY: &str = "_";

/// Returns the tag of a word. The flag is true for a UPOS in place of a missing XPOS.
fn tag_of(word: Token<'_>, column: TagColumn) -> (&str, bool) {
    match column {
        TagColumn::Upos => (word.upos(), false),
        TagColumn::Xpos if word.xpos() == EMPTY => (word.upos(), true),
        TagColumn::Xpos => (word.xpos(), false),
    }
}

impl Pair<'_> {
    fn family(&self, with_distance: bool) -> Family {
        let Pair { words, head, modifier, .. } = *self;
        let reaches = |(least, _): &&(usize, _)| *least <= head.abs_diff(modifier);
        let distance = if with_distance && head > 0 {
            DISTANCES.iter().filter(reaches).count() as u8
        } else {
            0
        };
        Family {
            dependent: words.tags[modifier],
            head: words.tags[head],
            is_head_right: head > modifier,
            distance,
        }
    }

    /// Calls `found` with every clause that holds, and with every two neighbour clauses that hold.
    fn contexts(&self, mut found: impl FnMut(Context)) {
        let Pair { words, head, modifier, .. } = *self;
        for &tag in self.between {
            found(Clause { slot: Slot::Between, tag }.alone());
        }
        let n = words.heads.len() - 1;
        let is_close = head > 0 && head.abs_diff(modifier) < 3;
        // At distance 1, an inner neighbour is the other word. At distance 2, it is the only word between, which is
        // counted above.
        let is_inner = |word: usize| (head.min(modifier)..=head.max(modifier)).contains(&word);
        let neighbour = |side, word: usize| {
            let is_counted = (1..=n).contains(&word) && !(is_close && is_inner(word));
            is_counted.then(|| Clause { slot: Slot::Beside(side), tag: words.tags[word] })
        };
        let of_head = |side, word| if head > 0 { neighbour(side, word) } else { None };
        let beside = [
            of_head(Neighbour::BeforeHead, head.wrapping_sub(1)),
            of_head(Neighbour::AfterHead, head + 1),
            neighbour(Neighbour::BeforeDependent, modifier - 1),
            neighbour(Neighbour::AfterDependent, modifier + 1),
        ];
        for (at, first) in beside.iter().enumerate() {
            let Some(first) = *first else { continue };
            found(first.alone());
            for second in beside[at + 1..].iter().flatten() {
                found(Context { first, second: Some(*second) });
            }
        }
    }
}

impl Family {
    pub(super) fn distance(self) -> Option<Distance> {
        let (least, most) = *DISTANCES.get(usize::from(self.distance).checked_sub(1)?)?;
        Some(Distance { least, most })
    }
}

impl Clause {
    fn alone(self) -> Context {
        Context { first: self, second: None }
    }
}

impl Context {
    /// Returns the one or two clauses.
    pub(super) fn clauses(&self) -> impl Iterator<Item = &Clause> {
        [&self.first].into_iter().chain(&self.second)
    }

    /// Returns each clause alone, if there are two.
    pub(super) fn parts(self) -> impl Iterator<Item = Context> {
        let second = self.second.into_iter();
        second.flat_map(move |second| [self.first.alone(), second.alone()])
    }
}

impl Count {
    fn add(&mut self, is_arc: bool) {
        self.units += 1;
        self.arcs += u64::from(is_arc);
    }

    /// Compares shares of arcs, exactly.
    pub(super) fn compare_share(&self, other: &Count) -> Ordering {
        let product = |arcs: u64, units: u64| u128::from(arcs) * u128::from(units);
        product(self.arcs, other.units).cmp(&product(other.arcs, self.units))
    }
}
