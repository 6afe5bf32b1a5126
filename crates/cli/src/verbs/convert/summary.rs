//! The result of `tutte convert`, as JSON or as notes on standard error.

use std::path::Path;

use anyhow::Result;
use serde::Serialize;
use tutte_treebank::{Format, Losses};

use super::{ConversionFiles, Convert};
use crate::failure;
use crate::report::{count, counted};
use crate::session::Session;

/// The result of a conversion.
#[derive(Debug, Default, Serialize)]
pub(super) struct ConvertSummary {
    pub(super) input: String,
    pub(super) sentences: usize,
    pub(super) documents: usize,
    /// Number of sentences longer than `--max-length`.
    pub(super) too_long: usize,
    /// Number of arcs that `--projectivise` moved to another head, and of sentences with such arcs.
    pub(super) moved_arcs: usize,
    pub(super) moved_sentences: usize,
    pub(super) lost: Losses,
    pub(super) outputs: Vec<OutputPart>,
}

/// A file that was written.
#[derive(Debug, Serialize)]
pub(super) struct OutputPart {
    pub(super) path: String,
    pub(super) format: Option<String>,
    pub(super) sentences: usize,
    pub(super) words: usize,
}

impl OutputPart {
    /// Returns the message if the file cannot be written.
    pub(super) fn cannot_write(&self) -> String {
        failure::cannot_write(Path::new(&self.path))
    }
}

impl ConvertSummary {
    pub(super) fn report(
        &self,
        arguments: &Convert,
        files: &ConversionFiles,
        session: &Session,
    ) -> Result<()> {
        if session.json() {
            session.print_report(self)?;
        } else if files.output != Path::new("-") {
            for OutputPart { path, sentences, words, .. } in &self.outputs {
                let sentences = counted(*sentences, "sentence");
                let words = counted(*words, "word");
                session.note(format!("{path}: {sentences}, {words}"));
            }
        }
        if let Some(sample) = arguments.sample.filter(|&sample| sample > self.sentences) {
            let input = &self.input;
            let found = counted(self.sentences, "sentence");
            session.note(format!("{input} has only {found}, not {}", count(sample)));
        }
        if let Some(max) = arguments.max_length {
            let left_out = counted(self.too_long, "sentence");
            session.note(format!("left out {left_out} longer than {}", counted(max, "word")));
        }
        if arguments.projectivise {
            let arcs = counted(self.moved_arcs, "arc");
            let sentences = counted(self.moved_sentences, "sentence");
            session.note(format!("moved {arcs} in {sentences} to another head"));
        }
        if let Some(format) = arguments.target(files) {
            losses(&self.lost, format).iter().for_each(|line| session.note(line));
        }
        Ok(())
    }
}

/// Describes the values that were lost.
fn losses(lost: &Losses, format: Format) -> Vec<String> {
    let of_words = |column: &str, words| (words, format!("{column} of {}", counted(words, "word")));
    let kinds = [
        (lost.comments, counted(lost.comments, "comment")),
        (lost.multiword_tokens, counted(lost.multiword_tokens, "multiword token")),
        (lost.empty_nodes, counted(lost.empty_nodes, "empty node")),
        of_words("DEPS", lost.deps),
        of_words("MISC", lost.misc),
        of_words("PHEAD", lost.pheads),
    ];
    let kinds: Vec<_> =
        kinds.into_iter().filter(|(number, _)| *number > 0).map(|(_, kind)| kind).collect();
    let mut lines = Vec::new();
    if !kinds.is_empty() {
        lines.push(format!("{format} has no room for {}", kinds.join(", ")));
    }
    if lost.spaces > 0 {
        lines.push(format!("spaces became _ in {}", counted(lost.spaces, "value")));
    }
    if lost.without_postag > 0 {
        let words = counted(lost.without_postag, "word");
        lines.push(format!(
            "POSTAG is _ for {words} with a tag; fill it with --conllx-pos-from xpos"
        ));
    }
    lines
}
