//! What templates see in a sentence, as text: the names of features, whose keys are hashes.

use tutte_treebank::Sentence;

use super::atoms::{AFTER, Atoms, BEFORE, NONE, items, value};
use super::{ArcAttribute, Attribute, Template};

/// A sentence as templates see it.
#[derive(Debug)]
pub(crate) struct Readable<'a> {
    sentence: &'a Sentence,
    atoms: &'a Atoms,
    /// The morphological features of each place, in the order of their hashes.
    items: Vec<Vec<&'a str>>,
}

/// What neighbours are of adjacent words, on their inner sides.
const MID: &str = "<mid>";

impl<'a> Readable<'a> {
    /// A sentence, and what was looked up in it.
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

    /// What a template sees when it fires for the nth time on an arc, in the order of
    /// [`Template::places`]. [`Prepared::keys`](super::Prepared::keys) has its key.
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
            let mut seen: Vec<String> =
                inside.map(|place| self.word(between.attribute, place, 0)).collect();
            if !between.each {
                // Each once, in the order in which the sentence has them.
                let all = (1..=self.sentence.len()).map(|at| self.word(between.attribute, at, 0));
                let mut different: Vec<String> = Vec::new();
                for value in all.filter(|value| seen.contains(value)) {
                    if !different.contains(&value) {
                        different.push(value);
                    }
                }
                seen = different;
            }
            seen.into_iter().nth(nth).unwrap_or_default()
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
            || self.atoms.first_pass_output().map_or((None, None), |g| g.sisters(head, modifier));
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
