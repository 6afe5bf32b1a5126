//! An annotator who is asked, simulated: heads of a treebank are hidden, and told when somebody asks.
//!
//! It starts with a few whole sentences. In every round a parser is trained on what is known, as
//! partial trees, judged on the test file, and asked what to annotate next, until √2 times as many heads
//! are known as before. Random choices depend on the seed alone, so that strategies with the same seed
//! start from the same sentences.

use std::fmt;

use anyhow::Result;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use tutte::ask::{Doubt, Unit, questions};
use tutte::features::FeatureSet;
use tutte::{Decoding, Keep, Labelling, Model, Options, Parser, train};
use tutte_treebank::Sentence;
use tutte_trees::TreeSet;

use crate::clock::Clock;
use crate::data::{Cut, Data, Source, words};
use crate::lab::Try;

/// How to choose what is annotated next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Strategy {
    /// Words, by the entropy of their heads.
    Words,
    /// The same, avoiding those that are alike.
    DiverseWords,
    /// Sentences, by the entropy of their trees for each word.
    Sentences,
    RandomWords,
    RandomSentences,
    /// All at once.
    Everything,
}

impl Strategy {
    /// Those that are compared.
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

/// One annotator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Annotation {
    pub(super) source: Source,
    pub(super) cut: Cut,
    pub(super) strategy: Strategy,
    pub(super) seed: u64,
    /// Words of the sentences to start with, about.
    pub(super) start: usize,
    /// How often the number of known heads grows √2-fold.
    pub(super) rounds: u32,
    pub(super) passes: usize,
    /// The binary logarithm of the number of weights.
    pub(super) bits: u32,
}

/// How it went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LearningCurve {
    pub(super) points: Vec<Point>,
    pub(super) seconds: f64,
}

/// What a parser can when so much is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Point {
    /// Heads that are known.
    pub(super) heads: usize,
    /// Sentences that somebody has looked at.
    pub(super) sentences: usize,
    pub(super) uas: f64,
}

impl fmt::Display for Annotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}, seed {}", self.source, self.strategy.name(), self.seed)
    }
}

impl Annotation {
    /// How many heads are to be known in a round.
    fn budget(&self, round: u32) -> usize {
        (self.start as f64 * 2f64.powf(f64::from(round) / 2.0)).round() as usize
    }

    fn options(&self, tree_set: TreeSet) -> Options {
        Options {
            templates: FeatureSet::lean(),
            labelling: Labelling::None,
            passes: self.passes,
            bits: self.bits,
            tree_set,
            ..Options::plain()
        }
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
            Strategy::Everything => annotator.tell_sentences(usize::MAX),
            _ => annotator.tell_sentences(self.start),
        }
        let mut points = Vec::new();
        for round in 1.. {
            let model = train(&annotator.annotated(), &self.options(tree_set), |_, _| {})?;
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
                Strategy::RandomWords => annotator.tell_words(wanted),
                Strategy::RandomSentences | Strategy::Everything => {
                    annotator.tell_sentences(wanted)
                }
            }
        }
        Ok(LearningCurve { points, seconds: clock.seconds() })
    }
}

/// Somebody who knows all heads, and what was asked so far.
struct Annotator<'a> {
    gold: &'a [Sentence],
    known: Vec<Vec<bool>>,
    /// Sentences and words in an order that nothing but chance decides, the next last.
    sentence_order: Vec<usize>,
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
        let known = gold.iter().map(|sentence| vec![false; sentence.len()]).collect();
        Self { gold, known, sentence_order, word_order }
    }

    fn heads(&self) -> usize {
        self.known.iter().flatten().filter(|known| **known).count()
    }

    fn sentences(&self) -> usize {
        self.known.iter().filter(|known| known.contains(&true)).count()
    }

    /// Tells all of some random sentences, until so many heads are told.
    fn tell_sentences(&mut self, wanted: usize) {
        let mut told = 0;
        while told < wanted {
            let Some(sentence) = self.sentence_order.pop() else { return };
            told += self.known[sentence].iter().filter(|known| !**known).count();
            self.known[sentence].fill(true);
        }
    }

    /// Tells some random heads.
    fn tell_words(&mut self, wanted: usize) {
        let mut told = 0;
        while told < wanted {
            let Some((sentence, word)) = self.word_order.pop() else { return };
            told += usize::from(!self.known[sentence][word]);
            self.known[sentence][word] = true;
        }
    }

    /// A sentence with the heads that are known.
    fn partial(&self, at: usize) -> Result<Sentence> {
        let mut sentence = self.gold[at].clone();
        let heads: Vec<Option<usize>> = self.gold[at]
            .partial_heads()
            .zip(&self.known[at])
            .map(|(head, known)| head.filter(|_| *known))
            .collect();
        sentence.set_heads(&heads)?;
        Ok(sentence)
    }

    /// What can be learnt from.
    fn annotated(&self) -> Vec<Sentence> {
        let touched = (0..self.gold.len()).filter(|at| self.known[*at].contains(&true));
        touched.filter_map(|at| self.partial(at).ok()).collect()
    }

    /// Answers what a model asks, until so many heads are told.
    fn answer(&mut self, model: &Model, unit: Unit, wanted: usize, diverse: bool) -> Result<()> {
        let mut parser = Parser::new(model);
        let keep = Keep { heads: true, labels: false };
        let mut doubts = Vec::with_capacity(self.gold.len());
        for at in 0..self.gold.len() {
            let sentence = self.partial(at)?;
            let analysis = parser.analyse(&sentence, &keep.known(&sentence, &[])?)?;
            doubts.push(Doubt::new(&sentence, &analysis.distribution, true)?);
        }
        let mut told = 0;
        for question in questions(&doubts, unit, wanted, diverse) {
            if told >= wanted {
                break;
            }
            told += question.words.len();
            question.words.iter().for_each(|word| self.known[question.sentence][word - 1] = true);
        }
        Ok(())
    }
}

/// Any order is as likely as any other (Durstenfeld 1964).
fn shuffle<T>(list: &mut [T], rng: &mut Pcg64) {
    for last in (1..list.len()).rev() {
        let other = (rng.next_u64() % (last as u64 + 1)) as usize;
        list.swap(last, other);
    }
}

/// The words of what is annotated from.
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
    fn told_heads_are_known_and_others_are_not() {
        let gold = gold();
        let mut annotator = Annotator::new(&gold, 3);
        annotator.tell_sentences(5);
        let start = annotator.heads();
        assert!((5..13).contains(&start));
        annotator.tell_words(7);
        assert_eq!(annotator.heads(), start + 7);
        let told: usize = annotator
            .annotated()
            .iter()
            .map(|sentence| sentence.partial_heads().flatten().count())
            .sum();
        assert_eq!(told, start + 7);
        annotator.tell_words(1000);
        assert_eq!(annotator.heads(), 36, "more cannot be told");
        let same = Annotator::new(&gold, 3).sentence_order;
        assert_eq!(same, Annotator::new(&gold, 3).sentence_order);
    }

    #[test]
    fn answers_are_what_was_asked_for() {
        let gold = gold();
        for (unit, most) in [(Unit::Word, 4), (Unit::Sentence, 11)] {
            let mut annotator = Annotator::new(&gold, 5);
            annotator.tell_sentences(6);
            let before = annotator.heads();
            let options =
                Options { bits: 12, passes: 1, labelling: Labelling::None, ..Options::plain() };
            let model = train(&annotator.annotated(), &options, |_, _| {}).unwrap();
            annotator.answer(&model, unit, 4, false).unwrap();
            assert!((4..=most).contains(&(annotator.heads() - before)));
        }
    }
}
