//! Every family against enumeration of its assignments: messages, ln Z, expectations and adjoints.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::algebra::{Algebra, Sum};
use super::child_sequence::ChildSequences;
use super::count::{Counts, Rule};
use super::family::{Family, Scratch};
use super::label::Labels;
use super::no_crossing::{NoCrossings, crosses};
use super::pair::Pairs;
use super::tag_link::TagLinks;
use super::trigram::Trigrams;

struct Random(Pcg64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(Pcg64::seed_from_u64(seed))
    }

    fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn list(&mut self, count: usize, size: f64) -> Vec<f64> {
        (0..count).map(|_| size * (2.0 * self.uniform() - 1.0)).collect()
    }
}

/// An assignment of all slots, with how often it uses each log-weight.
type Assignment = (Vec<bool>, Vec<f64>);

/// One factor and its definition.
struct Definition<'a> {
    family: &'a dyn Family,
    /// All assignments of positive value.
    assignments: Vec<Assignment>,
    /// Groups of slots that are the values of one tag variable.
    tags: Vec<std::ops::Range<usize>>,
}

fn log_sum(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if high == f64::NEG_INFINITY {
        return high;
    }
    high + values.iter().map(|x| (x - high).exp()).sum::<f64>().ln()
}

fn high(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::NEG_INFINITY, f64::max)
}

impl Definition<'_> {
    /// Log-weight of an assignment, leaving out the message of one slot.
    fn log_value(&self, (on, uses): &Assignment, q: &[f64], without: Option<usize>) -> f64 {
        let weights = self.family.weights().iter().zip(uses);
        let factor: f64 =
            weights.filter(|(_, uses)| **uses > 0.0).map(|(weight, uses)| weight * uses).sum();
        let messages = (0..q.len()).filter(|&slot| on[slot] && Some(slot) != without);
        factor + messages.map(|slot| q[slot]).sum::<f64>()
    }

    fn messages(&self, sum: Sum, q: &[f64]) -> Vec<f64> {
        let total = |slot: usize, state: bool| {
            let matching = self.assignments.iter().filter(|(on, _)| on[slot] == state);
            let values = matching.map(|assignment| self.log_value(assignment, q, Some(slot)));
            match sum {
                Sum::All => log_sum(values),
                Sum::Best => high(values),
            }
        };
        let mut r: Vec<f64> = (0..q.len())
            .map(|slot| {
                let is_tag = self.tags.iter().any(|tags| tags.contains(&slot));
                let no = if is_tag { 0.0 } else { total(slot, false) };
                super::algebra::log_odds(total(slot, true), no)
            })
            .collect();
        for tags in &self.tags {
            super::tag_link::normalise(&mut r[tags.clone()]);
        }
        r
    }

    fn check(&self, seed: u64) {
        let mut random = Random::new(seed);
        let scratch = &mut Scratch::default();
        let slots = self.family.cells().len();
        for size in [0.5, 3.0, 30.0] {
            let q = random.list(slots, size);
            for sum in [Sum::All, Sum::Best] {
                let algebra = Algebra { sum, temperature: 1.0 };
                let mut r = vec![f64::NAN; slots];
                self.family.update(algebra, &q, &mut r, scratch);
                for (slot, expected) in self.messages(sum, &q).into_iter().enumerate() {
                    let error = (r[slot] - expected).abs();
                    assert!(
                        error <= 1e-10 * (1.0 + expected.abs()),
                        "{:?}, {sum:?}, slot {slot}: {} and not {expected}",
                        self.family,
                        r[slot]
                    );
                }
                let values = self.assignments.iter().map(|a| self.log_value(a, &q, None));
                let expected = if sum == Sum::All { log_sum(values) } else { high(values) };
                let log_z = self.family.log_partition(algebra, &q, scratch);
                assert!(
                    (log_z - expected).abs() <= 1e-10 * (1.0 + expected.abs()),
                    "{log_z} {expected}"
                );
            }
            self.check_expectations(&q, scratch);
            if size < 30.0 {
                self.check_adjoint(&mut random, &q, scratch);
            }
        }
    }

    fn check_expectations(&self, q: &[f64], scratch: &mut Scratch) {
        let values = || self.assignments.iter().map(|a| self.log_value(a, q, None));
        let log_z = log_sum(values());
        let mut found = vec![0.0; self.family.weights().len()];
        self.family.expectations(Algebra::PLAIN, q, &mut found, scratch);
        for (weight, found) in found.into_iter().enumerate() {
            let expected: f64 = values()
                .zip(&self.assignments)
                .map(|(value, (_, uses))| (value - log_z).exp() * uses[weight])
                .sum();
            assert!((found - expected).abs() < 1e-10, "{:?}: {found} {expected}", self.family);
        }
    }

    /// Compares Σ r̄·∂r/∂q and Σ r̄·∂r/∂ℓ with differences of the enumerated messages.
    fn check_adjoint(&self, random: &mut Random, q: &[f64], scratch: &mut Scratch) {
        let mut r_bar = random.list(q.len(), 1.0);
        // Only differences between the tags of a word matter.
        for tags in &self.tags {
            let mean = r_bar[tags.clone()].iter().sum::<f64>() / tags.len() as f64;
            r_bar[tags.clone()].iter_mut().for_each(|bar| *bar -= mean);
        }
        let mut q_bar = vec![0.0; q.len()];
        let mut weight_bar = vec![0.0; self.family.weights().len()];
        self.family.adjoint(Algebra::PLAIN, q, &r_bar, &mut q_bar, &mut weight_bar, scratch);
        let loss = |q: &[f64]| -> f64 {
            self.messages(Sum::All, q).iter().zip(&r_bar).map(|(r, bar)| r * bar).sum()
        };
        let step = 1e-5;
        for slot in 0..q.len() {
            let at = |step: f64| {
                let mut moved = q.to_vec();
                moved[slot] += step;
                loss(&moved)
            };
            let expected = (at(step) - at(-step)) / (2.0 * step);
            let found = q_bar[slot];
            assert!(
                (found - expected).abs() < 1e-7,
                "{:?}, q {slot}: {found} {expected}",
                self.family
            );
        }
        for weight in 0..weight_bar.len() {
            if self.family.weights()[weight] == f64::NEG_INFINITY {
                continue;
            }
            // A change of the weight is a change of the assignments that use it.
            let moved = |step: f64| -> f64 {
                let extra =
                    |(on, uses): &Assignment| (on.clone(), uses.clone(), step * uses[weight]);
                let moved = Moved {
                    definition: self,
                    extras: self.assignments.iter().map(extra).collect(),
                };
                moved.messages(q).iter().zip(&r_bar).map(|(r, bar)| r * bar).sum()
            };
            let expected = (moved(step) - moved(-step)) / (2.0 * step);
            let found = weight_bar[weight];
            assert!(
                (found - expected).abs() < 1e-7,
                "{:?}, ℓ {weight}: {found} {expected}",
                self.family
            );
        }
    }
}

