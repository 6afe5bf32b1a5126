//! Tables of template values at the places of a sentence. Every sentence fills them again, in the same
//! memory.

use tutte_linear::mix;

use super::atoms::Atoms;
use super::set::HalfTemplate;

/// One half of some templates at all places; the halves of a place form a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    width: usize,
    /// Number of rows of a place. 1, or 3 if templates have neighbours: with no neighbours hidden, with
    /// those to the right hidden, with those to the left hidden.
    views: usize,
    /// `[(views · place + view) · width + template]`.
    halves: Vec<u64>,
}

impl Rows {
    /// Computes the halves of templates, given with their seeds, for a sentence with their columns at
    /// `columns`.
    pub(super) fn fill<'a>(
        &mut self,
        atoms: &Atoms,
        columns: &[usize],
        templates: impl Iterator<Item = (u64, &'a HalfTemplate)> + Clone,
        hashes: &mut Vec<u64>,
    ) {
        let places = atoms.words() + 1;
        self.width = templates.clone().count();
        self.views = if templates.clone().any(|(_, half)| half.has_neighbours) { 3 } else { 1 };
        self.halves.resize(places * self.views * self.width, 0);
        hashes.resize(places, 0);
        for (template, (seed, half)) in templates.enumerate() {
            for (view, hidden) in [0, 1, -1].into_iter().enumerate().take(self.views) {
                if view == 0 || half.has_neighbours {
                    half.hash(atoms, columns, seed, hidden, hashes);
                }
                let cells = self.halves.iter_mut().skip(view * self.width + template);
                let cells = cells.step_by(self.views * self.width);
                cells.zip(&*hashes).for_each(|(cell, hash)| *cell = *hash);
            }
        }
    }

    /// Number of rows of a place: 1, or 3 if templates have neighbours.
    pub(super) fn views(&self) -> usize {
        self.views
    }

    /// Returns the row of a place with these neighbours hidden: 0 none, 1 right, 2 left.
    #[inline]
    pub(super) fn view(&self, hidden: usize) -> usize {
        if self.views == 1 { 0 } else { hidden }
    }

    /// Returns the halves of all templates at a place.
    #[inline]
    pub(super) fn row(&self, place: usize, hidden: usize) -> &[u64] {
        let start = (self.views * place + self.view(hidden)) * self.width;
        &self.halves[start..start + self.width]
    }
}

/// One half of some templates at all places, one value for each morphological feature of the place.
#[derive(Clone, Debug, Default)]
pub(super) struct FeatRows {
    width: usize,
    halves: Vec<u64>,
    /// `[place · width + template]`: end of its values in `halves`; they start at the end before it.
    ends: Vec<usize>,
    /// Halves without the morphological feature.
    plain: Rows,
}

impl FeatRows {
    /// Computes the halves, see [`Rows::fill`].
    pub(super) fn fill<'a>(
        &mut self,
        atoms: &Atoms,
        columns: &[usize],
        templates: impl Iterator<Item = (u64, &'a HalfTemplate)> + Clone,
        hashes: &mut Vec<u64>,
    ) {
        self.plain.fill(atoms, columns, templates.clone(), hashes);
        self.width = self.plain.width;
        self.halves.clear();
        self.ends.clear();
        for place in 0..=atoms.words() {
            for ((_, half), &plain) in templates.clone().zip(self.plain.row(place, 0)) {
                if half.has_feat {
                    self.halves.extend(atoms.features(place).iter().map(|i| mix(plain ^ i)));
                } else {
                    self.halves.push(plain);
                }
                self.ends.push(self.halves.len());
            }
        }
    }

    /// Returns, for each template, its halves at a place.
    #[inline]
    pub(super) fn of(&self, place: usize) -> impl Iterator<Item = &[u64]> {
        let first = place * self.width;
        let mut start = first.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.ends[first..first + self.width].iter().map(move |&end| {
            let halves = &self.halves[start..end];
            start = end;
            halves
        })
    }
}

/// The distinct values of an attribute between two places. Only the first 64 distinct values of a
/// sentence count.
#[derive(Clone, Debug, Default)]
pub(super) struct DistinctValues {
    column: usize,
    places: usize,
    /// The distinct values of the sentence's words, in order of occurrence.
    values: Vec<u64>,
    /// `[from · places + to]`: the values that occur between two places, one bit each.
    masks: Vec<u64>,
}

impl DistinctValues {
    /// Collects the values of a column.
    pub(super) fn fill(&mut self, atoms: &Atoms, column: usize) {
        let places = atoms.words() + 1;
        let seen = atoms.values(column, 0);
        self.column = column;
        self.places = places;
        self.values.clear();
        self.masks.resize(places * places, 0);
        // The bit of each place's value.
        let mut bits = Vec::with_capacity(places);
        bits.push(0);
        for value in &seen[1..] {
            let known = self.values.iter().position(|other| other == value);
            let number = known.unwrap_or(self.values.len());
            if known.is_none() && number < u64::BITS as usize {
                self.values.push(*value);
            }
            bits.push(1u64.checked_shl(number as u32).unwrap_or_default());
        }
        self.values.iter_mut().for_each(|value| *value = mix(*value));
        for from in 0..places {
            let mut mask = 0;
            let row = &mut self.masks[from * places..][from + 1..places];
            for (cell, bit) in row.iter_mut().zip(&bits[from + 1..]) {
                *cell = mask;
                mask |= bit;
            }
        }
    }

    /// Returns the column of the values.
    pub(super) fn column(&self) -> usize {
        self.column
    }

    /// Returns the hashes of the distinct values between two places.
    #[inline]
    pub(super) fn between(&self, from: usize, to: usize) -> impl Iterator<Item = u64> {
        let mut mask = self.masks[from * self.places + to];
        std::iter::from_fn(move || {
            let bit = mask.trailing_zeros();
            mask &= mask.wrapping_sub(1);
            self.values.get(bit as usize).copied()
        })
    }
}
