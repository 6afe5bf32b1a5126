//! Sentences that are too long to be looked at as a whole, parsed in pieces.

use anyhow::{Result, anyhow};
use tutte::{Error, LONGEST_DISTRIBUTION, Pieces, Thresholds};
use tutte_treebank::Sentence;
use tutte_trees::Constraints;

use super::json::Line;
use super::options::{Decode, ParseOptions, Task};
use super::result::{Done, ParseResult, Worker};
use crate::failure::advise;
use crate::report::count;

impl ParseOptions {
    /// The options that ask what only the distribution of all trees of a sentence can answer.
    fn of_all_trees(&self) -> Vec<&'static str> {
        let asked = [
            (self.kbest.is_some(), "--kbest"),
            (self.sample.is_some(), "--sample"),
            (self.decode == Decode::Greedy, "--decode greedy"),
            (self.matrix, "--matrix"),
        ];
        asked.into_iter().filter_map(|(is_asked, option)| is_asked.then_some(option)).collect()
    }
}

/// What is asked of all trees of a sentence, which the longest sentences cannot answer. These get their best
/// tree, in pieces, instead: one of them should not end a job of a million sentences.
pub(super) struct OfAllTrees {
    /// The options that ask it; none, if nothing is.
    options: Vec<&'static str>,
}

impl OfAllTrees {
    pub(super) fn new(task: &Task<'_>) -> Self {
        let has_parser = task.model.parser.is_some();
        Self { options: if has_parser { task.wanted.of_all_trees() } else { Vec::new() } }
    }

    /// What a sentence is left without, if it is too long.
    pub(super) fn left_out_of(&self, sentence: &Sentence) -> Option<anyhow::Error> {
        let words = sentence.len();
        if self.options.is_empty() || words <= LONGEST_DISTRIBUTION {
            return None;
        }
        let place = sentence.place();
        let id = place.sent_id.as_ref().map(|id| format!(" (sent_id = {id})")).unwrap_or_default();
        let (words, limit) = (count(words), count(LONGEST_DISTRIBUTION));
        let error = anyhow!(
            "{place}: this sentence has {words} words, and all trees of a sentence are looked at together up to \
             {limit}: instead of {}, it has its best tree, found in pieces{id}",
            self.options.join(" and ")
        );
        Some(advise(error, "split it into sentences to have what was asked for"))
    }
}

impl Worker<'_> {
    /// Whether a sentence is parsed in pieces: it is long, and too long if something is asked that only the
    /// distribution of all its trees can answer.
    pub(super) fn takes_pieces(&mut self, sentence: &Sentence) -> Result<bool, Error> {
        if self.task.wanted.of_all_trees().is_empty() {
            Ok(self.annotator.parser()?.needs_pieces(sentence))
        } else {
            Ok(sentence.len() > LONGEST_DISTRIBUTION)
        }
    }

    /// The best tree of a sentence in pieces.
    pub(super) fn in_pieces(
        &mut self,
        sentence: &mut Sentence,
        known: Result<Constraints, Error>,
    ) -> Result<ParseResult> {
        let wanted = Thresholds {
            alternatives_above: if self.task.probs { self.task.wanted.alt } else { 1.0 },
            open_below: self.task.min_prob.unwrap_or(0.0),
        };
        let parser = self.annotator.parser()?;
        match known.and_then(|known| parser.analyse_in_pieces(sentence, &known, wanted)) {
            Ok(pieces) => self.joined(sentence, &pieces),
            Err(error) => self.refused(sentence, error),
        }
    }

    fn joined(&self, sentence: &mut Sentence, pieces: &Pieces<'_>) -> Result<ParseResult> {
        let probs = self.task.probs;
        pieces.write(sentence)?;
        let done = if self.task.jsonl {
            let line = Line::in_pieces(sentence, pieces, probs).calibrated(self.isotonic());
            Done::Line(line.text()?)
        } else {
            if probs {
                let comments = self.isotonic().map(|name| ("calibration", name.to_owned()));
                pieces.annotate(sentence, comments.as_slice())?;
            }
            Done::Sentence
        };
        let open_heads = pieces.heads.iter().filter(|head| head.is_none()).count();
        Ok(ParseResult { open_heads, ..ParseResult::of(done) })
    }
}
