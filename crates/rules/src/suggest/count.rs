//! A treebank as numbers, and how often arcs between its words match what.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use tutte_treebank::{Sentence, Token};

use super::{Contexts, Tags};
use crate::{Alternative, Attribute, Condition, Distance, Neighbour, Test, Value};

/// The number of the root among heads; tags have numbers from 1.
pub(super) const ROOT: u32 = 0;

/// From which distance to which; those of the paper.
const DISTANCES: [(usize, Option<usize>); 7] = [
    (1, Some(1)),
    (2, Some(2)),
    (3, Some(3)),
    (4, Some(4)),
    (5, Some(5)),
    (6, Some(10)),
    (11, None),
];

/// Arcs with this head, dependent, direction, and distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Family {
    pub(super) dependent: u32,
    pub(super) head: u32,
    /// Whether the head stands to the right.
    pub(super) right: bool,
    /// From 1 in [`DISTANCES`]; 0 is any.
    distance: u8,
}

/// One or two things that hold of words between or beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Context {
    /// The second is before the first: no context has one without the other.
    second: Option<Clause>,
    first: Clause,
}

/// A word with this tag stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Clause {
    pub(super) slot: Slot,
    pub(super) tag: u32,
}

/// Where a word stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Slot {
    /// Somewhere strictly between head and dependent.
    Between,
    /// Beside one of them.
    Beside(Neighbour),
}

/// How often something matches, and how often it is an arc of a tree then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// Pairs or words.
    pub(super) units: u64,
    pub(super) arcs: u64,
}

pub(super) type Counts = HashMap<Family, Count>;

/// A treebank as numbers.
pub(super) struct Bank {
    /// Tag number t is `tags[t - 1]`.
    tags: Vec<Tag>,
    column: Tags,
    sentences: Vec<Words>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Tag {
    name: String,
    /// Whether it is the UPOS of a word without an XPOS.
    instead: bool,
}

struct Words {
    /// By word, from 1; the root's at 0.
    tags: Vec<u32>,
    /// By word, from 1.
    heads: Vec<Option<usize>>,
}

/// A candidate arc of a sentence.
struct Pair<'a> {
    words: &'a Words,
    head: usize,
    modifier: usize,
    /// Whether it is an arc of the tree.
    arc: bool,
    /// The tags of the words strictly between, each once.
    between: &'a [u32],
}

impl Bank {
    pub(super) fn new(treebank: &[Sentence], column: Tags) -> Self {
        let words = treebank.iter().flat_map(Sentence::words);
        let distinct: HashSet<(&str, bool)> = words.map(|word| name(word, column)).collect();
        let mut tags: Vec<Tag> = (distinct.into_iter())
            .map(|(name, instead)| Tag { name: name.to_owned(), instead })
            .collect();
        tags.sort_unstable();
        let numbers: HashMap<(&str, bool), u32> =
            tags.iter().map(|tag| (&*tag.name, tag.instead)).zip(ROOT + 1..).collect();
        let numbered = |word: Token<'_>| numbers.get(&name(word, column)).copied().unwrap_or(ROOT);
        let words = |sentence: &Sentence| Words {
            tags: [ROOT].into_iter().chain(sentence.words().map(numbered)).collect(),
            heads: [None].into_iter().chain(sentence.partial_heads()).collect(),
        };
        let sentences = treebank.iter().map(words).collect();
        Self { tags, column, sentences }
    }

    /// How often pairs are arcs, by family, with distances or without.
    pub(super) fn pairs(&self, distances: bool) -> Counts {
        let mut counts = Counts::new();
        self.each(|pair| counts.entry(pair.family(distances)).or_default().add(pair.arc));
        counts
    }

    /// How often words with such a candidate are attached to the nearest one.
    pub(super) fn nearest(&self) -> Counts {
        let mut counts = Counts::new();
        self.each(|pair| {
            if !pair.between.contains(&pair.words.tags[pair.head]) {
                counts.entry(pair.family(false)).or_default().add(pair.arc);
            }
        });
        counts
    }

    /// The same as `pairs` with distances, for pairs of wanted families of which more holds: of everything
    /// that holds of at least one arc.
    pub(super) fn contexts(&self, wanted: impl Fn(Family) -> bool) -> Contexts {
        let mut counts = Contexts::new();
        self.each(|pair| {
            let family = pair.family(true);
            if pair.arc && wanted(family) {
                let counts = counts.entry(family).or_default();
                pair.contexts(|context| {
                    counts.entry(context).or_default();
                });
            }
        });
        self.each(|pair| {
            if let Some(counts) = counts.get_mut(&pair.family(true)) {
                pair.contexts(|context| {
                    if let Some(count) = counts.get_mut(&context) {
                        count.add(pair.arc);
                    }
                });
            }
        });
        counts
    }

