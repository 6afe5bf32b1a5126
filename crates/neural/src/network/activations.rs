//! Results of a forward pass, and the derivatives that a backward pass starts from.

use crate::encoder::EncoderState;
use crate::ops::biaffine;
use crate::subwords::SentenceInput;

/// Scores of a batch, and all that a backward pass needs. Keep one per thread: its memory is used again.
#[derive(Clone, Debug, Default)]
pub struct Activations {
    pub(super) encoder: EncoderState,
    /// Rows of each node: the root of a sentence and its words, for all sentences.
    pub(super) spans: Vec<(usize, usize)>,
    /// First node of each sentence, and the number of all nodes.
    pub(super) node_starts: Vec<usize>,
    /// First arc score of each sentence, and the number of all scores.
    pub(super) score_starts: Vec<usize>,
    pub(super) seed: Option<u64>,
    label_count: usize,
    label_width: usize,
    pub(super) pooled: Vec<Vec<f32>>,
    pub(super) shares: Vec<f32>,
    pub(super) input: Vec<f32>,
    pub(super) mlp_inner: Vec<f32>,
    pub(super) mlp: Vec<f32>,
    /// Heads and modifiers of arcs, heads and modifiers of labels.
    pub(super) parts: [Vec<f32>; 4],
    pub(super) transformed: Vec<f32>,
    pub(super) scores: Vec<f32>,
    pub(super) bilinear: Vec<f32>,
    pub(super) rest: Vec<f32>,
    pub(super) tags: Vec<TagState>,

    pub(super) d_pooled: Vec<Vec<f32>>,
    pub(super) d_hidden: Vec<Vec<f32>>,
    pub(super) d_input: Vec<f32>,
    pub(super) d_mlp: Vec<f32>,
    pub(super) d_parts: [Vec<f32>; 4],
    pub(super) d_transformed: Vec<f32>,
    pub(super) d_scores: Vec<f32>,
    pub(super) d_bilinear: Vec<f32>,
    pub(super) d_rest: Vec<f32>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct TagState {
    pub(super) classes: usize,
    pub(super) shares: Vec<f32>,
    pub(super) input: Vec<f32>,
    pub(super) log_probs: Vec<f32>,
}

/// Makes `values` this many zeros.
pub(super) fn zeroed(values: &mut Vec<f32>, len: usize) {
    values.clear();
    values.resize(len, 0.0);
}

/// Numbers of scores of each kind: sentences, arcs, labels per arc, and tags of each head.
pub(super) type Shape = (usize, usize, usize, Vec<usize>);

impl Activations {
    /// Memory that the first forward pass fills.
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn load<'a>(
        &mut self,
        sentences: impl IntoIterator<Item = &'a SentenceInput>,
        seed: Option<u64>,
        label_count: usize,
        label_width: usize,
    ) {
        self.seed = seed;
        (self.label_count, self.label_width) = (label_count, label_width);
        let bags = &mut self.encoder.bags;
        bags.clear();
        self.encoder.sequences.clear();
        self.spans.clear();
        self.node_starts.clear();
        self.score_starts.clear();
        let mut scores = 0;
        for sentence in sentences {
            let base = bags.len();
            let offset = bags.entries.len();
            bags.entries.extend_from_slice(&sentence.bags.entries);
            bags.ends.extend(sentence.bags.ends.iter().map(|end| end + offset));
            self.encoder.sequences.extend_from_slice(&sentence.windows);
            self.node_starts.push(self.spans.len());
            self.score_starts.push(scores);
            // The mark of the start stands for the root.
            self.spans.push((base, base));
            self.spans
                .extend(sentence.words.iter().map(|&(first, last)| (base + first, base + last)));
            scores += (sentence.words.len() + 1).pow(2);
        }
        self.node_starts.push(self.spans.len());
        self.score_starts.push(scores);
    }

    /// Number of sentences.
    pub fn sentences(&self) -> usize {
        self.node_starts.len().saturating_sub(1)
    }

    /// Number of words of a sentence.
    pub fn words(&self, sentence: usize) -> usize {
        self.node_starts[sentence + 1] - self.node_starts[sentence] - 1
    }

    /// Scores of all arcs of a sentence with n words: `scores[head * (n + 1) + modifier]`, row 0 the root.
    ///
    /// Column 0 and the diagonal are not arcs; they are zero. Empty if the network does not score arcs.
    pub fn arc_scores(&self, sentence: usize) -> &[f32] {
        if self.scores.is_empty() {
            return &[];
        }
        &self.scores[self.score_starts[sentence]..self.score_starts[sentence + 1]]
    }

