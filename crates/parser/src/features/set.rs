//! Feature sets: lists of templates, and the form in which they are computed.

use tutte_linear::{chain_half, mix};
use tutte_treebank::Sentence;

use super::atoms::{Atoms, items};
use super::template::{Atom, Between, Template};
use super::{ArcAttribute, Attribute};
use crate::Error;

/// A list of templates with settings. Its text, one template per line, is part of a model. The position
/// of a template in the list is part of the keys of its features.
///
/// Two settings may stand among the templates. `conjoin both`, `conjoin only` or `conjoin none` selects
/// the copies of each feature, see [`Conjoin`]. `pairs 64` limits the number of pairs of morphological
/// features for which a template fires on one arc.
///
/// ```
/// use tutte::features::{Conjoin, FeatureSet};
///
/// let features = FeatureSet::parse("
///     conjoin only         # always with direction and distance
///     h.form m.form        # the two words
///     h.tag b.tag m.tag    # their tags, and each tag in between
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
    /// Attributes of words in templates, sorted and distinct.
    columns: Vec<Attribute>,
    /// Combinations of arc attributes in templates, sorted and distinct.
    pub(super) arc_combinations: Vec<Vec<ArcAttribute>>,
    pub(super) compiled: Vec<CompiledTemplate>,
}

/// The copies of a feature that have weights: bare, or conjoined with the direction and the distance of
/// the arc, see [`bin`](super::bin).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conjoin {
    /// `both`, as in MSTParser.
    #[default]
    Both,
    /// `only`: with direction and distance only, as in Nguyen et al. (2007).
    Only,
    /// `none`: bare features only.
    None,
}

impl Conjoin {
    /// Returns `true` if features have bare copies.
    pub fn bare(self) -> bool {
        self != Conjoin::Only
    }

    /// Returns `true` if features have copies with direction and distance.
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

/// A template with its attributes resolved to columns.
#[derive(Clone, Debug)]
pub(super) struct CompiledTemplate {
    pub(super) seed: u64,
    pub(super) head: HalfTemplate,
    pub(super) modifier: HalfTemplate,
    pub(super) scope: Scope,
}

/// The parts of a sentence that a template covers, which decide how often it fires.
#[derive(Clone, Debug)]
pub(super) enum Scope {
    /// The head only.
    Head,
    /// The modifier only.
    Modifier,
    /// Head and modifier.
    Pair,
    /// Head and modifier; fires once for each distinct value of a column between them.
    DistinctBetween(usize),
    /// Head and modifier; fires once for each word between them, with its value of a column.
    EachBetween(usize),
    /// Head, modifier and a combination of arc attributes: an index of [`FeatureSet::arc_combinations`].
    Arc(usize),
    /// Head and modifier; fires once for each morphological feature of one, or each pair of both.
    EachFeat,
    /// Head and modifier; fires if the form of the head or of the modifier is longer than this.
    Cut([Option<u8>; 2]),
}

/// The atoms of a template around one of the two words.
#[derive(Clone, Debug)]
pub(super) struct HalfTemplate {
    /// Column and offset of each atom.
    atoms: Vec<(usize, i8)>,
    /// `true` if it has an atom for each morphological feature.
    pub(super) has_feat: bool,
    /// `true` if it has atoms of neighbouring words.
    pub(super) has_neighbours: bool,
}

impl FeatureSet {
    /// Makes a set of templates that fire both bare and with direction and distance.
    pub fn new(templates: Vec<Template>) -> Self {
        let attributes = templates.iter().flat_map(Template::attributes);
        let mut columns: Vec<_> = attributes.filter(|a| *a != Attribute::Feat).collect();
        columns.sort_unstable();
        columns.dedup();
        let of_arcs = templates.iter().map(|template| template.arc.clone());
        let mut arc_combinations: Vec<_> = of_arcs.filter(|of_arc| !of_arc.is_empty()).collect();
        arc_combinations.sort_unstable();
        arc_combinations.dedup();
        let compile = |(number, template)| {
            CompiledTemplate::new(mix(number), template, &columns, &arc_combinations)
        };
        let compiled = (1..).zip(&templates).map(compile).collect();
        let conjoin = Conjoin::default();
        Self { templates, conjoin, pairs: None, columns, arc_combinations, compiled }
    }

    /// Reads templates from text, one per line; `#` starts a comment.
    ///
    /// # Errors
    /// [`Error::Template`] for the first line that is not a template.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        Self::from_lines(lines.filter(|line| !line.is_empty()))
    }

