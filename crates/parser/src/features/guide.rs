//! What a first pass thought of a sentence, for templates of a second one.
//!
//! An arc-factored model cannot see two arcs at once. A second one that is shown the tree the first
//! found can: the modifier's sisters, the head's head, the words attached so far are then part of
//! the sentence, and inference stays exact and O(n³) (guided or stacked parsing: Nivre & McDonald
//! 2008; Martins, Das, Smith & Xing 2008).

use std::io;

use tutte_trees::ArcMatrix;

use crate::signal::arcs;
use crate::tape::{State, Tape, invalid};

/// The tree that a first pass chose, and the probabilities it gave to arcs.
#[derive(Clone, Debug)]
pub struct Guide {
    heads: Vec<usize>,
    marginals: ArcMatrix,
    /// The modifiers of each place, in order.
    modifiers: Vec<Vec<usize>>,
}

impl Guide {
    /// A tree and the probabilities of arcs.
    pub fn new(heads: Vec<usize>, marginals: ArcMatrix) -> Self {
        let mut modifiers = vec![Vec::new(); heads.len() + 1];
        for (modifier, &head) in (1..).zip(&heads) {
            modifiers[head].push(modifier);
        }
        Self { heads, marginals, modifiers }
    }

    /// The heads it chose.
    pub fn heads(&self) -> &[usize] {
        &self.heads
    }

    /// The probabilities it gave to arcs.
    pub(crate) fn marginals(&self) -> &ArcMatrix {
        &self.marginals
    }

    /// The probability it gave to an arc.
    pub fn marginal(&self, head: usize, modifier: usize) -> f64 {
        self.marginals[(head, modifier)]
    }

    /// The head it chose for a word; none for the root.
    pub(super) fn head(&self, place: usize) -> Option<usize> {
        self.heads.get(place.checked_sub(1)?).copied()
    }

    /// The outermost modifiers of a word: to its left, to its right.
    pub(super) fn outermost(&self, place: usize) -> (Option<usize>, Option<usize>) {
        let modifiers = &self.modifiers[place];
        let left = modifiers.first().copied().filter(|&modifier| modifier < place);
        let right = modifiers.last().copied().filter(|&modifier| modifier > place);
        (left, right)
    }

    /// How many modifiers a word has to its left and to its right; many are counted as 3 and 4.
    pub(super) fn valency(&self, place: usize) -> (usize, usize) {
        let modifiers = &self.modifiers[place];
        let left = modifiers.partition_point(|&modifier| modifier < place);
        (left.min(3), (modifiers.len() - left).min(4))
    }

    /// How sure it was of an arc, in bins, and whether it chose it.
    pub(super) fn confidence(&self, head: usize, modifier: usize) -> u64 {
        let probability = self.marginal(head, modifier);
        // Eight equal bins, of which the outer two are divided again.
        let bin = (8.0 * probability).ceil() as u64
            + u64::from(probability > 0.02)
            + u64::from(probability > 0.98);
        2 * bin + u64::from(self.heads[modifier - 1] == head)
    }

    /// The modifier of a head next to a (possible) one, on the same side: towards the head, away
    /// from it.
    pub(super) fn sisters(&self, head: usize, modifier: usize) -> (Option<usize>, Option<usize>) {
        let modifiers = &self.modifiers[head];
        let before = modifiers.partition_point(|&other| other < modifier);
        let behind = modifiers.partition_point(|&other| other <= modifier);
        let left = before.checked_sub(1).map(|at| modifiers[at]);
        let right = modifiers.get(behind).copied();
        let same_side = |other: &usize| (*other < head) == (modifier < head);
        if modifier < head {
            (right.filter(same_side), left)
        } else {
            (left.filter(same_side), right)
        }
    }
}

impl State for Guide {
    fn state(&mut self, tape: &mut Tape<'_>) -> io::Result<()> {
        let Self { heads, marginals, .. } = self;
        tape.table(heads)?;
        let words = heads.len();
        if heads.iter().any(|head| *head > words) {
            return Err(invalid(format!("a head that {words} words do not have")));
        }
        for arc in arcs(words) {
            tape.value(&mut marginals[arc])?;
        }
        *self = Self::new(std::mem::take(heads), std::mem::take(marginals));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3 is the root word; 1, 2, 5 and 6 depend on it, 4 on 5.
    fn guide() -> Guide {
        let mut marginals = ArcMatrix::zeros(6);
        marginals[(3, 1)] = 0.99;
        marginals[(2, 1)] = 0.01;
        marginals[(5, 4)] = 0.5;
        Guide::new(vec![3, 3, 0, 5, 3, 3], marginals)
    }

    #[test]
    fn sisters_are_the_next_modifiers_on_the_same_side() {
        let guide = guide();
        assert_eq!(guide.sisters(3, 1), (Some(2), None));
        assert_eq!(guide.sisters(3, 2), (None, Some(1)));
        assert_eq!(guide.sisters(3, 4), (None, Some(5)));
        assert_eq!(guide.sisters(3, 6), (Some(5), None));
        assert_eq!(guide.sisters(4, 1), (None, None));
    }

    #[test]
    fn words_have_heads_outermost_modifiers_and_valencies() {
        let guide = guide();
        assert_eq!((guide.head(0), guide.head(3), guide.head(4)), (None, Some(0), Some(5)));
        assert_eq!(guide.outermost(3), (Some(1), Some(6)));
        assert_eq!(guide.outermost(5), (Some(4), None));
        assert_eq!((guide.valency(3), guide.valency(1)), ((2, 2), (0, 0)));
    }

    #[test]
    fn confidence_tells_sure_arcs_from_others_and_chosen_from_not() {
        let guide = guide();
        let all = [(3, 1), (2, 1), (5, 4), (4, 1)].map(|(h, m)| guide.confidence(h, m));
        assert_eq!(all, [2 * 10 + 1, 2, 2 * 5 + 1, 0]);
    }
}
