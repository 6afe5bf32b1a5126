//! Feature sets: templates, how they fire, and what they are compiled into.

use tutte_linear::mix;
use tutte_treebank::Sentence;

use super::atoms::{Atoms, items};
use super::template::{Atom, Between, Template};
use super::{ArcAttribute, Attribute};
use crate::Error;

/// A list of templates, and how they fire. Its text, one template a line, is part of a model; a
/// template's place in the list is part of its features' keys.
///
/// Two lines that are no templates may stand among them: `conjoin both`, `conjoin only` or `conjoin
/// none` says which copies of a feature there are, see [`Conjoin`]; `pairs 64` how often on an arc a
/// template may fire at most that does so for each pair of morphological features.
///
/// ```
/// use tutte::features::{Conjoin, FeatureSet};
///
/// let features = FeatureSet::parse("
///     conjoin only         # always with direction and distance
///     h.form m.form        # who with whom
///     h.tag b.tag m.tag    # across what
/// ")?;
/// assert_eq!(features.conjoin(), Conjoin::Only);
/// assert_eq!(features.to_string(), "conjoin only\nh.form m.form\nh.tag b.tag m.tag\n");
/// # Ok::<(), tutte::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FeatureSet {
    templates: Vec<Template>,
    conjoin: Conjoin,
    pairs: Option<usize>,
    /// The attributes that templates look at, each once, in order.
    columns: Vec<Attribute>,
    /// What templates see of arcs, each combination once.
    pub(super) seen_of_arcs: Vec<Vec<ArcAttribute>>,
    pub(super) compiled: Vec<Compiled>,
}

/// Which copies of a feature have weights: bare, or together with the direction and the distance
/// of its arc, see [`bin`](super::bin).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conjoin {
    /// `both`, as in MSTParser.
    #[default]
    Both,
    /// `only` those with direction and distance, as in Nguyen et al. (2007).
    Only,
    /// `none` of them: bare features only.
    None,
}

impl Conjoin {
    /// Whether there are bare copies.
    pub fn bare(self) -> bool {
        self != Conjoin::Only
    }

    /// Whether there are copies with direction and distance.
    pub fn binned(self) -> bool {
        self != Conjoin::None
    }
}

impl std::fmt::Display for Conjoin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Conjoin::Both => "both",
            Conjoin::Only => "only",
            Conjoin::None => "none",
        })
    }
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
    /// Both, once for each word between them.
    Each(usize),
    /// Both, and something of the arc: its number among [`FeatureSet::seen_of_arcs`].
    Arc(usize),
    /// Both, once for each morphological feature of one or each of them.
    Set,
    /// Both, if the form of the head or of the modifier is longer than so many characters.
    Cut([Option<u8>; 2]),
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
    /// A set of templates, which fire both bare and with direction and distance.
    pub fn new(templates: Vec<Template>) -> Self {
        let attributes = templates.iter().flat_map(Template::attributes);
        let mut columns: Vec<_> = attributes.filter(|a| *a != Attribute::Feat).collect();
        columns.sort_unstable();
        columns.dedup();
        let of_arcs = templates.iter().map(|template| template.arc.clone());
        let mut seen_of_arcs: Vec<_> = of_arcs.filter(|seen| !seen.is_empty()).collect();
        seen_of_arcs.sort_unstable();
        seen_of_arcs.dedup();
        let compiled = (1..)
            .zip(&templates)
            .map(|(number, template)| Compiled::new(mix(number), template, &columns, &seen_of_arcs))
            .collect();
        let conjoin = Conjoin::default();
        Self { templates, conjoin, pairs: None, columns, seen_of_arcs, compiled }
    }

    /// Templates as text, one a line; `#` starts a comment.
    ///
    /// # Errors
    /// [`Error::Template`] for the first line that is no template.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        Self::from_lines(lines.filter(|line| !line.is_empty()))
    }

    /// Templates as text, without comments and empty lines.
    pub(crate) fn from_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Self, Error> {
        let (mut templates, mut conjoin, mut pairs) = (Vec::new(), Conjoin::default(), None);
        for line in lines {
            let wrong = |why: &str| Error::Template { text: line.to_owned(), why: why.to_owned() };
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                ["conjoin", which] => {
                    conjoin = match which {
                        "both" => Conjoin::Both,
                        "only" => Conjoin::Only,
                        "none" => Conjoin::None,
                        _ => return Err(wrong("to conjoin are both, only or none")),
                    }
                }
                ["pairs", number] => match number.parse() {
                    Ok(number @ 1..) => pairs = Some(number),
                    _ => return Err(wrong("it needs a number of pairs from 1")),
                },
                _ => templates.push(line.parse()?),
            }
        }
        Ok(Self { conjoin, pairs, ..Self::new(templates) })
    }

    /// The same templates with other copies.
    pub fn with_conjoin(self, conjoin: Conjoin) -> Self {
        Self { conjoin, ..self }
    }

    /// Which copies of features there are.
    pub fn conjoin(&self) -> Conjoin {
        self.conjoin
    }

    /// How often on an arc a template may fire at most that does so for each pair of morphological
    /// features.
    pub fn pairs(&self) -> Option<usize> {
        self.pairs
    }

    /// The templates.
    pub fn templates(&self) -> &[Template] {
        &self.templates
    }

    /// The attributes that [`Atoms`] must look up.
    pub fn columns(&self) -> &[Attribute] {
        &self.columns
    }

    /// Whether some template looks at the tree of a first pass.
    pub(super) fn sees_guide(&self) -> bool {
        use ArcAttribute::{Above, FirstPass, Inner, Level, Outer, Transition};
        let of_arc = |attribute: &ArcAttribute| {
            matches!(attribute, FirstPass | Inner | Outer | Level | Above | Transition)
        };
        self.columns.iter().any(|attribute| attribute.is_of_guide())
            || self.seen_of_arcs.iter().flatten().any(of_arc)
    }

    /// The set without templates that would see nothing new in a treebank: if the fine tags of all
    /// words are the coarse ones, of two templates that differ in nothing else the first is kept.
    pub fn without_copies<'a>(self, treebank: impl IntoIterator<Item = &'a Sentence>) -> Self {
        let tags_differ =
            |sentence: &Sentence| sentence.words().any(|w| ![w.upos(), "_"].contains(&w.xpos()));
        if treebank.into_iter().any(tags_differ) {
            return self;
        }
        let coarse = |attribute: &mut Attribute| {
            if *attribute == Attribute::Tag {
                *attribute = Attribute::Upos;
            }
        };
        let mut seen = Vec::with_capacity(self.templates.len());
        let is_new = |template: &Template| {
            let mut template = template.clone();
            let atoms = template.head.iter_mut().chain(&mut template.modifier);
            atoms.for_each(|atom| coarse(&mut atom.attribute));
            template.between.iter_mut().for_each(|between| coarse(&mut between.attribute));
            let new = !seen.contains(&template);
            seen.push(template);
            new
        };
        let Self { templates, conjoin, pairs, .. } = self;
        let templates = templates.into_iter().filter(is_new).collect();
        Self { conjoin, pairs, ..Self::new(templates) }
    }

    /// Whether on some arc of a sentence [`pairs`](Self::pairs) leaves out features.
    pub fn leaves_out_pairs(&self, sentence: &Sentence) -> bool {
        let Some(most) = self.pairs else { return false };
        let mut counts: Vec<usize> = sentence.words().map(|word| items(word).count()).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let sets = |t: &Compiled| usize::from(t.head.set) + usize::from(t.modifier.set);
        let fires = |t| counts.iter().take(sets(t)).product::<usize>();
        self.compiled.iter().any(|template| fires(template) > most)
    }
}

