//! Rules that can be read and cannot be meant.

use std::collections::BTreeMap;

use super::{
    Attribute, Counting, Direction, Head, Neighbour, Problem, Rule, Target, cursor, read, test,
};

/// A piece of a rule, for errors about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
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

/// Whether targets may be open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    Allowed,
    Refused,
}

/// A rule, and the columns of its parts.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) rule: Rule,
    pub(super) columns: Vec<(Part, usize)>,
}

impl From<Rule> for Placed {
    fn from(rule: Rule) -> Self {
        Self { rule, columns: Vec::new() }
    }
}

impl Placed {
    fn problem(&self, part: Part, message: String) -> Problem {
        let column = self.columns.iter().find(|(found, _)| *found == part);
        Problem { line: self.rule.line, column: column.map_or(1, |&(_, column)| column), message }
    }
}

/// What is wrong with a rule that a program has made and no file could hold.
pub(super) fn writable(rule: &Rule) -> Option<Problem> {
    let text = rule.to_string();
    let read = read::rule(&text, rule.line, &Attribute::Upos);
    let same = matches!(&read, Ok(Some(read)) if read.rule == *rule);
    (!same || text.contains(['\n', '\r'])).then(|| Problem {
        line: rule.line,
        column: 1,
        message: format!(
            "the rule {text:?} would not be read as it is meant{}",
            read.err().map_or(String::new(), |problem| format!(": {}", problem.message))
        ),
    })
}

/// The rules to keep, in order, and warnings about the others; what is wrong is added to `problems`.
pub(super) fn check(
    rules: Vec<Placed>,
    problems: &mut Vec<Problem>,
    open: Open,
) -> (Vec<Rule>, Vec<Problem>) {
    let (mut kept, mut warnings) = (Vec::<Rule>::new(), Vec::new());
    let mut names = BTreeMap::new();
    let mut predicates = BTreeMap::<String, usize>::new();
    for mut placed in rules {
        let before = problems.len();
        alone(&placed, problems);
        if placed.rule.target == Target::Open && open == Open::Refused {
            let message = "the target is open (?): `tutte rules suggest --fill RULES TREEBANK` counts it \
                           in a treebank";
            problems.push(placed.problem(Part::Target, message.to_owned()));
        }
        if placed.rule.head == Head::Root && placed.rule.place.direction == Direction::Left {
            // The root always stands there.
            placed.rule.place.direction = Direction::Any;
        }
        let line = placed.rule.line;
        if let Some(first) = names.insert(placed.rule.name.clone(), line) {
            let message = format!(
                "found the name {:?} again, which line {first} has: give each rule its own",
                placed.rule.name
            );
            problems.push(placed.problem(Part::Rule, message));
        }
        if problems.len() > before {
            continue;
        }
        match predicates.get(&predicate(&placed.rule)).map(|&at| &kept[at]) {
            Some(first) if first.target == placed.rule.target => {
                let message =
                    format!("this is the rule of line {} again, and is left out", first.line);
                warnings.push(placed.problem(Part::Rule, message));
            }
            Some(first) => {
                let message = format!(
                    "the target here is {}, but {} for the same arcs on line {}: keep one of them",
                    placed.rule.target, first.target, first.line
                );
                problems.push(placed.problem(Part::Target, message));
            }
            None => {
                predicates.insert(predicate(&placed.rule), kept.len());
                kept.push(placed.rule);
            }
        }
    }
    warnings.extend(overfull(&kept));
    (kept, warnings)
}

