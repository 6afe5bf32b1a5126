//! Sentence boundaries: the probability of a sentence break after every token.
//!
//! > p_i = σ(w·f(i)/T)
//!
//! The features f(i) are the forms, endings and shapes of the tokens around the gap after token i, the white space,
//! open quotation marks and brackets, and the distance to the last stop and to both ends of the paragraph.
//!
//! Training is logistic regression with dropout (Srivastava et al. 2014): a random part of the features of every
//! example is left out. So no weight relies on another, and probabilities are less extreme. The temperature T and the
//! penalty λ of a sentence ([`sentence_decoder`](crate::sentence_decoder)) are chosen by cross-validation. Cost:
//! linear.

use std::ops::Range;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use tutte_linear::{BinaryLearner, Compact, Hash, Order, Weights, in_parts, score, sigmoid};

use crate::Error;
use crate::progress::PassCounter;
use crate::sentence_decoder::SentenceDecoder;
use crate::token_attributes::TokenAttributes;
use crate::training_text::GoldParagraph;

/// A model of sentence boundaries.
#[derive(Clone, Debug)]
pub(crate) struct SentenceBoundaries<W> {
    pub(crate) weights: W,
    /// T.
    pub(crate) temperature: f32,
    /// λ.
    pub(crate) penalty: f32,
}

impl<W: Weights> SentenceBoundaries<W> {
    /// Writes the probability of a break after every token of a paragraph. It is 1 after the last token.
    pub(crate) fn break_probs(
        &self,
        attributes: &TokenAttributes,
        features: &mut Vec<u32>,
        break_probs: &mut Vec<f32>,
    ) {
        break_probs.clear();
        for at in 0..attributes.len() {
            read_features(attributes, at, features);
            break_probs.push(sigmoid(score(&self.weights, features) / self.temperature));
        }
        if let Some(last) = break_probs.last_mut() {
            *last = 1.0;
        }
    }
}

impl SentenceBoundaries<Vec<f32>> {
    const RATE: f32 = 0.3;
    const DROPOUT: f32 = 0.3;
    /// Number of folds of the cross-validation that chooses T and λ.
    const FOLDS: usize = 5;
    /// Number of models that are trained: one without each fold, and one on everything.
    pub(crate) const MODELS: usize = Self::FOLDS + 1;

    /// Trains a model on paragraphs. The result does not depend on the number of threads.
    pub(crate) fn train(
        paragraphs: &[GoldParagraph<'_>],
        bits: u32,
        passes: usize,
        seed: u64,
        threads: usize,
        counter: &PassCounter<'_>,
    ) -> Result<Self, Error> {
        let trainer = Trainer::new(paragraphs, bits, passes, seed);
        // The fold after the last is empty: the last model is trained on everything.
        let folds: Vec<usize> = (0..Self::MODELS).collect();
        let mut models = in_parts(&folds, threads, |folds| {
            folds.iter().map(|&fold| trainer.train(&trainer.fold(fold), counter)).collect()
        })?;
        let weights = models.pop().unwrap_or_default();
        let log_odds = trainer.held_out_log_odds(&models);
        let (temperature, penalty) = choose_temperature_and_penalty(paragraphs, &log_odds);
        Ok(Self { weights, temperature, penalty })
    }

    /// Returns this model with weights of 8 bits.
    pub(crate) fn compact(&self) -> SentenceBoundaries<Compact> {
        let &Self { ref weights, temperature, penalty } = self;
        SentenceBoundaries { weights: Compact::new(weights), temperature, penalty }
    }
}

/// Trains models on parts of the same paragraphs.
struct Trainer<'a> {
    paragraphs: &'a [GoldParagraph<'a>],
    attributes: Vec<TokenAttributes>,
    /// Paragraph and token of each gap that is an example: all but those at the end of a paragraph.
    gaps: Vec<(usize, usize)>,
    bits: u32,
    passes: usize,
    seed: u64,
}

