//! What a linguist knows of a language, as rules: a text file that can be read aloud, one rule a line.
//!
//! ```text
//! # name     dependent       head                   where              target
//! det:       DET             <- nearest NOUN|PROPN  head right         90%
//! subj:      NOUN|PRON       <- nearest VERB        head right         60%..80%
//! adp:       ADP             <- NOUN                distance 1..3      0.75 of pairs
//! obl:       NOUN[Case=Loc]  <- VERB as obl                            >= 50% of words
//! verb-root: VERB            <- ROOT                                   80% of words
//! between:   NOUN            <- nearest VERB        no PUNCT between   >= 40%
//! never:     *               <- PUNCT                                  never
//! ```
//!
//! A rule q is a predicate g_q(h, m) of candidate arcs h → m, a target t_q, and a way to count. What it says
//! of a corpus D is that E_q = (1/c_q) Σ_{x∈D} Σ_{h,m} μ_x(h, m) g_q(x, h, m) should be t_q, where μ are
//! probabilities of arcs (generalized expectation: Druck, Mann and McCallum 2009) and the unit c_q is
//!
//! | written | c_q counts | so that E_q is the share of |
//! |---|---|---|
//! | `of pairs` | candidate arcs that match | such pairs of words that are arcs |
//! | `of words` | words that match the left side | such words whose head matches |
//! | `of nearest` | those of them that have a candidate | such words attached to the nearest one |
//!
//! `nearest` rules count `of nearest` if nothing is said, and others `of words`. All three are linear in μ.
//!
//! # Grammar
//!
//! ```text
//! rule      = name ":" test "<-" ["nearest"] (test | "ROOT") clause*        one of them a target
//! test      = alternative ("|" alternative)*
//! alternative = ("*" | TAG | column) ["[" condition ("," condition)* "]"]   all must hold
//! column    = ("upos" | "xpos" | "lemma" | "form") ("=" VALUE | "~/" REGEX "/")
//! condition = column | FEATURE "=" VALUE | FEATURE "~/" REGEX "/"
//! clause    = "as" LABEL
//!           | "head" ("left" | "right")              where the head stands, seen from the dependent
//!           | "distance" (N | N..M | N..) | "adjacent"
//!           | ("no" | "some") test "between"         words strictly between the two
//!           | ("head" | "dependent") "just" ("after" | "before") test       the word beside it
//!           | "weight" NUMBER | "group" NAME
//!           | target ["of" ("pairs" | "words" | "nearest")]
//! target    = P | P..P | ">=" P | "<=" P | "always" | "never" | "?"         P = 0.75 or 75%
//! ```
//!
//! - A bare TAG is a UPOS; after the line `#tags=pos` it is an XPOS, until `#tags=cpos`.
//! - What has spaces or any of `|[],"=~<` in it, or is `*`, `ROOT` or `nearest`, is quoted: `xpos=","`,
//!   `form="a \"b\""`. A slash in a REGEX is `\/`; a REGEX may match anywhere unless it has `^` and `$`.
//! - `Case=Loc` also holds where a word has `Case=Acc,Loc`.
//! - `?` is a target that a treebank shall tell: a [`Draft`] has such rules, [`Rules`] do not.
//! - From ` #` on, a line is a comment.
//! - `nearest`: on each side that is allowed, only the nearest word of the head's kind is a candidate (and
//!   none on that side if the other clauses do not hold of it).
//! - `*` is any word. The root is no word: only `ROOT` matches it. It stands left of all words, at no
//!   distance and beside none; the words between it and word m are those before m.
//!
//! Two more forms are read, those of the paper, whose targets are `of pairs`: its arrows, in the order of the
//! sentence and without a name (`NNS <- VBD 0.75`, `ROOT -> VBD 1.0`), and a table of seven to nine columns,
//!
//! ```text
//! type      parent   child   dir   dist   context   target  group  weight
//! edge      VBD      NNS     L     *      *         0.75
//! between   verb     noun    R     6-10   punc      0.9
//! surround  noun     adj     L     1      p-1=det   bin:0.83
//! ```
//!
//! where `dir` is where the child stands (the other way around than `head`), `between` asks for some such
//! word, and `bin:` rounds as [`bin`] does.
//!
//! # From rules to numbers
//!
//! [`Rules::matches`] says which arcs of a sentence match which rule, in O(n²) for each rule;
//! [`Rules::statistics`] what a treebank says of the rules, and [`suggest`] which rules it would have; [`Survey`]
//! what they cover of a raw text, and [`Feasibility`] whether they can all be kept there and teach anything;
//! [`Rules::baseline_scores`] is the parser that adds up the targets and learns nothing.
//!
//! ```
//! use tutte_rules::{Rules, Target};
//! use tutte_treebank::Sentence;
//!
//! let rules = Rules::parse("rules.tut", "\
//! det:  DET  <- nearest NOUN  head right  90%
//! root: VERB <- ROOT                      80% of words
//! ")?;
//! assert_eq!(rules.rules()[0].target, Target::Exactly(0.9));
//!
//! let sentence: Sentence = "\
//! 1\tthe\tthe\tDET\t_\t_\t_\t_\t_\t_
//! 2\tcat\tcat\tNOUN\t_\t_\t_\t_\t_\t_
//! 3\tsleeps\tsleep\tVERB\t_\t_\t_\t_\t_\t_
//! ".parse()?;
//! let matches = rules.matches(&sentence);
//! assert_eq!(matches.arcs, [(0, 3, 1), (2, 1, 0)]); // head, modifier, rule
//! assert_eq!(matches.units, [1.0, 1.0]);
//!
//! let error = Rules::parse("rules.tut", "det: DET <- nearest NOUN head rihgt 90%").unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "rules.tut:1:31: found \"rihgt\", expected `left`, `right` or `just` after `head`"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # References
//!
//! - G. Druck, G. Mann, A. McCallum (2009). Semi-supervised learning of dependency parsers using generalized
//!   expectation criteria.

