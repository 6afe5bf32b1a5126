//! Calibration: fits the probabilities of a model to held-out trees, by two methods.
//!
//! - **Temperature** T (see `temperature.rs`): all scores are divided by it. The result is still a distribution over
//!   trees, and unlabelled trees keep their order.
//! - **Isotonic** function f on top of it ([`Isotonic`]): an arc h → m of the best tree is *reported* with f(μ(h, m)).
//!   It changes only these confidences ([`Parse::head_probs`](crate::Parse), `HeadProb`) and decisions based on them.
//!   Trees, other heads, log-probabilities, entropies, k-best lists and forests do not change.
//!
//! The methods are compared by cross-validation over sentences; otherwise the more flexible one would win by
//! overfitting. Isotonic must have the lower calibration error *and* the higher likelihood. The error alone is not
//! enough: it is small for a constant forecast, too. Cost: sentences are scored once. Each step of the search for T
//! costs one inference per sentence, for each fold.
//!
//! - C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger (2017). On calibration of modern neural networks.
//! - B. Zadrozny, C. Elkan (2002). Transforming classifier scores into accurate multiclass probability
//!   estimates.

use std::num::NonZeroUsize;

use tutte_linear::in_parts;
use tutte_treebank::Sentence;
use tutte_treebank::eval::calibration::{Calibration as Reliability, Forecast, Probability};

use super::temperature::{self, HeldOut, ScoredSentence};
use crate::model::rounded;
use crate::{
    Calibration, Compact, Error, Isotonic, Method, ParserModel, Pipeline, PrecisionTable, Weights,
    WordSource,
};

/// A model and the held-out trees to calibrate it on.
///
/// ```
/// # let text = "1\tTea\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\t_\tVERB\t_\t_\t0\troot\t_\t_\n";
/// # let treebank: Vec<tutte_treebank::Sentence> = vec![text.parse()?, text.parse()?];
/// # let dev = &treebank;
/// use tutte::{Calibrator, TrainingOptions, train};
///
/// let mut model = train(&treebank, &TrainingOptions::default().with_bits(12), &mut ())?;
/// let calibrator = Calibrator::new(&model, dev, 2)?;
/// let better = calibrator.compare()?.better();
/// let (temperature, calibration) = calibrator.fit(better)?;
/// model.temperature = temperature;
/// model.calibration = Some(calibration);
/// # assert_eq!(model.calibration.unwrap().words, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Calibrator<'m, W> {
    model: &'m ParserModel<W>,
    words: WordSource,
    sentences: Vec<ScoredSentence>,
    threads: usize,
}

/// Forecasts of heads before and after calibration, from cross-validation.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Forecasts of the model as it is.
    pub before: Vec<Forecast>,
    /// Forecasts with a temperature fitted on the other folds.
    pub temperature: Vec<Forecast>,
    /// Forecasts with a temperature and an isotonic function fitted on the other folds.
    pub isotonic: Vec<Forecast>,
    /// Number of folds.
    pub folds: usize,
}

impl Comparison {
    /// Returns the better method on held-out folds: isotonic if its calibration error (in ten bins of equal mass) is
    /// lower and its likelihood higher, otherwise the temperature alone.
    pub fn better(&self) -> Method {
        const BINS: NonZeroUsize = NonZeroUsize::new(10).expect("ten");
        let reliability =
            |forecasts: &[Forecast]| Reliability::new(forecasts, forecasts.len(), BINS);
        match (reliability(&self.temperature), reliability(&self.isotonic)) {
            (Some(temperature), Some(isotonic))
                if isotonic.ece.value < temperature.ece.value
                    && isotonic.log_likelihood > temperature.log_likelihood =>
            {
                Method::Isotonic
            }
            _ => Method::Temperature,
        }
    }
}

impl<'m, W: Weights> Calibrator<'m, W> {
    /// Number of folds of the held-out sentences.
    const FOLDS: usize = 5;

    /// Scores held-out sentences with their own tags. Words without a head are ignored.
    ///
    /// # Errors
    /// [`Error::NothingToJudge`] if no word has a head. Fails if a sentence cannot be parsed.
    pub fn new(
        model: &'m ParserModel<W>,
        gold: &[Sentence],
        threads: usize,
    ) -> Result<Self, Error> {
        Self::of(&Pipeline::of_parser(model), gold, threads)
    }

