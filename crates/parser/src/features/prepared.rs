//! A sentence prepared for scoring: the halves of all templates at all places.

use tutte_linear::{GOLDEN, mix, spread};
use tutte_trees::arcs;

use super::atoms::Atoms;
use super::rows::{DistinctValues, FeatRows, Rows};
use super::set::{CompiledTemplate, Conjoin, FeatureSet, HalfTemplate, Scope};

/// The halves of a set's templates at all places of a sentence. The next sentence reuses its memory.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    words: usize,
    pub(super) conjoin: Conjoin,
    /// Limit of pairs of morphological features.
    pairs: usize,
    pub(super) head: Rows,
    pub(super) modifier: Rows,
    // Templates of both words: the halves of heads, then those of modifiers.
    /// Templates without neighbours.
    pair: [Rows; 2],
    /// Templates with neighbours.
    around: [Rows; 2],
    distinct_between: [Rows; 2],
    /// For each template of `distinct_between`, its index of `distinct_values`.
    distinct_indices: Vec<usize>,
    distinct_values: Vec<DistinctValues>,
    each_between: [Rows; 2],
    /// For each template of `each_between`, the value at each place: `[template · places + place]`.
    each_values: Vec<u64>,
    arc: [Rows; 2],
    /// For each template of `arc`, its combination of arc attributes.
    arc_indices: Vec<usize>,
    /// Hashes of arc attributes: `[(head · places + modifier) · combinations + combination]`.
    arc_values: Vec<u64>,
    /// Number of combinations of arc attributes; 0 if no template has any.
    combinations: usize,
    each_feat: [FeatRows; 2],
    cut: [Rows; 2],
    /// For each template of `cut`, `true` if it cuts the form at a place: `[template · places + place]`.
    is_cut: [Vec<bool>; 2],
    scratch: Scratch,
}

/// Memory of [`Prepared::fill`].
#[derive(Clone, Debug, Default)]
struct Scratch {
    /// Index of each column of the set among the sentence's columns.
    columns: Vec<usize>,
    /// Numbers of the templates of each group.
    groups: [Vec<usize>; Group::COUNT],
    hashes: Vec<u64>,
}

/// Groups of templates that are prepared together: by scope, and pairs also by whether they have
/// neighbours.
#[derive(Clone, Copy)]
enum Group {
    Head,
    Modifier,
    Pair,
    Around,
    DistinctBetween,
    EachBetween,
    Arc,
    EachFeat,
    Cut,
}

impl Group {
    const COUNT: usize = Group::Cut as usize + 1;

    fn of(template: &CompiledTemplate) -> Self {
        match template.scope {
            Scope::Head => Group::Head,
            Scope::Modifier => Group::Modifier,
            Scope::Pair if template.head.has_neighbours || template.modifier.has_neighbours => {
                Group::Around
            }
            Scope::Pair => Group::Pair,
            Scope::DistinctBetween(_) => Group::DistinctBetween,
            Scope::EachBetween(_) => Group::EachBetween,
            Scope::Arc(_) => Group::Arc,
            Scope::EachFeat => Group::EachFeat,
            Scope::Cut(_) => Group::Cut,
        }
    }
}

fn head_half(template: &CompiledTemplate) -> (u64, &HalfTemplate) {
    (template.seed, &template.head)
}

/// Returns the modifier's half of a template that also has a head half. It has another seed, so that
/// equal values at both words have different hashes.
fn modifier_half(template: &CompiledTemplate) -> (u64, &HalfTemplate) {
    (template.seed ^ GOLDEN, &template.modifier)
}

impl Prepared {
    /// Computes the halves of the templates that `keep` selects by their number in the set.
    pub fn fill(&mut self, features: &FeatureSet, atoms: &Atoms, keep: impl Fn(usize) -> bool) {
        self.fill_for(features, atoms, keep, |_, _| true);
    }

