//! Transformer encoders (Vaswani et al. 2017; Devlin et al. 2019): sub-words in, one vector per sub-word and layer out.
//!
//! A batch is packed: the rows of all sequences follow each other, without padding. Linear layers run over all
//! rows at once, attention runs per sequence. A layer is
//! y = norm(x + drop(attention(x))), z = norm(y + drop(feed_forward(y))); ModernBERT has its own (`modern.rs`).
//!
//! Cost per row: 8·hidden² + 4·hidden·intermediate operations per layer and 4·n·hidden for attention to n rows,
//! forward; twice that backward.

mod front;
mod layer;
pub(crate) mod load;
mod modern;

pub(crate) use front::{Front, HashedWords};
use layer::{Layer, LayerState};

use crate::config::EncoderConfig;
use crate::layers::{Norm, NormState};
use crate::ops::embedding::{self, Bags};
use crate::ops::rotary::Rotary;
use crate::ops::{add_scaled, dropout};
use crate::parameters::{Gradients, Initial, Parameters, Role, Slot};
use crate::quantized::{QuantizedMatrix, QuantizedRows};
use crate::random::{hash, seed_of};

/// Encoder: places of its weights among the parameters of a network.
#[derive(Clone, Debug)]
pub(crate) struct Encoder {
    pub(crate) config: EncoderConfig,
    pub(crate) table: Slot,
    pub(crate) positions: Slot,
    norm: Norm,
    layers: Vec<Layer>,
    /// Norm of the last layer's output, in ModernBERT only.
    final_norm: Option<Norm>,
    /// Angles of positions for layers that see all rows and for local layers, in ModernBERT only.
    rotary: Option<[Rotary; 2]>,
    pub(crate) quantized: Option<QuantizedEncoder>,
}

/// The 8-bit weights of an encoder.
#[derive(Clone, Debug)]
pub(crate) struct QuantizedEncoder {
    /// The embeddings. A row of the table is one or several rows of this matrix, each with its own scale.
    pub(crate) table: QuantizedMatrix,
    /// For each layer: queries with keys and values, attention output, and both parts of the feed-forward.
    pub(crate) layers: Vec<[QuantizedMatrix; 4]>,
}

/// Sequences of a batch, and everything that the passes keep.
#[derive(Clone, Debug, Default)]
pub(crate) struct EncoderState {
    pub(crate) bags: Bags,
    /// Number of rows of each sequence.
    pub(crate) sequences: Vec<usize>,
    /// Vectors of all rows: after the embeddings, and after each layer.
    pub(crate) hidden: Vec<Vec<f32>>,
    embedded: NormState,
    last: NormState,
    layers: Vec<LayerState>,
    scratch: Scratch,
}

/// Memory of the passes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    rows: QuantizedRows,
    attention: [Vec<f32>; 2],
    narrow: Vec<f32>,
    wide: Vec<f32>,
    below: Vec<f32>,
}

/// How a forward pass is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass {
    /// Seed of dropout; `None` for inference.
    pub(crate) seed: Option<u64>,
    /// `true` if the state of every layer is kept for a backward pass.
    pub(crate) is_kept: bool,
    /// Entries of the table with these ids are left out at random, with this probability, during training.
    pub(crate) word_dropout: (u32, u32, f32),
}

/// Names of the linear layers of a layer, in the order of [`QuantizedEncoder::layers`].
pub(crate) const LINEAR_NAMES: [&str; 4] =
    ["attention.qkv", "attention.output", "feed_forward.inner", "feed_forward.outer"];

/// Name of the embedding table.
pub(crate) const TABLE_NAME: &str = "encoder.embeddings.table";

/// Name of a linear layer.
pub(crate) fn linear_name(layer: usize, part: usize) -> String {
    format!("encoder.layers.{layer}.{}", LINEAR_NAMES[part])
}

