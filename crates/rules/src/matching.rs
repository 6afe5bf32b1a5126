//! Matching: the arcs of a sentence that satisfy the predicates of rules.
//!
//! The distinct tests of all rules form one list. Each test runs once on each word, which gives
//! k(i) = number of words among 1…i that pass it. Then
//!
//! - word i passes if k(i) − k(i−1) = 1,
//! - k(j−1) − k(i) words strictly between i < j pass,
//! - the nearest word that passes is found by bisection.
//!
//! So a rule costs O(|dependents| · |heads|) ≤ O(n²), and a `nearest` rule O(|dependents| log n).

use std::collections::HashMap;

use tutte_treebank::Sentence;

use crate::condition::{CompiledTest, Test, regex_reason};
use crate::error::Problem;
use crate::rule::{Counting, Direction, Distance, Head, Neighbour, Rule};

/// The arcs of a sentence that match rules, and the sentence's part of each denominator c_q.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matches {
    /// `(head, modifier, rule)`, sorted; head 0 is the root.
    pub arcs: Vec<(u32, u32, u32)>,
    /// By rule: the number of pairs, words, or words with a candidate, depending on its [`Counting`].
    pub units: Vec<f64>,
}

/// The distinct tests of rules, and the rules with tests replaced by their indices.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    tests: Vec<CompiledTest>,
    predicates: Vec<Predicate>,
}

/// The predicate of a rule, with indices of tests.
#[derive(Clone, Debug)]
pub(crate) struct Predicate {
    dependent: usize,
    /// `None` for the root.
    head: Option<usize>,
    pub(crate) is_nearest: bool,
    direction: Direction,
    distance: Option<Distance>,
    /// `(some, test)` as in [`Between`](crate::Between).
    between: Vec<(bool, usize)>,
    beside: Vec<(Neighbour, usize)>,
}

/// Results of all tests on the words of a sentence.
pub(crate) struct TestResults {
    words: usize,
    /// By test: the words that pass it.
    passing: Vec<Vec<usize>>,
    /// By test: k(0), k(1), …, k(n).
    counts: Vec<Vec<u32>>,
}

impl Compiled {
    pub(crate) fn new(rules: &[Rule]) -> Result<Self, Problem> {
        let mut numbers = HashMap::new();
        let mut tests = Vec::new();
        let mut predicates = Vec::with_capacity(rules.len());
        for rule in rules {
            let mut number = |test: &Test| -> Result<usize, Problem> {
                if let Some(&number) = numbers.get(test) {
                    return Ok(number);
                }
                tests.push(CompiledTest::new(test).map_err(|error| Problem {
                    line: rule.line,
                    column: 1,
                    message: format!("invalid regular expression: {}", regex_reason(&error)),
                })?);
                numbers.insert(test.clone(), tests.len() - 1);
                Ok(tests.len() - 1)
            };
            let place = &rule.place;
            let between =
                place.between.iter().map(|between| Ok((between.some, number(&between.test)?)));
            let between = between.collect::<Result<_, _>>()?;
            let beside =
                place.beside.iter().map(|(neighbour, test)| Ok((*neighbour, number(test)?)));
            let beside = beside.collect::<Result<_, _>>()?;
            predicates.push(Predicate {
                dependent: number(&rule.dependent)?,
                head: match &rule.head {
                    Head::Root => None,
                    Head::Word(test) => Some(number(test)?),
                },
                is_nearest: rule.nearest,
                direction: place.direction,
                distance: place.distance,
                between,
                beside,
            });
        }
        Ok(Self { tests, predicates })
    }

    /// Returns the predicates, in the order of the rules.
    pub(crate) fn predicates(&self) -> &[Predicate] {
        &self.predicates
    }

