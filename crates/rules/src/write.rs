//! Writer of rules. Reading the text back gives the same rules.

use std::fmt;

use crate::condition::{Alternative, Attribute, Condition, Test, Value};
use crate::cursor::needs_quotes;
use crate::rule::{Counting, Direction, Distance, Head, Neighbour, Rule, Target};

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.columns();
        let columns: Vec<&str> =
            columns.iter().map(|text| &**text).filter(|text| !text.is_empty()).collect();
        f.write_str(&columns.join("  "))
    }
}

impl Rule {
    /// Returns the columns of a line: name, dependent, head, place clauses, and target with the rest.
    pub(crate) fn columns(&self) -> [String; 5] {
        let nearest = if self.nearest { "nearest " } else { "" };
        let head = match &self.head {
            Head::Root => "ROOT".to_owned(),
            Head::Word(test) => test.to_string(),
        };
        let label = match &self.as_label {
            Some(label) => format!(" as {}", quoted(label)),
            None => String::new(),
        };
        let mut rest = self.target.to_string();
        if self.counting != Rule::default_counting(self.nearest) {
            rest += match self.counting {
                Counting::Pairs => " of pairs",
                Counting::Words => " of words",
                Counting::Nearest => " of nearest",
            };
        } else if self.counting == Counting::Words && !self.target.is_hard() {
            rest += " of words";
        }
        if self.weight != 1.0 {
            rest += &format!("  weight {}", self.weight);
        }
        if let Some(group) = &self.group {
            rest += &format!("  group {}", quoted(group));
        }
        [
            format!("{}:", self.name),
            self.dependent.to_string(),
            format!("<- {nearest}{head}{label}"),
            self.place_clauses(),
            rest,
        ]
    }

    fn place_clauses(&self) -> String {
        let place = &self.place;
        let mut clauses = Vec::new();
        match place.direction {
            Direction::Any => {}
            Direction::Left => clauses.push("head left".to_owned()),
            Direction::Right => clauses.push("head right".to_owned()),
        }
        match place.distance {
            None => {}
            Some(Distance { least, most: None }) => clauses.push(format!("distance {least}..")),
            Some(Distance { least, most: Some(most) }) if least == most => {
                clauses.push(format!("distance {least}"));
            }
            Some(Distance { least, most: Some(most) }) => {
                clauses.push(format!("distance {least}..{most}"));
            }
        }
        for between in &place.between {
            let some = if between.some { "some" } else { "no" };
            clauses.push(format!("{some} {} between", between.test));
        }
        for (neighbour, test) in &place.beside {
            let position = match neighbour {
                Neighbour::BeforeHead => "head just after",
                Neighbour::AfterHead => "head just before",
                Neighbour::BeforeDependent => "dependent just after",
                Neighbour::AfterDependent => "dependent just before",
            };
            clauses.push(format!("{position} {test}"));
        }
        clauses.join("  ")
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Target::Exactly(share) => write!(f, "{}", Share(share)),
            Target::Range(low, high) => write!(f, "{}..{}", Share(low), Share(high)),
            Target::AtLeast(low) => write!(f, ">= {}", Share(low)),
            Target::AtMost(high) => write!(f, "<= {}", Share(high)),
            Target::Always => f.write_str("always"),
            Target::Never => f.write_str("never"),
            Target::Open => f.write_str("?"),
        }
    }
}

/// A share, displayed in per cent if that is a whole number.
struct Share(f64);

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = (self.0 * 100.0).round();
        if percent / 100.0 == self.0 { write!(f, "{percent}%") } else { write!(f, "{}", self.0) }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, alternative) in self.alternatives.iter().enumerate() {
            f.write_str(if number > 0 { "|" } else { "" })?;
            write!(f, "{alternative}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Alternative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_feature = |c: &Condition| matches!(c.attribute, Attribute::Feature(_));
        let bracketed = match &self.conditions[..] {
            [Condition { attribute: Attribute::Upos, value: Value::Is(tag) }, rest @ ..] => {
                write!(f, "{}", Quoted { text: tag, is_tag: true })?;
                rest
            }
            [first, rest @ ..] if !is_feature(first) => {
                write!(f, "{first}")?;
                rest
            }
            conditions => {
                f.write_str("*")?;
                conditions
            }
        };
        for (number, condition) in bracketed.iter().enumerate() {
            f.write_str(if number > 0 { "," } else { "[" })?;
            write!(f, "{condition}")?;
        }
        f.write_str(if bracketed.is_empty() { "" } else { "]" })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.attribute {
            Attribute::Upos => "upos",
            Attribute::Xpos => "xpos",
            Attribute::Lemma => "lemma",
            Attribute::Form => "form",
            Attribute::Feature(name) => name,
        })?;
        match &self.value {
            Value::Is(value) => write!(f, "={}", quoted(value)),
            Value::Like(pattern) => {
                f.write_str("~/")?;
                let mut chars = pattern.chars();
                while let Some(c) = chars.next() {
                    match c {
                        '/' => f.write_str("\\/")?,
                        '\\' => chars.next().map_or(Ok(()), |next| write!(f, "\\{next}"))?,
                        c => write!(f, "{c}")?,
                    }
                }
                f.write_str("/")
            }
        }
    }
}

/// A value, displayed in quotation marks if it needs them.
struct Quoted<'a> {
    text: &'a str,
    /// True in the place of a tag, where reserved words need quotes too.
    is_tag: bool,
}

fn quoted(text: &str) -> Quoted<'_> {
    Quoted { text, is_tag: false }
}

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !needs_quotes(self.text, self.is_tag) {
            return f.write_str(self.text);
        }
        write!(f, "\"{}\"", self.text.replace('\\', "\\\\").replace('"', "\\\""))
    }
}
