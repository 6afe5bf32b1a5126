//! TagFiller of sentences that have none, for verbs that ask about the trees of files. (`tutte parse` has more to
//! say about whose tags count.)

use tutte::text::{Tagger, TaggerMemory, is_untagged};
use tutte::{Compact, Error, Model};
use tutte_treebank::Sentence;

use crate::report::{count, counted};
use crate::session::Session;

/// Gives sentences tags, and counts those that nobody could.
pub(crate) struct TagFiller<'a> {
    tagger: Option<&'a Tagger<Compact>>,
    memory: TaggerMemory,
}

impl<'a> TagFiller<'a> {
    pub(crate) fn new(model: &'a Model<Compact>) -> Self {
        Self { tagger: model.tagger.as_deref(), memory: TaggerMemory::default() }
    }

    /// TagFiller a sentence that has no tags; whether it still has none.
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

/// Says of how many sentences the parser saw forms only.
pub(crate) fn note_untagged(untagged: usize, sentences: usize, session: &Session) {
    if untagged > 0 {
        let of = counted(sentences, "sentence");
        session.note(format!(
            "{} of {of} had no tags, and this model has no tagger (`tutte train` learns one): their trees \
             are guesses",
            count(untagged)
        ));
    }
}
