//! What laws leave: an arc that is never there is none, and where a word always has one of some heads, the
//! others are none.

use std::collections::{BTreeMap, HashSet};

use tutte_trees::Candidates;

use super::{Matches, Rules, Target};

impl Rules {
    /// The arcs of a sentence of `words` words that laws (`always`, `never`) leave, given what matches.
    ///
    /// ```
    /// use tutte_rules::Rules;
    /// use tutte_treebank::Sentence;
    ///
    /// let rules = Rules::parse("laws", "no: * <- NOUN never\n")?;
    /// let sentence: Sentence =
    ///     "1\tBirds\t_\tNOUN\t_\t_\t_\t_\t_\t_\n2\tsing\t_\tVERB\t_\t_\t_\t_\t_\t_\n".parse()?;
    /// let left = rules.allowed_arcs(2, &rules.matches(&sentence));
    /// assert!(left.allows(2, 1) && !left.allows(1, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn allowed_arcs(&self, words: usize, matches: &Matches) -> Candidates {
        // By word and law, the heads it must have one of.
        let mut must: BTreeMap<u32, BTreeMap<u32, Vec<u32>>> = BTreeMap::new();
        let mut never = HashSet::new();
        for &(head, word, rule) in &matches.arcs {
            match self.rules[rule as usize].target {
                Target::Always => {
                    must.entry(word).or_default().entry(rule).or_default().push(head);
                }
                Target::Never => drop(never.insert((head, word))),
                _ => {}
            }
        }
        if must.is_empty() && never.is_empty() {
            return Candidates::all();
        }
        Candidates::of(words, |head, word| {
            let (head, word) = (head as u32, word as u32);
            let mut laws = must.get(&word).into_iter().flatten();
            laws.all(|(_, heads)| heads.contains(&head)) && !never.contains(&(head, word))
        })
    }
}
