//! Sizes of an encoder, and the ecosystem's `config.json`, from which they are read.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Error;
use crate::ops::activation::Activation;

/// Family of pretrained encoders: decides the names of tensors and the meaning of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Family {
    /// BERT.
    Bert,
    /// RoBERTa, and CamemBERT, which has the same tensors.
    Roberta,
    /// XLM-RoBERTa: RoBERTa's tensors with another tokenizer.
    XlmRoberta,
    /// DistilBERT.
    DistilBert,
    /// ModernBERT: rotary positions, local attention, gated feed-forward parts.
    ModernBert,
}

impl Family {
    /// Start of the names of tensors in models with heads.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Family::Bert => "bert.",
            Family::Roberta | Family::XlmRoberta => "roberta.",
            Family::DistilBert => "distilbert.",
            Family::ModernBert => "model.",
        }
    }
}

/// Sizes and constants of an encoder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EncoderConfig {
    /// Width of the vector of a sub-word.
    pub hidden: usize,
    /// Number of layers.
    pub layers: usize,
    /// Number of attention heads of a layer.
    pub heads: usize,
    /// Width of the feed-forward part of a layer.
    pub intermediate: usize,
    /// Number of rows of the embedding table.
    pub vocabulary: usize,
    /// Length of the longest sequence.
    pub positions: usize,
    /// Non-linear function of the feed-forward part.
    pub activation: Activation,
    /// Small number that keeps layer normalisation finite.
    pub epsilon: f32,
    /// Dropout of vectors during training.
    pub dropout: f32,
    /// Dropout of attention during training.
    pub attention_dropout: f32,
    /// Layers of ModernBERT's kind; `None` for layers of BERT's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modern: Option<ModernLayers>,
}

/// Constants of the layers of ModernBERT (Warner et al. 2024).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModernLayers {
    /// Base of the rotary angles in layers that see all rows.
    pub global_theta: f32,
    /// Base of the rotary angles in local layers.
    pub local_theta: f32,
    /// Greatest distance that local layers see.
    pub window: usize,
    /// For each layer, `true` if it is local.
    pub is_local: Vec<bool>,
}

/// Longest sequence of an encoder with rotary positions. Longer sentences are seen through windows: memory grows with
/// the square of a sequence.
const LONGEST_ROTARY: usize = 1024;

/// Largest size that is believed. It keeps products of sizes far from overflow.
const LARGEST: u64 = 1 << 24;

/// Content of a `config.json`.
#[derive(Clone, Debug)]
pub(crate) struct FolderConfig {
    pub(crate) family: Family,
    pub(crate) encoder: EncoderConfig,
    /// Number of rows of the position table that come before position 0.
    pub(crate) position_offset: usize,
    /// Number of token types; only the first is used. Zero if there is no such table.
    pub(crate) token_types: usize,
    /// Biases that ModernBERT's file has. Others are zero at first.
    pub(crate) biases: ModernBiases,
}

/// Parts of ModernBERT's layers that have biases.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ModernBiases {
    pub(crate) norms: bool,
    pub(crate) attention: bool,
    pub(crate) feed_forward: bool,
}

/// Reads fields of a JSON object.
struct Fields<'a> {
    origin: &'a str,
    value: &'a Value,
}

