//! Networks as named tensors, a description in JSON, and the text of a tokenizer; and 8-bit weights.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tutte_linear::{Checkpointed, Checksum, Codec};

use super::Network;
use crate::config::EncoderConfig;
use crate::encoder::{Encoder, Front, HashedWords, QuantizedEncoder, TABLE_NAME, linear_name};
use crate::error::Error;
use crate::options::NetworkOptions;
use crate::parameters::{ORIGIN, Parameters, Role, Tensor, TensorSource};
use crate::quantized::{QuantizedMatrix, is_scale};
use crate::subwords::Subwords;

/// Everything of a network that is not a number of a tensor.
#[derive(Serialize, Deserialize)]
struct Description {
    encoder: EncoderConfig,
    options: NetworkOptions,
    /// Hashed words of an encoder without pretrained weights.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    hashed_words: Option<HashedWords>,
    is_quantized: bool,
}

const SCALES: &str = ".scales";

/// Number of columns that share a scale. Rows of tables are divided, because a few columns of them are much larger than
/// the others.
fn scale_group(role: Role, columns: usize) -> usize {
    const TABLE_GROUP: usize = 64;
    if role == Role::Table && columns.is_multiple_of(TABLE_GROUP) { TABLE_GROUP } else { columns }
}

impl Network {
    /// Describes the network in JSON: sizes, options, kind of weights.
    pub fn description(&self) -> String {
        let hashed_words = match &self.front {
            Front::Subwords(_) => None,
            Front::Hashed(hashed) => Some(*hashed),
        };
        let description = Description {
            encoder: self.encoder.config.clone(),
            options: self.options.clone(),
            hashed_words,
            is_quantized: self.is_quantized(),
        };
        serde_json::to_string(&description).expect("sizes and options are valid JSON")
    }

    /// Text of the tokenizer. `None` for an encoder without pretrained weights.
    pub fn tokenizer(&self) -> Option<&[u8]> {
        match &self.front {
            Front::Subwords(subwords) => Some(subwords.json()),
            Front::Hashed(_) => None,
        }
    }

