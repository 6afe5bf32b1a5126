//! Contradictions between the constraints of a sentence.

/// Why no tree satisfies the constraints of a sentence.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Contradiction {
    /// Heads that form a cycle.
    #[error("the heads that are given form a cycle: {}", as_cycle(.words))]
    Cycle {
        /// The words: each is the head of the next, the last of the first.
        words: Vec<usize>,
    },

    /// Several root words in a tree set with one root word.
    #[error("{} are given the root as head, but {tree_set} trees have one root word",
            as_words(.words))]
    SeveralRoots {
        /// The words.
        words: Vec<usize>,
        /// The tree set.
        tree_set: tutte_trees::TreeSet,
    },

    /// Two crossing arcs in a projective tree set.
    #[error("the arcs {} → {} and {} → {} are given, but they cross, and {tree_set} trees have no \
             crossing arcs", .arcs[0].0, .arcs[0].1, .arcs[1].0, .arcs[1].1)]
    Crossing {
        /// The arcs, as (head, modifier).
        arcs: [(usize, usize); 2],
        /// The tree set.
        tree_set: tutte_trees::TreeSet,
    },

    /// Two heads for one word.
    #[error("word {word} is given two heads, {} and {}", .heads[0], .heads[1])]
    TwoHeads {
        /// The word.
        word: usize,
        /// The heads.
        heads: [usize; 2],
    },

    /// A head that is both given and forbidden.
    #[error("word {word} is given head {head}, which is also forbidden")]
    ForbiddenHead {
        /// The word.
        word: usize,
        /// The head.
        head: usize,
    },

    /// A label that the model does not have.
    #[error("word {word} is given the label {label:?}, which the model does not have")]
    UnknownLabel {
        /// The word.
        word: usize,
        /// The label.
        label: String,
    },

    /// A label that the model allows only with other heads.
    #[error("word {word} is given head {head} and label {label:?}, but the model allows that label only \
             on arcs from {}", if *.head == 0 { "words" } else { "the root" })]
    LabelElsewhere {
        /// The word.
        word: usize,
        /// Its head.
        head: usize,
        /// Its label.
        label: String,
    },

    /// An invalid list of forbidden heads.
    #[error(
        "Forbid is {found:?}, but it must list other words of this sentence (1 to {words}) or 0 for the \
             root, separated by commas"
    )]
    NotHeads {
        /// The value of Forbid.
        found: String,
        /// Number of words.
        words: usize,
    },

    /// A given head in another piece of a sentence that is parsed in pieces.
    #[error(
        "word {word} is given head {head}, but this sentence of {words} words is parsed in {pieces} \
             pieces, and the two words are in different pieces"
    )]
    AcrossPieces {
        /// The word.
        word: usize,
        /// Its head.
        head: usize,
        /// Number of words.
        words: usize,
        /// Number of pieces.
        pieces: usize,
    },

    /// Rules of the model that leave no tree, perhaps together with other constraints.
    #[error(
        "no tree satisfies the constraints and the model's rules with `always` and `never`: {0}"
    )]
    Rules(#[source] tutte_trees::Error),

    /// Constraints that contradict each other only together.
    #[error("no tree satisfies all constraints: {0}")]
    NoTree(#[source] tutte_trees::Error),
}

impl Contradiction {
    pub(super) fn hint(&self) -> Option<&'static str> {
        match self {
            Self::SeveralRoots { .. } => Some(
                "correct a head, or allow several roots with --tree-set nonprojective-multi-root",
            ),
            Self::Crossing { .. } => Some(
                "correct a head, or allow crossing arcs with --tree-set nonprojective-single-root",
            ),
            Self::AcrossPieces { .. } => {
                Some("leave that head open (_), or split the sentence so that both are in one part")
            }
            Self::Rules(_) => Some("`tutte info -m MODEL` lists the rules of a model"),
            Self::UnknownLabel { .. } => Some("`tutte info -m MODEL` lists the labels of a model"),
            _ => None,
        }
    }
}

/// Writes a cycle as `3 → 5 → 3`.
fn as_cycle(words: &[usize]) -> String {
    let around = words.iter().chain(words.first());
    around.map(usize::to_string).collect::<Vec<_>>().join(" → ")
}

/// Writes a list as `words 2, 5 and 7`.
fn as_words(words: &[usize]) -> String {
    match words {
        [most @ .., last] if !most.is_empty() => {
            let most: Vec<String> = most.iter().map(usize::to_string).collect();
            format!("words {} and {last}", most.join(", "))
        }
        _ => format!("words {words:?}"),
    }
}
