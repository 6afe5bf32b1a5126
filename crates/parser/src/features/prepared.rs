//! A sentence made ready for scoring: the halves of all templates at all places.

use tutte_trees::ArcMatrix;

use super::atoms::Atoms;
use super::set::{FeatureSet, GOLDEN, Half, Kind, mix};
use super::{BLOCK, bin};

/// The halves of a set's templates at all places of a sentence. Its memory is used again by the
/// next sentence.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    words: usize,
    head: Rows,
    modifier: Rows,
    pair: [Rows; 2],
    between: [Rows; 2],
    /// For each template of `between`, what is seen at each place.
    seen_between: Vec<Vec<u64>>,
    arc: [Rows; 2],
    /// For each template of `arc`, what is seen: `[head · (n + 1) + modifier]`.
    seen_arc: Vec<Vec<u64>>,
    /// For each template, `[place]`: one half for each member of the set.
    set: [Vec<Vec<Vec<u64>>>; 2],
}

/// Halves by place and by which neighbours are hidden, those of all templates in a row.
#[derive(Clone, Debug, Default)]
struct Rows {
    width: usize,
    /// `[(3 · place + hidden) · width + template]`.
    halves: Vec<u64>,
}

/// Which neighbours are hidden, as rows count them: none, those to the right, those to the left.
const SIDES: [i8; 3] = [0, 1, -1];

impl Rows {
    fn fill<'a>(&mut self, atoms: &Atoms, columns: impl Iterator<Item = (u64, &'a Half)> + Clone) {
        self.width = columns.clone().count();
        self.halves.clear();
        for place in 0..=atoms.words() {
            let start = self.halves.len();
            self.halves
                .extend(columns.clone().map(|(seed, half)| half.hash(atoms, seed, place, 0)));
            for &side in &SIDES[1..] {
                for (template, (seed, half)) in columns.clone().enumerate() {
                    let seen = match half.neighbours {
                        true => half.hash(atoms, seed, place, side),
                        false => self.halves[start + template],
                    };
                    self.halves.push(seen);
                }
            }
        }
    }

    #[inline]
    fn row(&self, place: usize, hidden: usize) -> &[u64] {
        let start = (3 * place + hidden) * self.width;
        &self.halves[start..start + self.width]
    }
}

impl Prepared {
    /// Computes the halves of those templates that `keep` says, by their number in the set.
    pub fn fill(&mut self, features: &FeatureSet, atoms: &Atoms, keep: impl Fn(usize) -> bool) {
        self.words = atoms.words();
        let places = self.words + 1;
        let kept: Vec<_> = features
            .compiled
            .iter()
            .enumerate()
            .filter(|(number, _)| keep(*number))
            .map(|(_, template)| template)
            .collect();
        let kind = |wanted: fn(&Kind) -> bool| kept.iter().filter(move |t| wanted(&t.kind));
        let two = |rows: &mut [Rows; 2], wanted: fn(&Kind) -> bool| {
            rows[0].fill(atoms, kind(wanted).map(|t| (t.seed, &t.head)));
            rows[1].fill(atoms, kind(wanted).map(|t| (t.seed ^ GOLDEN, &t.modifier)));
        };
        self.head.fill(atoms, kind(|k| matches!(k, Kind::Head)).map(|t| (t.seed, &t.head)));
        self.modifier
            .fill(atoms, kind(|k| matches!(k, Kind::Modifier)).map(|t| (t.seed, &t.modifier)));
        two(&mut self.pair, |k| matches!(k, Kind::Pair));
        two(&mut self.between, |k| matches!(k, Kind::Between(_)));
        two(&mut self.arc, |k| matches!(k, Kind::Arc(_)));

        self.seen_between.clear();
        self.seen_arc.clear();
        self.set[0].clear();
        self.set[1].clear();
        for template in &kept {
            match &template.kind {
                Kind::Between(column) => {
                    let seen = (0..places).map(|place| mix(atoms.value(*column, place, 0)));
                    self.seen_between.push(seen.collect());
                }
                Kind::Arc(attributes) => {
                    let mut seen = vec![0; places * places];
                    for (head, modifier) in arcs(self.words) {
                        let values = attributes.iter().map(|a| atoms.arc(*a, head, modifier));
                        seen[head * places + modifier] = values.fold(0, |hash, v| mix(hash ^ v));
                    }
                    self.seen_arc.push(seen);
                }
                Kind::Set => {
                    self.set[0].push(members(&template.head, atoms, template.seed));
                    self.set[1].push(members(&template.modifier, atoms, template.seed ^ GOLDEN));
                }
                Kind::Head | Kind::Modifier | Kind::Pair => {}
            }
        }
    }

