//! Writing rules, in the form that can be read aloud and is read back to the same rules.

use std::fmt;

use super::cursor::needs_quotes;
use super::{
    Alternative, Attribute, Condition, Counting, Direction, Distance, Head, Neighbour, Rule, Rules,
    Target, Test, Value,
};

/// One rule a line, in columns.
impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.rules().iter().map(Rule::pieces).collect();
        let width = |piece: usize| lines.iter().map(|line| line[piece].chars().count()).max();
        let widths: [usize; 4] = std::array::from_fn(|piece| width(piece).unwrap_or(0));
        for line in &lines {
            for (piece, width) in line.iter().zip(widths).filter(|&(_, width)| width > 0) {
                write!(f, "{piece:width$}  ")?;
            }
            writeln!(f, "{}", line[4])?;
        }
        Ok(())
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pieces = self.pieces();
        let pieces: Vec<&str> =
            pieces.iter().map(|piece| &**piece).filter(|p| !p.is_empty()).collect();
        f.write_str(&pieces.join("  "))
    }
}

impl Rule {
    /// Name, dependent, head, place, and the rest.
    fn pieces(&self) -> [String; 5] {
        let nearest = if self.nearest { "nearest " } else { "" };
        let head = match &self.head {
            Head::Root => "ROOT".to_owned(),
            Head::Word(test) => test.to_string(),
        };
        let label = match &self.as_label {
            Some(label) => format!(" as {}", Quoted(label, false)),
            None => String::new(),
        };
        let mut rest = self.target.to_string();
        if self.counting != Rule::usual_counting(self.nearest) {
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
            rest += &format!("  group {}", Quoted(group, false));
        }
        [
            format!("{}:", self.name),
            self.dependent.to_string(),
            format!("<- {nearest}{head}{label}"),
            self.where_clauses(),
            rest,
        ]
    }

    fn where_clauses(&self) -> String {
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
            let whose = match neighbour {
                Neighbour::BeforeHead => "head just after",
                Neighbour::AfterHead => "head just before",
                Neighbour::BeforeDependent => "dependent just after",
                Neighbour::AfterDependent => "dependent just before",
            };
            clauses.push(format!("{whose} {test}"));
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

/// A share, in per cent where those are whole.
struct Share(f64);

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = (self.0 * 100.0).round();
        match percent / 100.0 == self.0 {
            true => write!(f, "{percent}%"),
            false => write!(f, "{}", self.0),
        }
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
                write!(f, "{}", Quoted(tag, true))?;
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
            Value::Is(value) => write!(f, "={}", Quoted(value, false)),
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

/// A value, in quotation marks if need be; the flag is whether it stands for a tag.
struct Quoted<'a>(&'a str, bool);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !needs_quotes(self.0, self.1) {
            return f.write_str(self.0);
        }
        write!(f, "\"{}\"", self.0.replace('\\', "\\\\").replace('"', "\\\""))
    }
}
