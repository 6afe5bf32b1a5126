//! The kinds of findings, their severities, and advice.

use std::fmt;

use super::scheme::Scheme;
use crate::{Format, Problem};

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
pub enum Severity {
    /// Worth knowing, but often intended.
    Note,
    /// Probably a mistake; tools treat it differently.
    Warning,
    /// Breaks the format or the scheme.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $name:ident $code:literal $unit:literal $title:literal;)+) => {
        /// The kind of a finding, in the order of a report.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Kind {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Kind {
            /// All kinds, in order.
            pub const ALL: &'static [Kind] = &[$(Kind::$name),+];

            /// A short name that never changes, for programs.
            pub fn code(self) -> &'static str {
                match self { $(Kind::$name => $code),+ }
            }

            /// The unit of the count, in the singular: `sentence`, `word`, `label`, …
            pub fn unit(self) -> &'static str {
                match self { $(Kind::$name => $unit),+ }
            }

            /// A description in a few words.
            pub fn title(self) -> &'static str {
                match self { $(Kind::$name => $title),+ }
            }
        }
    };
}

kinds! {
    /// A line does not have ten columns.
    ColumnCount "column-count" "sentence" "a line does not have ten columns";
    /// An ID is neither a number nor another form of ID.
    BadId "bad-id" "sentence" "an ID is neither a number nor a range nor an empty node";
    /// Words or empty nodes are not numbered in order.
    IdOrder "id-order" "sentence" "IDs are not numbered 1, 2, 3, …";
    /// The range of a multiword token is not valid.
    MultiwordRange "multiword-range" "sentence" "the range of a multiword token is not valid";
    /// A word has no form.
    EmptyForm "empty-form" "sentence" "FORM is empty";
    /// A head is not a number.
    BadHead "bad-head" "sentence" "HEAD is not a number";
    /// A head is larger than the number of words.
    HeadOutOfRange "head-out-of-range" "sentence" "HEAD is larger than the number of words";
    /// A word is its own head.
    OwnHead "own-head" "sentence" "a word is its own head";
    /// A sentence has comments but no words, or two sentences are not separated.
    SentenceBounds "sentence-bounds" "sentence" "a sentence has no words";
    /// A sentence has bytes that are not UTF-8.
    NotUtf8 "not-utf8" "sentence" "bytes that are not UTF-8";
    /// A sentence has NUL bytes.
    Nul "nul" "sentence" "NUL bytes";
    /// U+FEFF occurs inside the file.
    ByteOrderMark "byte-order-mark" "sentence" "a byte order mark inside the file";

    /// The file has no sentences.
    NoSentences "no-sentences" "file" "no sentence in the file";

    /// The heads of some words never reach the root.
    Cycle "cycle" "sentence" "heads form a cycle";
    /// All heads are known and none is 0.
    NoRoot "no-root" "sentence" "no word has head 0";
    /// More than one word has head 0.
    SeveralRoots "several-roots" "sentence" "several words have head 0";
    /// The head of a word is `_`, but other words of the file have heads.
    UnknownHead "unknown-head" "word" "HEAD is _";
    /// No word of the file has a head.
    NoHeads "no-heads" "file" "no word has a head";
    /// A word has a head but no label, and other words of the file have labels.
    MissingLabel "missing-label" "word" "HEAD is known, but DEPREL is empty";
    /// No word of the file has a label.
    NoLabels "no-labels" "file" "no word has a DEPREL";
    /// The label of a word with head 0 is not `root`.
    RootLabel "root-label" "word" "HEAD is 0, but DEPREL is not root";
    /// The label of a word with another head is `root`.
    RootElsewhere "root-elsewhere" "word" "DEPREL is root, but HEAD is not 0";

    /// UPOS is not a universal part of speech.
    UnknownTag "unknown-tag" "word" "UPOS is not a universal part of speech";
    /// DEPREL is not a universal relation.
    UnknownLabel "unknown-label" "word" "DEPREL is not a universal relation";
    /// The labels or tags belong to the other version of Universal Dependencies.
    MixedVersions "mixed-versions" "word" "labels or tags of both versions of Universal Dependencies";
    /// Some sentences of a file use another label set.
    TwoLabelSets "two-label-sets" "sentence" "two label sets in one file";
    /// A file has other labels or tags than the largest file.
    OtherValues "other-values" "word" "labels or tags differ from those of the largest file";
    /// The files have different formats.
    MixedFormats "mixed-formats" "file" "files of both formats";
    /// Labels or tags differ only in case.
    CaseVariants "case-variants" "word" "labels or tags that differ only in case";
    /// A column has suspiciously many values.
    ManyValues "many-values" "column" "suspiciously many different values";

    /// A column is empty instead of `_`.
    EmptyColumn "empty-column" "line" "an empty column instead of _";
    /// A column has a space that is not allowed.
    Space "space" "line" "a space at the edge of a column, or in one that allows none";
    /// A form has no visible character.
    BlankForm "blank-form" "word" "FORM has no visible character";
    /// A multiword token or empty node has values in columns for words only.
    NonWordColumns "non-word-columns" "line" "a multiword token or empty node with values in columns for words only";
    /// FEATS is not `Name=Value|…`.
    BadFeatures "bad-features" "word" "FEATS is not Name=Value|Name=Value";
    /// FEATS is not in alphabetical order.
    FeatureOrder "feature-order" "word" "FEATS is not in alphabetical order";
    /// DEPS is not `head:relation|…`.
    BadDeps "bad-deps" "word" "DEPS is not head:relation|head:relation";
    /// A head in DEPS (or PHEAD) is not in the sentence.
    DepsHead "deps-head" "word" "a head in DEPS or PHEAD is not valid";
    /// DEPS is not sorted by head.
    DepsOrder "deps-order" "word" "DEPS is not sorted by head";
    /// MISC has a key twice.
    RepeatedMisc "repeated-misc" "word" "MISC has a key twice";
    /// The value of `HeadProb` is not a probability.
    HeadProb "head-prob" "word" "HeadProb in MISC is not between 0 and 1";

    /// `# text` and the words differ.
    TextMismatch "text-mismatch" "sentence" "# text differs from the words and SpaceAfter";
    /// A sentence has no `# sent_id`.
    NoSentId "no-sent-id" "sentence" "no # sent_id";
    /// A sentence has no `# text`.
    NoText "no-text" "sentence" "no # text";
    /// A `sent_id` occurs twice in a file.
    RepeatedSentId "repeated-sent-id" "sentence" "a sent_id appears twice in a file";
    /// A `sent_id` occurs in several files.
    SharedSentId "shared-sent-id" "sentence" "a sent_id appears in several files";
    /// A sentence occurs in another file too. Short sentences are counted in
    /// [`Overlap`](super::Overlap) only.
    Overlap "overlap" "sentence" "the same words as a sentence of another file";
    /// A sentence occurs twice in a file.
    RepeatedSentence "repeated-sentence" "sentence" "the same words as an earlier sentence of the file";
    /// A sentence has the words of an earlier one, but another tree.
    OtherTree "other-tree" "sentence" "the same words as an earlier sentence, but another tree";

    /// A label occurs once in all files.
    LabelOnce "label-once" "label" "DEPREL seen once";
    /// A universal or coarse tag occurs once in all files.
    TagOnce "tag-once" "tag" "UPOS (CPOSTAG) seen once";
    /// A fine tag occurs once in all files.
    FineTagOnce "fine-tag-once" "tag" "XPOS (POSTAG) seen once";
    /// A feature occurs once in all files.
    FeatureOnce "feature-once" "feature" "feature seen once";
    /// A label or tag does not occur in the largest file.
    NewValue "new-value" "value" "labels or tags that the largest file does not have";
}

