//! Raw text as sentences: the one place where a tokenizer comes in.

use anyhow::Result;
use tutte::text::{Segmenter, SegmenterOptions};
use tutte::{Compact, Model, Pipeline};
use tutte_treebank::{Encoding, Input, Sentence, transcode};

use super::source::Source;

/// How a raw text is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Into sentences and words.
    Text,
    /// Into words: each line is a sentence.
    Lines,
}

/// The sentences of a raw text, which messages call by this name, as the model's tokenizer finds them, or
/// as Unicode does if it has none. Those without a name are counted after `named`.
pub(super) fn sentences<'a>(
    text: Input,
    name: &str,
    encoding: Encoding,
    cut: Cut,
    model: &'a Model<Compact>,
    named: u64,
) -> Box<dyn Source + 'a> {
    let options = SegmenterOptions {
        name: name.to_owned(),
        presegmented: cut == Cut::Lines,
        first_id: named + 1,
        ..SegmenterOptions::default()
    };
    Box::new(Pipeline::new(model).sentences(transcode(text, encoding), options))
}

impl Source for Segmenter<'_, Input, Compact> {
    fn read(&mut self, sentence: &mut Sentence) -> Result<bool> {
        Ok(Segmenter::read(self, sentence)?)
    }
}
