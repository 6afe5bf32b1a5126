//! What is left and said when training ends, with a parser or before there is one.

use std::path::Path;

use anyhow::{Result, anyhow};
use tutte::{Compact, Model, ModelFile};
use tutte_treebank::Sentence;

use super::progress::{Ending, discard};
use super::summary::{TextSummary, megabytes, next_step};
use super::table::DevTable;
use super::text::Text;
use super::{Train, command, shelf};
use crate::failure::{Outcome, advise};
use crate::session::Session;

/// What was learnt besides a parser, and from how much.
pub(super) struct WithoutParser<'a> {
    pub(super) text: &'a Text,
    pub(super) sentences: usize,
    pub(super) words: usize,
}

/// The official table; without it, a model is as good.
pub(super) fn dev_table(
    model: &Model<Compact>,
    gold: &[Sentence],
    threads: usize,
    session: &Session,
) -> Option<DevTable> {
    let status = session.status();
    status.show(|| "judging by dev, from raw text to trees".to_owned());
    let table = DevTable::new(model, gold, threads);
    drop(status);
    table.unwrap_or_else(|error| {
        session.warn(&advise(error, "the model is written; only its scores are not known"));
        None
    })
}

/// Whether a file is a model that finds trees.
fn has_parser(path: &Path) -> bool {
    ModelFile::open(path).is_ok_and(|file| file.model.parser.is_some())
}

impl Train {
    /// Writes a model that finds words or tags and no trees: all that is wanted, or all that was ready when it
    /// ended. It is judged by `gold`.
    pub(super) fn save_without_parser(
        &self,
        made: &WithoutParser<'_>,
        gold: &[Sentence],
        ended: Ending,
        session: &Session,
    ) -> Result<Outcome> {
        let &WithoutParser { text, sentences, words } = made;
        let output = self.output.display();
        let Some(finds) = text.finds() else {
            let error = anyhow!("stopped before the first pass was over; {output} was not written");
            return Err(advise(error, "give it more time, or fewer sentences"));
        };
        if self.resume && ended != Ending::Finished && has_parser(&self.output) {
            session.note(format!("{output} has a parser from before, and stays as it is"));
            session.note(format!("go on with: {}", command::to_go_on()));
            return Ok(session.end(Outcome::Good));
        }
        let mut model = Model::default();
        text.put_into(&mut model);
        model.save(&self.output, &self.about())?;
        let bytes = std::fs::metadata(&self.output).map_or(0, |file| file.len());
        session.note(format!("{output} written, {}: it {finds}", megabytes(bytes)));
        let scores = dev_table(&model, gold, self.threads.count(), session);
        let model = output.to_string();
        let summary = TextSummary { model, bytes, sentences, words, scores, ended };
        match session.json() {
            true => session.print_json(&summary)?,
            false => summary.print(session)?,
        }
        if ended == Ending::Finished {
            self.clear_shelf()?;
            session.note(next_step(&self.output, text.tokenizer.is_some(), gold, None));
        } else {
            session.note(format!("go on with: {}", command::to_go_on()));
        }
        Ok(session.end(Outcome::Good))
    }

    /// Removes what was kept of tokenizer and tagger in case of an interruption.
    pub(super) fn clear_shelf(&self) -> Result<()> {
        shelf::files(&self.output).iter().try_for_each(|path| discard(path))
    }
}
