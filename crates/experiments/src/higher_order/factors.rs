//! The factors of Smith & Eisner (2008) and their features, after §6.1 of the paper: tags and coarse tags of the words
//! that a factor looks at, with directions and binned distances.

use serde::{Deserialize, Serialize};
use tutte_linear::{chain, hash_text, mix};
use tutte_treebank::Sentence;
use tutte_trees::{Part, Tree};

/// Binary logarithm of the number of weights of factors.
pub(crate) const BITS: u32 = 20;

/// The tag of the root, and of the beginning and the end of a sequence of modifiers.
const ROOT: u64 = 1;
const START: u64 = 2;
const STOP: u64 = 3;

/// The families of factors of a model, beside LINK and the constraint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Families {
    /// NOCROSS.
    pub(crate) crossings: Crossings,
    /// GRAND.
    pub(crate) grandparents: bool,
    /// CHILDSEQ.
    pub(crate) sequences: bool,
}

impl Families {
    /// LINK and the constraint alone.
    pub(crate) const NONE: Self =
        Self { crossings: Crossings::None, grandparents: false, sequences: false };
    /// All families, with crossings as pairs of arcs.
    pub(crate) const ALL: Self =
        Self { crossings: Crossings::Arcs, grandparents: true, sequences: true };
}

/// The factors of crossing arcs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Crossings {
    #[default]
    None,
    /// NOCROSS as in the paper: a factor of all arcs into two words, which also says that each has one head.
    Words,
    /// A PAIR of each two arcs that cross: the same distribution, other messages.
    Arcs,
}

/// A factor that fires: one or two arcs, or a step in a sequence of modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Factor {
    Part(Part),
    /// Two arcs that cross.
    Crossing((usize, usize), (usize, usize)),
    /// Two words whose arcs cross.
    CrossingWords(usize, usize),
}

/// Tags of the words of a sentence, as numbers; entry 0 is the root.
#[derive(Clone, Debug)]
pub(crate) struct Tags {
    fine: Vec<u64>,
    coarse: Vec<u64>,
}

impl Tags {
    pub(crate) fn new(sentence: &Sentence) -> Self {
        let tags = |of: &dyn Fn(usize) -> u64| -> Vec<u64> {
            std::iter::once(ROOT).chain((0..sentence.len()).map(of)).collect()
        };
        let words: Vec<_> = sentence.words().collect();
        Self {
            fine: tags(&|at| hash_text(words[at].xpos(), 1)),
            coarse: tags(&|at| hash_text(words[at].upos(), 2)),
        }
    }

    /// Calls `visit` with the cell of each feature of a factor.
    pub(crate) fn cells(&self, factor: Factor, mut visit: impl FnMut(usize)) {
        let mut feature = |template: u64, values: [u64; 4]| {
            let key = values.into_iter().fold(mix(template), chain);
            visit((mix(key) >> (u64::BITS - BITS)) as usize);
        };
        let Self { fine, coarse } = self;
        match factor {
            Factor::Part(Part::Grandparent { grandparent: g, head: h, modifier: m }) => {
                let order = u64::from(g < h) | u64::from(h < m) << 1 | u64::from(g < m) << 2;
                for (level, tags) in (0..).zip([fine, coarse]) {
                    feature(level, [order, tags[g], tags[h], tags[m]]);
                    feature(2 + level, [order, tags[g], tags[m], 0]);
                }
                feature(4, [order, coarse[h], coarse[m], bin(g.abs_diff(m))]);
            }
            Factor::Part(part) => {
                let Some(Step { head, is_left, inner, outer }) = Step::of(part) else { return };
                let side = u64::from(is_left);
                for (level, tags) in (0..).zip([fine, coarse]) {
                    let first = inner.map_or(START, |word| tags[word]);
                    let second = outer.map_or(STOP, |word| tags[word]);
                    feature(10 + level, [side, first, second, 0]);
                    feature(12 + level, [side, tags[head], first, second]);
                }
                if let Some(outer) = outer {
                    let gap = bin(inner.unwrap_or(head).abs_diff(outer));
                    feature(14, [side, coarse[head], coarse[outer], gap]);
                }
            }
            Factor::Crossing((_, one), (_, other)) | Factor::CrossingWords(one, other) => {
                let (j, l) = (one.min(other), one.max(other));
                for (level, tags) in (0..).zip([fine, coarse]) {
                    feature(20 + level, [tags[j], tags[l], 0, 0]);
                    feature(22 + level, [tags[j], 0, 0, 0]);
                    feature(24 + level, [tags[l], 0, 0, 0]);
                }
                feature(26, [bin(l - j), 0, 0, 0]);
                feature(27, [0; 4]);
            }
        }
    }
}

/// A step in the sequence of a head's modifiers on one side; `None` is the beginning or the end.
struct Step {
    head: usize,
    is_left: bool,
    inner: Option<usize>,
    outer: Option<usize>,
}

