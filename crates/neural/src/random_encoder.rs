//! Encoders with random weights, written in the ecosystem's format. For tests and benchmarks.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use safetensors::tensor::{Dtype, TensorView};
use serde_json::{Value, json};

use crate::config::{Family, FolderConfig};
use crate::encoder::load::for_each_tensor;
use crate::random::{Random, seed_of};

/// Encoder with random weights.
///
/// Its tokenizer knows the letters a to z and the given words (byte-level tokenizers know bytes alone).
///
/// ```
/// use tutte_neural::{Family, RandomEncoder};
/// let folder = std::env::temp_dir().join("tutte-random-encoder");
/// RandomEncoder::new(Family::Roberta).with_sizes(8, 1, 2, 16).write(&folder)?;
/// assert!(folder.join("model.safetensors").is_file());
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RandomEncoder {
    /// Family, which decides the format.
    pub family: Family,
    /// Width of the vector of a sub-word.
    pub hidden: usize,
    /// Number of layers.
    pub layers: usize,
    /// Number of attention heads.
    pub heads: usize,
    /// Width of the feed-forward part.
    pub intermediate: usize,
    /// Length of the longest sequence.
    pub positions: usize,
    /// Words that are one sub-word.
    pub words: Vec<String>,
    /// Seed of the weights.
    pub seed: u64,
}

impl RandomEncoder {
    /// A tiny encoder: two layers of width 16.
    pub fn new(family: Family) -> Self {
        let (hidden, layers, heads, intermediate) = (16, 2, 4, 24);
        Self {
            family,
            hidden,
            layers,
            heads,
            intermediate,
            positions: 64,
            words: Vec::new(),
            seed: 1,
        }
    }

    /// Sets hidden size, number of layers, number of heads and size of the feed-forward part.
    pub fn with_sizes(
        mut self,
        hidden: usize,
        layers: usize,
        heads: usize,
        intermediate: usize,
    ) -> Self {
        (self.hidden, self.layers, self.heads, self.intermediate) =
            (hidden, layers, heads, intermediate);
        self
    }

    /// Sets the length of the longest sequence.
    pub fn with_positions(mut self, positions: usize) -> Self {
        self.positions = positions;
        self
    }

