//! Tags for untagged sentences, for verbs that score the trees of files. `tutte parse` has its own options.

use tutte::text::{Tagger, TaggerMemory, is_untagged};
use tutte::{Compact, Error, Model};
use tutte_treebank::Sentence;

use crate::report::{count, counted};
use crate::session::Session;

/// Tags sentences that have no tags.
pub(crate) struct TagFiller<'a> {
    tagger: Option<&'a Tagger<Compact>>,
    memory: TaggerMemory,
}

impl<'a> TagFiller<'a> {
    pub(crate) fn new(model: &'a Model<Compact>) -> Self {
        Self { tagger: model.tagger.as_deref(), memory: TaggerMemory::default() }
    }

    /// Tags a sentence that has no tags, if the model has a tagger. Returns `true` if it is still untagged.
    pub(crate) fn fill(&mut self, sentence: &mut Sentence) -> Result<bool, Error> {
        let untagged = is_untagged(sentence);
        match self.tagger {
            Some(tagger) if untagged => {
                tagger.annotate(sentence, &mut self.memory)?;
                Ok(false)
            }
            _ => Ok(untagged),
        }
    }
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