impl Kind {
    /// Returns advice on what to do, unless it is obvious.
    pub fn advice(self) -> Option<&'static str> {
        Some(match self {
            Kind::ColumnCount => "separate columns by single tabs; write _ in unused columns",
            Kind::IdOrder => "is a blank line between two sentences missing?",
            Kind::NotUtf8 => "name the encoding of the file, such as --encoding latin1",
            Kind::Nul => "remove NUL bytes; if every second byte is NUL, add --encoding utf-16le",
            Kind::ByteOrderMark => "remove it; files joined with cat may each start with one",
            Kind::SentenceBounds => "remove it, or join it to the next sentence",
            Kind::UnknownHead => {
                "correct in partly annotated data; otherwise parse or remove the sentence"
            }
            Kind::NoHeads => "trees could not be checked",
            Kind::MixedVersions => "convert one of them: dobj → obj, CONJ → CCONJ, …",
            Kind::TwoLabelSets => "were two treebanks joined?",
            Kind::FeatureOrder => "sort the names, ignoring case",
            Kind::TextMismatch => "tokenisers learn from this: correct # text or SpaceAfter",
            Kind::Overlap => {
                "evaluation on training sentences is too optimistic; remove them from training"
            }
            _ => return None,
        })
    }

    /// True if a file of this scheme can have this kind.
    pub(super) fn applies(self, scheme: Scheme) -> bool {
        match self {
            Kind::RootLabel | Kind::RootElsewhere | Kind::UnknownLabel => scheme.universal_labels,
            Kind::UnknownTag => scheme.universal_tags,
            // Version 1 required neither.
            Kind::NoSentId | Kind::NoText => {
                scheme.is_universal() && scheme.format == Format::ConllU && scheme.version == 2
            }
            _ => true,
        }
    }

    /// Returns the severity. Universal Dependencies require one root and a label for every word.
    /// Treebanks of the CoNLL-X shared tasks have several roots and unlabelled arcs by design.
    pub(super) fn severity(self, scheme: Scheme) -> Severity {
        use Severity::{Error, Note, Warning};
        match self {
            Kind::SeveralRoots | Kind::MissingLabel if scheme.is_universal() => Error,
            Kind::SeveralRoots | Kind::MissingLabel if scheme.format == Format::ConllX => Note,
            // Version 1 had no such rule.
            Kind::RepeatedSentId if scheme.is_universal() && scheme.version == 2 => Error,
            Kind::NoSentences
            | Kind::UnknownHead
            | Kind::SeveralRoots
            | Kind::MissingLabel
            | Kind::MixedVersions
            | Kind::TwoLabelSets
            | Kind::OtherValues
            | Kind::MixedFormats
            | Kind::CaseVariants
            | Kind::ManyValues
            | Kind::Space
            | Kind::BlankForm
            | Kind::NonWordColumns
            | Kind::FeatureOrder
            | Kind::DepsOrder
            | Kind::RepeatedMisc
            | Kind::TextMismatch
            | Kind::RepeatedSentId
            | Kind::SharedSentId
            | Kind::Overlap => Warning,
            Kind::NoHeads
            | Kind::NoLabels
            | Kind::NoSentId
            | Kind::NoText
            | Kind::RepeatedSentence
            | Kind::OtherTree
            | Kind::LabelOnce
            | Kind::TagOnce
            | Kind::FineTagOnce
            | Kind::FeatureOnce
            | Kind::NewValue => Note,
            _ => Error,
        }
    }
}

impl From<&Problem> for Kind {
    /// Returns the kind of a problem of the reader.
    fn from(problem: &Problem) -> Self {
        match problem {
            Problem::ColumnCount { .. } => Kind::ColumnCount,
            Problem::BadId { .. } => Kind::BadId,
            Problem::IdOrder { .. } => Kind::IdOrder,
            Problem::DescendingRange { .. }
            | Problem::MisplacedRange { .. }
            | Problem::OverlappingRange { .. }
            | Problem::RangeOutOfSentence { .. } => Kind::MultiwordRange,
            Problem::EmptyForm => Kind::EmptyForm,
            Problem::BadHead { .. } => Kind::BadHead,
            Problem::HeadOutOfRange { .. } => Kind::HeadOutOfRange,
            Problem::OwnHead { .. } => Kind::OwnHead,
            Problem::BadDependency { .. } => Kind::BadDeps,
            Problem::NoSuchNode { .. } => Kind::DepsHead,
            Problem::NoWords | Problem::SecondSentence => Kind::SentenceBounds,
            Problem::NotUtf8 { .. } => Kind::NotUtf8,
            Problem::Nul { .. } => Kind::Nul,
            Problem::ByteOrderMark => Kind::ByteOrderMark,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Kind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}
