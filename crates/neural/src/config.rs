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
}

impl Family {
    /// Start of the names of tensors in models with heads.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Family::Bert => "bert.",
            Family::Roberta | Family::XlmRoberta => "roberta.",
            Family::DistilBert => "distilbert.",
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
}

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

    fn probability(&self, name: &str) -> Result<f32, Error> {
        match self.value.get(name) {
            None | Some(Value::Null) => Ok(0.1),
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
            other => {
                let other = other.map_or("missing".to_owned(), |other| format!("\"{other}\""));
                return Err(fields.error(format!(
                    "\"model_type\" is {other}. Supported are bert, roberta, xlm-roberta, camembert and distilbert"
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
            dropout: fields.probability(name("hidden_dropout_prob", "dropout"))?,
            attention_dropout: fields
                .probability(name("attention_probs_dropout_prob", "attention_dropout"))?,
        };
        encoder.check(origin)?;
        let token_types = if is_distil { 0 } else { fields.size("type_vocab_size")? };
        Ok(Self { family, encoder, position_offset, token_types })
    }
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
        Ok(())
    }
}
