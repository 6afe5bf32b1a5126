//! The rules that somebody would write who had counted: oracle selections from a treebank.
//!
//! A predicate g of arcs matches c̃(g) candidate arcs of a treebank, of which c̃_edge(g) are arcs of its trees.
//! The target of the rule is p̃(edge | g) = c̃_edge(g) / c̃(g), as it is or rounded by [`bin`]. Which predicates
//! become rules is a matter of taste; these are the selections of Druck, Mann and McCallum (2009), and one more:
//!
//! | kind | predicates | which | first K by |
//! |---|---|---|---|
//! | [`Top`](Kind::Top) | head, dependent, direction | c̃ ≥ 200 | p̃ |
//! | [`Nearest`](Kind::Nearest) | the same, of the nearest such head | words ≥ 200 | share of those words |
//! | [`Parents`](Kind::Parents) | the same and distance 1, 2, 3, 4, 5, 6..10, 11.. | c̃_edge > 100 | c̃_edge |
//! | [`ParentsSequence`](Kind::ParentsSequence) | those, and 25 with clauses | p̃ ≥ ¾ where it is ≤ ¼ without | c̃ |
//! | [`Curve`](Kind::Curve) | half with distance, half with clauses too | c̃ > 50 | p̃ |
//!
//! The root is one of the heads, at no distance; rules about it count `of pairs` as the others do, and `of
//! words` among nearest ones. Clauses are `some TAG between`, one neighbour of head or dependent, or two of them.
//! A clause that says nothing new is not looked at: neighbours that are the other word, or the only one between;
//! a second neighbour where one alone is enough (`ParentsSequence`) or as good (`Curve`); in `Curve`, a clause
//! without which p̃ is no smaller.
//!
//! Cost: O(n²) hash look-ups a sentence, once, and for clauses two times more with some ten of them for each
//! candidate. Only clauses that hold of some arc of a tree are ever counted. Order is decided in integers, and
//! in the end by the names of tags: the same treebank gives the same rules.

mod count;

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use tutte_treebank::Sentence;

use self::count::{Bank, Clause, Context, Count, Counts, Family, ROOT, Slot};
use super::{Between, Counting, Direction, Head, Invalid, Place, Rule, Rules, Target, bin};

/// How to choose rules by counting in a treebank.
///
/// ```
/// use tutte_rules::suggest::{Kind, Suggest};
/// use tutte_treebank::Sentence;
///
/// let sentence: Sentence = "\
/// 1\tthe\tthe\tDET\t_\t_\t2\tdet\t_\t_
/// 2\tcat\tcat\tNOUN\t_\t_\t3\tnsubj\t_\t_
/// 3\tsleeps\tsleep\tVERB\t_\t_\t0\troot\t_\t_
/// ".parse()?;
/// let suggest = Suggest { kind: Kind::Nearest, top: 3, least: Some(1), ..Suggest::default() };
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
    /// Which predicates.
    pub kind: Kind,
    /// How many rules at most; without those that [`sequence`](Suggest::sequence) adds.
    pub top: usize,
    /// What is too rare: fewer pairs ([`Kind::Top`]) or words ([`Kind::Nearest`]) than this, no more arcs
    /// ([`Kind::Parents`]) or pairs ([`Kind::Curve`]) than this. `None` is what the paper has.
    pub least: Option<u64>,
    /// Which tags.
    pub tags: Tags,
    /// What comes first, for [`Kind::Top`] and [`Kind::Nearest`].
    pub order: Order,
    /// Whether targets are rounded by [`bin`].
    pub binned: bool,
    /// How many rules with clauses [`Kind::ParentsSequence`] adds.
    pub sequence: usize,
}

/// Which predicates become rules; see [the module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Head, dependent and direction, `of pairs`.
    Top,
    /// Head, dependent and direction, `nearest`.
    Nearest,
    /// Head, dependent, direction and distance.
    Parents,
    /// The same, and what else is between or beside where that makes the difference.
    ParentsSequence,
    /// Half with distance, half with something between or beside as well.
    Curve,
}

/// Which tags predicates are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tags {
    /// UPOS; in CoNLL-X, the coarse tags.
    #[default]
    Upos,
    /// XPOS, or UPOS where a word has none.
    Xpos,
}

/// What comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// What is most certain: the largest share.
    #[default]
    Share,
    /// What explains most: the largest number of arcs.
    Arcs,
}

/// All possible parents by UPOS, with targets that people could have given.
impl Default for Suggest {
    fn default() -> Self {
        Self {
            kind: Kind::Parents,
            top: usize::MAX,
            least: None,
            tags: Tags::Upos,
            order: Order::Share,
            binned: true,
            sequence: 25,
        }
    }
}

/// A predicate, and what was counted of it.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    family: Family,
    context: Option<Context>,
    count: Count,
}

impl Suggest {
    /// The rules, the first ones first. Words without a head count nowhere.
    ///
    /// # Errors
    /// [`Invalid`] if a tag of the treebank cannot be written in a rule.
    pub fn rules(&self, file: &str, treebank: &[Sentence]) -> Result<Rules, Invalid> {
        let bank = Bank::new(treebank, self.tags);
        let candidates = match self.kind {
            Kind::Top => self.top(&bank.pairs(false)),
            Kind::Nearest => self.top(&bank.nearest()),
            Kind::Parents => self.parents(&bank.pairs(true)),
            Kind::ParentsSequence => {
                let bases = bank.pairs(true);
                let mut chosen = self.parents(&bases);
                chosen.extend(self.sequences(&bank, &bases));
                chosen
            }
            Kind::Curve => self.curve(&bank, &bank.pairs(true)),
        };
        let mut names = HashSet::new();
        let rule = |(line, candidate)| self.rule(&bank, line, candidate, &mut names);
        Rules::new(file, (1..).zip(&candidates).map(rule).collect())
    }

