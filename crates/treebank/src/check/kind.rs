//! What can be found, how grave it is, and what to do about it.

use std::fmt;

use super::scheme::Scheme;
use crate::{Format, Problem};

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
pub enum Severity {
    /// Worth knowing, and often as it should be.
    Note,
    /// Probably not meant; tools disagree about it.
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
        /// What was found. The order is that of a report.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Kind {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Kind {
            /// All kinds, in order.
            pub const ALL: &'static [Kind] = &[$(Kind::$name),+];

            /// A short name that does not change, for programs.
            pub fn code(self) -> &'static str {
                match self { $(Kind::$name => $code),+ }
            }

            /// What is counted, in the singular: `sentence`, `word`, `label`, …
            pub fn unit(self) -> &'static str {
                match self { $(Kind::$name => $unit),+ }
            }

            /// What is the matter, in a few words.
            pub fn title(self) -> &'static str {
                match self { $(Kind::$name => $title),+ }
            }
        }
    };
}

kinds! {
    /// A line that has not ten columns.
    ColumnCount "column-count" "sentence" "a line does not have ten columns";
    /// An ID of no known shape.
    BadId "bad-id" "sentence" "an ID is neither a number nor a range nor an empty node";
    /// Words or empty nodes that are not numbered in order.
    IdOrder "id-order" "sentence" "IDs are not numbered 1, 2, 3, …";
    /// A multiword token whose range is impossible.
    MultiwordRange "multiword-range" "sentence" "the range of a multiword token is impossible";
    /// A word without form.
    EmptyForm "empty-form" "sentence" "FORM is empty";
    /// A head that is not a number.
    BadHead "bad-head" "sentence" "HEAD is not a number";
    /// A head that the sentence does not have.
    HeadOutOfRange "head-out-of-range" "sentence" "HEAD is a word that the sentence does not have";
    /// A word that is its own head.
    OwnHead "own-head" "sentence" "a word is its own head";
    /// Comments without words, or two sentences in one.
    SentenceBounds "sentence-bounds" "sentence" "a sentence has no words";
    /// Bytes that are not UTF-8.
    NotUtf8 "not-utf8" "sentence" "bytes that are not UTF-8";
    /// U+FEFF inside the file.
    ByteOrderMark "byte-order-mark" "sentence" "a byte order mark inside the file";

    /// A file without sentences.
    NoSentences "no-sentences" "file" "no sentence in the file";

    /// Heads that never reach the root.
    Cycle "cycle" "sentence" "heads form a cycle";
    /// All heads are known and none is 0.
    NoRoot "no-root" "sentence" "no word has head 0";
    /// More than one word has head 0.
    SeveralRoots "several-roots" "sentence" "several words have head 0";
    /// A word whose head is `_`, in a file where others have one.
    UnknownHead "unknown-head" "word" "HEAD is _";
    /// A file in which no word has a head.
    NoHeads "no-heads" "file" "no word has a head";
    /// A word with head and without label, in a file where others have one.
    MissingLabel "missing-label" "word" "a head, but no DEPREL";
    /// A file in which no word has a label.
    NoLabels "no-labels" "file" "no word has a DEPREL";
    /// A word with head 0 that is not called `root`.
    RootLabel "root-label" "word" "HEAD is 0, but DEPREL is not root";
    /// A word called `root` that has a head.
    RootElsewhere "root-elsewhere" "word" "DEPREL is root, but HEAD is not 0";

    /// A UPOS outside the universal ones.
    UnknownTag "unknown-tag" "word" "UPOS is not a universal part of speech";
    /// A relation outside the universal ones.
    UnknownLabel "unknown-label" "word" "DEPREL is not a universal relation";
    /// Labels or tags of the other version of Universal Dependencies.
    MixedVersions "mixed-versions" "word" "labels or tags of both versions of Universal Dependencies";
    /// Sentences of another label set inside a file.
    TwoLabelSets "two-label-sets" "sentence" "two label sets in one file";
    /// A file with other labels or tags than the rest.
    OtherValues "other-values" "word" "another set of labels or tags than in the largest file";
    /// Files of both formats.
    MixedFormats "mixed-formats" "file" "files of both formats";
    /// Values that differ in case only.
    CaseVariants "case-variants" "word" "labels or tags that differ in case only";
    /// A column with suspiciously many values.
    ManyValues "many-values" "column" "suspiciously many different values";

    /// A column that is empty instead of `_`.
    EmptyColumn "empty-column" "line" "an empty column instead of _";
    /// A space where none may be.
    Space "space" "line" "a space in a column that may have none, or at its edge";
    /// A form that cannot be seen.
    BlankForm "blank-form" "word" "FORM has nothing to see";
    /// A multiword token or empty node with columns that only words have.
    NonWordColumns "non-word-columns" "line" "a multiword token or empty node with columns that only words have";
    /// FEATS that are not `Name=Value|…`.
    BadFeatures "bad-features" "word" "FEATS is not Name=Value|Name=Value";
    /// FEATS that are not in alphabetical order.
    FeatureOrder "feature-order" "word" "FEATS is not in alphabetical order";
    /// DEPS that are not `head:relation|…`.
    BadDeps "bad-deps" "word" "DEPS is not head:relation|head:relation";
    /// A head in DEPS (or PHEAD) that the sentence does not have.
    DepsHead "deps-head" "word" "DEPS or PHEAD has an impossible head";
    /// DEPS that are not in the order of heads.
    DepsOrder "deps-order" "word" "DEPS is not in the order of its heads";
    /// A key that MISC has twice.
    RepeatedMisc "repeated-misc" "word" "MISC has a key twice";
    /// A `HeadProb` that is no probability.
    HeadProb "head-prob" "word" "HeadProb in MISC is not between 0 and 1";

    /// `# text` and the words differ.
    TextMismatch "text-mismatch" "sentence" "# text is not what the words and SpaceAfter give";
    /// Sentences without `# sent_id`.
    NoSentId "no-sent-id" "sentence" "no # sent_id";
    /// Sentences without `# text`.
    NoText "no-text" "sentence" "no # text";
    /// A `sent_id` that the file has twice.
    RepeatedSentId "repeated-sent-id" "sentence" "a sent_id appears twice in a file";
    /// A `sent_id` that several files have.
    SharedSentId "shared-sent-id" "sentence" "a sent_id appears in several files";
    /// A sentence that another file has too; short ones are counted in [`Overlap`](super::Overlap)
    /// only.
    Overlap "overlap" "sentence" "the same words as a sentence of another file";
    /// A sentence that the file has twice.
    RepeatedSentence "repeated-sentence" "sentence" "the same words as an earlier sentence of the file";
    /// The words of an earlier sentence with another tree.
    OtherTree "other-tree" "sentence" "the same words as an earlier sentence, but another tree";

    /// A label seen once in all files.
    LabelOnce "label-once" "label" "DEPREL seen once";
    /// A universal or coarse tag seen once in all files.
    TagOnce "tag-once" "tag" "UPOS (CPOSTAG) seen once";
    /// A fine tag seen once in all files.
    FineTagOnce "fine-tag-once" "tag" "XPOS (POSTAG) seen once";
    /// A feature seen once in all files.
    FeatureOnce "feature-once" "feature" "feature seen once";
    /// A label or tag that the largest file does not have.
    NewValue "new-value" "value" "labels or tags that the largest file does not have";
}

