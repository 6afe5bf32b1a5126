//! The two file formats, their ten columns, and how to recognise them.
//!
//! Both have one word per line, ten columns separated by tabs, and a blank line after every
//! sentence.
//!
//! ```text
//!            1   2     3      4        5       6      7     8       9      10
//! CoNLL-U    ID  FORM  LEMMA  UPOS     XPOS    FEATS  HEAD  DEPREL  DEPS   MISC
//! CoNLL-X    ID  FORM  LEMMA  CPOSTAG  POSTAG  FEATS  HEAD  DEPREL  PHEAD  PDEPREL
//! ```
//!
//! CoNLL-X is the format of Buchholz & Marsi (2006), also used by the shared task of 2007. CoNLL-U
//! is its successor in Universal Dependencies (Nivre et al. 2016, 2020). It adds comments,
//! multiword tokens and empty nodes. Versions 1 and 2 of CoNLL-U differ in their labels, not in
//! their lines; the reader treats them alike.

use std::fmt;
use std::str::FromStr;

use crate::Error;

/// A file format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// CoNLL-U, versions 1 and 2, of Universal Dependencies.
    #[default]
    ConllU,
    /// CoNLL-X, the format of the shared tasks of 2006 and 2007.
    ConllX,
}

impl Format {
    /// Recognises the format from the lines of one sentence. Returns `None` if no line has ten
    /// columns. The first rule that applies decides:
    ///
    /// 1. a comment, a multiword token (`3-4`) or an empty node (`5.1`): CoNLL-U;
    /// 2. column 9 of some word is a number, hence PHEAD: CoNLL-X;
    /// 3. column 9 of some word is neither a number nor `_`, hence DEPS: CoNLL-U;
    /// 4. column 10 of some word is not `_`. There is no PHEAD, so it is MISC, not PDEPREL:
    ///    CoNLL-U;
    /// 5. column 4 of every word is `_` or a universal part of speech (of either version): CoNLL-U;
    ///    otherwise CoNLL-X.
    ///
    /// A [`Reader`](crate::Reader) asks this until a sentence gives an answer. If it would come to rule 5, and the
    /// name of its file ends in `.conllu`, perhaps compressed, the format is CoNLL-U.
    ///
    /// ```
    /// use tutte_treebank::Format;
    /// let x = "1\tLys\t_\tN\tNC\t_\t0\tROOT\t_\t_\n";
    /// let u = "1\tLys\t_\tNOUN\tNC\t_\t0\troot\t_\t_\n";
    /// assert_eq!(Format::recognise(x), Some(Format::ConllX));
    /// assert_eq!(Format::recognise(u), Some(Format::ConllU));
    /// assert_eq!(Format::recognise("not a treebank\n"), None);
    /// ```
    pub fn recognise(sentence: &str) -> Option<Format> {
        Self::recognise_in(sentence, "")
    }

    /// Recognises the format of a sentence in a file of this name, see [`recognise`](Self::recognise).
    pub(crate) fn recognise_in(sentence: &str, file: &str) -> Option<Format> {
        let sentence = sentence.strip_prefix('\u{feff}').unwrap_or(sentence);
        let mut words = 0;
        let mut has_comment = false;
        let mut has_dash_or_dot = false;
        let mut has_phead = false;
        let mut has_deps = false;
        let mut has_misc = false;
        let mut is_universal = true;
        for line in sentence.lines() {
            has_comment |= line.starts_with('#');
            let mut fields = line.trim_end_matches(' ').split('\t');
            let mut columns = [""; 10];
            let filled = columns.iter_mut().zip(&mut fields).map(|(c, f)| *c = f).count();
            if filled < 10 || fields.next().is_some() || line.starts_with('#') {
                continue;
            }
            let [id, _, _, tag, .., ninth, tenth] = columns;
            words += 1;
            has_dash_or_dot |= id.contains(['-', '.']);
            let is_number = !ninth.is_empty() && ninth.bytes().all(|b| b.is_ascii_digit());
            has_phead |= is_number;
            has_deps |= !is_number && ninth != "_";
            has_misc |= tenth != "_";
            is_universal &= tag == "_" || UNIVERSAL_TAGS.contains(&tag);
        }
        if words == 0 {
            return None;
        }
        let stem = [".gz", ".zst"].iter().find_map(|ending| file.strip_suffix(ending));
        let is_called_conllu = stem.unwrap_or(file).ends_with(".conllu");
        let is_conllu = has_comment
            || has_dash_or_dot
            || (!has_phead && (has_deps || has_misc || is_universal || is_called_conllu));
        Some(if is_conllu { Format::ConllU } else { Format::ConllX })
    }
}

/// The universal parts of speech of both versions. CONJ is the name of CCONJ in version 1.
const UNIVERSAL_TAGS: [&str; 18] = [
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "CONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON",
    "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X",
];

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::ConllU => "CoNLL-U",
            Format::ConllX => "CoNLL-X",
        })
    }
}

impl FromStr for Format {
    type Err = Error;

    /// Parses `conllu`, `conllx` or `conll2007`, in any case and with or without hyphens.
    fn from_str(name: &str) -> Result<Self, Error> {
        let plain: String =
            name.chars().filter(|c| *c != '-').flat_map(char::to_lowercase).collect();
        match plain.as_str() {
            "conllu" => Ok(Format::ConllU),
            "conllx" | "conll2006" | "conll2007" => Ok(Format::ConllX),
            _ => Err(Error::UnknownFormat { name: name.to_owned() }),
        }
    }
}

/// One of the ten columns, by its CoNLL-U name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Column {
    /// Number of the word, range of a multiword token or number of an empty node.
    Id,
    /// The word as written.
    Form,
    /// Its dictionary form.
    Lemma,
    /// Universal part of speech; in CoNLL-X the coarse tag, CPOSTAG.
    Upos,
    /// Language-specific tag; in CoNLL-X the fine tag, POSTAG.
    Xpos,
    /// Morphological features.
    Feats,
    /// Number of the head, 0 for the root, `_` if unknown.
    Head,
    /// Label of the arc from the head.
    Deprel,
    /// Enhanced dependencies; in CoNLL-X the projective head, PHEAD.
    Deps,
    /// Other annotation; in CoNLL-X the label of the projective head, PDEPREL.
    Misc,
}

impl Column {
    /// All ten columns, in order.
    pub const ALL: [Column; 10] = [
        Column::Id,
        Column::Form,
        Column::Lemma,
        Column::Upos,
        Column::Xpos,
        Column::Feats,
        Column::Head,
        Column::Deprel,
        Column::Deps,
        Column::Misc,
    ];

    /// Number of the column in a line, from 1.
    pub fn number(self) -> usize {
        self as usize + 1
    }

    /// Name of the column in a format.
    pub fn name(self, format: Format) -> &'static str {
        let conllu_names =
            ["ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"];
        match (format, self) {
            (Format::ConllX, Column::Upos) => "CPOSTAG",
            (Format::ConllX, Column::Xpos) => "POSTAG",
            (Format::ConllX, Column::Deps) => "PHEAD",
            (Format::ConllX, Column::Misc) => "PDEPREL",
            _ => conllu_names[self as usize],
        }
    }
}
