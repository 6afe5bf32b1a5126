//! What rules find in raw text: how much of it they cover, which arcs they share, and which tags they name
//! that are not there.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tutte_treebank::Sentence;

use super::{Attribute, Condition, Head, Rules, Test, Value};

/// What rules find in a text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Coverage {
    /// Sentences looked at.
    pub sentences: u64,
    /// Their words.
    pub words: u64,
    /// Words that are the dependent of an arc which some rule matches that wants some of them.
    pub covered: u64,
    /// By rule.
    pub rules: Vec<RuleCoverage>,
    /// Pairs of rules that match the same arcs, those with most arcs first.
    pub overlaps: Vec<Overlap>,
    /// Tags and features that rules name and no word has, in the order of the rules.
    pub unknown: Vec<Unknown>,
}

/// What one rule finds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RuleCoverage {
    /// Words that match its left side.
    pub words: u64,
    /// Those with at least one candidate.
    pub candidates: u64,
    /// Arcs that match.
    pub pairs: u64,
}

/// Two rules that match the same arcs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Overlap {
    /// The rules, by number, the smaller one first.
    pub rules: [usize; 2],
    /// How many arcs both match.
    pub arcs: u64,
}

/// A tag or feature that no word has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// The rule, by number.
    pub rule: usize,
    /// UPOS, XPOS or FEATS.
    pub column: &'static str,
    /// What the rule says, such as `NOUM` or `Case=Lok`.
    pub found: String,
    /// What words do have that is most like it, if anything is.
    pub like: Option<String>,
}

/// Looks at a text, sentence by sentence.
///
/// ```
/// use tutte_rules::{Rules, Survey};
/// use tutte_treebank::Sentence;
///
/// let rules = Rules::parse("rules.tut", "det: DET <- nearest NOUM 90%")?;
/// let sentence: Sentence = "\
/// 1\tthe\tthe\tDET\t_\t_\t_\t_\t_\t_
/// 2\tcat\tcat\tNOUN\t_\t_\t_\t_\t_\t_
/// ".parse()?;
/// let mut survey = Survey::new(&rules);
/// survey.add(&sentence);
/// let coverage = survey.finish();
/// assert_eq!((coverage.words, coverage.covered, coverage.rules[0].words), (2, 0, 1));
/// assert_eq!(coverage.unknown[0].like.as_deref(), Some("NOUN"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Survey<'a> {
    rules: &'a Rules,
    sentences: u64,
    words: u64,
    covered: u64,
    found: Vec<RuleCoverage>,
    shared: BTreeMap<[u32; 2], u64>,
    /// By column: what words have there.
    seen: BTreeMap<&'static str, BTreeSet<String>>,
}

impl<'a> Survey<'a> {
    /// Nothing seen yet.
    pub fn new(rules: &'a Rules) -> Self {
        let found = vec![RuleCoverage::default(); rules.len()];
        let (shared, seen) = (BTreeMap::new(), BTreeMap::new());
        Self { rules, sentences: 0, words: 0, covered: 0, found, shared, seen }
    }

    /// Looks at a sentence. What it costs is what [`Rules::matches`] does, and for each arc the square of the
    /// number of rules that match it.
    pub fn add(&mut self, sentence: &Sentence) {
        self.sentences += 1;
        self.words += sentence.len() as u64;
        for word in sentence.words() {
            self.see("UPOS", word.upos());
            self.see("XPOS", word.xpos());
            for (name, values) in word.features() {
                for value in values.split(',').chain([values]) {
                    self.see("FEATS", &feature(name, value));
                }
            }
        }
        let answers = self.rules.answers(sentence);
        for ((_, predicate), found) in self.rules.predicates().zip(&mut self.found) {
            for &modifier in answers.dependents(predicate) {
                let mut pairs = 0;
                answers.heads(predicate, modifier, predicate.nearest, |_| pairs += 1);
                found.words += 1;
                found.candidates += u64::from(pairs > 0);
                found.pairs += pairs;
            }
        }
        let arcs = self.rules.matches(sentence).arcs;
        // What a word must not be attached to says little of what it is attached to.
        let wanted = |rule: u32| self.rules.rules()[rule as usize].target.wants_some();
        let covered: BTreeSet<u32> =
            arcs.iter().filter(|arc| wanted(arc.2)).map(|&(_, modifier, _)| modifier).collect();
        self.covered += covered.len() as u64;
        for same in arcs.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            for (at, &(_, _, first)) in same.iter().enumerate() {
                for &(_, _, second) in &same[at + 1..] {
                    *self.shared.entry([first, second]).or_default() += 1;
                }
            }
        }
    }

    /// Says what was found.
    pub fn finish(self) -> Coverage {
        let mut overlaps: Vec<Overlap> = (self.shared.iter())
            .map(|(&[first, second], &arcs)| Overlap {
                rules: [first as usize, second as usize],
                arcs,
            })
            .collect();
        overlaps.sort_by_key(|overlap| std::cmp::Reverse(overlap.arcs));
        let unknown = self.unknown();
        Coverage {
            sentences: self.sentences,
            words: self.words,
            covered: self.covered,
            rules: self.found,
            overlaps,
            unknown,
        }
    }

    fn see(&mut self, column: &'static str, value: &str) {
        let seen = self.seen.entry(column).or_default();
        if !seen.contains(value) {
            seen.insert(value.to_owned());
        }
    }

    fn unknown(&self) -> Vec<Unknown> {
        let mut unknown = Vec::new();
        for (rule, said) in self.rules.rules().iter().enumerate() {
            let mut tests: Vec<&Test> = vec![&said.dependent];
            if let Head::Word(test) = &said.head {
                tests.push(test);
            }
            tests.extend(said.place.between.iter().map(|between| &between.test));
            tests.extend(said.place.beside.iter().map(|(_, test)| test));
            let alternatives = tests.iter().flat_map(|test| &test.alternatives);
            for Condition { attribute, value } in alternatives.flat_map(|one| &one.conditions) {
                let Value::Is(value) = value else { continue };
                let (column, found) = match attribute {
                    Attribute::Upos => ("UPOS", value.clone()),
                    Attribute::Xpos => ("XPOS", value.clone()),
                    Attribute::Feature(name) => ("FEATS", feature(name, value)),
                    // Any text has few of the words of a language.
                    Attribute::Lemma | Attribute::Form => continue,
                };
                let seen = self.seen.get(column);
                if seen.is_some_and(|seen| seen.contains(&found)) {
                    continue;
                }
                let like = seen.and_then(|seen| most_alike(&found, seen.iter().map(|one| &**one)));
                let like = like.map(str::to_owned);
                let one = Unknown { rule, column, found, like };
                if !unknown.contains(&one) {
                    unknown.push(one);
                }
            }
        }
        unknown
    }
}

fn feature(name: &str, value: &str) -> String {
    format!("{name}={value}")
}

/// The text with the fewest changes to another, if those are no more than two and fewer than half its letters.
pub(super) fn most_alike<'a>(text: &str, others: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = 2.min(text.chars().count().saturating_sub(1) / 2);
    others
        .map(|other| (changes(text, other), other))
        .min()
        .filter(|(changes, _)| *changes <= limit)
        .map(|(_, other)| other)
}

/// The number of letters to insert, delete or replace (Levenshtein 1965); capitals are no change.
fn changes(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().flat_map(char::to_lowercase).collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for c in from.chars().flat_map(char::to_lowercase) {
        let mut diagonal = row[0];
        row[0] += 1;
        for (at, &d) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(c != d);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}
