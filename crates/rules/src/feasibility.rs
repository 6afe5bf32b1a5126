//! Feasibility: can rules be satisfied together, and does training learn anything from them?
//!
//! A parser gives word m one head: Σ_h μ(h, m) = 1. A rule requires that its mass M_q = Σ μ(h, m) g_q(h, m) is at
//! least low_q · c_q and at most high_q · c_q. The largest possible mass can be counted without a parser. Let A_q
//! be the arcs that rule q matches, W(A) the words with an arc in A, and |·| numbers of words:
//!
//! ```text
//! M_q         ≤ |W(A_q)|                            one rule; for a root rule in a single-root tree set, the
//!                                                   number of sentences with an arc in A_q
//! M_q + M_r   ≤ |W(A_q ∪ A_r)| + |W(A_q ∩ A_r)|     two rules for the same words
//! M_q         ≤ M_r + |W(A_q \ A_r)|                two rules for the same arcs
//! ```
//!
//! If the required mass exceeds a bound, no parser can reach it. The excess, in words, is a lower bound on the
//! error. Bounds over three or more rules are not computed. Hard constraints may also leave a sentence without a
//! tree; inference over the allowed arcs shows that.
//!
//! A parser without rules predicts the uniform distribution over trees. Its μ depends only on the sentence length.
//! A rule whose target the uniform distribution already meets teaches nothing.
//!
//! Cost: for each word, the square of the number of rules with a candidate head for it. Each sentence length takes
//! one inference, O(n³), and each sentence with hard constraints takes one more.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use tutte_treebank::Sentence;
use tutte_trees::{ArcMatrix, TreeDistribution, TreeSet};

use crate::matching::Matches;
use crate::rule::{Direction, Head, Target};
use crate::rule_set::RuleSet;

/// Feasibility of rules on a text, computed by [`Feasibility`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FeasibilityReport {
    /// Feasibility of each rule.
    pub rules: Vec<RuleFeasibility>,
    /// Pairs of rules that cannot both be satisfied, sorted by excess, largest first.
    pub conflicts: Vec<Conflict>,
    /// Number of sentences that hard constraints leave without a tree.
    pub without_tree: u64,
    /// The first of these sentences.
    pub first_without_tree: Option<WithoutTree>,
    /// Tags without candidate heads that at least 2 % of the words have, most frequent first.
    pub uncovered_tags: Vec<UncoveredTag>,
}

/// Feasibility of one rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RuleFeasibility {
    /// Denominator c_q.
    pub units: f64,
    /// Share under the uniform distribution over trees; `None` if `units` is 0.
    pub uniform: Option<f64>,
    /// Largest share that any parser can reach; `None` if `units` is 0.
    pub reachable: Option<f64>,
    /// True if the largest share is below the target.
    pub unreachable: bool,
    /// True if the uniform distribution meets the target, up to 0.005.
    pub teaches_nothing: bool,
    /// True if the rule requires heads but has no direction, no `nearest` and no root.
    pub undirected: bool,
}

/// Two rules that cannot both be satisfied.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Conflict {
    /// Indices of the two rules, the smaller one first.
    pub rules: [usize; 2],
    /// Reason of the conflict.
    pub reason: ConflictReason,
    /// Smallest number of words for which one of the two is violated.
    pub excess: f64,
    /// Number of words with candidate heads by both.
    pub shared: u64,
}

/// Reason of a conflict between two rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ConflictReason {
    /// The rules require different heads for the same words.
    Words,
    /// One rule requires more of the other's arcs than the other allows.
    Arcs,
}

/// A sentence that hard constraints leave without a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WithoutTree {
    /// Number of the sentence, from 1.
    pub sentence: u64,
    /// Its `sent_id`, if it has one.
    pub sent_id: Option<String>,
    /// Message of the error that inference returned.
    pub why: String,
}

/// A tag whose words have no candidate head by any rule that allows arcs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UncoveredTag {
    /// The UPOS.
    pub tag: String,
    /// Number of words with this tag.
    pub words: u64,
}

