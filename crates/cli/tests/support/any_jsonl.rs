//! Checks on any bytes as JSON Lines: every line gives sentences or an error, and sentences can be read again.
//!
//! The reader is the program's own file. The small modules here stand in for those around it. Fuzzing (`fuzz/`) and the
//! tests (`tests/no_panic.rs`) share this file; their crates must have a module `failure` with `advise`.

#[path = "../../src/input/jsonl.rs"]
#[allow(dead_code, reason = "only reading is checked")]
mod jsonl;

use tutte::Model;
use tutte_treebank::{Encoding, Input, Lines, Sentence};

use self::jsonl::Jsonl;
use self::source::{Source, Unusable};

mod source {
    use std::fmt;

    use anyhow::Result;
    use tutte_treebank::{Place, Sentence};

    /// A stream of sentences.
    pub(super) trait Source {
        fn read(&mut self, sentence: &mut Sentence) -> Result<bool>;
    }

    /// Error in one sentence. Reading can continue after it.
    #[derive(Debug)]
    pub(super) struct Unusable {
        pub(super) place: Place,
        pub(super) problem: String,
    }

    impl fmt::Display for Unusable {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{}: {}", self.place, self.problem)
        }
    }

    impl std::error::Error for Unusable {}
}

mod raw_text {
    use anyhow::Result;
    use tutte::text::{Segmenter, SegmenterOptions};
    use tutte::{Compact, Model, Pipeline};
    use tutte_treebank::{Encoding, Input, Sentence};

    use super::source::Source;

    pub(super) enum Cut {
        Text,
    }

    /// Returns the sentences of a raw text.
    pub(super) fn sentences<'a>(
        text: Input,
        name: &str,
        _: Encoding,
        Cut::Text: Cut,
        model: &'a Model<Compact>,
        unnamed: u64,
    ) -> Box<dyn Source + Send + 'a> {
        let options =
            SegmenterOptions::default().with_name(name.to_owned()).with_first_id(unnamed + 1);
        Box::new(Pipeline::new(model).sentences(text, options))
    }

    impl Source for Segmenter<'_, Input, Compact> {
        fn read(&mut self, sentence: &mut Sentence) -> Result<bool> {
            Ok(Segmenter::read(self, sentence).map_err(tutte::Error::from)?)
        }
    }
}

/// Reads `data` and checks all properties. Returns the number of sentences.
///
/// # Panics
/// If a check fails.
pub(crate) fn ask_everything(data: &[u8]) -> usize {
    let model = Model::default();
    let input: Input = Box::new(std::io::Cursor::new(data.to_vec()));
    let mut reader = Jsonl::new(Lines::new(input, "any.jsonl", Encoding::UTF_8), &model, 0);
    let mut sentence = Sentence::default();
    let mut sentences = 0;
    // An object has at least one byte for each of its sentences.
    for _ in 0..=data.len() {
        match reader.read(&mut sentence) {
            Ok(false) => return sentences,
            Ok(true) => {
                sentences += 1;
                ask_sentence(&sentence);
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                if let Some(Unusable { problem, .. }) = error.downcast_ref() {
                    assert!(!problem.is_empty());
                }
            }
        }
    }
    panic!("more results than bytes");
}

/// A sentence is CoNLL-U that can be read again, and has a name.
fn ask_sentence(sentence: &Sentence) {
    let again: Sentence = sentence.as_str().parse().expect("a sentence can be read again");
    assert_eq!(&again, sentence);
    assert!(!sentence.is_empty());
    assert!(sentence.sent_id().is_some(), "{}", sentence.as_str());
    assert!(sentence.words().all(|word| !word.form().is_empty()));
}
