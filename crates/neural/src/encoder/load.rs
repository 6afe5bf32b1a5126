//! Pretrained weights in the ecosystem's format: `model.safetensors` beside its `config.json`.
//!
//! Names and shapes are checked before anything is allocated. Queries, keys and values become one matrix. The
//! vector of the first token type is the same for every sub-word, so it is added to the positions.

use std::path::Path;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use super::Encoder;
use crate::config::{EncoderConfig, Family, FolderConfig};
use crate::error::Error;
use crate::layers::Norm;
use crate::ops::add_scaled;
use crate::parameters::{Parameters, Slot, check_finite};
use crate::subwords::Subwords;

/// Encoder folder, read and checked.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) config: FolderConfig,
    pub(crate) subwords: Subwords,
    weights: Vec<u8>,
    origin: String,
}

fn read(folder: &Path, name: &str) -> Result<(String, Vec<u8>), Error> {
    let path = folder.join(name);
    match std::fs::read(&path) {
        Ok(bytes) => Ok((path.display().to_string(), bytes)),
        Err(source) => Err(Error::Read { path, source }),
    }
}

impl Folder {
    pub(crate) fn open(folder: &Path) -> Result<Self, Error> {
        let (origin, bytes) = read(folder, "config.json")?;
        let config = FolderConfig::parse(&origin, &bytes)?;
        let (origin, bytes) = read(folder, "tokenizer.json")?;
        let subwords = Subwords::new(&origin, &bytes, config.encoder.vocabulary)?;
        let (origin, weights) = read(folder, "model.safetensors")?;
        let folder = Self { config, subwords, weights, origin };
        let source = folder.source()?;
        // Stops at the first tensor that is not as declared, before memory of the declared sizes is taken.
        for_each_tensor(&folder.config, |tensor| source.check(&tensor))?;
        Ok(folder)
    }

    fn source(&self) -> Result<Source<'_>, Error> {
        let tensors = SafeTensors::deserialize(&self.weights);
        let tensors =
            tensors.map_err(|source| Error::Format { origin: self.origin.clone(), source })?;
        let word = self.config.family.prefix();
        let prefix = if tensors.iter().any(|(name, _)| name.starts_with(word)) { word } else { "" };
        Ok(Source { tensors, prefix, origin: &self.origin })
    }

    /// Copies the weights to their places.
    pub(crate) fn fill<'a>(
        &self,
        encoder: &'a Encoder,
        parameters: &mut Parameters,
    ) -> Result<(), Error> {
        let source = self.source()?;
        let mut buffer = Vec::new();
        for_each_tensor(&self.config, |tensor| {
            source.read(&tensor, &mut buffer)?;
            let width = self.config.encoder.hidden;
            let layer = |i: usize| &encoder.layers()[i];
            let of =
                |norm: Option<&'a Norm>| norm.expect("tensors are listed for norms that exist");
            let (slot, start): (Slot, usize) = match tensor.place {
                Place::Table => (encoder.table, 0),
                Place::Positions => {
                    buffer.drain(..self.config.position_offset * width);
                    (encoder.positions, 0)
                }
                Place::TokenTypes => {
                    for row in parameters.values[encoder.positions.range()].chunks_exact_mut(width)
                    {
                        add_scaled(row, 1.0, &buffer[..width]);
                    }
                    return Ok(());
                }
                Place::EmbeddingNorm(part) => (encoder.norm().slot(part), 0),
                Place::FinalNorm(part) => (of(encoder.final_norm()).slot(part), 0),
                Place::AttentionNorm(i, part) => {
                    (of(layer(i).attention_norm.as_ref()).slot(part), 0)
                }
                Place::OutputNorm(i, part) => (layer(i).output_norm.slot(part), 0),
                Place::Weight(i, linear, offset) => {
                    (layer(i).linear[linear].weight, offset * width * width)
                }
                Place::Bias(i, linear, offset) => (layer(i).linear[linear].bias, offset * width),
            };
            parameters.values[slot.range()][start..][..buffer.len()].copy_from_slice(&buffer);
            Ok(())
        })
    }
}