    /// What is too rare.
    pub fn least(&self) -> u64 {
        self.least.unwrap_or(match self.kind {
            Kind::Top | Kind::Nearest => 200,
            Kind::Parents | Kind::ParentsSequence => 100,
            Kind::Curve => 50,
        })
    }

    fn top(&self, counts: &Counts) -> Vec<Candidate> {
        let least = self.least();
        let by = match self.order {
            Order::Share => by_share,
            Order::Arcs => by_arcs,
        };
        first(self.top, by, plain(counts).filter(|one| one.count.units >= least))
    }

    fn parents(&self, counts: &Counts) -> Vec<Candidate> {
        let least = self.least();
        first(self.top, by_arcs, plain(counts).filter(|one| one.count.arcs > least))
    }

    /// Clauses that make an improbable arc probable.
    fn sequences(&self, bank: &Bank, bases: &Counts) -> Vec<Candidate> {
        let improbable = |family: Family| bases.get(&family).is_some_and(|c| 4 * c.arcs <= c.units);
        let enough = |count: &Count| 4 * count.arcs >= 3 * count.units;
        let contexts = bank.contexts(improbable);
        let found = contexts.iter().flat_map(|(&family, counts)| {
            let new = |context: Context| {
                !context.parts().any(|part| counts.get(&part).is_some_and(enough))
            };
            let chosen =
                counts.iter().filter(move |&(&context, count)| enough(count) && new(context));
            chosen.map(move |(&context, &count)| Candidate {
                family,
                context: Some(context),
                count,
            })
        });
        first(self.sequence, by_units, found)
    }

    fn curve(&self, bank: &Bank, bases: &Counts) -> Vec<Candidate> {
        let least = self.least();
        let with_clauses = self.top / 2;
        let often = |one: &Candidate| one.count.units > least;
        let mut chosen = first(self.top - with_clauses, by_share, plain(bases).filter(often));
        let contexts = bank.contexts(|family| bases.get(&family).is_some_and(|c| c.units > least));
        let found = contexts.iter().flat_map(|(&family, counts)| {
            let better = move |count: &Count, other: Option<&Count>| {
                other.is_none_or(|other| count.compare_share(other) == Ordering::Greater)
            };
            let new = move |context: Context, count: &Count| {
                better(count, bases.get(&family))
                    && context.parts().all(|part| better(count, counts.get(&part)))
            };
            let chosen = counts.iter().filter(move |&(&context, count)| new(context, count));
            chosen.map(move |(&context, &count)| Candidate {
                family,
                context: Some(context),
                count,
            })
        });
        chosen.extend(first(with_clauses, by_share, found.filter(often)));
        chosen
    }

    fn rule(
        &self,
        bank: &Bank,
        line: usize,
        candidate: &Candidate,
        names: &mut HashSet<String>,
    ) -> Rule {
        let Candidate { family, context, count } = candidate;
        let root = family.head == ROOT;
        let nearest = self.kind == Kind::Nearest && !root;
        let share = count.arcs as f64 / count.units.max(1) as f64;
        let direction = match family.right {
            _ if root => Direction::Any,
            true => Direction::Right,
            false => Direction::Left,
        };
        let mut place = Place { direction, distance: family.distance(), ..Place::default() };
        for &Clause { slot, tag } in context.iter().flat_map(Context::clauses) {
            match slot {
                Slot::Between => place.between.push(Between { some: true, test: bank.test(tag) }),
                Slot::Beside(neighbour) => place.beside.push((neighbour, bank.test(tag))),
            }
        }
        Rule {
            name: unique(bank.name(*family, context.as_ref()), names),
            line,
            dependent: bank.test(family.dependent),
            head: if root { Head::Root } else { Head::Word(bank.test(family.head)) },
            nearest,
            as_label: None,
            place,
            counting: match self.kind {
                Kind::Nearest if root => Counting::Words,
                Kind::Nearest => Counting::Nearest,
                _ => Counting::Pairs,
            },
            target: Target::Exactly(if self.binned { bin(share) } else { share }),
            weight: 1.0,
            group: None,
        }
    }
}

fn plain(counts: &Counts) -> impl Iterator<Item = Candidate> {
    counts.iter().map(|(&family, &count)| Candidate { family, context: None, count })
}

/// The first `top` in an order.
fn first(
    top: usize,
    by: fn(&Candidate, &Candidate) -> Ordering,
    candidates: impl Iterator<Item = Candidate>,
) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = candidates.collect();
    candidates.sort_unstable_by(by);
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

/// Tags are numbered in the order of their names.
fn by_name(a: &Candidate, b: &Candidate) -> Ordering {
    (a.family, a.context).cmp(&(b.family, b.context))
}

/// A name that no other rule has, without what names cannot have.
fn unique(name: String, names: &mut HashSet<String>) -> String {
    let odd = |c: char| c.is_whitespace() || "|[],\"=~<:#".contains(c);
    let name = name.replace(odd, "_");
    let again = |number| match number {
        1 => name.clone(),
        _ => format!("{name}.{number}"),
    };
    let mut free = (1usize..).map(again).filter(|name| !names.contains(name));
    let name = free.next().unwrap_or_default();
    names.insert(name.clone());
    name
}

/// Clauses by family.
type Contexts = HashMap<Family, HashMap<Context, Count>>;
