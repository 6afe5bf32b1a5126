//! The sentences that a parser learns from, in one or several versions.

use std::borrow::Cow;

use tutte_treebank::Sentence;

use crate::Error;

/// Sentences to learn from, in one or several versions.
///
/// A parser may learn from each sentence more than once: with gold tags and with the tags that a tagger predicts. All
/// versions of a sentence are in the same fold. So the first-pass output of one version never comes from a model that
/// was trained on another.
///
/// ```
/// use tutte::learn::TrainingSet;
/// # use tutte_treebank::Sentence;
///
/// # let gold: Vec<Sentence> = vec!["1\tTea\ttea\tNOUN\t_\t_\t0\troot\t_\t_\n".parse()?];
/// # let predicted = gold.clone();
/// let both = TrainingSet::from(&gold).with_version(predicted)?;
/// assert_eq!((both.sentences().len(), both.versions()), (2, 2));
/// assert!(TrainingSet::from(&gold).with_version(Vec::new()).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TrainingSet<'a> {
    /// All sentences of one version, then all of the next in the same order.
    sentences: Cow<'a, [Sentence]>,
    versions: usize,
}

impl<'a> TrainingSet<'a> {
    /// Adds another version of every sentence, in front of the others.
    ///
    /// # Errors
    /// [`Error::Setting`] if it has another number of sentences, or a sentence of another number of words.
    pub fn with_version(self, version: Vec<Sentence>) -> Result<Self, Error> {
        let lengths = |sentences: &[Sentence]| -> Vec<usize> {
            sentences.iter().map(Sentence::len).collect()
        };
        let sentences_per_version = self.sentences.len() / self.versions;
        if lengths(&version) != lengths(&self.sentences[..sentences_per_version]) {
            let why = "two versions of a treebank must have the same sentences, with the same number of words";
            return Err(Error::Setting(why.to_owned()));
        }
        let mut sentences = version;
        sentences.extend(self.sentences.into_owned());
        Ok(Self { sentences: sentences.into(), versions: self.versions + 1 })
    }

    /// Returns all sentences, one version after the other.
    pub fn sentences(&self) -> &[Sentence] {
        &self.sentences
    }

    /// Returns the number of versions of each sentence.
    pub fn versions(&self) -> usize {
        self.versions
    }
}

impl<'a> From<&'a [Sentence]> for TrainingSet<'a> {
    fn from(sentences: &'a [Sentence]) -> Self {
        Self { sentences: Cow::Borrowed(sentences), versions: 1 }
    }
}

impl<'a> From<&'a Vec<Sentence>> for TrainingSet<'a> {
    fn from(sentences: &'a Vec<Sentence>) -> Self {
        sentences.as_slice().into()
    }
}

impl<'a, const N: usize> From<&'a [Sentence; N]> for TrainingSet<'a> {
    fn from(sentences: &'a [Sentence; N]) -> Self {
        sentences.as_slice().into()
    }
}

impl From<Vec<Sentence>> for TrainingSet<'_> {
    fn from(sentences: Vec<Sentence>) -> Self {
        Self { sentences: Cow::Owned(sentences), versions: 1 }
    }
}

impl<'a> From<&'a TrainingSet<'_>> for TrainingSet<'a> {
    fn from(set: &'a TrainingSet<'_>) -> Self {
        Self { sentences: Cow::Borrowed(&set.sentences), versions: set.versions }
    }
}
