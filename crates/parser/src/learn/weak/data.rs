//! Matches rules against raw sentences, to make constraints of weak supervision.

use std::sync::Arc;

use tutte_treebank::Sentence;
use tutte_trees::TreeSet;

use super::{ExpectationConstraint, WeakData};
use crate::learn::objective::expectation::Wanted;
use crate::parse::constraints;
use crate::rules::RuleSet;

impl<'a> WeakData<'a> {
    /// Creates the constraints of some rules on raw sentences; constraint q is rule q. Hard constraints (`always`,
    /// `never`) remove candidate arcs, have weight 0, and become part of the parser. Rules without a match have weight 0, too. Sentences without a
    /// tree of the set are not counted.
    ///
    /// ```
    /// use tutte::rules::RuleSet;
    /// use tutte::weak::WeakData;
    /// use tutte_treebank::Sentence;
    /// use tutte_trees::TreeSet;
    ///
    /// let rules = RuleSet::parse("nouns", "subj: NOUN <- nearest VERB head right 90%\nno: * <- NOUN never\n")?;
    /// let sentence: Sentence =
    ///     "1\tBirds\t_\tNOUN\t_\t_\t_\t_\t_\t_\n2\tsing\t_\tVERB\t_\t_\t_\t_\t_\t_\n".parse()?;
    /// let raw = [sentence];
    /// let evidence = WeakData::of_rules(&rules, &raw, TreeSet::NonProjectiveSingleRoot);
    /// assert_eq!(evidence.constraints[0].of, 1.0);
    /// assert!(evidence.arcs[0].contains(&(2, 1, 0)));
    /// assert!(!evidence.candidates[0].allows(1, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_rules(rules: &RuleSet, raw: &'a [Sentence], tree_set: TreeSet) -> Self {
        let mut units = vec![0.0; rules.len()];
        let mut arcs = Vec::new();
        let mut candidates = Vec::new();
        for sentence in raw {
            let matches = rules.matches(sentence);
            let allowed = rules.allowed_arcs(sentence.len(), &matches);
            let no_heads = vec![None; sentence.len()];
            if allowed.is_all() || constraints::has_tree(&allowed, &no_heads, tree_set) {
                units.iter_mut().zip(&matches.units).for_each(|(sum, units)| *sum += units);
            }
            candidates.push(allowed);
            let arc = |&(head, word, rule): &(u32, u32, u32)| {
                (head as usize, word as usize, rule as usize)
            };
            arcs.push(matches.arcs.iter().map(arc).collect());
        }
        let constraint = |(rule, units): (&crate::rules::Rule, f64)| {
            let (low, high) = rule.target.bounds();
            let has_weight = !rule.target.is_hard() && units > 0.0;
            let weight = if has_weight { rule.weight } else { 0.0 };
            let grouped = rule.group.is_some();
            ExpectationConstraint {
                of: units.max(1.0),
                wanted: Wanted { low, high, weight },
                grouped,
            }
        };
        let constraints = rules.rules().iter().zip(units).map(constraint).collect();
        let rules = rules.hard_constraints().map(Arc::new);
        Self { raw, constraints, arcs, candidates, trees: &[], rules }
    }
}