/// Computes [`FeasibilityReport`] on a text, sentence by sentence.
///
/// ```
/// use tutte_rules::{Feasibility, ConflictReason, RuleSet};
/// use tutte_treebank::Sentence;
/// use tutte_trees::TreeSet;
///
/// let rules = RuleSet::parse("rules.tut", "\
/// left:  NOUN <- VERB head left  80%
/// right: NOUN <- VERB head right 60%
/// ")?;
/// let sentence: Sentence = "\
/// 1\tsee\tsee\tVERB\t_\t_\t_\t_\t_\t_
/// 2\tbirds\tbird\tNOUN\t_\t_\t_\t_\t_\t_
/// 3\tsing\tsing\tVERB\t_\t_\t_\t_\t_\t_
/// ".parse()?;
/// let mut feasibility = Feasibility::new(&rules, TreeSet::NonProjectiveMultiRoot);
/// feasibility.add(&sentence)?;
/// let prospects = feasibility.finish();
/// // Each noun has one head: 0.8 + 0.6 exceeds 1 by 0.4.
/// assert_eq!(prospects.conflicts[0].rules, [0, 1]);
/// assert_eq!(prospects.conflicts[0].reason, ConflictReason::Words);
/// assert!((prospects.conflicts[0].excess - 0.4).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Feasibility<'a> {
    rules: &'a RuleSet,
    tree_set: TreeSet,
    sentences: u64,
    counts: Vec<RuleCounts>,
    pair_counts: HashMap<[u32; 2], PairCounts>,
    /// By length: μ of the uniform distribution.
    uniform: HashMap<usize, Option<ArcMatrix>>,
    without_tree: u64,
    first_without_tree: Option<WithoutTree>,
    /// By UPOS: number of words, and number of words with a candidate head by a rule that allows arcs.
    tags: BTreeMap<String, [u64; 2]>,
}

/// Counts of a rule q.
#[derive(Clone, Copy, Debug, Default)]
struct RuleCounts {
    units: f64,
    /// |W(A_q)|.
    words: u64,
    /// Sentences with an arc in A_q.
    sentences: u64,
    /// M_q of the uniform distribution.
    mass: f64,
}

/// Counts of two rules q < r.
#[derive(Clone, Copy, Debug, Default)]
struct PairCounts {
    /// |W(A_q) ∩ W(A_r)|.
    words: u64,
    /// |W(A_q ∩ A_r)|.
    common_arcs: u64,
    /// Those of `words` with an arc in A_q \ A_r, and those with an arc in A_r \ A_q.
    own_arcs: [u64; 2],
}

/// Tolerance of shares. Targets are not more exact than this.
const TOLERANCE: f64 = 0.005;

impl<'a> Feasibility<'a> {
    /// Starts with no sentence. `tree_set` is the tree set of the parser to train.
    pub fn new(rules: &'a RuleSet, tree_set: TreeSet) -> Self {
        Self {
            rules,
            tree_set,
            sentences: 0,
            counts: vec![RuleCounts::default(); rules.len()],
            pair_counts: HashMap::new(),
            uniform: HashMap::new(),
            without_tree: 0,
            first_without_tree: None,
            tags: BTreeMap::new(),
        }
    }

    /// Adds a sentence. Its gold heads are ignored.
    ///
    /// # Errors
    /// [`Error::TooManyWords`](tutte_treebank::Error::TooManyWords). The sentence is then not counted.
    pub fn add(&mut self, sentence: &Sentence) -> Result<(), tutte_treebank::Error> {
        sentence.check_words("matching of rules")?;
        self.sentences += 1;
        let matches = self.rules.matches(sentence);
        let mut here = vec![RuleCounts::default(); self.rules.len()];
        for (counts, &units) in here.iter_mut().zip(&matches.units) {
            counts.units = units;
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
            self.count_pairs(&by_rule);
            let allows_arcs = |arcs: &&[(u32, u32)]| {
                self.rules.rules()[arcs[0].0 as usize].target.bounds().1 > 0.0
            };
            let has_head = by_rule.iter().any(allows_arcs);
            if let Some(token) = sentence.word(word) {
                let [words, heads] = self.tags.entry(token.upos().to_owned()).or_default();
                *words += 1;
                *heads += u64::from(has_head);
            }
        }
        for (sum, here) in self.counts.iter_mut().zip(here) {
            sum.units += here.units;
            sum.words += here.words;
            sum.sentences += u64::from(here.words > 0);
            sum.mass += here.mass;
        }
        self.check_hard_constraints(sentence, &matches);
        Ok(())
    }

    /// Updates the counts of all pairs of rules with candidates for one word. `by_rule` has the `(rule, head)`
    /// candidates of each rule, sorted.
    fn count_pairs(&mut self, by_rule: &[&[(u32, u32)]]) {
        for (at, first) in by_rule.iter().enumerate() {
            for second in &by_rule[at + 1..] {
                let is_common = |arc: &&(u32, u32)| {
                    second.binary_search_by_key(&arc.1, |&(_, head)| head).is_ok()
                };
                let common = first.iter().filter(is_common).count();
                let pair = self.pair_counts.entry([first[0].0, second[0].0]).or_default();
                pair.words += 1;
                pair.common_arcs += u64::from(common > 0);
                pair.own_arcs[0] += u64::from(common < first.len());
                pair.own_arcs[1] += u64::from(common < second.len());
            }
        }
    }

