//! Raw text as sentences. This is the only input that needs a tokenizer.

use anyhow::Result;
use tutte::text::{Segmenter, SegmenterOptions};
use tutte::{Compact, Model, Pipeline};
use tutte_treebank::{Encoding, Input, Sentence, transcode};

use super::source::Source;

/// Segmentation of raw text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Into sentences, then words.
    Text,
    /// Into words; each line is a sentence.
    Lines,
}

/// Returns the sentences of a raw text, found by the model's tokenizer, or by the rules of Unicode if it has none.
/// Messages call the text `name`. Sentences are numbered from `unnamed` + 1.
pub(super) fn sentences<'a>(
    text: Input,
    name: &str,
    encoding: Encoding,
    cut: Cut,
    model: &'a Model<Compact>,
    unnamed: u64,
) -> Box<dyn Source + Send + 'a> {
    let options = SegmenterOptions::default()
        .with_name(name.to_owned())
        .with_presegmented(cut == Cut::Lines)
        .with_first_id(unnamed + 1);
    Box::new(Pipeline::new(model).sentences(transcode(text, encoding), options))
}

impl Source for Segmenter<'_, Input, Compact> {
    fn read(&mut self, sentence: &mut Sentence) -> Result<bool> {
        // An error about the text is one of the treebank, which is shown with its line, and which --lenient skips.
        Segmenter::read(self, sentence).map_err(|error| match error {
            tutte::text::Error::Treebank(error) => error.into(),
            other => tutte::Error::from(other).into(),
        })
    }

    fn is_raw_text(&self) -> bool {
        true
    }
}
