//! One number per part of a second-order model: arcs, consecutive siblings, grandparents.
//!
//! The children of a head on one side form a sequence, nearest first, between START and STOP
//! (McDonald & Pereira 2006). A grandparent part is a chain of two arcs, g → h → m (Carreras 2007).
//! The score of a tree is the sum over its parts:
//!
//! ```text
//! s(y) = Σ_{h→m} s[h][m]  +  Σ_{h, side} Σ_{k=0..K} s[h][c_k][c_{k+1}]  +  Σ_{g→h→m} s[g][h][m]
//!                            c_0 = START, c_1 … c_K the children, c_{K+1} = STOP
//! ```

use std::fmt;

use crate::matrix::{check_arc, is_score};
use crate::{ArcMatrix, Error, Tree};

/// A part of a tree that a second-order model scores.
///
/// ```
/// use tutte_trees::{Part, Tree};
/// let parts = Part::of_tree(&Tree::new(&[0, 1])?);
/// assert!(parts.contains(&Part::Grandparent { grandparent: 0, head: 1, modifier: 2 }));
/// assert!(parts.contains(&Part::FirstChild { head: 1, modifier: 2 }));
/// assert!(parts.contains(&Part::NoChildRight { head: 2 }));
/// # Ok::<(), tutte_trees::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// The arc `head → modifier`.
    Arc {
        /// Head of the arc; 0 is the root.
        head: usize,
        /// Modifier of the arc.
        modifier: usize,
    },
    /// START → `modifier`: the nearest child on its side of the head.
    FirstChild {
        /// Head of the child; 0 is the root.
        head: usize,
        /// The child.
        modifier: usize,
    },
    /// `inner` → `outer`: two consecutive children on one side of the head.
    NextSibling {
        /// Head of both; 0 is the root.
        head: usize,
        /// The child nearer to the head.
        inner: usize,
        /// The next child, farther from the head.
        outer: usize,
    },
    /// `modifier` → STOP: the farthest child on its side of the head.
    LastChild {
        /// Head of the child; 0 is the root.
        head: usize,
        /// The child.
        modifier: usize,
    },
    /// START → STOP on the left: the word has no child there. The root has no left side.
    NoChildLeft {
        /// The word.
        head: usize,
    },
    /// START → STOP on the right: the word has no child there.
    NoChildRight {
        /// The word; 0, the root, only in a sentence without words.
        head: usize,
    },
    /// The chain `grandparent → head → modifier`.
    Grandparent {
        /// Head of the head; 0 is the root.
        grandparent: usize,
        /// Head of the modifier, a word.
        head: usize,
        /// The modifier.
        modifier: usize,
    },
}

impl Part {
    /// Returns all parts of a tree: its arcs, then the sequences of children, then the grandparents.
    ///
    /// The tree need not be projective.
    pub fn of_tree(tree: &Tree) -> Vec<Part> {
        let n = tree.words();
        let mut parts: Vec<Part> =
            tree.arcs().map(|(head, modifier)| Part::Arc { head, modifier }).collect();
        for head in 0..=n {
            let is_child = |word: &usize| tree.head(*word) == Some(head);
            if head > 0 {
                let left = (1..head).rev().filter(is_child);
                add_sequence(head, left, Part::NoChildLeft { head }, &mut parts);
            }
            let right = (head + 1..=n).filter(is_child);
            add_sequence(head, right, Part::NoChildRight { head }, &mut parts);
        }
        parts.extend(tree.arcs().filter_map(|(head, modifier)| {
            Some(Part::Grandparent { grandparent: tree.head(head)?, head, modifier })
        }));
        parts
    }

    /// Returns all parts that a tree over `words` words may have.
    ///
    /// ```
    /// use tutte_trees::Part;
    /// // One word: its arc, START → 1 → STOP under the root, no children of its own.
    /// assert_eq!(Part::all(1).len(), 3 + 2 + 1); // and the root without children
    /// ```
    pub fn all(words: usize) -> Vec<Part> {
        let mut parts = Vec::new();
        for head in 0..=words {
            if head > 0 {
                parts.push(Part::NoChildLeft { head });
            }
            parts.push(Part::NoChildRight { head });
            for modifier in (1..=words).filter(|&modifier| modifier != head) {
                parts.push(Part::Arc { head, modifier });
                parts.push(Part::FirstChild { head, modifier });
                parts.push(Part::LastChild { head, modifier });
                let inner = if head < modifier { head + 1..modifier } else { modifier + 1..head };
                parts.extend(inner.map(|inner| Part::NextSibling { head, inner, outer: modifier }));
                if head > 0 {
                    let grandparents = (0..=words).filter(|&g| g != head && g != modifier);
                    parts.extend(grandparents.map(|grandparent| Part::Grandparent {
                        grandparent,
                        head,
                        modifier,
                    }));
                }
            }
        }
        parts
    }

