//! Where sentences end: the probability of a break after every token.
//!
//! p_i = σ(w·f(i)/T), where f(i) sees the forms, endings and shapes of the tokens around the gap after token
//! i, white space, quotation marks and brackets that are open, and how far the paragraph's ends and the last
//! stop are. Learnt by logistic regression with dropout (Srivastava et al. 2014): of every example's
//! features a part is left out, so that no weight relies on another, and probabilities are less sure of
//! themselves. T is chosen, like the price λ of a sentence ([`super::segments`]), on parts of the treebank
//! by models that were learnt from the others. Cost: linear.

use std::ops::Range;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use tutte_linear::{BinaryLearner, Hash, Order, Weights, in_parts, score, sigmoid};

use super::progress::PassCounter;
use super::segments::Segments;
use super::token_attributes::Facts;
use super::tokenizer::TokenizerOptions;
use super::training_text::Paragraph;
use crate::Error;

/// A model of the ends of sentences.
#[derive(Clone, Debug)]
pub(super) struct Breaks<W> {
    pub(super) weights: W,
    /// T.
    pub(super) temperature: f32,
    /// λ.
    pub(super) price: f32,
}

impl<W: Weights> Breaks<W> {
    /// The probability of a break after every token of a paragraph; it is certain after the last.
    pub(super) fn probabilities(
        &self,
        facts: &Facts,
        features: &mut Vec<u32>,
        probabilities: &mut Vec<f32>,
    ) {
        probabilities.clear();
        for at in 0..facts.len() {
            read_features(facts, at, features);
            probabilities.push(sigmoid(score(&self.weights, features) / self.temperature));
        }
        if let Some(last) = probabilities.last_mut() {
            *last = 1.0;
        }
    }
}

impl Breaks<Vec<f32>> {
    const RATE: f32 = 0.3;
    const DROPOUT: f32 = 0.3;
    /// Parts of the treebank for the choice of T and λ.
    const PARTS: usize = 5;
    /// Those that are learnt: without each of the parts, and from all.
    pub(super) const MODELS: usize = Self::PARTS + 1;

    /// Learns from paragraphs whose sentences are known; the same for any number of threads.
    pub(super) fn train(
        paragraphs: &[Paragraph<'_>],
        options: &TokenizerOptions,
        bits: u32,
        laps: &PassCounter<'_>,
    ) -> Result<Self, Error> {
        let lesson = Lesson::new(paragraphs, options, bits);
        // After the models for the choice, one of all places.
        let parts: Vec<usize> = (0..Self::MODELS).collect();
        let mut models = in_parts(&parts, options.threads, |parts| {
            parts.iter().map(|&part| lesson.learn(&lesson.part(part), laps)).collect()
        })?;
        let weights = models.pop().unwrap_or_default();
        let (temperature, price) = choose(paragraphs, &lesson.judge(&models));
        Ok(Self { weights, temperature, price })
    }
}

/// What there is to learn from.
struct Lesson<'a> {
    paragraphs: &'a [Paragraph<'a>],
    facts: Vec<Facts>,
    /// The paragraphs and tokens after which there may be a break or none: not the last ones.
    places: Vec<(usize, usize)>,
    bits: u32,
    passes: usize,
    seed: u64,
}

impl<'a> Lesson<'a> {
    fn new(paragraphs: &'a [Paragraph<'a>], options: &TokenizerOptions, bits: u32) -> Self {
        let &TokenizerOptions { seed, passes, .. } = options;
        let inner = |(number, paragraph): (usize, &Paragraph<'_>)| {
            (0..paragraph.tokens.len() - 1).map(move |token| (number, token))
        };
        let places = paragraphs.iter().enumerate().flat_map(inner).collect();
        let facts = paragraphs.iter().map(Paragraph::facts).collect();
        Self { paragraphs, facts, places, bits, passes, seed }
    }

    /// The places of a part; none of the one after the last.
    fn part(&self, part: usize) -> Range<usize> {
        let border = |part: usize| self.places.len() * part.min(Breaks::PARTS) / Breaks::PARTS;
        border(part)..border(part + 1)
    }

    /// Weights that are learnt from all places but some.
    fn learn(&self, left_out: &Range<usize>, laps: &PassCounter<'_>) -> Result<Vec<f32>, Error> {
        const DROPOUT: f32 = Breaks::DROPOUT;
        let mut learner = BinaryLearner::new(self.bits, Breaks::RATE);
        let mut order = Order::new(self.seed, 1);
        let mut chance = Pcg64::seed_from_u64(self.seed);
        let (mut features, mut kept) = (Vec::new(), Vec::new());
        for _ in 0..self.passes {
            for place in order.shuffled(self.places.len()) {
                if left_out.contains(&place) {
                    continue;
                }
                let (paragraph, token) = self.places[place];
                read_features(&self.facts[paragraph], token, &mut features);
                keep_some(&features, &mut chance, &mut kept);
                learner.tick();
                let log_odds = learner.score(&kept) / (1.0 - DROPOUT);
                let is_break = self.paragraphs[paragraph].sentence_ends[token];
                learner.update(&kept, sigmoid(log_odds) - f32::from(u8::from(is_break)));
            }
            laps.lap()?;
        }
        Ok(learner.averaged())
    }

    /// The log-odds of a break after each token, by the model that has not seen it.
    fn judge(&self, models: &[Vec<f32>]) -> Vec<Vec<f32>> {
        let mut log_odds: Vec<Vec<f32>> =
            self.paragraphs.iter().map(|paragraph| vec![0.0; paragraph.tokens.len()]).collect();
        let mut features = Vec::new();
        for (part, weights) in models.iter().enumerate() {
            for &(paragraph, token) in &self.places[self.part(part)] {
                read_features(&self.facts[paragraph], token, &mut features);
                log_odds[paragraph][token] = score(weights, &features);
            }
        }
        log_odds
    }
}

