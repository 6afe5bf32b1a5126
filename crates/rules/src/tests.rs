//! Tests of the crate, and the helpers that they share.

mod feasibility;
mod matching;
mod properties;
mod reading;
mod suggesting;

use tutte_treebank::Sentence;

use super::*;

/// Builds a sentence from words `form/UPOS/XPOS/FEATS/HEAD/label`; trailing fields may be missing.
fn sentence(words: &str) -> Sentence {
    let line = |(number, word): (usize, &str)| {
        let mut columns = word.split('/');
        let mut next = || columns.next().unwrap_or("_");
        let [form, upos, xpos, feats, head, label] = std::array::from_fn(|_| next());
        format!("{number}\t{form}\t{form}\t{upos}\t{xpos}\t{feats}\t{head}\t{label}\t_\t_\n")
    };
    (1..).zip(words.split_whitespace()).map(line).collect::<String>().parse().unwrap()
}

fn read(text: &str) -> RuleSet {
    RuleSet::parse("test.tut", text).unwrap()
}

/// Returns the errors of a file, without its name.
fn errors(text: &str) -> Vec<String> {
    let invalid = RuleSet::parse("test.tut", text).unwrap_err();
    let lines = invalid.to_string();
    lines.lines().map(|line| line.strip_prefix("test.tut:").unwrap().to_owned()).collect()
}

/// Three sentences whose determiners, subjects and roots were counted by hand.
fn treebank() -> [Sentence; 3] {
    [
        sentence(
            "the/DET/D/_/3/det big/ADJ/A/_/3/amod cat/NOUN/N/_/4/nsubj sleeps/VERB/V/_/0/root",
        ),
        sentence(
            "a/DET/D/_/2/det dog/NOUN/N/_/3/nsubj sees/VERB/V/_/0/root the/DET/D/_/5/det cat/NOUN/N/_/3/obj",
        ),
        sentence("sees/VERB/V/_/0/root that/DET/D/_/1/obj today/NOUN/N/_/1/obl"),
    ]
}
