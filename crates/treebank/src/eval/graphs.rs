//! Enhanced graphs that are not those of their trees.
//!
//! A parser may replace HEAD and leave DEPS, or a file may have gold graphs with other trees. Then
//! ELAS says nothing about the parser. In Universal Dependencies, nearly all basic arcs are also
//! enhanced arcs; the others are at ellipses, where an empty node is the head. So the share of
//! basic heads that DEPS does not have tells such files apart.

use super::Alignment;
use crate::{Id, Place, Sentence};

/// Counts of words whose head is not among their enhanced heads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphConflicts {
    /// Words with a head and enhanced heads.
    pub words: usize,
    /// Words among them whose head is not among their enhanced heads.
    pub conflicts: usize,
    /// Place of the first sentence with such a word.
    pub first: Option<Place>,
}

impl GraphConflicts {
    /// Counts the words of sentences. Entries of DEPS that cannot be read do not count.
    pub fn find(sentences: &[Sentence]) -> Self {
        let mut found = Self::default();
        let words = sentences.iter().flat_map(|s| s.words().map(move |word| (s, word)));
        for (sentence, word) in words {
            let Some(head) = word.head().filter(|_| word.deps() != "_") else { continue };
            found.words += 1;
            let has_head = word.enhanced().flatten().any(|(id, _)| id == Id::Word(head));
            if !has_head {
                found.conflicts += 1;
                found.first.get_or_insert_with(|| sentence.place());
            }
        }
        found
    }

    /// Share of words whose head is not among their enhanced heads; 0 without words.
    pub fn share(&self) -> f64 {
        self.conflicts as f64 / self.words.max(1) as f64
    }

    /// Returns `true` if there are clearly more conflicts than in the gold standard, which has some
    /// at ellipses: by one word and by one percent of the words. Without enhanced graphs on both
    /// sides there is nothing to compare.
    pub fn exceeds(&self, gold: &Self) -> bool {
        let more = self.conflicts as f64 - gold.share() * self.words as f64;
        gold.words > 0 && self.words > 0 && more >= (0.01 * self.words as f64).max(1.0)
    }
}

/// Returns the number of aligned words whose head differs from the gold standard, if all enhanced
/// graphs are those of the gold standard to the letter. `None` if some graph differs, or there are
/// none: then the graphs were not copied.
pub fn copied_graphs(alignment: &Alignment<'_>) -> Option<usize> {
    let mut words = 0;
    let mut other_heads = 0;
    for pair in alignment.pairs() {
        let gold = alignment.gold()[pair.gold.sentence].word(pair.gold.word)?;
        let system = alignment.system()[pair.system.sentence].word(pair.system.word)?;
        if gold.deps() != system.deps() {
            return None;
        }
        words += usize::from(gold.deps() != "_");
        other_heads += usize::from(!pair.head_correct);
    }
    (words > 0 && other_heads > 0).then_some(other_heads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reader;

    fn read(text: &str) -> Vec<Sentence> {
        Reader::new(text.as_bytes()).collect::<Result<_, _>>().unwrap()
    }

    const GOLD: &str = "\
1\tTea\ttea\tNOUN\t_\t_\t2\tnsubj\t2:nsubj\t_
2\tcools\tcool\tVERB\t_\t_\t0\troot\t0:root\t_
3\tdown\tdown\tADV\t_\t_\t2\tadvmod\t2:advmod\t_

";

    #[test]
    fn graphs_of_other_trees_are_found() {
        let gold = read(GOLD);
        assert_eq!(GraphConflicts::find(&gold), GraphConflicts { words: 3, ..Default::default() });
        let leaked = read(&GOLD.replace("\t2\tadvmod\t2", "\t1\tadvmod\t2"));
        let found = GraphConflicts::find(&leaked);
        assert_eq!((found.words, found.conflicts), (3, 1));
        assert_eq!(found.first.map(|place| place.line), Some(1));
        assert_eq!(copied_graphs(&Alignment::new(&gold, &leaked).unwrap()), Some(1));
        // The same trees, other graphs, or no graphs.
        assert_eq!(copied_graphs(&Alignment::new(&gold, &gold).unwrap()), None);
        let own = read(&GOLD.replace("\t2\tadvmod\t2", "\t1\tadvmod\t1"));
        assert_eq!(copied_graphs(&Alignment::new(&gold, &own).unwrap()), None);
        let none =
            read(&GOLD.replace("2:nsubj", "_").replace("0:root", "_").replace("2:advmod", "_"));
        assert_eq!(copied_graphs(&Alignment::new(&gold, &none).unwrap()), None);
        assert_eq!(GraphConflicts::find(&none).share(), 0.0);
        let of = |sentences: &[Sentence]| GraphConflicts::find(sentences);
        assert!(of(&leaked).exceeds(&of(&gold)) && !of(&leaked).exceeds(&of(&leaked)));
        assert!(!of(&leaked).exceeds(&of(&none)) && !of(&none).exceeds(&of(&leaked)));
    }
}
