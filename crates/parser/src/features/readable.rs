//! The values of templates as text: readable names for features, whose keys are hashes.

use tutte_treebank::Sentence;

use super::atoms::{AFTER, Atoms, BEFORE, NONE, items, value};
use super::{ArcAttribute, Attribute, Template};

/// A sentence whose template values can be read.
#[derive(Debug)]
pub(crate) struct Readable<'a> {
    sentence: &'a Sentence,
    atoms: &'a Atoms,
    /// The morphological features of each place, in the order of their hashes.
    items: Vec<Vec<&'a str>>,
}

/// The value of the inner neighbours of two adjacent words.
const MID: &str = "<mid>";

impl<'a> Readable<'a> {
    /// Makes the readable form of a sentence and its atoms.
    pub(crate) fn new(sentence: &'a Sentence, atoms: &'a Atoms) -> Self {
        let mut all = vec![Vec::new()];
        all.extend(sentence.words().map(|word| {
            let mut items: Vec<&str> = items(word).collect();
            items.sort_by_key(|item| Attribute::Feat.hash(item));
            items.dedup();
            items
        }));
        Self { sentence, atoms, items: all }
    }

    /// Returns the values of a template when it fires for the nth time on an arc, in the order of
    /// [`Template::places`]. [`Prepared::keys`](super::Prepared::keys) gives the keys in the same order.
    pub(crate) fn values(
        &self,
        template: &Template,
        head: usize,
        modifier: usize,
        nth: usize,
    ) -> Vec<String> {
        let is_set = template.modifier.iter().any(|atom| atom.attribute == Attribute::Feat);
        let members = if is_set { self.items[modifier].len().max(1) } else { 1 };
        let half = |atoms: &[super::Atom], place: usize, other: usize, member: usize| {
            let inner =
                |offset: i8| place.checked_add_signed(offset.signum().into()) == Some(other);
            let mut values = Vec::new();
            for atom in atoms {
                values.push(if atom.attribute == Attribute::Feat {
                    self.items[place].get(member).map_or(NONE, |item| *item).to_owned()
                } else if atom.offset != 0 && inner(atom.offset) {
                    MID.to_owned()
                } else {
                    self.word(atom.attribute, place, atom.offset)
                });
            }
            values
        };
        let mut values = half(&template.head, head, modifier, nth / members);
        values.extend(template.between.map(|between| {
            let inside = head.min(modifier) + 1..head.max(modifier);
            let mut values: Vec<String> =
                inside.map(|place| self.word(between.attribute, place, 0)).collect();
            if !between.each {
                // Distinct values, in the order in which they occur in the sentence.
                let all = (1..=self.sentence.len()).map(|at| self.word(between.attribute, at, 0));
                let mut distinct: Vec<String> = Vec::new();
                for value in all.filter(|value| values.contains(value)) {
                    if !distinct.contains(&value) {
                        distinct.push(value);
                    }
                }
                values = distinct;
            }
            values.into_iter().nth(nth).unwrap_or_default()
        }));
        values.extend(half(&template.modifier, modifier, head, nth % members));
        values.extend(template.arc.iter().map(|attribute| self.arc(*attribute, head, modifier)));
        values
    }

    fn word(&self, attribute: Attribute, place: usize, offset: i8) -> String {
        match place.checked_add_signed(offset.into()) {
            None => BEFORE.to_owned(),
            Some(place) if place > self.sentence.len() => AFTER.to_owned(),
            Some(place) => {
                value(self.sentence, self.atoms.first_pass_output(), place, attribute).into_owned()
            }
        }
    }

    fn arc(&self, attribute: ArcAttribute, head: usize, modifier: usize) -> String {
        let sisters =
            || self.atoms.first_pass_output().map_or((None, None), |it| it.sisters(head, modifier));
        let tag = |place: Option<usize>| {
            place.map_or_else(|| NONE.to_owned(), |place| self.word(Attribute::Upos, place, 0))
        };
        match attribute {
            ArcAttribute::Inner => tag(sisters().0),
            ArcAttribute::Outer => tag(sisters().1),
            ArcAttribute::Side if head < modifier => "right".to_owned(),
            ArcAttribute::Side => "left".to_owned(),
            ArcAttribute::Punctuation
            | ArcAttribute::Verbs
            | ArcAttribute::FirstPass
            | ArcAttribute::Level
            | ArcAttribute::Above
            | ArcAttribute::Transition => self.atoms.arc(attribute, head, modifier).to_string(),
        }
    }
}
