//! Templates: features as data.
//!
//! A template names what is looked at, head (`h`), modifier (`m`) and, for each word between them,
//! `b`, with neighbours by offset:
//!
//! ```text
//! h.form h.tag m.tag          McDonald's "p-word, p-pos, c-pos"
//! h.tag b.tag m.tag           once for each word in between
//! h.tag h+1.tag m-1.tag m.tag surrounding tags
//! h.feat m.feat               once for each pair of morphological features
//! ```
//!
//! Each fires twice, bare and together with direction and binned distance (see
//! [`Bin`](super::bin)).

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

/// A conjunction of atoms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Template {
    /// What is looked at around the head.
    pub head: Vec<Atom>,
    /// What is looked at around the modifier.
    pub modifier: Vec<Atom>,
    /// What is looked at in each word between the two.
    pub between: Option<Attribute>,
    /// What is looked at in the arc as such.
    pub arc: Vec<ArcAttribute>,
}

impl Template {
    /// All attributes it looks at.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = Attribute> + '_ {
        self.head.iter().chain(&self.modifier).map(|atom| atom.attribute).chain(self.between)
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
            let (word, offset) = place.split_at(place.len().min(1));
            let offset: i8 = match offset {
                "" => 0,
                offset => offset
                    .parse()
                    .ok()
                    .filter(|offset: &i8| offset.abs() <= FARTHEST && *offset != 0)
                    .ok_or_else(|| wrong(format!("{offset:?} is no offset from -2 to +2")))?,
            };
            match word {
                "h" => template.head.push(Atom { attribute, offset }),
                "m" => template.modifier.push(Atom { attribute, offset }),
                "b" if offset == 0
                    && template.between.is_none()
                    && attribute != Attribute::Feat =>
                {
                    template.between = Some(attribute);
                }
                "b" => return Err(wrong("one plain attribute between is allowed".to_owned())),
                _ => return Err(wrong(format!("{place:?} is neither h, m nor b"))),
            }
        }
        for atoms in [&template.head, &template.modifier] {
            let sets = atoms.iter().filter(|atom| atom.attribute == Attribute::Feat);
            if sets.clone().any(|atom| atom.offset != 0) || sets.count() > 1 {
                return Err(wrong("feat is allowed once for h and once for m".to_owned()));
            }
        }
        if template.head.is_empty() && template.modifier.is_empty() {
            return Err(wrong("it looks at neither head nor modifier".to_owned()));
        }
        Ok(template)
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut gap = "";
        let mut atoms = |f: &mut fmt::Formatter<'_>, word: char, atoms: &[Atom]| {
            for atom in atoms {
                f.write_str(gap)?;
                gap = " ";
                match atom.offset {
                    0 => write!(f, "{word}.{}", atom.attribute)?,
                    offset => write!(f, "{word}{offset:+}.{}", atom.attribute)?,
                }
            }
            Ok(())
        };
        atoms(f, 'h', &self.head)?;
        if let Some(attribute) = self.between {
            atoms(f, 'b', &[Atom { attribute, offset: 0 }])?;
        }
        atoms(f, 'm', &self.modifier)?;
        for attribute in &self.arc {
            write!(f, " a.{attribute}")?;
        }
        Ok(())
    }
}
