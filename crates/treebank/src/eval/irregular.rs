//! Sentences that the evaluation of the shared tasks refuses to score.
//!
//! It stops with an error if a head is unknown, if heads form a cycle, or if a sentence has several
//! roots. The scores are still defined: an unknown head is never correct, and every other head is
//! correct or not. This crate therefore computes them. Callers can use this module to report that
//! the official program would not.

use crate::{Error, Place, Sentence};

/// Counts of sentences that are not trees with one root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Irregular {
    /// Sentences with a word whose head is unknown.
    pub unknown_heads: usize,
    /// Sentences whose heads form a cycle.
    pub cycles: usize,
    /// Sentences with several roots.
    pub several_roots: usize,
    /// Place of the first such sentence.
    pub first: Option<Place>,
}

impl Irregular {
    /// Counts the irregular sentences.
    pub fn find(sentences: &[Sentence]) -> Self {
        let mut found = Irregular::default();
        for sentence in sentences {
            let kind = match sentence.tree() {
                Err(Error::NoHead { .. }) => &mut found.unknown_heads,
                Err(_) => &mut found.cycles,
                Ok(_) if sentence.partial_heads().filter(|&head| head == Some(0)).count() > 1 => {
                    &mut found.several_roots
                }
                Ok(_) => continue,
            };
            *kind += 1;
            found.first.get_or_insert_with(|| sentence.place());
        }
        found
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}