    /// The number of words.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Scores all arcs, with weights that count `scale` times. `block` says where in `weights` the
    /// block of a key starts, if it has one; arcs that `keep` refuses are forbidden.
    pub(crate) fn score<W: Copy + Into<f32>>(
        &self,
        weights: &[W],
        scale: f32,
        block: impl Fn(u64) -> Option<usize>,
        keep: impl Fn(usize, usize) -> bool,
        scores: &mut ArcMatrix,
    ) {
        let sum = |rows: &Rows, place, hidden| {
            let mut sums = [0f32; BLOCK];
            for half in rows.row(place, hidden) {
                if let Some(at) = block(half.wrapping_mul(GOLDEN)) {
                    let weights = &weights[at..at + BLOCK];
                    sums.iter_mut().zip(weights).for_each(|(sum, &weight)| *sum += weight.into());
                }
            }
            sums
        };
        let by_place = |rows: &Rows| -> Vec<[[f32; BLOCK]; 3]> {
            (0..=self.words).map(|place| [0, 1, 2].map(|hidden| sum(rows, place, hidden))).collect()
        };
        let (heads, modifiers) = (by_place(&self.head), by_place(&self.modifier));
        for (head, modifier) in arcs(self.words) {
            scores[(head, modifier)] = if keep(head, modifier) {
                let bin = bin(head, modifier);
                let hidden = hidden(head, modifier);
                let (h, m) = (&heads[head][hidden.0], &modifiers[modifier][hidden.1]);
                let mut score = h[0] + h[bin] + m[0] + m[bin];
                self.binary(head, modifier, |key| {
                    if let Some(at) = block(key) {
                        score += weights[at].into() + weights[at + bin].into();
                    }
                });
                f64::from(score * scale)
            } else {
                f64::NEG_INFINITY
            };
        }
    }

    /// Adds up `coefficient · f` over all arcs: `add(cell, amount)`, any number of times a cell.
    /// Arcs whose coefficient is at most `negligible` are passed over.
    pub(crate) fn accumulate(
        &self,
        coefficients: &ArcMatrix,
        negligible: f64,
        block: impl Fn(u64) -> Option<usize>,
        mut add: impl FnMut(usize, f32),
    ) {
        // Templates that see one word get the sum over its arcs.
        let mut heads = vec![[[0f32; BLOCK]; 3]; self.words + 1];
        let mut modifiers = heads.clone();
        for (head, modifier) in arcs(self.words) {
            let coefficient = coefficients[(head, modifier)];
            if coefficient.abs() <= negligible {
                continue;
            }
            let coefficient = coefficient as f32;
            let bin = bin(head, modifier);
            let hidden = hidden(head, modifier);
            for sums in [&mut heads[head][hidden.0], &mut modifiers[modifier][hidden.1]] {
                sums[0] += coefficient;
                sums[bin] += coefficient;
            }
            self.binary(head, modifier, |key| {
                if let Some(at) = block(key) {
                    add(at, coefficient);
                    add(at + bin, coefficient);
                }
            });
        }
        for (rows, sums) in [(&self.head, &heads), (&self.modifier, &modifiers)] {
            for (place, sums) in sums.iter().enumerate() {
                for (hidden, sums) in sums.iter().enumerate() {
                    if sums.iter().all(|sum| *sum == 0.0) {
                        continue;
                    }
                    for half in rows.row(place, hidden) {
                        let Some(at) = block(half.wrapping_mul(GOLDEN)) else { continue };
                        for (cell, sum) in (at..).zip(sums).filter(|(_, sum)| **sum != 0.0) {
                            add(cell, *sum);
                        }
                    }
                }
            }
        }
    }