    /// Like [`fill`](Self::fill), but prepares only the arcs that `allowed(head, modifier)` selects.
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
        let Scratch { columns, groups, hashes } = &mut self.scratch;
        columns.clear();
        columns.extend(features.columns().iter().map(|attribute| atoms.column(*attribute)));
        groups.iter_mut().for_each(Vec::clear);
        for (number, template) in features.compiled.iter().enumerate() {
            if keep(number) {
                groups[Group::of(template) as usize].push(number);
            }
        }
        let compiled = &features.compiled;
        let group = |group: Group| groups[group as usize].iter().map(|number| &compiled[*number]);
        self.head.fill(atoms, columns, group(Group::Head).map(head_half), hashes);
        self.modifier.fill(
            atoms,
            columns,
            group(Group::Modifier).map(|template| (template.seed, &template.modifier)),
            hashes,
        );
        for ([heads, modifiers], of) in [
            (&mut self.pair, Group::Pair),
            (&mut self.around, Group::Around),
            (&mut self.distinct_between, Group::DistinctBetween),
            (&mut self.each_between, Group::EachBetween),
            (&mut self.arc, Group::Arc),
            (&mut self.cut, Group::Cut),
        ] {
            heads.fill(atoms, columns, group(of).map(head_half), hashes);
            modifiers.fill(atoms, columns, group(of).map(modifier_half), hashes);
        }
        let [heads, modifiers] = &mut self.each_feat;
        heads.fill(atoms, columns, group(Group::EachFeat).map(head_half), hashes);
        modifiers.fill(atoms, columns, group(Group::EachFeat).map(modifier_half), hashes);

