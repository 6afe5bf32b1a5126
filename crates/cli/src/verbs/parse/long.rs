//! Sentences that are too long to be looked at as a whole, parsed in pieces.

use anyhow::Result;
use tutte::{Error, Pieces, Thresholds};
use tutte_treebank::Sentence;
use tutte_trees::Constraints;

use super::answer::{Answer, Answerer, Done};
use super::answering::{Answering, Decode};
use super::json::Line;

impl Answerer<'_> {
    /// Whether a sentence is parsed in pieces: it is long, and nothing is asked that only the distribution
    /// of all its trees could answer.
    pub(super) fn takes_pieces(&mut self, sentence: &Sentence) -> bool {
        let Answering { kbest, sample, decode, matrix, .. } = self.task.wanted;
        let needs_all = kbest.is_some() || sample.is_some() || *matrix || *decode == Decode::Greedy;
        !needs_all && self.annotator.parser().needs_pieces(sentence)
    }

    /// The best tree of a sentence in pieces.
    pub(super) fn in_pieces(
        &mut self,
        sentence: &mut Sentence,
        known: Result<Constraints, Error>,
    ) -> Result<Answer> {
        let wanted = Thresholds {
            alternatives_above: if self.task.probs { self.task.wanted.alt } else { 1.0 },
            open_below: self.task.min_prob.unwrap_or(0.0),
        };
        let parser = self.annotator.parser();
        match known.and_then(|known| parser.analyse_in_pieces(sentence, &known, wanted)) {
            Ok(pieces) => self.joined(sentence, &pieces),
            Err(error) => self.refused(sentence, error),
        }
    }

    fn joined(&self, sentence: &mut Sentence, pieces: &Pieces<'_>) -> Result<Answer> {
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
        Ok(Answer { open_heads, ..Answer::of(done) })
    }
}
