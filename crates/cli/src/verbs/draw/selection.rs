//! Selection of sentences: the first ones, or named ones.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::Args;
use tutte_treebank::Sentence;

use crate::failure::advise;
use crate::input::TreebankArgs;
use crate::session::Session;

const DEFAULT: usize = 10;

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Sentences")]
pub(crate) struct SelectionArgs {
    /// Draw the first N sentences, or all [default: 10]
    #[arg(short = 'n', value_name = "N", value_parser = number, conflicts_with_all = ["sent_id", "only"])]
    number: Option<usize>,

    /// Draw the sentence with this sent_id; repeatable
    #[arg(long, value_name = "ID")]
    sent_id: Vec<String>,

    /// Draw the K-th sentence, from 1; repeatable
    #[arg(long, value_name = "K")]
    only: Vec<usize>,
}

/// Reads `10`, or `all`.
pub(crate) fn number(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        _ => text.parse().map_err(|_| "expected a number, or all".to_owned()),
    }
}

/// The requested sentences, with their numbers from 1 over all files.
pub(crate) struct Selection<'a> {
    sentences: Box<dyn Iterator<Item = Result<Sentence>> + 'a>,
    read: usize,
    /// Identifiers and numbers that have not been found yet; `None` if no sentence was named.
    named: Option<(Vec<String>, Vec<usize>)>,
    /// Number of sentences that may still be returned.
    left: usize,
    /// `true` if the number of sentences is the default.
    by_default: bool,
}

impl<'a> Selection<'a> {
    pub(crate) fn new(
        session: &'a Session,
        files: &'a [PathBuf],
        reading: &'a TreebankArgs,
        arguments: &SelectionArgs,
    ) -> Self {
        type Boxed<'a> = Box<dyn Iterator<Item = Result<Sentence>> + 'a>;
        let open = move |file: &'a PathBuf| -> Boxed<'a> {
            match reading.sentences(file, session) {
                Ok(sentences) => Box::new(sentences),
                Err(error) => Box::new(std::iter::once(Err(error))),
            }
        };
        let anything = !arguments.sent_id.is_empty() || !arguments.only.is_empty();
        let named = anything.then(|| (arguments.sent_id.clone(), arguments.only.clone()));
        Self {
            sentences: Box::new(files.iter().flat_map(open)),
            read: 0,
            left: if anything { usize::MAX } else { arguments.number.unwrap_or(DEFAULT) },
            by_default: !anything && arguments.number.is_none(),
            named,
        }
    }

    /// Returns a note if there are no sentences, or more than the default number.
    pub(crate) fn note(&mut self) -> Option<String> {
        if self.read == 0 && self.left > 0 {
            return Some("there are no sentences to draw".to_owned());
        }
        let more = self.by_default && self.left == 0 && self.sentences.next().is_some();
        more.then(|| format!("the first {DEFAULT} sentences are drawn; for all: -n all"))
    }

    /// Returns the error for a named sentence that does not exist, once.
    fn missing(&mut self) -> Option<anyhow::Error> {
        let (ids, places) = self.named.take()?;
        let read = self.read;
        if let Some(id) = ids.first() {
            let error = anyhow!("none of the {read} sentences has the sent_id {id:?}");
            return Some(advise(error, "sentences can also be named by their number: --only 1"));
        }
        let place = places.first()?;
        let error = anyhow!("there is no sentence {place}; the input has {read}");
        Some(advise(error, "sentences are counted from 1, over all files"))
    }
}

impl Iterator for Selection<'_> {
    type Item = Result<(usize, Sentence)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let all_found =
                matches!(&self.named, Some((ids, places)) if ids.is_empty() && places.is_empty());
            if self.left == 0 || all_found {
                return None;
            }
            let sentence = match self.sentences.next() {
                None => return self.missing().map(Err),
                Some(Err(error)) => return Some(Err(error)),
                Some(Ok(sentence)) => sentence,
            };
            self.read += 1;
            if let Some((ids, places)) = &mut self.named {
                let before = ids.len() + places.len();
                ids.retain(|id| sentence.sent_id() != Some(id));
                places.retain(|&place| place != self.read);
                if ids.len() + places.len() == before {
                    continue;
                }
            }
            self.left -= 1;
            return Some(Ok((self.read, sentence)));
        }
    }
}