        self.distinct_indices.clear();
        let mut found = 0;
        for template in group(Group::DistinctBetween) {
            let Scope::DistinctBetween(column) = template.scope else { continue };
            let column = columns[column];
            let filled = &self.distinct_values[..found];
            let known = filled.iter().position(|values| values.column() == column);
            let number = known.unwrap_or(found);
            if known.is_none() {
                found += 1;
                let length = found.max(self.distinct_values.len());
                self.distinct_values.resize_with(length, DistinctValues::default);
                self.distinct_values[number].fill(atoms, column);
            }
            self.distinct_indices.push(number);
        }
        self.each_values.clear();
        for template in group(Group::EachBetween) {
            let Scope::EachBetween(column) = template.scope else { continue };
            let values = atoms.values(columns[column], 0);
            self.each_values.extend(values.iter().map(|value| mix(*value)));
        }
        self.is_cut.iter_mut().for_each(Vec::clear);
        for template in group(Group::Cut) {
            let Scope::Cut(lengths) = template.scope else { continue };
            for (is_cut, length) in self.is_cut.iter_mut().zip(lengths) {
                let longer = |place| length.is_some_and(|l| atoms.is_longer(place, l));
                is_cut.extend((0..=atoms.words()).map(longer));
            }
        }
        self.arc_indices.clear();
        self.arc_indices.extend(group(Group::Arc).filter_map(|template| match template.scope {
            Scope::Arc(combination) => Some(combination),
            _ => None,
        }));
        self.fill_arc_values(features, atoms, allowed);
    }

    /// Hashes the arc attributes of the arcs that are `allowed`.
    fn fill_arc_values(
        &mut self,
        features: &FeatureSet,
        atoms: &Atoms,
        allowed: impl Fn(usize, usize) -> bool,
    ) {
        self.combinations =
            if self.arc_indices.is_empty() { 0 } else { features.arc_combinations.len() };
        if self.combinations == 0 {
            return;
        }
        let places = self.words + 1;
        self.arc_values.resize(places * places * self.combinations, 0);
        for (head, modifier) in arcs(self.words).filter(|&(head, modifier)| allowed(head, modifier))
        {
            let start = (head * places + modifier) * self.combinations;
            let cells = self.arc_values[start..].iter_mut();
            for (cell, attributes) in cells.zip(&features.arc_combinations) {
                let values = attributes.iter().map(|a| atoms.arc(*a, head, modifier));
                *cell = values.fold(0, |hash, value| mix(hash ^ value));
            }
        }
    }

    /// Number of words.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Calls `f` with the keys of all features of an arc.
    pub(crate) fn keys(&self, head: usize, modifier: usize, mut f: impl FnMut(u64)) {
        self.unary(head, modifier, &mut f);
        self.binary(head, modifier, f);
    }

    /// Calls `f` with the keys of the features of one word of an arc.
    fn unary(&self, head: usize, modifier: usize, mut f: impl FnMut(u64)) {
        let hidden = hidden(head, modifier);
        self.head.row(head, hidden.0).iter().for_each(|half| f(spread(*half)));
        self.modifier.row(modifier, hidden.1).iter().for_each(|half| f(spread(*half)));
    }

    /// Calls `f` with the keys of the features of both words of an arc.
    #[inline]
    pub(super) fn binary(&self, head: usize, modifier: usize, mut f: impl FnMut(u64)) {
        let hidden = hidden(head, modifier);
        let places = self.words + 1;
        for rows in [&self.pair, &self.around] {
            for (h, m) in zip(rows, head, modifier, hidden) {
                f(spread(h.wrapping_add(*m)));
            }
        }
        let each_feat = self.each_feat[0].of(head).zip(self.each_feat[1].of(modifier));
        for (heads, modifiers) in each_feat {
            if heads.len() * modifiers.len() > self.pairs {
                let pairs = heads.iter().flat_map(|h| modifiers.iter().map(|m| h.wrapping_add(*m)));
                pairs.take(self.pairs).for_each(|key| f(spread(key)));
                continue;
            }
            for h in heads {
                for m in modifiers {
                    f(spread(h.wrapping_add(*m)));
                }
            }
        }
        let values = &self.arc_values[(head * places + modifier) * self.combinations..];
        for ((h, m), index) in zip(&self.arc, head, modifier, hidden).zip(&self.arc_indices) {
            f(spread(h.wrapping_add(*m).wrapping_add(values[*index])));
        }
        let (from, to) = (head.min(modifier), head.max(modifier));
        let distinct = zip(&self.distinct_between, head, modifier, hidden);
        for ((h, m), index) in distinct.zip(&self.distinct_indices) {
            let joined = h.wrapping_add(*m);
            for b in self.distinct_values[*index].between(from, to) {
                f(spread(joined.wrapping_add(b)));
            }
        }
        let values = self.each_values.chunks_exact(places);
        for ((h, m), values) in zip(&self.each_between, head, modifier, hidden).zip(values) {
            let joined = h.wrapping_add(*m);
            for b in &values[from + 1..to] {
                f(spread(joined.wrapping_add(*b)));
            }
        }
        let is_cut = self.is_cut[0].chunks_exact(places).zip(self.is_cut[1].chunks_exact(places));
        for ((h, m), (heads, modifiers)) in zip(&self.cut, head, modifier, hidden).zip(is_cut) {
            if heads[head] || modifiers[modifier] {
                f(spread(h.wrapping_add(*m)));
            }
        }
    }
}

/// Pairs the head halves and the modifier halves of an arc.
#[inline]
fn zip(
    rows: &[Rows; 2],
    head: usize,
    modifier: usize,
    hidden: (usize, usize),
) -> impl Iterator<Item = (&u64, &u64)> {
    rows[0].row(head, hidden.0).iter().zip(rows[1].row(modifier, hidden.1))
}

/// Returns which neighbours of head and modifier are hidden, as views of [`Rows`]: for adjacent words,
/// the inner ones.
#[inline]
pub(super) fn hidden(head: usize, modifier: usize) -> (usize, usize) {
    if head + 1 == modifier {
        (1, 2)
    } else if modifier + 1 == head {
        (2, 1)
    } else {
        (0, 0)
    }
}