    /// True if a tree over `words` words may have this part.
    fn exists(self, words: usize) -> bool {
        let is_arc = |head: usize, modifier: usize| check_arc(words, head, modifier).is_ok();
        match self {
            Part::Arc { head, modifier }
            | Part::FirstChild { head, modifier }
            | Part::LastChild { head, modifier } => is_arc(head, modifier),
            Part::NextSibling { head, inner, outer } => {
                let in_order = head < inner && inner < outer || outer < inner && inner < head;
                in_order && is_arc(head, inner) && is_arc(head, outer)
            }
            Part::NoChildLeft { head } => (1..=words).contains(&head),
            Part::NoChildRight { head } => head <= words,
            Part::Grandparent { grandparent, head, modifier } => {
                is_arc(grandparent, head) && is_arc(head, modifier) && grandparent != modifier
            }
        }
    }
}

/// Adds the steps from START through the children to STOP.
fn add_sequence(
    head: usize,
    mut children: impl Iterator<Item = usize>,
    none: Part,
    parts: &mut Vec<Part>,
) {
    let Some(first) = children.next() else {
        parts.push(none);
        return;
    };
    parts.push(Part::FirstChild { head, modifier: first });
    let mut inner = first;
    for outer in children {
        parts.push(Part::NextSibling { head, inner, outer });
        inner = outer;
    }
    parts.push(Part::LastChild { head, modifier: inner });
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Arc { head, modifier } => write!(f, "arc {head} → {modifier}"),
            Part::FirstChild { head, modifier } => {
                write!(f, "first child {modifier} of {head}")
            }
            Part::NextSibling { head, inner, outer } => {
                write!(f, "siblings {inner}, {outer} under {head}")
            }
            Part::LastChild { head, modifier } => write!(f, "last child {modifier} of {head}"),
            Part::NoChildLeft { head } => write!(f, "no child left of {head}"),
            Part::NoChildRight { head } => write!(f, "no child right of {head}"),
            Part::Grandparent { grandparent, head, modifier } => {
                write!(f, "chain {grandparent} → {head} → {modifier}")
            }
        }
    }
}

/// One `f64` for every part of a second-order model: scores, marginals or gradients.
///
/// Parts that were not set are 0, except arcs, which come from an [`ArcMatrix`]. As a score, −∞ forbids
/// a part. Grandparents take (n+1)³ numbers, and inference with them O(n⁴) time: they are stored from
/// the first that is set.
///
/// ```
/// use tutte_trees::{ArcMatrix, Part, SecondOrderParts, Tree};
/// let mut scores = SecondOrderParts::new(ArcMatrix::zeros(3));
/// scores.set(Part::NextSibling { head: 1, inner: 2, outer: 3 }, 1.5)?;
/// assert_eq!(scores.sum_over(&Tree::new(&[0, 1, 1])?)?, 1.5);
/// assert_eq!(scores.sum_over(&Tree::new(&[0, 1, 2])?)?, 0.0);
/// assert!(!scores.has_grandparents());
/// # Ok::<(), tutte_trees::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SecondOrderParts {
    arcs: ArcMatrix,
    /// `[head][outer][inner]`; inner = head is START, outer = head is STOP.
    siblings: Vec<f64>,
    /// `[2·head]` for no child on the left, `[2·head + 1]` for no child on the right.
    childless: Vec<f64>,
    /// `[grandparent][head][modifier]`; empty if there are no grandparent parts.
    grandparents: Vec<f64>,
}

impl SecondOrderParts {
    /// Makes the parts of a sentence with these values of arcs, and 0 for all other parts.
    pub fn new(arcs: ArcMatrix) -> Self {
        let mut parts = Self::default();
        parts.reset(arcs.words(), false);
        Self { arcs, ..parts }
    }

    /// Makes parts with `value(part)` for every part, grandparents included.
    pub fn from_fn(words: usize, mut value: impl FnMut(Part) -> f64) -> Self {
        let mut parts = Self::new(ArcMatrix::zeros(words)).with_grandparents();
        for part in Part::all(words) {
            *parts.cell_mut(part) = value(part);
        }
        parts
    }

    /// Adds grandparent parts of value 0, so that inference also gives their marginals.
    pub fn with_grandparents(mut self) -> Self {
        if !self.has_grandparents() {
            let side = self.words() + 1;
            self.grandparents = vec![0.0; side * side * side];
        }
        self
    }