    /// Records the sentence if hard constraints leave it without a tree.
    fn check_hard_constraints(&mut self, sentence: &Sentence, matches: &Matches) {
        let allowed = self.rules.allowed_arcs(sentence.len(), matches);
        if allowed.is_all() {
            return;
        }
        let scores = ArcMatrix::from_fn(sentence.len(), |head, word| {
            if allowed.allows(head, word) { 0.0 } else { f64::NEG_INFINITY }
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

    /// Returns the feasibility of the rules on all added sentences.
    pub fn finish(self) -> FeasibilityReport {
        let rules = (0..self.rules.len()).map(|rule| self.rule_prospects(rule)).collect();
        let mut conflicts: Vec<Conflict> = (self.pair_counts.iter())
            .filter_map(|(&rules, pair)| self.conflict(rules, pair))
            .collect();
        conflicts.sort_by(|a, b| b.excess.total_cmp(&a.excess).then(a.rules.cmp(&b.rules)));
        let all: u64 = self.tags.values().map(|[words, _]| words).sum();
        let mut uncovered_tags: Vec<UncoveredTag> = (self.tags.into_iter())
            .filter(|&(_, [words, heads])| heads == 0 && words * 50 >= all)
            .map(|(tag, [words, _])| UncoveredTag { tag, words })
            .collect();
        uncovered_tags.sort_by_key(|tag| std::cmp::Reverse(tag.words));
        FeasibilityReport {
            rules,
            conflicts,
            without_tree: self.without_tree,
            first_without_tree: self.first_without_tree,
            uncovered_tags,
        }
    }

    fn rule_prospects(&self, number: usize) -> RuleFeasibility {
        let rule = &self.rules.rules()[number];
        let counts = self.counts[number];
        let share = |mass: f64| (counts.units > 0.0).then(|| mass / counts.units);
        let (low, high) = rule.target.bounds();
        let is_soft = !rule.target.is_hard();
        let uniform = share(counts.mass);
        let reachable = share(self.largest_mass(number));
        RuleFeasibility {
            units: counts.units,
            uniform,
            reachable,
            unreachable: is_soft && reachable.is_some_and(|reachable| reachable < low - TOLERANCE),
            teaches_nothing: is_soft
                && uniform
                    .is_some_and(|share| (low - TOLERANCE..=high + TOLERANCE).contains(&share)),
            undirected: is_soft
                && low > 0.0
                && !rule.nearest
                && rule.head != Head::Root
                && rule.place.direction == Direction::Any,
        }
    }

    /// Returns the largest M_q that any parser can reach.
    fn largest_mass(&self, rule: usize) -> f64 {
        let counts = self.counts[rule];
        match self.rules.rules()[rule].head {
            Head::Root if self.tree_set.is_single_root() => counts.sentences as f64,
            _ => counts.words as f64,
        }
    }

    /// Returns the smallest and the largest M_q that a rule requires, limited to what is reachable.
    fn required_mass(&self, rule: usize) -> (f64, f64) {
        let target = self.rules.rules()[rule].target;
        let units = self.counts[rule].units;
        let (low, high) = target.bounds();
        let largest = self.largest_mass(rule);
        match target {
            // `always` applies to every word with a candidate head, whatever the rule counts.
            Target::Always => (largest, largest),
            _ => ((low * units).min(largest), (high * units).min(largest)),
        }
    }

    /// Returns the conflict of two rules, if a bound of the module documentation is exceeded.
    fn conflict(&self, rules: [u32; 2], pair: &PairCounts) -> Option<Conflict> {
        let rules = rules.map(|rule| rule as usize);
        let words = rules.map(|rule| self.counts[rule].words);
        let [(low, high), (other_low, other_high)] = rules.map(|rule| self.required_mass(rule));
        let union = words[0] + words[1] - pair.words;
        let over_words = low + other_low - (union + pair.common_arcs) as f64;
        let outside = words.map(|words| words - pair.words);
        let over_arcs = f64::max(
            low - other_high - (outside[0] + pair.own_arcs[0]) as f64,
            other_low - high - (outside[1] + pair.own_arcs[1]) as f64,
        );
        let (reason, excess) = if over_arcs > over_words {
            (ConflictReason::Arcs, over_arcs)
        } else {
            (ConflictReason::Words, over_words)
        };
        let limit = TOLERANCE * union as f64;
        (excess > limit).then_some(Conflict { rules, reason, excess, shared: pair.words })
    }
}
