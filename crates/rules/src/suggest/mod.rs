//! Rules counted in a treebank: the oracle selections of the paper.
//!
//! A predicate g of arcs matches c̃(g) candidate arcs of a treebank; c̃_edge(g) of them are in gold trees. The
//! target of the rule is p̃(edge | g) = c̃_edge(g) / c̃(g), exact or rounded by [`bin`]. A [`Selection`] chooses
//! which predicates become rules. All but `Nearest` are from Druck, Mann and McCallum (2009):
//!
//! | selection | predicates | threshold | first K by |
//! |---|---|---|---|
//! | [`Top`](Selection::Top) | head, dependent, direction | c̃ ≥ 200 | p̃ |
//! | [`Nearest`](Selection::Nearest) | the same, nearest head only | words ≥ 200 | share of those words |
//! | [`Parents`](Selection::Parents) | the same and distance 1, 2, 3, 4, 5, 6..10, 11.. | c̃_edge > 100 | c̃_edge |
//! | [`ParentsSequence`](Selection::ParentsSequence) | those, and 25 with clauses | p̃ ≥ ¾; ≤ ¼ without them | c̃ |
//! | [`Curve`](Selection::Curve) | half with distance, half with clauses too | c̃ > 50 | p̃ |
//!
//! The root is one of the heads and has no distance. Its rules count `of pairs` like the others, except in
//! `Nearest`, where they count `of words`. Clauses are `some TAG between`, one neighbour of head or dependent, or
//! two neighbours.
//! Redundant clauses are skipped:
//!
//! - a neighbour that is the other word, or the only word between;
//! - a second neighbour if one alone is enough (`ParentsSequence`) or as good (`Curve`);
//! - in `Curve`, a clause that does not raise p̃.
//!
//! Cost: O(n²) hash look-ups per sentence. Clauses take two more passes, with about ten look-ups per candidate.
//! Only clauses that hold for some gold arc are counted. Shares are compared in integers, and ties are broken by
//! tag names, so the same treebank gives the same rules.

mod count;

use std::cmp::Ordering;
use std::collections::HashSet;

use tutte_treebank::Sentence;

use self::count::{Clause, Context, Count, Counts, EncodedTreebank, Family, ROOT, Slot};
use crate::error::Invalid;
use crate::rule::{Between, Counting, Direction, Head, Place, Rule, Target, bin};
use crate::rule_set::RuleSet;

/// Options for counting rules in a treebank.
///
/// ```
/// use tutte_rules::suggest::{Selection, Suggest};
/// use tutte_treebank::Sentence;
///
/// let sentence: Sentence = "\
/// 1\tthe\tthe\tDET\t_\t_\t2\tdet\t_\t_
/// 2\tcat\tcat\tNOUN\t_\t_\t3\tnsubj\t_\t_
/// 3\tsleeps\tsleep\tVERB\t_\t_\t0\troot\t_\t_
/// ".parse()?;
/// let suggest =
///     Suggest { selection: Selection::Nearest, top: 3, least: Some(1), ..Suggest::default() };
/// let rules = suggest.rules("counted.tut", &[sentence])?;
/// assert_eq!(rules.to_string(), "\
/// DET-NOUN-right:   DET   <- nearest NOUN  head right  100%
/// NOUN-VERB-right:  NOUN  <- nearest VERB  head right  100%
/// VERB-ROOT:        VERB  <- ROOT                      100% of words
/// ");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suggest {
    /// Predicates that become rules.
    pub selection: Selection,
    /// Largest number of rules, not counting those that [`sequence`](Suggest::sequence) adds.
    pub top: usize,
    /// Frequency threshold; `None` is that of the paper.
    ///
    /// At least this many pairs ([`Selection::Top`]) or words ([`Selection::Nearest`]); more than this many arcs
    /// ([`Selection::Parents`]) or pairs ([`Selection::Curve`]).
    pub least: Option<u64>,
    /// Column of the tags.
    pub tags: TagColumn,
    /// Order of the rules, for [`Selection::Top`] and [`Selection::Nearest`].
    pub order: Order,
    /// Rounds targets by [`bin`].
    pub binned: bool,
    /// Largest number of rules with clauses that [`Selection::ParentsSequence`] adds.
    pub sequence: usize,
}

