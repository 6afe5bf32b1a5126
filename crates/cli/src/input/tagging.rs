//! Tags for untagged sentences, for verbs that score the trees of files. `tutte parse` has its own options.

use tutte::{Annotator, TagReadings};

use crate::report::{count, counted};
use crate::session::Session;

/// A sentence that was tagged if it had no tags: the readings of its tags, and what finds its trees.
pub(crate) struct Tagged<'t, 'm> {
    pub(crate) annotator: &'t mut Annotator<'m>,
    pub(crate) readings: &'t TagReadings<'m>,
}

/// Prints how many sentences had no tags, so that the parser saw word forms only.
pub(crate) fn note_untagged(untagged: usize, sentences: usize, session: &Session) {
    if untagged > 0 {
        let of = counted(sentences, "sentence");
        session.note(format!(
            "{} of {of} had no tags, and this model has no tagger: their trees are guesses; tag them, or use a \
             model with a tagger (`tutte train` makes one)",
            count(untagged)
        ));
    }
}
