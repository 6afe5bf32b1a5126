//! What `tutte convert` did: as JSON, or in words on standard error.

use std::path::Path;

use anyhow::Result;
use serde::Serialize;
use tutte_treebank::{Format, Losses};

use super::Convert;
use crate::report::count;
use crate::session::Session;

/// What was done.
#[derive(Debug, Default, Serialize)]
pub(super) struct Summary {
    pub(super) input: String,
    pub(super) sentences: usize,
    pub(super) documents: usize,
    /// Sentences of more words than `--max-length`.
    pub(super) too_long: usize,
    pub(super) lifted_arcs: usize,
    pub(super) lifted_sentences: usize,
    pub(super) lost: Losses,
    pub(super) outputs: Vec<Part>,
}

/// A file that was written.
#[derive(Debug, Serialize)]
pub(super) struct Part {
    pub(super) path: String,
    pub(super) format: Option<String>,
    pub(super) sentences: usize,
    pub(super) words: usize,
}

impl Summary {
    pub(super) fn report(&self, arguments: &Convert, session: &Session) -> Result<()> {
        if session.json() {
            session.print_json(self)?;
        } else if arguments.output != Path::new("-") {
            for Part { path, sentences, words, .. } in &self.outputs {
                let (sentences, words) = (some(*sentences, "sentence"), some(*words, "word"));
                session.note(format!("{path}: {sentences}, {words}"));
            }
        }
        if let Some(sample) = arguments.sample.filter(|&sample| sample > self.sentences) {
            let (input, found) = (&self.input, some(self.sentences, "sentence"));
            session.note(format!("{input} has only {found}, not {}", count(sample)));
        }
        if let Some(max) = arguments.max_length {
            let left_out = some(self.too_long, "sentence");
            session.note(format!("left out: {left_out} of more than {}", some(max, "word")));
        }
        if arguments.projectivise {
            let (arcs, sentences) = (self.lifted_arcs, self.lifted_sentences);
            let (arcs, sentences) = (some(arcs, "arc"), some(sentences, "sentence"));
            session.note(format!("lifted: {arcs} in {sentences}"));
        }
        if let Some(format) = arguments.target() {
            losses(&self.lost, format).iter().for_each(|line| session.note(line));
        }
        Ok(())
    }
}

/// What was lost, for people.
fn losses(lost: &Losses, format: Format) -> Vec<String> {
    let of_words = |column: &str, words| (words, format!("{column} of {}", some(words, "word")));
    let kinds = [
        (lost.comments, some(lost.comments, "comment")),
        (lost.multiword_tokens, some(lost.multiword_tokens, "multiword token")),
        (lost.empty_nodes, some(lost.empty_nodes, "empty node")),
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
        lines.push(format!("white space became _ in {}", some(lost.spaces, "value")));
    }
    if lost.without_postag > 0 {
        let words = some(lost.without_postag, "word");
        lines.push(format!("POSTAG is _ for {words} with a tag; --conllx-pos-from xpos fills it"));
    }
    lines
}

/// `1 word`, `1,234 words`.
pub(super) fn some(number: usize, thing: &str) -> String {
    format!("{} {thing}{}", count(number), if number == 1 { "" } else { "s" })
}
