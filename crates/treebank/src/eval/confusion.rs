//! Confusion matrices of labels and tags.
//!
//! Counts each combination of a gold label and a system label over aligned words: once for words
//! with correct heads, and once for all words. Tags are counted over all words. Cells off the
//! diagonal are the confusions.

use std::collections::BTreeMap;

use super::arcs::{Arcs, ScoredArc};

/// Counts of combinations of gold and system values.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Confusion {
    /// Number of words compared.
    pub words: usize,
    /// Number of words with equal values.
    pub agreed: usize,
    /// Every combination that occurs, including equal values: most frequent first, ties in
    /// alphabetical order.
    pub cells: Vec<Cell>,
}

/// A combination of values with its count.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Cell {
    /// Value in the gold standard.
    pub gold: String,
    /// Value in the system's analysis.
    pub system: String,
    /// Number of occurrences.
    pub count: usize,
}

/// Confusions of labels and tags.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Confusions {
    /// Labels of words with correct heads: errors that lower LAS but not UAS.
    pub labels_of_correct_heads: Confusion,
    /// Labels of all words.
    pub labels: Confusion,
    /// Tags of all words.
    pub upos: Confusion,
}

impl Confusions {
    /// Counts the confusions.
    ///
    /// ```
    /// use tutte_treebank::{Reader, Sentence, eval::{Alignment, Arcs, Confusions}};
    ///
    /// let gold = "1\tTea\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\thelps\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n";
    /// let read = |text: &str| Reader::new(text.as_bytes()).collect::<Result<Vec<_>, _>>();
    /// let (gold, system) = (read(gold)?, read(&gold.replace("nsubj", "obj"))?);
    /// let confusions = Confusions::new(&Arcs::new(&Alignment::new(&gold, &system)?));
    /// let worst = confusions.labels_of_correct_heads.errors().next().unwrap();
    /// assert_eq!((worst.gold.as_str(), worst.system.as_str(), worst.count), ("nsubj", "obj", 1));
    /// assert_eq!(confusions.upos.errors().next(), None);
    /// # Ok::<(), tutte_treebank::Error>(())
    /// ```
    pub fn new(arcs: &Arcs<'_>) -> Self {
        let correct_heads = arcs.pairs().filter(|(gold, _)| gold.head_correct);
        Self {
            labels_of_correct_heads: Confusion::of(correct_heads, |arc| arc.label),
            labels: Confusion::of(arcs.pairs(), |arc| arc.label),
            upos: Confusion::of(arcs.pairs(), |arc| arc.token.upos()),
        }
    }
}

impl Confusion {
    fn of<'b, 'a: 'b>(
        pairs: impl Iterator<Item = (&'b ScoredArc<'a>, &'b ScoredArc<'a>)>,
        value: impl Fn(&'b ScoredArc<'a>) -> &'a str,
    ) -> Self {
        let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for (gold, system) in pairs {
            *counts.entry((value(gold), value(system))).or_default() += 1;
        }
        let mut cells: Vec<Cell> = counts
            .into_iter()
            .map(|((gold, system), count)| Cell {
                gold: gold.to_owned(),
                system: system.to_owned(),
                count,
            })
            .collect();
        // Stable: ties stay in alphabetical order.
        cells.sort_by_key(|cell| std::cmp::Reverse(cell.count));
        Self {
            words: cells.iter().map(|cell| cell.count).sum(),
            agreed: cells.iter().filter(|c| c.gold == c.system).map(|c| c.count).sum(),
            cells,
        }
    }

    /// Returns the combinations of different values, most frequent first.
    pub fn errors(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter().filter(|cell| cell.gold != cell.system)
    }

    /// Number of occurrences of a value in the gold standard.
    pub fn gold_count(&self, value: &str) -> usize {
        self.cells.iter().filter(|cell| cell.gold == value).map(|cell| cell.count).sum()
    }

    /// Number of occurrences of a combination.
    pub fn count(&self, gold: &str, system: &str) -> usize {
        let cell = self.cells.iter().find(|cell| cell.gold == gold && cell.system == system);
        cell.map_or(0, |cell| cell.count)
    }

    /// Returns the values of the gold standard, most frequent first.
    pub fn gold_values(&self) -> Vec<&str> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for cell in &self.cells {
            *counts.entry(&cell.gold).or_default() += cell.count;
        }
        let mut values: Vec<_> = counts.into_iter().collect();
        values.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        values.into_iter().map(|(value, _)| value).collect()
    }
}

#[cfg(test)]
mod tests;