impl Kind {
    /// What to do about it, where that is not plain.
    pub fn advice(self) -> Option<&'static str> {
        Some(match self {
            Kind::ColumnCount => "columns are separated by single tabs, unused ones hold _",
            Kind::IdOrder => "is a blank line between two sentences missing?",
            Kind::NotUtf8 => "say --encoding latin1, or whatever the file is in",
            Kind::ByteOrderMark => "files joined with cat may hold one each; remove it",
            Kind::SentenceBounds => "remove it, or join it to the sentence that follows",
            Kind::UnknownHead => "fine for partly annotated data; otherwise parse or remove",
            Kind::NoHeads => "nothing about trees could be checked",
            Kind::MixedVersions => "convert one of them: dobj → obj, CONJ → CCONJ, …",
            Kind::TwoLabelSets => "were two treebanks joined?",
            Kind::FeatureOrder => "CoNLL-U wants names sorted without regard to case",
            Kind::TextMismatch => "tokenisers learn from this: repair # text or SpaceAfter",
            Kind::Overlap => "scores on such sentences are too good; remove them from training",
            _ => return None,
        })
    }

    /// Whether a file of this scheme can have it.
    pub(super) fn applies(self, scheme: Scheme) -> bool {
        match self {
            Kind::RootLabel | Kind::RootElsewhere | Kind::UnknownLabel => scheme.universal_labels,
            Kind::UnknownTag => scheme.universal_tags,
            // Version 1 asked for neither.
            Kind::NoSentId | Kind::NoText => {
                scheme.is_universal() && scheme.format == Format::ConllU && scheme.version == 2
            }
            _ => true,
        }
    }

    /// How grave it is. Universal Dependencies demand one root and a label for every word; the
    /// treebanks of the CoNLL-X shared tasks have several roots and unlabelled arcs by design.
    pub(super) fn severity(self, scheme: Scheme) -> Severity {
        use Severity::{Error, Note, Warning};
        match self {
            Kind::SeveralRoots | Kind::MissingLabel if scheme.is_universal() => Error,
            Kind::SeveralRoots | Kind::MissingLabel if scheme.format == Format::ConllX => Note,
            // Version 1 made no rule of it.
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
    /// The kind of what the reader could not read.
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
