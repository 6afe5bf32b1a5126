//! Templates: features as data, and their text.

use std::fmt;
use std::str::FromStr;

use super::{ArcAttribute, Attribute};
use crate::Error;

/// One thing looked at: an attribute of a word near the head or the modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Atom {
    /// Which attribute.
    pub attribute: Attribute,
    /// Of which word, counted from the head or modifier.
    pub offset: i8,
}

/// What is looked at in the words between head and modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Between {
    /// Which attribute.
    pub attribute: Attribute,
    /// Whether the template fires once for each word (`b*`), not for each different value (`b`).
    pub each: bool,
}

/// A conjunction of what is looked at around the head (`h`), around the modifier (`m`) and in the words
/// between them (`b`, `b*`) or in the arc as such (`a`), each with an [`Attribute`] or [`ArcAttribute`];
/// neighbours are named by their offset.
///
/// ```text
/// h.form h.tag m.tag          McDonald's "p-word, p-pos, c-pos"
/// h.tag b.tag m.tag           once for each different tag in between
/// h.tag b*.tag m.tag          once for each word in between: a tag that is there twice counts twice
/// h.tag h+1.tag m-1.tag m.tag surrounding tags
/// h.feat m.feat               once for each pair of morphological features
/// h.cut5 m.cut5               forms cut to five characters, if one of the two is longer than that
/// h.tag m.tag a.verbs         how many verbs are in between
/// ```
///
/// Left of the first word is the root, `<root>`, and left of that `<s>`; right of the last word is
/// `</s>`. Of two adjacent words neither sees the other as a neighbour, but `<mid>`: that nothing is
/// between them (as in MSTParser).
///
/// Each fires bare and together with direction and binned distance, or in one of the two ways only, as
/// its [set](super::FeatureSet) says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Template {
    /// What is looked at around the head.
    pub head: Vec<Atom>,
    /// What is looked at around the modifier.
    pub modifier: Vec<Atom>,
    /// What is looked at in the words between the two.
    pub between: Option<Between>,
    /// What is looked at in the arc as such.
    pub arc: Vec<ArcAttribute>,
}

impl Template {
    /// All attributes it looks at.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = Attribute> + '_ {
        self.atoms().map(|atom| atom.attribute).chain(self.between.map(|between| between.attribute))
    }

    /// What it looks at around head and modifier.
    pub(crate) fn atoms(&self) -> impl Iterator<Item = &Atom> {
        self.head.iter().chain(&self.modifier)
    }

    /// How many things it looks at.
    pub(crate) fn len(&self) -> usize {
        self.head.len() + self.modifier.len() + self.arc.len() + usize::from(self.between.is_some())
    }

    /// What it looks at, one by one, as its text says it.
    pub(crate) fn places(&self) -> Vec<String> {
        let atom = |word: char, atom: &Atom| match atom.offset {
            0 => format!("{word}.{}", atom.attribute),
            offset => format!("{word}{offset:+}.{}", atom.attribute),
        };
        let mut places: Vec<String> = self.head.iter().map(|a| atom('h', a)).collect();
        if let Some(Between { attribute, each }) = self.between {
            places.push(format!("b{}.{attribute}", if each { "*" } else { "" }));
        }
        places.extend(self.modifier.iter().map(|a| atom('m', a)));
        places.extend(self.arc.iter().map(|attribute| format!("a.{attribute}")));
        places
    }

    /// Why it cannot be computed, if it cannot.
    fn fault(&self) -> Option<String> {
        let special = |is: fn(&Attribute) -> bool| {
            let halves = [&self.head, &self.modifier];
            let counts = halves.map(|atoms| atoms.iter().filter(|a| is(&a.attribute)).count());
            let far = self.atoms().any(|atom| is(&atom.attribute) && atom.offset != 0);
            let between = self.between.is_some_and(|between| is(&between.attribute));
            (counts != [0, 0], far || between || counts.iter().any(|count| *count > 1))
        };
        let (feat, wrong_feat) = special(|attribute| *attribute == Attribute::Feat);
        let (cut, wrong_cut) = special(|attribute| matches!(attribute, Attribute::Cut(_)));
        for (wrong, name) in [(wrong_feat, "feat"), (wrong_cut, "cut")] {
            if wrong {
                return Some(format!("{name} is allowed once for h and once for m"));
            }
        }
        let kinds = [feat, cut, self.between.is_some(), !self.arc.is_empty()];
        if kinds.iter().filter(|kind| **kind).count() > 1 {
            return Some("only one of feat, cut, b and a is allowed".to_owned());
        }
        let none = self.head.is_empty() && self.modifier.is_empty();
        none.then(|| "it looks at neither head nor modifier".to_owned())
    }
}

/// How far from head or modifier a template may look.
pub(crate) const FARTHEST: i8 = 2;

impl FromStr for Template {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |why: String| Error::Template { text: text.to_owned(), why };
        let mut template =
            Self { head: Vec::new(), modifier: Vec::new(), between: None, arc: Vec::new() };
        for part in text.split_whitespace() {
            let (place, name) = part
                .split_once('.')
                .ok_or_else(|| wrong(format!("{part:?} is no place.attribute, such as h.form")))?;
            if place == "a" {
                let attribute = name
                    .parse()
                    .map_err(|()| wrong(format!("{name:?} is no attribute of an arc")))?;
                template.arc.push(attribute);
                continue;
            }
            let attribute: Attribute =
                name.parse().map_err(|()| wrong(format!("{name:?} is no attribute of a word")))?;
            if let "b" | "b*" = place {
                let each = place == "b*";
                if template.between.replace(Between { attribute, each }).is_some() {
                    return Err(wrong("one attribute between is allowed".to_owned()));
                }
                continue;
            }
            let (half, offset) = match (place.strip_prefix('h'), place.strip_prefix('m')) {
                (Some(offset), _) => (&mut template.head, offset),
                (_, Some(offset)) => (&mut template.modifier, offset),
                _ => return Err(wrong(format!("{place:?} is neither h, m, b nor b*"))),
            };
            let offset: i8 = match offset {
                "" => 0,
                offset => offset
                    .parse()
                    .ok()
                    .filter(|offset: &i8| (-FARTHEST..=FARTHEST).contains(offset) && *offset != 0)
                    .ok_or_else(|| wrong(format!("{offset:?} is no offset from -2 to +2")))?,
            };
            half.push(Atom { attribute, offset });
        }
        template.fault().map_or(Ok(template), |why| Err(wrong(why)))
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.places().join(" "))
    }
}
