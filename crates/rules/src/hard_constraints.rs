//! Hard constraints: the arcs that `always` and `never` rules leave.
//!
//! A `never` rule forbids the arcs it matches. An `always` rule forbids all other heads of the words for which it
//! has a candidate.

use std::collections::{BTreeMap, HashSet};

use tutte_trees::Candidates;

use crate::matching::Matches;
use crate::rule::Target;
use crate::rule_set::RuleSet;

impl RuleSet {
    /// Returns the rules with `always` or `never`; `None` if there are none.
    ///
    /// ```
    /// use tutte_rules::RuleSet;
    ///
    /// let rules = RuleSet::parse("rules.tut", "det: DET <- NOUN 90%\nno: * <- NOUN never\n")?;
    /// assert_eq!(rules.hard_constraints().map(|hard| hard.len()), Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hard_constraints(&self) -> Option<Self> {
        let hard: Vec<_> =
            self.rules().iter().filter(|rule| rule.target.is_hard()).cloned().collect();
        // Some of the rules of a valid set are a valid set.
        if hard.is_empty() { None } else { Self::new(self.file(), hard).ok() }
    }

    /// Returns the arcs that hard constraints allow in a sentence of `words` words with these matches.
    ///
    /// ```
    /// use tutte_rules::RuleSet;
    /// use tutte_treebank::Sentence;
    ///
    /// let rules = RuleSet::parse("hard.tut", "no: * <- NOUN never\n")?;
    /// let sentence: Sentence =
    ///     "1\tBirds\t_\tNOUN\t_\t_\t_\t_\t_\t_\n2\tsing\t_\tVERB\t_\t_\t_\t_\t_\t_\n".parse()?;
    /// let allowed = rules.allowed_arcs(2, &rules.matches(&sentence));
    /// assert!(allowed.allows(2, 1) && !allowed.allows(1, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn allowed_arcs(&self, words: usize, matches: &Matches) -> Candidates {
        // By word and `always` rule: the heads that the rule allows.
        let mut always: BTreeMap<u32, BTreeMap<u32, Vec<u32>>> = BTreeMap::new();
        let mut never = HashSet::new();
        for &(head, word, rule) in &matches.arcs {
            match self.rules()[rule as usize].target {
                Target::Always => {
                    always.entry(word).or_default().entry(rule).or_default().push(head);
                }
                Target::Never => drop(never.insert((head, word))),
                _ => {}
            }
        }
        if always.is_empty() && never.is_empty() {
            return Candidates::all();
        }
        Candidates::of(words, |head, word| {
            let (head, word) = (head as u32, word as u32);
            let mut by_rule = always.get(&word).into_iter().flatten();
            by_rule.all(|(_, heads)| heads.contains(&head)) && !never.contains(&(head, word))
        })
    }
}
