//! Parser of rules files. Each line is a rule `name: DEPENDENT <- HEAD …` or a line of [`paper_format`].

use crate::condition::Attribute;
use crate::cursor::Cursor;
use crate::error::{Invalid, Problem};
use crate::located::{LocatedRule, Part};
use crate::number::{number, plain_target, share};
use crate::paper_format;
use crate::rule::{Between, Counting, Direction, Distance, Head, Neighbour, Place, Rule, Target};

/// The clauses after the head, for error messages.
const CLAUSES: &str = "a target (90%, 0.6..0.8, >= 50%, always, never), `head left`, `head right`, \
                       `distance`, `adjacent`, `no … between`, `some … between`, `head just`, \
                       `dependent just`, `as`, `of`, `weight` or `group`";

/// Decodes the bytes of a file as UTF-8.
pub(crate) fn utf8<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, Invalid> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let byte = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
        let message = format!("found the byte {byte:#04x}, expected UTF-8: save the file as UTF-8");
        Invalid { file: file.to_owned(), problems: vec![Problem { line, column, message }] }
    })
}

/// Reads all lines of a file. Returns the rules, and the problems of the lines that are not rules.
pub(crate) fn lines(text: &str) -> (Vec<LocatedRule>, Vec<Problem>) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rules = Vec::new();
    let mut problems = Vec::new();
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
            _ if is_conll(text) => {
                let message = "this is a line of a treebank (CoNLL), not a rule: are the files in the wrong order? The \
                               file of rules comes first, then the treebank"
                    .to_owned();
                return (Vec::new(), vec![Problem { line, column: 1, message }]);
            }
            _ => match rule(text, line, &tags) {
                Ok(rule) => rules.extend(rule),
                Err(problem) => problems.push(problem),
            },
        }
    }
    (rules, problems)
}

/// Returns `true` for a line of CoNLL-U or CoNLL-X: a number, and at least eight columns.
fn is_conll(line: &str) -> bool {
    let mut columns = line.split('\t');
    let is_id = |c: char| c.is_ascii_digit() || c == '-' || c == '.';
    let first = columns.next().unwrap_or_default();
    first.starts_with(|c: char| c.is_ascii_digit())
        && first.chars().all(is_id)
        && columns.count() >= 7
}

/// Reads a rule. Returns `None` for the header of a table.
pub(crate) fn rule(
    text: &str,
    line: usize,
    tags: &Attribute,
) -> Result<Option<LocatedRule>, Problem> {
    if let Some(found) = paper_format::rule(text, line, tags) {
        return found;
    }
    named_rule(&mut Cursor::new(text, line, tags), line).map(Some)
}

fn named_rule(cursor: &mut Cursor<'_>, line: usize) -> Result<LocatedRule, Problem> {
    let start = cursor.column();
    let name = cursor.name().ok_or_else(|| {
        cursor.expected(
            "a name and a colon, as in `det: DET <- nearest NOUN  head right  90%` (only \
             `TAG <- TAG NUMBER` needs no name)",
        )
    })?;
    let dependent_column = cursor.column();
    let dependent = cursor.test("the dependent: a tag, NOUN|PRON or *")?;
    if !cursor.eat("<-") {
        return Err(cursor.expected("`<-` between dependent and head"));
    }
    let nearest_column = cursor.column();
    let nearest = cursor.eat_word("nearest");
    let head_column = cursor.column();
    let head = if cursor.eat_word("ROOT") {
        Head::Root
    } else {
        Head::Word(cursor.test("the head: ROOT, a tag, NOUN|PROPN or *")?)
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
        counting: clauses.counting.unwrap_or(Rule::default_counting(nearest)),
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
    Ok(LocatedRule { rule, columns })
}

/// The clauses after the head.
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
            "head" | "dependent" => self.position(cursor)?,
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
                let test = cursor.test("a tag, as in `no PUNCT between`")?;
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

    /// Reads `head left`, `head right`, `head just after TEST` or `dependent just before TEST`.
    fn position(&mut self, cursor: &mut Cursor<'_>) -> Result<Part, Problem> {
        let column = cursor.column();
        let is_head = cursor.word() == "head";
        let direction = match cursor.peek() {
            "left" if is_head => Direction::Left,
            "right" if is_head => Direction::Right,
            "just" => {
                cursor.word();
                let neighbour = match (is_head, cursor.peek()) {
                    (true, "after") => Neighbour::BeforeHead,
                    (true, "before") => Neighbour::AfterHead,
                    (false, "after") => Neighbour::BeforeDependent,
                    (false, "before") => Neighbour::AfterDependent,
                    _ => return Err(cursor.expected("`after` or `before` after `just`")),
                };
                cursor.word();
                let test = cursor.test("a tag, as in `just after DET`")?;
                self.place.beside.push((neighbour, test));
                return Ok(Part::Beside(neighbour));
            }
            _ if is_head => return Err(cursor.expected("`left`, `right` or `just` after `head`")),
            _ => return Err(cursor.expected("`just` after `dependent`")),
        };
        cursor.word();
        if self.place.direction != Direction::Any {
            let message = "found a second direction: a rule has at most one, remove one of them";
            return Err(cursor.problem(column, message.to_owned()));
        }
        self.place.direction = direction;
        Ok(Part::Direction)
    }
}

/// Sets the value of a clause that a rule may have only once.
fn once<T>(
    cursor: &Cursor<'_>,
    column: usize,
    what: &str,
    slot: &mut Option<T>,
    value: T,
) -> Result<(), Problem> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(cursor.problem(
            column,
            format!("found a second {what}: a rule has at most one, remove one of them"),
        )),
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
        None => plain_target(word),
    };
    let target = target.ok_or_else(|| cursor.expected(CLAUSES))?;
    cursor.word();
    Ok(target)
}
