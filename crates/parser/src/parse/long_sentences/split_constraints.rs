//! What is known of a sentence, told to its pieces; and what they say of it, told of the sentence.

use std::ops::Range;

use tutte_treebank::{Column, Sentence};
use tutte_trees::Constraints;

use super::cut::piece_of;
use crate::{Contradiction, Error};

/// What is known of a piece.
#[derive(Clone, Default)]
pub(super) struct Told {
    /// In the numbers of the piece.
    inside: Constraints,
    /// Arcs to its words from words of other pieces that must not be: the head in the sentence, and the
    /// word in the piece.
    forbidden: Vec<(usize, usize)>,
}

impl Told {
    /// All of it: a root word must not be joined to a head that is forbidden.
    pub(super) fn given_root(&mut self, root: Option<usize>) -> Constraints {
        let forbidden = self.forbidden.iter().filter(|(head, _)| Some(*head) == root);
        let inside = std::mem::take(&mut self.inside);
        forbidden.fold(inside, |known, (_, word)| known.forbid_root(*word))
    }
}

/// What is known of each piece.
pub(super) fn divide(
    known: &Constraints,
    sentence: &Sentence,
    pieces: &[Range<usize>],
) -> Result<Vec<Told>, Error> {
    let mut told = vec![Told::default(); pieces.len()];
    let place = |word: usize| {
        let number = piece_of(pieces, word);
        (number, word - pieces[number].start)
    };
    let change = |told: &mut Told, change: &dyn Fn(Constraints) -> Constraints| {
        told.inside = change(std::mem::take(&mut told.inside));
    };
    for &(head, word) in known.required_arcs() {
        let (number, inside) = place(word);
        match head {
            0 => change(&mut told[number], &|known| known.require_root(inside)),
            head if place(head).0 == number => {
                let head = place(head).1;
                change(&mut told[number], &|known| known.require_arc(head, inside));
            }
            head => {
                let (words, pieces) = (sentence.len(), pieces.len());
                let problem = Contradiction::AcrossPieces { word, head, words, pieces };
                return Err(problem.at(sentence, word, Column::Head));
            }
        }
    }
    for &(head, word) in known.forbidden_arcs() {
        let (number, inside) = place(word);
        match head {
            0 => change(&mut told[number], &|known| known.forbid_root(inside)),
            head if place(head).0 == number => {
                let head = place(head).1;
                change(&mut told[number], &|known| known.forbid_arc(head, inside));
            }
            head => told[number].forbidden.push((head, inside)),
        }
    }
    for &(word, label) in known.required_labels() {
        let (number, inside) = place(word);
        change(&mut told[number], &|known| known.require_label(inside, label));
    }
    for &(word, label) in known.forbidden_labels() {
        let (number, inside) = place(word);
        change(&mut told[number], &|known| known.forbid_label(inside, label));
    }
    Ok(told)
}

/// An error about a piece, which starts after so many words, as one about the sentence.
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
