//! Templates of factors: features of two arcs at once.
//!
//! A factor looks at words that two arcs connect: a word, its head and its grandparent, a head and two of its
//! modifiers, or the modifiers of two arcs that cross. Templates are hashed in two halves, one for each arc, and a
//! pair of arcs joins them as an arc joins the halves of its words:
//!
//! ```text
//! key(template, e, e′) = (A[template][e] + B[template][e′]) · K   mod 2⁶⁴
//! ```
//!
//! The halves of an arc are computed once per sentence: O(arcs · templates). A key leads to a block of [`BLOCK`]
//! neighbouring weights. The first is that of the bare feature, the others are those of the feature with the
//! [order](FactorPart) of the words.

use std::fmt;
use std::str::FromStr;

use tutte_linear::{GOLDEN, chain_half, mix, spread};
use tutte_trees::TreeSet;

use super::{Atoms, Attribute};
use crate::Error;

/// Number of weights in a block of a factor's feature.
pub(crate) const BLOCK: usize = 8;

/// The value of every attribute where a sequence of modifiers begins or ends.
const NOTHING: u64 = 0x6E6F_6E65;

/// The two arcs that a factor looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FactorFamily {
    /// `grandparent`: g → h → m.
    Grandparent,
    /// `siblings`: h → m and h → s, for any two modifiers m < s of a head.
    Siblings,
    /// `sequence`: h → m and h → s, for adjacent modifiers on one side of a head, m nearer to it. One of them is
    /// missing at the beginning and at the end of the sequence.
    Sequence,
    /// `crossing`: two arcs that cross, into m and into s, with m < s. Heads have no place. Sets of projective trees
    /// have no such pairs.
    Crossing,
}

impl FactorFamily {
    /// All families.
    pub const ALL: [Self; 4] = [Self::Grandparent, Self::Siblings, Self::Sequence, Self::Crossing];

    /// Returns the names of the words in templates. A word without a name cannot be looked at.
    fn places(self) -> [&'static str; 3] {
        match self {
            Self::Grandparent => ["g", "h", "m"],
            Self::Siblings | Self::Sequence => ["h", "m", "s"],
            Self::Crossing => ["", "m", "s"],
        }
    }
}

impl fmt::Display for FactorFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Grandparent => "grandparent",
            Self::Siblings => "siblings",
            Self::Sequence => "sequence",
            Self::Crossing => "crossing",
        })
    }
}

/// An attribute at one of the words of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    /// An attribute of the word.
    Word(Attribute),
    /// `label`: the best label of the arc into the word.
    Label,
    /// `guide`: the binned probability of the arc into the word in the first pass.
    FirstPass,
}

/// A template: a family, and attributes of its words.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Template {
    family: FactorFamily,
    /// The place of each item, 0 to 2, and the item.
    items: Vec<(usize, Item)>,
    /// For each place, the attributes of the word: positions in the columns of the set.
    columns: [Vec<usize>; 3],
    /// For each place, the attributes of the arc into the word: 1 for its label, 2 for its probability, 3 for both.
    arc_kinds: [usize; 3],
}

impl FromStr for Template {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |why: String| Error::Template { text: text.to_owned(), why };
        let mut parts = text.split_whitespace();
        let name = parts.next().unwrap_or_default();
        let family = FactorFamily::ALL.into_iter().find(|family| family.to_string() == name);
        let family = family.ok_or_else(|| {
            let families = "grandparent, siblings, sequence or crossing";
            wrong(format!("{name:?} is not a family of factors: {families}"))
        })?;
        let places = family.places();
        let mut items = Vec::new();
        for part in parts {
            let item = part.split_once('.').and_then(|(place, name)| {
                let place = places.iter().position(|known| *known == place && !place.is_empty())?;
                let item = match name {
                    "label" if place > 0 => Item::Label,
                    "guide" if place > 0 => Item::FirstPass,
                    _ => Item::Word(name.parse().ok().filter(is_single)?),
                };
                Some((place, item))
            });
            items.push(item.ok_or_else(|| {
                let [first, second, third] = places;
                let comma = if first.is_empty() { "" } else { ", " };
                wrong(format!(
                    "{part:?} is not an attribute of {first}{comma}{second} or {third}, such as {third}.upos, or of an \
                     arc, {third}.label or {third}.guide"
                ))
            })?);
        }
        if items.is_empty() {
            return Err(wrong("it has no attribute".to_owned()));
        }
        let mut arc_kinds = [0; 3];
        for (place, item) in &items {
            arc_kinds[*place] |= match item {
                Item::Word(_) => 0,
                Item::Label => 1,
                Item::FirstPass => 2,
            };
        }
        Ok(Self { family, items, columns: Default::default(), arc_kinds })
    }
}

