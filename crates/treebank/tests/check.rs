//! Published treebanks pass the checks without errors and with few warnings.

#[path = "support/treebanks.rs"]
mod treebanks;

use std::collections::BTreeMap;
use std::path::PathBuf;

use tutte_treebank::check::{Checker, Kind, Severity};
use tutte_treebank::open;

use treebanks::{is_conllu, treebanks};

/// Returns the files of every treebank. A folder with several languages (`train.da.conll`,
/// `train.en.conll`) gives one list per language.
fn treebanks_by_language() -> impl Iterator<Item = Vec<PathBuf>> {
    let mut languages: BTreeMap<(PathBuf, String), Vec<PathBuf>> = BTreeMap::new();
    for path in treebanks() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let after_part = name.split_once('.').map_or("", |(_, rest)| rest).to_owned();
        let folder = path.parent().unwrap_or(&path).to_owned();
        languages.entry((folder, after_part)).or_default().push(path);
    }
    languages.into_values()
}

#[test]
fn published_treebanks_have_no_errors_and_few_warnings() {
    // Real findings: sentences that files share, sent_ids that start again in every document, soft
    // hyphens as words, z beside Z, a lemma that ends with a space.
    let expected = [
        Kind::Overlap,
        Kind::RepeatedSentId,
        Kind::SharedSentId,
        Kind::BlankForm,
        Kind::CaseVariants,
        Kind::Space,
    ];
    for files in treebanks_by_language() {
        let mut checker = Checker::new(1);
        for file in &files {
            checker.read(&mut open(file).unwrap()).unwrap();
        }
        let report = checker.finish();
        let surprising = |f: &&tutte_treebank::check::Finding| {
            f.severity == Severity::Error
                || (f.severity == Severity::Warning && !expected.contains(&f.kind))
        };
        let found: Vec<_> = report.findings.iter().filter(surprising).collect();
        assert!(found.is_empty(), "{found:?}");
        assert!(report.count(Severity::Warning) <= 2, "{:?}", report.findings);
        assert!(report.findings.len() <= 9, "{:?}", report.findings);
        let universal = is_conllu(&files[0]);
        assert!(report.files.iter().all(|f| f.scheme.unwrap().is_universal() == universal));
    }
}
