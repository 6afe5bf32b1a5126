//! Rules are read as the documentation says, written back, and match what a slow reader would match.

mod matching;
mod properties;
mod reading;

use tutte_treebank::Sentence;

use super::*;

/// Words as `form/UPOS/XPOS/FEATS/HEAD/label`, of which those at the end may be missing.
fn sentence(words: &str) -> Sentence {
    let line = |(number, word): (usize, &str)| {
        let mut columns = word.split('/');
        let mut next = || columns.next().unwrap_or("_");
        let [form, upos, xpos, feats, head, label] = std::array::from_fn(|_| next());
        format!("{number}\t{form}\t{form}\t{upos}\t{xpos}\t{feats}\t{head}\t{label}\t_\t_\n")
    };
    (1..).zip(words.split_whitespace()).map(line).collect::<String>().parse().unwrap()
}

fn read(text: &str) -> Rules {
    Rules::parse("test.tut", text).unwrap()
}

/// The errors of a file, without its name.
fn errors(text: &str) -> Vec<String> {
    let invalid = Rules::parse("test.tut", text).unwrap_err();
    let lines = invalid.to_string();
    lines.lines().map(|line| line.strip_prefix("test.tut:").unwrap().to_owned()).collect()
}