impl<'a> Trainer<'a> {
    fn new(paragraphs: &'a [GoldParagraph<'a>], bits: u32, passes: usize, seed: u64) -> Self {
        let inner = |(number, paragraph): (usize, &GoldParagraph<'_>)| {
            (0..paragraph.tokens.len() - 1).map(move |token| (number, token))
        };
        let gaps = paragraphs.iter().enumerate().flat_map(inner).collect();
        let attributes = paragraphs.iter().map(GoldParagraph::attributes).collect();
        Self { paragraphs, attributes, gaps, bits, passes, seed }
    }

    /// Returns the gaps of a fold. The fold after the last is empty.
    fn fold(&self, fold: usize) -> Range<usize> {
        const FOLDS: usize = SentenceBoundaries::FOLDS;
        let border = |fold: usize| self.gaps.len() * fold.min(FOLDS) / FOLDS;
        border(fold)..border(fold + 1)
    }

    /// Returns weights trained on all gaps but the held-out ones.
    fn train(&self, held_out: &Range<usize>, counter: &PassCounter<'_>) -> Result<Vec<f32>, Error> {
        const DROPOUT: f32 = SentenceBoundaries::DROPOUT;
        let mut learner = BinaryLearner::new(self.bits, SentenceBoundaries::RATE);
        let mut order = Order::new(self.seed, 1);
        let mut generator = Pcg64::seed_from_u64(self.seed);
        let mut features = Vec::new();
        let mut kept = Vec::new();
        for _ in 0..self.passes {
            for gap in order.shuffled(self.gaps.len()) {
                if held_out.contains(&gap) {
                    continue;
                }
                let (paragraph, token) = self.gaps[gap];
                read_features(&self.attributes[paragraph], token, &mut features);
                drop_out(&features, &mut generator, &mut kept);
                learner.tick();
                let log_odds = learner.score(&kept) / (1.0 - DROPOUT);
                let is_break = self.paragraphs[paragraph].sentence_ends[token];
                learner.update(&kept, sigmoid(log_odds) - f32::from(u8::from(is_break)));
            }
            counter.finish_pass()?;
        }
        Ok(learner.averaged())
    }

    /// Returns the log-odds of a break after each token, by the model that held it out.
    fn held_out_log_odds(&self, models: &[Vec<f32>]) -> Vec<Vec<f32>> {
        let mut log_odds: Vec<Vec<f32>> =
            self.paragraphs.iter().map(|paragraph| vec![0.0; paragraph.tokens.len()]).collect();
        let mut features = Vec::new();
        for (fold, weights) in models.iter().enumerate() {
            for &(paragraph, token) in &self.gaps[self.fold(fold)] {
                read_features(&self.attributes[paragraph], token, &mut features);
                log_odds[paragraph][token] = score(weights, &features);
            }
        }
        log_odds
    }
}

/// Leaves out each feature with the probability of dropout.
fn drop_out(features: &[u32], generator: &mut Pcg64, kept: &mut Vec<u32>) {
    const THRESHOLD: u64 = (SentenceBoundaries::DROPOUT * 256.0) as u64;
    kept.clear();
    for features in features.chunks(8) {
        let mut random = generator.next_u64();
        for &feature in features {
            if random & 0xff >= THRESHOLD {
                kept.push(feature);
            }
            random >>= 8;
        }
    }
}

