//! Error analysis of a parser (Druck, Mann & McCallum 2009, table 3).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tutte_treebank::Sentence;

/// Counts of arcs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Errors {
    pub(crate) words: usize,
    /// By tag of the head: arcs of the treebank, and arcs of the parser.
    pub(crate) heads: BTreeMap<String, [usize; 2]>,
    /// By direction (`left`, `right`, `root`): arcs of the treebank, and arcs of the parser.
    pub(crate) directions: BTreeMap<String, [usize; 2]>,
    /// By distance: arcs of the treebank, and arcs of the parser.
    pub(crate) distances: BTreeMap<String, [usize; 2]>,
    /// Wrong arcs of the parser.
    pub(crate) wrong: BTreeMap<String, usize>,
}

/// Classes of distances.
pub(crate) const DISTANCES: [&str; 7] = ["1", "2", "3", "4", "5", "6–10", "> 10"];

fn distance(head: usize, word: usize) -> &'static str {
    DISTANCES[match head.abs_diff(word) {
        distance @ 0..=5 => distance.max(1) - 1,
        6..=10 => 5,
        _ => 6,
    }]
}

impl Errors {
    pub(crate) fn add(&mut self, sentence: &Sentence, gold: &[usize], found: &[usize]) {
        let tag = |word: usize| sentence.word(word).map_or("ROOT", |token| token.upos());
        for (word, (gold, found)) in (1..).zip(gold.iter().zip(found)) {
            self.words += 1;
            for (which, &head) in [gold, found].into_iter().enumerate() {
                self.heads.entry(tag(head).to_owned()).or_default()[which] += 1;
                let direction = match head {
                    0 => "root",
                    _ if head < word => "right",
                    _ => "left",
                };
                self.directions.entry(direction.to_owned()).or_default()[which] += 1;
                if head > 0 {
                    self.distances.entry(distance(head, word).to_owned()).or_default()[which] += 1;
                }
            }
            if gold != found {
                let arc = match *found {
                    0 => format!("ROOT → {}", tag(word)),
                    head if head < word => {
                        format!("{} → {} ({})", tag(head), tag(word), distance(head, word))
                    }
                    head => format!("{} ← {} ({})", tag(word), tag(head), distance(head, word)),
                };
                *self.wrong.entry(arc).or_default() += 1;
            }
        }
    }

    /// Returns the most frequent wrong arcs.
    pub(crate) fn worst(&self, count: usize) -> Vec<(&str, usize)> {
        let mut all: Vec<(&str, usize)> =
            self.wrong.iter().map(|(arc, count)| (arc.as_str(), *count)).collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        all.truncate(count);
        all
    }
}