    /// Scores held-out sentences with the tags of a pipeline. If it mixes several readings of the tags, calibration
    /// applies to the mixture, as in a parse.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of(
        pipeline: &Pipeline<'m, W>,
        gold: &[Sentence],
        threads: usize,
    ) -> Result<Self, Error> {
        let gold: Vec<HeldOut<'_>> = gold.iter().filter(has_heads).map(HeldOut::new).collect();
        Self::score(pipeline, &gold, threads)
    }

    fn score(
        pipeline: &Pipeline<'m, W>,
        held_out: &[HeldOut<'_>],
        threads: usize,
    ) -> Result<Self, Error> {
        if held_out.is_empty() {
            return Err(Error::NothingToJudge);
        }
        let sentences =
            in_parts(held_out, threads, |part| temperature::score_sentences(pipeline, part))?;
        Ok(Self { model: pipeline.parser()?, words: pipeline.words(), sentences, threads })
    }

    /// Returns the forecasts of the model, and those of each fold after calibration on the other folds.
    ///
    /// # Errors
    /// Fails if a sentence cannot be parsed.
    pub fn compare(&self) -> Result<Comparison, Error> {
        let all: Vec<&ScoredSentence> = self.sentences.iter().collect();
        let folds = Self::FOLDS.min(all.len());
        let before = self.forecasts(&all, self.words.temperature(self.model))?;
        let isotonic = self.words.calibration(self.model).and_then(|it| it.isotonic.as_ref());
        let before = mapped(&before, |p| isotonic.map_or(p, |map| map.confidence(p)));
        let mut temperature = Vec::new();
        let mut isotonic = Vec::new();
        for fold in 0..folds {
            let part = |is_held_out: bool| -> Vec<&ScoredSentence> {
                let numbered = all.iter().enumerate();
                let in_part = numbered.filter(|(at, _)| (at % folds == fold) == is_held_out);
                in_part.map(|(_, sentence)| *sentence).collect()
            };
            let others = part(false);
            let held_out = part(true);
            let t = self.best_temperature(&others)?;
            let map = Isotonic::fit(&self.forecasts(&others, t)?);
            let forecasts = self.forecasts(&held_out, t)?;
            let confidence = |p| map.as_ref().map_or(p, |map| map.confidence(p));
            isotonic.extend(mapped(&forecasts, confidence));
            temperature.extend(forecasts);
        }
        Ok(Comparison { before, temperature, isotonic, folds })
    }

    /// Fits the temperature and the calibration on all sentences.
    ///
    /// # Errors
    /// Fails if a sentence cannot be parsed.
    pub fn fit(&self, method: Method) -> Result<(f64, Calibration), Error> {
        let all: Vec<&ScoredSentence> = self.sentences.iter().collect();
        let temperature = self.best_temperature(&all)?;
        let forecasts = self.forecasts(&all, temperature)?;
        let isotonic = match method {
            Method::Temperature => None,
            Method::Isotonic => Isotonic::fit(&forecasts),
        };
        let confidence = |p| isotonic.as_ref().map_or(p, |map| map.confidence(p));
        let calibration = Calibration {
            data: None,
            sentences: all.len(),
            words: forecasts.len(),
            precision: PrecisionTable::new(&mapped(&forecasts, confidence)),
            isotonic,
        };
        Ok((temperature, calibration))
    }

    fn best_temperature(&self, sentences: &[&ScoredSentence]) -> Result<f64, Error> {
        let words = sentences.iter().map(|sentence| sentence.words()).sum();
        let sample: Vec<&ScoredSentence> =
            sentences.iter().step_by(temperature::sampling_stride(words)).copied().collect();
        Ok(rounded(temperature::best(&sample, self.model.tree_set, self.threads)?))
    }

    /// Returns the forecasts of predicted heads at a temperature.
    fn forecasts(
        &self,
        sentences: &[&ScoredSentence],
        temperature: f64,
    ) -> Result<Vec<Forecast>, Error> {
        let set = self.model.tree_set;
        let work = |part: &[&ScoredSentence]| temperature::probabilities(part, set, temperature);
        let found = in_parts(sentences, self.threads, work)?;
        Ok(found.into_iter().flatten().filter_map(|(p, right)| forecast(p, right)).collect())
    }
}

impl<'m> Calibrator<'m, Compact> {
    /// Scores the sentences that a pipeline finds in the raw text of gold trees. A head counts as right if the gold
    /// standard has the same two words, and the same arc between them. So the probabilities also account for wrong
    /// words and sentences, which a distribution over trees does not know.
    ///
    /// ```
    /// # let text = "1\tTea\ttea\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\tcool\tVERB\t_\t_\t0\troot\t_\t_\n";
    /// # let treebank: Vec<tutte_treebank::Sentence> = vec![text.parse()?, text.parse()?];
    /// use tutte::learn::{Preset, Recipe, train_pipeline};
    /// use tutte::{Calibrator, Pipeline, TextCalibration};
    ///
    /// let recipe = Recipe::new().with_preset(Preset::Fast);
    /// let mut model = train_pipeline(treebank.clone(), Vec::new(), &recipe, &mut ())?.model;
    /// let calibrator = Calibrator::of_text(&Pipeline::new(&model), &treebank, 1)?;
    /// let (temperature, calibration) = calibrator.fit(calibrator.compare()?.better())?;
    /// let text_calibration = TextCalibration { temperature, calibration };
    /// model.parser.as_mut().unwrap().text_calibration = Some(text_calibration);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_text(
        pipeline: &Pipeline<'m, Compact>,
        gold: &[Sentence],
        threads: usize,
    ) -> Result<Self, Error> {
        if !gold.iter().any(|sentence| has_heads(&sentence)) {
            return Err(Error::NothingToJudge);
        }
        let pipeline = pipeline.with_words(WordSource::Model);
        let found = temperature::sentences_of_text(&pipeline, gold)?;
        Self::score(&pipeline, &temperature::aligned(gold, &found)?, threads)
    }
}

/// Returns `true` if some word of a sentence has a head.
fn has_heads(sentence: &&Sentence) -> bool {
    sentence.words().any(|word| word.head().is_some())
}

fn forecast(probability: f64, correct: bool) -> Option<Forecast> {
    Some(Forecast { probability: Probability::new(probability)?, correct })
}

/// Returns the forecasts with a function applied to their probabilities.
fn mapped(forecasts: &[Forecast], f: impl Fn(f64) -> f64) -> Vec<Forecast> {
    forecasts.iter().filter_map(|one| forecast(f(one.probability.get()), one.correct)).collect()
}

#[cfg(test)]
mod tests;
