//! The choice of a tree set by small parsers of both kinds.
//!
//! A treebank with a few crossing trees can be learnt in two ways: over all trees, or over projective trees, with the
//! crossing arcs of the treebank lifted. The larger set can be right about crossing arcs. The smaller one makes fewer
//! errors elsewhere. Which weighs more depends on the treebank. So a small parser of each kind is trained on part of
//! it. The one with the higher LAS on held-out sentences decides.

use std::ops::ControlFlow;
use std::time::Instant;

use tutte_treebank::Sentence;
use tutte_trees::TreeSet;

use super::observer::{Event, Stage, Watched, Work};
use super::{Preset, Recipe};
use crate::learn::TrainedPass;
use crate::learn::train::{SecondPassOptions, TrainingOptions, train};
use crate::{Error, Parser};

/// Number of words that a pilot is trained on, at most.
const TRAINING_WORDS: usize = 40_000;
/// Number of words that a pilot is tested on, at most.
const TEST_WORDS: usize = 15_000;
/// Number of words below which the comparison would be chance.
const LEAST_TEST_WORDS: usize = 1_000;
/// Without development data, one sentence in this many is held out.
const HELD_OUT_ONE_IN: usize = 4;

/// Accuracy of small parsers on held-out sentences, by tree set.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TreeSetComparison {
    /// LAS of projective trees, between 0 and 1.
    pub projective: f64,
    /// LAS of all trees, between 0 and 1.
    pub nonprojective: f64,
    /// Number of held-out words.
    pub words: usize,
}

/// Compares the two sets on a treebank, with whole trees, whose crossing trees are in `nonprojective`. Returns `None` if
/// there are too few sentences, or if the observer stops the training.
pub(super) fn compare(
    treebank: &[&Sentence],
    dev: &[Sentence],
    [projective, nonprojective]: [TreeSet; 2],
    recipe: &Recipe,
    watched: &mut Watched<'_>,
) -> Result<Option<TreeSetComparison>, Error> {
    let is_test = |at: usize| dev.is_empty() && at.is_multiple_of(HELD_OUT_ONE_IN);
    let numbered = || treebank.iter().copied().enumerate();
    let training = numbered().filter(|(at, _)| !is_test(*at)).map(|(_, sentence)| sentence);
    let training: Vec<Sentence> = sample(training.collect(), TRAINING_WORDS);
    let test = if dev.is_empty() {
        numbered().filter(|(at, _)| is_test(*at)).map(|(_, sentence)| sentence).collect()
    } else {
        dev.iter().collect()
    };
    let test: Vec<Sentence> = sample(test, TEST_WORDS);
    let words: usize = test.iter().map(Sentence::len).sum();
    if words < LEAST_TEST_WORDS || training.is_empty() {
        return Ok(None);
    }
    let started = Instant::now();
    let mut accuracy = |tree_set: TreeSet| -> Result<Option<f64>, Error> {
        let size = training.iter().map(Sentence::len).sum();
        let usual = Preset::Fast.options(size, tree_set);
        let second_pass = usual
            .second_pass
            .clone()
            .map(|second| SecondPassOptions { temperature: Some(1.0), ..second });
        let options =
            TrainingOptions { second_pass, seed: recipe.seed, threads: recipe.threads, ..usual };
        let model = train(&training, &options, &mut |_: TrainedPass<'_>| {
            watched.notify(Event::Working(&Work {
                stage: Stage::Pilot,
                elapsed: started.elapsed(),
                words: 0.0,
                took: started.elapsed(),
                left: std::time::Duration::ZERO,
                is_stopping: false,
            }));
            if watched.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if watched.is_stopped() {
            return Ok(None);
        }
        let mut parser = Parser::new(&model);
        let mut right = 0;
        for gold in &test {
            let parse = parser.parse(gold)?;
            let found = parse.tree.heads().iter().zip(&parse.labels);
            let is_right =
                |(word, (head, label)): (tutte_treebank::Token<'_>, (&usize, &usize))| {
                    let label = model.labels.labels().get(*label);
                    word.head() == Some(*head) && label.is_none_or(|label| label == word.deprel())
                };
            right += gold.words().zip(found).filter(|pair| is_right(*pair)).count();
        }
        Ok(Some(right as f64 / words as f64))
    };
    let Some(projective) = accuracy(projective)? else { return Ok(None) };
    let Some(nonprojective) = accuracy(nonprojective)? else { return Ok(None) };
    Ok(Some(TreeSetComparison { projective, nonprojective, words }))
}

/// Returns sentences from all over a text, of about this many words at most.
fn sample(sentences: Vec<&Sentence>, words: usize) -> Vec<Sentence> {
    let all: usize = sentences.iter().map(|sentence| sentence.len()).sum();
    let stride = all.div_ceil(words).max(1);
    sentences.into_iter().step_by(stride).cloned().collect()
}