/// Returns `true` if an attribute has one value per word.
fn is_single(attribute: &Attribute) -> bool {
    !matches!(attribute, Attribute::Feat | Attribute::Cut(_))
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.family)?;
        let places = self.family.places();
        self.items.iter().try_for_each(|(place, item)| match item {
            Item::Word(attribute) => write!(f, " {}.{attribute}", places[*place]),
            Item::Label => write!(f, " {}.label", places[*place]),
            Item::FirstPass => write!(f, " {}.guide", places[*place]),
        })
    }
}

/// A list of templates of factors. Its text, one template per line, is part of a model. The position of a template
/// in the list is part of the keys of its features.
///
/// ```
/// use tutte::features::FactorSet;
///
/// let factors = FactorSet::parse("
///     grandparent g.upos h.lemma m.upos   # three words
///     siblings m.label s.label            # the best labels of both arcs
///     sequence h.upos m.upos s.upos       # adjacent modifiers, and the ends of the sequence
///     crossing m.upos s.upos              # the modifiers of two arcs that cross
/// ")?;
/// assert_eq!(factors.len(), 4);
/// assert_eq!(FactorSet::parse(&factors.to_string())?, factors);
/// # Ok::<(), tutte::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactorSet {
    templates: Vec<Template>,
    /// Attributes of words in templates, sorted and distinct.
    columns: Vec<Attribute>,
}

impl FactorSet {
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
        let mut templates = lines.map(str::parse).collect::<Result<Vec<Template>, _>>()?;
        let items = templates.iter().flat_map(|template: &Template| &template.items);
        let mut columns: Vec<Attribute> = items
            .filter_map(|(_, item)| match item {
                Item::Word(attribute) => Some(*attribute),
                Item::Label | Item::FirstPass => None,
            })
            .collect();
        columns.sort_unstable();
        columns.dedup();
        for Template { items, columns: of_template, .. } in &mut templates {
            for (place, item) in items {
                if let Item::Word(attribute) = item {
                    of_template[*place].extend(columns.binary_search(attribute));
                }
            }
        }
        Ok(Self { templates, columns })
    }

    /// Number of templates.
    pub fn len(&self) -> usize {
        self.templates.len()
    }

    /// Returns `true` if there are no templates.
    pub fn is_empty(&self) -> bool {
        self.templates.is_empty()
    }

    /// Returns the attributes that [`Atoms`] must look up.
    pub fn columns(&self) -> &[Attribute] {
        &self.columns
    }

    /// Returns the templates without those that never apply: trees of a projective set have no arcs that cross.
    pub(crate) fn of_trees(&self, tree_set: TreeSet) -> Self {
        let applies = |template: &&Template| {
            template.family != FactorFamily::Crossing || !tree_set.is_projective()
        };
        let lines: Vec<String> =
            self.templates.iter().filter(applies).map(ToString::to_string).collect();
        Self::from_lines(lines.iter().map(String::as_str)).unwrap_or_default()
    }

    /// Returns `true` if there are templates of a family.
    pub fn has(&self, family: FactorFamily) -> bool {
        self.templates.iter().any(|template| template.family == family)
    }
}

/// Writes the text that [`FactorSet::parse`] reads.
impl fmt::Display for FactorSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.templates.iter().try_for_each(|template| writeln!(f, "{template}"))
    }
}

/// Two arcs of a sentence that a factor looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FactorPart {
    family: FactorFamily,
    /// Rows of the halves.
    rows: (u32, u32),
    /// Position in a block of the weight for the order of the words: 1 to 7.
    order: u8,
}

