//! Treebanks in CoNLL-U and CoNLL-X, for verbs that read nothing else.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use tutte_treebank::{Encoding, Format, Input, Options, Reader, Sentence, open_with};

use super::Sentences;
use crate::failure::{advise, usage};
use crate::session::Session;

/// Arguments of verbs that read treebanks.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Reading")]
pub(crate) struct TreebankArgs {
    /// Format of the input, conllu or conllx [default: recognised from its content]
    #[arg(long, value_name = "FORMAT", display_order = 800)]
    pub(crate) format: Option<Format>,

    /// Encoding of the input, such as latin1 or iso-8859-2; results are UTF-8
    #[arg(long, value_name = "NAME", default_value = "utf-8", hide_default_value = true)]
    #[arg(display_order = 801)]
    pub(crate) encoding: Encoding,

    /// Skip sentences that cannot be read, count them, and end with exit code 3
    #[arg(long, display_order = 802)]
    pub(crate) lenient: bool,
}

impl TreebankArgs {
    /// Opens a treebank; `-` is standard input, which can be opened once.
    pub(crate) fn open(&self, path: &Path, session: &Session) -> Result<Reader<Input>> {
        if path == Path::new("-") {
            session.take_stdin()?;
        }
        if path.is_dir() {
            let path = path.display();
            return Err(usage(format!(
                "{path} is a folder; name the files in it, for example {path}/*.conllu"
            )));
        }
        if self.lenient {
            session.report_skipped();
        }
        let options = Options::default().with_format(self.format).with_encoding(self.encoding);
        Ok(open_with(path, &options)?)
    }

    /// Returns the sentences of an open treebank.
    pub(crate) fn sentences_of<'a>(
        &self,
        reader: Reader<Input>,
        session: &'a Session,
    ) -> Sentences<'a> {
        Sentences::new(Box::new(reader), self.lenient, session)
    }

    /// Opens a treebank and returns its sentences.
    pub(crate) fn sentences<'a>(&self, path: &Path, session: &'a Session) -> Result<Sentences<'a>> {
        Ok(self.sentences_of(self.open(path, session)?, session).with_progress())
    }

    /// Reads all sentences of a treebank.
    pub(crate) fn read_all(&self, path: &Path, session: &Session) -> Result<Vec<Sentence>> {
        self.sentences(path, session)?.collect()
    }

    /// Returns the sentences of a treebank that are short enough for a task that looks at all trees together. Longer
    /// ones are errors, or skipped.
    pub(crate) fn short_sentences<'a>(
        &'a self,
        path: &Path,
        task: &'static str,
        session: &'a Session,
    ) -> Result<impl Iterator<Item = Result<Sentence>> + 'a> {
        let sentences = self.sentences(path, session)?;
        Ok(sentences.filter_map(move |sentence| match sentence {
            Ok(sentence) => match self.is_short(&sentence, task, session) {
                Ok(true) => Some(Ok(sentence)),
                Ok(false) => None,
                Err(error) => Some(Err(error)),
            },
            Err(error) => Some(Err(error)),
        }))
    }

    /// Returns `true` if a sentence is short enough for a task that looks at all trees together. A longer one is an
    /// error, or skipped.
    pub(crate) fn is_short(
        &self,
        sentence: &Sentence,
        task: &'static str,
        session: &Session,
    ) -> Result<bool> {
        match sentence.check_words(task) {
            Ok(()) => Ok(true),
            Err(error) if self.lenient => {
                session.skip(&error.into());
                Ok(false)
            }
            Err(error) => Err(advise(error, "split it, or leave it out with --lenient")),
        }
    }

    /// Reads the sentences of all files that have words. Sentences without a tree are errors, or skipped.
    pub(crate) fn read_trees(&self, files: &[PathBuf], session: &Session) -> Result<Vec<Sentence>> {
        let mut all = Vec::new();
        for path in files {
            for sentence in self.short_sentences(path, "an audit", session)? {
                let sentence = sentence?;
                match sentence.tree() {
                    Ok(_) => all.push(sentence),
                    Err(error) if self.lenient => session.skip(&error.into()),
                    Err(error) => {
                        return Err(advise(error, "--lenient leaves out sentences without a tree"));
                    }
                }
            }
        }
        all.retain(|sentence| !sentence.is_empty());
        Ok(all)
    }
}
