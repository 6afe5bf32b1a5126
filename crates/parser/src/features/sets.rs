//! Template sets that have a name.

use super::FeatureSet;

/// McDonald, Crammer & Pereira (2005), with fine tags.
const MCDONALD: &str = "\
h.form h.tag
h.form
h.tag
m.form m.tag
m.form
m.tag
h.form h.tag m.form m.tag
h.tag m.form m.tag
h.form m.form m.tag
h.form h.tag m.tag
h.form h.tag m.form
h.form m.form
h.tag m.tag
h.tag b.tag m.tag
h.tag h+1.tag m-1.tag m.tag
h-1.tag h.tag m-1.tag m.tag
h.tag h+1.tag m.tag m+1.tag
h-1.tag h.tag m.tag m+1.tag
h.tag m-1.tag m.tag
h.tag h+1.tag m.tag
h-1.tag h.tag m.tag
h.tag m.tag m+1.tag
";

/// What is added to it by default.
const RICHER: &str = "\
h.upos
m.upos
h.lemma
m.lemma
h.lemma h.upos
m.lemma m.upos
h.feats h.upos
m.feats m.upos
h.upos m.upos
h.lemma m.lemma
h.lemma h.upos m.upos
h.upos m.lemma m.upos
h.lemma m.lemma m.upos
h.upos b.upos m.upos
h.upos m-1.upos m.upos
h.upos h+1.upos m.upos
h-1.upos h.upos m.upos
h.upos m.upos m+1.upos
h.upos h+1.upos m-1.upos m.upos
h-1.upos h.upos m-1.upos m.upos
h.upos h+1.upos m.upos m+1.upos
h-1.upos h.upos m.upos m+1.upos
h.upos m-2.upos m-1.upos m.upos
h.upos m.upos m+1.upos m+2.upos
h-2.upos h-1.upos h.upos m.upos
h.upos h+1.upos h+2.upos m.upos
h.upos m-1.lemma m.upos
h.upos m.upos m+1.lemma
h-1.lemma h.upos m.upos
h.upos h+1.lemma m.upos
h.feat m.upos
h.upos m.feat
h.feat m.feat
h.upos h.feat m.upos
h.upos m.upos m.feat
h.upos h.feat m.upos m.feat
h.upos h.feats m.upos m.feats
h.lemma m.upos m.feats
h.lemma m.marker
h.upos m.marker m.upos
h.lemma m.marker m.upos
h.marker h.upos m.marker m.upos
h.marker m.lemma
h.upos m.suffix3 m.upos
h.suffix3 h.upos m.upos
h.suffix3 m.suffix3
m.suffix2 m.upos
h.suffix2 h.upos
h.prefix3 m.prefix3
h.upos m.upos a.punctuation
h.upos m.upos a.verbs
h.upos m.upos a.punctuation a.verbs
";

/// What a pruner looks at: little, and nothing rare.
const PRUNER: &str = "\
m.tag
m.lemma
h.tag
h.lemma
h.upos m.upos
h.tag m.tag
h.lemma m.upos
h.upos m.lemma
h.lemma m.lemma
h.upos m-1.upos m.upos
h.upos m.upos m+1.upos
h-1.upos h.upos m.upos
h.upos h+1.upos m.upos
h.upos m.marker m.upos
h.lemma m.marker
h.upos m.feats
h.upos b.upos m.upos
h.upos m.upos a.punctuation
h.upos m.upos a.verbs
";

/// What a second pass sees besides, in the tree of a first one.
const GUIDED: &str = "\
h.upos m.upos a.guide
m.upos a.guide
m.lemma a.guide
h.upos m.upos a.inner
h.lemma m.upos a.inner
h.upos m.lemma a.inner
m.upos a.inner
h.upos m.upos a.outer
h.lemma m.upos a.outer
h.upos a.inner a.outer
h.upos h.head m.upos
h.upos h.head m.lemma
h.lemma h.head m.upos
h.upos m.upos m.left
h.upos m.upos m.right
h.upos m.upos m.valency
h.upos h.valency m.upos
h.upos h.left m.upos
h.upos h.right m.upos
h.lemma m.upos m.left
h.lemma m.upos m.right
";

/// What labels are chosen by, besides, where there is the tree of a first pass.
const GUIDED_LABELS: &str = "\
m.upos m.left
m.upos m.right
m.upos m.valency
m.lemma m.valency
h.upos h.valency m.upos
h.upos h.head m.upos
h.lemma h.head m.upos
h.upos h.left m.upos
h.upos h.right m.upos
h.upos m.upos a.inner
h.upos m.upos a.outer
h.lemma m.upos a.inner
h.lemma m.upos a.outer
m.lemma a.inner
";

/// What labels are chosen by.
const LABELS: &str = "\
h.form
h.lemma
h.upos
h.tag
m.form
m.lemma
m.upos
m.tag
h.upos m.upos
h.tag m.tag
h.lemma m.upos
h.upos m.lemma
h.lemma m.lemma
h.form m.upos
h.upos m.form
h.upos m.feat
h.feat m.upos
h.feat m.feat
m.upos m.feats
h.upos m.upos m.feats
h.upos m-1.upos m.upos
h.upos m.upos m+1.upos
h-1.upos h.upos m.upos
h.upos h+1.upos m.upos
h.upos m-1.lemma m.upos
h.upos m.upos m+1.lemma
m.marker m.upos
h.upos m.marker
h.lemma m.marker
h.upos m.suffix3
h.suffix3 m.upos
m.suffix3
m.prefix3
m-1.form m.upos
m.upos m+1.form
h.upos b.upos m.upos
h.upos m.upos a.punctuation
";

impl FeatureSet {
    /// What labels are chosen by.
    pub fn labels() -> Self {
        Self::named(&[LABELS])
    }

    /// What labels are chosen by if a first pass has found a tree.
    pub fn guided_labels() -> Self {
        Self::named(&[LABELS, GUIDED_LABELS])
    }

    /// What a pruner looks at.
    pub fn pruner() -> Self {
        Self::named(&[PRUNER])
    }

    /// The default of a second pass.
    pub fn guided() -> Self {
        Self::named(&[MCDONALD, RICHER, GUIDED])
    }

    /// Templates written above, which a test parses.
    fn named(texts: &[&str]) -> Self {
        Self::parse(&texts.concat()).unwrap_or_else(|_| Self::new(Vec::new()))
    }

    /// The templates of McDonald, Crammer & Pereira (2005).
    pub fn mcdonald() -> Self {
        Self::named(&[MCDONALD])
    }

    /// The default.
    pub fn richer() -> Self {
        Self::named(&[MCDONALD, RICHER])
    }
}
