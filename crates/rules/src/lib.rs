//! Linguistic rules for dependency trees: a text file with one rule per line, written to be read aloud.
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
//! A rule q has a predicate g_q(h, m) of candidate arcs h → m, a target t_q, and a denominator c_q. It requires
//! of a corpus D that
//!
//! E_q = (1/c_q) Σ_{x∈D} Σ_{h,m} μ_x(h, m) g_q(x, h, m)
//!
//! is t_q, where μ are the probabilities of arcs (generalized expectation: Druck, Mann and McCallum 2009). The
//! denominator is one of
//!
//! | written | c_q counts | E_q is the share of |
//! |---|---|---|
//! | `of pairs` | candidate arcs that match | these pairs of words that are arcs |
//! | `of words` | words that pass the dependent's test | these words whose head matches |
//! | `of nearest` | those of these words that have a candidate head | these words attached to the nearest one |
//!
//! By default, `nearest` rules count `of nearest`, and others `of words`. All three are linear in μ. Rules with the
//! target `always` or `never` are hard constraints: every tree must satisfy them.
//!
//! # Example
//!
//! ```
//! use tutte_rules::{RuleSet, Target};
//! use tutte_treebank::Sentence;
//!
//! let rules = RuleSet::parse("rules.tut", "\
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
//! let error = RuleSet::parse("rules.tut", "det: DET <- nearest NOUN head rihgt 90%").unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "rules.tut:1:31: found \"rihgt\", expected `left`, `right` or `just` after `head`"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # From rules to numbers
//!
//! | | |
//! |---|---|
//! | [`RuleSet::matches`] | the arcs of a sentence that match rules, in O(n²) for each rule |
//! | [`RuleSet::allowed_arcs`] | the arcs that hard constraints leave |
//! | [`RuleSet::statistics`] | counts of rules in a treebank, and the targets that follow |
//! | [`Draft`] | rules with open targets, to be counted in a treebank |
//! | [`suggest`] | rules counted in a treebank |
//! | [`Survey`] | coverage of a raw text by rules |
//! | [`Feasibility`] | can rules be satisfied together, and do they teach anything? |
//! | [`RuleSet::baseline_scores`] | the parser that adds up targets and needs no training |
//!
//! # Grammar
//!
//! ```text
//! rule      = name ":" test "<-" ["nearest"] (test | "ROOT") clause*        exactly one target
//! test      = alternative ("|" alternative)*
//! alternative = ("*" | TAG | column) ["[" condition ("," condition)* "]"]   all must hold
//! column    = ("upos" | "xpos" | "lemma" | "form") ("=" VALUE | "~/" REGEX "/")
//! condition = column | FEATURE "=" VALUE | FEATURE "~/" REGEX "/"
//! clause    = "as" LABEL
//!           | "head" ("left" | "right")              side of the dependent on which the head stands
//!           | "distance" (N | N..M | N..) | "adjacent"
//!           | ("no" | "some") test "between"         words strictly between the two
//!           | ("head" | "dependent") "just" ("after" | "before") test       the word beside it
//!           | "weight" NUMBER | "group" NAME
//!           | target ["of" ("pairs" | "words" | "nearest")]
//! target    = P | P..P | ">=" P | "<=" P | "always" | "never" | "?"         P = 0.75 or 75%
//! ```
//!
//! - A bare TAG is a UPOS. After the line `#tags=pos` it is an XPOS, until `#tags=cpos`.
//! - A value must be quoted if it has spaces or any of `|[],"=~<`, or if it is `*`, `ROOT` or `nearest`: `xpos=","`,
//!   `form="a \"b\""`.
//! - A slash in a REGEX is written `\/`. A REGEX may match anywhere unless it has `^` and `$`.
//! - `Case=Loc` also holds for a word with `Case=Acc,Loc`.
//! - `?` is an open target, to be counted in a treebank. A [`Draft`] may have such rules, [`RuleSet`] may not.
//! - A comment starts with ` #` and ends with the line.
//! - `nearest`: on each allowed side, only the nearest word that passes the head's test is a candidate. If the other
//!   clauses do not hold for it, that side has no candidate.
//! - `*` is any word. The root is not a word; only `ROOT` matches it. It stands left of all words, and it has no
//!   distance and no neighbours. The words between it and word m are those before m.
//!
//! The formats of the paper are read too; their targets are `of pairs`. One has arrows between tags in sentence order,
//! without a name (`NNS <- VBD 0.75`, `ROOT -> VBD 1.0`). The other is a table of seven to nine columns:
//!
//! ```text
//! type      parent   child   dir   dist   context   target  group  weight
//! edge      VBD      NNS     L     *      *         0.75
//! between   verb     noun    R     6-10   punc      0.9
//! surround  noun     adj     L     1      p-1=det   bin:0.83
//! ```
//!
//! Here `dir` is the side on which the child stands (the opposite of `head`), `between` means `some … between`, and
//! `bin:` rounds by [`bin`].
//!
//! # References
//!
//! - G. Druck, G. Mann, A. McCallum (2009). Semi-supervised learning of dependency parsers using generalized
//!   expectation criteria.

// Each module uses only modules of the lines above its own; all may use `error`:
//   condition · spelling
//   rule
//   cursor · located · matching · number
//   paper_format · write
//   read
//   check
//   rule_set
//   baseline · hard_constraints · statistics · suggest · survey
//   draft · feasibility
mod baseline;
mod check;
mod condition;
mod cursor;
mod draft;
mod error;
mod feasibility;
mod hard_constraints;
mod located;
mod matching;
mod number;
mod paper_format;
mod read;
mod rule;
mod rule_set;
mod spelling;
mod statistics;
pub mod suggest;
mod survey;
#[cfg(test)]
mod tests;
mod write;

pub use condition::{Alternative, Attribute, Condition, Test, Value};
pub use draft::Draft;
pub use error::{Invalid, Problem};
pub use feasibility::{
    Conflict, ConflictReason, Feasibility, FeasibilityReport, RuleFeasibility, UncoveredTag,
    WithoutTree,
};
pub use matching::Matches;
pub use rule::{Between, Counting, Direction, Distance, Head, Neighbour, Place, Rule, Target, bin};
pub use rule_set::RuleSet;
pub use statistics::RuleStatistics;
pub use survey::{Coverage, Overlap, RuleCoverage, Survey, Unknown};
