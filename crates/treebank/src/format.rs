//! The two families of files, their ten columns, and how to tell them apart.
//!
//! Both hold one word per line, ten columns between tabs, and a blank line after every sentence.
//!
//! ```text
//!            1   2     3      4        5       6      7     8       9      10
//! CoNLL-U    ID  FORM  LEMMA  UPOS     XPOS    FEATS  HEAD  DEPREL  DEPS   MISC
//! CoNLL-X    ID  FORM  LEMMA  CPOSTAG  POSTAG  FEATS  HEAD  DEPREL  PHEAD  PDEPREL
//! ```
//!
//! CoNLL-X is the format of Buchholz & Marsi (2006), kept by the shared task of 2007; CoNLL-U is
//! its successor of Universal Dependencies (Nivre et al. 2016, 2020), which adds comments,
//! multiword tokens and empty nodes. Versions 1 and 2 of the latter differ in their labels, not in
//! their lines, and are read alike.

use std::fmt;
use std::str::FromStr;

use crate::Error;

/// A family of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// CoNLL-U, versions 1 and 2, of Universal Dependencies.
    #[default]
    ConllU,
    /// CoNLL-X, the format of the shared tasks of 2006 and 2007.
    ConllX,
}

impl Format {
    /// Recognises the format from the lines of one sentence, or `None` if none of them has ten
    /// columns. The first of these rules that speaks decides:
    ///
    /// 1. a comment, a multiword token (`3-4`) or an empty node (`5.1`): CoNLL-U;
    /// 2. column 9 of some word is a number, hence PHEAD: CoNLL-X;
    /// 3. column 9 of some word is something else but `_`, hence DEPS: CoNLL-U;
    /// 4. column 10 of some word is not `_`; without a PHEAD it is no PDEPREL, hence MISC: CoNLL-U;
    /// 5. column 4 of every word is `_` or a universal part of speech (of either version):
    ///    CoNLL-U; otherwise CoNLL-X.
    ///
    /// A [`Reader`](crate::Reader) asks once, for the first sentence that gives an answer.
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
        let sentence = sentence.strip_prefix('\u{feff}').unwrap_or(sentence);
        let mut words = 0;
        let (mut commented, mut dashed) = (false, false);
        let (mut phead, mut deps, mut misc) = (false, false, false);
        let mut universal = true;
        for line in sentence.lines() {
            commented |= line.starts_with('#');
            let mut fields = line.trim_end_matches(' ').split('\t');
            let mut columns = [""; 10];
            let filled = columns.iter_mut().zip(&mut fields).map(|(c, f)| *c = f).count();
            if filled < 10 || fields.next().is_some() || line.starts_with('#') {
                continue;
            }
            let [id, _, _, tag, .., ninth, tenth] = columns;
            words += 1;
            dashed |= id.contains(['-', '.']);
            let number = !ninth.is_empty() && ninth.bytes().all(|b| b.is_ascii_digit());
            phead |= number;
            deps |= !number && ninth != "_";
            misc |= tenth != "_";
            universal &= tag == "_" || UNIVERSAL_TAGS.contains(&tag);
        }
        if words == 0 {
            return None;
        }
        let conll_u = commented || dashed || (!phead && (deps || misc || universal));
        Some(if conll_u { Format::ConllU } else { Format::ConllX })
    }
}

/// The universal parts of speech; CONJ is what version 1 called CCONJ.
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

    /// `conllu`, `conllx` or `conll2007`, in any case and with or without hyphens.
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
    /// Relation to the head.
    Deprel,
    /// Enhanced dependencies; in CoNLL-X the projective head, PHEAD.
    Deps,
    /// Anything else; in CoNLL-X the relation to the projective head, PDEPREL.
    Misc,
}

impl Column {
    /// All ten, in order.
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

    /// The number of the column in a line, from 1.
    pub fn number(self) -> usize {
        self as usize + 1
    }

    /// What a format calls the column.
    pub fn name(self, format: Format) -> &'static str {
        let u = ["ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"];
        match (format, self) {
            (Format::ConllX, Column::Upos) => "CPOSTAG",
            (Format::ConllX, Column::Xpos) => "POSTAG",
            (Format::ConllX, Column::Deps) => "PHEAD",
            (Format::ConllX, Column::Misc) => "PDEPREL",
            _ => u[self as usize],
        }
    }
}
