//! Recognises the annotation scheme of a file by its labels and tags.
//!
//! A file has universal tags (or labels) if at least four fifths of them are universal: those of
//! Nivre et al. (2016, version 1; 2020, version 2). Some values exist in one version only. The
//! version of a file is the one with more such values.

use std::fmt;

use super::tally::{Example, Tally};
use crate::{Column, Format, Sentence, Token};

/// Relations that both versions have.
const RELATIONS: [&str; 31] = [
    "acl",
    "advcl",
    "advmod",
    "amod",
    "appos",
    "aux",
    "case",
    "cc",
    "ccomp",
    "compound",
    "conj",
    "cop",
    "csubj",
    "dep",
    "det",
    "discourse",
    "dislocated",
    "expl",
    "goeswith",
    "iobj",
    "list",
    "mark",
    "nmod",
    "nsubj",
    "nummod",
    "parataxis",
    "punct",
    "reparandum",
    "root",
    "vocative",
    "xcomp",
];
const RELATIONS_1: [&str; 9] =
    ["auxpass", "csubjpass", "dobj", "foreign", "mwe", "name", "neg", "nsubjpass", "remnant"];
const RELATIONS_2: [&str; 6] = ["clf", "fixed", "flat", "obj", "obl", "orphan"];

/// Tags that both versions have. CONJ is in version 1 only, CCONJ in version 2 only.
const TAGS: [&str; 16] = [
    "ADJ", "ADP", "ADV", "AUX", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT",
    "SCONJ", "SYM", "VERB", "X",
];

/// Format and annotation scheme of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheme {
    /// The format of the lines.
    pub format: Format,
    /// True if UPOS holds universal parts of speech.
    pub universal_tags: bool,
    /// True if DEPREL holds universal relations, with or without subtypes.
    pub universal_labels: bool,
    /// Version of Universal Dependencies, 1 or 2; 2 if it cannot be determined.
    pub version: u8,
}

impl Scheme {
    /// True if its tags or labels are universal.
    pub fn is_universal(self) -> bool {
        self.universal_tags || self.universal_labels
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.universal_tags, self.universal_labels) {
            (true, true) => write!(f, "UD v{}", self.version),
            (true, false) => f.write_str("universal tags, own labels"),
            (false, true) => write!(f, "labels of UD v{}, own tags", self.version),
            (false, false) => f.write_str("own labels and tags"),
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Scheme {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("Scheme", 5)?;
        fields.serialize_field("name", &self.to_string())?;
        fields.serialize_field("format", &self.format.to_string())?;
        fields.serialize_field("universal_tags", &self.universal_tags)?;
        fields.serialize_field("universal_labels", &self.universal_labels)?;
        fields.serialize_field("version", &self.is_universal().then_some(self.version))?;
        fields.end()
    }
}

/// The versions of Universal Dependencies that have a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Universal {
    No,
    Both,
    Only1,
    Only2,
}

pub(super) fn tag(value: &str) -> Universal {
    match value {
        "CONJ" => Universal::Only1,
        "CCONJ" => Universal::Only2,
        _ if TAGS.contains(&value) => Universal::Both,
        _ => Universal::No,
    }
}

/// Looks up a relation without its language-specific subtype (`nmod:poss`).
pub(super) fn relation(value: &str) -> Universal {
    let base = value.split_once(':').map_or(value, |(base, _)| base);
    if RELATIONS.contains(&base) {
        Universal::Both
    } else if RELATIONS_2.contains(&base) {
        Universal::Only2
    } else if RELATIONS_1.contains(&base) {
        Universal::Only1
    } else {
        Universal::No
    }
}

/// Counts over a file that determine its scheme.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    tags: u64,
    universal_tags: u64,
    labels: u64,
    universal_labels: u64,
    /// Values that only version 1 or only version 2 has.
    pub(super) only: [Tally; 2],
    /// Sentences with universal labels only, and sentences where most labels are not universal.
    sides: [Tally; 2],
    /// Sentences with enough labels.
    sentences: u64,
}

/// Minimum number of labels for a sentence to count as evidence of the label set.
const MIN_LABELS: u64 = 4;

impl Evidence {
    pub(super) fn add(&mut self, sentence: &Sentence, examples: usize) {
        let mut labels = 0;
        let mut universal = 0;
        for word in sentence.words() {
            if !matches!(word.upos(), "_" | "") {
                self.tags += 1;
                let found = tag(word.upos());
                self.universal_tags += u64::from(found != Universal::No);
                self.add_version(found, word, Column::Upos, sentence, examples);
            }
            if !matches!(word.deprel(), "_" | "") {
                labels += 1;
                let found = relation(word.deprel());
                universal += u64::from(found != Universal::No);
                self.add_version(found, word, Column::Deprel, sentence, examples);
            }
        }
        self.labels += labels;
        self.universal_labels += universal;
        if labels >= MIN_LABELS {
            self.sentences += 1;
            let side = usize::from(universal < labels);
            if side == 0 || 2 * universal < labels {
                self.sides[side]
                    .add(examples, || Example::of_sentence(sentence, first_labels(sentence)));
            }
        }
    }

    fn add_version(
        &mut self,
        found: Universal,
        word: Token<'_>,
        column: Column,
        sentence: &Sentence,
        examples: usize,
    ) {
        let version = match found {
            Universal::Only1 => 1,
            Universal::Only2 => 2,
            _ => return,
        };
        self.only[version - 1].add(examples, || {
            let name = column.name(sentence.format());
            let value = word.column(column);
            Example::of_token(
                sentence,
                word,
                column,
                format!("{name} {value} of version {version}"),
            )
        });
    }

    pub(super) fn scheme(&self, format: Format) -> Scheme {
        let most = |part: u64, whole: u64| whole > 0 && 5 * part >= 4 * whole;
        Scheme {
            format,
            universal_tags: most(self.universal_tags, self.tags),
            universal_labels: most(self.universal_labels, self.labels),
            version: if self.only[0].count > self.only[1].count { 1 } else { 2 },
        }
    }

    /// True if the version can be determined reliably. Other label sets may share a few names.
    pub(super) fn is_versioned(&self, scheme: Scheme) -> bool {
        let universal = scheme.universal_labels || (scheme.universal_tags && self.labels == 0);
        universal && self.only.iter().any(|tally| tally.count > 0)
    }

    /// Returns the rarer type of sentences, if nearly all sentences are clearly of one of two types
    /// and both are frequent enough.
    pub(super) fn second_label_set(&mut self) -> Option<Tally> {
        let [universal, other] = [self.sides[0].count, self.sides[1].count];
        let clear = 10 * (universal + other) >= 9 * self.sentences as usize;
        let rarer = usize::from(other <= universal);
        let enough =
            50 * universal.min(other) >= self.sentences as usize && universal.min(other) > 1;
        (clear && enough).then(|| std::mem::take(&mut self.sides[rarer]))
    }
}

fn first_labels(sentence: &Sentence) -> String {
    let labels: Vec<&str> = sentence.words().take(5).map(Token::deprel).collect();
    let more = if sentence.len() > 5 { " …" } else { "" };
    format!("labels {}{more}", labels.join(" "))
}
