//! A network: an encoder, scores of arcs and labels, and classifiers of words, with hand-written gradients.
//!
//! ```text
//! words ─▶ encoder ─▶ layers, pooled to words ─┬─▶ mix ─▶ MLPs ─┬─▶ biaffine ─▶ arc scores
//!                                              │                └─▶ biaffine ─▶ label scores at given arcs
//!                                              └─▶ mix ─▶ linear ─▶ log-probabilities, once per tag head
//! ```
//!
//! No loss lives here. Callers compute the derivative of their loss by each score and give it as
//! [`Coefficients`].

mod activations;
mod storage;

pub use activations::{Activations, Coefficients};

use std::path::Path;

use activations::{TagState, zeroed};

use crate::config::EncoderConfig;
use crate::encoder::load::Folder;
use crate::encoder::{Encoder, Front, HashedWords, Pass};
use crate::error::Error;
use crate::layers::Linear;
use crate::ops::activation::{self, Activation};
use crate::ops::{biaffine, dropout, mix, softmax};
use crate::options::{NetworkOptions, ScratchOptions, TagHead};
use crate::parameters::{Gradients, Initial, Parameter, Parameters, Role, Slot};
use crate::product::{View, Write, multiply, multiply_rows};
use crate::random::seed_of;
use crate::subwords::SentenceInput;

/// How a forward pass is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// With dropout, and everything kept for a backward pass.
    Train {
        /// Seed of dropout. Every shard of every batch should have its own.
        seed: u64,
    },
    /// Without dropout. No backward pass can follow.
    Infer,
}

/// Scorer of arcs and labels.
#[derive(Clone, Debug)]
struct Biaffine {
    mix: Slot,
    /// Vectors of heads and modifiers, for arcs and for labels, side by side.
    mlp: Linear,
    arc_weight: Slot,
    arc_bias: Slot,
    labels: Option<Labels>,
}

#[derive(Clone, Debug)]
struct Labels {
    bilinear: Linear,
    rest: Linear,
}

#[derive(Clone, Debug)]
struct TagLayers {
    mix: Slot,
    linear: Linear,
}

/// Encoder with scorers on top. See the [crate's page](crate) for an example.
#[derive(Clone, Debug)]
pub struct Network {
    options: NetworkOptions,
    front: Front,
    encoder: Encoder,
    biaffine: Option<Biaffine>,
    tags: Vec<TagLayers>,
    parameters: Parameters,
}

/// Places of dropout above the encoder; tag heads follow.
const DROP_INPUT: u64 = 1 << 20;
const DROP_MLP: u64 = DROP_INPUT + 1;
const DROP_TAGS: u64 = DROP_INPUT + 2;

impl Network {
    /// Opens a pretrained encoder: a folder with `config.json`, `tokenizer.json` and `model.safetensors`. The
    /// scorers get initial weights from the seed.
    ///
    /// # Errors
    ///
    /// If a file is missing or damaged, if the files do not belong together, or if an option makes no sense.
    pub fn open(folder: impl AsRef<Path>, options: NetworkOptions) -> Result<Self, Error> {
        let folder = Folder::open(folder.as_ref())?;
        let front = Front::Subwords(Box::new(folder.subwords.clone()));
        let parameters = Parameters::new(options.seed);
        let config = folder.config.encoder.clone();
        let mut network = Self::new(config, front, options, parameters, false)?;
        folder.fill(&network.encoder, &mut network.parameters)?;
        Ok(network)
    }

    /// Makes a network whose encoder starts from random weights, for languages without a pretrained one.
    ///
    /// # Errors
    ///
    /// If an option makes no sense.
    pub fn scratch(scratch: &ScratchOptions, options: NetworkOptions) -> Result<Self, Error> {
        let hashed = HashedWords {
            word_rows: scratch.word_rows.max(1),
            ngram_rows: scratch.ngram_rows.max(1),
            word_dropout_permille: (scratch.word_dropout.clamp(0.0, 1.0) * 1000.0) as u32,
        };
        let config = EncoderConfig {
            hidden: scratch.hidden,
            layers: scratch.layers,
            heads: scratch.heads,
            intermediate: scratch.intermediate,
            vocabulary: hashed.vocabulary(),
            positions: scratch.positions,
            activation: Activation::Gelu,
            epsilon: 1e-6,
            dropout: scratch.dropout,
            attention_dropout: scratch.dropout,
            modern: None,
        };
        config.check("the options of the encoder")?;
        if config.positions < 3 {
            let (found, expected) = (config.positions.to_string(), "at least 3".into());
            return Err(Error::Option { option: "positions", found, expected });
        }
        let parameters = Parameters::new(options.seed);
        Self::new(config, Front::Hashed(hashed), options, parameters, false)
    }

