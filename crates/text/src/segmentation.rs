//! Tokens and sentences that were found in a block of raw text.

/// A block of text divided into tokens and sentences.
#[derive(Debug, Default)]
pub(crate) struct Segmentation {
    pub(crate) tokens: Vec<SegmentedToken>,
    /// End of each sentence, as the number of tokens before it.
    pub(crate) sentence_ends: Vec<usize>,
    /// Probability of a sentence break after each token.
    pub(crate) break_probs: Vec<f32>,
}

/// A token of a block of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentedToken {
    /// Its first byte in the block.
    pub(crate) start: usize,
    /// The byte after its last one.
    pub(crate) end: usize,
    /// Index of the rule that makes the words of a multiword token; `None` for a single word.
    pub(crate) rule: Option<u16>,
}