/// Predicates that become rules; see [the module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Head, dependent and direction, `of pairs`.
    Top,
    /// Head, dependent and direction, `nearest`.
    Nearest,
    /// Head, dependent, direction and distance.
    Parents,
    /// Those of `Parents`, and predicates with clauses that make an improbable arc probable.
    ParentsSequence,
    /// Half of them with distance, half with distance and clauses.
    Curve,
}

/// Column of the tags in predicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TagColumn {
    /// UPOS; in CoNLL-X, the coarse tags.
    #[default]
    Upos,
    /// XPOS, or UPOS for a word without XPOS.
    Xpos,
}

/// Order of suggested rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The largest share first.
    #[default]
    Share,
    /// The largest number of gold arcs first.
    Arcs,
}

/// [`Selection::Parents`] by UPOS, with rounded targets.
impl Default for Suggest {
    fn default() -> Self {
        Self {
            selection: Selection::Parents,
            top: usize::MAX,
            least: None,
            tags: TagColumn::Upos,
            order: Order::Share,
            binned: true,
            sequence: 25,
        }
    }
}

/// A predicate and its counts.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    family: Family,
    context: Option<Context>,
    count: Count,
}

impl Suggest {
    /// Counts the rules in a treebank and returns them in order. Words without a head are ignored.
    ///
    /// # Errors
    /// [`Invalid`] if a tag of the treebank cannot be written in a rule.
    pub fn rules(&self, file: &str, treebank: &[Sentence]) -> Result<RuleSet, Invalid> {
        let treebank = EncodedTreebank::new(treebank, self.tags);
        let candidates = match self.selection {
            Selection::Top => self.top(&treebank.pairs(false)),
            Selection::Nearest => self.top(&treebank.nearest()),
            Selection::Parents => self.parents(&treebank.pairs(true)),
            Selection::ParentsSequence => {
                let bases = treebank.pairs(true);
                let mut chosen = self.parents(&bases);
                chosen.extend(self.sequences(&treebank, &bases));
                chosen
            }
            Selection::Curve => self.curve(&treebank, &treebank.pairs(true)),
        };
        let mut names = HashSet::new();
        let rule = |(line, candidate)| self.rule(&treebank, line, candidate, &mut names);
        RuleSet::new(file, (1..).zip(&candidates).map(rule).collect())
    }

    /// Returns the frequency threshold.
    pub fn least(&self) -> u64 {
        self.least.unwrap_or(match self.selection {
            Selection::Top | Selection::Nearest => 200,
            Selection::Parents | Selection::ParentsSequence => 100,
            Selection::Curve => 50,
        })
    }

    fn top(&self, counts: &Counts) -> Vec<Candidate> {
        let least = self.least();
        let order = match self.order {
            Order::Share => by_share,
            Order::Arcs => by_arcs,
        };
        first(self.top, order, without_clauses(counts).filter(|one| one.count.units >= least))
    }

    fn parents(&self, counts: &Counts) -> Vec<Candidate> {
        let least = self.least();
        first(self.top, by_arcs, without_clauses(counts).filter(|one| one.count.arcs > least))
    }

    /// Chooses clauses that make an improbable arc (p̃ ≤ ¼) probable (p̃ ≥ ¾).
    fn sequences(&self, treebank: &EncodedTreebank, bases: &Counts) -> Vec<Candidate> {
        let is_improbable =
            |family: Family| bases.get(&family).is_some_and(|c| 4 * c.arcs <= c.units);
        let is_probable = |count: &Count| 4 * count.arcs >= 3 * count.units;
        let contexts = treebank.contexts(is_improbable);
        let found = contexts.iter().flat_map(|(&family, counts)| {
            let is_new = |context: Context| {
                !context.parts().any(|part| counts.get(&part).is_some_and(is_probable))
            };
            let chosen = counts
                .iter()
                .filter(move |&(&context, count)| is_probable(count) && is_new(context));
            chosen.map(move |(&context, &count)| Candidate {
                family,
                context: Some(context),
                count,
            })
        });
        first(self.sequence, by_units, found)
    }

