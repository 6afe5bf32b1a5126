//! Survey of raw text: words that rules cover, arcs that rules share, and tags in rules that the text lacks.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tutte_treebank::Sentence;

use crate::condition::{Attribute, Condition, Test, Value};
use crate::rule::Head;
use crate::rule_set::RuleSet;
use crate::spelling;

/// Coverage of a text by rules.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Coverage {
    /// Number of sentences.
    pub sentences: u64,
    /// Number of words.
    pub words: u64,
    /// Number of words with a candidate head by a rule whose target [requires some
    /// arcs](crate::Target::wants_some).
    pub covered: u64,
    /// Coverage of each rule.
    pub rules: Vec<RuleCoverage>,
    /// Pairs of rules that match the same arcs, sorted by the number of arcs, largest first.
    pub overlaps: Vec<Overlap>,
    /// Tags and features that occur in rules but not in the text, in the order of the rules.
    pub unknown: Vec<Unknown>,
}

/// Coverage of a text by one rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RuleCoverage {
    /// Words that pass the dependent's test.
    pub words: u64,
    /// Words that also have at least one candidate head.
    pub candidates: u64,
    /// Candidate arcs that match.
    pub pairs: u64,
}

/// Two rules that match the same arcs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Overlap {
    /// Indices of the two rules, the smaller one first.
    pub rules: [usize; 2],
    /// Number of arcs that both match.
    pub arcs: u64,
}

/// A tag or feature of a rule that no word of the text has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// Index of the rule.
    pub rule: usize,
    /// UPOS, XPOS or FEATS.
    pub column: &'static str,
    /// The tag or feature, such as `NOUM` or `Case=Lok`.
    pub found: String,
    /// The closest tag or feature of the text, if any is close.
    pub like: Option<String>,
}

/// Computes the [`Coverage`] of a text, sentence by sentence.
///
/// ```
/// use tutte_rules::{RuleSet, Survey};
/// use tutte_treebank::Sentence;
///
/// let rules = RuleSet::parse("rules.tut", "det: DET <- nearest NOUM 90%")?;
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
    rules: &'a RuleSet,
    sentences: u64,
    words: u64,
    covered: u64,
    by_rule: Vec<RuleCoverage>,
    /// By pair of rules: the arcs that both match.
    shared_arcs: BTreeMap<[u32; 2], u64>,
    /// By column: the values in the text.
    values: BTreeMap<&'static str, BTreeSet<String>>,
}

impl<'a> Survey<'a> {
    /// Starts a survey.
    pub fn new(rules: &'a RuleSet) -> Self {
        Self {
            rules,
            sentences: 0,
            words: 0,
            covered: 0,
            by_rule: vec![RuleCoverage::default(); rules.len()],
            shared_arcs: BTreeMap::new(),
            values: BTreeMap::new(),
        }
    }

    /// Adds a sentence.
    ///
    /// Costs as much as [`RuleSet::matches`], and for each arc the square of the number of rules that match it.
    pub fn add(&mut self, sentence: &Sentence) {
        self.sentences += 1;
        self.words += sentence.len() as u64;
        for word in sentence.words() {
            self.add_value("UPOS", word.upos());
            self.add_value("XPOS", word.xpos());
            for (name, values) in word.features() {
                for value in values.split(',').chain([values]) {
                    self.add_value("FEATS", &feature(name, value));
                }
            }
        }
        let results = self.rules.test_results(sentence);
        for ((_, predicate), coverage) in self.rules.predicates().zip(&mut self.by_rule) {
            for &modifier in results.dependents(predicate) {
                let mut pairs = 0;
                results.heads(predicate, modifier, predicate.is_nearest, |_| pairs += 1);
                coverage.words += 1;
                coverage.candidates += u64::from(pairs > 0);
                coverage.pairs += pairs;
            }
        }
        let arcs = self.rules.matches(sentence).arcs;
        // A rule that only forbids heads says little about the right one.
        let wants_some = |rule: u32| self.rules.rules()[rule as usize].target.wants_some();
        let covered: BTreeSet<u32> =
            arcs.iter().filter(|arc| wants_some(arc.2)).map(|&(_, modifier, _)| modifier).collect();
        self.covered += covered.len() as u64;
        for same in arcs.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            for (at, &(_, _, first)) in same.iter().enumerate() {
                for &(_, _, second) in &same[at + 1..] {
                    *self.shared_arcs.entry([first, second]).or_default() += 1;
                }
            }
        }
    }

    /// Returns the coverage of all added sentences.
    pub fn finish(self) -> Coverage {
        let mut overlaps: Vec<Overlap> = (self.shared_arcs.iter())
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
            rules: self.by_rule,
            overlaps,
            unknown,
        }
    }

    fn add_value(&mut self, column: &'static str, value: &str) {
        let values = self.values.entry(column).or_default();
        if !values.contains(value) {
            values.insert(value.to_owned());
        }
    }

    fn unknown(&self) -> Vec<Unknown> {
        let mut unknown = Vec::new();
        for (number, rule) in self.rules.rules().iter().enumerate() {
            let mut tests: Vec<&Test> = vec![&rule.dependent];
            if let Head::Word(test) = &rule.head {
                tests.push(test);
            }
            tests.extend(rule.place.between.iter().map(|between| &between.test));
            tests.extend(rule.place.beside.iter().map(|(_, test)| test));
            let alternatives = tests.iter().flat_map(|test| &test.alternatives);
            for Condition { attribute, value } in alternatives.flat_map(|one| &one.conditions) {
                let Value::Is(value) = value else { continue };
                let (column, found) = match attribute {
                    Attribute::Upos => ("UPOS", value.clone()),
                    Attribute::Xpos => ("XPOS", value.clone()),
                    Attribute::Feature(name) => ("FEATS", feature(name, value)),
                    // A text has only a few of the words of a language.
                    Attribute::Lemma | Attribute::Form => continue,
                };
                let values = self.values.get(column);
                if values.is_some_and(|values| values.contains(&found)) {
                    continue;
                }
                let like = values
                    .and_then(|values| spelling::closest(&found, values.iter().map(|one| &**one)))
                    .map(str::to_owned);
                let one = Unknown { rule: number, column, found, like };
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