/// A definition whose assignments have additional log-weights.
struct Moved<'a> {
    definition: &'a Definition<'a>,
    extras: Vec<(Vec<bool>, Vec<f64>, f64)>,
}

impl Moved<'_> {
    fn messages(&self, q: &[f64]) -> Vec<f64> {
        (0..q.len())
            .map(|slot| {
                let total = |state: bool| {
                    let matching = self.extras.iter().filter(|(on, ..)| on[slot] == state);
                    log_sum(matching.map(|(on, uses, extra)| {
                        let assignment = (on.clone(), uses.clone());
                        extra + self.definition.log_value(&assignment, q, Some(slot))
                    }))
                };
                let is_tag = self.definition.tags.iter().any(|tags| tags.contains(&slot));
                total(true) - if is_tag { 0.0 } else { total(false) }
            })
            .collect()
    }
}

/// All assignments of boolean slots, with the uses of weights that a function gives; `None` has value 0.
fn booleans(slots: usize, uses: impl Fn(&[bool]) -> Option<Vec<f64>>) -> Vec<Assignment> {
    (0..1u32 << slots)
        .filter_map(|bits| {
            let on: Vec<bool> = (0..slots).map(|slot| bits >> slot & 1 == 1).collect();
            uses(&on).map(|uses| (on, uses))
        })
        .collect()
}

fn count(on: &[bool]) -> usize {
    on.iter().filter(|on| **on).count()
}

#[test]
fn pairs() {
    for weight in [-1.5, 0.0, 2.0, 40.0, f64::NEG_INFINITY] {
        let mut family = Pairs::default();
        family.push(0, 1, weight);
        let assignments = booleans(2, |on| {
            let both = count(on) == 2;
            (!both || weight > f64::NEG_INFINITY).then(|| vec![f64::from(both)])
        });
        Definition { family: &family, assignments, tags: vec![] }.check(1);
    }
}

