//! Whether rules can be kept, all of them together, and what there is to learn from them.
//!
//! A parser gives word m one head: Σ_h μ(h, m) = 1. So the mass M_q = Σ μ(h, m) g_q(h, m) that a rule asks for,
//! at least low_q · c_q and at most high_q · c_q, has limits that can be counted without any parser. Let A_q be
//! the arcs that rule q matches, W(A) the words with an arc in A, and |·| numbers of words:
//!
//! ```text
//! M_q         ≤ |W(A_q)|                                       a rule alone; from the root, with one root a
//!                                                              sentence, the number of sentences
//! M_q + M_r   ≤ |W(A_q ∪ A_r)| + |W(A_q ∩ A_r)|                two rules for the same words
//! M_q         ≤ M_r + |W(A_q \ A_r)|                           two rules for the same arcs
//! ```
//!
//! Where what is asked for is more, no parser can give it, and the difference, in words, is what it will at
//! least be wrong by. Limits of three rules and more are not looked at. Laws may besides leave a sentence
//! without any tree, which is asked of the trees themselves.
//!
//! What a parser without rules expects is the uniform distribution over trees, whose μ depends on the length of
//! the sentence only. A rule whose target it meets teaches nothing.
//!
//! Cost: for each word the square of the number of rules that have a candidate for it; for each length of a
//! sentence one inference, O(n³), and for each sentence with laws another.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use tutte_treebank::Sentence;
use tutte_trees::{ArcMatrix, TreeDistribution, TreeSet};

use super::{Direction, Head, Matches, Rules, Target};

/// What may be expected of rules on a text; see the [`Feasibility`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prospects {
    /// By rule.
    pub rules: Vec<RuleProspects>,
    /// Pairs of rules that cannot both be kept, the worst first.
    pub conflicts: Vec<Conflict>,
    /// How many sentences laws leave without a tree.
    pub without_tree: u64,
    /// The first of them.
    pub first_without_tree: Option<WithoutTree>,
    /// UPOS tags of at least two in a hundred words for which no rule has a head, the most frequent first.
    pub headless: Vec<Headless>,
}

/// What may be expected of one rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RuleProspects {
    /// What it counts: c_q.
    pub units: f64,
    /// The share that a parser without rules expects, if there is anything to count.
    pub uniform: Option<f64>,
    /// The largest share that any parser could expect, likewise.
    pub reachable: Option<f64>,
    /// Whether that is less than its target.
    pub unreachable: bool,
    /// Whether a parser without rules meets its target, to half a hundredth.
    pub teaches_nothing: bool,
    /// Whether it asks for heads and says neither where they stand nor that they are the nearest, nor the root.
    pub undirected: bool,
}

/// Two rules that cannot both be kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Conflict {
    /// The rules, by number, the smaller one first.
    pub rules: [usize; 2],
    /// Why.
    pub over: Over,
    /// For how many words at least one of them is not kept.
    pub excess: f64,
    /// How many words have candidates by both.
    pub shared: u64,
}

/// What two rules are at odds over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Over {
    /// They give the same words different heads, and each word has one.
    Words,
    /// One asks for more of the other's arcs than that one allows.
    Arcs,
}

/// A sentence that laws leave without a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WithoutTree {
    /// Its number, from 1.
    pub sentence: u64,
    /// Its name, if it has one.
    pub sent_id: Option<String>,
    /// What is impossible.
    pub why: String,
}

/// A tag whose words no rule has a head for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Headless {
    /// The UPOS.
    pub tag: String,
    /// How many words have it.
    pub words: u64,
}

/// Looks at a text, sentence by sentence, for what may be expected of rules.
///
/// ```
/// use tutte_rules::{Feasibility, Over, Rules};
/// use tutte_treebank::Sentence;
/// use tutte_trees::TreeSet;
///
/// let rules = Rules::parse("rules.tut", "\
/// left:  NOUN <- VERB head left  80%
/// right: NOUN <- VERB head right 60%
/// ")?;
/// let sentence: Sentence = "\
/// 1\tsee\tsee\tVERB\t_\t_\t_\t_\t_\t_
/// 2\tbirds\tbird\tNOUN\t_\t_\t_\t_\t_\t_
/// 3\tsing\tsing\tVERB\t_\t_\t_\t_\t_\t_
/// ".parse()?;
/// let mut outlook = Feasibility::new(&rules, TreeSet::NonProjectiveMultiRoot);
/// outlook.add(&sentence);
/// let prospects = outlook.finish();
/// // Each noun has one head: 0.8 + 0.6 is 0.4 too much.
/// assert_eq!(prospects.conflicts[0].rules, [0, 1]);
/// assert_eq!(prospects.conflicts[0].over, Over::Words);
/// assert!((prospects.conflicts[0].excess - 0.4).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Feasibility<'a> {
    rules: &'a Rules,
    tree_set: TreeSet,
    sentences: u64,
    found: Vec<Found>,
    pairs: HashMap<[u32; 2], Pair>,
    /// By length: μ of the uniform distribution.
    uniform: HashMap<usize, Option<ArcMatrix>>,
    without_tree: u64,
    first_without_tree: Option<WithoutTree>,
    /// By UPOS: words, and those with a head by some rule.
    tags: BTreeMap<String, [u64; 2]>,
}

