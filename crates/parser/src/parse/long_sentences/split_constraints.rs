//! Constraints of a sentence, split into constraints of its pieces.

use std::ops::Range;

use tutte_treebank::{Column, Sentence};
use tutte_trees::Constraints;

use super::cut::piece_of;
use crate::{Contradiction, Error};

/// Constraints of a piece.
#[derive(Clone, Default)]
pub(super) struct PieceConstraints {
    /// Constraints inside the piece, in its numbers.
    inside: Constraints,
    /// Forbidden arcs from words of other pieces: the head in the sentence, and the word in the piece.
    forbidden: Vec<(usize, usize)>,
}

impl PieceConstraints {
    /// Takes all constraints, given the root word of the sentence: a word must not be the root word of its piece if
    /// it would be joined to a forbidden head.
    pub(super) fn given_root(&mut self, root: Option<usize>) -> Constraints {
        let forbidden = self.forbidden.iter().filter(|(head, _)| Some(*head) == root);
        let inside = std::mem::take(&mut self.inside);
        forbidden.fold(inside, |constraints, (_, word)| constraints.forbid_root(*word))
    }

    fn change(&mut self, change: impl FnOnce(Constraints) -> Constraints) {
        self.inside = change(std::mem::take(&mut self.inside));
    }
}

/// Splits the constraints of a sentence by its pieces.
pub(super) fn split_constraints(
    constraints: &Constraints,
    sentence: &Sentence,
    pieces: &[Range<usize>],
) -> Result<Vec<PieceConstraints>, Error> {
    let mut split = vec![PieceConstraints::default(); pieces.len()];
    let place = |word: usize| {
        let number = piece_of(pieces, word);
        (number, word - pieces[number].start)
    };
    for &(head, word) in constraints.required_arcs() {
        let (number, inside) = place(word);
        match head {
            0 => split[number].change(|own| own.require_root(inside)),
            head if place(head).0 == number => {
                let head = place(head).1;
                split[number].change(|own| own.require_arc(head, inside));
            }
            head => {
                let words = sentence.len();
                let pieces = pieces.len();
                let problem = Contradiction::AcrossPieces { word, head, words, pieces };
                return Err(problem.at(sentence, word, Column::Head));
            }
        }
    }
    for &(head, word) in constraints.forbidden_arcs() {
        let (number, inside) = place(word);
        match head {
            0 => split[number].change(|own| own.forbid_root(inside)),
            head if place(head).0 == number => {
                let head = place(head).1;
                split[number].change(|own| own.forbid_arc(head, inside));
            }
            head => split[number].forbidden.push((head, inside)),
        }
    }
    for &(word, label) in constraints.required_labels() {
        let (number, inside) = place(word);
        split[number].change(|own| own.require_label(inside, label));
    }
    for &(word, label) in constraints.forbidden_labels() {
        let (number, inside) = place(word);
        split[number].change(|own| own.forbid_label(inside, label));
    }
    Ok(split)
}

/// Converts an error about a piece, which starts after `start` words, to one about the sentence.
pub(super) fn renumbered(error: Error, sentence: &Sentence, start: usize) -> Error {
    use tutte_trees::Error::NoTree;
    match error {
        Error::Contradiction {
            problem: Contradiction::NoTree(NoTree { tree_set, words }), ..
        } => {
            let words: Vec<usize> = words.into_iter().map(|word| start + word).collect();
            let first = words.first().copied().unwrap_or(start + 1);
            Contradiction::NoTree(NoTree { tree_set, words }).at(sentence, first, Column::Head)
        }
        other => other,
    }
}
