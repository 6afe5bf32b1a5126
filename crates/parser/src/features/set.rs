//! Feature sets: templates, compiled into halves.

use super::atoms::Atoms;
use super::template::{Atom, Template};
use super::{ArcAttribute, Attribute};
use crate::Error;

/// A list of templates. Its text, one template a line, is part of a model; a template's place in
/// the list is part of its features' keys.
///
/// ```
/// use tutte::features::FeatureSet;
///
/// let features = FeatureSet::parse("
///     h.form m.form        # who with whom
///     h.tag b.tag m.tag    # across what
/// ")?;
/// assert_eq!(features.to_string(), "h.form m.form\nh.tag b.tag m.tag\n");
/// # Ok::<(), tutte::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FeatureSet {
    templates: Vec<Template>,
    /// The attributes that templates look at, each once, in order.
    columns: Vec<Attribute>,
    pub(super) compiled: Vec<Compiled>,
}

/// A template as it is computed.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    pub(super) seed: u64,
    pub(super) head: Half,
    pub(super) modifier: Half,
    pub(super) kind: Kind,
}

/// The ways in which a template's two halves are joined.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// It sees the head only.
    Head,
    /// It sees the modifier only.
    Modifier,
    /// Both.
    Pair,
    /// Both, once for each different value of a column between them.
    Between(usize),
    /// Both, and something of the arc.
    Arc(Vec<ArcAttribute>),
    /// Both, once for each morphological feature of one or each of them.
    Set,
}

/// What a template looks at around one of the two words.
#[derive(Clone, Debug)]
pub(super) struct Half {
    /// Column and offset.
    atoms: Vec<(usize, i8)>,
    /// Whether it looks at each morphological feature.
    pub(super) set: bool,
    /// Whether it looks at neighbours.
    pub(super) neighbours: bool,
}

impl FeatureSet {
    /// A set of templates.
    pub fn new(templates: Vec<Template>) -> Self {
        let attributes = templates.iter().flat_map(Template::attributes);
        let mut columns: Vec<_> = attributes.filter(|a| *a != Attribute::Feat).collect();
        columns.sort_unstable();
        columns.dedup();
        let compiled = (1..)
            .zip(&templates)
            .map(|(number, template)| Compiled::new(mix(number), template, &columns))
            .collect();
        Self { templates, columns, compiled }
    }

    /// Templates as text, one a line; `#` starts a comment.
    ///
    /// # Errors
    /// [`Error::Template`] for the first line that is no template.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        let templates = lines.filter(|line| !line.is_empty()).map(str::parse);
        templates.collect::<Result<_, _>>().map(Self::new)
    }

    /// The templates.
    pub fn templates(&self) -> &[Template] {
        &self.templates
    }

    /// The attributes that [`Atoms`] must look up.
    pub fn columns(&self) -> &[Attribute] {
        &self.columns
    }
}

impl std::fmt::Display for FeatureSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.templates.iter().try_for_each(|template| writeln!(f, "{template}"))
    }
}

impl Compiled {
    fn new(seed: u64, template: &Template, columns: &[Attribute]) -> Self {
        // Every attribute of a template is a column.
        let column = |attribute| columns.binary_search(&attribute).unwrap_or_default();
        let half = |atoms: &[Atom]| Half {
            atoms: atoms
                .iter()
                .filter(|atom| atom.attribute != Attribute::Feat)
                .map(|atom| (column(atom.attribute), atom.offset))
                .collect(),
            set: atoms.iter().any(|atom| atom.attribute == Attribute::Feat),
            neighbours: atoms.iter().any(|atom| atom.offset != 0),
        };
        let (head, modifier) = (half(&template.head), half(&template.modifier));
        let kind = match template.between {
            Some(attribute) => Kind::Between(column(attribute)),
            None if !template.arc.is_empty() => Kind::Arc(template.arc.clone()),
            None if head.set || modifier.set => Kind::Set,
            None if template.modifier.is_empty() => Kind::Head,
            None if template.head.is_empty() => Kind::Modifier,
            None => Kind::Pair,
        };
        Self { seed, head, modifier, kind }
    }
}

impl Half {
    /// The hash of what is seen at a place. Of adjacent words, neither sees the other as its
    /// neighbour: `hidden` is the side, −1 or 1, on which nothing is seen.
    pub(super) fn hash(&self, atoms: &Atoms, seed: u64, place: usize, hidden: i8) -> u64 {
        /// What is seen there instead: MSTParser's `<mid>`.
        const NOTHING: u64 = 0x006D_6964;
        self.atoms.iter().fold(seed, |hash, &(column, offset)| {
            let value =
                if offset * hidden > 0 { NOTHING } else { atoms.value(column, place, offset) };
            mix(hash ^ value)
        })
    }
}

/// An odd number without pattern: 2⁶⁴ divided by the golden ratio. Part of the model format.
pub(crate) const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// A bijection of 64 bits that leaves no pattern (the finaliser of SplitMix64; Steele, Lea & Flood
/// 2014). Part of the model format.
pub(crate) fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(GOLDEN);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
