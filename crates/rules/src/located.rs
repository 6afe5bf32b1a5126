//! A rule with the columns of its parts, so that an error can point at the part that is wrong.

use crate::error::Problem;
use crate::rule::{Neighbour, Rule};

/// A part of a rule that an error can point at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Rule,
    Dependent,
    Nearest,
    Head,
    Label,
    Direction,
    Distance,
    Between,
    Beside(Neighbour),
    Target,
    Counting,
    Weight,
    Group,
}

/// A rule and the columns of its parts.
#[derive(Debug)]
pub(crate) struct LocatedRule {
    pub(crate) rule: Rule,
    pub(crate) columns: Vec<(Part, usize)>,
}

/// A rule that was not read from a line has no columns; errors point at column 1.
impl From<Rule> for LocatedRule {
    fn from(rule: Rule) -> Self {
        Self { rule, columns: Vec::new() }
    }
}

impl LocatedRule {
    /// Returns a problem at the column of a part.
    pub(crate) fn problem(&self, part: Part, message: String) -> Problem {
        let column = self.columns.iter().find(|(found, _)| *found == part);
        Problem { line: self.rule.line, column: column.map_or(1, |&(_, column)| column), message }
    }
}