/// What is counted of a rule.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    units: f64,
    /// |W(A_q)|.
    words: u64,
    /// Sentences with an arc in A_q.
    sentences: u64,
    /// M_q of the uniform distribution.
    mass: f64,
}

/// What is counted of two rules q < r.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    /// Words with an arc in A_q and one in A_r.
    words: u64,
    /// |W(A_q ∩ A_r)|.
    arcs: u64,
    /// Of `words`, those with an arc in A_q \ A_r, and in A_r \ A_q.
    apart: [u64; 2],
}

/// Shares this near are the same for people.
const NEAR: f64 = 0.005;

impl<'a> Feasibility<'a> {
    /// Nothing seen yet. `tree_set` is that of the parser to be learnt.
    pub fn new(rules: &'a Rules, tree_set: TreeSet) -> Self {
        Self {
            rules,
            tree_set,
            sentences: 0,
            found: vec![Found::default(); rules.len()],
            pairs: HashMap::new(),
            uniform: HashMap::new(),
            without_tree: 0,
            first_without_tree: None,
            tags: BTreeMap::new(),
        }
    }

    /// Looks at a sentence; its heads are not looked at.
    pub fn add(&mut self, sentence: &Sentence) {
        self.sentences += 1;
        let matches = self.rules.matches(sentence);
        let mut here = vec![Found::default(); self.rules.len()];
        for (found, &units) in here.iter_mut().zip(&matches.units) {
            found.units = units;
        }
        let tree_set = self.tree_set;
        let uniform = self.uniform.entry(sentence.len()).or_insert_with(|| {
            let scores = ArcMatrix::from_fn(sentence.len(), |_, _| 0.0);
            let uniform = TreeDistribution::new(scores, tree_set).ok()?;
            Some(uniform.marginals().clone())
        });
        for &(head, modifier, rule) in &matches.arcs {
            let uniform = uniform.as_ref();
            here[rule as usize].mass +=
                uniform.map_or(0.0, |mu| mu[(head as usize, modifier as usize)]);
        }
        let mut by_word = vec![Vec::new(); sentence.len() + 1];
        for &(head, modifier, rule) in &matches.arcs {
            by_word[modifier as usize].push((rule, head));
        }
        for (word, arcs) in (1..).zip(by_word.iter_mut().skip(1)) {
            arcs.sort_unstable();
            let by_rule: Vec<&[(u32, u32)]> = arcs.chunk_by(|a, b| a.0 == b.0).collect();
            for arcs in &by_rule {
                here[arcs[0].0 as usize].words += 1;
            }
            self.compare(&by_rule);
            let gives = |arcs: &&[(u32, u32)]| {
                self.rules.rules()[arcs[0].0 as usize].target.bounds().1 > 0.0
            };
            let given = by_rule.iter().any(gives);
            if let Some(token) = sentence.word(word) {
                let [words, heads] = self.tags.entry(token.upos().to_owned()).or_default();
                *words += 1;
                *heads += u64::from(given);
            }
        }
        for (sum, here) in self.found.iter_mut().zip(here) {
            sum.units += here.units;
            sum.words += here.words;
            sum.sentences += u64::from(here.words > 0);
            sum.mass += here.mass;
        }
        self.ask_laws(sentence, &matches);
    }

    /// Counts what the rules of a word share, given the heads that each has for it, in order.
    fn compare(&mut self, by_rule: &[&[(u32, u32)]]) {
        for (at, first) in by_rule.iter().enumerate() {
            for second in &by_rule[at + 1..] {
                let is_common = |arc: &&(u32, u32)| {
                    second.binary_search_by_key(&arc.1, |&(_, head)| head).is_ok()
                };
                let common = first.iter().filter(is_common).count();
                let pair = self.pairs.entry([first[0].0, second[0].0]).or_default();
                pair.words += 1;
                pair.arcs += u64::from(common > 0);
                pair.apart[0] += u64::from(common < first.len());
                pair.apart[1] += u64::from(common < second.len());
            }
        }
    }

