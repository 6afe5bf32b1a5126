//! Reasons not to trust a calibration: training data, few trees, unknown labels.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use tutte::{About, Compact, Comparison, ParserModel};
use tutte_treebank::Sentence;

use crate::report::{count, counted, hundredths};

/// Number of words below which the result is not reliable.
const FEW_WORDS: usize = 1000;

/// Accuracy of heads that only training data reaches.
const TOO_GOOD: f64 = 0.97;

/// Returns the warnings.
pub(super) fn find(
    files: &[PathBuf],
    dev: &[Sentence],
    comparison: &Comparison,
    model: &ParserModel<Compact>,
    about: &About,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let words = comparison.before.len();
    if words < FEW_WORDS {
        warnings.push(format!(
            "DEV has only {} with a head; use at least {} for a reliable result",
            counted(words, "word"),
            count(10 * FEW_WORDS)
        ));
    }
    let training_files = about.command.as_deref().map(training_files).unwrap_or_default();
    if let Some(file) =
        files.iter().find(|file| training_files.iter().any(|one| is_same(one, file)))
    {
        warnings.push(format!(
            "{} has the name of a file that the model was trained on; calibrate on held-out trees, since \
             probabilities of training data are too high",
            file.display()
        ));
    } else if let Some(warning) = too_good(comparison, about) {
        warnings.push(warning);
    }
    warnings.extend(unknown_labels(dev, model));
    warnings
}

/// Returns a warning if the accuracy is too high for held-out data.
fn too_good(comparison: &Comparison, about: &About) -> Option<String> {
    let right = comparison.before.iter().filter(|said| said.correct).count();
    let uas = right as f64 / comparison.before.len().max(1) as f64;
    let (limit, than) = match &about.dev {
        Some(dev) => {
            // The limit is half of the errors on dev.
            let limit = 1.0 - (1.0 - dev.uas()) / 2.0;
            (limit, format!("{} % on its dev set", hundredths(dev.uas())))
        }
        None => (TOO_GOOD, "fewer on held-out sentences".to_owned()),
    };
    (uas > limit).then(|| {
        format!(
            "{} % of the heads are right, but {than}: was the model trained on these trees?",
            hundredths(uas)
        )
    })
}

/// Returns a warning if trees have labels that the model does not know.
fn unknown_labels(dev: &[Sentence], model: &ParserModel<Compact>) -> Option<String> {
    const SHOWN: usize = 5;
    let known: BTreeSet<&str> = model.labels.labels().iter().map(String::as_str).collect();
    if known.is_empty() {
        return None;
    }
    let words = dev.iter().flat_map(Sentence::words).map(|word| word.deprel());
    let unknown: BTreeSet<&str> =
        words.filter(|label| *label != "_" && !known.contains(label)).collect();
    if unknown.is_empty() {
        return None;
    }
    let shown: Vec<&str> = unknown.iter().copied().take(SHOWN).collect();
    let more = if unknown.len() > SHOWN { ", …" } else { "" };
    Some(format!(
        "the model does not know {} of these trees: {}{more}; do they follow another annotation scheme?",
        counted(unknown.len(), "label"),
        shown.join(", ")
    ))
}

/// Returns the training files of a `tutte train` command: the words that are not options or values of options.
fn training_files(command: &str) -> Vec<String> {
    let mut files = Vec::new();
    let mut words = command.split(' ').map(|word| word.trim_matches('\'')).skip(2);
    while let Some(word) = words.next() {
        match word {
            "--lenient" => {}
            _ if word.starts_with('-') && !word.contains('=') => drop(words.next()),
            _ if word.starts_with('-') => {}
            file => files.push(file.to_owned()),
        }
    }
    files
}

/// Returns `true` for the same path, or the same file name.
fn is_same(training_file: &str, file: &Path) -> bool {
    let other = Path::new(training_file);
    other == file
        || other.file_name() == file.file_name() && file.file_name() != Some(OsStr::new("-"))
}

#[cfg(test)]
mod tests {
    use tutte::DevScores;
    use tutte_treebank::eval::calibration::{Forecast, Probability};

    use super::*;

    #[test]
    fn accuracy_that_is_too_good_is_reported() {
        let said = |correct| Forecast { probability: Probability::new(0.9).unwrap(), correct };
        let right = |right: usize| Comparison {
            before: (0..100).map(|at| said(at < right)).collect(),
            temperature: Vec::new(),
            isotonic: Vec::new(),
            folds: 5,
        };
        let unknown = About::default();
        let dev = DevScores { pass: 1, words: 100, heads: 80, both: 70 };
        let known = About { dev: Some(dev), ..About::default() };
        assert_eq!(too_good(&right(96), &unknown), None);
        assert!(too_good(&right(98), &unknown).unwrap().starts_with("98.00 % of the heads"));
        assert_eq!(too_good(&right(90), &known), None);
        assert!(too_good(&right(91), &known).unwrap().contains("80.00 % on its dev set"));
    }

    #[test]
    fn training_files_are_read_from_the_command() {
        let command = "tutte train a/x.conllu 'b.conllu' --dev c.conllu --passes=3 --lenient d.conllu --seed 7";
        assert_eq!(training_files(command), ["a/x.conllu", "b.conllu", "d.conllu"]);
        assert!(training_files("tutte").is_empty());
        assert!(is_same("a/x.conllu", Path::new("/data/x.conllu")));
        assert!(!is_same("a/x.conllu", Path::new("/data/y.conllu")));
        assert!(!is_same("-", Path::new("/data/y.conllu")));
    }
}
