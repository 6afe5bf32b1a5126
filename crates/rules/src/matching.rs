//! Which arcs of a sentence match which rules.
//!
//! The tests of all rules are made one list without repetitions, and each is asked of each word once:
//! k(i) = number of words 1…i of which it holds. Then a test of word i is k(i) − k(i−1), one of the words
//! strictly between i < j is k(j−1) − k(i), and the nearest word of a kind is found by bisection. So a rule
//! costs O(|dependents| · |heads|) ≤ O(n²), and a `nearest` one O(|dependents| log n).

use std::collections::HashMap;

use tutte_treebank::Sentence;

use super::cursor::reason;
use super::test::CompiledTest;
use super::{Counting, Direction, Distance, Head, Neighbour, Problem, Rule, Rules, Test};

/// The arcs of a sentence that match rules, and what the sentence adds to the unit c_q of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matches {
    /// `(head, modifier, rule)`, sorted; head 0 is the root.
    pub arcs: Vec<(u32, u32, u32)>,
    /// By rule: its pairs, words, or words with a candidate, as it counts.
    pub units: Vec<f64>,
}

/// Rules by the numbers of their tests.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    tests: Vec<CompiledTest>,
    rules: Vec<Predicate>,
}

#[derive(Clone, Debug)]
pub(super) struct Predicate {
    dependent: usize,
    /// `None` for the root.
    head: Option<usize>,
    pub(super) nearest: bool,
    direction: Direction,
    distance: Option<Distance>,
    between: Vec<(bool, usize)>,
    beside: Vec<(Neighbour, usize)>,
}

/// What tests say of the words of a sentence.
pub(super) struct Answers {
    words: usize,
    /// By test: the words of which it holds.
    holds: Vec<Vec<usize>>,
    /// By test: k(0), k(1), …, k(n).
    counts: Vec<Vec<u32>>,
}

impl Rules {
    /// The arcs of a sentence that match rules. Heads that the sentence has are not looked at.
    ///
    /// O(n²) for each rule, less where few words match; see [the module](super) for an example.
    pub fn matches(&self, sentence: &Sentence) -> Matches {
        let answers = self.compiled.answers(sentence);
        let mut matches = Matches { arcs: Vec::new(), units: Vec::with_capacity(self.len()) };
        for (q, (rule, predicate)) in (0..).zip(self.predicates()) {
            let before = matches.arcs.len();
            let mut candidates = 0;
            for &modifier in answers.dependents(predicate) {
                let arcs = matches.arcs.len();
                answers.heads(predicate, modifier, predicate.nearest, |head| {
                    matches.arcs.push((head as u32, modifier as u32, q));
                });
                candidates += usize::from(matches.arcs.len() > arcs);
            }
            let units = match rule.counting {
                Counting::Pairs => matches.arcs.len() - before,
                Counting::Words => answers.dependents(predicate).len(),
                Counting::Nearest => candidates,
            };
            matches.units.push(units as f64);
        }
        matches.arcs.sort_unstable();
        matches
    }

    pub(super) fn predicates(&self) -> impl Iterator<Item = (&Rule, &Predicate)> {
        self.rules.iter().zip(&self.compiled.rules)
    }
}

impl Compiled {
    pub(super) fn new(rules: &[Rule]) -> Result<Self, Problem> {
        let mut numbers = HashMap::new();
        let mut tests = Vec::new();
        let mut compiled = Vec::with_capacity(rules.len());
        for rule in rules {
            let mut number = |test: &Test| -> Result<usize, Problem> {
                if let Some(&number) = numbers.get(test) {
                    return Ok(number);
                }
                tests.push(CompiledTest::new(test).map_err(|error| Problem {
                    line: rule.line,
                    column: 1,
                    message: format!("a regular expression cannot be used: {}", reason(&error)),
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
            compiled.push(Predicate {
                dependent: number(&rule.dependent)?,
                head: match &rule.head {
                    Head::Root => None,
                    Head::Word(test) => Some(number(test)?),
                },
                nearest: rule.nearest,
                direction: place.direction,
                distance: place.distance,
                between,
                beside,
            });
        }
        Ok(Self { tests, rules: compiled })
    }

    pub(super) fn answers(&self, sentence: &Sentence) -> Answers {
        let mut answers = Answers { words: sentence.len(), holds: Vec::new(), counts: Vec::new() };
        for test in &self.tests {
            let mut holds = Vec::new();
            let mut counts = Vec::with_capacity(sentence.len() + 1);
            counts.push(0);
            for (number, word) in (1..).zip(sentence.words()) {
                if test.holds(word) {
                    holds.push(number);
                }
                counts.push(holds.len() as u32);
            }
            answers.holds.push(holds);
            answers.counts.push(counts);
        }
        answers
    }
}

impl Rules {
    pub(super) fn answers(&self, sentence: &Sentence) -> Answers {
        self.compiled.answers(sentence)
    }
}

impl Answers {
    /// The words that match the left side.
    pub(super) fn dependents(&self, predicate: &Predicate) -> &[usize] {
        &self.holds[predicate.dependent]
    }

    /// Calls `found` with every head of a dependent that matches, from left to right; with the nearest on
    /// each side only if `nearest` is set.
    pub(super) fn heads(
        &self,
        predicate: &Predicate,
        modifier: usize,
        nearest: bool,
        mut found: impl FnMut(usize),
    ) {
        let Some(test) = predicate.head else {
            if self.stand(predicate, 0, modifier) {
                found(0);
            }
            return;
        };
        let heads = &self.holds[test];
        let left = &heads[..heads.partition_point(|&head| head < modifier)];
        let right = &heads[heads.partition_point(|&head| head <= modifier)..];
        let (left, right) = match nearest {
            true => (&left[left.len().saturating_sub(1)..], &right[..right.len().min(1)]),
            false => (left, right),
        };
        for &head in left.iter().chain(right) {
            if self.stand(predicate, head, modifier) {
                found(head);
            }
        }
    }

    /// Whether head and modifier stand as a rule wants them to.
    fn stand(&self, predicate: &Predicate, head: usize, modifier: usize) -> bool {
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
            Neighbour::BeforeHead => head > 0 && self.holds(test, head - 1),
            Neighbour::AfterHead => head > 0 && self.holds(test, head + 1),
            Neighbour::BeforeDependent => self.holds(test, modifier - 1),
            Neighbour::AfterDependent => self.holds(test, modifier + 1),
        };
        side && distance()
            && predicate.between.iter().all(between)
            && predicate.beside.iter().all(beside)
    }

    /// Whether a test holds of a word; there is none before the first and after the last.
    fn holds(&self, test: usize, word: usize) -> bool {
        let counts = &self.counts[test];
        (1..=self.words).contains(&word) && counts[word] > counts[word - 1]
    }
}