    /// Writes the scores of all labels at each arc, `(head, modifier)` with 0 the root. `scores` is
    /// resized to one row per arc.
    ///
    /// # Panics
    ///
    /// If an arc is outside of the sentence.
    pub fn label_scores(&self, sentence: usize, arcs: &[(usize, usize)], scores: &mut Vec<f32>) {
        let (count, width) = (self.label_count, self.label_width);
        scores.resize(arcs.len() * count, 0.0);
        if count == 0 {
            return;
        }
        let start = self.node_starts[sentence];
        for (&(head, modifier), scores) in arcs.iter().zip(scores.chunks_exact_mut(count)) {
            let is_inside = head.max(modifier) <= self.words(sentence);
            assert!(is_inside, "the arc {head} → {modifier} is inside the sentence");
            let (head, modifier) = (start + head, start + modifier);
            biaffine::labels(
                &self.parts[2][head * width..][..width],
                &self.bilinear[modifier * count * width..][..count * width],
                &self.rest[modifier * count..][..count],
                scores,
            );
        }
    }

    /// Log-probabilities of the classes of one tag head: one row per word.
    pub fn tag_log_probs(&self, sentence: usize, head: usize) -> &[f32] {
        let state = &self.tags[head];
        let words = self.node_starts[sentence] + 1..self.node_starts[sentence + 1];
        &state.log_probs[words.start * state.classes..words.end * state.classes]
    }

    /// Vectors of all rows of the batch after a layer of the encoder. Layer 0 is the embeddings.
    pub fn hidden(&self, layer: usize) -> &[f32] {
        &self.encoder.hidden[layer]
    }

    pub(super) fn shape(&self) -> Shape {
        let scores = self.score_starts.last().copied().unwrap_or(0);
        let tags = self.tags.iter().map(|state| state.log_probs.len()).collect();
        (self.sentences(), scores, self.label_count, tags)
    }
}

/// Derivatives of a loss by the scores of a batch.
#[derive(Clone, Debug, Default)]
pub struct Coefficients {
    pub(super) arcs: Vec<f32>,
    pub(super) label_arcs: Vec<(usize, usize, usize)>,
    pub(super) labels: Vec<f32>,
    pub(super) tags: Vec<Vec<f32>>,
    classes: Vec<usize>,
    label_count: usize,
    node_starts: Vec<usize>,
    score_starts: Vec<usize>,
}

impl Coefficients {
    /// Memory that [`Coefficients::reset`] fills.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the shapes of a forward pass, and sets all derivatives to zero.
    pub fn reset(&mut self, activations: &Activations) {
        self.node_starts.clone_from(&activations.node_starts);
        self.score_starts.clone_from(&activations.score_starts);
        self.label_count = activations.label_count;
        zeroed(&mut self.arcs, activations.score_starts.last().copied().unwrap_or(0));
        self.label_arcs.clear();
        self.labels.clear();
        self.tags.resize_with(activations.tags.len(), Vec::new);
        self.classes.clear();
        for (tags, state) in self.tags.iter_mut().zip(&activations.tags) {
            zeroed(tags, state.log_probs.len());
            self.classes.push(state.classes);
        }
    }

    /// Derivatives by the arc scores of a sentence, laid out as [`Activations::arc_scores`]. Column 0
    /// and the diagonal are ignored.
    pub fn arcs_mut(&mut self, sentence: usize) -> &mut [f32] {
        &mut self.arcs[self.score_starts[sentence]..self.score_starts[sentence + 1]]
    }

    /// Adds the derivatives by the scores of all labels at one arc, `(head, modifier)`.
    ///
    /// # Panics
    ///
    /// If the arc is outside of the sentence, or the number of derivatives is not that of labels.
    pub fn add_labels(&mut self, sentence: usize, arc: (usize, usize), derivatives: &[f32]) {
        let (head, modifier) = arc;
        let nodes = self.node_starts[sentence + 1] - self.node_starts[sentence];
        let is_inside = head.max(modifier) < nodes;
        assert!(is_inside, "the arc {head} → {modifier} is inside the sentence");
        assert_eq!(derivatives.len(), self.label_count, "there is one derivative per label");
        self.label_arcs.push((sentence, head, modifier));
        self.labels.extend_from_slice(derivatives);
    }

    /// Derivatives by the logits of one tag head: one row per word.
    pub fn tags_mut(&mut self, sentence: usize, head: usize) -> &mut [f32] {
        let words = self.node_starts[sentence] + 1..self.node_starts[sentence + 1];
        let classes = self.classes[head];
        &mut self.tags[head][words.start * classes..words.end * classes]
    }

    pub(super) fn shape(&self) -> Shape {
        let sentences = self.node_starts.len().saturating_sub(1);
        (sentences, self.arcs.len(), self.label_count, self.tags.iter().map(Vec::len).collect())
    }
}
