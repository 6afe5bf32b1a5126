//! Settings of a network.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::ops::pooling::Pooling;

/// Layers of the encoder that are mixed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerChoice {
    /// The embeddings and all layers.
    #[default]
    All,
    /// This many of the last layers.
    Last(usize),
}

/// Classifier of words: a softmax over classes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TagHead {
    /// Name, such as `upos`.
    pub name: String,
    /// Number of classes.
    pub classes: usize,
}

/// Sizes and settings of everything above the encoder.
///
/// ```
/// use tutte_neural::{NetworkOptions, Pooling};
/// let options = NetworkOptions::new().with_labels(37).with_tag_head("upos", 17).with_pooling(Pooling::Mean);
/// assert_eq!(options.labels, 37);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NetworkOptions {
    /// Width of the vectors from which arcs are scored. Zero: arcs are not scored.
    pub arc_mlp: usize,
    /// Width of the vectors from which labels are scored.
    pub label_mlp: usize,
    /// Number of labels. Zero: labels are not scored.
    pub labels: usize,
    /// Classifiers of words.
    pub tag_heads: Vec<TagHead>,
    /// Dropout above the encoder.
    pub dropout: f32,
    /// How words are made from sub-words.
    pub pooling: Pooling,
    /// Layers of the encoder that are mixed.
    pub layers: LayerChoice,
    /// `true` if the encoder keeps its weights during training.
    pub has_frozen_encoder: bool,
    /// Dropout inside the encoder. `None`: as the encoder was pretrained.
    pub encoder_dropout: Option<f32>,
    /// Seed of the initial weights.
    pub seed: u64,
}

impl Default for NetworkOptions {
    fn default() -> Self {
        Self {
            arc_mlp: 256,
            label_mlp: 100,
            labels: 0,
            tag_heads: Vec::new(),
            dropout: 0.33,
            pooling: Pooling::default(),
            layers: LayerChoice::default(),
            has_frozen_encoder: false,
            encoder_dropout: None,
            seed: 1,
        }
    }
}

impl NetworkOptions {
    /// The default settings: arcs, no labels, no tags.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the width of the vectors from which arcs are scored.
    pub fn with_arc_mlp(mut self, width: usize) -> Self {
        self.arc_mlp = width;
        self
    }

    /// Sets the width of the vectors from which labels are scored.
    pub fn with_label_mlp(mut self, width: usize) -> Self {
        self.label_mlp = width;
        self
    }

    /// Sets the number of labels.
    pub fn with_labels(mut self, labels: usize) -> Self {
        self.labels = labels;
        self
    }

    /// Adds a classifier of words.
    pub fn with_tag_head(mut self, name: impl Into<String>, classes: usize) -> Self {
        self.tag_heads.push(TagHead { name: name.into(), classes });
        self
    }

    /// Sets the dropout above the encoder.
    pub fn with_dropout(mut self, probability: f32) -> Self {
        self.dropout = probability;
        self
    }

    /// Sets how words are made from sub-words.
    pub fn with_pooling(mut self, pooling: Pooling) -> Self {
        self.pooling = pooling;
        self
    }

    /// Sets which layers are mixed.
    pub fn with_layers(mut self, layers: LayerChoice) -> Self {
        self.layers = layers;
        self
    }

    /// Sets whether the encoder keeps its weights during training.
    pub fn with_frozen_encoder(mut self, is_frozen: bool) -> Self {
        self.has_frozen_encoder = is_frozen;
        self
    }

    /// Sets the dropout inside the encoder.
    pub fn with_encoder_dropout(mut self, probability: f32) -> Self {
        self.encoder_dropout = Some(probability);
        self
    }

    /// Sets the seed of the initial weights.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Number of the first mixed layer of an encoder with this many layers. Layer 0 is the embeddings.
    /// Returns the number of weights of the label scorer.
    pub fn label_weights(&self) -> u64 {
        let (labels, width) = (self.labels as u64, self.label_mlp as u64);
        // A bilinear form of each label, and a linear one.
        labels.saturating_mul(width * (width + 1) + width + 1)
    }