#[test]
fn counts() {
    for slots in 1..=6 {
        let cells = || 0..slots as u32;
        for weight in [-2.0, 0.0, 1.5] {
            for rule in [Rule::ExactlyOne, Rule::AtMostOne, Rule::Once, Rule::PerExtra] {
                let mut family = Counts::default();
                let is_soft = matches!(rule, Rule::Once | Rule::PerExtra);
                family.push(cells(), rule, is_soft.then_some(weight));
                let assignments = booleans(slots, |on| match (rule, count(on)) {
                    (Rule::ExactlyOne, 1) | (Rule::AtMostOne, 0 | 1) => Some(vec![]),
                    (Rule::ExactlyOne | Rule::AtMostOne, _) => None,
                    (Rule::Once, count) => Some(vec![f64::from(count >= 2)]),
                    (Rule::PerExtra, count) => Some(vec![count.saturating_sub(1) as f64]),
                });
                Definition { family: &family, assignments, tags: vec![] }.check(slots as u64);
            }
        }
    }
}

/// The closed forms of the specification, and their limits: x → 0 is the hard case, x = 1 says nothing.
#[test]
fn closed_forms_and_limits_of_counts() {
    let mut random = Random::new(7);
    let q = random.list(5, 2.0);
    let scratch = &mut Scratch::default();
    let mut send = |rule: Rule, weight: Option<f64>| {
        let mut family = Counts::default();
        family.push(0..5, rule, weight);
        let mut r = vec![0.0; 5];
        family.update(Algebra::PLAIN, &q, &mut r, scratch);
        r
    };
    let hard = send(Rule::AtMostOne, None);
    for rule in [Rule::Once, Rule::PerExtra] {
        let nearly = send(rule, Some(-60.0));
        assert!(nearly.iter().zip(&hard).all(|(a, b)| (a - b).abs() < 1e-12));
        assert_eq!(send(rule, Some(f64::NEG_INFINITY)), hard);
        assert!(send(rule, Some(0.0)).iter().all(|r| r.abs() < 1e-15));
    }
    let x: f64 = 0.3;
    let once = send(Rule::Once, Some(x.ln()));
    let extra = send(Rule::PerExtra, Some(x.ln()));
    for slot in 0..5 {
        let others: Vec<f64> =
            (0..5).filter(|&other| other != slot).map(|other| q[other].exp()).collect();
        let sum: f64 = others.iter().sum();
        let product: f64 = others.iter().map(|o| 1.0 + o).product();
        let expected = (1.0 + x * (product - 1.0)) / (1.0 + sum + x * (product - 1.0 - sum));
        assert!((once[slot] - expected.ln()).abs() < 1e-12);
        let product: f64 = others.iter().map(|o| 1.0 + x * o).product();
        assert!((extra[slot] - (x * product / (x - 1.0 + product)).ln()).abs() < 1e-12);
        assert!((hard[slot] + (1.0 + sum).ln()).abs() < 1e-12);
    }
}

#[test]
fn labels() {
    for count_of_labels in 1..=4u32 {
        let mut family = Labels::default();
        family.push(0, 1..1 + count_of_labels);
        let slots = 1 + count_of_labels as usize;
        let assignments =
            booleans(slots, |on| (count(&on[1..]) == usize::from(on[0])).then(Vec::new));
        Definition { family: &family, assignments, tags: vec![] }.check(3);
    }
}

#[test]
fn child_sequences() {
    for slots in 0..=5usize {
        for hard in [false, true] {
            let mut random = Random::new(slots as u64);
            let stop = slots + 1;
            let mut family = ChildSequences::default();
            let mut table = vec![vec![0.0; stop + 1]; stop + 1];
            for row in &mut table {
                *row = random.list(stop + 1, 2.0);
            }
            if hard && slots > 1 {
                table[1][2] = f64::NEG_INFINITY;
            }
            family.push(0..slots as u32, |a, b| table[a][b]);
            let places: Vec<(usize, usize)> =
                (0..stop).flat_map(|a| (a + 1..=stop).map(move |b| (a, b))).collect();
            assert_eq!(family.weights().len(), places.len());
            let assignments = booleans(slots, |on| {
                let chosen = (1..=slots).filter(|&at| on[at - 1]);
                let path: Vec<usize> = [0].into_iter().chain(chosen).chain([stop]).collect();
                let uses: Vec<f64> = places
                    .iter()
                    .map(|&(a, b)| f64::from(path.windows(2).any(|pair| pair == [a, b])))
                    .collect();
                let is_possible =
                    path.windows(2).all(|pair| table[pair[0]][pair[1]] > f64::NEG_INFINITY);
                is_possible.then_some(uses)
            });
            Definition { family: &family, assignments, tags: vec![] }.check(5);
        }
    }
}

