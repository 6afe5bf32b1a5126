//! The built-in template sets, by name.

use super::FeatureSet;

/// Templates of one word, and of two (McDonald, Crammer & Pereira 2005).
const WORDS: &str = "\
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
";

/// Returns the templates of [`WORDS`] with forms.
fn with_words() -> String {
    words(|line| line.contains("form"))
}

/// Returns the templates of [`WORDS`] without forms.
fn without_words() -> String {
    words(|line| !line.contains("form"))
}

fn words(keep: impl Fn(&str) -> bool) -> String {
    WORDS.lines().filter(|line| keep(line)).flat_map(|line| [line, "\n"]).collect()
}

/// Tags of one word and its neighbour.
const BESIDE: &str = "\
h-1.tag h.tag
h.tag h+1.tag
m-1.tag m.tag
m.tag m+1.tag
";

/// Tags in between, each distinct tag once.
const BETWEEN: &str = "h.tag b.tag m.tag\n";
/// Tags in between, as often as they occur.
const EACH_BETWEEN: &str = "h.tag b*.tag m.tag\n";

/// Surrounding tags; then the same with one neighbour less.
const AROUND: &str = "\
h.tag h+1.tag m-1.tag m.tag
h-1.tag h.tag m-1.tag m.tag
h.tag h+1.tag m.tag m+1.tag
h-1.tag h.tag m.tag m+1.tag
h.tag m-1.tag m.tag
h.tag h+1.tag m.tag
h-1.tag h.tag m.tag
h.tag m.tag m+1.tag
";

/// Morphology of each word and of both together, after Nguyen et al. (2007). The paper does not give the
/// templates: these are our reading.
const MORPHOLOGY: &str = "\
h.tag h.feat
m.tag m.feat
h.feat m.feat
";

/// Limit of pairs of morphological features per arc in the set of Nguyen et al. (2007).
const PAIRS: usize = 64;

/// Templates that the default set adds to those of McDonald et al. (2005).
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

/// Templates of pruners: few, and none with rare features.
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

/// Templates of the second pass for the tree of the first pass.
const FIRST_PASS: &str = "\
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
m.lemma a.level a.above
m.upos a.level a.above
h.upos m.upos a.level a.above
h.upos m.lemma a.level a.above
h.upos h.head m.upos a.above
m.lemma m+1.upos a.level a.above
";

/// Templates of the second pass for the tree of the transition parser.
const TRANSITION: &str = "\
m.upos a.opinion
m.lemma a.opinion
h.upos m.upos a.opinion
m.upos a.guide a.opinion
m.lemma a.guide a.opinion
m.function a.opinion
m.upos m.function a.opinion
h.upos m.function a.opinion
h.upos h.function m.upos
h.upos h.function m.lemma
h.function m.function
m.function a.level a.above
";

/// Templates of labels for the tree of the transition parser.
const TRANSITION_LABELS: &str = "\
m.function
m.upos m.function
m.function a.opinion
h.upos m.upos m.function a.opinion
m.lemma m.function
h.lemma m.function
h.function m.function
h.function m.upos
";

/// Templates of a fast second pass: the most useful of those of the full second pass.
const LEAN: &str = "\
h.upos
h.lemma h.upos
h.form h.tag
h.suffix2 h.upos
m.upos
m.lemma m.upos
m.form m.tag
h.upos m.upos
h.tag m.tag
h.lemma m.lemma
h.lemma h.upos m.upos
h.upos m.lemma m.upos
h.upos b.upos m.upos
h.tag h+1.tag m-1.tag m.tag
h.tag h+1.tag m.tag m+1.tag
h.tag h+1.tag m.tag
h-1.tag h.tag m.tag
h.tag m.tag m+1.tag
h.tag m-1.tag m.tag
h.upos m.upos m+1.upos m+2.upos
h-2.upos h-1.upos h.upos m.upos
h.upos h+1.upos h+2.upos m.upos
h.upos m-1.lemma m.upos
h.upos m.upos m+1.lemma
h-1.lemma h.upos m.upos
h.upos h+1.lemma m.upos
h.feat m.feat
h.upos m.upos m.feat
h.upos h.feats m.upos m.feats
h.lemma m.marker
h.upos m.marker m.upos
h.marker h.upos m.marker m.upos
h.marker m.lemma
h.suffix3 m.suffix3
h.upos m.upos a.punctuation a.verbs
h.upos m.upos a.guide
m.upos a.guide
m.lemma a.guide
h.upos m.upos a.inner
h.lemma m.upos a.inner
h.upos m.lemma a.inner
m.upos a.inner
h.upos a.inner a.outer
h.upos h.head m.upos
h.upos h.head m.lemma
h.upos m.upos m.left
h.upos m.upos m.valency
h.upos h.valency m.upos
h.upos h.left m.upos
h.upos h.right m.upos
h.lemma m.upos m.left
";

/// Templates of labels in a fast second pass.
const LEAN_LABELS: &str = "\
h.lemma
h.tag
m.lemma
m.tag
m.suffix3
h.upos m.upos
h.lemma m.upos
h.upos m.feat
h.feat m.feat
m.upos m.feats
h.upos m-1.upos m.upos
h.upos m.upos m+1.upos
h-1.upos h.upos m.upos
h.upos h+1.upos m.upos
h.upos m-1.lemma m.upos
h.upos m.upos m+1.lemma
m.marker m.upos
h.upos m.marker
h.lemma m.marker
m-1.form m.upos
m.upos m+1.form
h.upos b.upos m.upos
h.upos m.upos a.punctuation
m.upos m.left
m.upos m.valency
h.upos h.head m.upos
h.upos h.left m.upos
h.upos m.upos a.inner
";

