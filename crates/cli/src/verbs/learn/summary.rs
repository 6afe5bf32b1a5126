//! The result of learning: the fit of each rule, and the accuracy of the parser.

use std::fmt;
use std::time::Duration;

use anyhow::Result;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use tutte::learn::objective::expectation::Wanted;
use tutte::rules::RuleSet;
use tutte::weak::{WeakData, WeakOptions, WeakOutcome};
use tutte::{Compact, Decoding, Error, ParserModel, parse_stream};
use tutte_treebank::Sentence;
use tutte_trees::TreeDistribution;

use crate::numbers::clock;
use crate::report::{Align, Table, count, counted, rounded};

/// The result of learning.
#[derive(Debug, Serialize)]
pub(super) struct LearnSummary {
    pub(super) model: String,
    pub(super) sentences: usize,
    pub(super) words: usize,
    pub(super) too_long: usize,
    pub(super) without_tree: usize,
    pub(super) trees: usize,
    pub(super) tree_set: String,
    pub(super) steps: usize,
    pub(super) objective: f64,
    pub(super) dev: Option<DevAccuracy>,
    pub(super) rules: Vec<RuleLine>,
    pub(super) seconds: f64,
}

/// Accuracy on dev.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct DevAccuracy {
    #[serde(flatten)]
    pub(super) model: Accuracy,
    /// Accuracy of the rules alone, with their targets as scores.
    pub(super) rules_alone: Option<Accuracy>,
}

/// Counts for directed and undirected accuracy. Rules that link the right words in the wrong direction have a high
/// undirected accuracy.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Accuracy {
    /// Number of words with a gold head.
    words: usize,
    /// Number of words with the right head.
    heads: usize,
    /// Number of words with an arc, in either direction, that the gold tree has.
    links: usize,
}

/// The fit of a rule.
#[derive(Debug, Serialize)]
pub(super) struct RuleLine {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) units: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) before: f64,
    pub(super) after: f64,
    pub(super) residual: f64,
}

impl LearnSummary {
    /// Returns the mean distance from the target, over rules that match an arc.
    pub(super) fn misses(&self) -> f64 {
        let matched = || self.rules.iter().filter(|rule| rule.units > 0.0);
        matched().map(|rule| rule.residual).sum::<f64>() / matched().count().max(1) as f64
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        if !self.rules.is_empty() {
            let mut table = Table::new([
                ("rule", Align::Left),
                ("of", Align::Right),
                ("target", Align::Right),
                ("before", Align::Right),
                ("after", Align::Right),
                ("off by", Align::Right),
            ]);
            for rule in &self.rules {
                let target = wanted(Wanted { low: rule.low, high: rule.high, weight: 1.0 });
                let share = |share: f64| format!("{share:.2}");
                let off = if rule.residual < 0.005 { String::new() } else { share(rule.residual) };
                let row = [rule.name.clone(), count(rule.units as usize), target];
                table.row(row.into_iter().chain([share(rule.before), share(rule.after), off]));
            }
            text += &table.text(0);
            text.push('\n');
        }
        let mut table = Table::new([("", Align::Left), ("", Align::Left)]);
        let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
        row("model", self.model.clone());
        let sentences = counted(self.sentences, "sentence");
        let words = counted(self.words, "word");
        let left = |number: usize, why: &str| match number {
            0 => String::new(),
            _ => format!("; {} {why}", count(number)),
        };
        let long = left(self.too_long, "longer ones left out");
        let treeless = left(self.without_tree, "without a possible tree skipped");
        row(
            "trained on",
            format!("{sentences}, {words}, {}{long}{treeless}", counted(self.trees, "tree")),
        );
        row("trees", self.tree_set.clone());
        let time = clock(Duration::from_secs_f64(self.seconds));
        row("steps", format!("{}, objective {:.4}, in {time}", self.steps, self.objective));
        if let Some(dev) = self.dev {
            row("dev", format!("{} on {}", dev.model, counted(dev.model.words, "word")));
            if let Some(rules) = dev.rules_alone {
                row("rules alone", rules.to_string());
            }
        }
        text + &table.text(0)
    }
}

