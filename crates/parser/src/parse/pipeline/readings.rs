//! The tags that a sentence may have, and its trees under each.

use tutte_treebank::Sentence;
use tutte_trees::Constraints;

use crate::text::{Tagger, Tagging};
use crate::{Compact, Error, LabelledDistribution, Mixture, Parse, ParserModel, Weights};

/// The tags of a sentence, and what else they may be.
#[derive(Debug)]
pub struct Readings<'a, W = Compact> {
    pub(super) tagger: Option<&'a Tagger<W>>,
    pub(super) best: Tagging,
    /// The most probable sequences, if more than one counts.
    pub(super) others: Vec<Tagging>,
    pub(super) untagged: bool,
}

impl<W: Weights> Readings<'_, W> {
    /// Whether the sentence was tagged.
    pub fn are_new(&self) -> bool {
        self.tagger.is_some()
    }

    /// Whether there are no tags, since nobody could give any.
    pub fn untagged(&self) -> bool {
        self.untagged
    }

    /// Whether more than one counts.
    pub fn are_several(&self) -> bool {
        !self.others.is_empty()
    }

    /// Does something with the sentence under each reading, if there are several, and gives it with the
    /// reading's probability; leaves the sentence with the best tags.
    ///
    /// # Errors
    /// The first.
    pub fn each<T>(
        &self,
        sentence: &mut Sentence,
        mut work: impl FnMut(&Sentence) -> Result<T, Error>,
    ) -> Result<Vec<(f64, T)>, Error> {
        let Some(tagger) = self.tagger.filter(|_| self.are_several()) else {
            return Ok(Vec::new());
        };
        let mut all = Vec::with_capacity(self.others.len());
        let mut failure = None;
        let mut now = &self.best;
        for reading in &self.others {
            tagger.write_over(now, reading, sentence)?;
            now = reading;
            match work(sentence) {
                Ok(done) => all.push((reading.prob, done)),
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        tagger.write_over(now, &self.best, sentence)?;
        failure.map_or(Ok(all), Err)
    }
}

/// The trees of a sentence, under each reading of its tags that counts.
#[derive(Clone, Debug)]
pub struct Trees<'a> {
    /// One at least, with its probability.
    pub(super) of_readings: Vec<(f64, LabelledDistribution<'a>)>,
    /// The best of them, if there is one reading only.
    pub(super) parse: Option<Parse>,
}

impl<'a> Trees<'a> {
    /// Their distribution.
    pub fn mixture(&self) -> Mixture<'a, '_> {
        let all = self.of_readings.iter();
        Mixture::new(all.map(|(prob, distribution)| (*prob, distribution)).collect())
    }

    /// The best of them by their model, of which this was `known` before.
    ///
    /// # Errors
    /// As [`Mixture::best`].
    pub fn best<W>(&self, model: &ParserModel<W>, known: &Constraints) -> Result<Parse, Error> {
        match &self.parse {
            Some(parse) => Ok(parse.clone()),
            None => self.mixture().best(model, known),
        }
    }
}