impl EncoderConfig {
    /// Inputs and outputs of the linear layers of a layer.
    pub(crate) fn linear_sizes(&self) -> [(usize, usize); 4] {
        let (hidden, inner) = (self.hidden, self.intermediate);
        let wide = if self.modern.is_some() { 2 * inner } else { inner };
        [(hidden, 3 * hidden), (hidden, hidden), (hidden, wide), (inner, hidden)]
    }
}

impl Encoder {
    /// Declares the parameters. With `is_quantized`, matrices are left to be set by the caller.
    pub(crate) fn new(
        config: EncoderConfig,
        parameters: &mut Parameters,
        is_quantized: bool,
    ) -> Self {
        let normal = Initial::Normal(0.02);
        let hidden = config.hidden;
        let table = if is_quantized {
            parameters.nothing()
        } else {
            parameters.add(
                TABLE_NAME.into(),
                &[config.vocabulary, hidden],
                Role::Table,
                Some(0),
                normal,
            )
        };
        let positions = if config.modern.is_some() {
            parameters.nothing()
        } else {
            let name = "encoder.embeddings.positions".to_owned();
            parameters.add(name, &[config.positions, hidden], Role::Table, Some(0), normal)
        };
        let norm =
            Norm::new(parameters, "encoder.embeddings.norm", Some(0), hidden, config.epsilon);
        let layers =
            (0..config.layers).map(|i| Layer::new(&config, i, parameters, is_quantized)).collect();
        let final_norm = config.modern.is_some().then(|| {
            let name = "encoder.layers.norm";
            Norm::new(parameters, name, Some(config.layers), hidden, config.epsilon)
        });
        parameters.encoder_len = parameters.values.len();
        let rotary = config.modern.as_ref().map(|modern| {
            let table = |theta| Rotary::new(config.positions, hidden / config.heads, theta);
            [modern.global_theta, modern.local_theta].map(table)
        });
        Self { config, table, positions, norm, layers, final_norm, rotary, quantized: None }
    }

    pub(crate) fn layers(&self) -> &[Layer] {
        &self.layers
    }

    pub(crate) fn norm(&self) -> &Norm {
        &self.norm
    }

    pub(crate) fn final_norm(&self) -> Option<&Norm> {
        self.final_norm.as_ref()
    }

    /// Returns the angles and the window of a layer of ModernBERT.
    fn places(&self, layer: usize) -> (Option<&Rotary>, Option<usize>) {
        let Some(([global, local], modern)) = self.rotary.as_ref().zip(self.config.modern.as_ref())
        else {
            return (None, None);
        };
        if modern.is_local[layer] {
            (Some(local), Some(modern.window))
        } else {
            (Some(global), None)
        }
    }

