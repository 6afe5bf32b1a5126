//! Names of features: `h.form=saw m.tag=NN`.
//!
//! A name is stored as the number of its template and the number of each attribute's value, about eight
//! bytes per feature. Numbers are written in LEB128: seven bits per byte, lowest first, all bytes but
//! the last with their highest bit set.

use std::collections::HashMap;
use std::fmt;

use super::Dictionary;
use super::support::SupportingArcs;
use crate::features::{FeatureSet, Prepared, Readable};

/// The names of a dictionary's features, by rank of their keys.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The values of attributes, sorted and distinct.
    values: Vec<String>,
    /// The encoded names, one after the other.
    recipes: Vec<u8>,
}

/// The name of a feature.
#[derive(Clone, Copy, Debug)]
pub struct Name<'a> {
    values: &'a [String],
    features: &'a FeatureSet,
    recipe: &'a [u8],
}

impl Names {
    /// Names the features of a dictionary, in another pass over all arcs.
    pub(super) fn new(dictionary: &Dictionary, arcs: &SupportingArcs<'_>) -> Self {
        const UNNAMED: usize = usize::MAX;
        let templates = arcs.features.templates();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        // The names in order of first occurrence, and the position of each feature's name.
        let mut met: Vec<u32> = Vec::new();
        let mut places = vec![UNNAMED; dictionary.len()];
        let mut prepared = Prepared::default();
        for example in &arcs.examples {
            let readable = Readable::new(example.sentence, example.atoms);
            for (number, template) in templates.iter().enumerate() {
                prepared.fill(arcs.features, example.atoms, |other| other == number);
                for (head, modifier) in arcs.arcs_of(example) {
                    let mut nth = 0;
                    prepared.keys(head, modifier, |key| {
                        if let Some(rank) = dictionary.rank(key)
                            && places[rank] == UNNAMED
                        {
                            places[rank] = met.len();
                            met.push(number as u32);
                            for value in readable.values(template, head, modifier, nth) {
                                let next = numbers.len() as u32;
                                met.push(*numbers.entry(value).or_insert(next));
                            }
                        }
                        nth += 1;
                    });
                }
            }
        }
        // Sorted, so that numbers do not depend on the order of sentences.
        let mut values: Vec<(String, u32)> = numbers.into_iter().collect();
        values.sort_unstable();
        let mut sorted = vec![0; values.len()];
        values.iter().zip(0..).for_each(|((_, number), rank)| sorted[*number as usize] = rank);
        let mut recipes = Vec::new();
        for place in places {
            let template = met[place];
            write(template, &mut recipes);
            let count = templates[template as usize].len();
            for number in &met[place + 1..][..count] {
                write(sorted[*number as usize], &mut recipes);
            }
        }
        Self { values: values.into_iter().map(|(value, _)| value).collect(), recipes }
    }

    /// Reads the names of `count` features of these templates; `values` has one value per line.
    ///
    /// # Errors
    /// A description of the first invalid name.
    pub(crate) fn from_file(
        values: &str,
        recipes: Vec<u8>,
        features: &FeatureSet,
        count: usize,
    ) -> Result<Self, String> {
        let values = values.split_terminator('\n').map(str::to_owned).collect();
        let names = Self { values, recipes };
        let mut rest = names.recipes.as_slice();
        for rank in 0..count {
            names.next(features, &mut rest).ok_or_else(|| format!("no name at number {rank}"))?;
        }
        if !rest.is_empty() {
            return Err(format!("{} bytes after the last name", rest.len()));
        }
        Ok(names)
    }

    /// Returns the values of attributes, one per line.
    pub(crate) fn values(&self) -> String {
        self.values.iter().flat_map(|value| [value, "\n"]).collect()
    }

    /// Returns the encoded names, one after the other.
    pub(crate) fn recipes(&self) -> &[u8] {
        &self.recipes
    }

    /// Decodes the names of all features; the dictionary must have been made for these templates.
    pub fn read<'a>(&'a self, features: &'a FeatureSet) -> impl Iterator<Item = Name<'a>> {
        let mut rest = self.recipes.as_slice();
        std::iter::from_fn(move || self.next(features, &mut rest))
    }

    /// Decodes the next name; `None` at the end, or if it is invalid.
    fn next<'a>(&'a self, features: &'a FeatureSet, rest: &mut &'a [u8]) -> Option<Name<'a>> {
        let all = *rest;
        let template = features.templates().get(read(rest)? as usize)?;
        for _ in 0..template.len() {
            self.values.get(read(rest)? as usize)?;
        }
        let recipe = &all[..all.len() - rest.len()];
        Some(Name { values: &self.values, features, recipe })
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.recipe;
        let template =
            read(&mut rest).and_then(|number| self.features.templates().get(number as usize));
        let mut gap = "";
        for place in template.iter().flat_map(|template| template.places()) {
            let value = read(&mut rest).and_then(|number| self.values.get(number as usize));
            write!(f, "{gap}{place}={}", value.map_or("", String::as_str))?;
            gap = " ";
        }
        Ok(())
    }
}

fn write(mut number: u32, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads a number from the start of some bytes and removes it; `None` if there is none.
fn read(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0u32;
    for shift in (0..u32::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7F).checked_shl(shift)?;
        if *byte < 0x80 {
            return Some(number);
        }
    }
    None
}
