//! A sentence made ready for scoring: the halves of all templates at all places.

use tutte_linear::{GOLDEN, mix};
use tutte_trees::arcs;

use super::atoms::Atoms;
use super::rows::{Different, Members, Rows};
use super::set::{Compiled, Conjoin, FeatureSet, Half, Kind};

/// The halves of a set's templates at all places of a sentence. Its memory is used again by the
/// next sentence.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    words: usize,
    pub(super) conjoin: Conjoin,
    /// How many pairs of morphological features count.
    pairs: usize,
    pub(super) head: Rows,
    pub(super) modifier: Rows,
    /// Templates that see both words, without and with their neighbours.
    pair: [Rows; 2],
    around: [Rows; 2],
    between: [Rows; 2],
    /// For each template of `between`, which of `different` it sees.
    seen_between: Vec<usize>,
    different: Vec<Different>,
    each: [Rows; 2],
    /// For each template of `each`, what is seen at each place: `[template · places + place]`.
    seen_each: Vec<u64>,
    arc: [Rows; 2],
    /// For each template of `arc`, which of what is seen of arcs it sees.
    seen_arc: Vec<usize>,
    /// What is seen of arcs: `[(head · places + modifier) · kinds + kind]`.
    of_arcs: Vec<u64>,
    kinds_of_arcs: usize,
    set: [Members; 2],
    cut: [Rows; 2],
    /// For each template of `cut`, whether it cuts the form at a place: `[template · places + place]`.
    is_cut: [Vec<bool>; 2],
    scratch: Scratch,
}

/// Memory of [`Prepared::fill`].
#[derive(Clone, Debug, Default)]
struct Scratch {
    /// Where the columns of the set are in the sentence.
    columns: Vec<usize>,
    /// The numbers of the templates of each group.
    groups: [Vec<usize>; Group::COUNT],
    hashes: Vec<u64>,
}

/// The groups in which templates are prepared.
#[derive(Clone, Copy)]
enum Group {
    Head,
    Modifier,
    Pair,
    Around,
    Between,
    Each,
    Arc,
    Set,
    Cut,
}

impl Group {
    const COUNT: usize = Group::Cut as usize + 1;

    fn of(template: &Compiled) -> Self {
        match template.kind {
            Kind::Head => Group::Head,
            Kind::Modifier => Group::Modifier,
            Kind::Pair if template.head.neighbours || template.modifier.neighbours => Group::Around,
            Kind::Pair => Group::Pair,
            Kind::Between(_) => Group::Between,
            Kind::Each(_) => Group::Each,
            Kind::Arc(_) => Group::Arc,
            Kind::Set => Group::Set,
            Kind::Cut(_) => Group::Cut,
        }
    }
}

fn head_half(template: &Compiled) -> (u64, &Half) {
    (template.seed, &template.head)
}

