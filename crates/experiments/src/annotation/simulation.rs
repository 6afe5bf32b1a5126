//! Simulated annotator: the heads of a treebank are hidden, and revealed when a strategy selects them.
//!
//! It starts with a few whole sentences. In every round, a parser is trained on the partial trees and tested on the
//! test file. Then the strategy selects further heads, until the number of annotated heads has grown by a factor of √2.
//! Random choices depend on the seed alone, so strategies with the same seed start from the same sentences.

use std::fmt;

use anyhow::Result;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use tutte::active::{SentenceUncertainty, Unit, questions};
use tutte::features::FeatureSet;
use tutte::{Decoding, KeepColumns, Labelling, Parser, ParserModel, TrainingOptions, train};
use tutte_treebank::Sentence;
use tutte_trees::TreeSet;

use crate::clock::Clock;
use crate::data::{Cut, Data, Source, words};
use crate::lab::Try;

/// Query strategy: the choice of what to annotate next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Strategy {
    /// Words, by the entropy of their heads.
    Words,
    /// Words by entropy, avoiding similar ones.
    DiverseWords,
    /// Sentences, by the entropy of their trees per word.
    Sentences,
    RandomWords,
    RandomSentences,
    /// All words at once.
    Everything,
}

impl Strategy {
    /// The strategies that are compared.
    pub(super) const ALL: [Strategy; 5] = [
        Strategy::Words,
        Strategy::DiverseWords,
        Strategy::Sentences,
        Strategy::RandomWords,
        Strategy::RandomSentences,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Strategy::Words => "word entropy",
            Strategy::DiverseWords => "word entropy, diverse",
            Strategy::Sentences => "sentence entropy",
            Strategy::RandomWords => "random words",
            Strategy::RandomSentences => "random sentences",
            Strategy::Everything => "everything",
        }
    }
}

/// Settings of one simulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Annotation {
    pub(super) source: Source,
    pub(super) cut: Cut,
    pub(super) strategy: Strategy,
    pub(super) seed: u64,
    /// Approximate number of words of the initial sentences.
    pub(super) start: usize,
    /// Number of rounds. In each, the number of annotated heads grows by a factor of √2.
    pub(super) rounds: u32,
    pub(super) passes: usize,
    /// Binary logarithm of the number of weights.
    pub(super) bits: u32,
}

/// Accuracy by number of annotated heads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LearningCurve {
    pub(super) points: Vec<Point>,
    pub(super) seconds: f64,
}

/// Accuracy after one round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Point {
    /// Number of annotated heads.
    pub(super) heads: usize,
    /// Number of sentences with annotated heads.
    pub(super) sentences: usize,
    pub(super) uas: f64,
}

impl fmt::Display for Annotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}, seed {}", self.source, self.strategy.name(), self.seed)
    }
}

impl Annotation {
    /// Returns the number of annotated heads at the end of a round.
    fn budget(&self, round: u32) -> usize {
        (self.start as f64 * 2f64.powf(f64::from(round) / 2.0)).round() as usize
    }

    fn options(&self, tree_set: TreeSet) -> TrainingOptions {
        TrainingOptions::plain()
            .with_templates(FeatureSet::lean())
            .with_labelling(Labelling::None)
            .with_passes(self.passes)
            .with_bits(self.bits)
            .with_tree_set(tree_set)
    }
}

impl Try for Annotation {
    type Outcome = LearningCurve;

    fn templates(&self) -> String {
        FeatureSet::lean().to_string()
    }

    fn seconds(curve: &LearningCurve) -> f64 {
        curve.seconds
    }

    fn headline(curve: &LearningCurve) -> f64 {
        curve.points.last().map_or(0.0, |point| 100.0 * point.uas)
    }

    fn run(&self, data: &Data) -> Result<LearningCurve> {
        let clock = Clock::start();
        let split = data.split(&self.source, self.cut)?;
        let tree_set = split.tree_set(false);
        let mut annotator = Annotator::new(&split.train, self.seed);
        match self.strategy {
            Strategy::Everything => annotator.reveal_sentences(usize::MAX),
            _ => annotator.reveal_sentences(self.start),
        }
        let mut points = Vec::new();
        for round in 1.. {
            let model = train(annotator.annotated(), &self.options(tree_set), &mut ())?;
            let found = model.evaluate(&split.test, Decoding::Mbr, 1)?;
            points.push(Point {
                heads: annotator.heads(),
                sentences: annotator.sentences(),
                uas: found.heads as f64 / found.words.max(1) as f64,
            });
            if round > self.rounds || self.strategy == Strategy::Everything {
                break;
            }
            let wanted = self.budget(round).saturating_sub(annotator.heads());
            match self.strategy {
                Strategy::Words => annotator.answer(&model, Unit::Word, wanted, false)?,
                Strategy::DiverseWords => annotator.answer(&model, Unit::Word, wanted, true)?,
                Strategy::Sentences => annotator.answer(&model, Unit::Sentence, wanted, false)?,
                Strategy::RandomWords => annotator.reveal_words(wanted),
                Strategy::RandomSentences | Strategy::Everything => {
                    annotator.reveal_sentences(wanted)
                }
            }
        }
        Ok(LearningCurve { points, seconds: clock.seconds() })
    }
}

/// The gold heads, and which of them are revealed.
struct Annotator<'a> {
    gold: &'a [Sentence],
    /// By sentence and word: true if the head is revealed.
    is_revealed: Vec<Vec<bool>>,
    /// Sentences in random order, the next one last.
    sentence_order: Vec<usize>,
    /// `(sentence, word)` in random order, the next one last.
    word_order: Vec<(usize, usize)>,
}

