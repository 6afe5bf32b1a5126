//! Reading rules: the form that can be read aloud.

use super::check::{Open, Part, Placed};
use super::cursor::Cursor;
use super::{
    Attribute, Between, Counting, Direction, Distance, Head, Invalid, Neighbour, Place, Problem,
    Rule, Rules, Target, bin, paper_format,
};

/// What may stand after the head.
const CLAUSES: &str = "a target (90%, 0.6..0.8, >= 50%, always, never), `head left`, `head right`, \
                       `distance`, `adjacent`, `no … between`, `some … between`, `head just`, \
                       `dependent just`, `as`, `of`, `weight` or `group`";

pub(super) fn rules(file: &str, text: &str, open: Open) -> Result<Rules, Invalid> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mut rules, mut problems) = (Vec::new(), Vec::new());
    let mut tags = Attribute::Upos;
    for (line, text) in (1..).zip(text.lines()) {
        match text.trim() {
            "" => {}
            header if header.starts_with("#tags") => match paper_format::tags(header) {
                Some(attribute) => tags = attribute,
                None => {
                    let message = format!("found {header:?}, expected #tags=pos or #tags=cpos");
                    problems.push(Problem { line, column: 1, message });
                }
            },
            comment if comment.starts_with('#') => {}
            _ => match rule(text, line, &tags) {
                Ok(rule) => rules.extend(rule),
                Err(problem) => problems.push(problem),
            },
        }
    }
    Rules::checked(file, rules, problems, open)
}

/// A line that is a rule, or the head of a table.
pub(super) fn rule(text: &str, line: usize, tags: &Attribute) -> Result<Option<Placed>, Problem> {
    if let Some(found) = paper_format::rule(text, line, tags) {
        return found;
    }
    aloud(&mut Cursor::new(text, line, tags), line).map(Some)
}

fn aloud(cursor: &mut Cursor<'_>, line: usize) -> Result<Placed, Problem> {
    let start = cursor.column();
    let name = cursor.name().ok_or_else(|| {
        cursor.expected(
            "a name and a colon, as in `det: DET <- nearest NOUN  head right  90%` (without a name: \
             TAG <- TAG NUMBER)",
        )
    })?;
    let dependent_column = cursor.column();
    let dependent = cursor.test("which words depend, such as DET, NOUN|PRON or *")?;
    if !cursor.eat("<-") {
        return Err(cursor.expected("`<-` between dependent and head"));
    }
    let nearest_column = cursor.column();
    let nearest = cursor.eat_word("nearest");
    let head_column = cursor.column();
    let head = match cursor.eat_word("ROOT") {
        true => Head::Root,
        false => Head::Word(cursor.test("the head: ROOT, or a test such as NOUN|PROPN")?),
    };
    let mut clauses = Clauses::default();
    while !cursor.at_end() {
        clauses.read(cursor)?;
    }
    let Some(target) = clauses.target else {
        return Err(cursor.expected("a target, such as 90%, 60%..80%, >= 50%, always or never"));
    };
    let rule = Rule {
        name: name.to_owned(),
        line,
        dependent,
        head,
        nearest,
        as_label: clauses.as_label,
        place: clauses.place,
        counting: clauses.counting.unwrap_or(Rule::usual_counting(nearest)),
        target,
        weight: clauses.weight.unwrap_or(1.0),
        group: clauses.group,
    };
    let mut columns = clauses.columns;
    columns.extend([
        (Part::Rule, start),
        (Part::Dependent, dependent_column),
        (Part::Nearest, nearest_column),
        (Part::Head, head_column),
    ]);
    Ok(Placed { rule, columns })
}

/// What stands after the head.
#[derive(Default)]
struct Clauses {
    as_label: Option<String>,
    place: Place,
    target: Option<Target>,
    counting: Option<Counting>,
    weight: Option<f64>,
    group: Option<String>,
    columns: Vec<(Part, usize)>,
}

impl Clauses {
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Problem> {
        let column = cursor.column();
        let part = match cursor.peek() {
            "as" => {
                cursor.word();
                let label = cursor.value("a label after `as`")?.0;
                once(cursor, column, "label", &mut self.as_label, label)?;
                Part::Label
            }
            "head" | "dependent" => self.stands(cursor)?,
            "distance" => {
                cursor.word();
                let distance = distance(cursor)?;
                once(cursor, column, "distance", &mut self.place.distance, distance)?;
                Part::Distance
            }
            "adjacent" => {
                cursor.word();
                let distance = Distance { least: 1, most: Some(1) };
                once(cursor, column, "distance", &mut self.place.distance, distance)?;
                Part::Distance
            }
            word @ ("no" | "some") => {
                cursor.word();
                let test = cursor.test("which words, such as PUNCT")?;
                if !cursor.eat_word("between") {
                    return Err(cursor.expected("`between`, as in `no PUNCT between`"));
                }
                self.place.between.push(Between { some: word == "some", test });
                Part::Between
            }
            "weight" => {
                cursor.word();
                let at = cursor.column();
                let word = cursor.peek();
                let weight = number(word).ok_or_else(|| cursor.expected("a number after `weight`"));
                let weight = weight?;
                cursor.word();
                once(cursor, at, "weight", &mut self.weight, weight)?;
                self.columns.push((Part::Weight, at));
                return Ok(());
            }
            "group" => {
                cursor.word();
                let group = cursor.value("a name after `group`")?.0;
                once(cursor, column, "group", &mut self.group, group)?;
                Part::Group
            }
            "of" => {
                cursor.word();
                let counting = match cursor.peek() {
                    "pairs" => Counting::Pairs,
                    "words" => Counting::Words,
                    "nearest" => Counting::Nearest,
                    _ => return Err(cursor.expected("`pairs`, `words` or `nearest` after `of`")),
                };
                cursor.word();
                once(cursor, column, "`of`", &mut self.counting, counting)?;
                Part::Counting
            }
            _ => {
                let target = target(cursor)?;
                once(cursor, column, "target", &mut self.target, target)?;
                Part::Target
            }
        };
        self.columns.push((part, column));
        Ok(())
    }

