//! Counts of rule matches in a treebank, and the targets that follow from them.

use tutte_treebank::Sentence;

use crate::rule::{Counting, Rule};
use crate::rule_set::RuleSet;

/// Counts of one rule in a treebank. Words without a head are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleStatistics {
    /// Candidate arcs that match: c̃(g).
    pub pairs: u64,
    /// Matching arcs that are in gold trees, with the rule's label if it has one: c̃_edge(g).
    pub arcs: u64,
    /// Words that pass the dependent's test.
    pub words: u64,
    /// Words that also have at least one candidate head.
    pub candidates: u64,
    /// Words whose gold head is the nearest candidate on its side.
    pub nearest: u64,
}

impl RuleStatistics {
    /// Returns the share of gold arcs, or `None` if its denominator is 0.
    pub fn target(&self, counting: Counting) -> Option<f64> {
        let units = match counting {
            Counting::Pairs => self.pairs,
            Counting::Words => self.words,
            Counting::Nearest => self.candidates,
        };
        (units > 0).then(|| self.arcs as f64 / units as f64)
    }
}

impl RuleSet {
    /// Counts the matches of each rule in a treebank.
    ///
    /// ```
    /// use tutte_rules::RuleSet;
    /// use tutte_treebank::Sentence;
    ///
    /// let sentence: Sentence = "\
    /// 1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
    /// 2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
    /// 3\tcats\tcat\tNOUN\t_\t_\t2\tobj\t_\t_
    /// ".parse()?;
    /// let rules = RuleSet::parse("rules.tut", "subj: NOUN <- VERB as nsubj 50% of words")?;
    /// let statistics = rules.statistics([&sentence]);
    /// assert_eq!((statistics[0].arcs, statistics[0].pairs), (1, 2));
    /// assert_eq!(statistics[0].target(rules.rules()[0].counting), Some(0.5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn statistics<'a>(
        &self,
        treebank: impl IntoIterator<Item = &'a Sentence>,
    ) -> Vec<RuleStatistics> {
        let mut statistics = vec![RuleStatistics::default(); self.len()];
        for sentence in treebank {
            let results = self.test_results(sentence);
            for ((rule, predicate), statistics) in self.predicates().zip(&mut statistics) {
                for &modifier in results.dependents(predicate) {
                    let Some((gold, label)) = gold_arc(sentence, modifier) else { continue };
                    let has_label = allows_label(rule, label);
                    let mut pairs = 0;
                    let mut is_arc = false;
                    results.heads(predicate, modifier, predicate.is_nearest, |head| {
                        pairs += 1;
                        is_arc |= head == gold && has_label;
                    });
                    let mut is_nearest = false;
                    results.heads(predicate, modifier, true, |head| {
                        is_nearest |= head == gold && has_label;
                    });
                    statistics.words += 1;
                    statistics.pairs += pairs;
                    statistics.candidates += u64::from(pairs > 0);
                    statistics.arcs += u64::from(is_arc);
                    statistics.nearest += u64::from(is_nearest);
                }
            }
        }
        statistics
    }
}

/// Returns the gold head and label of a word.
fn gold_arc(sentence: &Sentence, word: usize) -> Option<(usize, &str)> {
    let token = sentence.word(word)?;
    Some((token.head()?, token.deprel()))
}

fn allows_label(rule: &Rule, label: &str) -> bool {
    rule.as_label.as_ref().is_none_or(|required| required == label)
}