impl<'a> Annotator<'a> {
    fn new(gold: &'a [Sentence], seed: u64) -> Self {
        let mut rng = Pcg64::seed_from_u64(seed);
        let mut sentence_order: Vec<usize> = (0..gold.len()).collect();
        shuffle(&mut sentence_order, &mut rng);
        let words = |(at, sentence): (usize, &Sentence)| (0..sentence.len()).map(move |w| (at, w));
        let mut word_order: Vec<(usize, usize)> = gold.iter().enumerate().flat_map(words).collect();
        shuffle(&mut word_order, &mut rng);
        let is_revealed = gold.iter().map(|sentence| vec![false; sentence.len()]).collect();
        Self { gold, is_revealed, sentence_order, word_order }
    }

    fn heads(&self) -> usize {
        self.is_revealed.iter().flatten().filter(|is_revealed| **is_revealed).count()
    }

    fn sentences(&self) -> usize {
        self.is_revealed.iter().filter(|words| words.contains(&true)).count()
    }

    /// Reveals random whole sentences, until `wanted` new heads are revealed.
    fn reveal_sentences(&mut self, wanted: usize) {
        let mut revealed = 0;
        while revealed < wanted {
            let Some(sentence) = self.sentence_order.pop() else { return };
            revealed += self.is_revealed[sentence].iter().filter(|is| !**is).count();
            self.is_revealed[sentence].fill(true);
        }
    }

    /// Reveals random heads, until `wanted` new ones are revealed.
    fn reveal_words(&mut self, wanted: usize) {
        let mut revealed = 0;
        while revealed < wanted {
            let Some((sentence, word)) = self.word_order.pop() else { return };
            revealed += usize::from(!self.is_revealed[sentence][word]);
            self.is_revealed[sentence][word] = true;
        }
    }

    /// Returns a sentence with its revealed heads.
    fn partial(&self, at: usize) -> Result<Sentence> {
        let mut sentence = self.gold[at].clone();
        let heads: Vec<Option<usize>> = self.gold[at]
            .partial_heads()
            .zip(&self.is_revealed[at])
            .map(|(head, is_revealed)| head.filter(|_| *is_revealed))
            .collect();
        sentence.set_heads(&heads)?;
        Ok(sentence)
    }

    /// Returns the training sentences: those with revealed heads.
    fn annotated(&self) -> Vec<Sentence> {
        let touched = (0..self.gold.len()).filter(|at| self.is_revealed[*at].contains(&true));
        touched.filter_map(|at| self.partial(at).ok()).collect()
    }

    /// Reveals what a model selects, until `wanted` new heads are revealed.
    fn answer(
        &mut self,
        model: &ParserModel,
        unit: Unit,
        wanted: usize,
        diverse: bool,
    ) -> Result<()> {
        let mut parser = Parser::new(model);
        let keep = KeepColumns { heads: true, labels: false };
        let mut doubts = Vec::with_capacity(self.gold.len());
        for at in 0..self.gold.len() {
            let sentence = self.partial(at)?;
            let analysis = parser.analyse(&sentence, &keep.constraints(&sentence, &[])?)?;
            doubts.push(SentenceUncertainty::new(&sentence, &analysis.distribution, true)?);
        }
        let mut revealed = 0;
        for question in questions(&doubts, unit, wanted, diverse) {
            if revealed >= wanted {
                break;
            }
            revealed += question.words.len();
            for word in &question.words {
                self.is_revealed[question.sentence][word - 1] = true;
            }
        }
        Ok(())
    }
}

/// Shuffles uniformly (Durstenfeld 1964).
fn shuffle<T>(list: &mut [T], rng: &mut Pcg64) {
    for last in (1..list.len()).rev() {
        let other = (rng.next_u64() % (last as u64 + 1)) as usize;
        list.swap(last, other);
    }
}

/// Returns the numbers of training sentences, training words and test words.
pub(super) fn pool(data: &Data, source: &Source, cut: Cut) -> Result<(usize, usize, usize)> {
    let split = data.split(source, cut)?;
    Ok((split.train.len(), words(&split.train), words(&split.test)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gold() -> Vec<Sentence> {
        let row = |word: usize| format!("{word}\tw{word}\tw\tX\t_\t_\t{}\tdep\t_\t_\n", word - 1);
        (1..=8).map(|n| (1..=n).map(row).collect::<String>().parse().unwrap()).collect()
    }

    #[test]
    fn only_revealed_heads_are_annotated() {
        let gold = gold();
        let mut annotator = Annotator::new(&gold, 3);
        annotator.reveal_sentences(5);
        let start = annotator.heads();
        assert!((5..13).contains(&start));
        annotator.reveal_words(7);
        assert_eq!(annotator.heads(), start + 7);
        let revealed: usize = annotator
            .annotated()
            .iter()
            .map(|sentence| sentence.partial_heads().flatten().count())
            .sum();
        assert_eq!(revealed, start + 7);
        annotator.reveal_words(1000);
        assert_eq!(annotator.heads(), 36, "there are no more heads");
        let same = Annotator::new(&gold, 3).sentence_order;
        assert_eq!(same, Annotator::new(&gold, 3).sentence_order);
    }

    #[test]
    fn answers_reveal_the_requested_number_of_heads() {
        let gold = gold();
        for (unit, most) in [(Unit::Word, 4), (Unit::Sentence, 11)] {
            let mut annotator = Annotator::new(&gold, 5);
            annotator.reveal_sentences(6);
            let before = annotator.heads();
            let options = TrainingOptions::plain()
                .with_bits(12)
                .with_passes(1)
                .with_labelling(Labelling::None);
            let model = train(annotator.annotated(), &options, &mut ()).unwrap();
            annotator.answer(&model, unit, 4, false).unwrap();
            assert!((4..=most).contains(&(annotator.heads() - before)));
        }
    }
}