/// Returns the fit of all rules. `matched` has `true` for each rule that matches an arc.
pub(super) fn lines(
    rules: &RuleSet,
    evidence: &WeakData<'_>,
    matched: &[bool],
    learnt: &WeakOutcome,
) -> Vec<RuleLine> {
    let shares = learnt.before.iter().zip(&learnt.after.expectations);
    let all = rules.rules().iter().zip(matched).zip(&evidence.constraints).zip(shares);
    all.map(|(((rule, matched), constraint), (before, after))| RuleLine {
        name: rule.name.clone(),
        line: rule.line,
        units: if *matched { constraint.of } else { 0.0 },
        low: constraint.wanted.low,
        high: constraint.wanted.high,
        before: rounded(*before),
        after: rounded(*after),
        residual: rounded(constraint.wanted.residual(*after)),
    })
    .collect()
}

impl Accuracy {
    /// Returns the accuracy of a model.
    pub(super) fn of_model(
        model: &ParserModel<Compact>,
        dev: &[Sentence],
        threads: usize,
    ) -> Result<Self> {
        let mut next = dev.iter();
        let mut gold = dev.iter();
        let mut sum = Self::default();
        let read = |sentence: &mut Sentence| {
            let found = next.next();
            found.inspect(|found| sentence.clone_from(found));
            Ok(found.is_some())
        };
        let compare = |parsed: &Sentence| {
            let heads: Vec<_> = parsed.partial_heads().collect();
            gold.next().inspect(|gold| sum.add(gold, &heads));
            Ok(())
        };
        parse_stream::<_, Error>(model, Decoding::Mbr, threads, read, compare)?;
        Ok(sum)
    }

    /// Returns the accuracy of rules alone, with their targets as scores.
    pub(super) fn of_rules(
        rules: &RuleSet,
        dev: &[Sentence],
        options: &WeakOptions,
    ) -> Result<Self> {
        let mut sum = Self::default();
        for sentence in dev {
            let scores = rules.baseline_scores(sentence);
            let trees = TreeDistribution::new(scores, options.tree_set)?;
            let best = trees.argmax();
            let heads: Vec<_> = best.tree.heads().iter().copied().map(Some).collect();
            sum.add(sentence, &heads);
        }
        Ok(sum)
    }

    fn add(&mut self, gold: &Sentence, heads: &[Option<usize>]) {
        let gold: Vec<_> = gold.partial_heads().collect();
        for (word, (known, head)) in (1..).zip(gold.iter().zip(heads)) {
            if known.is_none() {
                continue;
            }
            let of_head = head.and_then(|head| head.checked_sub(1)).and_then(|at| gold[at]);
            self.words += 1;
            self.heads += usize::from(known == head);
            self.links += usize::from(known == head || of_head == Some(word));
        }
    }

    fn uas(self) -> f64 {
        self.heads as f64 / self.words.max(1) as f64
    }

    fn undirected(self) -> f64 {
        self.links as f64 / self.words.max(1) as f64
    }
}

impl fmt::Display for Accuracy {
    /// `UAS 66.51, undirected 72.93`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let uas = 100.0 * self.uas();
        let undirected = 100.0 * self.undirected();
        write!(f, "UAS {uas:.2}, undirected {undirected:.2}")
    }
}

impl Serialize for Accuracy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Accuracy", 3)?;
        fields.serialize_field("words", &self.words)?;
        fields.serialize_field("uas", &rounded(self.uas()))?;
        fields.serialize_field("undirected", &rounded(self.undirected()))?;
        fields.end()
    }
}

/// Formats a target.
pub(super) fn wanted(Wanted { low, high, .. }: Wanted) -> String {
    if low == high { format!("{low:.2}") } else { format!("{low:.2}–{high:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_the_wrong_way_round_is_a_link_of_both_words() {
        // The tree is the ← cat → sleeps; the head of "cat" is not known.
        let line = |number, head| format!("{number}\tw\t_\tX\t_\t_\t{head}\t_\t_\t_\n");
        let gold: Sentence =
            [line(1, "2"), line(2, "_"), line(3, "2"), line(4, "0")].concat().parse().unwrap();
        let mut sum = Accuracy::default();
        sum.add(&gold, &[Some(2), Some(3), Some(1), Some(3)]);
        assert_eq!((sum.words, sum.heads, sum.links), (3, 1, 1));
        sum = Accuracy::default();
        let chain: Sentence = [line(1, "2"), line(2, "3"), line(3, "0")].concat().parse().unwrap();
        // 1 → 2 → 3, where 3 → 2 → 1 is right: both links are there, and the root is not.
        sum.add(&chain, &[Some(0), Some(1), Some(2)]);
        assert_eq!((sum.words, sum.heads, sum.links), (3, 0, 2));
        assert_eq!(sum.to_string(), "UAS 0.00, undirected 66.67");
    }
}