    /// Computes `state.hidden` for the sequences in `state`.
    pub(crate) fn forward(&self, parameters: &Parameters, pass: Pass, state: &mut EncoderState) {
        let width = self.config.hidden;
        let rows = state.bags.len();
        if let Some(seed) = pass.seed {
            self.drop_words(pass.word_dropout, seed_of(seed, 1), &mut state.bags);
        }
        state.hidden.resize_with(self.config.layers + 1, Vec::new);
        state
            .layers
            .resize_with(if pass.is_kept { self.config.layers } else { 1 }, Default::default);
        let x = &mut state.embedded.rows;
        x.clear();
        x.resize(rows * width, 0.0);
        match &self.quantized {
            None => embedding::forward(&state.bags, self.table.of(&parameters.values), width, x),
            Some(quantized) => {
                let table = &quantized.table;
                let parts = width / table.columns;
                state.scratch.narrow.resize(width, 0.0);
                for (row, x) in x.chunks_exact_mut(width).enumerate() {
                    for &(id, weight) in state.bags.row(row) {
                        table.dequantize_from(id as usize * parts, &mut state.scratch.narrow);
                        add_scaled(x, weight, &state.scratch.narrow);
                    }
                }
            }
        }
        if self.rotary.is_none() {
            let positions = self.positions.of(&parameters.values);
            let mut start = 0;
            for &len in &state.sequences {
                add_scaled(&mut x[start * width..][..len * width], 1.0, &positions[..len * width]);
                start += len;
            }
        }
        self.norm.forward(parameters, &mut state.embedded, &mut state.hidden[0]);
        if let Some(seed) = pass.seed {
            dropout::apply(&mut state.hidden[0], self.config.dropout, seed_of(seed, 2));
        }
        for (i, layer) in self.layers.iter().enumerate() {
            let (below, above) = state.hidden.split_at_mut(i + 1);
            let kept = &mut state.layers[if pass.is_kept { i } else { 0 }];
            let quantized = self.quantized.as_ref().map(|quantized| &quantized.layers[i]);
            let seed = pass.seed.map(|seed| u64::from(seed_of(seed, 16 + i as u64)));
            let settings = layer.settings(&self.config, seed, self.places(i));
            let sequences = &state.sequences;
            let scratch = &mut state.scratch;
            layer.forward(
                parameters,
                quantized,
                &settings,
                sequences,
                &below[i],
                kept,
                &mut above[0],
                scratch,
            );
        }
        if let Some(norm) = &self.final_norm {
            let last = &mut state.hidden[self.config.layers];
            std::mem::swap(&mut state.last.rows, last);
            norm.forward(parameters, &mut state.last, last);
        }
    }

    /// Leaves out entries of the table at random.
    fn drop_words(&self, (first, end, probability): (u32, u32, f32), seed: u32, bags: &mut Bags) {
        if probability > 0.0 {
            let threshold = (f64::from(probability) * f64::from(u32::MAX)) as u32;
            for (i, (id, weight)) in bags.entries.iter_mut().enumerate() {
                if (first..end).contains(id) && hash(seed, i as u32) < threshold {
                    *weight = 0.0;
                }
            }
        }
    }

    /// Adds the gradients of all parameters. `d_hidden` holds the gradient of each of `state.hidden`, and is used up.
    pub(crate) fn backward(
        &self,
        parameters: &Parameters,
        gradients: &mut Gradients,
        seed: Option<u64>,
        state: &mut EncoderState,
        d_hidden: &mut [Vec<f32>],
    ) {
        if let Some(norm) = &self.final_norm {
            norm.backward(parameters, gradients, &state.last, &mut d_hidden[self.config.layers]);
        }
        for (i, layer) in self.layers.iter().enumerate().rev() {
            let (below, above) = d_hidden.split_at_mut(i + 1);
            let seed = seed.map(|seed| u64::from(seed_of(seed, 16 + i as u64)));
            let settings = layer.settings(&self.config, seed, self.places(i));
            let EncoderState { sequences, hidden, layers, scratch, .. } = state;
            layer.backward(
                parameters,
                gradients,
                &settings,
                sequences,
                &hidden[i],
                &layers[i],
                &mut above[0],
                scratch,
            );
            add_scaled(&mut below[i], 1.0, &scratch.below);
        }
        let d = &mut d_hidden[0];
        if let Some(seed) = seed {
            dropout::apply(d, self.config.dropout, seed_of(seed, 2));
        }
        self.norm.backward(parameters, gradients, &state.embedded, d);
        let width = self.config.hidden;
        embedding::backward(&state.bags, d, width, gradients.of(self.table));
        gradients.use_rows(self.table, state.bags.entries.iter().map(|&(id, _)| id));
        if self.rotary.is_some() {
            return;
        }
        let mut start = 0;
        for &len in &state.sequences {
            add_scaled(
                &mut gradients.of(self.positions)[..len * width],
                1.0,
                &d[start * width..][..len * width],
            );
            start += len;
        }
        let longest = state.sequences.iter().copied().max().unwrap_or(0);
        gradients.use_rows(self.positions, 0..longest as u32);
    }
}