    /// Returns the number of values that the label scorer keeps for a batch of this many words: activations, and their
    /// derivatives.
    pub fn label_activations(&self, words: usize) -> u64 {
        (2 * words as u64).saturating_mul(self.labels as u64).saturating_mul(self.label_mlp as u64)
    }

    pub(crate) fn first_layer(&self, layers: usize) -> usize {
        match self.layers {
            LayerChoice::All => 0,
            LayerChoice::Last(count) => layers + 1 - count,
        }
    }

    pub(crate) fn check(&self, layers: usize) -> Result<(), Error> {
        let error = |option, found: String, expected: &str| {
            Err(Error::Option { option, found, expected: expected.into() })
        };
        const WIDEST: usize = 1 << 16;
        let dropouts =
            [("dropout", self.dropout), ("encoder_dropout", self.encoder_dropout.unwrap_or(0.0))];
        for (name, p) in dropouts {
            if !(0.0..1.0).contains(&p) {
                return error(name, p.to_string(), "from 0 to below 1");
            }
        }
        if self.arc_mlp > WIDEST {
            return error("arc_mlp", self.arc_mlp.to_string(), "at most 65,536");
        }
        if self.labels > 0 && !(1..=4096).contains(&self.label_mlp) {
            return error("label_mlp", self.label_mlp.to_string(), "from 1 to 4,096");
        }
        if self.labels > WIDEST {
            return error("labels", self.labels.to_string(), "at most 65,536");
        }
        for (i, head) in self.tag_heads.iter().enumerate() {
            if head.classes == 0 || head.classes > 1 << 24 {
                let found = format!("\"{}\" with {} classes", head.name, head.classes);
                return error("tag_heads", found, "heads with at least one class");
            }
            if self.tag_heads[..i].iter().any(|other| other.name == head.name) {
                return error(
                    "tag_heads",
                    format!("\"{}\" twice", head.name),
                    "heads with different names",
                );
            }
        }
        match self.layers {
            LayerChoice::Last(count) if !(1..=layers + 1).contains(&count) => {
                error("layers", count.to_string(), &format!("from 1 to {}", layers + 1))
            }
            _ => Ok(()),
        }
    }
}

/// Sizes of an encoder without pretrained weights.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ScratchOptions {
    /// Width of the vector of a word.
    pub hidden: usize,
    /// Number of layers.
    pub layers: usize,
    /// Number of attention heads.
    pub heads: usize,
    /// Width of the feed-forward part.
    pub intermediate: usize,
    /// Rows of the table for words.
    pub word_rows: usize,
    /// Rows of the table for character n-grams.
    pub ngram_rows: usize,
    /// Probability that a word is seen by its n-grams alone during training.
    pub word_dropout: f32,
    /// Dropout inside the encoder.
    pub dropout: f32,
    /// Length of the longest sequence. Longer sentences are seen through windows.
    pub positions: usize,
}

impl Default for ScratchOptions {
    fn default() -> Self {
        Self {
            hidden: 160,
            layers: 3,
            heads: 4,
            intermediate: 480,
            word_rows: 1 << 14,
            ngram_rows: 1 << 15,
            word_dropout: 0.25,
            dropout: 0.15,
            positions: 256,
        }
    }
}

impl ScratchOptions {
    /// Sizes for a CPU.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the width of the vector of a word, and three times that for the feed-forward part.
    pub fn with_hidden(mut self, width: usize) -> Self {
        self.hidden = width;
        self.intermediate = 3 * width;
        self
    }

    /// Sets the number of layers and of attention heads.
    pub fn with_layers(mut self, layers: usize, heads: usize) -> Self {
        self.layers = layers;
        self.heads = heads;
        self
    }

    /// Sets the rows of the table for words and for character n-grams.
    pub fn with_rows(mut self, word_rows: usize, ngram_rows: usize) -> Self {
        self.word_rows = word_rows;
        self.ngram_rows = ngram_rows;
        self
    }

    /// Sets the probability that a word is seen by its n-grams alone during training.
    pub fn with_word_dropout(mut self, probability: f32) -> Self {
        self.word_dropout = probability;
        self
    }

    /// Sets the dropout inside the encoder.
    pub fn with_dropout(mut self, probability: f32) -> Self {
        self.dropout = probability;
        self
    }
}
