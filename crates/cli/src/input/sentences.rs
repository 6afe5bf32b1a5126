//! The loop that reads sentences. With `--lenient` it skips those that cannot be read.

use anyhow::Result;
use tutte::WordSource;
use tutte_treebank::{Error, Sentence};

use super::source::{Source, Unusable};
use crate::session::{Progress, Session};

/// Sentences of one file, in order.
///
/// [`Sentences::read`] reuses the memory of a sentence; the iterator gives each sentence its own.
pub(crate) struct Sentences<'a> {
    source: Box<dyn Source + Send + 'a>,
    session: &'a Session,
    is_lenient: bool,
    is_silent: bool,
    progress: Option<Progress>,
    skipped: usize,
}

impl<'a> Sentences<'a> {
    pub(super) fn new(
        source: Box<dyn Source + Send + 'a>,
        is_lenient: bool,
        session: &'a Session,
    ) -> Self {
        Self { source, session, is_lenient, is_silent: false, progress: None, skipped: 0 }
    }

    /// Shows the progress of reading.
    pub(crate) fn with_progress(self) -> Self {
        Self { progress: Some(self.session.progress("sentences")), ..self }
    }

    /// Skips without warnings, for a file that is read again.
    pub(crate) fn silent(self) -> Self {
        Self { is_silent: true, ..self }
    }

    /// Reads the next sentence; returns `false` at the end. With `--lenient`, sentences that cannot be read are skipped
    /// and counted, with a warning.
    pub(crate) fn read(&mut self, sentence: &mut Sentence) -> Result<bool> {
        loop {
            if let Some(progress) = &mut self.progress {
                progress.step();
            }
            match self.source.read(sentence) {
                Err(error) if self.is_lenient && concerns_one_sentence(&error) => {
                    self.skipped += 1;
                    if !self.is_silent {
                        self.session.skip(&error);
                    }
                }
                result => return result,
            }
        }
    }

    /// Number of sentences skipped so far.
    pub(crate) fn skipped(&self) -> usize {
        self.skipped
    }

    /// Returns the source of the words: the model, if it divides raw text.
    pub(crate) fn words(&self) -> WordSource {
        if self.source.is_raw_text() { WordSource::Model } else { WordSource::Given }
    }

    /// Text after the last sentence.
    pub(crate) fn tail(&self) -> &str {
        self.source.tail()
    }
}

impl Iterator for Sentences<'_> {
    type Item = Result<Sentence>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut sentence = Sentence::default();
        match self.read(&mut sentence) {
            Ok(true) => Some(Ok(sentence)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

/// Returns `true` if reading can continue after this error.
fn concerns_one_sentence(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<Unusable>() || matches!(cause.downcast_ref(), Some(Error::Malformed { .. }))
    })
}
