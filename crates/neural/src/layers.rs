//! Layers with weights: places in the list of parameters, and the operations on them.

use crate::ops::{linear, norm};
use crate::parameters::{Gradients, Initial, Parameters, Role, Slot};
use crate::product::Write;
use crate::quantized::{QuantizedMatrix, QuantizedRows};

/// Linear layer, with 32-bit weights or with 8-bit weights that are kept elsewhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linear {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    pub(crate) weight: Slot,
    pub(crate) bias: Slot,
}

impl Linear {
    /// Declares a layer with 32-bit weights.
    pub(crate) fn new(
        parameters: &mut Parameters,
        name: &str,
        depth: Option<usize>,
        (inputs, outputs): (usize, usize),
        initial: Initial,
    ) -> Self {
        let shape = [outputs, inputs];
        let weight = parameters.add(format!("{name}.weight"), &shape, Role::Matrix, depth, initial);
        Self::with_weight(parameters, name, depth, (inputs, outputs), weight)
    }

    /// Declares a layer whose weights are 8-bit: only the bias is a parameter.
    pub(crate) fn quantized(
        parameters: &mut Parameters,
        name: &str,
        depth: Option<usize>,
        sizes: (usize, usize),
    ) -> Self {
        let weight = parameters.nothing();
        Self::with_weight(parameters, name, depth, sizes, weight)
    }

    fn with_weight(
        parameters: &mut Parameters,
        name: &str,
        depth: Option<usize>,
        (inputs, outputs): (usize, usize),
        weight: Slot,
    ) -> Self {
        let zero = Initial::Constant(0.0);
        let bias = parameters.add(format!("{name}.bias"), &[outputs], Role::Vector, depth, zero);
        Self { inputs, outputs, weight, bias }
    }

    /// Computes y from x, both with any number of rows. `y` is resized.
    pub(crate) fn forward(&self, parameters: &Parameters, x: &[f32], y: &mut Vec<f32>) {
        y.resize(x.len() / self.inputs * self.outputs, 0.0);
        linear::forward(x, self.weight.of(&parameters.values), self.bias.of(&parameters.values), y);
    }

    /// Computes y from x with 8-bit weights, if there are some.
    pub(crate) fn forward_with(
        &self,
        parameters: &Parameters,
        quantized: Option<&QuantizedMatrix>,
        x: &[f32],
        y: &mut Vec<f32>,
        rows: &mut QuantizedRows,
    ) {
        match quantized {
            None => self.forward(parameters, x, y),
            Some(weight) => {
                y.resize(x.len() / self.inputs * self.outputs, 0.0);
                rows.quantize(x, self.inputs);
                weight.multiply(rows, self.bias.of(&parameters.values), y);
            }
        }
    }

    /// Adds the gradients of the weights.
    pub(crate) fn backward_weights(&self, gradients: &mut Gradients, x: &[f32], d_y: &[f32]) {
        let (d_weight, d_bias) = gradients.pair(self.weight, self.bias);
        linear::backward_weights(x, d_y, d_weight, d_bias);
    }

    /// Computes the gradient of the input. `d_x` is resized.
    pub(crate) fn backward_input(
        &self,
        parameters: &Parameters,
        d_y: &[f32],
        d_x: &mut Vec<f32>,
        write: Write,
    ) {
        d_x.resize(d_y.len() / self.outputs * self.inputs, 0.0);
        linear::backward_input(d_y, self.weight.of(&parameters.values), self.outputs, d_x, write);
    }
}

/// Layer normalisation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Norm {
    pub(crate) gain: Slot,
    pub(crate) bias: Slot,
    epsilon: f32,
}

/// Normalised rows and the inverses of their deviations, for the backward pass.
#[derive(Clone, Debug, Default)]
pub(crate) struct NormState {
    /// Before the forward pass, the layer's input; after it, the normalised rows.
    pub(crate) rows: Vec<f32>,
    inverse: Vec<f32>,
}

impl Norm {
    pub(crate) fn new(
        parameters: &mut Parameters,
        name: &str,
        depth: Option<usize>,
        width: usize,
        epsilon: f32,
    ) -> Self {
        let mut add = |part, value| {
            let initial = Initial::Constant(value);
            parameters.add(format!("{name}.{part}"), &[width], Role::Vector, depth, initial)
        };
        Self { gain: add("gain", 1.0), bias: add("bias", 0.0), epsilon }
    }

    /// Normalises `state.rows` into `y`, which is resized.
    pub(crate) fn forward(&self, parameters: &Parameters, state: &mut NormState, y: &mut Vec<f32>) {
        y.resize(state.rows.len(), 0.0);
        state.inverse.resize(state.rows.len() / self.gain.len, 0.0);
        let (gain, bias) = (self.gain.of(&parameters.values), self.bias.of(&parameters.values));
        norm::forward(&mut state.rows, &mut state.inverse, gain, bias, self.epsilon, y);
    }

    /// Turns the gradient of the output into that of the input, in place.
    pub(crate) fn backward(
        &self,
        parameters: &Parameters,
        gradients: &mut Gradients,
        state: &NormState,
        d: &mut [f32],
    ) {
        let (d_gain, d_bias) = gradients.pair(self.gain, self.bias);
        norm::backward(
            &state.rows,
            &state.inverse,
            self.gain.of(&parameters.values),
            d,
            d_gain,
            d_bias,
        );
    }
}