/// Calls `f` for each tensor of the encoder.
pub(crate) fn for_each_tensor(
    config: &FolderConfig,
    mut f: impl FnMut(Wanted) -> Result<(), Error>,
) -> Result<(), Error> {
    if config.family == Family::ModernBert {
        return for_each_modern_tensor(config, f);
    }
    let EncoderConfig { hidden, vocabulary, positions, layers, .. } = config.encoder;
    let mut matrix = |name: &str, rows: usize, columns: usize, place| {
        f(Wanted { name: name.to_owned(), shape: vec![rows, columns], place })
    };
    matrix("embeddings.word_embeddings.weight", vocabulary, hidden, Place::Table)?;
    let rows = positions + config.position_offset;
    matrix("embeddings.position_embeddings.weight", rows, hidden, Place::Positions)?;
    if config.token_types > 0 {
        let name = "embeddings.token_type_embeddings.weight";
        matrix(name, config.token_types, hidden, Place::TokenTypes)?;
    }
    let mut norm = |name: String, place: fn(usize, Part) -> Place, i: usize| {
        f(Wanted {
            name: format!("{name}.weight"),
            shape: vec![hidden],
            place: place(i, Part::Gain),
        })?;
        f(Wanted { name: format!("{name}.bias"), shape: vec![hidden], place: place(i, Part::Bias) })
    };
    norm("embeddings.LayerNorm".into(), |_, part| Place::EmbeddingNorm(part), 0)?;
    let is_distil = config.family == Family::DistilBert;
    // Name, linear layer and part of it; the sizes are those of the linear layer.
    let linears = if is_distil {
        [
            ("attention.q_lin", 0, 0),
            ("attention.k_lin", 0, 1),
            ("attention.v_lin", 0, 2),
            ("attention.out_lin", 1, 0),
            ("ffn.lin1", 2, 0),
            ("ffn.lin2", 3, 0),
        ]
    } else {
        [
            ("attention.self.query", 0, 0),
            ("attention.self.key", 0, 1),
            ("attention.self.value", 0, 2),
            ("attention.output.dense", 1, 0),
            ("intermediate.dense", 2, 0),
            ("output.dense", 3, 0),
        ]
    };
    let norms = if is_distil {
        ["sa_layer_norm", "output_layer_norm"]
    } else {
        ["attention.output.LayerNorm", "output.LayerNorm"]
    };
    for i in 0..layers {
        let layer =
            if is_distil { format!("transformer.layer.{i}") } else { format!("encoder.layer.{i}") };
        for (name, linear, offset) in linears {
            let (inputs, outputs) = config.encoder.linear_sizes()[linear];
            let outputs = if linear == 0 { hidden } else { outputs };
            let place = Place::Weight(i, linear, offset);
            f(Wanted {
                name: format!("{layer}.{name}.weight"),
                shape: vec![outputs, inputs],
                place,
            })?;
            let place = Place::Bias(i, linear, offset);
            f(Wanted { name: format!("{layer}.{name}.bias"), shape: vec![outputs], place })?;
        }
        let mut norm = |name: &str, place: fn(usize, Part) -> Place| {
            let name = format!("{layer}.{name}");
            f(Wanted {
                name: format!("{name}.weight"),
                shape: vec![hidden],
                place: place(i, Part::Gain),
            })?;
            f(Wanted {
                name: format!("{name}.bias"),
                shape: vec![hidden],
                place: place(i, Part::Bias),
            })
        };
        norm(norms[0], Place::AttentionNorm)?;
        norm(norms[1], Place::OutputNorm)?;
    }
    Ok(())
}

/// Calls `f` for each tensor of ModernBERT. It has no tables of positions and token types, and biases only if the
/// configuration says so.
fn for_each_modern_tensor(
    config: &FolderConfig,
    mut f: impl FnMut(Wanted) -> Result<(), Error>,
) -> Result<(), Error> {
    let EncoderConfig { hidden, vocabulary, layers, .. } = config.encoder;
    let biases = config.biases;
    let shape = vec![vocabulary, hidden];
    f(Wanted { name: "embeddings.tok_embeddings.weight".into(), shape, place: Place::Table })?;
    let mut pair = |name: String, shapes: [Vec<usize>; 2], places: [Place; 2], has_bias: bool| {
        let [shape, bias_shape] = shapes;
        let [place, bias_place] = places;
        f(Wanted { name: format!("{name}.weight"), shape, place })?;
        if has_bias {
            f(Wanted { name: format!("{name}.bias"), shape: bias_shape, place: bias_place })?;
        }
        Ok(())
    };
    let norm_shapes = || [vec![hidden], vec![hidden]];
    let name = "embeddings.norm".to_owned();
    pair(name, norm_shapes(), [Part::Gain, Part::Bias].map(Place::EmbeddingNorm), biases.norms)?;
    for i in 0..layers {
        let mut norm = |name: &str, place: fn(usize, Part) -> Place| {
            let places = [place(i, Part::Gain), place(i, Part::Bias)];
            pair(format!("layers.{i}.{name}"), norm_shapes(), places, biases.norms)
        };
        if i > 0 {
            norm("attn_norm", Place::AttentionNorm)?;
        }
        norm("mlp_norm", Place::OutputNorm)?;
        let sizes = config.encoder.linear_sizes();
        for (linear, name) in ["attn.Wqkv", "attn.Wo", "mlp.Wi", "mlp.Wo"].into_iter().enumerate() {
            let (inputs, outputs) = sizes[linear];
            let has_bias = if linear < 2 { biases.attention } else { biases.feed_forward };
            let shapes = [vec![outputs, inputs], vec![outputs]];
            let places = [Place::Weight(i, linear, 0), Place::Bias(i, linear, 0)];
            pair(format!("layers.{i}.{name}"), shapes, places, has_bias)?;
        }
    }
    let places = [Part::Gain, Part::Bias].map(Place::FinalNorm);
    pair("final_norm".into(), norm_shapes(), places, biases.norms)
}