    /// Calls `visit` with every candidate arc of a word that has a head.
    fn each(&self, mut visit: impl FnMut(Pair<'_>)) {
        let mut between = Vec::new();
        for words in &self.sentences {
            let n = words.heads.len() - 1;
            for (modifier, gold) in words.heads.iter().enumerate() {
                let Some(gold) = *gold else { continue };
                let mut side = |heads: &mut dyn Iterator<Item = usize>| {
                    between.clear();
                    for head in heads {
                        let arc = head == gold;
                        visit(Pair { words, head, modifier, arc, between: &between });
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

    /// The test of a tag.
    pub(super) fn test(&self, tag: u32) -> Test {
        let Tag { name, instead } = self.tag(tag);
        match self.column {
            Tags::Upos => Test::upos(name),
            Tags::Xpos if !instead => Test::xpos(name),
            Tags::Xpos => {
                let is = |attribute, value: &str| Condition {
                    attribute,
                    value: Value::Is(value.to_owned()),
                };
                let conditions = vec![is(Attribute::Upos, name), is(Attribute::Xpos, NONE)];
                Test { alternatives: vec![Alternative { conditions }] }
            }
        }
    }

    /// What people call arcs: `DET-NOUN-right-1`, or with clauses `NOUN-VERB-left-2+between-ADP`.
    pub(super) fn name(&self, family: Family, context: Option<&Context>) -> String {
        let dependent = &self.tag(family.dependent).name;
        let mut name = match family.head {
            ROOT => format!("{dependent}-ROOT"),
            head => {
                let side = if family.right { "right" } else { "left" };
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

/// What stands in a column where there is nothing.
const NONE: &str = "_";

/// The tag of a word, and whether it is there instead of another.
fn name(word: Token<'_>, tags: Tags) -> (&str, bool) {
    match tags {
        Tags::Upos => (word.upos(), false),
        Tags::Xpos if word.xpos() == NONE => (word.upos(), true),
        Tags::Xpos => (word.xpos(), false),
    }
}

impl Pair<'_> {
    fn family(&self, distances: bool) -> Family {
        let Pair { words, head, modifier, .. } = *self;
        let far = |(least, _): &&(usize, _)| *least <= head.abs_diff(modifier);
        let distance = match distances && head > 0 {
            true => DISTANCES.iter().filter(far).count() as u8,
            false => 0,
        };
        Family {
            dependent: words.tags[modifier],
            head: words.tags[head],
            right: head > modifier,
            distance,
        }
    }

    /// Calls `found` with everything that holds of words between and beside, alone and in pairs.
    fn contexts(&self, mut found: impl FnMut(Context)) {
        let Pair { words, head, modifier, .. } = *self;
        for &tag in self.between {
            found(Clause { slot: Slot::Between, tag }.alone());
        }
        let n = words.heads.len() - 1;
        let near = head > 0 && head.abs_diff(modifier) < 3;
        // What is between two words so near is one of them, or has been counted above.
        let inward = |word: usize| (head.min(modifier)..=head.max(modifier)).contains(&word);
        let neighbour = |side, word: usize| {
            let there = (1..=n).contains(&word) && !(near && inward(word));
            there.then(|| Clause { slot: Slot::Beside(side), tag: words.tags[word] })
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
    /// One or two.
    pub(super) fn clauses(&self) -> impl Iterator<Item = &Clause> {
        [&self.first].into_iter().chain(&self.second)
    }

    /// The clauses, each alone, if there are two.
    pub(super) fn parts(self) -> impl Iterator<Item = Context> {
        let second = self.second.into_iter();
        second.flat_map(move |second| [self.first.alone(), second.alone()])
    }
}

impl Count {
    fn add(&mut self, arc: bool) {
        self.units += 1;
        self.arcs += u64::from(arc);
    }

    /// Which share of arcs is larger, exactly.
    pub(super) fn compare_share(&self, other: &Count) -> Ordering {
        let product = |arcs: u64, units: u64| u128::from(arcs) * u128::from(units);
        product(self.arcs, other.units).cmp(&product(other.arcs, self.units))
    }
}
