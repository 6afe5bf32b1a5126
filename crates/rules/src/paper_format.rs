//! Parser of the formats of the paper (Druck, Mann and McCallum 2009): a table, and arrows.

use crate::condition::{Attribute, Test};
use crate::error::Problem;
use crate::located::{LocatedRule, Part};
use crate::number::{number, plain_target};
use crate::rule::{Between, Counting, Direction, Distance, Head, Neighbour, Place, Rule, Target};

/// Names of the columns of the table.
const COLUMNS: [&str; 9] =
    ["type", "parent", "child", "dir", "dist", "context", "target", "group", "weight"];

const NEIGHBOURS: [(&str, Neighbour); 4] = [
    ("p-1=", Neighbour::BeforeHead),
    ("p+1=", Neighbour::AfterHead),
    ("c-1=", Neighbour::BeforeDependent),
    ("c+1=", Neighbour::AfterDependent),
];

/// Reads a header that selects the column of bare tags: `#tags=pos` for XPOS, `#tags=cpos` for UPOS.
pub(crate) fn tags(header: &str) -> Option<Attribute> {
    match header.strip_prefix("#tags")?.trim_start().strip_prefix('=')?.trim() {
        "pos" => Some(Attribute::Xpos),
        "cpos" => Some(Attribute::Upos),
        _ => None,
    }
}

/// Reads a row of the table or an arrow. Returns `None` for any other line, and `Some(Ok(None))` for the header
/// of the table.
pub(crate) fn rule(
    text: &str,
    line: usize,
    tags: &Attribute,
) -> Option<Result<Option<LocatedRule>, Problem>> {
    let fields = fields(text);
    let words: Vec<&str> = fields.iter().map(|&(_, field)| field).collect();
    let reader = Row { fields: &fields, line, tags };
    match words[..] {
        ["type", "parent", ..] => Some(Ok(None)),
        ["edge" | "between" | "surround", ..] => Some(reader.row().map(Some)),
        [_, arrow @ ("<-" | "←" | "->" | "→"), _, target, ref rest @ ..]
            if plain_target(target).is_some()
                && rest.first().is_none_or(|word| word.starts_with('#')) =>
        {
            Some(reader.arrow(matches!(arrow, "->" | "→")).map(Some))
        }
        _ => None,
    }
}

/// Splits a line into fields, each with its column. A table row with tabs is split at tabs, other lines at spaces.
fn fields(text: &str) -> Vec<(usize, &str)> {
    let has_tabs = text.contains('\t') && !text.contains("<-") && !text.contains("->");
    let is_separator = |c: char| if has_tabs { c == '\t' } else { c.is_whitespace() };
    let mut column = 1;
    let mut fields = Vec::new();
    for field in text.split(is_separator) {
        let space = field.chars().take_while(|c| c.is_whitespace()).count();
        fields.push((column + space, field.trim()));
        column += field.chars().count() + 1;
    }
    // Between tabs, an empty field counts, except at the end of the line.
    while fields.last().is_some_and(|(_, field)| field.is_empty()) {
        fields.pop();
    }
    fields.retain(|(_, field)| has_tabs || !field.is_empty());
    fields
}

/// The fields of one line.
struct Row<'a> {
    /// Column and text of each field.
    fields: &'a [(usize, &'a str)],
    line: usize,
    tags: &'a Attribute,
}

