//! Checks on any bytes as JSON Lines: every line gives sentences or an error, and sentences can be read again. Fuzzing
//! (`fuzz/`) and the tests (`tests/no_panic.rs`) share this file.

use tutte::Model;
use tutte_cli::readers::json_lines;
use tutte_treebank::Sentence;

/// Reads `data` and checks all properties. Returns the number of sentences.
///
/// # Panics
/// If a check fails.
pub(crate) fn ask_everything(data: &[u8]) -> usize {
    let model = Model::default();
    let mut sentences = 0;
    for (number, result) in json_lines(data.to_vec(), &model).enumerate() {
        // An object has at least one byte for each of its sentences.
        assert!(number < data.len(), "more results than bytes");
        match result {
            Ok(sentence) => {
                sentences += 1;
                ask_sentence(&sentence);
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    sentences
}

/// A sentence is CoNLL-U that can be read again, and has a name.
fn ask_sentence(sentence: &Sentence) {
    let again: Sentence = sentence.as_str().parse().expect("a sentence can be read again");
    assert_eq!(&again, sentence);
    assert!(!sentence.is_empty());
    assert!(sentence.sent_id().is_some(), "{}", sentence.as_str());
    assert!(sentence.words().all(|word| !word.form().is_empty()));
}
