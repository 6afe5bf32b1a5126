//! Arcs by how suspicious they are, and what they have in common.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use tutte_treebank::{Sentence, Token};

use super::{Audit, Judged, Rather};

/// An arc that surprised a model which had not seen it, and what that would rather have.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The sentence, by its number in the treebank, from 0.
    pub sentence: usize,
    /// The word, from 1.
    pub word: usize,
    /// P(head, label) of its arc.
    pub prob: f64,
    /// How [suspicious](Audit::suspicion) it is, in nats.
    pub suspicion: f64,
    /// The head that the model would rather have; it may be the same.
    pub rather_head: usize,
    /// The label that goes with it; `_` if labels are not judged.
    pub rather_label: String,
    /// P(head, label) of these.
    pub rather_prob: f64,
    /// What kind of find this is.
    pub pattern: Pattern,
}

/// What finds have in common: the tags of word and head, the label, and what they would become,
/// `NOUN ← VERB obl → NOUN nmod`, or `NOUN ← VERB obl → obj` if the head stays.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pattern {
    /// The word's tag (UPOS; in CoNLL-X the coarse one).
    pub word: String,
    /// The tag of its head, `ROOT` for none.
    pub head: String,
    /// Its label.
    pub label: String,
    /// The tag of the other head, if it is another one.
    pub rather_head: Option<String>,
    /// The other label; `_` if labels are not judged.
    pub rather_label: String,
}

/// A pattern and how often it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternCount {
    /// The pattern.
    pub pattern: Pattern,
    /// Finds of it.
    pub finds: usize,
    /// All arcs of the treebank with these tags and this label, suspicious or not.
    pub arcs: usize,
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { word, head, label, rather_head, rather_label } = self;
        write!(f, "{word} ← {head} {label} →")?;
        if let Some(tag) = rather_head {
            write!(f, " {tag}")?;
        }
        match rather_label.as_str() {
            "_" => Ok(()),
            label => write!(f, " {label}"),
        }
    }
}

/// The tag of a head.
fn tag(sentence: &Sentence, head: usize) -> &str {
    sentence.word(head).map_or("ROOT", Token::upos)
}

impl Audit<'_> {
    /// The arcs whose probability is below a threshold, the most [suspicious](Audit::suspicion) first.
    pub fn findings(&self, below: f64) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (number, sentence) in self.treebank().iter().enumerate() {
            for (token, judged) in sentence.words().zip(self.judged(number)) {
                let Some(rather) = judged.rather.filter(|_| judged.prob() < below) else {
                    continue;
                };
                findings.push(self.finding(number, token, judged, rather));
            }
        }
        findings.sort_by(Finding::order);
        findings
    }

    fn finding(&self, number: usize, token: Token<'_>, judged: &Judged, rather: Rather) -> Finding {
        let sentence = &self.treebank()[number];
        let head = token.head().unwrap_or(0);
        let label = match self.judges_labels() {
            true => self.labels().get(rather.label).map_or("_", String::as_str),
            false => "_",
        };
        Finding {
            sentence: number,
            word: token.id().word().unwrap_or(0),
            prob: judged.prob(),
            suspicion: self.suspicion(judged, token.deprel()),
            rather_head: rather.head,
            rather_label: label.to_owned(),
            rather_prob: rather.prob,
            pattern: Pattern {
                word: token.upos().to_owned(),
                head: tag(sentence, head).to_owned(),
                label: token.deprel().to_owned(),
                rather_head: (rather.head != head).then(|| tag(sentence, rather.head).to_owned()),
                rather_label: label.to_owned(),
            },
        }
    }

    /// The patterns of findings, the most frequent first.
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
        // Stable: patterns that are as frequent stay in their own order.
        counts.sort_by_key(|count| std::cmp::Reverse(count.finds));
        counts
    }
}

impl Finding {
    /// What is more suspicious comes first.
    fn order(&self, other: &Self) -> Ordering {
        let place = |finding: &Self| (finding.sentence, finding.word);
        other.suspicion.total_cmp(&self.suspicion).then_with(|| place(self).cmp(&place(other)))
    }
}