    /// Lists all weights as named tensors.
    ///
    /// With 8-bit weights, every matrix is a tensor of bytes, and its scales are a tensor of their own.
    pub fn to_tensors(&self) -> Vec<Tensor<'_>> {
        let mut tensors = Vec::new();
        if let Some(quantized) = &self.encoder.quantized {
            let config = &self.encoder.config;
            let shape = (config.vocabulary, config.hidden);
            push_quantized(&mut tensors, TABLE_NAME, shape, &quantized.table);
            for (layer, matrices) in quantized.layers.iter().enumerate() {
                for (part, matrix) in matrices.iter().enumerate() {
                    let name = format!("{}.weight", linear_name(layer, part));
                    push_quantized(&mut tensors, &name, (matrix.rows, matrix.columns), matrix);
                }
            }
        }
        for parameter in &self.parameters.list {
            let values = parameter.slot.of(&self.parameters.values);
            let name = parameter.name.clone();
            if self.is_quantized() && parameter.role != Role::Vector && !values.is_empty() {
                let group = scale_group(parameter.role, parameter.shape[1]);
                let matrix = QuantizedMatrix::new(values, group);
                let scales = format!("{name}{SCALES}");
                tensors.push(Tensor::f32(scales, vec![matrix.rows], matrix.scales));
                tensors.push(Tensor::i8(name, parameter.shape.clone(), matrix.values));
            } else {
                tensors.push(Tensor::f32(name, parameter.shape.clone(), values));
            }
        }
        tensors
    }

    /// Puts a network together again from [`Network::description`], [`Network::tokenizer`] and
    /// [`Network::to_tensors`]. Tensors with other names are ignored.
    ///
    /// # Errors
    ///
    /// If the parts are damaged or do not belong together.
    pub fn from_parts(
        description: &str,
        tokenizer: Option<&[u8]>,
        tensors: Vec<Tensor<'_>>,
    ) -> Result<Self, Error> {
        let error = damaged;
        let Description { encoder: config, options, hashed_words, is_quantized } =
            Description::read(description)?;
        let front = match (hashed_words, tokenizer) {
            (Some(hashed), _) => {
                if !hashed.is_valid() || hashed.vocabulary() != config.vocabulary {
                    return Err(error("the table of hashed words has another size".into()));
                }
                Front::Hashed(hashed)
            }
            (None, Some(json)) => {
                let subwords = Subwords::new("the network's tokenizer", json, config.vocabulary)?;
                Front::Subwords(Box::new(subwords))
            }
            (None, None) => return Err(error("a pretrained encoder needs its tokenizer".into())),
        };
        if config.positions < 3 {
            let positions = config.positions;
            return Err(error(format!("{positions} positions are too few for a sentence")));
        }
        // A description can declare any size. It is believed only as far as there are tensors for it.
        let available = tensors.iter().map(Tensor::len).sum();
        let declared = encoder_size(&config).saturating_add(scorer_size(&config, &options));
        if declared > available {
            return Err(error(format!(
                "it declares {declared} weights, but the tensors hold {available}"
            )));
        }
        let mut source = TensorSource::new(tensors);
        let mut network = Self::new(config, front, options, Parameters::unset(), is_quantized)?;
        if is_quantized {
            network.encoder.quantized = Some(take_encoder(&mut source, &network.encoder)?);
        }
        for parameter in &network.parameters.list {
            let (name, shape) = (&parameter.name, &parameter.shape);
            let values = &mut network.parameters.values[parameter.slot.range()];
            if is_quantized && parameter.role != Role::Vector && !values.is_empty() {
                let group = scale_group(parameter.role, shape[1]);
                let matrix = take_quantized(&mut source, name, (shape[0], shape[1]), group)?;
                matrix.dequantize(values);
            } else {
                values.copy_from_slice(&source.take_f32(name, shape)?);
            }
        }
        Ok(network)
    }

    /// Lists the weights above the encoder as named tensors. [`Network::from_parts_over`] finds the encoder in its folder.
    pub fn to_tensors_above_encoder(&self) -> Vec<Tensor<'_>> {
        let above = |tensor: &Tensor<'_>| self.is_above_encoder(&tensor.name);
        self.to_tensors().into_iter().filter(above).collect()
    }

    /// Returns `true` if a parameter is not one of the encoder.
    fn is_above_encoder(&self, name: &str) -> bool {
        let found = self.parameters.list.iter().find(|parameter| parameter.name == name);
        found.is_some_and(|parameter| parameter.slot.start >= self.parameters.encoder_len)
    }

    /// Returns a hash of the encoder: sizes, tokenizer and weights of 32 bits.
    pub fn encoder_checksum(&self) -> String {
        let config = serde_json::to_string(&self.encoder.config).expect("sizes are valid JSON");
        let mut hash = Checksum::default();
        hash.update_line(&config);
        hash.update(self.tokenizer().unwrap_or_default());
        let mut bytes = Vec::new();
        for values in self.parameters.values[..self.parameters.encoder_len].chunks(1 << 14) {
            bytes.clear();
            bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            hash.update(&bytes);
        }
        hash.to_string()
    }

    /// Puts a network together again from [`Network::description`], the folder of its encoder and
    /// [`Network::to_tensors_above_encoder`].
    ///
    /// Compare [`Network::encoder_checksum`] to be sure that the folder has the encoder that the network was trained
    /// over.
    ///
    /// # Errors
    ///
    /// If the folder cannot be opened, or if the parts are damaged or do not belong together.
    pub fn from_parts_over(
        description: &str,
        folder: &Path,
        tensors: Vec<Tensor<'_>>,
    ) -> Result<Self, Error> {
        let Description { encoder: config, options, hashed_words, is_quantized } =
            Description::read(description)?;
        if is_quantized || hashed_words.is_some() {
            return Err(damaged("such an encoder is never outside of the model".into()));
        }
        let available = tensors.iter().map(Tensor::len).sum();
        let declared = scorer_size(&config, &options);
        if declared > available {
            return Err(damaged(format!(
                "it declares {declared} weights above the encoder, but the tensors hold {available}"
            )));
        }
        let mut network = Self::open(folder, options)?;
        if network.encoder.config != config {
            let problem = "it describes another encoder than the model was trained over".into();
            let origin = folder.join("config.json").display().to_string();
            return Err(Error::Config { origin, problem });
        }
        let mut source = TensorSource::new(tensors);
        let encoder_len = network.parameters.encoder_len;
        for parameter in &network.parameters.list {
            if parameter.slot.start >= encoder_len {
                let values = source.take_f32(&parameter.name, &parameter.shape)?;
                network.parameters.values[parameter.slot.range()].copy_from_slice(&values);
            }
        }
        Ok(network)
    }

    /// Turns the weights into 8-bit weights: about a quarter of the size, and faster. Such a network
    /// cannot be trained.
    ///
    /// The encoder computes in 8 bits. The scorers' matrices are rounded to 8 bits, and compute in 32.
    pub fn quantize(&self) -> Self {
        if self.is_quantized() {
            return self.clone();
        }
        let values = &self.parameters.values;
        let config = self.encoder.config.clone();
        let group = scale_group(Role::Table, config.hidden);
        let table = QuantizedMatrix::new(self.encoder.table.of(values), group);
        let layers = self.encoder.layers().iter().map(|layer| {
            layer.linear.map(|linear| {
                QuantizedMatrix::new(linear.weight.of(values), linear.inputs).packed()
            })
        });
        let quantized = QuantizedEncoder { table, layers: layers.collect() };
        let (front, options) = (self.front.clone(), self.options.clone());
        let mut network = Self::new(config, front, options, Parameters::unset(), true)
            .expect("options were checked when this network was made");
        network.encoder.quantized = Some(quantized);
        for parameter in &network.parameters.list {
            let same = self.parameters.list.iter().find(|other| other.name == parameter.name);
            let from = same.expect("both networks have the same parameters").slot.of(values);
            let to = &mut network.parameters.values[parameter.slot.range()];
            if parameter.role != Role::Vector && !to.is_empty() {
                let group = scale_group(parameter.role, parameter.shape[1]);
                QuantizedMatrix::stable(from, group).dequantize(to);
            } else {
                to.copy_from_slice(from);
            }
        }
        network
    }
}

