//! Real sentences can be drawn, and what is drawn is whole.
#![allow(clippy::print_stderr, reason = "a skipped test must say so")]

use std::fs;
use std::path::{Path, PathBuf};

use tutte_treebank::draw::{Drawing, Style, TextArt};
use tutte_treebank::{Column, open};

/// `$TUTTE_DATA`, or a folder beside the project.
fn treebanks() -> Vec<PathBuf> {
    let root = std::env::var_os("TUTTE_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let mut folders = vec![root.clone()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "conllu" || e == "conll") {
                files.push(path);
            }
        }
    }
    files.sort();
    if files.is_empty() {
        eprintln!("SKIPPED: no treebanks in {}; set TUTTE_DATA", root.display());
    }
    files
}

#[test]
fn sentences_of_every_treebank_are_drawn_in_every_format() {
    let plain = Style { width_columns: 100, text: TextArt::Arcs, ..Style::default() };
    let tags = vec![Column::Upos, Column::Lemma, Column::Feats];
    let rich =
        Style { enhanced: true, tags, fixed: true, text: TextArt::Branches, ..plain.clone() };
    for path in treebanks() {
        for sentence in open(&path).unwrap().step_by(60) {
            let sentence = sentence.unwrap();
            for style in [&plain, &rich] {
                let drawing = Drawing::new(&sentence, style);
                let svg = drawing.svg();
                let document = roxmltree::Document::parse(&svg).unwrap();
                let titles = document.descendants().filter(|node| node.has_tag_name("title"));
                assert!(titles.count() >= sentence.partial_heads().flatten().count());
                assert!(drawing.tikz().contains("\\end{dependency}"));
                assert!(!drawing.text().is_empty());
            }
        }
    }
}