    /// The keys of all features of an arc.
    pub(crate) fn keys(&self, head: usize, modifier: usize, mut f: impl FnMut(u64)) {
        let hidden = hidden(head, modifier);
        self.head.row(head, hidden.0).iter().for_each(|half| f(half.wrapping_mul(GOLDEN)));
        self.modifier.row(modifier, hidden.1).iter().for_each(|half| f(half.wrapping_mul(GOLDEN)));
        self.binary(head, modifier, f);
    }

    /// The keys of the features that see both words of an arc.
    #[inline]
    fn binary(&self, head: usize, modifier: usize, mut f: impl FnMut(u64)) {
        let hidden = hidden(head, modifier);
        for (h, m) in zip(&self.pair, head, modifier, hidden) {
            f(h.wrapping_add(*m).wrapping_mul(GOLDEN));
        }
        for (heads, modifiers) in self.set[0].iter().zip(&self.set[1]) {
            for h in &heads[head] {
                for m in &modifiers[modifier] {
                    f(h.wrapping_add(*m).wrapping_mul(GOLDEN));
                }
            }
        }
        let at = head * (self.words + 1) + modifier;
        for ((h, m), seen) in zip(&self.arc, head, modifier, hidden).zip(&self.seen_arc) {
            f(h.wrapping_add(*m).wrapping_add(seen[at]).wrapping_mul(GOLDEN));
        }
        let inside = head.min(modifier) + 1..head.max(modifier);
        for ((h, m), seen) in zip(&self.between, head, modifier, hidden).zip(&self.seen_between) {
            let joined = h.wrapping_add(*m);
            let mut different = Different::default();
            for b in seen[inside.clone()].iter().filter(|b| different.is_new(**b)) {
                f(joined.wrapping_add(*b).wrapping_mul(GOLDEN));
            }
        }
    }
}

#[inline]
fn zip(
    rows: &[Rows; 2],
    head: usize,
    modifier: usize,
    hidden: (usize, usize),
) -> impl Iterator<Item = (&u64, &u64)> {
    rows[0].row(head, hidden.0).iter().zip(rows[1].row(modifier, hidden.1))
}

/// The first few different values of a run: tags between two words are soon all seen.
#[derive(Default)]
struct Different {
    values: [u64; Different::MOST],
    found: usize,
}

impl Different {
    const MOST: usize = 24;

    #[inline]
    fn is_new(&mut self, value: u64) -> bool {
        let new = self.found < Self::MOST && !self.values[..self.found].contains(&value);
        if new {
            self.values[self.found] = value;
            self.found += 1;
        }
        new
    }
}

/// The halves of a template with sets: at each place, one for each member.
fn members(half: &Half, atoms: &Atoms, seed: u64) -> Vec<Vec<u64>> {
    (0..=atoms.words())
        .map(|place| {
            let plain = half.hash(atoms, seed, place, 0);
            match half.set {
                true => atoms.features(place).iter().map(|item| mix(plain ^ item)).collect(),
                false => vec![plain],
            }
        })
        .collect()
}

/// Which neighbours of head and modifier are hidden: for adjacent words, the inner ones.
#[inline]
fn hidden(head: usize, modifier: usize) -> (usize, usize) {
    if head + 1 == modifier {
        (1, 2)
    } else if modifier + 1 == head {
        (2, 1)
    } else {
        (0, 0)
    }
}

/// All arcs of a sentence, those of the root first.
fn arcs(words: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..=words).flat_map(move |head| {
        (1..=words).filter(move |&modifier| modifier != head).map(move |modifier| (head, modifier))
    })
}
