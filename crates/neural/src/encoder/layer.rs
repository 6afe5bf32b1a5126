//! One layer of an encoder.

use super::{Scratch, linear_name};
use crate::config::EncoderConfig;
use crate::layers::{Linear, Norm, NormState};
use crate::ops::activation::{self, Activation};
use crate::ops::attention::Attention;
use crate::ops::{add_scaled, dropout};
use crate::parameters::{Gradients, Initial, Parameters};
use crate::product::Write;
use crate::quantized::QuantizedMatrix;
use crate::random::seed_of;

/// Weights of a layer.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    /// Queries with keys and values, attention output, and both parts of the feed-forward.
    pub(crate) linear: [Linear; 4],
    pub(crate) attention_norm: Norm,
    pub(crate) output_norm: Norm,
}

/// Intermediate results of a layer. All have one row per sub-word, `probs` one matrix per sequence and head.
#[derive(Clone, Debug, Default)]
pub(crate) struct LayerState {
    qkv: Vec<f32>,
    probs: Vec<f32>,
    context: Vec<f32>,
    attended: NormState,
    middle: Vec<f32>,
    inner: Vec<f32>,
    activated: Vec<f32>,
    output: NormState,
}

/// Constants of a layer in one pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    hidden: usize,
    heads: usize,
    activation: Activation,
    dropout: f32,
    attention_dropout: f32,
    seed: u64,
}

impl Settings {
    fn attention(&self, sequence: usize) -> Attention {
        Attention {
            hidden: self.hidden,
            heads: self.heads,
            dropout: self.attention_dropout,
            seed: seed_of(self.seed, 8 + sequence as u64),
        }
    }
}

impl Layer {
    pub(crate) fn new(
        config: &EncoderConfig,
        index: usize,
        parameters: &mut Parameters,
        is_quantized: bool,
    ) -> Self {
        let depth = Some(index + 1);
        let sizes = config.linear_sizes();
        let mut linear = |part: usize| {
            let name = linear_name(index, part);
            if is_quantized {
                Linear::quantized(parameters, &name, depth, sizes[part])
            } else {
                Linear::new(parameters, &name, depth, sizes[part], Initial::Xavier)
            }
        };
        let linear = [linear(0), linear(1), linear(2), linear(3)];
        let mut norm = |part| {
            let name = format!("encoder.layers.{index}.{part}");
            Norm::new(parameters, &name, depth, config.hidden, config.epsilon)
        };
        Self {
            linear,
            attention_norm: norm("attention.norm"),
            output_norm: norm("feed_forward.norm"),
        }
    }

    pub(crate) fn settings(&self, config: &EncoderConfig, seed: Option<u64>) -> Settings {
        let (dropout, attention_dropout) = match seed {
            Some(_) => (config.dropout, config.attention_dropout),
            None => (0.0, 0.0),
        };
        Settings {
            hidden: config.hidden,
            heads: config.heads,
            activation: config.activation,
            dropout,
            attention_dropout,
            seed: seed.unwrap_or(0),
        }
    }

    pub(crate) fn forward(
        &self,
        parameters: &Parameters,
        quantized: Option<&[QuantizedMatrix; 4]>,
        settings: &Settings,
        sequences: &[usize],
        x: &[f32],
        state: &mut LayerState,
        y: &mut Vec<f32>,
        scratch: &mut Scratch,
    ) {
        let width = settings.hidden;
        let matrix = |part: usize| quantized.map(|matrices| &matrices[part]);
        let rows = &mut scratch.rows;
        self.linear[0].forward_with(parameters, matrix(0), x, &mut state.qkv, rows);
        state.context.resize(x.len(), 0.0);
        state.probs.resize(settings.heads * sequences.iter().map(|n| n * n).sum::<usize>(), 0.0);
        let (mut start, mut probs_start) = (0, 0);
        for (i, &n) in sequences.iter().enumerate() {
            let probs = &mut state.probs[probs_start..][..settings.heads * n * n];
            let context = &mut state.context[start * width..][..n * width];
            let qkv = &state.qkv[start * 3 * width..][..n * 3 * width];
            settings.attention(i).forward(n, qkv, probs, context, &mut scratch.attention[0]);
            start += n;
            probs_start += probs.len();
        }
        let sum = &mut state.attended.rows;
        self.linear[1].forward_with(parameters, matrix(1), &state.context, sum, rows);
        dropout::apply(sum, settings.dropout, seed_of(settings.seed, 1));
        add_scaled(sum, 1.0, x);
        self.attention_norm.forward(parameters, &mut state.attended, &mut state.middle);

        self.linear[2].forward_with(parameters, matrix(2), &state.middle, &mut state.inner, rows);
        state.activated.resize(state.inner.len(), 0.0);
        activation::forward(settings.activation, &state.inner, &mut state.activated);
        let sum = &mut state.output.rows;
        self.linear[3].forward_with(parameters, matrix(3), &state.activated, sum, rows);
        dropout::apply(sum, settings.dropout, seed_of(settings.seed, 2));
        add_scaled(sum, 1.0, &state.middle);
        self.output_norm.forward(parameters, &mut state.output, y);
    }

    /// Adds the gradients of the weights, and leaves that of the layer's input in `scratch.below`. `d` is the
    /// gradient of its output, and is used up.
    pub(crate) fn backward(
        &self,
        parameters: &Parameters,
        gradients: &mut Gradients,
        settings: &Settings,
        sequences: &[usize],
        x: &[f32],
        state: &LayerState,
        d: &mut Vec<f32>,
        scratch: &mut Scratch,
    ) {
        let width = settings.hidden;
        let Scratch { attention, narrow, wide, below, .. } = scratch;
        // Feed-forward: `d` becomes the gradient of the sum, and then of `middle`.
        self.output_norm.backward(parameters, gradients, &state.output, d);
        narrow.clone_from(d);
        dropout::apply(narrow, settings.dropout, seed_of(settings.seed, 2));
        self.linear[3].backward_weights(gradients, &state.activated, narrow);
        self.linear[3].backward_input(parameters, narrow, wide, Write::Replace);
        activation::backward(settings.activation, &state.inner, wide);
        self.linear[2].backward_weights(gradients, &state.middle, wide);
        self.linear[2].backward_input(parameters, wide, d, Write::Add);

        // Attention: `d` becomes the gradient of the sum, and then of `x`.
        self.attention_norm.backward(parameters, gradients, &state.attended, d);
        narrow.clone_from(d);
        dropout::apply(narrow, settings.dropout, seed_of(settings.seed, 1));
        self.linear[1].backward_weights(gradients, &state.context, narrow);
        self.linear[1].backward_input(parameters, narrow, below, Write::Replace);
        wide.resize(state.qkv.len(), 0.0);
        let (mut start, mut probs_start) = (0, 0);
        for (i, &n) in sequences.iter().enumerate() {
            let probs = &state.probs[probs_start..][..settings.heads * n * n];
            let qkv = start * 3 * width..(start + n) * 3 * width;
            let d_context = &below[start * width..][..n * width];
            settings.attention(i).backward(
                n,
                &state.qkv[qkv.clone()],
                probs,
                d_context,
                &mut wide[qkv],
                attention,
            );
            start += n;
            probs_start += probs.len();
        }
        self.linear[0].backward_weights(gradients, x, wide);
        self.linear[0].backward_input(parameters, wide, d, Write::Add);
        std::mem::swap(below, d);
    }
}