    /// Whether laws leave the sentence a tree.
    fn ask_laws(&mut self, sentence: &Sentence, matches: &Matches) {
        let left = self.rules.allowed_arcs(sentence.len(), matches);
        if left.is_all() {
            return;
        }
        let scores = ArcMatrix::from_fn(sentence.len(), |head, word| {
            if left.allows(head, word) { 0.0 } else { f64::NEG_INFINITY }
        });
        if let Err(error) = TreeDistribution::new(scores, self.tree_set) {
            self.without_tree += 1;
            self.first_without_tree.get_or_insert_with(|| WithoutTree {
                sentence: self.sentences,
                sent_id: sentence.sent_id().map(str::to_owned),
                why: error.to_string(),
            });
        }
    }

    /// Says what may be expected.
    pub fn finish(self) -> Prospects {
        let rules = (0..self.rules.len()).map(|rule| self.of_rule(rule)).collect();
        let mut conflicts: Vec<Conflict> =
            self.pairs.iter().filter_map(|(&rules, pair)| self.conflict(rules, pair)).collect();
        conflicts.sort_by(|a, b| b.excess.total_cmp(&a.excess).then(a.rules.cmp(&b.rules)));
        let all: u64 = self.tags.values().map(|[words, _]| words).sum();
        let mut headless: Vec<Headless> = (self.tags.into_iter())
            .filter(|&(_, [words, heads])| heads == 0 && words * 50 >= all)
            .map(|(tag, [words, _])| Headless { tag, words })
            .collect();
        headless.sort_by_key(|tag| std::cmp::Reverse(tag.words));
        Prospects {
            rules,
            conflicts,
            without_tree: self.without_tree,
            first_without_tree: self.first_without_tree,
            headless,
        }
    }

    fn of_rule(&self, rule: usize) -> RuleProspects {
        let (said, found) = (&self.rules.rules()[rule], self.found[rule]);
        let share = |mass: f64| (found.units > 0.0).then(|| mass / found.units);
        let (low, high) = said.target.bounds();
        let soft = !said.target.is_hard();
        let (uniform, reachable) = (share(found.mass), share(self.most(rule)));
        RuleProspects {
            units: found.units,
            uniform,
            reachable,
            unreachable: soft && reachable.is_some_and(|reachable| reachable < low - NEAR),
            teaches_nothing: soft
                && uniform.is_some_and(|share| (low - NEAR..=high + NEAR).contains(&share)),
            undirected: soft
                && low > 0.0
                && !said.nearest
                && said.head != Head::Root
                && said.place.direction == Direction::Any,
        }
    }

    /// The largest M_q that there can be.
    fn most(&self, rule: usize) -> f64 {
        let found = self.found[rule];
        let one_root = matches!(
            self.tree_set,
            TreeSet::NonProjectiveSingleRoot | TreeSet::ProjectiveSingleRoot
        );
        match self.rules.rules()[rule].head {
            Head::Root if one_root => found.sentences as f64,
            _ => found.words as f64,
        }
    }

    /// The least and the largest M_q that a rule asks for, if it can have it alone.
    fn asked(&self, rule: usize) -> (f64, f64) {
        let (target, units) = (self.rules.rules()[rule].target, self.found[rule].units);
        let (low, high) = target.bounds();
        let most = self.most(rule);
        match target {
            // A law is about words that have a candidate, however it counts.
            Target::Always => (most, most),
            _ => ((low * units).min(most), (high * units).min(most)),
        }
    }

    fn conflict(&self, rules: [u32; 2], pair: &Pair) -> Option<Conflict> {
        let rules = rules.map(|rule| rule as usize);
        let [words, other] = rules.map(|rule| self.found[rule].words);
        let [asked, others] = rules.map(|rule| self.asked(rule));
        let union = words + other - pair.words;
        let over_words = asked.0 + others.0 - (union + pair.arcs) as f64;
        let outside = [words, other].map(|words| words - pair.words);
        let over_arcs = f64::max(
            asked.0 - others.1 - (outside[0] + pair.apart[0]) as f64,
            others.0 - asked.1 - (outside[1] + pair.apart[1]) as f64,
        );
        let (over, excess) = if over_arcs > over_words {
            (Over::Arcs, over_arcs)
        } else {
            (Over::Words, over_words)
        };
        // Targets are no more exact than this.
        let limit = NEAR * union as f64;
        (excess > limit).then_some(Conflict { rules, over, excess, shared: pair.words })
    }
}
