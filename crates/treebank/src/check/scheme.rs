//! Which annotation scheme a file follows, judged by its own labels and tags.
//!
//! A file has universal tags (labels) when at least four fifths of those it has are among the
//! universal ones of Nivre et al. (2016, version 1; 2020, version 2); the version is the one whose
//! own values, those that the other does not know, are more frequent.

use std::fmt;

use super::tally::{Example, Tally};
use crate::{Column, Format, Sentence, Token};

/// The relations of both versions.
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

/// The tags of both versions; CONJ and CCONJ are the ones they do not share.
const TAGS: [&str; 16] = [
    "ADJ", "ADP", "ADV", "AUX", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT",
    "SCONJ", "SYM", "VERB", "X",
];

/// What a file's lines and values look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheme {
    /// The format of the lines.
    pub format: Format,
    /// Whether UPOS holds universal parts of speech.
    pub universal_tags: bool,
    /// Whether DEPREL holds universal relations, with or without subtypes.
    pub universal_labels: bool,
    /// The version of Universal Dependencies, 1 or 2; 2 where nothing tells.
    pub version: u8,
}

impl Scheme {
    /// Whether anything in it is universal.
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

/// How a value relates to the two versions.
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

/// Subtypes (`nmod:poss`) belong to the languages.
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

/// What speaks for a scheme, collected over a file.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    tags: u64,
    universal_tags: u64,
    labels: u64,
    universal_labels: u64,
    /// Values that one version only has.
    pub(super) only: [Tally; 2],
    /// Sentences with universal labels throughout, and sentences where most labels are not.
    sides: [Tally; 2],
    /// Sentences with enough labels to tell.
    sentences: u64,
}

/// Sentences of fewer labels say nothing about the label set.
const FEW_LABELS: u64 = 4;

impl Evidence {
    pub(super) fn add(&mut self, sentence: &Sentence, examples: usize) {
        let (mut labels, mut universal) = (0, 0);
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
        if labels >= FEW_LABELS {
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

    /// Whether there is a sign of a version, and it can be trusted: other label sets may share a
    /// name or two.
    pub(super) fn is_versioned(&self, scheme: Scheme) -> bool {
        let universal = scheme.universal_labels || (scheme.universal_tags && self.labels == 0);
        universal && self.only.iter().any(|tally| tally.count > 0)
    }

    /// The rarer kind of sentences, if nearly all sentences are clearly of one of two kinds and
    /// there are enough of both.
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
