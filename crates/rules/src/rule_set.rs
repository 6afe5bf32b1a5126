//! A checked set of rules.

use std::fmt;

use tutte_treebank::Sentence;

use crate::check::{self, OpenTargets};
use crate::error::{Invalid, Problem};
use crate::located::LocatedRule;
use crate::matching::{Compiled, Matches, Predicate, TestResults};
use crate::read;
use crate::rule::Rule;
use crate::spelling;

/// A set of rules that has been checked.
#[derive(Clone, Debug)]
pub struct RuleSet {
    file: String,
    rules: Vec<Rule>,
    warnings: Vec<Problem>,
    compiled: Compiled,
}

impl RuleSet {
    /// Reads a rules file. `file` is its name, for messages.
    ///
    /// # Errors
    /// [`Invalid`] with every line that is not a rule and every rule that contradicts itself or another one.
    pub fn parse(file: &str, text: &str) -> Result<Self, Invalid> {
        Self::read(file, text, OpenTargets::Refused)
    }

    /// Reads a rules file from bytes, as [`parse`](RuleSet::parse) does from text.
    ///
    /// # Errors
    /// Those of `parse`, and [`Invalid`] if the bytes are not UTF-8.
    pub fn from_bytes(file: &str, bytes: &[u8]) -> Result<Self, Invalid> {
        Self::parse(file, read::utf8(file, bytes)?)
    }

    /// Checks rules that a program has built, as [`parse`](RuleSet::parse) checks those of a file.
    ///
    /// # Errors
    /// Those of `parse`, and [`Invalid`] if a rule could not be written to a file and read back. A rule with a
    /// space in its name is an example.
    pub fn new(file: &str, rules: Vec<Rule>) -> Result<Self, Invalid> {
        let problems: Vec<Problem> = rules.iter().filter_map(check::roundtrip_problem).collect();
        let rules = rules.into_iter().map(LocatedRule::from).collect();
        Self::checked(file, rules, problems, OpenTargets::Refused)
    }

    pub(crate) fn read(file: &str, text: &str, open: OpenTargets) -> Result<Self, Invalid> {
        let (rules, problems) = read::lines(text);
        Self::checked(file, rules, problems, open)
    }

    pub(crate) fn checked(
        file: &str,
        rules: Vec<LocatedRule>,
        mut problems: Vec<Problem>,
        open: OpenTargets,
    ) -> Result<Self, Invalid> {
        let (rules, warnings) = check::check(rules, &mut problems, open);
        if !problems.is_empty() {
            problems.sort_by_key(|problem| (problem.line, problem.column));
            return Err(Invalid { file: file.to_owned(), problems });
        }
        // A valid regular expression may still exceed the size limit. Compiling shows that.
        match Compiled::new(&rules) {
            Ok(compiled) => Ok(Self { file: file.to_owned(), rules, warnings, compiled }),
            Err(problem) => Err(Invalid { file: file.to_owned(), problems: vec![problem] }),
        }
    }

    pub(crate) fn with_warnings(self, warnings: Vec<Problem>) -> Self {
        Self { warnings, ..self }
    }

    /// Returns the name of the file that the rules are from.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the rules in the order of the file. A rule's number is its index here.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the number of rules.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Returns true if there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns the rule with the given name.
    pub fn named(&self, name: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.name == name)
    }

    /// Returns the rule name that is closest to a misspelt one, if any is close.
    pub fn most_like(&self, name: &str) -> Option<&str> {
        spelling::closest(name, self.rules.iter().map(|rule| &*rule.name))
    }

    /// Returns the warnings: duplicate rules, which are left out, and groups whose shares exceed 100 %.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// Returns the candidate arcs of a sentence that match rules. Gold heads are ignored.
    ///
    /// O(n²) for each rule, less if few words match. [The crate](crate) has an example.
    pub fn matches(&self, sentence: &Sentence) -> Matches {
        self.compiled.matches(&self.rules, sentence)
    }

    pub(crate) fn predicates(&self) -> impl Iterator<Item = (&Rule, &Predicate)> {
        self.rules.iter().zip(self.compiled.predicates())
    }

    pub(crate) fn test_results(&self, sentence: &Sentence) -> TestResults {
        self.compiled.test_results(sentence)
    }
}

/// Sets are equal if their rules are equal. File names and warnings are ignored.
impl PartialEq for RuleSet {
    fn eq(&self, other: &Self) -> bool {
        self.rules == other.rules
    }
}

/// One rule per line, in aligned columns.
impl fmt::Display for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.rules.iter().map(Rule::columns).collect();
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
        let widths: [usize; 4] = std::array::from_fn(|column| width(column).unwrap_or(0));
        for line in &lines {
            for (text, width) in line.iter().zip(widths).filter(|&(_, width)| width > 0) {
                write!(f, "{text:width$}  ")?;
            }
            writeln!(f, "{}", line[4])?;
        }
        Ok(())
    }
}
