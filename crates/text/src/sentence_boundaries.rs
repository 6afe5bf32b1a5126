//! Sentence boundaries: the probability of a sentence break after every token.
//!
//! > p_i = σ(w·f(i)/T)
//!
//! The features f(i) are the forms, endings and shapes of the tokens around the gap after token i, the white space,
//! open quotation marks and brackets, and the distance to the last stop and to both ends of the paragraph.
//!
//! Training is logistic regression with dropout (Srivastava et al. 2014): a random part of the features of every
//! example is left out. So no weight relies on another, and probabilities are less extreme. Some examples after a stop
//! are seen as if written in capitals, so that `MR.` ends a sentence no more often than `Mr.`. The temperature T and the
//! penalty λ of a sentence ([`sentence_decoder`](crate::sentence_decoder)) are chosen by cross-validation. Cost:
//! linear.

use std::ops::Range;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use tutte_linear::{BinaryLearner, Compact, Hash, Order, Weights, in_parts, score, sigmoid};

use crate::Error;
use crate::characters::class;
use crate::feature_tables::{Table, tables};
use crate::progress::PassCounter;
use crate::sentence_decoder::SentenceDecoder;
use crate::token_attributes::{Attributes, TokenAttributes};
use crate::training_text::{GoldParagraph, UpperCase};

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
    /// Attributes of the same paragraphs in upper case.
    in_upper_case: Vec<TokenAttributes>,
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
        let in_upper_case =
            paragraphs.iter().map(GoldParagraph::attributes_in_upper_case).collect();
        Self { paragraphs, attributes, in_upper_case, gaps, bits, passes, seed }
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
        let mut capitals = UpperCase::new(self.seed);
        let mut features = Vec::new();
        let mut kept = Vec::new();
        for _ in 0..self.passes {
            for gap in order.shuffled(self.gaps.len()) {
                if held_out.contains(&gap) {
                    continue;
                }
                let (paragraph, token) = self.gaps[gap];
                let is_after_stop =
                    self.attributes[paragraph].near(token, 0).last == u64::from(class::STOP);
                let attributes = if is_after_stop && capitals.next() {
                    &self.in_upper_case
                } else {
                    &self.attributes
                };
                read_features(&attributes[paragraph], token, &mut features);
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

/// Values of the attributes that templates name. The gap is between the tokens `left1` and `right1`.
struct Values {
    left3: Attributes,
    left2: Attributes,
    left1: Attributes,
    right1: Attributes,
    right2: Attributes,
    right3: Attributes,
    /// Classes of the characters beside the gap, and the white space between them.
    edge: u64,
    /// Distances to both ends of the paragraph in tokens, at most 7.
    from_start: u64,
    to_end: u64,
    /// Pairs of attributes.
    both: PairValues,
}

struct PairValues {
    left2_shape_and_space: u64,
    right1_shape_and_right2_shape: u64,
    left1_form_and_since_stop: u64,
    left1_form_and_right1_first: u64,
    left2_first_and_length: u64,
    left3_last_and_left2_length: u64,
}

tables! {
    up to 3 attributes of Values;

    Forms {
        1;
        2 left1.form;
        3 right1.form;
        4 left1.form right1.form;
        5 left2.form left1.form;
        6 right1.form right2.form;
        7 left2.form left1.form right1.form;
        8 left1.form right1.form right2.form;
        9 left3.form left2.form left1.form;
        10 right1.form right2.form right3.form;
        11 left2.form;
        12 right2.form;
        13 left3.form;
        14 right3.form;
    }

    Shapes {
        15 left1.shape right1.shape right1.space;
        16 left1.form right1.shape right1.space;
        17 left1.shape right1.form right1.space;
        18 left2.shape left1.form right1.shape;
        19 both.left2_shape_and_space left1.shape both.right1_shape_and_right2_shape;
    }

    Edge {
        20 edge;
        21 edge left2.last right2.first;
        22 edge left1.length right1.length;
        23 edge left2.length left2.first;
        24 edge left1.open;
        25 edge left1.since_stop;
        26 edge from_start;
        27 edge to_end;
    }

    Endings {
        28 left1.ending3;
        29 right1.ending3;
        30 left1.ending3 right1.form;
        31 left1.ending3 right1.ending3;
        32 left1.ending2 right1.ending2 right2.ending2;
        33 left2.ending2 left1.ending2 right1.ending2;
        34 right1.form right2.ending3;
        35 right1.form right2.ending2 right3.ending2;
    }

    Context {
        36 left2.form right1.form;
        37 left1.form right2.form;
        38 left2.ending3;
        39 right2.ending3;
        40 left1.form left2.shape left2.length;
        41 left1.form left1.open right1.shape;
        42 right1.form left1.since_stop;
        43 right1.form right1.shape left1.last;
        44 right1.form right1.shape left1.since_stop;
        45 left1.form left1.shape right1.shape;
        46 right1.form right1.shape right2.shape;
    }

    /// A number right after a stop numbers what follows: `… home. 2. Everyone …`.
    Numbering {
        47 edge left1.since_stop both.left2_first_and_length;
        48 both.left1_form_and_since_stop left2.shape right1.shape;
        49 left3.last both.left2_first_and_length left1.form;
        50 both.left3_last_and_left2_length left2.shape both.left1_form_and_right1_first;
    }
}

/// Writes the features of the gap after a token.
fn read_features(attributes: &TokenAttributes, at: usize, features: &mut Vec<u32>) {
    let [left3, left2, left1, right1, right2, right3] =
        [-2, -1, 0, 1, 2, 3].map(|k| attributes.near(at, k));
    let values = Values {
        edge: left1.last << 6 | right1.space << 5 | right1.first,
        from_start: (at as u64).min(7),
        to_end: ((attributes.len() - 1 - at) as u64).min(7),
        both: PairValues {
            left2_shape_and_space: left2.shape << 1 | right1.space,
            right1_shape_and_right2_shape: right1.shape ^ right2.shape.rotate_left(9),
            left1_form_and_since_stop: left1.form ^ left1.since_stop.rotate_left(32),
            left1_form_and_right1_first: left1.form ^ right1.first.rotate_left(32),
            left2_first_and_length: left2.first << 4 | left2.length,
            left3_last_and_left2_length: left3.last << 6 | left2.length,
        },
        left3,
        left2,
        left1,
        right1,
        right2,
        right3,
    };
    features.clear();
    Forms::add(&values, Hash::of, features);
    Shapes::add(&values, Hash::of, features);
    Edge::add(&values, Hash::of, features);
    Endings::add(&values, Hash::of, features);
    Context::add(&values, Hash::of, features);
    Numbering::add(&values, Hash::of, features);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature_tables::{are_distinct, digest};

    /// Features of the gaps after all tokens, recorded when the first models were trained. Since then, `…` has the
    /// features of `...`.
    #[test]
    fn features_are_part_of_the_format() {
        let recorded = [
            ("Tea", (50, 9316031253102657169)),
            ("He went home . 2 . Everyone ( even I ) slept .", (650, 15124795649065035530)),
            (
                "\" Stop ! \" said Mr. Jones-Smith , etc . and left … « Oui »",
                (800, 6434514822190608598),
            ),
            ("我 是 猫 。 tea\u{a0}tea ؟ 3.5 % ok", (450, 17734763095409623102)),
        ];
        for (text, expected) in recorded {
            let attributes = TokenAttributes::of_spaced_tokens(text);
            let mut all = Vec::new();
            let mut features = Vec::new();
            for at in 0..attributes.len() {
                read_features(&attributes, at, &mut features);
                all.extend_from_slice(&features);
            }
            assert_eq!(digest(&all), expected, "{text}");
        }
    }

    #[test]
    fn every_template_has_its_own_number() {
        assert!(are_distinct(&[
            Forms::NUMBERS,
            Shapes::NUMBERS,
            Edge::NUMBERS,
            Endings::NUMBERS,
            Context::NUMBERS,
            Numbering::NUMBERS,
        ]));
    }
}
