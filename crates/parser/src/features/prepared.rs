//! A sentence made ready for scoring: the halves of all templates at all places.

use tutte_trees::ArcMatrix;

use super::atoms::Atoms;
use super::set::{Conjoin, FeatureSet, GOLDEN, Half, Kind, mix};
use super::{BLOCK, bin};
use crate::index::Block;

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
    each: [Rows; 2],
    /// For each template of `each`, what is seen at each place.
    seen_each: Vec<Vec<u64>>,
    arc: [Rows; 2],
    /// For each template of `arc`, what is seen: `[head · (n + 1) + modifier]`.
    seen_arc: Vec<Vec<u64>>,
    /// For each template, `[place]`: one half for each member of the set.
    set: [Vec<Vec<Vec<u64>>>; 2],
    /// How many pairs of such halves count.
    pairs: usize,
    cut: [Rows; 2],
    /// For each template of `cut`, `[place]`: whether it cuts the form there.
    is_cut: [Vec<Vec<bool>>; 2],
    conjoin: Conjoin,
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
    fn fill<'a>(&mut self, atoms: &Atoms, columns: impl Iterator<Item = (u64, &'a Half)>) {
        let columns: Vec<(u64, &Half)> = columns.collect();
        self.width = columns.len();
        self.halves.clear();
        if columns.is_empty() {
            return;
        }
        for place in 0..=atoms.words() {
            let start = self.halves.len();
            self.halves
                .extend(columns.iter().map(|(seed, half)| half.hash(atoms, *seed, place, 0)));
            for &side in &SIDES[1..] {
                for (template, (seed, half)) in columns.iter().enumerate() {
                    let seen = match half.neighbours {
                        true => half.hash(atoms, *seed, place, side),
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
        self.fill_for(features, atoms, keep, |_, _| true);
    }

    /// The same, ready for those arcs only that `allowed(head, modifier)` says.
    pub(crate) fn fill_for(
        &mut self,
        features: &FeatureSet,
        atoms: &Atoms,
        keep: impl Fn(usize) -> bool,
        allowed: impl Fn(usize, usize) -> bool,
    ) {
        self.words = atoms.words();
        self.conjoin = features.conjoin();
        self.pairs = features.pairs().unwrap_or(usize::MAX);
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
        two(&mut self.each, |k| matches!(k, Kind::Each(_)));
        two(&mut self.cut, |k| matches!(k, Kind::Cut(_)));
        two(&mut self.arc, |k| matches!(k, Kind::Arc(_)));

        self.seen_between.clear();
        self.seen_each.clear();
        self.seen_arc.clear();
        self.set.iter_mut().for_each(Vec::clear);
        self.is_cut.iter_mut().for_each(Vec::clear);
        let column = |column: &usize| {
            (0..places).map(|place| mix(atoms.value(*column, place, 0))).collect::<Vec<_>>()
        };
        for template in &kept {
            match &template.kind {
                Kind::Between(seen) => self.seen_between.push(column(seen)),
                Kind::Each(seen) => self.seen_each.push(column(seen)),
                Kind::Arc(attributes) => {
                    let mut seen = vec![0; places * places];
                    for (head, modifier) in arcs(self.words).filter(|&(h, m)| allowed(h, m)) {
                        let values = attributes.iter().map(|a| atoms.arc(*a, head, modifier));
                        seen[head * places + modifier] = values.fold(0, |hash, v| mix(hash ^ v));
                    }
                    self.seen_arc.push(seen);
                }
                Kind::Set => {
                    self.set[0].push(members(&template.head, atoms, template.seed));
                    self.set[1].push(members(&template.modifier, atoms, template.seed ^ GOLDEN));
                }
                Kind::Cut(lengths) => {
                    for (is_cut, length) in self.is_cut.iter_mut().zip(lengths) {
                        let longer = |place| length.is_some_and(|l| atoms.is_longer(place, l));
                        is_cut.push((0..places).map(longer).collect());
                    }
                }
                Kind::Head | Kind::Modifier | Kind::Pair => {}
            }
        }
    }

    /// The number of words.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Scores all arcs, with weights that count `scale` times. `block` says where in `weights` those
    /// of a key are, if it has any; arcs that `keep` refuses are forbidden.
    pub(crate) fn score<W: Copy + Into<f32>, B: Block>(
        &self,
        weights: &[W],
        scale: f32,
        block: impl Fn(u64) -> Option<B>,
        keep: impl Fn(usize, usize) -> bool,
        scores: &mut ArcMatrix,
    ) {
        // Compiled for each, because this is what parsing spends its time on.
        match self.conjoin {
            Conjoin::Both => {
                self.score_copies::<_, _, true, true>(weights, scale, block, keep, scores);
            }
            Conjoin::Only => {
                self.score_copies::<_, _, false, true>(weights, scale, block, keep, scores);
            }
            Conjoin::None => {
                self.score_copies::<_, _, true, false>(weights, scale, block, keep, scores);
            }
        }
    }

    fn score_copies<W: Copy + Into<f32>, B: Block, const BARE: bool, const BINNED: bool>(
        &self,
        weights: &[W],
        scale: f32,
        block: impl Fn(u64) -> Option<B>,
        keep: impl Fn(usize, usize) -> bool,
        scores: &mut ArcMatrix,
    ) {
        let sum = |rows: &Rows, place, hidden| {
            let mut sums = [0f32; BLOCK];
            for half in rows.row(place, hidden) {
                if let Some(block) = block(half.wrapping_mul(GOLDEN)) {
                    block.add_all(weights, &mut sums);
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
                let mut score = 0f32;
                for sums in [&heads[head][hidden.0], &modifiers[modifier][hidden.1]] {
                    score += if BARE { sums[0] } else { 0.0 };
                    score += if BINNED { sums[bin] } else { 0.0 };
                }
                self.binary(head, modifier, |key| {
                    if let Some(block) = block(key) {
                        let bare = if BARE { block.weight(weights, 0) } else { 0.0 };
                        let binned = if BINNED { block.weight(weights, bin) } else { 0.0 };
                        score += bare + binned;
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
    pub(crate) fn accumulate<B: Block>(
        &self,
        coefficients: &ArcMatrix,
        negligible: f64,
        block: impl Fn(u64) -> Option<B>,
        mut add: impl FnMut(usize, f32),
    ) {
        let (bare, binned) = (self.conjoin.bare(), self.conjoin.binned());
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
                sums[0] += if bare { coefficient } else { 0.0 };
                sums[bin] += if binned { coefficient } else { 0.0 };
            }
            self.binary(head, modifier, |key| {
                if let Some(block) = block(key) {
                    if bare && let Some(cell) = block.cell(0) {
                        add(cell, coefficient);
                    }
                    if binned && let Some(cell) = block.cell(bin) {
                        add(cell, coefficient);
                    }
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
                        let Some(block) = block(half.wrapping_mul(GOLDEN)) else { continue };
                        for (slot, sum) in sums.iter().enumerate().filter(|(_, sum)| **sum != 0.0) {
                            block.cell(slot).into_iter().for_each(|cell| add(cell, *sum));
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
            let (heads, modifiers) = (&heads[head], &modifiers[modifier]);
            if heads.len() * modifiers.len() > self.pairs {
                let pairs = heads.iter().flat_map(|h| modifiers.iter().map(|m| h.wrapping_add(*m)));
                pairs.take(self.pairs).for_each(|key| f(key.wrapping_mul(GOLDEN)));
                continue;
            }
            for h in heads {
                for m in modifiers {
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
        for ((h, m), seen) in zip(&self.each, head, modifier, hidden).zip(&self.seen_each) {
            let joined = h.wrapping_add(*m);
            for b in &seen[inside.clone()] {
                f(joined.wrapping_add(*b).wrapping_mul(GOLDEN));
            }
        }
        let is_cut = self.is_cut[0].iter().zip(&self.is_cut[1]);
        for ((h, m), (heads, modifiers)) in zip(&self.cut, head, modifier, hidden).zip(is_cut) {
            if heads[head] || modifiers[modifier] {
                f(h.wrapping_add(*m).wrapping_mul(GOLDEN));
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