mod baseline;
mod check;
mod cursor;
mod draft;
mod feasibility;
mod hard_constraints;
mod matching;
mod paper_format;
mod read;
mod rule;
mod statistics;
pub mod suggest;
mod survey;
mod test;
#[cfg(test)]
mod tests;
mod write;

use std::fmt;

use check::Open;
pub use draft::Draft;
pub use feasibility::{
    Conflict, Feasibility, Headless, Over, Prospects, RuleProspects, WithoutTree,
};
use matching::Compiled;
pub use matching::Matches;
pub use rule::{Between, Counting, Direction, Distance, Head, Neighbour, Place, Rule, Target};
pub use statistics::{RuleStatistics, bin};
pub use survey::{Coverage, Overlap, RuleCoverage, Survey, Unknown};
pub use test::{Alternative, Attribute, Condition, Test, Value};

/// A set of rules that has been checked.
#[derive(Clone, Debug)]
pub struct Rules {
    file: String,
    rules: Vec<Rule>,
    warnings: Vec<Problem>,
    compiled: Compiled,
}

/// Something wrong with a line of a rules file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What was found, what was expected, what to do.
    pub message: String,
}

/// A rules file with errors: all of them, one a line of the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The name of the file.
    pub file: String,
    /// What is wrong, by line; never empty.
    pub problems: Vec<Problem>,
}

impl Rules {
    /// Reads a rules file. `file` is its name, for messages.
    ///
    /// # Errors
    /// [`Invalid`] with all lines that are no rules, and all rules that cannot be meant.
    pub fn parse(file: &str, text: &str) -> Result<Self, Invalid> {
        read::rules(file, text, Open::Refused)
    }

    /// [`parse`](Rules::parse) for bytes, which should be UTF-8.
    ///
    /// # Errors
    /// As for `parse`; also where bytes are no UTF-8.
    pub fn from_bytes(file: &str, bytes: &[u8]) -> Result<Self, Invalid> {
        Self::parse(file, text(file, bytes)?)
    }

    /// Rules that a program has made, checked as those of a file are.
    ///
    /// # Errors
    /// [`Invalid`] for rules that cannot be meant, and for those that could not be written and read again,
    /// such as one with a space in its name.
    pub fn new(file: &str, rules: Vec<Rule>) -> Result<Self, Invalid> {
        let problems: Vec<Problem> = rules.iter().filter_map(check::writable).collect();
        let rules = rules.into_iter().map(check::Placed::from).collect();
        Self::checked(file, rules, problems, Open::Refused)
    }

    fn checked(
        file: &str,
        rules: Vec<check::Placed>,
        mut problems: Vec<Problem>,
        open: Open,
    ) -> Result<Self, Invalid> {
        let (rules, warnings) = check::check(rules, &mut problems, open);
        if !problems.is_empty() {
            problems.sort_by_key(|problem| (problem.line, problem.column));
            return Err(Invalid { file: file.to_owned(), problems });
        }
        // A pattern may be fine and still too large: that is seen here.
        match Compiled::new(&rules) {
            Ok(compiled) => Ok(Self { file: file.to_owned(), rules, warnings, compiled }),
            Err(problem) => Err(Invalid { file: file.to_owned(), problems: vec![problem] }),
        }
    }

    /// The name of the file they are from.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The rules, in the order of the file. Rules are numbered by their places here.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The number of rules.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The rule with a name.
    pub fn named(&self, name: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.name == name)
    }

    /// The name of a rule that is most like another, which no rule has, if one is.
    pub fn most_like(&self, name: &str) -> Option<&str> {
        survey::most_alike(name, self.rules.iter().map(|rule| &*rule.name))
    }

    /// What is odd, but no error: rules that say again what another one says, and are left out.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }
}

/// Bytes of a file as text.
fn text<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, Invalid> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let byte = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
        let message = format!("found the byte {byte:#04x}, expected UTF-8: save it as UTF-8");
        Invalid { file: file.to_owned(), problems: vec![Problem { line, column, message }] }
    })
}

/// Rules are equal if they say the same, whatever file they are from.
impl PartialEq for Rules {
    fn eq(&self, other: &Self) -> bool {
        self.rules == other.rules
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, Problem { line, column, message }) in self.problems.iter().enumerate() {
            let end = if number > 0 { "\n" } else { "" };
            write!(f, "{end}{}:{line}:{column}: {message}", self.file)?;
        }
        Ok(())
    }
}

impl std::error::Error for Invalid {}
