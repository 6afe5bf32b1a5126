//! Output of a run of the program.

use std::process::Output;

use tutte_treebank::Sentence;

/// Returns the text on standard error.
pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the sentences that a successful run wrote.
pub(crate) fn sentences(output: &Output) -> Vec<Sentence> {
    assert!(output.status.success(), "{}", said(output));
    let text = std::str::from_utf8(&output.stdout).unwrap();
    text.split_inclusive("\n\n").map(|lines| lines.parse().unwrap()).collect()
}