    /// Declares all parameters, in an empty list.
    fn new(
        mut config: EncoderConfig,
        front: Front,
        options: NetworkOptions,
        mut parameters: Parameters,
        is_quantized: bool,
    ) -> Result<Self, Error> {
        options.check(config.layers)?;
        if let Some(p) = options.encoder_dropout {
            config.dropout = p;
            config.attention_dropout = p;
        }
        let hidden = config.hidden;
        let layers = config.layers;
        let encoder = Encoder::new(config, &mut parameters, is_quantized);
        let mixed = layers + 1 - options.first_layer(layers);
        // The numbers of the mix start equal, γ at one.
        let add_mix = |parameters: &mut Parameters, name: &str| {
            let slot = parameters.add(
                format!("{name}.mix"),
                &[mixed + 1],
                Role::Vector,
                None,
                Initial::Constant(0.0),
            );
            parameters.values[slot.start + mixed] = 1.0;
            slot
        };
        let (arcs, zero) = (options.arc_mlp, Initial::Constant(0.0));
        let labels = if options.labels > 0 { options.label_mlp } else { 0 };
        let biaffine = (arcs + labels > 0).then(|| {
            let mix = add_mix(&mut parameters, "scorer");
            let sizes = (hidden, 2 * (arcs + labels));
            let mlp = Linear::new(&mut parameters, "scorer.mlp", None, sizes, Initial::Xavier);
            let weight = parameters.add(
                "scorer.arcs.weight".into(),
                &[arcs, arcs],
                Role::Matrix,
                None,
                zero,
            );
            let bias = parameters.add("scorer.arcs.bias".into(), &[arcs], Role::Vector, None, zero);
            let labels = (labels > 0).then(|| {
                let mut linear = |part, outputs| {
                    let name = format!("scorer.labels.{part}");
                    Linear::new(&mut parameters, &name, None, (labels, outputs), zero)
                };
                Labels {
                    bilinear: linear("bilinear", options.labels * labels),
                    rest: linear("rest", options.labels),
                }
            });
            Biaffine { mix, mlp, arc_weight: weight, arc_bias: bias, labels }
        });
        let tags = options.tag_heads.iter().map(|head| {
            let name = format!("tags.{}", head.name);
            let mix = add_mix(&mut parameters, &name);
            let linear =
                Linear::new(&mut parameters, &name, None, (hidden, head.classes), Initial::Xavier);
            TagLayers { mix, linear }
        });
        let tags = tags.collect();
        Ok(Self { options, front, encoder, biaffine, tags, parameters })
    }

    /// Settings of the network.
    pub fn options(&self) -> &NetworkOptions {
        &self.options
    }

    /// Sizes of the encoder.
    pub fn encoder_config(&self) -> &EncoderConfig {
        &self.encoder.config
    }

    /// Returns `true` if the encoder has 8-bit weights.
    pub fn is_quantized(&self) -> bool {
        self.encoder.quantized.is_some()
    }

    /// Classifiers of words, in the order of their numbers.
    pub fn tag_heads(&self) -> &[TagHead] {
        &self.options.tag_heads
    }

    /// Number of the classifier with this name.
    pub fn tag_head(&self, name: &str) -> Option<usize> {
        self.options.tag_heads.iter().position(|head| head.name == name)
    }

    /// Sets whether training leaves the encoder as it is. Gradients must be made anew afterwards.
    pub fn set_frozen_encoder(&mut self, is_frozen: bool) {
        self.options.has_frozen_encoder = is_frozen;
    }

    /// Divides the words of a sentence into sub-words.
    ///
    /// # Errors
    ///
    /// If the tokenizer fails on a word.
    pub fn encode(&self, words: &[impl AsRef<str>]) -> Result<SentenceInput, Error> {
        self.front.encode(words, self.encoder.config.positions)
    }

    /// Number of weights in 32 bits.
    pub fn parameter_count(&self) -> usize {
        self.parameters.values.len()
    }

