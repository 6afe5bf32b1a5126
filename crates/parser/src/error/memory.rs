//! Causes of a need for too much memory.

use tutte_treebank::Place;

/// The largest part of the memory that a training needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryCause {
    /// Weights of labels.
    #[error("the treebank has {labels} different labels (DEPREL), such as {}", .examples.join(", "))]
    Labels {
        /// Number of different labels.
        labels: usize,
        /// The first few labels.
        examples: Vec<String>,
    },

    /// Weights of arcs.
    #[error("arcs have 2^{bits} weights{}", in_clusters(*.clusters))]
    Arcs {
        /// Binary logarithm of the number of weights of a cluster.
        bits: u32,
        /// Number of clusters.
        clusters: usize,
    },

    /// Label scores of all arcs of the longest sentence.
    #[error(
        "{place}: the longest sentence has {words} words, and each of its arcs {labels} labels"
    )]
    Sentence {
        /// The sentence.
        place: Box<Place>,
        /// Number of its words.
        words: usize,
        /// Number of labels.
        labels: usize,
    },
}

impl MemoryCause {
    /// Returns advice on how to need less memory.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            MemoryCause::Labels { .. } => {
                "is DEPREL another column by mistake? `tutte stats` lists the labels; merge rare ones, or, \
                 without a network, train without labels: --labels none"
            }
            MemoryCause::Arcs { .. } => "use fewer --bits or --clusters",
            MemoryCause::Sentence { .. } => {
                "split the sentence, or train without labels (--labels none) or with --pruning on"
            }
        }
    }
}

fn in_clusters(clusters: usize) -> String {
    match clusters {
        1 => String::new(),
        _ => format!(" in each of {clusters} clusters"),
    }
}
