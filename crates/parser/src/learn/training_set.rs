//! The sentences that a parser learns from, in one or several versions.

use std::borrow::Cow;

use tutte_treebank::Sentence;

use crate::Error;

/// Sentences to learn from, in one or several versions.
///
/// A parser may learn from each sentence more than once: with gold tags and with the tags that a tagger predicts. All
/// versions of a sentence are in the same fold. So the first-pass output of one version never comes from a model that
/// was trained on another. The first sentences may have more versions than the others.
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
    /// All sentences of one version, then all of the next in the same order, or only the first of them.
    sentences: Cow<'a, [Sentence]>,
    /// Number of sentences of the first version.
    first_version: usize,
}

impl<'a> TrainingSet<'a> {
    /// Adds another version of every sentence, in front of the others. It may end with sentences that have no other
    /// version.
    ///
    /// # Errors
    /// [`Error::Setting`] if it has fewer sentences, or a sentence of another number of words.
    pub fn with_version(self, version: Vec<Sentence>) -> Result<Self, Error> {
        let lengths = |sentences: &[Sentence]| -> Vec<usize> {
            sentences.iter().map(Sentence::len).collect()
        };
        let other_version = &self.sentences[..self.first_version];
        let has_further_sentences = version.len() > self.first_version;
        let is_same = version.len() >= self.first_version
            && lengths(&version[..self.first_version]) == lengths(other_version);
        if !is_same || has_further_sentences && self.versions() > 1 {
            let why = "two versions of a treebank must have the same sentences, with the same number of words";
            return Err(Error::Setting(why.to_owned()));
        }
        let first_version = version.len();
        let mut sentences = version;
        sentences.extend(self.sentences.into_owned());
        Ok(Self { sentences: sentences.into(), first_version })
    }

    /// Returns all sentences, one version after the other.
    pub fn sentences(&self) -> &[Sentence] {
        &self.sentences
    }

    /// Returns the number of versions of the first sentence.
    pub fn versions(&self) -> usize {
        self.sentences.len().div_ceil(self.first_version.max(1)).max(1)
    }

    /// Returns the number of sentences of the first version that have words.
    pub(crate) fn first_version(&self) -> usize {
        let first_version = &self.sentences[..self.first_version];
        first_version.iter().filter(|sentence| !sentence.is_empty()).count()
    }
}

impl<'a> From<&'a [Sentence]> for TrainingSet<'a> {
    fn from(sentences: &'a [Sentence]) -> Self {
        Self { sentences: Cow::Borrowed(sentences), first_version: sentences.len() }
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
        Self { first_version: sentences.len(), sentences: Cow::Owned(sentences) }
    }
}

impl<'a> From<&'a TrainingSet<'_>> for TrainingSet<'a> {
    fn from(set: &'a TrainingSet<'_>) -> Self {
        Self { sentences: Cow::Borrowed(&set.sentences), first_version: set.first_version }
    }
}