/// The halves of the templates of factors for all arcs of a sentence. The next sentence reuses its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct PreparedFactors {
    words: usize,
    arcs: usize,
    /// Row of each arc: `[head · (words + 1) + modifier]`.
    row_of: Vec<u32>,
    families: [Halves; FactorFamily::ALL.len()],
    /// Scratch memory: hashes of one template at each word, for each place.
    hashes: [Vec<u64>; 3],
    /// Scratch memory: for each arc, its hashes without attributes, with its label, with its probability, with both.
    arc_values: Vec<[u64; 4]>,
    /// Scratch memory: column of each attribute of the set among those of the sentence.
    columns: Vec<usize>,
}

/// The halves of one family: `[row · templates + template]`.
#[derive(Clone, Debug, Default)]
struct Halves {
    templates: usize,
    /// Rows of arcs; for sequences, then of the beginning at each head.
    first: Vec<u64>,
    /// Rows of arcs; for sequences, then of the end.
    second: Vec<u64>,
}

impl PreparedFactors {
    /// Computes the halves of the templates that `keep` selects by their number. `arcs` are the candidate arcs, each
    /// with the number of its best label.
    pub(crate) fn fill(
        &mut self,
        set: &FactorSet,
        atoms: &Atoms,
        arcs: &[(usize, usize, usize)],
        keep: impl Fn(usize) -> bool,
    ) {
        let words = atoms.words();
        self.words = words;
        self.arcs = arcs.len();
        self.row_of.clear();
        self.row_of.resize((words + 1) * (words + 1), u32::MAX);
        for (row, &(head, modifier, _)) in (0..).zip(arcs) {
            self.row_of[head * (words + 1) + modifier] = row;
        }
        let Self { families, hashes, arc_values, columns, .. } = self;
        columns.clear();
        columns.extend(set.columns.iter().map(|attribute| atoms.column(*attribute)));
        arc_values.clear();
        arc_values.extend(arcs.iter().map(|&(head, modifier, label)| {
            let first_pass = atoms.first_pass_output();
            let confidence = first_pass.map_or(0, |first| first.confidence(head, modifier));
            let (label, confidence) = (mix(label as u64 + 1), mix((confidence + 1) << 32));
            [0, label, confidence, mix(label ^ confidence)]
        }));
        for family in FactorFamily::ALL {
            let kept = |(number, template): &(usize, &Template)| {
                template.family == family && keep(*number)
            };
            let templates = || set.templates.iter().enumerate().filter(kept);
            let halves = &mut families[family as usize];
            let count = templates().count();
            let is_sequence = family == FactorFamily::Sequence;
            halves.templates = count;
            halves.first.clear();
            halves.first.resize(count * (arcs.len() + if is_sequence { words + 1 } else { 0 }), 0);
            halves.second.clear();
            halves.second.resize(count * (arcs.len() + usize::from(is_sequence)), 0);
            for (column, (number, template)) in templates().enumerate() {
                let seed = mix(FACTORS ^ number as u64);
                let ends = template.hash_words(atoms, columns, seed, hashes);
                let [top, middle, bottom] = &*hashes;
                let [_, first_kind, second_kind] = template.arc_kinds;
                for (row, (&(head, modifier, _), values)) in
                    arcs.iter().zip(&*arc_values).enumerate()
                {
                    let cell = row * count + column;
                    let first = chain_half(middle[modifier], values[first_kind]);
                    halves.first[cell] = top[head].wrapping_add(first);
                    halves.second[cell] = chain_half(bottom[modifier], values[second_kind]);
                }
                if is_sequence {
                    for (row, top) in (arcs.len()..).zip(top) {
                        let value = top.wrapping_add(chain_half(ends[1], NOTHING));
                        halves.first[row * count + column] = value;
                    }
                    halves.second[arcs.len() * count + column] = chain_half(ends[2], NOTHING);
                }
            }
        }
    }

    fn row(&self, head: usize, modifier: usize) -> u32 {
        self.row_of[head * (self.words + 1) + modifier]
    }

