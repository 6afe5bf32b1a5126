//! Rules whose targets are not known yet, and targets that are counted instead of guessed.

use tutte_treebank::Sentence;

use super::check::{Open, Placed};
use super::{Invalid, Problem, Rules, Target, bin, read, text};

/// A set of rules of which some have an open target, `?`, for a treebank to tell.
///
/// ```
/// use tutte_rules::{Draft, Rules};
/// use tutte_treebank::Sentence;
///
/// let text = "det: DET <- nearest NOUN head right ?\nroot: VERB <- ROOT 80%";
/// assert!(Rules::parse("draft.tut", text).is_err());
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
    rules: Rules,
}

impl Draft {
    /// Reads a rules file as [`Rules::parse`] does, but for open targets.
    ///
    /// # Errors
    /// Those of [`Rules::parse`], without open targets.
    pub fn parse(file: &str, text: &str) -> Result<Self, Invalid> {
        Ok(Self { rules: read::rules(file, text, Open::Allowed)? })
    }

    /// [`parse`](Draft::parse) for bytes, which should be UTF-8.
    ///
    /// # Errors
    /// As for `parse`; also where bytes are no UTF-8.
    pub fn from_bytes(file: &str, bytes: &[u8]) -> Result<Self, Invalid> {
        Self::parse(file, text(file, bytes)?)
    }

    /// The number of rules whose targets are open.
    pub fn open(&self) -> usize {
        self.rules.rules().iter().filter(|rule| rule.target == Target::Open).count()
    }

    /// The number of rules.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The rules with the targets that a treebank gives those that are open, rounded by [`bin`] if `binned`.
    ///
    /// An open rule that has nothing to count in the treebank is left out, with a [warning](Rules::warnings).
    ///
    /// # Errors
    /// None that `parse` would not have given.
    pub fn filled<'a>(
        &self,
        treebank: impl IntoIterator<Item = &'a Sentence>,
        binned: bool,
    ) -> Result<Rules, Invalid> {
        self.rules.counted(treebank, binned, |target| target == Target::Open)
    }
}

impl Rules {
    /// The rules with the targets that a treebank gives them, rounded by [`bin`] if `binned`. Laws stay laws,
    /// and rules that have nothing to count keep their targets.
    ///
    /// # Errors
    /// None that [`Rules::parse`] would not have given.
    pub fn filled<'a>(
        &self,
        treebank: impl IntoIterator<Item = &'a Sentence>,
        binned: bool,
    ) -> Result<Rules, Invalid> {
        self.counted(treebank, binned, |target| !target.is_hard())
    }

    fn counted<'a>(
        &self,
        treebank: impl IntoIterator<Item = &'a Sentence>,
        binned: bool,
        which: impl Fn(Target) -> bool,
    ) -> Result<Rules, Invalid> {
        let mut warnings = self.warnings.clone();
        let mut rules = Vec::with_capacity(self.len());
        for (rule, statistics) in self.rules.iter().zip(self.statistics(treebank)) {
            let mut rule = rule.clone();
            let told = statistics.target(rule.counting).filter(|_| which(rule.target));
            if let Some(share) = told {
                rule.target = Target::Exactly(if binned { bin(share) } else { share });
            }
            if rule.target == Target::Open {
                let message = format!(
                    "{}: the treebank has nothing to count for this rule, which is left out",
                    rule.name
                );
                warnings.push(Problem { line: rule.line, column: 1, message });
            } else {
                rules.push(Placed::from(rule));
            }
        }
        let rules = Rules::checked(&self.file, rules, Vec::new(), Open::Refused)?;
        Ok(Rules { warnings, ..rules })
    }
}
