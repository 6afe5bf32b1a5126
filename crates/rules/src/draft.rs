//! Rules with open targets, and targets counted in a treebank.

use tutte_treebank::Sentence;

use crate::check::OpenTargets;
use crate::error::{Invalid, Problem};
use crate::located::LocatedRule;
use crate::read;
use crate::rule::{Target, bin};
use crate::rule_set::RuleSet;

/// A set of rules in which targets may be open (`?`), to be counted in a treebank.
///
/// ```
/// use tutte_rules::{Draft, RuleSet};
/// use tutte_treebank::Sentence;
///
/// let text = "det: DET <- nearest NOUN head right ?\nroot: VERB <- ROOT 80%";
/// assert!(RuleSet::parse("draft.tut", text).is_err());
/// let draft = Draft::parse("draft.tut", text)?;
/// let sentence: Sentence = "\
/// 1\tthe\tthe\tDET\t_\t_\t2\tdet\t_\t_
/// 2\tcat\tcat\tNOUN\t_\t_\t0\troot\t_\t_
/// ".parse()?;
/// assert_eq!(draft.filled([&sentence], true)?.to_string(), "\
/// det:   DET   <- nearest NOUN  head right  100%
/// root:  VERB  <- ROOT                      80% of words
/// ");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Draft {
    rules: RuleSet,
}

impl Draft {
    /// Reads a rules file as [`RuleSet::parse`] does, and allows open targets.
    ///
    /// # Errors
    /// Those of [`RuleSet::parse`], except for open targets.
    pub fn parse(file: &str, text: &str) -> Result<Self, Invalid> {
        Ok(Self { rules: RuleSet::read(file, text, OpenTargets::Allowed)? })
    }

    /// Reads a rules file from bytes, as [`parse`](Draft::parse) does from text.
    ///
    /// # Errors
    /// Those of `parse`, and [`Invalid`] if the bytes are not UTF-8.
    pub fn from_bytes(file: &str, bytes: &[u8]) -> Result<Self, Invalid> {
        Self::parse(file, read::utf8(file, bytes)?)
    }

    /// Returns the number of rules with open targets.
    pub fn open(&self) -> usize {
        self.rules.rules().iter().filter(|rule| rule.target == Target::Open).count()
    }

    /// Returns the number of rules.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Returns true if there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns the rules with open targets counted in a treebank, rounded by [`bin`] if `binned`.
    ///
    /// An open rule that matches nothing in the treebank is left out, with a [warning](RuleSet::warnings).
    ///
    /// # Errors
    /// Only those that `parse` would have returned.
    pub fn filled<'a>(
        &self,
        treebank: impl IntoIterator<Item = &'a Sentence>,
        binned: bool,
    ) -> Result<RuleSet, Invalid> {
        self.rules.count_targets(treebank, binned, |target| target == Target::Open)
    }
}

impl RuleSet {
    /// Returns the rules with targets counted in a treebank, rounded by [`bin`] if `binned`.
    ///
    /// Hard constraints, and rules that match nothing in the treebank, keep their targets.
    ///
    /// # Errors
    /// Only those that [`RuleSet::parse`] would have returned.
    pub fn filled<'a>(
        &self,
        treebank: impl IntoIterator<Item = &'a Sentence>,
        binned: bool,
    ) -> Result<RuleSet, Invalid> {
        self.count_targets(treebank, binned, |target| !target.is_hard())
    }

    /// Counts the targets that `should_count` selects.
    fn count_targets<'a>(
        &self,
        treebank: impl IntoIterator<Item = &'a Sentence>,
        binned: bool,
        should_count: impl Fn(Target) -> bool,
    ) -> Result<RuleSet, Invalid> {
        let mut warnings = self.warnings().to_vec();
        let mut rules = Vec::with_capacity(self.len());
        for (rule, statistics) in self.rules().iter().zip(self.statistics(treebank)) {
            let mut rule = rule.clone();
            let counted = statistics.target(rule.counting).filter(|_| should_count(rule.target));
            if let Some(share) = counted {
                rule.target = Target::Exactly(if binned { bin(share) } else { share });
            }
            if rule.target == Target::Open {
                let message = format!(
                    "{}: left out, because it matches no annotated word of the treebank",
                    rule.name
                );
                warnings.push(Problem { line: rule.line, column: 1, message });
            } else {
                rules.push(LocatedRule::from(rule));
            }
        }
        let rules = RuleSet::checked(self.file(), rules, Vec::new(), OpenTargets::Refused)?;
        Ok(rules.with_warnings(warnings))
    }
}