/// The modifier's half of a template that sees the head too: where both see the same, they must not
/// have the same hash.
fn modifier_half(template: &Compiled) -> (u64, &Half) {
    (template.seed ^ GOLDEN, &template.modifier)
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
            (&mut self.between, Group::Between),
            (&mut self.each, Group::Each),
            (&mut self.arc, Group::Arc),
            (&mut self.cut, Group::Cut),
        ] {
            heads.fill(atoms, columns, group(of).map(head_half), hashes);
            modifiers.fill(atoms, columns, group(of).map(modifier_half), hashes);
        }
        let [heads, modifiers] = &mut self.set;
        heads.fill(atoms, columns, group(Group::Set).map(head_half), hashes);
        modifiers.fill(atoms, columns, group(Group::Set).map(modifier_half), hashes);

        self.seen_between.clear();
        let mut found = 0;
        for template in group(Group::Between) {
            let Kind::Between(column) = template.kind else { continue };
            let column = columns[column];
            let known = self.different[..found].iter().position(|seen| seen.column() == column);
            let number = known.unwrap_or(found);
            if known.is_none() {
                found += 1;
                self.different.resize_with(found.max(self.different.len()), Different::default);
                self.different[number].fill(atoms, column);
            }
            self.seen_between.push(number);
        }
        self.seen_each.clear();
        for template in group(Group::Each) {
            let Kind::Each(column) = template.kind else { continue };
            self.seen_each.extend(atoms.values(columns[column], 0).iter().map(|value| mix(*value)));
        }
        self.is_cut.iter_mut().for_each(Vec::clear);
        for template in group(Group::Cut) {
            let Kind::Cut(lengths) = template.kind else { continue };
            for (is_cut, length) in self.is_cut.iter_mut().zip(lengths) {
                let longer = |place| length.is_some_and(|l| atoms.is_longer(place, l));
                is_cut.extend((0..=atoms.words()).map(longer));
            }
        }
        self.seen_arc.clear();
        self.seen_arc.extend(group(Group::Arc).filter_map(|template| match template.kind {
            Kind::Arc(kind) => Some(kind),
            _ => None,
        }));
        self.fill_of_arcs(features, atoms, allowed);
    }

    /// What templates see of arcs, of those that are `allowed`.
    fn fill_of_arcs(
        &mut self,
        features: &FeatureSet,
        atoms: &Atoms,
        allowed: impl Fn(usize, usize) -> bool,
    ) {
        self.kinds_of_arcs = if self.seen_arc.is_empty() { 0 } else { features.seen_of_arcs.len() };
        if self.kinds_of_arcs == 0 {
            return;
        }
        let places = self.words + 1;
        self.of_arcs.resize(places * places * self.kinds_of_arcs, 0);
        for (head, modifier) in arcs(self.words).filter(|&(head, modifier)| allowed(head, modifier))
        {
            let start = (head * places + modifier) * self.kinds_of_arcs;
            for (cell, attributes) in self.of_arcs[start..].iter_mut().zip(&features.seen_of_arcs) {
                let values = attributes.iter().map(|a| atoms.arc(*a, head, modifier));
                *cell = values.fold(0, |hash, value| mix(hash ^ value));
            }
        }
    }

    /// The number of words.
    pub fn words(&self) -> usize {
        self.words
    }

    /// The keys of all features of an arc.
    pub(crate) fn keys(&self, head: usize, modifier: usize, mut f: impl FnMut(u64)) {
        self.unary(head, modifier, &mut f);
        self.binary(head, modifier, f);
    }

    /// The keys of the features that see one word of an arc.
    fn unary(&self, head: usize, modifier: usize, mut f: impl FnMut(u64)) {
        let hidden = hidden(head, modifier);
        self.head.row(head, hidden.0).iter().for_each(|half| f(half.wrapping_mul(GOLDEN)));
        self.modifier.row(modifier, hidden.1).iter().for_each(|half| f(half.wrapping_mul(GOLDEN)));
    }

    /// The keys of the features that see both words of an arc.
    #[inline]
    pub(super) fn binary(&self, head: usize, modifier: usize, mut f: impl FnMut(u64)) {
        let hidden = hidden(head, modifier);
        let places = self.words + 1;
        for rows in [&self.pair, &self.around] {
            for (h, m) in zip(rows, head, modifier, hidden) {
                f(h.wrapping_add(*m).wrapping_mul(GOLDEN));
            }
        }
        for (heads, modifiers) in self.set[0].of(head).zip(self.set[1].of(modifier)) {
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
        let of_arc = &self.of_arcs[(head * places + modifier) * self.kinds_of_arcs..];
        for ((h, m), seen) in zip(&self.arc, head, modifier, hidden).zip(&self.seen_arc) {
            f(h.wrapping_add(*m).wrapping_add(of_arc[*seen]).wrapping_mul(GOLDEN));
        }
        let (from, to) = (head.min(modifier), head.max(modifier));
        for ((h, m), seen) in zip(&self.between, head, modifier, hidden).zip(&self.seen_between) {
            let joined = h.wrapping_add(*m);
            for b in self.different[*seen].between(from, to) {
                f(joined.wrapping_add(b).wrapping_mul(GOLDEN));
            }
        }
        let seen = self.seen_each.chunks_exact(places);
        for ((h, m), seen) in zip(&self.each, head, modifier, hidden).zip(seen) {
            let joined = h.wrapping_add(*m);
            for b in &seen[from + 1..to] {
                f(joined.wrapping_add(*b).wrapping_mul(GOLDEN));
            }
        }
        let is_cut = self.is_cut[0].chunks_exact(places).zip(self.is_cut[1].chunks_exact(places));
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

/// Which neighbours of head and modifier are hidden, as [`Rows`] count: for adjacent words, the inner
/// ones.
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