    /// Reads templates from lines without comments and empty lines.
    pub(crate) fn from_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Self, Error> {
        let mut templates = Vec::new();
        let mut conjoin = Conjoin::default();
        let mut pairs = None;
        for line in lines {
            let wrong = |why: &str| Error::Template { text: line.to_owned(), why: why.to_owned() };
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                ["conjoin", which] => {
                    conjoin = match which {
                        "both" => Conjoin::Both,
                        "only" => Conjoin::Only,
                        "none" => Conjoin::None,
                        _ => return Err(wrong("conjoin takes both, only or none")),
                    }
                }
                ["pairs", number] => match number.parse() {
                    Ok(number @ 1..) => pairs = Some(number),
                    _ => return Err(wrong("pairs takes a number from 1")),
                },
                _ => templates.push(line.parse()?),
            }
        }
        Ok(Self { conjoin, pairs, ..Self::new(templates) })
    }

    /// Sets the copies of features that have weights.
    pub fn with_conjoin(self, conjoin: Conjoin) -> Self {
        Self { conjoin, ..self }
    }

    /// Returns the copies of features that have weights.
    pub fn conjoin(&self) -> Conjoin {
        self.conjoin
    }

    /// Largest number of pairs of morphological features for which a template fires on one arc.
    pub fn pairs(&self) -> Option<usize> {
        self.pairs
    }

    /// Returns the templates.
    pub fn templates(&self) -> &[Template] {
        &self.templates
    }

    /// Returns the attributes that [`Atoms`] must look up.
    pub fn columns(&self) -> &[Attribute] {
        &self.columns
    }

    /// Returns `true` if a template uses the output of the first pass.
    pub(super) fn uses_first_pass(&self) -> bool {
        use ArcAttribute::{Above, FirstPass, Inner, Level, Outer, Transition};
        let of_arc = |attribute: &ArcAttribute| {
            matches!(attribute, FirstPass | Inner | Outer | Level | Above | Transition)
        };
        self.columns.iter().any(|attribute| attribute.needs_first_pass())
            || self.arc_combinations.iter().flatten().any(of_arc)
    }

    /// Removes templates that are redundant in a treebank whose fine tags all equal the coarse tags. Of
    /// two templates that differ in nothing else, the first is kept.
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

    /// Returns `true` if [`pairs`](Self::pairs) leaves out features on an arc of the sentence.
    pub fn leaves_out_pairs(&self, sentence: &Sentence) -> bool {
        let Some(most) = self.pairs else { return false };
        let mut counts: Vec<usize> = sentence.words().map(|word| items(word).count()).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let feats = |template: &CompiledTemplate| {
            usize::from(template.head.has_feat) + usize::from(template.modifier.has_feat)
        };
        let fires = |template| counts.iter().take(feats(template)).product::<usize>();
        self.compiled.iter().any(|template| fires(template) > most)
    }
}

/// Writes the text that [`FeatureSet::parse`] reads.
impl std::fmt::Display for FeatureSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.conjoin != Conjoin::default() {
            writeln!(f, "conjoin {}", self.conjoin)?;
        }
        self.pairs.iter().try_for_each(|pairs| writeln!(f, "pairs {pairs}"))?;
        self.templates.iter().try_for_each(|template| writeln!(f, "{template}"))
    }
}

impl CompiledTemplate {
    fn new(
        seed: u64,
        template: &Template,
        columns: &[Attribute],
        arc_combinations: &[Vec<ArcAttribute>],
    ) -> Self {
        // Every attribute of a template is a column.
        let column = |attribute| columns.binary_search(&attribute).unwrap_or_default();
        let half = |atoms: &[Atom]| HalfTemplate {
            atoms: atoms
                .iter()
                .filter(|atom| atom.attribute != Attribute::Feat)
                .map(|atom| (column(atom.attribute), atom.offset))
                .collect(),
            has_feat: atoms.iter().any(|atom| atom.attribute == Attribute::Feat),
            has_neighbours: atoms.iter().any(|atom| atom.offset != 0),
        };
        let head = half(&template.head);
        let modifier = half(&template.modifier);
        let cuts = [&template.head, &template.modifier].map(|atoms| {
            atoms.iter().find_map(|atom| match atom.attribute {
                Attribute::Cut(length) => Some(length),
                _ => None,
            })
        });
        let scope = match template.between {
            Some(Between { attribute, each: false }) => Scope::DistinctBetween(column(attribute)),
            Some(Between { attribute, each: true }) => Scope::EachBetween(column(attribute)),
            None if !template.arc.is_empty() => {
                Scope::Arc(arc_combinations.binary_search(&template.arc).unwrap_or_default())
            }
            None if head.has_feat || modifier.has_feat => Scope::EachFeat,
            None if cuts != [None, None] => Scope::Cut(cuts),
            None if template.modifier.is_empty() => Scope::Head,
            None if template.head.is_empty() => Scope::Modifier,
            None => Scope::Pair,
        };
        Self { seed, head, modifier, scope }
    }
}

impl HalfTemplate {
    /// Hashes the values of the atoms at all places of a sentence, which has the set's columns at
    /// `columns`. Two adjacent words are not neighbours of each other: `hidden` is the side, −1 or 1, on
    /// which a word has no neighbours; 0 for neither.
    pub(super) fn hash(
        &self,
        atoms: &Atoms,
        columns: &[usize],
        seed: u64,
        hidden: i8,
        hashes: &mut [u64],
    ) {
        /// The value of hidden neighbours: MSTParser's `<mid>`.
        const NOTHING: u64 = 0x006D_6964;
        hashes.fill(seed);
        for &(column, offset) in &self.atoms {
            if offset * hidden > 0 {
                hashes.iter_mut().for_each(|hash| *hash = chain_half(*hash, NOTHING));
            } else {
                let values = atoms.values(columns[column], offset);
                for (hash, value) in hashes.iter_mut().zip(values) {
                    *hash = chain_half(*hash, *value);
                }
            }
        }
    }
}