    /// Returns the part g → h → m. The arcs must be candidates, as in the next functions.
    pub(crate) fn grandparent(&self, above: usize, head: usize, modifier: usize) -> FactorPart {
        let order = match (above < head, head < modifier, above < modifier) {
            _ if above == 0 => 1 + u8::from(head < modifier),
            (true, true, _) => 3,
            (false, false, _) => 4,
            (true, false, true) => 5,
            (true, false, false) => 6,
            (false, true, _) => 7,
        };
        let rows = (self.row(above, head), self.row(head, modifier));
        FactorPart { family: FactorFamily::Grandparent, rows, order }
    }

    /// Returns the part h → m, h → s with m < s.
    pub(crate) fn siblings(&self, head: usize, first: usize, second: usize) -> FactorPart {
        let order = match (first < head, second < head) {
            (true, true) => 1,
            (false, false) => 2,
            _ => 3,
        };
        let rows = (self.row(head, first), self.row(head, second));
        FactorPart { family: FactorFamily::Siblings, rows, order }
    }

    /// Returns the part of two adjacent modifiers, the first nearer to the head; `None` is the beginning or the end.
    pub(crate) fn sequence(
        &self,
        head: usize,
        is_left: bool,
        first: Option<usize>,
        second: Option<usize>,
    ) -> FactorPart {
        let gap = match (first, second) {
            (_, None) => 0,
            (first, Some(second)) => first.unwrap_or(head).abs_diff(second),
        };
        let bin = match gap {
            0 | 1 => 0,
            2..=4 => 1,
            _ => 2,
        };
        let rows = (
            first.map_or((self.arcs + head) as u32, |modifier| self.row(head, modifier)),
            second.map_or(self.arcs as u32, |modifier| self.row(head, modifier)),
        );
        let order = 1 + bin + if is_left { 0 } else { 3 };
        FactorPart { family: FactorFamily::Sequence, rows, order }
    }

    /// Returns the part of two arcs that cross, into m and s with m < s, each as (head, modifier).
    pub(crate) fn crossing(&self, first: (usize, usize), second: (usize, usize)) -> FactorPart {
        // A head on the left of m and one on the right of s would not cross.
        let order = match (first.0 < first.1, second.0 < second.1) {
            (true, _) => 1,
            (false, true) if first.0 < second.1 => 2,
            (false, true) => 3,
            (false, false) => 4,
        };
        let rows = (self.row(first.0, first.1), self.row(second.0, second.1));
        FactorPart { family: FactorFamily::Crossing, rows, order }
    }

    /// Calls `f` with the block of each feature of a part in a table of 2^bits weights, and the position of the weight
    /// for the order of the words.
    #[inline]
    pub(crate) fn blocks(&self, part: FactorPart, bits: u32, mut f: impl FnMut(usize, usize)) {
        let halves = &self.families[part.family as usize];
        let row = |row: u32| row as usize * halves.templates..(row as usize + 1) * halves.templates;
        let first = &halves.first[row(part.rows.0)];
        let second = &halves.second[row(part.rows.1)];
        let shift = u64::BITS - (bits - BLOCK.ilog2());
        for (first, second) in first.iter().zip(second) {
            let key = spread(first.wrapping_add(*second));
            f((key >> shift) as usize * BLOCK, usize::from(part.order));
        }
    }
}

/// Distinguishes the hashes of factors from those of arcs.
const FACTORS: u64 = 0x0066_6163_746F_7273;

impl Template {
    /// Hashes the attributes of words, for each place of the template and each word. Returns the hashes of a missing
    /// word. `columns` are those of the set's attributes among those of the sentence.
    fn hash_words(
        &self,
        atoms: &Atoms,
        columns: &[usize],
        seed: u64,
        hashes: &mut [Vec<u64>; 3],
    ) -> [u64; 3] {
        let mut missing = [0; 3];
        for (place, hashes) in hashes.iter_mut().enumerate() {
            let start = seed.wrapping_add(GOLDEN.wrapping_mul(place as u64));
            missing[place] = start;
            hashes.clear();
            hashes.resize(atoms.words() + 1, start);
            for &column in &self.columns[place] {
                let values = atoms.values(columns[column], 0);
                for (hash, value) in hashes.iter_mut().zip(values) {
                    *hash = chain_half(*hash, *value);
                }
                missing[place] = chain_half(missing[place], NOTHING);
            }
        }
        missing
    }
}

