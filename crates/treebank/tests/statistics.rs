//! The statistics of real treebanks agree with the table in the README of the data folder.

#[path = "support/treebanks.rs"]
mod treebanks;

use std::fs;

use tutte_treebank::{open, stats::Statistics};

#[test]
fn the_table_of_treebanks_is_reproduced() {
    let root = treebanks::root();
    let Ok(readme) = fs::read_to_string(root.join("README.md")) else {
        treebanks::skipped(&format!("no README.md with a table in {}", root.display()));
        return;
    };
    // treebank | version | train | dev | test | % arcs | % sentences | % multi-root | median / max
    let rows = readme.lines().filter(|line| line.starts_with('|')).skip(2);
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).skip(1).collect();
        let (folder, suffix) = match cells[0].split_once(" (") {
            Some((folder, language)) => (folder, format!(".{}", language.trim_end_matches(')'))),
            None => (cells[0], String::new()),
        };
        let mut total = Statistics::default();
        for (part, expected) in ["train", "dev", "test"].into_iter().zip(&cells[2..5]) {
            let Some(path) = [".conllu", ".conll"]
                .map(|extension| root.join(folder).join(format!("{part}{suffix}{extension}")))
                .into_iter()
                .find(|path| path.exists())
            else {
                assert_eq!(*expected, "–", "{} {part}", cells[0]);
                continue;
            };
            let mut statistics = Statistics::default();
            for sentence in open(&path).unwrap() {
                statistics.add(&sentence.unwrap());
            }
            let summary = statistics.summary();
            let sizes = format!("{} / {}", summary.sentences, summary.words);
            assert_eq!(sizes, expected.replace(',', ""), "{}", path.display());
            total.merge(&statistics);
        }
        let summary = total.summary();
        let percent = |share: Option<f64>, digits: usize| {
            format!("{:.digits$}", 100.0 * share.unwrap_or(f64::NAN))
        };
        let found = [
            percent(summary.trees.nonprojective_arc_share, 2),
            percent(summary.trees.nonprojective_tree_share, 1),
            percent(summary.trees.multi_root_share, 1),
            format!("{:.0} / {}", summary.median_length.unwrap(), summary.max_length.unwrap()),
        ];
        assert_eq!(found.as_slice(), &cells[5..9], "{}", cells[0]);
        assert_eq!(summary.trees.without_tree, 0, "{}", cells[0]);
    }
}
