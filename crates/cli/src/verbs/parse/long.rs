//! Long sentences, which are parsed in pieces.

use anyhow::{Result, anyhow};
use tutte::{Error, LONGEST_DISTRIBUTION, TagReadings};
use tutte_treebank::Sentence;
use tutte_trees::Constraints;

use super::options::{Decode, ParseOptions, Task};
use super::result::{ParseResult, Worker};
use crate::failure::advise;
use crate::report::count;

impl ParseOptions {
    /// Returns the options that need the distribution over all trees of a sentence.
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

/// Options that need the distribution over all trees, which the longest sentences do not have. These sentences get
/// their best tree, parsed in pieces, instead: one of them should not end a job of a million sentences.
pub(super) struct OfAllTrees {
    /// Names of the options; empty if none of them is used.
    options: Vec<&'static str>,
}

impl OfAllTrees {
    pub(super) fn new(task: &Task<'_>) -> Self {
        let has_parser = task.model.parser.is_some();
        Self { options: if has_parser { task.wanted.of_all_trees() } else { Vec::new() } }
    }

    /// Returns a warning for a sentence that is too long for these options.
    pub(super) fn left_out_of(&self, sentence: &Sentence) -> Option<anyhow::Error> {
        let words = sentence.len();
        if self.options.is_empty() || words <= LONGEST_DISTRIBUTION {
            return None;
        }
        let place = sentence.place();
        let id = place.sent_id.as_ref().map(|id| format!(" (sent_id = {id})")).unwrap_or_default();
        let words = count(words);
        let limit = count(LONGEST_DISTRIBUTION);
        let error = anyhow!(
            "{place}: this sentence has {words} words, and all trees of a sentence are looked at together up to \
             {limit}: instead of {}, it has its best tree, found in pieces{id}",
            self.options.join(" and ")
        );
        Some(advise(error, "split it into sentences to have what was asked for"))
    }
}

impl<'a> Worker<'a> {
    /// Returns `true` if a sentence is parsed in pieces. Options that need the distribution over all trees raise the
    /// limit.
    pub(super) fn takes_pieces(&mut self, sentence: &Sentence) -> Result<bool, Error> {
        if self.task.wanted.of_all_trees().is_empty() {
            Ok(self.annotator.parser()?.needs_pieces(sentence))
        } else {
            Ok(sentence.len() > LONGEST_DISTRIBUTION)
        }
    }

    /// Parses a sentence in pieces.
    pub(super) fn in_pieces(
        &mut self,
        sentence: &mut Sentence,
        readings: &TagReadings<'a>,
        constraints: Result<Constraints, Error>,
    ) -> Result<ParseResult> {
        let options = self.task.annotation_options(self.words);
        let parser = self.annotator.parser()?;
        let found = constraints
            .and_then(|constraints| parser.analyse_in_pieces(sentence, &constraints, &options));
        match found {
            Ok(found) => self.annotated(sentence, readings, found.annotation),
            Err(error) => self.refused(sentence, error),
        }
    }
}