    /// `head left`, `head right`, `head just after TEST`, `dependent just before TEST`.
    fn stands(&mut self, cursor: &mut Cursor<'_>) -> Result<Part, Problem> {
        let column = cursor.column();
        let head = cursor.word() == "head";
        let direction = match cursor.peek() {
            "left" if head => Direction::Left,
            "right" if head => Direction::Right,
            "just" => {
                cursor.word();
                let neighbour = match (head, cursor.peek()) {
                    (true, "after") => Neighbour::BeforeHead,
                    (true, "before") => Neighbour::AfterHead,
                    (false, "after") => Neighbour::BeforeDependent,
                    (false, "before") => Neighbour::AfterDependent,
                    _ => return Err(cursor.expected("`after` or `before` after `just`")),
                };
                cursor.word();
                let test = cursor.test("which word, such as DET")?;
                self.place.beside.push((neighbour, test));
                return Ok(Part::Beside(neighbour));
            }
            _ if head => return Err(cursor.expected("`left`, `right` or `just` after `head`")),
            _ => return Err(cursor.expected("`just` after `dependent`")),
        };
        cursor.word();
        if self.place.direction != Direction::Any {
            return Err(cursor.problem(column, "the direction is given twice".to_owned()));
        }
        self.place.direction = direction;
        Ok(Part::Direction)
    }
}

/// Sets what may be said once.
fn once<T>(
    cursor: &Cursor<'_>,
    column: usize,
    what: &str,
    slot: &mut Option<T>,
    value: T,
) -> Result<(), Problem> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(cursor.problem(column, format!("a second {what}: a rule has one"))),
    }
}

fn distance(cursor: &mut Cursor<'_>) -> Result<Distance, Problem> {
    let word = cursor.peek();
    let (least, most) = match word.split_once("..") {
        Some((least, "")) => (least.parse().ok(), Some(None)),
        Some((least, most)) => (least.parse().ok(), most.parse().ok().map(Some)),
        None => (word.parse().ok(), word.parse().ok().map(Some)),
    };
    let (Some(least), Some(most)) = (least, most) else {
        return Err(cursor.expected("a distance: 1, 1..3 or 4.."));
    };
    cursor.word();
    Ok(Distance { least, most })
}

fn target(cursor: &mut Cursor<'_>) -> Result<Target, Problem> {
    if cursor.eat_word("always") {
        return Ok(Target::Always);
    }
    if cursor.eat_word("never") {
        return Ok(Target::Never);
    }
    for sign in [">=", "≥", "<=", "≤"] {
        if cursor.eat(sign) {
            let word = cursor.peek();
            let Some(share) = share(word) else {
                return Err(cursor.expected(&format!("a share after `{sign}`, such as 50% or 0.5")));
            };
            cursor.word();
            let at_least = matches!(sign, ">=" | "≥");
            return Ok(if at_least { Target::AtLeast(share) } else { Target::AtMost(share) });
        }
    }
    let word = cursor.peek();
    let target = match word.split_once("..") {
        Some((low, high)) => {
            share(low).zip(share(high)).map(|(low, high)| Target::Range(low, high))
        }
        None => exactly(word),
    };
    let target = target.ok_or_else(|| cursor.expected(CLAUSES))?;
    cursor.word();
    Ok(target)
}

/// `0.75`, `75%`, `bin:0.83` or `?`.
pub(super) fn exactly(word: &str) -> Option<Target> {
    if word == "?" {
        return Some(Target::Open);
    }
    match word.strip_prefix("bin:") {
        // What is not a share stays as it is, and is refused with the others.
        Some(word) => share(word).map(|p| if p <= 1.0 { bin(p) } else { p }),
        None => share(word),
    }
    .map(Target::Exactly)
}

/// `0.75` or `75%`; whether it is at most 1 is asked later.
fn share(word: &str) -> Option<f64> {
    match word.strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => number(word),
    }
}

/// A number without sign or exponent, so that neither `nan` nor `inf` is one.
pub(super) fn number(word: &str) -> Option<f64> {
    let digits = |c: char| c.is_ascii_digit() || c == '.';
    word.parse().ok().filter(|number: &f64| word.chars().all(digits) && number.is_finite())
}