/// The default templates.
const STANDARD: &str = "\
grandparent g.upos h.upos m.upos
grandparent g.upos m.upos
grandparent g.lemma h.upos m.upos
grandparent g.upos h.lemma m.upos
grandparent g.upos h.upos m.lemma
grandparent g.lemma m.lemma
grandparent g.lemma m.upos
grandparent g.upos m.lemma
grandparent h.label m.label
grandparent h.upos h.label m.label
grandparent h.lemma h.label m.label
grandparent g.lemma h.label m.lemma
grandparent g.upos h.label m.upos m.label
grandparent h.guide m.guide
grandparent g.upos h.upos m.upos h.guide m.guide
grandparent g.lemma h.lemma m.lemma
grandparent g.lemma h.upos m.lemma
grandparent g.upos h.lemma m.lemma
grandparent g.lemma h.lemma m.upos
grandparent g.lemma h.marker h.label
grandparent g.upos h.marker m.marker
grandparent h.marker h.label m.label
grandparent g.feats h.feats m.feats
grandparent g.tag h.tag m.tag
grandparent h.tag h.label m.tag m.label
siblings h.upos m.upos s.upos
siblings m.label s.label
siblings h.upos m.label s.label
siblings h.lemma m.label s.label
siblings m.lemma s.lemma
siblings m.upos m.label s.upos s.label
siblings m.guide s.guide
siblings h.lemma m.lemma s.lemma
siblings h.lemma m.upos s.upos
siblings h.lemma m.marker s.marker
siblings h.upos m.marker s.marker
siblings m.marker m.label s.marker s.label
siblings h.tag m.tag s.tag
sequence h.upos m.upos s.upos
sequence m.upos s.upos
sequence h.lemma m.upos s.upos
sequence h.upos m.lemma s.upos
sequence h.upos m.upos s.lemma
sequence m.lemma s.lemma
sequence m.label s.label
sequence h.upos m.label s.label
sequence h.lemma m.label s.label
sequence h.upos m.upos s.upos m.guide s.guide
sequence h.lemma m.lemma s.upos
sequence h.lemma m.upos s.lemma
sequence h.lemma m.lemma s.lemma
sequence h.lemma m.marker s.marker
sequence h.upos m.marker s.marker
sequence h.upos m.upos m.label s.upos s.label
sequence m.lemma m.label s.lemma s.label
sequence h.feats m.feats s.feats
sequence h.tag m.tag s.tag
sequence m.tag m.label s.tag s.label
crossing m.upos s.upos
crossing m.label s.label
crossing m.label
crossing s.label
crossing m.lemma s.upos
crossing m.upos s.lemma
crossing m.guide s.guide
crossing m.upos m.label s.upos s.label
";

/// Templates of fast parsers: a quarter of the default templates.
const LEAN: &str = "\
grandparent g.upos h.upos m.upos
grandparent g.lemma h.upos m.upos
grandparent g.upos h.lemma m.upos
grandparent g.upos h.upos m.lemma
grandparent h.label m.label
grandparent h.upos h.label m.label
grandparent h.guide m.guide
siblings m.label s.label
siblings h.upos m.label s.label
sequence h.upos m.upos s.upos
sequence h.lemma m.upos s.upos
sequence h.upos m.lemma s.upos
sequence h.upos m.upos s.lemma
sequence m.label s.label
sequence h.upos m.label s.label
";

impl FactorSet {
    /// Names of the sets.
    pub const NAMES: [&str; 2] = ["standard", "lean"];

    /// Returns the default set.
    pub fn standard() -> Self {
        Self::parse(STANDARD).unwrap_or_default()
    }

    /// Returns the set of fast parsers.
    pub fn lean() -> Self {
        Self::parse(LEAN).unwrap_or_default()
    }