impl Fields<'_> {
    fn error(&self, problem: String) -> Error {
        Error::Config { origin: self.origin.into(), problem }
    }

    fn size(&self, name: &str) -> Result<usize, Error> {
        let found = self.value.get(name);
        let found = found.ok_or_else(|| {
            self.error(format!("\"{name}\" is missing. Is this the encoder's own config.json?"))
        })?;
        match found.as_u64() {
            Some(size @ 1..=LARGEST) => Ok(size as usize),
            _ => Err(self.error(format!(
                "\"{name}\" is {found}, but it must be a whole number from 1 to {LARGEST}"
            ))),
        }
    }

    /// Reads a size that may be missing.
    fn size_or(&self, name: &str, default: usize) -> Result<usize, Error> {
        match self.value.get(name) {
            None | Some(Value::Null) => Ok(default),
            Some(_) => self.size(name),
        }
    }

    /// Reads the base of rotary angles: in the object of a kind of layers, or under its old name.
    fn theta(&self, kind: &str, old: &str, default: f32) -> Result<f32, Error> {
        let of_kind = self.value.get("rope_parameters").and_then(|all| all.get(kind));
        let rotary = of_kind.and_then(|of_kind| of_kind.get("rope_type"));
        if let Some(rotary) = rotary.filter(|rotary| rotary.as_str() != Some("default")) {
            return Err(self.error(format!(
                "\"rope_type\" of \"{kind}\" is {rotary}. Only \"default\" is supported"
            )));
        }
        let found = of_kind.and_then(|of_kind| of_kind.get("rope_theta"));
        match found.or_else(|| self.value.get(old)) {
            None | Some(Value::Null) => Ok(default),
            Some(found) => {
                let theta = found.as_f64().map(|theta| theta as f32);
                theta.filter(|theta| is_theta(*theta)).ok_or_else(|| {
                    self.error(format!("\"{old}\" is {found}, but it must be a number from 1"))
                })
            }
        }
    }

    /// Returns for each layer of ModernBERT if it is local.
    fn local_layers(&self, layers: usize) -> Result<Vec<bool>, Error> {
        let Some(kinds) = self.value.get("layer_types").filter(|kinds| !kinds.is_null()) else {
            let every = self.size_or("global_attn_every_n_layers", 3)?;
            return Ok((0..layers).map(|layer| layer % every != 0).collect());
        };
        let is_local = |kind: &Value| match kind.as_str() {
            Some("sliding_attention") => Some(true),
            Some("full_attention") => Some(false),
            _ => None,
        };
        let kinds: Option<Vec<bool>> =
            kinds.as_array().and_then(|kinds| kinds.iter().map(is_local).collect());
        kinds.filter(|kinds| kinds.len() == layers).ok_or_else(|| {
            self.error(format!(
                "\"layer_types\" must list {layers} times \"full_attention\" or \"sliding_attention\""
            ))
        })
    }

    fn probability(&self, name: &str, default: f32) -> Result<f32, Error> {
        match self.value.get(name) {
            None | Some(Value::Null) => Ok(default),
            Some(found) => match found.as_f64() {
                Some(p) if (0.0..1.0).contains(&p) => Ok(p as f32),
                _ => Err(self.error(format!(
                    "\"{name}\" is {found}, but it must be a number from 0 to below 1"
                ))),
            },
        }
    }

    fn activation(&self, name: &str) -> Result<Activation, Error> {
        match self.value.get(name).and_then(Value::as_str) {
            Some("gelu") | None => Ok(Activation::Gelu),
            Some("gelu_new" | "gelu_fast" | "gelu_pytorch_tanh") => Ok(Activation::GeluNew),
            Some("relu") => Ok(Activation::Relu),
            Some(other) => Err(self.error(format!(
                "\"{name}\" is \"{other}\". Supported are gelu, gelu_new and relu"
            ))),
        }
    }
}

impl FolderConfig {
    /// Reads the text of a `config.json`.
    pub(crate) fn parse(origin: &str, text: &[u8]) -> Result<Self, Error> {
        let value: Value = serde_json::from_slice(text).map_err(|e| Error::Config {
            origin: origin.into(),
            problem: format!("not JSON: {e}"),
        })?;
        let fields = Fields { origin, value: &value };
        let family = match value.get("model_type").and_then(Value::as_str) {
            Some("bert") => Family::Bert,
            Some("roberta" | "camembert") => Family::Roberta,
            Some("xlm-roberta") => Family::XlmRoberta,
            Some("distilbert") => Family::DistilBert,
            Some("modernbert") => return Self::modern(&fields),
            other => {
                let other = other.map_or("missing".to_owned(), |other| format!("\"{other}\""));
                return Err(fields.error(format!(
                    "\"model_type\" is {other}. Supported are bert, roberta, xlm-roberta, camembert, distilbert \
                     and modernbert"
                )));
            }
        };
        let kind =
            value.get("position_embedding_type").and_then(Value::as_str).unwrap_or("absolute");
        if kind != "absolute" {
            return Err(fields.error(format!(
                "\"position_embedding_type\" is \"{kind}\". Only \"absolute\" is supported"
            )));
        }
        let is_distil = family == Family::DistilBert;
        let name = |plain, distil| if is_distil { distil } else { plain };
        let position_offset = match (family, value.get("pad_token_id")) {
            (Family::Roberta | Family::XlmRoberta, None) => 2,
            (Family::Roberta | Family::XlmRoberta, Some(id)) => match id.as_u64() {
                Some(id @ 0..=LARGEST) => id as usize + 1,
                _ => {
                    return Err(fields.error(format!(
                        "\"pad_token_id\" is {id}, but it must be a sub-word's number"
                    )));
                }
            },
            _ => 0,
        };
        let rows = fields.size("max_position_embeddings")?;
        // [CLS], one sub-word and [SEP] must fit.
        if rows < position_offset + 3 {
            return Err(fields
                .error(format!("\"max_position_embeddings\" is {rows}: too few for a sentence")));
        }
        let epsilon = if is_distil {
            Some(1e-12)
        } else {
            value.get("layer_norm_eps").map_or(Some(1e-12), Value::as_f64)
        };
        let epsilon = epsilon.filter(|e| (0.0..1.0).contains(e));
        let epsilon = epsilon.ok_or_else(|| {
            fields.error("\"layer_norm_eps\" must be a number from 0 to below 1".into())
        })?;
        let encoder = EncoderConfig {
            hidden: fields.size(name("hidden_size", "dim"))?,
            layers: fields.size(name("num_hidden_layers", "n_layers"))?,
            heads: fields.size(name("num_attention_heads", "n_heads"))?,
            intermediate: fields.size(name("intermediate_size", "hidden_dim"))?,
            vocabulary: fields.size("vocab_size")?,
            positions: rows - position_offset,
            activation: fields.activation(name("hidden_act", "activation"))?,
            epsilon: epsilon as f32,
            dropout: fields.probability(name("hidden_dropout_prob", "dropout"), 0.1)?,
            attention_dropout: fields
                .probability(name("attention_probs_dropout_prob", "attention_dropout"), 0.1)?,
            modern: None,
        };
        encoder.check(origin)?;
        let token_types = if is_distil { 0 } else { fields.size("type_vocab_size")? };
        let biases = ModernBiases::default();
        Ok(Self { family, encoder, position_offset, token_types, biases })
    }

