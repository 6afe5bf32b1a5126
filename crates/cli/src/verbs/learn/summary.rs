//! What is said at the end: what became of each rule, and how good the parser is.

use anyhow::Result;
use serde::Serialize;
use tutte::rules::Rules;
use tutte::signal::expectation::Wanted;
use tutte::weak::{Evidence, Learnt, Options};
use tutte_treebank::Sentence;
use tutte_trees::TreeDistribution;

use crate::report::{Align, Table, count, counted, rounded};

/// What was made.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    pub(super) model: String,
    pub(super) sentences: usize,
    pub(super) words: usize,
    pub(super) too_long: usize,
    pub(super) without_tree: usize,
    pub(super) trees: usize,
    pub(super) tree_set: String,
    pub(super) steps: usize,
    pub(super) objective: f64,
    pub(super) dev: Option<Judged>,
    pub(super) rules: Vec<RuleLine>,
    pub(super) seconds: f64,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Judged {
    pub(super) words: usize,
    pub(super) uas: f64,
    /// Of the rules' targets alone, taken for scores.
    pub(super) baseline: Option<f64>,
}

/// What became of a rule.
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

impl Summary {
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
        let (sentences, words) = (counted(self.sentences, "sentence"), counted(self.words, "word"));
        let left = |number: usize, why: &str| match number {
            0 => String::new(),
            _ => format!("; {} {why}", count(number)),
        };
        let (long, treeless) = (
            left(self.too_long, "longer ones left out"),
            left(self.without_tree, "that laws leave without a tree"),
        );
        row(
            "learnt from",
            format!("{sentences}, {words}, {}{long}{treeless}", counted(self.trees, "tree")),
        );
        row("trees", self.tree_set.clone());
        row("steps", format!("{}, objective {:.4}", self.steps, self.objective));
        if let Some(dev) = self.dev {
            let baseline = dev.baseline.map(|uas| format!(", rules alone {:.2}", 100.0 * uas));
            let baseline = baseline.unwrap_or_default();
            let (uas, words) = (100.0 * dev.uas, counted(dev.words, "word"));
            row("dev", format!("UAS {uas:.2} on {words}{baseline}"));
        }
        text + &table.text(0)
    }
}

pub(super) fn lines(rules: &Rules, evidence: &Evidence<'_>, learnt: &Learnt) -> Vec<RuleLine> {
    let shares = learnt.before.iter().zip(&learnt.after.expectations);
    let all = rules.rules().iter().zip(&evidence.constraints).zip(shares);
    all.map(|((rule, constraint), (before, after))| RuleLine {
        name: rule.name.clone(),
        line: rule.line,
        units: constraint.of,
        low: constraint.wanted.low,
        high: constraint.wanted.high,
        before: rounded(*before),
        after: rounded(*after),
        residual: rounded(constraint.wanted.residual(*after)),
    })
    .collect()
}

/// How many heads the rules get right by themselves, each target a score.
pub(super) fn baseline(rules: &Rules, dev: &[Sentence], options: &Options) -> Result<usize> {
    let mut right = 0;
    for sentence in dev {
        let scores = rules.baseline_scores(sentence);
        let trees = TreeDistribution::new(scores, options.tree_set)?;
        let best = trees.argmax();
        let gold = sentence.partial_heads();
        right += best.tree.heads().iter().zip(gold).filter(|(a, b)| *b == Some(**a)).count();
    }
    Ok(right)
}

/// A target as people write it.
pub(super) fn wanted(Wanted { low, high, .. }: Wanted) -> String {
    match low == high {
        true => format!("{low:.2}"),
        false => format!("{low:.2}–{high:.2}"),
    }
}