/// The weights that training moves. All others are those that the network was made with.
impl Checkpointed for Network {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        let untrained = self.untrained_weights();
        codec.table(&mut self.parameters.values[untrained..])
    }
}

/// Number of weights of an encoder, without declaring it.
fn encoder_size(config: &EncoderConfig) -> usize {
    let layer: u128 = config.linear_sizes().iter().map(|&(a, b)| product(a, b)).sum();
    // Rotary positions have no table.
    let positions = if config.modern.is_some() { 0 } else { config.positions };
    let tables = product(config.vocabulary + positions, config.hidden);
    (layer * config.layers as u128 + tables).try_into().unwrap_or(usize::MAX)
}

/// Number of weights above an encoder, without declaring them.
fn scorer_size(config: &EncoderConfig, options: &NetworkOptions) -> usize {
    let labels = if options.labels > 0 { options.label_mlp } else { 0 };
    let arcs = options.arc_mlp;
    let tags: usize = options.tag_heads.iter().map(|head| head.classes).sum();
    let scorers = product(arcs, arcs)
        + product(options.labels, labels * labels)
        + product(2 * (arcs + labels) + tags, config.hidden);
    scorers.try_into().unwrap_or(usize::MAX)
}

fn product(a: usize, b: usize) -> u128 {
    a as u128 * b as u128
}

/// Origin of a description, for errors.
const DESCRIPTION: &str = "the network's description";

fn damaged(problem: String) -> Error {
    Error::Config { origin: DESCRIPTION.into(), problem }
}

impl Description {
    /// Reads and checks a description.
    fn read(text: &str) -> Result<Self, Error> {
        let description: Self =
            serde_json::from_str(text).map_err(|e| damaged(format!("not understood: {e}")))?;
        description.encoder.check(DESCRIPTION)?;
        description.options.check(description.encoder.layers)?;
        Ok(description)
    }
}

fn push_quantized<'a>(
    tensors: &mut Vec<Tensor<'a>>,
    name: &str,
    (rows, columns): (usize, usize),
    matrix: &'a QuantizedMatrix,
) {
    tensors.push(Tensor::i8(name, vec![rows, columns], matrix.values.as_slice()));
    let scales = matrix.scales.as_slice();
    tensors.push(Tensor::f32(format!("{name}{SCALES}"), vec![matrix.rows], scales));
}

/// Takes a matrix of which `group` columns share a scale.
fn take_quantized(
    source: &mut TensorSource<'_>,
    name: &str,
    (rows, columns): (usize, usize),
    group: usize,
) -> Result<QuantizedMatrix, Error> {
    let values = source.take_i8(name, &[rows, columns])?.into_owned();
    let rows = rows * columns / group;
    if values.contains(&i8::MIN) {
        let problem = format!("the tensor \"{name}\" holds −128, which 8-bit weights never are");
        return Err(Error::Config { origin: ORIGIN.into(), problem });
    }
    let scales = source.take_f32(&format!("{name}{SCALES}"), &[rows])?.into_owned();
    if let Some(scale) = scales.iter().find(|scale| !is_scale(**scale)) {
        let problem = format!("a scale of the tensor \"{name}\" is {scale}: the file is damaged");
        return Err(Error::Config { origin: ORIGIN.into(), problem });
    }
    Ok(QuantizedMatrix::from_parts(rows, group, values, scales))
}

fn take_encoder(
    source: &mut TensorSource<'_>,
    encoder: &Encoder,
) -> Result<QuantizedEncoder, Error> {
    let config = &encoder.config;
    let group = scale_group(Role::Table, config.hidden);
    let table = take_quantized(source, TABLE_NAME, (config.vocabulary, config.hidden), group)?;
    let mut layers = Vec::new();
    for layer in 0..config.layers {
        let sizes = config.linear_sizes();
        let mut take = |part: usize| -> Result<_, Error> {
            let name = format!("{}.weight", linear_name(layer, part));
            let (inputs, outputs) = sizes[part];
            Ok(take_quantized(source, &name, (outputs, inputs), inputs)?.packed())
        };
        layers.push([take(0)?, take(1)?, take(2)?, take(3)?]);
    }
    Ok(QuantizedEncoder { table, layers })
}