/// Leaves out each feature with the probability of dropout.
fn keep_some(features: &[u32], chance: &mut Pcg64, kept: &mut Vec<u32>) {
    const THRESHOLD: u64 = (Breaks::DROPOUT * 256.0) as u64;
    kept.clear();
    for features in features.chunks(8) {
        let mut random = chance.next_u64();
        for &feature in features {
            if random & 0xff >= THRESHOLD {
                kept.push(feature);
            }
            random >>= 8;
        }
    }
}

/// The temperature and the price with which most sentences would have been found.
fn choose(paragraphs: &[Paragraph<'_>], log_odds: &[Vec<f32>]) -> (f32, f32) {
    let mut best = (0.0, 1.0, 0.4);
    let (mut segments, mut ends) = (Segments::default(), Vec::new());
    for temperature in [1.0, 0.65, 0.8, 1.25, 1.5, 2.0] {
        let probabilities: Vec<Vec<f32>> = log_odds
            .iter()
            .map(|paragraph| paragraph.iter().map(|x| sigmoid(x / temperature)).collect())
            .collect();
        // Closer together where sentences are hard to find, and λ is small.
        for step in (0..=14u8).rev() {
            let price = 0.6 * (f32::from(step) / 14.0).powi(2);
            let (mut right, mut all) = (0, 0);
            for (paragraph, probabilities) in paragraphs.iter().zip(&probabilities) {
                segments.divide(probabilities, price, &mut ends);
                let gold = paragraph.sentence_ends.iter().filter(|&&end| end).count();
                all += gold + ends.len();
                right += count_right(&paragraph.sentence_ends, &ends);
            }
            let f1 = 2.0 * right as f64 / all.max(1) as f64;
            if f1 > best.0 {
                best = (f1, temperature, price);
            }
        }
    }
    (best.1, best.2)
}

/// How many sentences have both of their ends, and no other between them. The last token of a paragraph
/// is an end, whatever the treebank says.
fn count_right(is_end: &[bool], ends: &[usize]) -> usize {
    let is_end = |tokens: usize| tokens == is_end.len() || is_end[tokens - 1];
    let mut start = 0;
    let mut right = 0;
    for &end in ends {
        let starts = start == 0 || is_end(start);
        right += usize::from(starts && is_end(end) && !(start + 1..end).any(is_end));
        start = end;
    }
    right
}

/// The features of the gap after a token.
fn read_features(facts: &Facts, at: usize, features: &mut Vec<u32>) {
    let [a3, a2, a1, b1, b2, b3] = [-2, -1, 0, 1, 2, 3].map(|k| facts.near(at, k));
    let begun = (at as u64).min(7);
    let left = ((facts.len() - 1 - at) as u64).min(7);
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
    add(26, edge, begun, 0);
    add(27, edge, left, 0);
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
    // A number right after a stop is that of what follows: `… home. 2. Everyone …`.
    let short = a2.first << 4 | a2.length;
    add(47, edge, a1.since_stop, short);
    add(48, a1.form ^ a1.since_stop.rotate_left(32), a2.shape, b1.shape);
    add(49, a3.last, short, a1.form);
    add(50, a3.last << 6 | a2.length, a2.shape, a1.form ^ b1.first.rotate_left(32));
}
