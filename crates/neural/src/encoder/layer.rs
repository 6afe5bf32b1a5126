//! One layer of an encoder.

use super::{Scratch, linear_name};
use crate::config::EncoderConfig;
use crate::layers::{Linear, Norm, NormState};
use crate::ops::activation::{self, Activation};
use crate::ops::attention::Attention;
use crate::ops::rotary::Rotary;
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
    /// `None` in the first layer of ModernBERT, whose input is normalised already.
    pub(crate) attention_norm: Option<Norm>,
    pub(crate) output_norm: Norm,
}

/// Intermediate results of a layer. All have one row per sub-word, `probs` one matrix per sequence and head.
#[derive(Clone, Debug, Default)]
pub(crate) struct LayerState {
    /// Normalised inputs of attention and of the feed-forward part; in ModernBERT only.
    pub(super) inputs: [Vec<f32>; 2],
    pub(super) qkv: Vec<f32>,
    pub(super) probs: Vec<f32>,
    pub(super) context: Vec<f32>,
    pub(super) attended: NormState,
    pub(super) middle: Vec<f32>,
    pub(super) inner: Vec<f32>,
    pub(super) activated: Vec<f32>,
    pub(super) output: NormState,
}

/// Constants of a layer in one pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings<'a> {
    pub(super) hidden: usize,
    pub(super) heads: usize,
    pub(super) activation: Activation,
    pub(super) dropout: f32,
    pub(super) attention_dropout: f32,
    pub(super) seed: u64,
    /// Angles of the positions, in ModernBERT only.
    pub(super) rotary: Option<&'a Rotary>,
    /// Greatest distance that attention sees.
    pub(super) window: Option<usize>,
}

impl Settings<'_> {
    fn attention(&self, sequence: usize) -> Attention {
        Attention {
            hidden: self.hidden,
            heads: self.heads,
            dropout: self.attention_dropout,
            seed: seed_of(self.seed, 8 + sequence as u64),
            window: self.window,
        }
    }

    /// Runs attention over all sequences.
    pub(super) fn attend(
        &self,
        sequences: &[usize],
        qkv: &[f32],
        probs: &mut Vec<f32>,
        context: &mut Vec<f32>,
        scratch: &mut Vec<f32>,
    ) {
        let width = self.hidden;
        context.resize(qkv.len() / 3, 0.0);
        probs.resize(self.heads * sequences.iter().map(|n| n * n).sum::<usize>(), 0.0);
        let (mut start, mut probs_start) = (0, 0);
        for (i, &n) in sequences.iter().enumerate() {
            let probs = &mut probs[probs_start..][..self.heads * n * n];
            let context = &mut context[start * width..][..n * width];
            let qkv = &qkv[start * 3 * width..][..n * 3 * width];
            self.attention(i).forward(n, qkv, probs, context, scratch);
            start += n;
            probs_start += probs.len();
        }
    }

    /// Computes the gradient of `qkv` from that of the context.
    pub(super) fn attend_backward(
        &self,
        sequences: &[usize],
        qkv: &[f32],
        probs: &[f32],
        d_context: &[f32],
        d_qkv: &mut [f32],
        scratch: &mut [Vec<f32>; 2],
    ) {
        let width = self.hidden;
        let (mut start, mut probs_start) = (0, 0);
        for (i, &n) in sequences.iter().enumerate() {
            let probs = &probs[probs_start..][..self.heads * n * n];
            let rows = start * 3 * width..(start + n) * 3 * width;
            let d_context = &d_context[start * width..][..n * width];
            let d_qkv = &mut d_qkv[rows.clone()];
            self.attention(i).backward(n, &qkv[rows], probs, d_context, d_qkv, scratch);
            start += n;
            probs_start += probs.len();
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
        let has_attention_norm = config.modern.is_none() || index > 0;
        Self {
            linear,
            attention_norm: has_attention_norm.then(|| norm("attention.norm")),
            output_norm: norm("feed_forward.norm"),
        }
    }

    /// Returns the constants of a pass. `rotary` and `window` are those of this layer.
    pub(crate) fn settings<'a>(
        &self,
        config: &EncoderConfig,
        seed: Option<u64>,
        (rotary, window): (Option<&'a Rotary>, Option<usize>),
    ) -> Settings<'a> {
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
            rotary,
            window,
        }
    }

    fn bert_attention_norm(&self) -> &Norm {
        self.attention_norm.as_ref().expect("every layer of BERT has both norms")
    }

    pub(crate) fn forward(
        &self,
        parameters: &Parameters,
        quantized: Option<&[QuantizedMatrix; 4]>,
        settings: &Settings<'_>,
        sequences: &[usize],
        x: &[f32],
        state: &mut LayerState,
        y: &mut Vec<f32>,
        scratch: &mut Scratch,
    ) {
        if let Some(rotary) = settings.rotary {
            self.forward_modern(
                parameters, quantized, settings, rotary, sequences, x, state, y, scratch,
            );
            return;
        }
        let matrix = |part: usize| quantized.map(|matrices| &matrices[part]);
        let rows = &mut scratch.rows;
        self.linear[0].forward_with(parameters, matrix(0), x, &mut state.qkv, rows);
        settings.attend(
            sequences,
            &state.qkv,
            &mut state.probs,
            &mut state.context,
            &mut scratch.attention[0],
        );
        let sum = &mut state.attended.rows;
        self.linear[1].forward_with(parameters, matrix(1), &state.context, sum, rows);
        dropout::apply(sum, settings.dropout, seed_of(settings.seed, 1));
        add_scaled(sum, 1.0, x);
        self.bert_attention_norm().forward(parameters, &mut state.attended, &mut state.middle);

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
        settings: &Settings<'_>,
        sequences: &[usize],
        x: &[f32],
        state: &LayerState,
        d: &mut Vec<f32>,
        scratch: &mut Scratch,
    ) {
        if let Some(rotary) = settings.rotary {
            self.backward_modern(
                parameters, gradients, settings, rotary, sequences, state, d, scratch,
            );
            return;
        }
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
        self.bert_attention_norm().backward(parameters, gradients, &state.attended, d);
        narrow.clone_from(d);
        dropout::apply(narrow, settings.dropout, seed_of(settings.seed, 1));
        self.linear[1].backward_weights(gradients, &state.context, narrow);
        self.linear[1].backward_input(parameters, narrow, below, Write::Replace);
        wide.resize(state.qkv.len(), 0.0);
        settings.attend_backward(sequences, &state.qkv, &state.probs, below, wide, attention);
        self.linear[0].backward_weights(gradients, x, wide);
        self.linear[0].backward_input(parameters, wide, d, Write::Add);
        std::mem::swap(below, d);
    }
}