/// Half of a layer normalisation.
#[derive(Clone, Copy, Debug)]
enum Part {
    Gain,
    Bias,
}

impl Norm {
    fn slot(&self, part: Part) -> Slot {
        match part {
            Part::Gain => self.gain,
            Part::Bias => self.bias,
        }
    }
}

/// Place of a tensor in the encoder: layer, linear layer, and third of queries, keys and values.
#[derive(Clone, Copy, Debug)]
enum Place {
    Table,
    Positions,
    TokenTypes,
    EmbeddingNorm(Part),
    FinalNorm(Part),
    AttentionNorm(usize, Part),
    OutputNorm(usize, Part),
    Weight(usize, usize, usize),
    Bias(usize, usize, usize),
}

/// Tensor that a file must have.
pub(crate) struct Wanted {
    /// Name without the prefix of the family.
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    place: Place,
}

/// Tensors of a file.
struct Source<'a> {
    tensors: SafeTensors<'a>,
    /// Start of the encoder's names: models with heads put the family's name before them.
    prefix: &'static str,
    origin: &'a str,
}

impl Source<'_> {
    fn find(&self, wanted: &Wanted) -> Result<(String, TensorView<'_>), Error> {
        let name = format!("{}{}", self.prefix, wanted.name);
        // Old files call the weights of a layer normalisation gamma and beta.
        let old = name
            .replace("LayerNorm.weight", "LayerNorm.gamma")
            .replace("LayerNorm.bias", "LayerNorm.beta");
        let found = self.tensors.tensor(&name).or_else(|_| self.tensors.tensor(&old));
        match found {
            Ok(view) => Ok((name, view)),
            Err(_) => Err(Error::MissingTensor { origin: self.origin.into(), name }),
        }
    }

    fn check(&self, wanted: &Wanted) -> Result<(), Error> {
        let (name, view) = self.find(wanted)?;
        if view.shape() != wanted.shape {
            let (found, expected) = (view.shape().to_vec(), wanted.shape.clone());
            return Err(Error::Shape { origin: self.origin.into(), name, found, expected });
        }
        match view.dtype() {
            Dtype::F32 | Dtype::F16 | Dtype::BF16 => Ok(()),
            other => Err(Error::ElementType {
                origin: self.origin.into(),
                name,
                found: format!("{other:?}"),
            }),
        }
    }

    /// Reads a tensor as numbers in single precision.
    fn read(&self, wanted: &Wanted, values: &mut Vec<f32>) -> Result<(), Error> {
        let (name, view) = self.find(wanted)?;
        let data = view.data();
        values.clear();
        match view.dtype() {
            Dtype::F32 => values
                .extend(data.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes))),
            Dtype::BF16 => values.extend(
                data.as_chunks::<2>()
                    .0
                    .iter()
                    .map(|&b| f32::from_bits(u32::from(u16::from_le_bytes(b)) << 16)),
            ),
            _ => {
                values.extend(data.as_chunks::<2>().0.iter().map(|&b| half(u16::from_le_bytes(b))))
            }
        }
        check_finite(self.origin, &name, values)
    }
}

/// Returns the value of a number in half precision (IEEE 754 binary16).
fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from((bits >> 10) & 0x1f);
    let fraction = f32::from(bits & 0x3ff);
    sign * match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2f32.powi(exponent - 25),
    }
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn half_precision() {
        let cases = [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_5e-8),
            (0x0400, 6.103_515_6e-5),
        ];
        for (bits, value) in cases {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7e00).is_nan());
        assert_eq!(half(0xfc00), f32::NEG_INFINITY);
    }
}