    /// Chooses half of the predicates without clauses, and half with clauses that raise p̃.
    fn curve(&self, treebank: &EncodedTreebank, bases: &Counts) -> Vec<Candidate> {
        let least = self.least();
        let with_clauses = self.top / 2;
        let is_frequent = |one: &Candidate| one.count.units > least;
        let mut chosen =
            first(self.top - with_clauses, by_share, without_clauses(bases).filter(is_frequent));
        let contexts =
            treebank.contexts(|family| bases.get(&family).is_some_and(|c| c.units > least));
        let found = contexts.iter().flat_map(|(&family, counts)| {
            let is_better = move |count: &Count, other: Option<&Count>| {
                other.is_none_or(|other| count.compare_share(other) == Ordering::Greater)
            };
            let is_new = move |context: Context, count: &Count| {
                is_better(count, bases.get(&family))
                    && context.parts().all(|part| is_better(count, counts.get(&part)))
            };
            let chosen = counts.iter().filter(move |&(&context, count)| is_new(context, count));
            chosen.map(move |(&context, &count)| Candidate {
                family,
                context: Some(context),
                count,
            })
        });
        chosen.extend(first(with_clauses, by_share, found.filter(is_frequent)));
        chosen
    }

    fn rule(
        &self,
        treebank: &EncodedTreebank,
        line: usize,
        candidate: &Candidate,
        names: &mut HashSet<String>,
    ) -> Rule {
        let Candidate { family, context, count } = candidate;
        let is_root = family.head == ROOT;
        let share = count.arcs as f64 / count.units.max(1) as f64;
        let direction = if is_root {
            Direction::Any
        } else if family.is_head_right {
            Direction::Right
        } else {
            Direction::Left
        };
        let mut place = Place { direction, distance: family.distance(), ..Place::default() };
        for &Clause { slot, tag } in context.iter().flat_map(Context::clauses) {
            match slot {
                Slot::Between => {
                    place.between.push(Between { some: true, test: treebank.test(tag) });
                }
                Slot::Beside(neighbour) => place.beside.push((neighbour, treebank.test(tag))),
            }
        }
        Rule {
            name: unique(treebank.name(*family, context.as_ref()), names),
            line,
            dependent: treebank.test(family.dependent),
            head: if is_root { Head::Root } else { Head::Word(treebank.test(family.head)) },
            nearest: self.selection == Selection::Nearest && !is_root,
            as_label: None,
            place,
            counting: match self.selection {
                Selection::Nearest if is_root => Counting::Words,
                Selection::Nearest => Counting::Nearest,
                _ => Counting::Pairs,
            },
            target: Target::Exactly(if self.binned { bin(share) } else { share }),
            weight: 1.0,
            group: None,
        }
    }
}

fn without_clauses(counts: &Counts) -> impl Iterator<Item = Candidate> {
    counts.iter().map(|(&family, &count)| Candidate { family, context: None, count })
}

/// Sorts candidates and returns the first `top`.
fn first(
    top: usize,
    order: fn(&Candidate, &Candidate) -> Ordering,
    candidates: impl Iterator<Item = Candidate>,
) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = candidates.collect();
    candidates.sort_unstable_by(order);
    candidates.truncate(top);
    candidates
}

/// The largest share first, then the most frequent.
fn by_share(a: &Candidate, b: &Candidate) -> Ordering {
    b.count.compare_share(&a.count).then(b.count.units.cmp(&a.count.units)).then(by_name(a, b))
}

/// The most arcs first, then the largest share.
fn by_arcs(a: &Candidate, b: &Candidate) -> Ordering {
    b.count.arcs.cmp(&a.count.arcs).then_with(|| by_share(a, b))
}

/// The most frequent first, then the largest share.
fn by_units(a: &Candidate, b: &Candidate) -> Ordering {
    b.count.units.cmp(&a.count.units).then_with(|| by_share(a, b))
}

/// By tag names, because tags are numbered in the order of their names.
fn by_name(a: &Candidate, b: &Candidate) -> Ordering {
    (a.family, a.context).cmp(&(b.family, b.context))
}

/// Makes a name valid and unique: replaces special characters, and adds a number if the name is taken.
fn unique(name: String, names: &mut HashSet<String>) -> String {
    let is_special = |c: char| c.is_whitespace() || "|[],\"=~<:#".contains(c);
    let name = name.replace(is_special, "_");
    let numbered = |number| match number {
        1 => name.clone(),
        _ => format!("{name}.{number}"),
    };
    let mut free = (1usize..).map(numbered).filter(|name| !names.contains(name));
    let name = free.next().unwrap_or_default();
    names.insert(name.clone());
    name
}