impl<'a> Row<'a> {
    fn field(&self, number: usize) -> &'a str {
        self.fields.get(number).map_or("", |&(_, field)| field)
    }

    fn column(&self, number: usize) -> usize {
        self.fields.get(number).map_or(1, |&(column, _)| column)
    }

    fn problem(&self, field: usize, message: String) -> Problem {
        Problem { line: self.line, column: self.column(field), message }
    }

    fn expected(&self, field: usize, what: &str) -> Problem {
        let found = self.field(field);
        self.problem(field, format!("{}: found {found:?}, expected {what}", COLUMNS[field]))
    }

    /// Reads `NNS <- VBD 0.75`: tags in sentence order, the arrow from head to dependent.
    fn arrow(&self, points_right: bool) -> Result<LocatedRule, Problem> {
        let (head, dependent, direction) =
            if points_right { (0, 2, Direction::Left) } else { (2, 0, Direction::Right) };
        let place = Place { direction, ..Place::default() };
        let target = self.target(3)?;
        let columns = vec![(Part::Direction, self.column(1)), (Part::Target, self.column(3))];
        self.rule(head, dependent, place, target, columns)
    }

    fn row(&self) -> Result<LocatedRule, Problem> {
        let count = self.fields.len();
        if !(7..=9).contains(&count) {
            let message = format!("found {count} columns, expected 7 to 9: {}", COLUMNS.join(", "));
            return Err(self.problem(0, message));
        }
        let place = Place {
            direction: match self.field(3) {
                "L" => Direction::Right,
                "R" => Direction::Left,
                "*" => Direction::Any,
                _ => return Err(self.expected(3, "L, R or *")),
            },
            distance: self.distance()?,
            between: self.between()?,
            beside: self.beside()?,
        };
        let columns = vec![
            (Part::Dependent, self.column(2)),
            (Part::Head, self.column(1)),
            (Part::Direction, self.column(3)),
            (Part::Distance, self.column(4)),
            (Part::Beside(Neighbour::BeforeHead), self.column(5)),
            (Part::Beside(Neighbour::AfterHead), self.column(5)),
            (Part::Target, self.column(6)),
            (Part::Weight, self.column(8)),
        ];
        let mut located = self.rule(1, 2, place, self.target(6)?, columns)?;
        located.rule.group =
            Some(self.field(7)).filter(|group| !matches!(*group, "" | "*")).map(str::to_owned);
        if count == 9 {
            located.rule.weight =
                number(self.field(8)).ok_or_else(|| self.expected(8, "a number, such as 1"))?;
        }
        Ok(located)
    }

    fn rule(
        &self,
        head: usize,
        dependent: usize,
        place: Place,
        target: Target,
        mut columns: Vec<(Part, usize)>,
    ) -> Result<LocatedRule, Problem> {
        columns.push((Part::Rule, self.column(0)));
        if self.field(dependent) == "ROOT" {
            let message = "found ROOT as the dependent, expected a tag: the root has no head (in an \
                           arrow, write ROOT -> TAG; in a table, write ROOT as the parent)";
            return Err(self.problem(dependent, message.to_owned()));
        }
        let head = match self.field(head) {
            "ROOT" => Head::Root,
            _ => Head::Word(self.test(head, self.field(head))?),
        };
        let rule = Rule {
            name: format!("line-{}", self.line),
            line: self.line,
            dependent: self.test(dependent, self.field(dependent))?,
            head,
            nearest: false,
            as_label: None,
            place,
            counting: Counting::Pairs,
            target,
            weight: 1.0,
            group: None,
        };
        Ok(LocatedRule { rule, columns })
    }

    /// Reads a tag or `*`. Tags are not quoted here.
    fn test(&self, field: usize, tag: &str) -> Result<Test, Problem> {
        match tag {
            "" => Err(self.problem(field, "found nothing, expected a tag or *".to_owned())),
            "*" => Ok(Test::any()),
            tag => Ok(Test::is(self.tags.clone(), tag)),
        }
    }

    fn target(&self, field: usize) -> Result<Target, Problem> {
        let found = self.field(field);
        plain_target(found).ok_or_else(|| {
            let message = format!("target: found {found:?}, expected 0.75, 75%, bin:0.83 or ?");
            self.problem(field, message)
        })
    }

    /// Reads `3`, `6-10`, `>10` or `*`.
    fn distance(&self) -> Result<Option<Distance>, Problem> {
        let word = self.field(4);
        let number = |word: &str| word.parse::<usize>().ok();
        let distance = match (word.strip_prefix('>'), word.split_once('-')) {
            _ if word == "*" => return Ok(None),
            (Some(limit), _) => number(limit)
                .and_then(|limit| limit.checked_add(1))
                .map(|least| Distance { least, most: None }),
            (None, Some((least, most))) => number(least)
                .zip(number(most))
                .map(|(least, most)| Distance { least, most: Some(most) }),
            (None, None) => number(word).map(|at| Distance { least: at, most: Some(at) }),
        };
        distance.map(Some).ok_or_else(|| self.expected(4, "a distance: 1, 6-10, >10 or *"))
    }

    fn between(&self) -> Result<Vec<Between>, Problem> {
        if self.field(0) != "between" {
            return Ok(Vec::new());
        }
        match self.field(5) {
            "*" | "" => Err(self.expected(5, "the tag of a word between parent and child")),
            tag => Ok(vec![Between { some: true, test: self.test(5, tag)? }]),
        }
    }

    /// Reads `p-1=det,c+1=noun`. A tag may be a comma.
    fn beside(&self) -> Result<Vec<(Neighbour, Test)>, Problem> {
        let mut rest = self.field(5);
        match self.field(0) {
            "surround" => {}
            "edge" if !matches!(rest, "*" | "") => {
                return Err(self.expected(5, "*: a rule of type edge has no context"));
            }
            _ => return Ok(Vec::new()),
        }
        let mut beside = Vec::new();
        loop {
            let found = NEIGHBOURS.iter().find_map(|&(prefix, neighbour)| {
                rest.strip_prefix(prefix).map(|rest| (neighbour, rest))
            });
            let Some((neighbour, after)) = found else {
                return Err(
                    self.expected(5, "p-1=, p+1=, c-1= or c+1= with a tag, such as p-1=det")
                );
            };
            let next = after.match_indices(',').map(|(at, _)| at).find(|&at| {
                NEIGHBOURS.iter().any(|(prefix, _)| after[at + 1..].starts_with(prefix))
            });
            beside.push((neighbour, self.test(5, &after[..next.unwrap_or(after.len())])?));
            match next {
                Some(at) => rest = &after[at + 1..],
                None => return Ok(beside),
            }
        }
    }
}
