//! Feature templates as data, and their text.

use std::fmt;
use std::str::FromStr;

use super::{ArcAttribute, Attribute};
use crate::Error;

/// An attribute of the head, the modifier or one of their neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Atom {
    /// The attribute.
    pub attribute: Attribute,
    /// Offset of the word from the head or modifier.
    pub offset: i8,
}

/// An attribute of the words between head and modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Between {
    /// The attribute.
    pub attribute: Attribute,
    /// `true` fires once for each word (`b*`), `false` once for each distinct value (`b`).
    pub each: bool,
}

/// A conjunction of attributes: of the head (`h`), of the modifier (`m`), of the words between them
/// (`b`, `b*`) or of the arc as such (`a`). Each is an [`Attribute`] or [`ArcAttribute`]; neighbours are
/// named by their offset.
///
/// ```text
/// h.form h.tag m.tag          McDonald's "p-word, p-pos, c-pos"
/// h.tag b.tag m.tag           once for each distinct tag in between
/// h.tag b*.tag m.tag          once for each word in between: a tag that occurs twice counts twice
/// h.tag h+1.tag m-1.tag m.tag surrounding tags
/// h.feat m.feat               once for each pair of morphological features
/// h.cut5 m.cut5               forms cut to five characters, if one of the two is longer than that
/// h.tag m.tag a.verbs         number of verbs in between
/// ```
///
/// Left of the first word is the root, `<root>`, and left of that `<s>`; right of the last word is
/// `</s>`. Two adjacent words are not neighbours of each other: their inner neighbours are `<mid>`, as
/// in MSTParser.
///
/// A feature fires bare, conjoined with direction and binned distance, or both, as its
/// [set](super::FeatureSet) says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Template {
    /// Attributes around the head.
    pub head: Vec<Atom>,
    /// Attributes around the modifier.
    pub modifier: Vec<Atom>,
    /// Attribute of the words in between.
    pub between: Option<Between>,
    /// Attributes of the arc as such.
    pub arc: Vec<ArcAttribute>,
}

impl Template {
    /// Returns all attributes of words.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = Attribute> + '_ {
        self.atoms().map(|atom| atom.attribute).chain(self.between.map(|between| between.attribute))
    }

    /// Returns the atoms of head and modifier.
    pub(crate) fn atoms(&self) -> impl Iterator<Item = &Atom> {
        self.head.iter().chain(&self.modifier)
    }

    /// Number of attributes.
    pub(crate) fn len(&self) -> usize {
        self.head.len() + self.modifier.len() + self.arc.len() + usize::from(self.between.is_some())
    }

    /// Returns the attributes with their places, as in the template's text: `h.form`, `m-1.tag`.
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

    /// Returns why the template is invalid, if it is.
    fn problem(&self) -> Option<String> {
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
        let exclusive = [feat, cut, self.between.is_some(), !self.arc.is_empty()];
        if exclusive.iter().filter(|is_used| **is_used).count() > 1 {
            return Some("only one of feat, cut, b and a is allowed".to_owned());
        }
        let none = self.head.is_empty() && self.modifier.is_empty();
        none.then(|| "it has no attribute of head or modifier".to_owned())
    }
}

/// Largest offset from head or modifier.
pub(crate) const FARTHEST: i8 = 2;

impl FromStr for Template {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |why: String| Error::Template { text: text.to_owned(), why };
        let mut template =
            Self { head: Vec::new(), modifier: Vec::new(), between: None, arc: Vec::new() };
        for part in text.split_whitespace() {
            let (place, name) = part.split_once('.').ok_or_else(|| {
                wrong(format!("{part:?} is not a place and an attribute, such as h.form"))
            })?;
            if place == "a" {
                let attribute = name
                    .parse()
                    .map_err(|()| wrong(format!("{name:?} is not an attribute of arcs")))?;
                template.arc.push(attribute);
                continue;
            }
            let attribute: Attribute = name
                .parse()
                .map_err(|()| wrong(format!("{name:?} is not an attribute of words")))?;
            if let "b" | "b*" = place {
                let each = place == "b*";
                if template.between.replace(Between { attribute, each }).is_some() {
                    return Err(wrong("only one attribute in between is allowed".to_owned()));
                }
                continue;
            }
            let (half, offset) = match (place.strip_prefix('h'), place.strip_prefix('m')) {
                (Some(offset), _) => (&mut template.head, offset),
                (_, Some(offset)) => (&mut template.modifier, offset),
                _ => return Err(wrong(format!("{place:?} is not a place: h, m, b, b* or a"))),
            };
            let offset: i8 = match offset {
                "" => 0,
                offset => offset
                    .parse()
                    .ok()
                    .filter(|offset: &i8| (-FARTHEST..=FARTHEST).contains(offset) && *offset != 0)
                    .ok_or_else(|| wrong(format!("{offset:?} is not an offset from -2 to +2")))?,
            };
            half.push(Atom { attribute, offset });
        }
        template.problem().map_or(Ok(template), |why| Err(wrong(why)))
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.places().join(" "))
    }
}