/// The text that [`FeatureSet::parse`] reads.
impl std::fmt::Display for FeatureSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.conjoin != Conjoin::default() {
            writeln!(f, "conjoin {}", self.conjoin)?;
        }
        self.pairs.iter().try_for_each(|pairs| writeln!(f, "pairs {pairs}"))?;
        self.templates.iter().try_for_each(|template| writeln!(f, "{template}"))
    }
}

impl Compiled {
    fn new(
        seed: u64,
        template: &Template,
        columns: &[Attribute],
        seen_of_arcs: &[Vec<ArcAttribute>],
    ) -> Self {
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
        let cuts = [&template.head, &template.modifier].map(|atoms| {
            atoms.iter().find_map(|atom| match atom.attribute {
                Attribute::Cut(length) => Some(length),
                _ => None,
            })
        });
        let kind = match template.between {
            Some(Between { attribute, each: false }) => Kind::Between(column(attribute)),
            Some(Between { attribute, each: true }) => Kind::Each(column(attribute)),
            None if !template.arc.is_empty() => {
                Kind::Arc(seen_of_arcs.binary_search(&template.arc).unwrap_or_default())
            }
            None if head.set || modifier.set => Kind::Set,
            None if cuts != [None, None] => Kind::Cut(cuts),
            None if template.modifier.is_empty() => Kind::Head,
            None if template.head.is_empty() => Kind::Modifier,
            None => Kind::Pair,
        };
        Self { seed, head, modifier, kind }
    }
}

impl Half {
    /// The hashes of what is seen at all places, of a sentence that has the set's columns at
    /// `columns`. Of adjacent words, neither sees the other as its neighbour: `hidden` is the side,
    /// −1 or 1, on which nothing is seen.
    pub(super) fn hash(
        &self,
        atoms: &Atoms,
        columns: &[usize],
        seed: u64,
        hidden: i8,
        hashes: &mut [u64],
    ) {
        /// What is seen there instead: MSTParser's `<mid>`.
        const NOTHING: u64 = 0x006D_6964;
        // Values have no pattern of their own: little is needed to keep it so.
        let join = |hash: &mut u64, value: u64| {
            *hash = (hash.rotate_left(29) ^ value).wrapping_mul(GOLDEN);
        };
        hashes.fill(seed);
        for &(column, offset) in &self.atoms {
            if offset * hidden > 0 {
                hashes.iter_mut().for_each(|hash| join(hash, NOTHING));
            } else {
                let values = atoms.values(columns[column], offset);
                hashes.iter_mut().zip(values).for_each(|(hash, value)| join(hash, *value));
            }
        }
    }
}

/// An odd number without pattern: 2⁶⁴ divided by the golden ratio. Part of the model format.
pub(crate) const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
