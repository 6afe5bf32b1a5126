//! Fits the calibration of a model on held-out trees.
//!
//! Two remedies, both learnt from trees that the model has not seen:
//!
//! - a **temperature** T (see `temperature.rs`): all scores are divided by it. Whatever is asked is asked
//!   of a proper distribution over trees, and bare trees keep their order.
//! - an **isotonic** function f on top of it ([`Isotonic`]): an arc h → m of the best tree is *reported*
//!   with f(μ(h, m)). It concerns these confidences alone ([`Parse::head_probs`](crate::Parse), `HeadProb`)
//!   and what is decided by them; other heads, log-probabilities, entropies, k best and forests are of the
//!   distribution as before. Trees do not change.
//!
//! Which is better is judged by folds of sentences: each fold by what was fitted on the others, or else
//! the more supple of the two would win for having seen the answers. Isotonic has to have the lower
//! calibration error *and* the higher likelihood: the error alone is small for whoever says the same of
//! all arcs. Cost: the sentences are scored once, and each of the dozen steps of a search for T, for each
//! fold, is one inference a sentence.
//!
//! - C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger (2017). On calibration of modern neural networks.
//! - B. Zadrozny, C. Elkan (2002). Transforming classifier scores into accurate multiclass probability
//!   estimates.

use std::num::NonZeroUsize;

use tutte_linear::in_parts;
use tutte_treebank::Sentence;
use tutte_treebank::eval::calibration::{Calibration as Reliability, Forecast, Probability};

use super::temperature::{self, Judged};
use crate::model::rounded;
use crate::{Calibration, Error, Isotonic, Method, ParserModel, Pipeline, PrecisionTable, Weights};

/// A model and trees that it has not learnt from, by which it is calibrated.
///
/// ```
/// # let text = "1\tTea\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\t_\tVERB\t_\t_\t0\troot\t_\t_\n";
/// # let treebank: Vec<tutte_treebank::Sentence> = vec![text.parse()?, text.parse()?];
/// # let dev = &treebank;
/// use tutte::{Calibrator, TrainingOptions, train};
///
/// let mut model = train(&treebank, &TrainingOptions { bits: 12, ..TrainingOptions::default() }, |_, _| {})?;
/// let calibrator = Calibrator::new(&model, dev, 2)?;
/// let better = calibrator.compare()?.better();
/// let (temperature, calibration) = calibrator.fit(better)?;
/// (model.temperature, model.calibration) = (temperature, Some(calibration));
/// # assert_eq!(model.calibration.unwrap().words, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Calibrator<'m, W> {
    model: &'m ParserModel<W>,
    judged: Vec<Judged>,
    threads: usize,
}

/// What the model says of heads now, and what it would say.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// As it is.
    pub before: Vec<Forecast>,
    /// With a temperature that was chosen on other folds.
    pub temperature: Vec<Forecast>,
    /// With an isotonic function, too, that was fitted on other folds.
    pub isotonic: Vec<Forecast>,
    /// So many folds.
    pub folds: usize,
}