/// All pairs of words of four, with all heads and with some left out, and weights that need logarithms.
#[test]
fn no_crossings() {
    let words = 4u32;
    for weight in [-1.0, 1.0, 0.0, -400.0, f64::NEG_INFINITY] {
        for j in 1..=words {
            for l in (1..=words).filter(|&l| l != j) {
                for skip in [u32::MAX, 0, 2] {
                    let heads = |word: u32| -> Vec<u32> {
                        (0..=words).filter(|&head| head != word && head != skip).collect()
                    };
                    let (of_j, of_l) = (heads(j), heads(l));
                    let mut family = NoCrossings::default();
                    let slots = of_j.len() + of_l.len();
                    let numbered = |heads: &[u32], start: usize| -> Vec<(u32, u32)> {
                        heads.iter().zip(start as u32..).map(|(&head, cell)| (head, cell)).collect()
                    };
                    let one = numbered(&of_j, 0).into_iter();
                    let two = numbered(&of_l, of_j.len()).into_iter();
                    family.push((j, one), (l, two), weight);
                    let assignments = booleans(slots, |on| {
                        let (on_j, on_l) = on.split_at(of_j.len());
                        if count(on_j) != 1 || count(on_l) != 1 {
                            return None;
                        }
                        let i = of_j[on_j.iter().position(|on| *on)?];
                        let k = of_l[on_l.iter().position(|on| *on)?];
                        // Crossing, by its definition: one end strictly inside, the other strictly outside.
                        let inside = |x: u32| i.min(j) < x && x < i.max(j);
                        let outside = |x: u32| x < i.min(j) || x > i.max(j);
                        let cross = inside(k) && outside(l) || inside(l) && outside(k);
                        assert_eq!(cross, crosses(i, j, k, l));
                        assert_eq!(cross, crosses(k, l, i, j));
                        (!cross || weight > f64::NEG_INFINITY).then(|| vec![f64::from(cross)])
                    });
                    Definition { family: &family, assignments, tags: vec![] }.check(6);
                }
            }
        }
    }
}

/// All assignments of an optional boolean slot and some tag variables of `g` tags each.
fn tagged(
    has_arc: bool,
    words: usize,
    g: usize,
    uses: impl Fn(bool, &[usize]) -> Vec<f64>,
) -> Vec<Assignment> {
    let mut all = Vec::new();
    for arc in if has_arc { &[false, true][..] } else { &[false][..] } {
        for number in 0..g.pow(words as u32) {
            let tags: Vec<usize> = (0..words).map(|word| number / g.pow(word as u32) % g).collect();
            let mut on = if has_arc { vec![*arc] } else { vec![] };
            for &tag in &tags {
                on.extend((0..g).map(|other| other == tag));
            }
            all.push((on, uses(*arc, &tags)));
        }
    }
    all
}

#[test]
fn tag_links() {
    let g = 3;
    for with_head in [true, false] {
        let words = 1 + usize::from(with_head);
        let weights = Random::new(9).list(g * if with_head { g } else { 1 }, 2.0);
        let mut family = TagLinks::default();
        let head = if with_head { 1..4 } else { 1..1 };
        family.push(0, head.clone(), head.end..head.end + 3, &weights);
        let assignments = tagged(true, words, g, |arc, tags| {
            let used = if with_head { tags[0] * g + tags[1] } else { tags[0] };
            (0..weights.len()).map(|at| f64::from(arc && at == used)).collect()
        });
        let tags = (0..words).map(|word| 1 + word * g..1 + (word + 1) * g).collect();
        Definition { family: &family, assignments, tags }.check(10);
    }
}

#[test]
fn trigrams() {
    let g = 2;
    for words in 1..=4 {
        let weights = Random::new(11).list((g + 1) * (g + 1) * g, 2.0);
        let mut family = Trigrams::default();
        family.push(0..(words * g) as u32, g, &weights);
        let assignments = tagged(false, words, g, |_, tags| {
            let mut uses = vec![0.0; weights.len()];
            for i in 0..words {
                let before = |back: usize| if i >= back { tags[i - back] } else { g };
                uses[(before(2) * (g + 1) + before(1)) * g + tags[i]] += 1.0;
            }
            uses
        });
        let tags = (0..words).map(|word| word * g..(word + 1) * g).collect();
        Definition { family: &family, assignments, tags }.check(12);
    }
}
