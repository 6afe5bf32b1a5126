//! One layer of ModernBERT (Warner et al. 2024): normalised before its parts, rotary positions, gated feed-forward.
//!
//! y = x + drop(attention(norm(x))), z = y + feed_forward(norm(y)), with feed_forward(u) = W(f(a)·g) + b and (a, g) the
//! halves of a linear layer of u. The first layer does not normalise x again. Local layers see rows within a window.

use super::Scratch;
use super::layer::{Layer, LayerState, Settings};
use crate::ops::rotary::{Rotary, Turn};
use crate::ops::{activation, add_scaled, dropout};
use crate::parameters::{Gradients, Parameters};
use crate::product::Write;
use crate::quantized::QuantizedMatrix;
use crate::random::seed_of;

/// Turns queries and keys of all sequences.
fn turn(rotary: &Rotary, sequences: &[usize], width: usize, qkv: &mut [f32], turn: Turn) {
    let mut start = 0;
    for &n in sequences {
        rotary.turn(&mut qkv[start * 3 * width..][..n * 3 * width], width, turn);
        start += n;
    }
}

impl Layer {
    pub(super) fn forward_modern(
        &self,
        parameters: &Parameters,
        quantized: Option<&[QuantizedMatrix; 4]>,
        settings: &Settings<'_>,
        rotary: &Rotary,
        sequences: &[usize],
        x: &[f32],
        state: &mut LayerState,
        y: &mut Vec<f32>,
        scratch: &mut Scratch,
    ) {
        let width = settings.hidden;
        let matrix = |part: usize| quantized.map(|matrices| &matrices[part]);
        let [input, gated_input] = &mut state.inputs;
        if let Some(norm) = &self.attention_norm {
            state.attended.rows.clear();
            state.attended.rows.extend_from_slice(x);
            norm.forward(parameters, &mut state.attended, input);
        } else {
            input.clear();
            input.extend_from_slice(x);
        }
        let rows = &mut scratch.rows;
        self.linear[0].forward_with(parameters, matrix(0), input, &mut state.qkv, rows);
        turn(rotary, sequences, width, &mut state.qkv, Turn::Forward);
        settings.attend(
            sequences,
            &state.qkv,
            &mut state.probs,
            &mut state.context,
            &mut scratch.attention[0],
        );
        let sum = &mut state.middle;
        self.linear[1].forward_with(parameters, matrix(1), &state.context, sum, rows);
        dropout::apply(sum, settings.dropout, seed_of(settings.seed, 1));
        add_scaled(sum, 1.0, x);

        state.output.rows.clear();
        state.output.rows.extend_from_slice(&state.middle);
        self.output_norm.forward(parameters, &mut state.output, gated_input);
        self.linear[2].forward_with(parameters, matrix(2), gated_input, &mut state.inner, rows);
        let inner_width = self.linear[3].inputs;
        state.activated.resize(state.inner.len() / 2, 0.0);
        activation::gated_forward(
            settings.activation,
            &state.inner,
            inner_width,
            &mut state.activated,
        );
        dropout::apply(&mut state.activated, settings.dropout, seed_of(settings.seed, 2));
        self.linear[3].forward_with(parameters, matrix(3), &state.activated, y, rows);
        add_scaled(y, 1.0, &state.middle);
    }

    /// As [`Layer::backward`].
    pub(super) fn backward_modern(
        &self,
        parameters: &Parameters,
        gradients: &mut Gradients,
        settings: &Settings<'_>,
        rotary: &Rotary,
        sequences: &[usize],
        state: &LayerState,
        d: &mut Vec<f32>,
        scratch: &mut Scratch,
    ) {
        let Scratch { attention, narrow, wide, below, .. } = scratch;
        let [input, gated_input] = &state.inputs;
        // Feed-forward: `d` is the gradient of the sum, and becomes that of `middle`.
        self.linear[3].backward_weights(gradients, &state.activated, d);
        self.linear[3].backward_input(parameters, d, below, Write::Replace);
        dropout::apply(below, settings.dropout, seed_of(settings.seed, 2));
        wide.resize(state.inner.len(), 0.0);
        let inner_width = self.linear[3].inputs;
        activation::gated_backward(settings.activation, &state.inner, inner_width, below, wide);
        self.linear[2].backward_weights(gradients, gated_input, wide);
        self.linear[2].backward_input(parameters, wide, narrow, Write::Replace);
        self.output_norm.backward(parameters, gradients, &state.output, narrow);
        add_scaled(d, 1.0, narrow);

        // Attention: `d` becomes the gradient of `x`.
        narrow.clone_from(d);
        dropout::apply(narrow, settings.dropout, seed_of(settings.seed, 1));
        self.linear[1].backward_weights(gradients, &state.context, narrow);
        self.linear[1].backward_input(parameters, narrow, below, Write::Replace);
        wide.resize(state.qkv.len(), 0.0);
        settings.attend_backward(sequences, &state.qkv, &state.probs, below, wide, attention);
        turn(rotary, sequences, settings.hidden, wide, Turn::Backward);
        self.linear[0].backward_weights(gradients, input, wide);
        if let Some(norm) = &self.attention_norm {
            self.linear[0].backward_input(parameters, wide, narrow, Write::Replace);
            norm.backward(parameters, gradients, &state.attended, narrow);
            add_scaled(d, 1.0, narrow);
        } else {
            self.linear[0].backward_input(parameters, wide, d, Write::Add);
        }
        std::mem::swap(below, d);
    }
}