impl Comparison {
    /// What does better where it was not fitted: isotonic, if its calibration error (in ten bins of
    /// equal mass) is lower and its likelihood higher, otherwise the temperature alone.
    pub fn better(&self) -> Method {
        const BINS: NonZeroUsize = NonZeroUsize::new(10).expect("ten");
        let judge = |said: &[Forecast]| Reliability::new(said, said.len(), BINS);
        match (judge(&self.temperature), judge(&self.isotonic)) {
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
    /// Dev is dealt into so many folds.
    const FOLDS: usize = 5;

    /// Scores sentences, given the tags that they have. Words without head are not judged.
    ///
    /// # Errors
    /// [`Error::NothingToJudge`] if no word has a head; if a sentence cannot be parsed.
    pub fn new(
        model: &'m ParserModel<W>,
        gold: &[Sentence],
        threads: usize,
    ) -> Result<Self, Error> {
        Self::of(&Pipeline::of_parser(model), gold, threads)
    }

    /// The same with tags as the pipeline has them: what is calibrated are then probabilities given all
    /// readings that count, as a parse has them.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of(
        pipeline: &Pipeline<'m, W>,
        gold: &[Sentence],
        threads: usize,
    ) -> Result<Self, Error> {
        let model = pipeline.parser()?;
        let has_heads = |sentence: &&Sentence| sentence.words().any(|word| word.head().is_some());
        let gold: Vec<&Sentence> = gold.iter().filter(has_heads).collect();
        if gold.is_empty() {
            return Err(Error::NothingToJudge);
        }
        let judged = in_parts(&gold, threads, |part| temperature::judge(pipeline, part))?;
        Ok(Self { model, judged, threads })
    }

    /// What the model says, and would say of each fold if it were calibrated on the others.
    ///
    /// # Errors
    /// If a sentence cannot be parsed.
    pub fn compare(&self) -> Result<Comparison, Error> {
        let all: Vec<&Judged> = self.judged.iter().collect();
        let folds = Self::FOLDS.min(all.len());
        let before = self.said(&all, self.model.temperature)?;
        let before = mapped(&before, |p| self.model.confidence(p));
        let (mut temperature, mut isotonic) = (Vec::new(), Vec::new());
        for fold in 0..folds {
            let part = |own: bool| -> Vec<&Judged> {
                let numbered = all.iter().enumerate();
                numbered.filter(|(at, _)| (at % folds == fold) == own).map(|(_, s)| *s).collect()
            };
            let (others, own) = (part(false), part(true));
            let t = self.best_temperature(&others)?;
            let map = Isotonic::fit(&self.said(&others, t)?);
            let said = self.said(&own, t)?;
            isotonic.extend(mapped(&said, |p| map.as_ref().map_or(p, |map| map.confidence(p))));
            temperature.extend(said);
        }
        Ok(Comparison { before, temperature, isotonic, folds })
    }

    /// The temperature and everything else, fitted on all sentences.
    ///
    /// # Errors
    /// If a sentence cannot be parsed.
    pub fn fit(&self, method: Method) -> Result<(f64, Calibration), Error> {
        let all: Vec<&Judged> = self.judged.iter().collect();
        let temperature = self.best_temperature(&all)?;
        let said = self.said(&all, temperature)?;
        let isotonic = match method {
            Method::Temperature => None,
            Method::Isotonic => Isotonic::fit(&said),
        };
        let confidence = |p| isotonic.as_ref().map_or(p, |map| map.confidence(p));
        let calibration = Calibration {
            data: None,
            sentences: all.len(),
            words: said.len(),
            precision: PrecisionTable::new(&mapped(&said, confidence)),
            isotonic,
        };
        Ok((temperature, calibration))
    }

    fn best_temperature(&self, judged: &[&Judged]) -> Result<f64, Error> {
        let words = judged.iter().map(|sentence| sentence.words()).sum();
        let some: Vec<&Judged> =
            judged.iter().step_by(temperature::one_in(words)).copied().collect();
        Ok(rounded(temperature::best(&some, self.model.tree_set, self.threads)?))
    }

    /// The probabilities of the heads that are chosen at a temperature.
    fn said(&self, judged: &[&Judged], temperature: f64) -> Result<Vec<Forecast>, Error> {
        let set = self.model.tree_set;
        let work = |part: &[&Judged]| temperature::probabilities(part, set, temperature);
        let said = in_parts(judged, self.threads, work)?;
        Ok(said.into_iter().flatten().filter_map(|(p, right)| forecast(p, right)).collect())
    }
}

fn forecast(probability: f64, correct: bool) -> Option<Forecast> {
    Some(Forecast { probability: Probability::new(probability)?, correct })
}

/// The same with other probabilities.
fn mapped(said: &[Forecast], of: impl Fn(f64) -> f64) -> Vec<Forecast> {
    said.iter().filter_map(|said| forecast(of(said.probability.get()), said.correct)).collect()
}

#[cfg(test)]
mod tests;