    /// Returns the set with one of these [names](Self::NAMES).
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "standard" => Some(Self::standard()),
            "lean" => Some(Self::lean()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tutte_trees::ArcMatrix;

    use super::*;
    use crate::features::FirstPassOutput;

    const TEXT: &str = "\
1\tOld\told\tADJ\t_\t_\t2\tamod\t_\t_
2\ttea\ttea\tNOUN\t_\t_\t3\tnsubj\t_\t_
3\tcools\tcool\tVERB\t_\t_\t0\troot\t_\t_
4\tfast\tfast\tADV\t_\t_\t3\tadvmod\t_\t_
";
    const ARCS: [(usize, usize, usize); 6] =
        [(0, 3, 0), (2, 1, 1), (3, 1, 2), (3, 2, 2), (3, 4, 3), (2, 4, 1)];

    fn atoms(set: &FactorSet) -> Atoms {
        let sentence: tutte_treebank::Sentence = TEXT.parse().unwrap();
        let mut marginals = ArcMatrix::zeros(4);
        for (head, modifier, _) in ARCS {
            marginals[(head, modifier)] = if modifier == 1 { 0.5 } else { 0.9 };
        }
        let output = FirstPassOutput::new(vec![2, 3, 0, 3], marginals);
        Atoms::with_first_pass(&sentence, set.columns(), Arc::new(output))
    }

    fn prepared(set: &FactorSet) -> PreparedFactors {
        let mut prepared = PreparedFactors::default();
        prepared.fill(set, &atoms(set), &ARCS, |_| true);
        prepared
    }

    fn blocks(prepared: &PreparedFactors, part: FactorPart) -> Vec<usize> {
        let mut blocks = Vec::new();
        prepared.blocks(part, 20, |block, order| {
            assert!(block % BLOCK == 0 && (1..BLOCK).contains(&order));
            blocks.push(block);
        });
        blocks
    }

    #[test]
    fn templates_are_read_as_they_are_written() {
        let set = FactorSet::standard();
        assert_eq!(set.to_string(), STANDARD);
        assert_eq!(FactorSet::lean().to_string(), LEAN);
        assert!(LEAN.lines().all(|line| STANDARD.contains(line)));
        assert!(FactorSet::NAMES.iter().all(|name| FactorSet::named(name).is_some()));
        let [most @ .., crossing] = FactorFamily::ALL;
        assert!(FactorFamily::ALL.into_iter().all(|family| set.has(family)));
        // Trees that cannot cross have no use for templates of arcs that do.
        let without = set.of_trees(TreeSet::ProjectiveSingleRoot);
        assert!(most.into_iter().all(|family| without.has(family)) && !without.has(crossing));
        assert_eq!(set.of_trees(TreeSet::NonProjectiveMultiRoot), set);
        let crossings = "crossing m.upos s.upos\ncrossing m.label s.guide\n";
        let crossings = FactorSet::parse(crossings).map(|set| (set.has(crossing), set.to_string()));
        assert_eq!(
            crossings.unwrap(),
            (true, "crossing m.upos s.upos\ncrossing m.label s.guide\n".into())
        );
        assert!(!FactorSet::parse("siblings m.upos").unwrap().has(FactorFamily::Sequence));
    }

    #[test]
    fn templates_that_cannot_be_are_refused_by_name() {
        for (line, said) in [
            ("cousins h.upos", "\"cousins\" is not a family"),
            ("siblings g.upos", "\"g.upos\" is not an attribute of h, m or s"),
            ("grandparent g.label", "\"g.label\" is not an attribute"),
            ("grandparent m.feat", "\"m.feat\" is not an attribute"),
            ("sequence h+1.upos", "\"h+1.upos\""),
            ("sequence", "no attribute"),
            ("crossing h.upos", "\"h.upos\" is not an attribute of m or s, such as s.upos"),
            ("crossing .upos", "\".upos\" is not an attribute of m or s"),
            ("crossing s.feat", "\"s.feat\" is not an attribute"),
        ] {
            let error = FactorSet::parse(line).unwrap_err().to_string();
            assert!(error.contains(said), "{line}: {error}");
        }
    }

    /// Features are shared by parts with the same attributes, and only by them.
    #[test]
    fn equal_attributes_have_equal_keys() {
        let set = FactorSet::parse(
            "siblings h.upos m.upos s.upos\nsiblings m.label s.label\nsiblings m.upos s.guide\n\
             grandparent g.upos m.upos\nsequence m.upos s.upos",
        )
        .unwrap();
        let prepared = prepared(&set);
        let of = |part| blocks(&prepared, part);
        let [one, other] = [prepared.siblings(3, 1, 4), prepared.siblings(3, 2, 4)].map(&of);
        assert_eq!(one.len(), 3);
        assert_ne!(one[0], other[0], "another tag");
        assert_eq!(one[1], other[1], "the same labels");
        assert_ne!(one[2], other[2], "another tag, though the same probability");
        let below = [prepared.grandparent(3, 2, 1), prepared.grandparent(3, 2, 4)].map(&of);
        assert_ne!(below[0], below[1]);
        assert_ne!(
            of(prepared.sequence(3, true, Some(2), Some(1))),
            of(prepared.sequence(3, true, Some(2), None))
        );
        assert_ne!(
            of(prepared.sequence(3, true, None, Some(2))),
            of(prepared.sequence(3, true, Some(2), None))
        );
        // Beginning and end do not depend on the head unless a template says so.
        assert_eq!(
            of(prepared.sequence(2, true, None, Some(1))),
            of(prepared.sequence(3, true, None, Some(1)))
        );
        assert_eq!(below[0].len() + of(prepared.sequence(3, false, None, Some(4))).len(), 2);
    }

    /// The heads of two crossing arcs give their order and nothing else. Every order has its own weight.
    #[test]
    fn crossing_arcs_have_the_attributes_of_their_modifiers() {
        let set = FactorSet::parse("crossing m.upos s.upos\ncrossing m.label s.label").unwrap();
        // Every pair of arcs into words 2 and 3 that crosses.
        let arcs = [(4, 2, 1), (1, 3, 2), (0, 3, 2), (0, 2, 1), (1, 2, 1), (4, 3, 2)];
        let mut prepared = PreparedFactors::default();
        prepared.fill(&set, &atoms(&set), &arcs, |_| true);
        let parts = [prepared.crossing((4, 2), (1, 3)), prepared.crossing((4, 2), (0, 3))];
        assert_eq!(parts.map(|part| part.order), [3, 3]);
        assert_eq!(blocks(&prepared, parts[0]), blocks(&prepared, parts[1]));
        assert_eq!(blocks(&prepared, parts[0]).len(), 2);
        // Around the words, between them, and on one side of both.
        let orders = [((1, 3), (2, 4)), ((3, 1), (2, 4)), ((4, 2), (1, 3)), ((3, 1), (4, 2))];
        let all = tutte_trees::arcs(4).map(|(head, modifier)| (head, modifier, 0));
        prepared.fill(&set, &atoms(&set), &all.collect::<Vec<_>>(), |_| true);
        let order = |(first, second)| prepared.crossing(first, second).order;
        assert_eq!(orders.map(order), [1, 2, 3, 4]);
    }

    /// The position of weights is part of the model format.
    #[test]
    fn keys_are_what_they_always_were() {
        let prepared = prepared(&FactorSet::standard());
        let sum = |part| {
            let blocks = blocks(&prepared, part);
            (blocks.len(), blocks[0] / BLOCK, blocks.iter().sum::<usize>() / BLOCK, part.order)
        };
        let parts = [
            prepared.grandparent(3, 2, 1),
            prepared.grandparent(0, 3, 4),
            prepared.siblings(3, 2, 4),
            prepared.sequence(3, true, None, Some(2)),
            prepared.sequence(3, false, Some(4), None),
        ];
        assert_eq!(
            parts.map(sum),
            [
                (25, 47066, 1502586, 4),
                (25, 87223, 1837957, 2),
                (13, 11973, 709861, 3),
                (20, 18340, 1384436, 1),
                (20, 4857, 1487329, 4)
            ]
        );
    }
}