/// Templates of labels for the tree of the first pass.
const FIRST_PASS_LABELS: &str = "\
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

/// Templates of labels.
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
    /// Returns the set of pruners.
    pub fn pruner() -> Self {
        Self::built_in(PRUNER)
    }

    /// Adds the templates for the tree of the first pass, unless the set has such templates already.
    pub fn with_first_pass(&self) -> Self {
        if self.uses_first_pass() {
            self.clone()
        } else {
            Self::built_in(&format!("{self}{FIRST_PASS}"))
        }
    }

    /// Adds the templates for the tree of the [transition parser](crate::TransitionParser).
    pub fn with_transition_parse(&self) -> Self {
        Self::built_in(&format!("{self}{TRANSITION}"))
    }

    /// Adds the templates for the tree of the transition parser to a set for labels.
    pub fn with_transition_labels(&self) -> Self {
        Self::built_in(&format!("{self}{TRANSITION_LABELS}"))
    }

    /// Returns the set of a fast second pass: half of the templates of the full second pass, chosen by
    /// what each adds to the likelihood of held-out trees.
    pub fn lean() -> Self {
        Self::built_in(LEAN)
    }

    /// Returns the set for labels in a fast second pass.
    pub fn lean_labels() -> Self {
        Self::built_in(LEAN_LABELS)
    }

    /// Names of the template sets for arcs.
    pub const NAMES: [&str; 7] =
        ["richer", "lean", "mcdonald", "pa", "tags", "mcdonald-tags", "restricted"];

    /// Returns the set with one of these [names](Self::NAMES).
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "richer" => Some(Self::richer()),
            "lean" => Some(Self::lean()),
            "mcdonald" => Some(Self::mcdonald()),
            "pa" => Some(Self::passive_aggressive()),
            "tags" => Some(Self::tags()),
            "mcdonald-tags" => Some(Self::mcdonald_tags()),
            "restricted" => Some(Self::restricted()),
            _ => None,
        }
    }

    /// Returns the set for training from rules, without a treebank: tags, surrounding tags and tags in
    /// between, all with direction and distance. Rules constrain few arcs; other arcs learn from them
    /// only through shared features. The set therefore has general templates (one word, alone and with a
    /// neighbour), and no template that favours two tags in both directions.
    pub fn tags() -> Self {
        let tags = without_words();
        Self::built_in(&format!("conjoin only\n{tags}{BESIDE}{EACH_BETWEEN}{AROUND}"))
    }

    /// Returns the features of McDonald, Crammer & Pereira (2005) without forms: the full set of Druck,
    /// Mann & McCallum (2009) on short sentences.
    pub fn mcdonald_tags() -> Self {
        Self::built_in(&format!("{}{EACH_BETWEEN}{AROUND}", without_words()))
    }

    /// Adds the features of McDonald, Crammer & Pereira (2005) with forms.
    pub fn with_words(&self) -> Self {
        Self::built_in(&format!("{self}{}", with_words()))
    }

    /// Returns the set of the two tags and the direction only: the restricted set of Druck, Mann &
    /// McCallum (2009).
    pub fn restricted() -> Self {
        Self::built_in("conjoin none\nh.tag m.tag a.side\n")
    }

    /// Replaces fine tags by coarse tags.
    ///
    /// ```
    /// use tutte::features::FeatureSet;
    ///
    /// let set = FeatureSet::restricted().with_coarse_tags();
    /// assert_eq!(set.to_string(), "conjoin none\nh.upos m.upos a.side\n");
    /// ```
    pub fn with_coarse_tags(&self) -> Self {
        Self::built_in(&self.to_string().replace(".tag", ".upos"))
    }

    /// Returns the features of McDonald, Crammer & Pereira (2005): words and tags of head and modifier,
    /// alone and together; the same with forms cut to five characters; every tag in between; surrounding
    /// tags. All are bare and with direction and distance.
    pub fn mcdonald() -> Self {
        let cut = with_words().replace("form", "cut5");
        Self::built_in(&format!("{WORDS}{cut}{EACH_BETWEEN}{AROUND}"))
    }

    /// Returns the features of Nguyen, Shimazu, Nguyen & Phan (2007): those of McDonald et al. without
    /// cut forms, and morphological features of head, modifier and both, at most 64 pairs per arc. All
    /// are with direction and distance only.
    pub fn passive_aggressive() -> Self {
        Self::built_in(&format!(
            "conjoin only\npairs {PAIRS}\n{WORDS}{EACH_BETWEEN}{AROUND}{MORPHOLOGY}"
        ))
    }

    /// Returns the default set for arcs.
    pub fn richer() -> Self {
        Self::built_in(&format!("{WORDS}{BETWEEN}{AROUND}{RICHER}"))
    }

    /// Returns the default set for labels.
    pub fn labels() -> Self {
        Self::built_in(LABELS)
    }

    /// Returns the default set for labels, with the templates for the tree of the first pass.
    pub fn second_pass_labels() -> Self {
        Self::built_in(&format!("{LABELS}{FIRST_PASS_LABELS}"))
    }

    /// Reads a set of this file. Tests check that all of them can be read.
    fn built_in(text: &str) -> Self {
        Self::parse(text).unwrap_or_else(|_| Self::new(Vec::new()))
    }
}