impl Step {
    fn of(part: Part) -> Option<Self> {
        let (head, is_left, inner, outer) = match part {
            Part::FirstChild { head, modifier } => (head, modifier < head, None, Some(modifier)),
            Part::NextSibling { head, inner, outer } => {
                (head, outer < head, Some(inner), Some(outer))
            }
            Part::LastChild { head, modifier } => (head, modifier < head, Some(modifier), None),
            Part::NoChildLeft { head } => (head, true, None, None),
            Part::NoChildRight { head } => (head, false, None, None),
            Part::Arc { .. } | Part::Grandparent { .. } => return None,
        };
        Some(Self { head, is_left, inner, outer })
    }
}

/// Returns the part of two adjacent modifiers of a head; `None` is the beginning or the end.
pub(crate) fn step(head: usize, is_left: bool, inner: Option<usize>, outer: Option<usize>) -> Part {
    match (inner, outer) {
        (None, None) if is_left => Part::NoChildLeft { head },
        (None, None) => Part::NoChildRight { head },
        (None, Some(modifier)) => Part::FirstChild { head, modifier },
        (Some(inner), Some(outer)) => Part::NextSibling { head, inner, outer },
        (Some(modifier), None) => Part::LastChild { head, modifier },
    }
}

/// Returns `true` if two arcs cross.
fn cross(one: (usize, usize), other: (usize, usize)) -> bool {
    let ends = |(head, word): (usize, usize)| (head.min(word), head.max(word));
    let ((a, b), (c, d)) = (ends(one), ends(other));
    a < c && c < b && b < d || c < a && a < d && d < b
}

/// Bins a distance: 1, 2, 3, 4–5, 6–10, more.
fn bin(distance: usize) -> u64 {
    match distance {
        0..=3 => distance as u64,
        4..=5 => 4,
        6..=10 => 5,
        _ => 6,
    }
}

/// A tree, with its parts for look-up.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) tree: Tree,
    parts: std::collections::HashSet<Part>,
}

impl Target {
    pub(crate) fn new(tree: Tree) -> Self {
        Self { parts: Part::of_tree(&tree).into_iter().collect(), tree }
    }

    pub(crate) fn has_arc(&self, (head, modifier): (usize, usize)) -> bool {
        self.tree.head(modifier) == Some(head)
    }

    /// Returns `true` if a factor fires in the tree.
    pub(crate) fn has(&self, factor: Factor) -> bool {
        match factor {
            Factor::Part(part) => self.parts.contains(&part),
            Factor::Crossing(one, other) => self.has_arc(one) && self.has_arc(other),
            Factor::CrossingWords(one, other) => {
                let arc = |word| Some((self.tree.head(word)?, word));
                arc(one).zip(arc(other)).is_some_and(|(one, other)| cross(one, other))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(tags: &Tags, factor: Factor) -> Vec<usize> {
        let mut cells = Vec::new();
        tags.cells(factor, |cell| cells.push(cell));
        cells
    }

    #[test]
    fn features_depend_on_tags_and_directions() {
        let row = |word, tag| format!("{word}\tw\tw\t{tag}\t{tag}1\t_\t{}\tdep\t_\t_\n", word - 1);
        let text: String = (1..).zip(["A", "B", "A", "B"]).map(|(w, tag)| row(w, tag)).collect();
        let tags = Tags::new(&text.parse().unwrap());
        let grand = |grandparent, head, modifier| {
            cells(&tags, Factor::Part(Part::Grandparent { grandparent, head, modifier }))
        };
        assert_eq!(grand(1, 2, 3).len(), 5);
        assert_ne!(grand(1, 2, 3), grand(3, 2, 1), "another direction");
        assert_ne!(grand(1, 2, 3), grand(0, 2, 3), "the root has a tag of its own");
        let step_cells = |inner, outer| cells(&tags, Factor::Part(step(1, false, inner, outer)));
        assert_eq!(step_cells(None, Some(2)).len(), 5);
        assert_eq!(step_cells(Some(2), None).len(), 4);
        assert_eq!(step_cells(Some(2), Some(4)), step_cells(Some(2), Some(4)));
        assert_eq!(
            cells(&tags, Factor::Crossing((1, 3), (2, 4))),
            cells(&tags, Factor::Crossing((2, 4), (1, 3)))
        );
    }

    #[test]
    fn factors_of_a_tree_are_found() {
        let target = Target::new(Tree::new(&[0, 4, 1, 1]).unwrap());
        assert!(target.has(Factor::Part(step(1, false, Some(3), Some(4)))));
        assert!(target.has(Factor::Part(Part::Grandparent {
            grandparent: 1,
            head: 4,
            modifier: 2
        })));
        assert!(target.has(Factor::Crossing((1, 3), (4, 2))));
        assert!(!target.has(Factor::Crossing((1, 3), (4, 3))));
        assert!(target.has(Factor::CrossingWords(2, 3)));
        assert!(
            !target.has(Factor::CrossingWords(2, 4)) && !target.has(Factor::CrossingWords(1, 3))
        );
    }
}
