//! The possible tags of a sentence, and its trees under each reading of them.

use tutte_treebank::Sentence;
use tutte_trees::Constraints;

use crate::text::{Tagger, Tagging};
use crate::{
    Annotation, AnnotationOptions, Compact, Decoding, Error, LabelLimits, LabelledDistribution,
    Mixture, Parse, Weights,
};

/// The tags of a sentence, and their most probable readings.
#[derive(Debug)]
pub struct TagReadings<'a, W = Compact> {
    pub(super) tagger: Option<&'a Tagger<W>>,
    pub(super) best: Tagging,
    /// The most probable sequences of tags, if more than one counts.
    pub(super) readings: Vec<Tagging>,
    pub(super) is_untagged: bool,
    /// The tags come from the network of the model.
    pub(super) is_by_network: bool,
}

impl<W: Weights> TagReadings<'_, W> {
    /// Returns `true` if the sentence was tagged by the model.
    pub fn is_new(&self) -> bool {
        self.tagger.is_some() || self.is_by_network
    }

    /// Returns `true` if the sentence needs tags and the model has no tagger.
    pub fn is_untagged(&self) -> bool {
        self.is_untagged
    }

    /// Returns `true` if more than one reading counts.
    pub(crate) fn is_ambiguous(&self) -> bool {
        !self.readings.is_empty()
    }

    /// Calls a function with the sentence under each reading, and returns the results with the probabilities of
    /// the readings. Returns an empty list if only one reading counts. Leaves the sentence with the best tags.
    ///
    /// # Errors
    /// The first error of the function.
    pub(crate) fn map_each<T>(
        &self,
        sentence: &mut Sentence,
        mut function: impl FnMut(&Sentence) -> Result<T, Error>,
    ) -> Result<Vec<(f64, T)>, Error> {
        let Some(tagger) = self.tagger.filter(|_| self.is_ambiguous()) else {
            return Ok(Vec::new());
        };
        let mut results = Vec::with_capacity(self.readings.len());
        let mut failure = None;
        let mut current = &self.best;
        for reading in &self.readings {
            tagger.write_over(current, reading, sentence)?;
            current = reading;
            match function(sentence) {
                Ok(result) => results.push((reading.prob, result)),
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        tagger.write_over(current, &self.best, sentence)?;
        failure.map_or(Ok(results), Err)
    }
}

/// Distributions over the trees of a sentence, one for each reading of its tags that counts.
#[derive(Clone, Debug)]
pub struct ReadingDistributions<'a> {
    /// At least one distribution, with the probability of its reading.
    pub(super) distributions: Vec<(f64, LabelledDistribution<'a>)>,
    /// The best tree, if there is only one reading.
    pub(super) parse: Option<Parse>,
    pub(super) decoding: Decoding,
    /// Limits of labels, if the best tree is not known yet.
    pub(super) label_limits: LabelLimits,
}

impl<'a> ReadingDistributions<'a> {
    /// Returns the distribution over trees, summed over readings.
    pub fn mixture(&self) -> Mixture<'a, '_> {
        let all = self.distributions.iter();
        Mixture::new(all.map(|(prob, distribution)| (*prob, distribution)).collect())
            .with_label_limits(self.label_limits.clone())
    }

    /// Annotates the best tree. The constraints are those of the distributions.
    ///
    /// # Errors
    /// As [`Mixture::best_parse`].
    pub fn annotation(
        &self,
        constraints: &Constraints,
        options: &AnnotationOptions,
    ) -> Result<Annotation<'a>, Error> {
        let mixture = self.mixture();
        match &self.parse {
            Some(parse) => mixture.annotation(parse, constraints, options),
            None => {
                let parse = match self.decoding {
                    Decoding::Map => mixture.most_probable_parse(constraints)?,
                    Decoding::Mbr | Decoding::MaxZ => mixture.best_parse(constraints)?,
                };
                mixture.annotation(&parse, constraints, options)
            }
        }
    }
}
