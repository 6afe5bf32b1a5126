//! Template sets that have a name.

use super::FeatureSet;

/// McDonald, Crammer & Pereira (2005): one word, and two.
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

/// Those of them that see words.
fn with_words() -> String {
    words(|line| line.contains("form"))
}

/// Those that do not.
fn without_words() -> String {
    words(|line| !line.contains("form"))
}

fn words(keep: impl Fn(&str) -> bool) -> String {
    WORDS.lines().filter(|line| keep(line)).flat_map(|line| [line, "\n"]).collect()
}

/// One word and its neighbour.
const BESIDE: &str = "\
h-1.tag h.tag
h.tag h+1.tag
m-1.tag m.tag
m.tag m+1.tag
";

/// Tags in between, each once, and as many times as they are there.
const BETWEEN: &str = "h.tag b.tag m.tag\n";
const EACH_BETWEEN: &str = "h.tag b*.tag m.tag\n";

/// Tags around; then what is left of these without one of the neighbours.
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

/// The morphology of Nguyen et al. (2007), who say that that of each word is used, and that of both
/// together; how, is our reading.
const MORPHOLOGY: &str = "\
h.tag h.feat
m.tag m.feat
h.feat m.feat
";

/// The pairs of morphological features that count on an arc in that set.
const PAIRS: usize = 64;

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
m.lemma a.level a.above
m.upos a.level a.above
h.upos m.upos a.level a.above
h.upos m.lemma a.level a.above
h.upos h.head m.upos a.above
m.lemma m+1.upos a.level a.above
";

/// And in that of a shifter.
const OPINION: &str = "\
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

/// What labels are chosen by, besides, where there is a shifter.
const OPINION_LABELS: &str = "\
m.function
m.upos m.function
m.function a.opinion
h.upos m.upos m.function a.opinion
m.lemma m.function
h.lemma m.function
h.function m.function
h.function m.upos
";

/// What a second pass sees that is to be fast: of all that another sees, what it would miss most.
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

/// What labels are chosen by in such a second pass.
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
    /// What a pruner looks at.
    pub fn pruner() -> Self {
        Self::of_text(PRUNER)
    }

    /// The set with what a second pass sees besides; itself, if it sees the tree of a first already.
    pub fn with_first_pass(&self) -> Self {
        match self.uses_first_pass() {
            true => self.clone(),
            false => Self::of_text(&format!("{self}{GUIDED}")),
        }
    }

    /// The set with what a second pass sees of a [shifter](crate::TransitionParser)'s tree.
    pub fn with_transition_parse(&self) -> Self {
        Self::of_text(&format!("{self}{OPINION}"))
    }

    /// The same of a set for labels.
    pub fn with_transition_labels(&self) -> Self {
        Self::of_text(&format!("{self}{OPINION_LABELS}"))
    }

    /// What a second pass sees that is to be fast: half of what another sees, chosen by what each
    /// template added to the likelihood of unseen trees.
    pub fn lean() -> Self {
        Self::of_text(LEAN)
    }

    /// What labels are chosen by in such a second pass.
    pub fn lean_labels() -> Self {
        Self::of_text(LEAN_LABELS)
    }

    /// The names of sets of templates for arcs.
    pub const NAMES: [&str; 7] =
        ["richer", "lean", "mcdonald", "pa", "tags", "mcdonald-tags", "restricted"];

    /// A set by one of its [names](Self::NAMES).
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

    /// What a parser without a treebank generalises by: tags, those around and between, all with direction
    /// and distance. Rules say little of most arcs; what they say reaches others by what these share, so
    /// there is much here that is general (one word, alone and with a neighbour), and nothing that says of
    /// all arcs of two tags, whatever their direction, that they are good.
    pub fn tags() -> Self {
        let tags = without_words();
        Self::of_text(&format!("conjoin only\n{tags}{BESIDE}{EACH_BETWEEN}{AROUND}"))
    }

    /// Those features of McDonald, Crammer & Pereira (2005) that see no words (the full set of Druck, Mann
    /// & McCallum 2009 on short sentences).
    pub fn mcdonald_tags() -> Self {
        Self::of_text(&format!("{}{EACH_BETWEEN}{AROUND}", without_words()))
    }

    /// The set with those features of McDonald, Crammer & Pereira (2005) that see words.
    pub fn with_words(&self) -> Self {
        Self::of_text(&format!("{self}{}", with_words()))
    }

    /// The two tags and the direction, and no more (the restricted set of Druck, Mann & McCallum 2009).
    pub fn restricted() -> Self {
        Self::of_text("conjoin none\nh.tag m.tag a.side\n")
    }

    /// The set with coarse tags where it sees fine ones.
    ///
    /// ```
    /// use tutte::features::FeatureSet;
    ///
    /// let set = FeatureSet::restricted().with_coarse_tags();
    /// assert_eq!(set.to_string(), "conjoin none\nh.upos m.upos a.side\n");
    /// ```
    pub fn with_coarse_tags(&self) -> Self {
        Self::of_text(&self.to_string().replace(".tag", ".upos"))
    }

    /// The features of McDonald, Crammer & Pereira (2005): words and tags of head and modifier alone
    /// and together, also with forms cut to five characters, tags in between, each as many times as
    /// it is there, tags around; all bare and with direction and distance.
    pub fn mcdonald() -> Self {
        let cut = with_words().replace("form", "cut5");
        Self::of_text(&format!("{WORDS}{cut}{EACH_BETWEEN}{AROUND}"))
    }

    /// The features of Nguyen, Shimazu, Nguyen & Phan (2007): those of McDonald et al. without cut
    /// forms, and morphological features of head, modifier and both, at most 64 pairs an arc; all
    /// with direction and distance only.
    pub fn passive_aggressive() -> Self {
        Self::of_text(&format!(
            "conjoin only\npairs {PAIRS}\n{WORDS}{EACH_BETWEEN}{AROUND}{MORPHOLOGY}"
        ))
    }

    /// The default.
    pub fn richer() -> Self {
        Self::of_text(&format!("{WORDS}{BETWEEN}{AROUND}{RICHER}"))
    }

    /// What labels are chosen by.
    pub fn labels() -> Self {
        Self::of_text(LABELS)
    }

    /// What labels are chosen by if a first pass has found a tree.
    pub fn guided_labels() -> Self {
        Self::of_text(&format!("{LABELS}{GUIDED_LABELS}"))
    }

    /// A set of this file, which tests have read.
    fn of_text(text: &str) -> Self {
        Self::parse(text).unwrap_or_else(|_| Self::new(Vec::new()))
    }
}
