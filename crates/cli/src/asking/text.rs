//! Raw text as sentences: the one place where a tokenizer comes in.

use anyhow::{Result, anyhow};
use tutte::{Compact, Model};
use tutte_treebank::{Encoding, Input};

use super::Source;
use crate::failure::advise;

/// The sentences of a raw text, which messages call by this name. Those without a name are counted
/// after `named`.
///
/// Models know no tokenizer yet. Once one does, what it makes of the text is a [`Source`], and nothing
/// else changes: files, standard input and the texts of JSON lines all come through here.
pub(super) fn sentences<'a>(
    _text: Input,
    name: &str,
    _encoding: Encoding,
    _model: &'a Model<Compact>,
    _named: u64,
) -> Result<Box<dyn Source + 'a>> {
    Err(advise(
        anyhow!("{name} is raw text, and this model cannot cut it into sentences and words"),
        "cut it first and say what it is: -i horizontal (a sentence a line, spaces between words), \
         -i vertical (a word a line) or -i conllu",
    ))
}
