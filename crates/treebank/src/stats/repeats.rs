//! Heads with several modifiers of one label, such as two subjects of one verb.

use std::collections::HashMap;

use super::entry;
use crate::Sentence;

/// For one label, the number of its heads. Heads are words; the root does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repeats {
    /// Number of words with at least one modifier of this label.
    pub heads: u64,
    /// Number of words with at least two.
    pub repeating: u64,
}

/// Counts, for every label, the words with at least one and with at least two modifiers of this label. Labels with
/// subtypes, such as `nsubj` and `nsubj:outer`, are different labels.
///
/// ```
/// use tutte_treebank::Sentence;
/// use tutte_treebank::stats::LabelRepeats;
///
/// let sentence: Sentence = "\
/// 1\tHot\thot\tADJ\t_\t_\t3\tamod\t_\t_
/// 2\tblack\tblack\tADJ\t_\t_\t3\tamod\t_\t_
/// 3\ttea\ttea\tNOUN\t_\t_\t4\tnsubj\t_\t_
/// 4\tcools\tcool\tVERB\t_\t_\t0\troot\t_\t_
/// ".parse()?;
/// let mut repeats = LabelRepeats::default();
/// repeats.add(&sentence);
/// assert_eq!((repeats.of("amod").heads, repeats.of("amod").repeating), (1, 1));
/// assert_eq!((repeats.of("nsubj").heads, repeats.of("nsubj").repeating), (1, 0));
/// assert_eq!(repeats.of("root").heads, 0);
/// # Ok::<(), tutte_treebank::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelRepeats {
    counts: HashMap<Box<str>, Repeats>,
}

impl LabelRepeats {
    /// Counts a sentence. Words without a known head or label (`_`) are left out.
    pub fn add(&mut self, sentence: &Sentence) {
        let words = sentence.words();
        let known = words.filter_map(|word| {
            let (head, label) = (word.head()?, word.deprel());
            (head > 0 && label != "_").then_some((head, label))
        });
        let mut arcs: Vec<(usize, &str)> = known.collect();
        arcs.sort_unstable();
        for group in arcs.chunk_by(|one, other| one == other) {
            let repeats = entry(&mut self.counts, group[0].1);
            repeats.heads += 1;
            repeats.repeating += u64::from(group.len() > 1);
        }
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Self) {
        for (label, more) in &other.counts {
            let repeats = entry(&mut self.counts, label);
            repeats.heads += more.heads;
            repeats.repeating += more.repeating;
        }
    }

    /// Returns the counts of a label.
    pub fn of(&self, label: &str) -> Repeats {
        self.counts.get(label).copied().unwrap_or_default()
    }

    /// Returns the labels that at least `least_heads` words have among their modifiers, and less than a `share` of
    /// these words several times. In the order of their names.
    ///
    /// ```
    /// # use tutte_treebank::Sentence;
    /// # use tutte_treebank::stats::LabelRepeats;
    /// # let sentence: Sentence = "1\ttea\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tcools\t_\t_\t_\t_\t0\troot\t_\t_\n".parse()?;
    /// let mut repeats = LabelRepeats::default();
    /// repeats.add(&sentence);
    /// assert_eq!(repeats.single_labels(1, 0.001), ["nsubj"]);
    /// assert!(repeats.single_labels(2, 0.001).is_empty());
    /// # Ok::<(), tutte_treebank::Error>(())
    /// ```
    pub fn single_labels(&self, least_heads: u64, share: f64) -> Vec<&str> {
        let is_single = |it: &Repeats| {
            it.heads >= least_heads && (it.repeating as f64) < share * it.heads as f64
        };
        let single = self.counts.iter().filter(|(_, repeats)| is_single(repeats));
        let mut labels: Vec<&str> = single.map(|(label, _)| label.as_ref()).collect();
        labels.sort_unstable();
        labels
    }
}