    /// Sets the words that are one sub-word.
    pub fn with_words(mut self, words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.words = words.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the seed of the weights.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Writes `config.json`, `tokenizer.json` and `model.safetensors` into a folder, which is made if needed.
    ///
    /// # Errors
    ///
    /// If the folder cannot be written.
    pub fn write(&self, folder: impl AsRef<Path>) -> std::io::Result<()> {
        let folder = folder.as_ref();
        fs::create_dir_all(folder)?;
        let (tokenizer, vocabulary) = self.tokenizer();
        fs::write(folder.join("tokenizer.json"), tokenizer.to_string())?;
        let config = self.config(vocabulary).to_string();
        fs::write(folder.join("config.json"), &config)?;
        let config =
            FolderConfig::parse("config.json", config.as_bytes()).map_err(std::io::Error::other)?;
        let mut tensors: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
        let done = for_each_tensor(&config, |wanted| {
            let mut random = Random::new(u64::from(seed_of(self.seed, tensors.len() as u64)));
            let len: usize = wanted.shape.iter().product();
            let centre = if wanted.name.ends_with("orm.weight") { 1.0 } else { 0.0 };
            let deviation =
                if wanted.shape.len() == 2 { 0.3 / (self.hidden as f32).sqrt() } else { 0.02 };
            let values =
                (0..len).flat_map(|_| (centre + deviation * random.normal()).to_le_bytes());
            let values = values.collect();
            tensors.push((
                format!("{}{}", self.family.prefix(), wanted.name),
                wanted.shape,
                values,
            ));
            Ok(())
        });
        done.map_err(std::io::Error::other)?;
        let views: Result<BTreeMap<_, _>, _> = tensors
            .iter()
            .map(|(name, shape, bytes)| {
                Ok((name, TensorView::new(Dtype::F32, shape.clone(), bytes)?))
            })
            .collect();
        let views = views.map_err(|e: safetensors::SafeTensorError| std::io::Error::other(e))?;
        let bytes = safetensors::serialize(views, None).map_err(std::io::Error::other)?;
        fs::write(folder.join("model.safetensors"), bytes)
    }

    fn config(&self, vocabulary: usize) -> Value {
        let model_type = match self.family {
            Family::Bert => "bert",
            Family::Roberta => "roberta",
            Family::XlmRoberta => "xlm-roberta",
            Family::ModernBert => {
                return json!({
                    "model_type": "modernbert", "hidden_size": self.hidden, "num_hidden_layers": self.layers,
                    "num_attention_heads": self.heads, "intermediate_size": self.intermediate,
                    "vocab_size": vocabulary, "hidden_activation": "gelu", "norm_eps": 1e-5,
                    "max_position_embeddings": self.positions, "global_attn_every_n_layers": 2,
                    "global_rope_theta": 160_000.0, "local_rope_theta": 10_000.0, "local_attention": 6,
                    "mlp_dropout": 0.1, "attention_dropout": 0.1,
                });
            }
            Family::DistilBert => {
                return json!({
                    "model_type": "distilbert", "dim": self.hidden, "n_layers": self.layers, "n_heads": self.heads,
                    "hidden_dim": self.intermediate, "vocab_size": vocabulary, "activation": "gelu",
                    "max_position_embeddings": self.positions, "dropout": 0.1, "attention_dropout": 0.1,
                });
            }
        };
        let is_bert = self.family == Family::Bert;
        json!({
            "model_type": model_type, "hidden_size": self.hidden, "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads, "intermediate_size": self.intermediate, "vocab_size": vocabulary,
            "hidden_act": "gelu", "layer_norm_eps": 1e-5, "hidden_dropout_prob": 0.1,
            "attention_probs_dropout_prob": 0.1, "type_vocab_size": if is_bert { 2 } else { 1 },
            "pad_token_id": if is_bert { 0 } else { 1 },
            "max_position_embeddings": self.positions + if is_bert { 0 } else { 2 },
        })
    }

    /// Returns the text of the tokenizer and the size of its vocabulary.
    fn tokenizer(&self) -> (Value, usize) {
        let is_bert = matches!(self.family, Family::Bert | Family::DistilBert | Family::ModernBert);
        let marks = if is_bert {
            ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
        } else {
            ["<s>", "<pad>", "</s>", "<unk>"]
        };
        let (start, end) = if is_bert { (2, 3) } else { (0, 2) };
        let letters = || ('a'..='z').map(String::from);
        let mut subwords: Vec<String> = marks.map(String::from).to_vec();
        let (normalizer, pre_tokenizer, mut model) = match self.family {
            Family::Bert | Family::DistilBert => {
                subwords.extend(letters());
                subwords.extend(letters().map(|letter| format!("##{letter}")));
                subwords.extend(self.words.iter().filter(|word| word.chars().count() > 1).cloned());
                let normalizer = json!({
                    "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                    "strip_accents": null, "lowercase": true,
                });
                let model = json!({
                    "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                    "max_input_chars_per_word": 100,
                });
                (normalizer, json!({"type": "BertPreTokenizer"}), model)
            }
            Family::Roberta | Family::ModernBert => {
                // The visible characters that stand for bytes; others are unknown.
                subwords.extend(
                    (0x21..=0x7e)
                        .chain(0xa1..=0xac)
                        .chain(0xae..=0xff)
                        .filter_map(char::from_u32)
                        .map(String::from),
                );
                subwords.push("Ġ".into());
                let pre_tokenizer = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true});
                (
                    Value::Null,
                    pre_tokenizer,
                    json!({"type": "BPE", "unk_token": if is_bert { "[UNK]" } else { "<unk>" }, "merges": []}),
                )
            }
            Family::XlmRoberta => {
                subwords.push("▁".into());
                subwords.extend(letters());
                subwords.extend(self.words.iter().map(|word| format!("▁{word}")));
                let pre_tokenizer = json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true});
                (Value::Null, pre_tokenizer, json!({"type": "Unigram", "unk_id": 3}))
            }
        };
        let vocabulary = subwords.len();
        model["vocab"] = if self.family == Family::XlmRoberta {
            subwords
                .iter()
                .enumerate()
                .map(|(i, word)| json!([word, -1.0 - i as f64 / vocabulary as f64]))
                .collect()
        } else {
            subwords
                .iter()
                .enumerate()
                .map(|(i, word)| (word.clone(), json!(i)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        let added: Vec<Value> = marks
            .iter()
            .enumerate()
            .map(|(id, mark)| {
                json!({
                    "id": id, "content": mark, "single_word": false, "lstrip": false, "rstrip": false,
                    "normalized": false, "special": true,
                })
            })
            .collect();
        let special = |id: usize| json!({"id": marks[id], "ids": [id], "tokens": [marks[id]]});
        let mark = |id: usize| json!({"SpecialToken": {"id": marks[id], "type_id": 0}});
        let text = |name: &str| json!({"Sequence": {"id": name, "type_id": 0}});
        let tokenizer = json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": added,
            "normalizer": normalizer, "pre_tokenizer": pre_tokenizer,
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [mark(start), text("A"), mark(end)],
                "pair": [mark(start), text("A"), mark(end), text("B"), mark(end)],
                "special_tokens": {marks[start]: special(start), marks[end]: special(end)},
            },
            "decoder": null, "model": model,
        });
        (tokenizer, vocabulary)
    }
}
