//! Suspicious arcs, and patterns among them.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use tutte_treebank::{Sentence, Token};

use super::{Audit, AuditedArc, OtherArc};

/// An arc that is improbable under a model trained without it, and the most probable other arc.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Number of the sentence in the treebank, from 0.
    pub sentence: usize,
    /// The word, from 1.
    pub word: usize,
    /// P(head, label) of the arc.
    pub prob: f64,
    /// [Suspicion](Audit::suspicion), in nats.
    pub suspicion: f64,
    /// Head of the most probable other arc; it may be the same head.
    pub other_head: usize,
    /// Label of the other arc; `_` if labels are not audited.
    pub other_label: String,
    /// P(head, label) of the other arc.
    pub other_prob: f64,
    /// The pattern of tags and labels.
    pub pattern: Pattern,
}

/// A pattern of findings: the tags of word and head, the label, and the other head and label. It is written as
/// `NOUN ← VERB obl → NOUN nmod`, or as `NOUN ← VERB obl → obj` if the head is the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pattern {
    /// Tag of the word (UPOS; in CoNLL-X the coarse tag).
    pub word: String,
    /// Tag of the head; `ROOT` for the root.
    pub head: String,
    /// The label.
    pub label: String,
    /// Tag of the other head, if the head differs.
    pub other_head: Option<String>,
    /// The other label; `_` if labels are not audited.
    pub other_label: String,
}

/// A pattern and its frequency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternCount {
    /// The pattern.
    pub pattern: Pattern,
    /// Number of findings with this pattern.
    pub finds: usize,
    /// Number of arcs of the treebank with these tags and this label, suspicious or not.
    pub arcs: usize,
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { word, head, label, other_head, other_label } = self;
        write!(f, "{word} ← {head} {label} →")?;
        if let Some(tag) = other_head {
            write!(f, " {tag}")?;
        }
        match other_label.as_str() {
            "_" => Ok(()),
            label => write!(f, " {label}"),
        }
    }
}

/// Returns the tag of a head.
fn tag(sentence: &Sentence, head: usize) -> &str {
    sentence.word(head).map_or("ROOT", Token::upos)
}

impl Audit<'_> {
    /// Returns the arcs whose probability is below a threshold, the most [suspicious](Audit::suspicion) first.
    pub fn findings(&self, below: f64) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (number, sentence) in self.treebank().iter().enumerate() {
            for (token, arc) in sentence.words().zip(self.arcs(number)) {
                let Some(other) = arc.other.filter(|_| arc.prob() < below) else { continue };
                findings.push(self.finding(number, token, arc, other));
            }
        }
        findings.sort_by(Finding::order);
        findings
    }

    fn finding(
        &self,
        number: usize,
        token: Token<'_>,
        arc: &AuditedArc,
        other: OtherArc,
    ) -> Finding {
        let sentence = &self.treebank()[number];
        let head = token.head().unwrap_or(0);
        let label = self.labels().get(other.label).filter(|_| self.has_labels());
        let label = label.map_or("_", String::as_str);
        Finding {
            sentence: number,
            word: token.id().word().unwrap_or(0),
            prob: arc.prob(),
            suspicion: self.suspicion(arc, token.deprel()),
            other_head: other.head,
            other_label: label.to_owned(),
            other_prob: other.prob,
            pattern: Pattern {
                word: token.upos().to_owned(),
                head: tag(sentence, head).to_owned(),
                label: token.deprel().to_owned(),
                other_head: (other.head != head).then(|| tag(sentence, other.head).to_owned()),
                other_label: label.to_owned(),
            },
        }
    }

    /// Returns the patterns of findings, the most frequent first.
    pub fn patterns<'f>(
        &self,
        findings: impl IntoIterator<Item = &'f Finding>,
    ) -> Vec<PatternCount> {
        let mut arcs: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
        for sentence in self.treebank() {
            for word in sentence.words() {
                let head = tag(sentence, word.head().unwrap_or(0));
                *arcs.entry((word.upos(), head, word.deprel())).or_default() += 1;
            }
        }
        let mut finds: BTreeMap<&Pattern, usize> = BTreeMap::new();
        for finding in findings {
            *finds.entry(&finding.pattern).or_default() += 1;
        }
        let count = |(pattern, finds): (&Pattern, usize)| {
            let key = (pattern.word.as_str(), pattern.head.as_str(), pattern.label.as_str());
            let arcs = arcs.get(&key).copied().unwrap_or(finds);
            PatternCount { pattern: pattern.clone(), finds, arcs }
        };
        let mut counts: Vec<PatternCount> = finds.into_iter().map(count).collect();
        // The sort is stable: patterns of equal frequency stay in their own order.
        counts.sort_by_key(|count| std::cmp::Reverse(count.finds));
        counts
    }
}

impl Finding {
    /// Orders findings by decreasing suspicion.
    fn order(&self, other: &Self) -> Ordering {
        let place = |finding: &Self| (finding.sentence, finding.word);
        other.suspicion.total_cmp(&self.suspicion).then_with(|| place(self).cmp(&place(other)))
    }
}
