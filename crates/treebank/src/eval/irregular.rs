//! What the shared tasks' evaluation refuses to score, and we do not.
//!
//! It ends with an error if a head is unknown, if heads form a cycle, and if a sentence has several
//! roots. None of this makes the scores undefined: an unknown head is never correct, and every
//! other head is correct or not. So the scores are computed, and whoever shows them can say, with
//! this, that the official program would not have.

use crate::{Error, Place, Sentence};

/// Sentences that are no trees with one root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Irregular {
    /// Sentences with a word whose head is unknown.
    pub unknown_heads: usize,
    /// Sentences whose heads form a cycle.
    pub cycles: usize,
    /// Sentences with several roots.
    pub several_roots: usize,
    /// The first of all these.
    pub first: Option<Place>,
}

impl Irregular {
    /// Looks through sentences.
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

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}
