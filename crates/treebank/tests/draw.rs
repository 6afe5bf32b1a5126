//! Sentences of real treebanks can be drawn completely.

#[path = "support/treebanks.rs"]
mod treebanks;

use tutte_treebank::draw::{Drawing, Style, TextArt};
use tutte_treebank::{Column, open};

use treebanks::treebanks;

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
