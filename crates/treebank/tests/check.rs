//! Published treebanks come out of a check without errors, and with few remarks.
#![allow(clippy::print_stderr, reason = "a skipped test must say so")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tutte_treebank::check::{Checker, Kind, Severity};
use tutte_treebank::open;

/// The files of every treebank: those of a folder, each language by itself where one has several
/// (`train.da.conll`, `train.en.conll`). The folder is in `$TUTTE_DATA`, or beside the project.
fn treebanks() -> Vec<Vec<PathBuf>> {
    let root = std::env::var_os("TUTTE_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let mut folders = vec![root.clone()];
    let mut treebanks: BTreeMap<(PathBuf, String), Vec<PathBuf>> = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "conllu" || e == "conll") {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let after_part = name.split_once('.').map_or("", |(_, rest)| rest).to_owned();
                treebanks.entry((folder.clone(), after_part)).or_default().push(path);
            }
        }
    }
    if treebanks.is_empty() {
        eprintln!("SKIPPED: no treebanks in {}; set TUTTE_DATA", root.display());
    }
    treebanks.into_values().collect()
}

#[test]
fn published_treebanks_have_no_errors_and_few_warnings() {
    // What is really in them: sentences that files share, sent_ids that start anew in every
    // document, soft hyphens as words, z beside Z, a lemma that ends with a space.
    let expected = [
        Kind::Overlap,
        Kind::RepeatedSentId,
        Kind::SharedSentId,
        Kind::BlankForm,
        Kind::CaseVariants,
        Kind::Space,
    ];
    for mut files in treebanks() {
        files.sort();
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
        let universal = files[0].extension().is_some_and(|e| e == "conllu");
        assert!(report.files.iter().all(|f| f.scheme.unwrap().is_universal() == universal));
    }
}