    /// Descriptions of all parameters, in their fixed order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters.list
    }

    /// Calls `f` with the name, shape and values of each parameter, in their fixed order.
    pub fn for_each_parameter(&mut self, mut f: impl FnMut(&str, &[usize], &mut [f32])) {
        for parameter in &self.parameters.list {
            f(
                &parameter.name,
                &parameter.shape,
                &mut self.parameters.values[parameter.slot.range()],
            );
        }
    }

    /// Returns all weights in 32 bits.
    pub(crate) fn weights(&self) -> &[f32] {
        &self.parameters.values
    }

    /// Number of weights that training leaves as they are. They come first.
    pub(crate) fn untrained_weights(&self) -> usize {
        if self.options.has_frozen_encoder { self.parameters.encoder_len } else { 0 }
    }

    pub(crate) fn raw_parameters(&mut self) -> &mut Parameters {
        &mut self.parameters
    }

    /// Makes gradients of zero. With a frozen encoder, they are those of the scorers alone.
    ///
    /// # Errors
    ///
    /// If the network has 8-bit weights.
    pub fn gradients(&self) -> Result<Gradients, Error> {
        if self.is_quantized() {
            return Err(Error::Quantized);
        }
        Ok(Gradients::new(&self.parameters, self.untrained_weights()))
    }

    /// Scores a batch of sentences, which [`Activations`] then answer for. Without dropout, a sentence has the same
    /// scores, to the last bit, in every batch.
    ///
    /// Runs in the calling thread. Memory is kept in `activations` and used again by the next batch.
    pub fn forward<'a>(
        &self,
        sentences: impl IntoIterator<Item = &'a SentenceInput>,
        mode: Mode,
        activations: &mut Activations,
    ) {
        let a = activations;
        let seed = match mode {
            Mode::Train { seed } => Some(seed),
            Mode::Infer => None,
        };
        a.load(sentences, seed, self.options.labels, self.options.label_mlp);
        let is_frozen = self.options.has_frozen_encoder;
        let pass = Pass {
            seed: seed.filter(|_| !is_frozen),
            is_kept: seed.is_some() && !is_frozen,
            word_dropout: self.front.word_dropout(),
        };
        self.encoder.forward(&self.parameters, pass, &mut a.encoder);
        let width = self.encoder.config.hidden;
        let first = self.options.first_layer(self.encoder.config.layers);
        a.pooled.resize_with(self.encoder.config.layers + 1 - first, Vec::new);
        for (pooled, hidden) in a.pooled.iter_mut().zip(&a.encoder.hidden[first..]) {
            pooled.resize(a.spans.len() * width, 0.0);
            self.options.pooling.forward(&a.spans, hidden, width, pooled);
        }
        if let Some(biaffine) = &self.biaffine {
            self.forward_biaffine(biaffine, a);
        }
        a.tags.resize_with(self.tags.len(), TagState::default);
        let pooled: Vec<&[f32]> = a.pooled.iter().map(Vec::as_slice).collect();
        for (i, (layers, state)) in self.tags.iter().zip(&mut a.tags).enumerate() {
            state.classes = layers.linear.outputs;
            state.input.resize(a.spans.len() * width, 0.0);
            mix::forward(
                &pooled,
                layers.mix.of(&self.parameters.values),
                &mut state.shares,
                &mut state.input,
            );
            self.drop(&mut state.input, seed, DROP_TAGS + i as u64);
            layers.linear.forward(&self.parameters, &state.input, &mut state.log_probs);
            softmax::log_forward(&mut state.log_probs, state.classes);
        }
    }

    fn drop(&self, x: &mut [f32], seed: Option<u64>, place: u64) {
        if let Some(seed) = seed {
            dropout::apply(x, self.options.dropout, seed_of(seed, place));
        }
    }

    /// Widths of the four parts of the MLP: heads and modifiers of arcs, heads and modifiers of labels.
    fn parts(&self) -> [usize; 4] {
        let labels = if self.options.labels > 0 { self.options.label_mlp } else { 0 };
        [self.options.arc_mlp, self.options.arc_mlp, labels, labels]
    }

    fn forward_biaffine(&self, biaffine: &Biaffine, a: &mut Activations) {
        let values = &self.parameters.values;
        let nodes = a.spans.len();
        let pooled: Vec<&[f32]> = a.pooled.iter().map(Vec::as_slice).collect();
        a.input.resize(nodes * self.encoder.config.hidden, 0.0);
        mix::forward(&pooled, biaffine.mix.of(values), &mut a.shares, &mut a.input);
        self.drop(&mut a.input, a.seed, DROP_INPUT);
        biaffine.mlp.forward(&self.parameters, &a.input, &mut a.mlp_inner);
        a.mlp.resize(a.mlp_inner.len(), 0.0);
        activation::forward(Activation::LeakyRelu, &a.mlp_inner, &mut a.mlp);
        self.drop(&mut a.mlp, a.seed, DROP_MLP);
        let mut start = 0;
        for (part, width) in a.parts.iter_mut().zip(self.parts()) {
            part.clear();
            for row in a.mlp.chunks_exact(biaffine.mlp.outputs) {
                part.extend_from_slice(&row[start..start + width]);
            }
            start += width;
        }
        let width = self.options.arc_mlp;
        if width > 0 {
            a.transformed.resize(nodes * width, 0.0);
            let weight = View::new(biaffine.arc_weight.of(values), width, width).transposed();
            let modifiers = View::new(&a.parts[1], nodes, width);
            multiply_rows(modifiers, weight, &mut a.transformed, width, Write::Replace);
            a.scores.resize(a.score_starts[a.score_starts.len() - 1], 0.0);
            for sentence in 0..a.sentences() {
                let rows = a.node_starts[sentence] * width..a.node_starts[sentence + 1] * width;
                let scores = &mut a.scores[a.score_starts[sentence]..a.score_starts[sentence + 1]];
                let bias = biaffine.arc_bias.of(values);
                biaffine::arcs(&a.parts[0][rows.clone()], &a.transformed[rows], bias, scores);
            }
        }
        if let Some(labels) = &biaffine.labels {
            labels.bilinear.forward(&self.parameters, &a.parts[3], &mut a.bilinear);
            labels.rest.forward(&self.parameters, &a.parts[3], &mut a.rest);
        }
    }

    /// Adds the gradient of a loss to `gradients`, from its derivatives by the scores of the last forward pass.
    ///
    /// # Panics
    ///
    /// If the last forward pass was not one of training, or if coefficients or gradients have other shapes.
    pub fn backward(
        &self,
        activations: &mut Activations,
        coefficients: &Coefficients,
        gradients: &mut Gradients,
    ) {
        let a = activations;
        let is_frozen = self.options.has_frozen_encoder;
        let seed = a.seed.expect("a backward pass follows a forward pass in training mode");
        assert_eq!(
            gradients.skipped > 0,
            is_frozen,
            "gradients are made after the encoder is frozen or not"
        );
        assert_eq!(coefficients.shape(), a.shape(), "coefficients belong to these activations");
        let width = self.encoder.config.hidden;
        let nodes = a.spans.len();
        // Nothing below the mix has gradients if the encoder is frozen.
        let layers = if is_frozen { 0 } else { a.pooled.len() };
        a.d_pooled.resize_with(layers, Vec::new);
        for d in &mut a.d_pooled {
            zeroed(d, nodes * width);
        }
        if let Some(biaffine) = &self.biaffine {
            self.backward_biaffine(biaffine, a, coefficients, gradients);
        }
        for (i, layers) in self.tags.iter().enumerate() {
            let (state, d_logits) = (&a.tags[i], &coefficients.tags[i]);
            if d_logits.iter().all(|&d| d == 0.0) {
                continue;
            }
            layers.linear.backward_weights(gradients, &state.input, d_logits);
            layers.linear.backward_input(
                &self.parameters,
                d_logits,
                &mut a.d_input,
                Write::Replace,
            );
            self.drop(&mut a.d_input, Some(seed), DROP_TAGS + i as u64);
            let pooled: Vec<&[f32]> = a.pooled.iter().map(Vec::as_slice).collect();
            let d_pooled = a.d_pooled.iter_mut().map(Vec::as_mut_slice);
            let weights = layers.mix.of(&self.parameters.values);
            mix::backward(
                &pooled,
                weights,
                &state.shares,
                &a.d_input,
                d_pooled,
                gradients.of(layers.mix),
            );
        }
        if is_frozen {
            return;
        }
        let first = self.options.first_layer(self.encoder.config.layers);
        a.d_hidden.resize_with(a.encoder.hidden.len(), Vec::new);
        for (layer, d) in a.d_hidden.iter_mut().enumerate() {
            zeroed(d, a.encoder.hidden[layer].len());
            if layer >= first {
                self.options.pooling.backward(&a.spans, &a.d_pooled[layer - first], width, d);
            }
        }
        self.encoder.backward(
            &self.parameters,
            gradients,
            Some(seed),
            &mut a.encoder,
            &mut a.d_hidden,
        );
    }

    fn backward_biaffine(
        &self,
        biaffine: &Biaffine,
        a: &mut Activations,
        coefficients: &Coefficients,
        gradients: &mut Gradients,
    ) {
        let values = &self.parameters.values;
        let nodes = a.spans.len();
        for (d, width) in a.d_parts.iter_mut().zip(self.parts()) {
            zeroed(d, nodes * width);
        }
        let width = self.options.arc_mlp;
        if width > 0 {
            zeroed(&mut a.d_transformed, nodes * width);
            for sentence in 0..a.sentences() {
                let rows = a.node_starts[sentence] * width..a.node_starts[sentence + 1] * width;
                let nodes = a.node_starts[sentence + 1] - a.node_starts[sentence];
                a.d_scores.clear();
                a.d_scores.extend_from_slice(
                    &coefficients.arcs[a.score_starts[sentence]..a.score_starts[sentence + 1]],
                );
                for (head, row) in a.d_scores.chunks_exact_mut(nodes).enumerate() {
                    row[0] = 0.0;
                    row[head] = 0.0;
                }
                biaffine::arcs_backward(
                    &a.parts[0][rows.clone()],
                    &a.transformed[rows.clone()],
                    biaffine.arc_bias.of(values),
                    &a.d_scores,
                    &mut a.d_parts[0][rows.clone()],
                    &mut a.d_transformed[rows],
                    gradients.of(biaffine.arc_bias),
                );
            }
            let d_transformed = View::new(&a.d_transformed, nodes, width);
            let modifiers = View::new(&a.parts[1], nodes, width);
            let d_weight = gradients.of(biaffine.arc_weight);
            multiply(d_transformed.transposed(), modifiers, 1.0, d_weight, width, Write::Add);
            let weight = View::new(biaffine.arc_weight.of(values), width, width);
            multiply(d_transformed, weight, 1.0, &mut a.d_parts[1], width, Write::Replace);
        }
        if let Some(labels) =
            biaffine.labels.as_ref().filter(|_| !coefficients.label_arcs.is_empty())
        {
            let (width, count) = (self.options.label_mlp, self.options.labels);
            zeroed(&mut a.d_bilinear, nodes * count * width);
            zeroed(&mut a.d_rest, nodes * count);
            for (&(sentence, head, modifier), d) in
                coefficients.label_arcs.iter().zip(coefficients.labels.chunks(count))
            {
                let start = a.node_starts[sentence];
                let (head, modifier) = (start + head, start + modifier);
                biaffine::labels_backward(
                    &a.parts[2][head * width..][..width],
                    &a.bilinear[modifier * count * width..][..count * width],
                    d,
                    &mut a.d_parts[2][head * width..][..width],
                    &mut a.d_bilinear[modifier * count * width..][..count * width],
                    &mut a.d_rest[modifier * count..][..count],
                );
            }
            labels.bilinear.backward_weights(gradients, &a.parts[3], &a.d_bilinear);
            labels.rest.backward_weights(gradients, &a.parts[3], &a.d_rest);
            labels.bilinear.backward_input(
                &self.parameters,
                &a.d_bilinear,
                &mut a.d_parts[3],
                Write::Replace,
            );
            labels.rest.backward_input(&self.parameters, &a.d_rest, &mut a.d_parts[3], Write::Add);
        }
        a.d_mlp.clear();
        for node in 0..nodes {
            for (d, width) in a.d_parts.iter().zip(self.parts()) {
                a.d_mlp.extend_from_slice(&d[node * width..][..width]);
            }
        }
        self.drop(&mut a.d_mlp, a.seed, DROP_MLP);
        activation::backward(Activation::LeakyRelu, &a.mlp_inner, &mut a.d_mlp);
        biaffine.mlp.backward_weights(gradients, &a.input, &a.d_mlp);
        biaffine.mlp.backward_input(&self.parameters, &a.d_mlp, &mut a.d_input, Write::Replace);
        self.drop(&mut a.d_input, a.seed, DROP_INPUT);
        let pooled: Vec<&[f32]> = a.pooled.iter().map(Vec::as_slice).collect();
        let d_pooled = a.d_pooled.iter_mut().map(Vec::as_mut_slice);
        let weights = biaffine.mix.of(values);
        mix::backward(
            &pooled,
            weights,
            &a.shares,
            &a.d_input,
            d_pooled,
            gradients.of(biaffine.mix),
        );
    }
}