/// Returns the temperature and the penalty with the highest F₁ of sentences.
fn choose_temperature_and_penalty(
    paragraphs: &[GoldParagraph<'_>],
    log_odds: &[Vec<f32>],
) -> (f32, f32) {
    let mut best = (0.0, 1.0, 0.4);
    let mut decoder = SentenceDecoder::default();
    let mut ends = Vec::new();
    for temperature in [1.0, 0.65, 0.8, 1.25, 1.5, 2.0] {
        let probabilities: Vec<Vec<f32>> = log_odds
            .iter()
            .map(|paragraph| paragraph.iter().map(|x| sigmoid(x / temperature)).collect())
            .collect();
        // Steps are closer together where λ is small, as it is when sentences are hard to find.
        for step in (0..=14u8).rev() {
            let penalty = 0.6 * (f32::from(step) / 14.0).powi(2);
            let mut right = 0;
            let mut all = 0;
            for (paragraph, probabilities) in paragraphs.iter().zip(&probabilities) {
                decoder.decode(probabilities, penalty, &mut ends);
                let gold = paragraph.sentence_ends.iter().filter(|&&end| end).count();
                all += gold + ends.len();
                right += count_right(&paragraph.sentence_ends, &ends);
            }
            let f1 = 2.0 * right as f64 / all.max(1) as f64;
            if f1 > best.0 {
                best = (f1, temperature, penalty);
            }
        }
    }
    (best.1, best.2)
}

/// Counts the predicted sentences that are right: both of their ends are gold, and no gold end is between them. The
/// last token of a paragraph counts as an end, even if the treebank does not end a sentence there.
fn count_right(is_end: &[bool], ends: &[usize]) -> usize {
    let is_end = |tokens: usize| tokens == is_end.len() || is_end[tokens - 1];
    let mut start = 0;
    let mut right = 0;
    for &end in ends {
        let is_start = start == 0 || is_end(start);
        right += usize::from(is_start && is_end(end) && !(start + 1..end).any(is_end));
        start = end;
    }
    right
}

/// Writes the features of the gap after a token. The numbers and the order of the features are part of the model
/// format.
fn read_features(attributes: &TokenAttributes, at: usize, features: &mut Vec<u32>) {
    // Three tokens before the gap and three after it.
    let [a3, a2, a1, b1, b2, b3] = [-2, -1, 0, 1, 2, 3].map(|k| attributes.near(at, k));
    let from_start = (at as u64).min(7);
    let to_end = ((attributes.len() - 1 - at) as u64).min(7);
    features.clear();
    let mut add = |t: u64, a: u64, b: u64, c: u64| {
        features.push(Hash::of(t).and(a).and(b).and(c).feature());
    };
    let edge = a1.last << 6 | b1.space << 5 | b1.first;
    add(1, 0, 0, 0);
    add(2, a1.form, 0, 0);
    add(3, b1.form, 0, 0);
    add(4, a1.form, b1.form, 0);
    add(5, a2.form, a1.form, 0);
    add(6, b1.form, b2.form, 0);
    add(7, a2.form, a1.form, b1.form);
    add(8, a1.form, b1.form, b2.form);
    add(9, a3.form, a2.form, a1.form);
    add(10, b1.form, b2.form, b3.form);
    add(11, a2.form, 0, 0);
    add(12, b2.form, 0, 0);
    add(13, a3.form, 0, 0);
    add(14, b3.form, 0, 0);
    add(15, a1.shape, b1.shape, b1.space);
    add(16, a1.form, b1.shape, b1.space);
    add(17, a1.shape, b1.form, b1.space);
    add(18, a2.shape, a1.form, b1.shape);
    add(19, a2.shape << 1 | b1.space, a1.shape, b1.shape ^ b2.shape.rotate_left(9));
    add(20, edge, 0, 0);
    add(21, edge, a2.last, b2.first);
    add(22, edge, a1.length, b1.length);
    add(23, edge, a2.length, a2.first);
    add(24, edge, a1.open, 0);
    add(25, edge, a1.since_stop, 0);
    add(26, edge, from_start, 0);
    add(27, edge, to_end, 0);
    add(28, a1.ending3, 0, 0);
    add(29, b1.ending3, 0, 0);
    add(30, a1.ending3, b1.form, 0);
    add(31, a1.ending3, b1.ending3, 0);
    add(32, a1.ending2, b1.ending2, b2.ending2);
    add(33, a2.ending2, a1.ending2, b1.ending2);
    add(34, b1.form, b2.ending3, 0);
    add(35, b1.form, b2.ending2, b3.ending2);
    add(36, a2.form, b1.form, 0);
    add(37, a1.form, b2.form, 0);
    add(38, a2.ending3, 0, 0);
    add(39, b2.ending3, 0, 0);
    add(40, a1.form, a2.shape, a2.length);
    add(41, a1.form, a1.open, b1.shape);
    add(42, b1.form, a1.since_stop, 0);
    add(43, b1.form, b1.shape, a1.last);
    add(44, b1.form, b1.shape, a1.since_stop);
    add(45, a1.form, a1.shape, b1.shape);
    add(46, b1.form, b1.shape, b2.shape);
    // A number right after a stop numbers what follows: `… home. 2. Everyone …`.
    let short = a2.first << 4 | a2.length;
    add(47, edge, a1.since_stop, short);
    add(48, a1.form ^ a1.since_stop.rotate_left(32), a2.shape, b1.shape);
    add(49, a3.last, short, a1.form);
    add(50, a3.last << 6 | a2.length, a2.shape, a1.form ^ b1.first.rotate_left(32));
}