    /// Sets all parts of a sentence of `words` words to 0, keeping the memory.
    pub(crate) fn reset(&mut self, words: usize, has_grandparents: bool) {
        let side = words + 1;
        self.arcs.reset(words, 0.0);
        let cube = side * side * side;
        let grandparents = if has_grandparents { cube } else { 0 };
        for (values, length) in [
            (&mut self.siblings, cube),
            (&mut self.childless, 2 * side),
            (&mut self.grandparents, grandparents),
        ] {
            values.clear();
            values.resize(length, 0.0);
        }
    }

    /// The number of words, n.
    pub fn words(&self) -> usize {
        self.arcs.words()
    }

    /// The values of arcs.
    pub fn arcs(&self) -> &ArcMatrix {
        &self.arcs
    }

    /// True if grandparents have values.
    pub fn has_grandparents(&self) -> bool {
        !self.grandparents.is_empty()
    }

    /// The value of a part, or `None` if the sentence has no such part. Grandparents without values
    /// are 0.
    pub fn get(&self, part: Part) -> Option<f64> {
        if !part.exists(self.words()) {
            return None;
        }
        let side = self.words() + 1;
        Some(match part {
            Part::Arc { head, modifier } => self.arcs[(head, modifier)],
            Part::FirstChild { head, modifier } => self.sibling(head, head, modifier),
            Part::NextSibling { head, inner, outer } => self.sibling(head, inner, outer),
            Part::LastChild { head, modifier } => self.sibling(head, modifier, head),
            Part::NoChildLeft { head } => self.childless[2 * head],
            Part::NoChildRight { head } => self.childless[2 * head + 1],
            Part::Grandparent { grandparent, head, modifier } => {
                let at = (grandparent * side + head) * side + modifier;
                self.grandparents.get(at).copied().unwrap_or(0.0)
            }
        })
    }

    /// Sets the value of a part.
    ///
    /// # Errors
    /// [`Error::NoSuchPart`] if the sentence has no such part.
    pub fn set(&mut self, part: Part, value: f64) -> Result<(), Error> {
        if !part.exists(self.words()) {
            return Err(Error::NoSuchPart { part, words: self.words() });
        }
        if matches!(part, Part::Grandparent { .. }) && !self.has_grandparents() {
            *self = std::mem::take(self).with_grandparents();
        }
        *self.cell_mut(part) = value;
        Ok(())
    }

    /// Σ over the parts of `tree`, projective or not.
    ///
    /// # Errors
    /// [`Error::DifferentLengths`] if the tree is of another sentence length.
    pub fn sum_over(&self, tree: &Tree) -> Result<f64, Error> {
        if tree.words() != self.words() {
            return Err(Error::DifferentLengths { left: self.words(), right: tree.words() });
        }
        Ok(Part::of_tree(tree).into_iter().filter_map(|part| self.get(part)).sum())
    }

    /// Checks values that are scores: the error names the first that is NaN, +∞ or too large.
    pub(crate) fn check_scores(&self) -> Result<(), Error> {
        self.arcs.check_scores()?;
        let tables = [&self.siblings, &self.childless, &self.grandparents];
        if tables.into_iter().flatten().all(|&value| is_score(value)) {
            return Ok(());
        }
        let values = Part::all(self.words()).into_iter().map(|part| (part, self.get(part)));
        for (part, value) in values {
            if let Some(value) = value.filter(|&value| !is_score(value)) {
                return Err(Error::BadPart { part, value });
            }
        }
        Ok(())
    }

    /// The value of a step from `inner` to `outer`; the head itself is START and STOP.
    #[inline(always)]
    fn sibling(&self, head: usize, inner: usize, outer: usize) -> f64 {
        self.steps_to(head, outer)[inner]
    }

    /// The values of all steps to `outer`, by the inner sibling.
    #[inline(always)]
    pub(crate) fn steps_to(&self, head: usize, outer: usize) -> &[f64] {
        let side = self.words() + 1;
        let at = (head * side + outer) * side;
        &self.siblings[at..at + side]
    }

    #[inline(always)]
    pub(crate) fn sibling_mut(&mut self, head: usize, inner: usize, outer: usize) -> &mut f64 {
        let side = self.words() + 1;
        &mut self.siblings[(head * side + outer) * side + inner]
    }

    /// The values of no child on the left and no child on the right.
    #[inline(always)]
    pub(crate) fn childless(&self, head: usize) -> [f64; 2] {
        [self.childless[2 * head], self.childless[2 * head + 1]]
    }