    /// Returns the matches of a sentence. `rules` are those that were compiled.
    pub(crate) fn matches(&self, rules: &[Rule], sentence: &Sentence) -> Matches {
        let results = self.test_results(sentence);
        let mut matches = Matches { arcs: Vec::new(), units: Vec::with_capacity(rules.len()) };
        for (q, (rule, predicate)) in (0..).zip(rules.iter().zip(&self.predicates)) {
            let before = matches.arcs.len();
            let mut candidates = 0;
            for &modifier in results.dependents(predicate) {
                let arcs = matches.arcs.len();
                results.heads(predicate, modifier, predicate.is_nearest, |head| {
                    matches.arcs.push((head as u32, modifier as u32, q));
                });
                candidates += usize::from(matches.arcs.len() > arcs);
            }
            let units = match rule.counting {
                Counting::Pairs => matches.arcs.len() - before,
                Counting::Words => results.dependents(predicate).len(),
                Counting::Nearest => candidates,
            };
            matches.units.push(units as f64);
        }
        matches.arcs.sort_unstable();
        matches
    }

    /// Runs all tests on the words of a sentence.
    pub(crate) fn test_results(&self, sentence: &Sentence) -> TestResults {
        let mut results =
            TestResults { words: sentence.len(), passing: Vec::new(), counts: Vec::new() };
        for test in &self.tests {
            let mut passing = Vec::new();
            let mut counts = Vec::with_capacity(sentence.len() + 1);
            counts.push(0);
            for (number, word) in (1..).zip(sentence.words()) {
                if test.holds(word) {
                    passing.push(number);
                }
                counts.push(passing.len() as u32);
            }
            results.passing.push(passing);
            results.counts.push(counts);
        }
        results
    }
}

impl TestResults {
    /// Returns the words that pass the dependent's test.
    pub(crate) fn dependents(&self, predicate: &Predicate) -> &[usize] {
        &self.passing[predicate.dependent]
    }

    /// Calls `found` with every matching head of a dependent, from left to right. If `only_nearest`, the nearest
    /// word that passes the head's test is the only candidate on each side.
    pub(crate) fn heads(
        &self,
        predicate: &Predicate,
        modifier: usize,
        only_nearest: bool,
        mut found: impl FnMut(usize),
    ) {
        let Some(test) = predicate.head else {
            if self.place_holds(predicate, 0, modifier) {
                found(0);
            }
            return;
        };
        let heads = &self.passing[test];
        let mut left = &heads[..heads.partition_point(|&head| head < modifier)];
        let mut right = &heads[heads.partition_point(|&head| head <= modifier)..];
        if only_nearest {
            left = &left[left.len().saturating_sub(1)..];
            right = &right[..right.len().min(1)];
        }
        for &head in left.iter().chain(right) {
            if self.place_holds(predicate, head, modifier) {
                found(head);
            }
        }
    }

    /// Returns true if the positions of head and modifier satisfy the predicate.
    fn place_holds(&self, predicate: &Predicate, head: usize, modifier: usize) -> bool {
        let side = match predicate.direction {
            Direction::Any => true,
            Direction::Left => head < modifier,
            Direction::Right => head > modifier,
        };
        let distance = || match predicate.distance {
            Some(distance) => head > 0 && distance.holds(head.abs_diff(modifier)),
            None => true,
        };
        let (first, last) = (head.min(modifier), head.max(modifier));
        let between = |&(some, test): &(bool, usize)| {
            let counts = &self.counts[test];
            (counts[last - 1] > counts[first]) == some
        };
        let beside = |&(neighbour, test): &(Neighbour, usize)| match neighbour {
            Neighbour::BeforeHead => head > 0 && self.passes(test, head - 1),
            Neighbour::AfterHead => head > 0 && self.passes(test, head + 1),
            Neighbour::BeforeDependent => self.passes(test, modifier - 1),
            Neighbour::AfterDependent => self.passes(test, modifier + 1),
        };
        side && distance()
            && predicate.between.iter().all(between)
            && predicate.beside.iter().all(beside)
    }

    /// Returns true if a word passes a test. Positions outside the sentence pass none.
    fn passes(&self, test: usize, word: usize) -> bool {
        let counts = &self.counts[test];
        (1..=self.words).contains(&word) && counts[word] > counts[word - 1]
    }
}