    /// Reads the fields of ModernBERT.
    fn modern(fields: &Fields<'_>) -> Result<Self, Error> {
        let layers = fields.size("num_hidden_layers")?;
        let global_theta = fields.theta("full_attention", "global_rope_theta", 160_000.0)?;
        let local_default =
            if fields.value.get("local_rope_theta").is_some() { global_theta } else { 10_000.0 };
        let modern = ModernLayers {
            global_theta,
            local_theta: fields.theta("sliding_attention", "local_rope_theta", local_default)?,
            window: fields.size_or("local_attention", 128)? / 2,
            is_local: fields.local_layers(layers)?,
        };
        let rows = fields.size("max_position_embeddings")?;
        if rows < 3 {
            return Err(fields
                .error(format!("\"max_position_embeddings\" is {rows}: too few for a sentence")));
        }
        let epsilon = fields.value.get("norm_eps").map_or(Some(1e-5), Value::as_f64);
        let epsilon = epsilon.filter(|e| (0.0..1.0).contains(e));
        let epsilon = epsilon.ok_or_else(|| {
            fields.error("\"norm_eps\" must be a number from 0 to below 1".into())
        })?;
        let encoder = EncoderConfig {
            hidden: fields.size("hidden_size")?,
            layers,
            heads: fields.size("num_attention_heads")?,
            intermediate: fields.size("intermediate_size")?,
            vocabulary: fields.size("vocab_size")?,
            positions: rows.min(LONGEST_ROTARY),
            activation: fields.activation("hidden_activation")?,
            epsilon: epsilon as f32,
            dropout: fields.probability("mlp_dropout", 0.0)?,
            attention_dropout: fields.probability("attention_dropout", 0.0)?,
            modern: Some(modern),
        };
        encoder.check(fields.origin)?;
        let is_set = |name: &str| fields.value.get(name).and_then(Value::as_bool) == Some(true);
        let biases = ModernBiases {
            norms: is_set("norm_bias"),
            attention: is_set("attention_bias"),
            feed_forward: is_set("mlp_bias"),
        };
        let family = Family::ModernBert;
        Ok(Self { family, encoder, position_offset: 0, token_types: 0, biases })
    }
}

/// Returns `true` if a number can be the base of rotary angles.
fn is_theta(theta: f32) -> bool {
    theta.is_finite() && theta >= 1.0
}

impl EncoderConfig {
    /// Checks sizes against each other.
    pub(crate) fn check(&self, origin: &str) -> Result<(), Error> {
        let sizes = [
            self.hidden,
            self.layers,
            self.heads,
            self.intermediate,
            self.vocabulary,
            self.positions,
        ];
        let error = |problem: String| Err(Error::Config { origin: origin.into(), problem });
        if sizes.iter().any(|&size| size == 0 || size as u64 > LARGEST) {
            return error(format!("the sizes {sizes:?} must lie between 1 and {LARGEST}"));
        }
        if !self.hidden.is_multiple_of(self.heads) {
            return error(format!(
                "the hidden size {} is not a multiple of the {} attention heads",
                self.hidden, self.heads
            ));
        }
        let probabilities = [self.dropout, self.attention_dropout, self.epsilon];
        if !probabilities.iter().all(|p| (0.0..1.0).contains(p)) {
            return error("dropout and epsilon must lie from 0 to below 1".into());
        }
        let Some(modern) = &self.modern else { return Ok(()) };
        if !(self.hidden / self.heads).is_multiple_of(2) {
            return error(format!(
                "rotary positions need attention heads of an even width, and {} / {} is odd",
                self.hidden, self.heads
            ));
        }
        if self.positions > LONGEST_ROTARY {
            let positions = self.positions;
            return error(format!("{positions} positions are more than {LONGEST_ROTARY}"));
        }
        if modern.is_local.len() != self.layers {
            let (found, layers) = (modern.is_local.len(), self.layers);
            return error(format!("{found} layers are local or not, but there are {layers}"));
        }
        if !is_theta(modern.global_theta) || !is_theta(modern.local_theta) {
            return error("the bases of rotary angles must be numbers from 1".into());
        }
        Ok(())
    }
}