    pub(crate) fn childless_mut(&mut self, head: usize) -> &mut [f64] {
        &mut self.childless[2 * head..2 * head + 2]
    }

    /// The value of an arc under a grandparent: of the arc alone if the model has no grandparents, or
    /// if the head is the root.
    #[inline(always)]
    pub(crate) fn chain(&self, grandparent: usize, head: usize, modifier: usize) -> f64 {
        let arc = self.arcs[(head, modifier)];
        if head == 0 || self.grandparents.is_empty() {
            return arc;
        }
        let side = self.words() + 1;
        arc + self.grandparents[(grandparent * side + head) * side + modifier]
    }

    /// Adds to an arc, and to its grandparent part if there is one.
    pub(crate) fn add_chain(
        &mut self,
        grandparent: usize,
        head: usize,
        modifier: usize,
        value: f64,
    ) {
        self.arcs[(head, modifier)] += value;
        let side = self.words() + 1;
        if head > 0 && self.has_grandparents() {
            self.grandparents[(grandparent * side + head) * side + modifier] += value;
        }
    }

    fn cell_mut(&mut self, part: Part) -> &mut f64 {
        let side = self.words() + 1;
        match part {
            Part::Arc { head, modifier } => &mut self.arcs[(head, modifier)],
            Part::FirstChild { head, modifier } => self.sibling_mut(head, head, modifier),
            Part::NextSibling { head, inner, outer } => self.sibling_mut(head, inner, outer),
            Part::LastChild { head, modifier } => self.sibling_mut(head, modifier, head),
            Part::NoChildLeft { head } => &mut self.childless[2 * head],
            Part::NoChildRight { head } => &mut self.childless[2 * head + 1],
            Part::Grandparent { grandparent, head, modifier } => {
                &mut self.grandparents[(grandparent * side + head) * side + modifier]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_tree_by_hand() {
        // 3 heads 2, 1 on its left and 4 on its right; the root heads 3.
        let tree = Tree::new(&[3, 3, 0, 3]).unwrap();
        let mut found = Part::of_tree(&tree);
        let mut expected = vec![
            Part::Arc { head: 3, modifier: 1 },
            Part::Arc { head: 3, modifier: 2 },
            Part::Arc { head: 0, modifier: 3 },
            Part::Arc { head: 3, modifier: 4 },
            Part::FirstChild { head: 0, modifier: 3 },
            Part::LastChild { head: 0, modifier: 3 },
            Part::FirstChild { head: 3, modifier: 2 },
            Part::NextSibling { head: 3, inner: 2, outer: 1 },
            Part::LastChild { head: 3, modifier: 1 },
            Part::FirstChild { head: 3, modifier: 4 },
            Part::LastChild { head: 3, modifier: 4 },
            Part::Grandparent { grandparent: 0, head: 3, modifier: 1 },
            Part::Grandparent { grandparent: 0, head: 3, modifier: 2 },
            Part::Grandparent { grandparent: 0, head: 3, modifier: 4 },
        ];
        for head in [1, 2, 4] {
            expected.extend([Part::NoChildLeft { head }, Part::NoChildRight { head }]);
        }
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn every_part_has_a_cell_of_its_own() {
        for words in 0..=4 {
            let all = Part::all(words);
            let number = |part: Part| all.iter().position(|&other| other == part).unwrap() as f64;
            let parts = SecondOrderParts::from_fn(words, number);
            for &part in &all {
                assert_eq!(parts.get(part), Some(number(part)), "{part}");
            }
        }
    }

    #[test]
    fn parts_that_do_not_exist_are_refused() {
        let mut parts = SecondOrderParts::new(ArcMatrix::zeros(3));
        for part in [
            Part::Arc { head: 1, modifier: 1 },
            Part::NextSibling { head: 2, inner: 1, outer: 3 },
            Part::NextSibling { head: 1, inner: 3, outer: 2 },
            Part::NoChildLeft { head: 0 },
            Part::NoChildRight { head: 4 },
            Part::Grandparent { grandparent: 2, head: 1, modifier: 2 },
            Part::Grandparent { grandparent: 1, head: 0, modifier: 2 },
        ] {
            assert_eq!(parts.get(part), None);
            assert_eq!(parts.set(part, 1.0), Err(Error::NoSuchPart { part, words: 3 }));
        }
        let bad = Part::LastChild { head: 2, modifier: 1 };
        parts.set(bad, f64::INFINITY).unwrap();
        let error = parts.check_scores().unwrap_err();
        assert_eq!(error, Error::BadPart { part: bad, value: f64::INFINITY });
        assert!(error.to_string().contains("last child 1 of 2"), "{error}");
    }
}