/// Groups whose shares add up to more than there is to share out.
fn overfull(rules: &[Rule]) -> Vec<Problem> {
    let mut sums = BTreeMap::<&str, (usize, f64)>::new();
    for rule in rules {
        if let Some(group) = &rule.group {
            sums.entry(group).or_insert((rule.line, 0.0)).1 += rule.target.bounds().0;
        }
    }
    // Percentages that add up to 100 may do so but nearly.
    let full = sums.into_iter().filter(|(_, (_, sum))| *sum > 1.0 + 1e-9);
    full.map(|(group, (line, sum))| Problem {
        line,
        column: 1,
        message: format!(
            "the shares of group {group} add up to {:.0} %, but a group shares out the heads of one kind of \
             word: lower some of them",
            100.0 * sum
        ),
    })
    .collect()
}

/// What a rule counts, as text that is the same for the same arcs: without its name and target, and with
/// alternatives in one order.
fn predicate(rule: &Rule) -> String {
    let sorted = |test: &test::Test| {
        let mut alternatives: Vec<String> =
            test.alternatives.iter().map(ToString::to_string).collect();
        alternatives.sort_unstable();
        alternatives.dedup();
        alternatives.join("|")
    };
    let head = match &rule.head {
        Head::Root => "ROOT".to_owned(),
        Head::Word(test) => sorted(test),
    };
    let place = &rule.place;
    let mut clauses: Vec<String> =
        place.between.iter().map(|b| format!("{} {}", b.some, sorted(&b.test))).collect();
    clauses.extend(place.beside.iter().map(|(n, test)| format!("{n:?} {}", sorted(test))));
    clauses.sort_unstable();
    clauses.dedup();
    format!(
        "{} <- {} {head} as {:?} {:?} {:?} {clauses:?} {:?}",
        sorted(&rule.dependent),
        rule.nearest,
        rule.as_label,
        place.direction,
        place.distance,
        rule.counting
    )
}

/// What is wrong with a rule whatever the others are.
fn alone(placed: &Placed, problems: &mut Vec<Problem>) {
    let Placed { rule, .. } = placed;
    let mut found = |part, message: &str| problems.push(placed.problem(part, message.to_owned()));
    let (low, high) = rule.target.bounds();
    let share = |share: f64| (0.0..=1.0).contains(&share);
    if !share(low) || !share(high) {
        let message = format!("found the target {}, expected 0 to 1, or 0% to 100%", rule.target);
        found(Part::Target, &message);
    } else if let Target::Range(low, high) = rule.target
        && low > high
    {
        found(Part::Target, "this range ends before it begins: write the smaller share first");
    }
    if !rule.weight.is_finite() || rule.weight <= 0.0 {
        let message = format!("found the weight {}, expected more than 0", rule.weight);
        found(Part::Weight, &message);
    }
    if let Some(distance) = rule.place.distance {
        if distance.least == 0 {
            found(Part::Distance, "found the distance 0, expected 1 or more: neighbours are at 1");
        }
        if distance.most.is_some_and(|most| most < distance.least) {
            found(
                Part::Distance,
                "this range ends before it begins: write the smaller distance first",
            );
        }
    }
    if rule.counting == Counting::Nearest && !rule.nearest {
        found(Part::Counting, "`of nearest` needs a rule with `nearest` before its head");
    }
    if rule.head == Head::Root {
        let place = &rule.place;
        if rule.nearest {
            found(Part::Nearest, "`nearest ROOT`: there is one root only, leave out `nearest`");
        }
        if place.direction == Direction::Right {
            found(
                Part::Direction,
                "this never matches: the root stands to the left of all words (as an arrow, \
                 ROOT -> TAG)",
            );
        }
        if place.distance.is_some() {
            found(Part::Distance, "this never matches: the root is at no distance from a word");
        }
        for neighbour in [Neighbour::BeforeHead, Neighbour::AfterHead] {
            if place.beside.iter().any(|(found, _)| *found == neighbour) {
                found(Part::Beside(neighbour), "this never matches: no word is beside the root");
            }
        }
    }
    let name = &rule.name;
    if name.is_empty() || cursor::needs_quotes(name, false) {
        found(Part::Rule, &format!("found {name:?}, expected a name without spaces and |[],\"=~<"));
    }
}
