//! Checks on any text as verdicts of an audit: reading gives verdicts or an error with its place.
//!
//! Fuzzing (`fuzz/`) and the tests (`tests/no_panic.rs`) share this file. Add new checks here, for both.

use tutte::audit::{Verdicts, sentence_name};
use tutte::{Error, Sentence};

const SENTENCES: [&str; 2] = [
    "# sent_id = tea-1\n1\tTea\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\t_\tVERB\t_\t_\t0\troot\t_\t_\n",
    "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\t_\t_\t_\t_\t_\t_\t_\t_\n2\tle\t_\t_\t_\t_\t_\t_\t_\t_\n",
];

/// Reads `data` and checks all properties. Returns `true` if it is a list of verdicts.
///
/// # Panics
/// If a check fails.
pub(crate) fn ask_everything(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let verdicts = match Verdicts::parse("verdicts.tsv", &text) {
        Ok(verdicts) => verdicts,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            let _ = error.hint();
            let Error::Verdict { line, column, .. } = error else { panic!("{error}") };
            assert!((1..=text.lines().count()).contains(&line) && (1..=4).contains(&column));
            return false;
        }
    };
    assert!(verdicts.len() <= text.lines().count());
    for (number, sentence) in SENTENCES.iter().enumerate() {
        let sentence: Sentence = sentence.parse().expect("a sentence");
        let name = sentence_name(&sentence, number);
        for token in sentence.tokens() {
            let decision = verdicts.on(&name, token);
            assert!(decision.is_none() || token.id().word().is_some());
        }
    }
    // Two copies of a file have twice as many verdicts. Only the first may start with a byte order mark.
    let copy = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let twice = Verdicts::parse("verdicts.tsv", &format!("{text}\n{copy}"));
    assert!(twice.is_ok_and(|twice| twice.len() == 2 * verdicts.len()));
    true
}
