//! Encoders and scorers that are networks.
//!
//! A [`Network`] reads words and scores the arcs, labels and tags of a sentence: a transformer encoder, biaffine
//! scores (Dozat and Manning 2017), and one softmax per kind of tag. The encoder is
//!
//! - pretrained ([`Network::open`]): a folder with `config.json`, `tokenizer.json` and `model.safetensors`, as model
//!   hubs offer them. BERT, RoBERTa, XLM-RoBERTa, CamemBERT, DistilBERT and ModernBERT are read. Nothing is downloaded,
//!   and no code of a model is run.
//! - or from scratch ([`Network::scratch`]), for languages without one: hashed words and character n-grams into a small
//!   transformer.
//!
//! There is no loss here. A caller reads scores from [`Activations`], computes the derivative of its loss by each score,
//! and gives it as [`Coefficients`]; [`Network::backward`] adds the [`Gradients`], and [`AdamW`] moves the weights.
//! A call runs in the calling thread. Callers divide a batch into shards, and add the gradients of shards in a fixed order:
//! then the number of threads does not change results.
//!
//! # Example
//!
//! A tiny encoder of random weights, opened and trained for one step so that word 2 is the head of word 1.
//!
//! ```
//! use tutte_neural::{
//!     Activations, AdamW, AdamWOptions, Coefficients, Family, Mode, Network, NetworkOptions, RandomEncoder,
//! };
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = std::env::temp_dir().join(format!("tutte-neural-example-{}", std::process::id()));
//! RandomEncoder::new(Family::Bert).with_words(["the", "dog"]).write(&folder)?;
//!
//! let options = NetworkOptions::new().with_labels(3).with_tag_head("upos", 17);
//! let mut network = Network::open(&folder, options)?;
//! let input = network.encode(&["the", "dog", "barks"])?;
//!
//! let mut activations = Activations::new();
//! network.forward([&input], Mode::Train { seed: 1 }, &mut activations);
//! assert_eq!(activations.arc_scores(0).len(), 4 * 4);
//!
//! let mut coefficients = Coefficients::new();
//! coefficients.reset(&activations);
//! coefficients.arcs_mut(0)[2 * 4 + 1] = -1.0; // the arc from word 2 to word 1
//! let mut gradients = network.gradients()?;
//! network.backward(&mut activations, &coefficients, &mut gradients);
//! let mut optimizer = AdamW::new(AdamWOptions::new().with_steps(1, 0), &gradients);
//! optimizer.step(&mut network, &gradients);
//!
//! network.forward([&input], Mode::Infer, &mut activations);
//! assert!(activations.arc_scores(0)[2 * 4 + 1] > 0.0);
//! let upos = network.tag_head("upos").unwrap();
//! assert_eq!(activations.tag_log_probs(0, upos).len(), 3 * 17);
//! # std::fs::remove_dir_all(folder)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Files and 8-bit weights
//!
//! [`Network::description`], [`Network::tokenizer`] and [`Network::to_tensors`] are all of a network;
//! [`Network::from_parts`] puts it together again, to the same bits. [`Network::quantize`] makes weights of 8 bits, for
//! inference.
//!
//! # References
//!
//! - Vaswani et al. (2017), Attention is all you need.
//! - Devlin et al. (2019), BERT: Pre-training of deep bidirectional transformers for language understanding.
//! - Warner et al. (2024), Smarter, better, faster, longer: A modern bidirectional encoder (ModernBERT).
//! - Dozat and Manning (2017), Deep biaffine attention for neural dependency parsing.
//! - Peters et al. (2018), Deep contextualized word representations (the mix of layers).
//! - Loshchilov and Hutter (2019), Decoupled weight decay regularization.

#![deny(unsafe_code)]

mod average;
mod config;
mod encoder;
mod error;
mod layers;
mod network;
mod ops;
mod optimizer;
mod options;
mod parameters;
mod product;
mod quantized;
mod random;
mod random_encoder;
mod subwords;

pub use average::WeightAverage;
pub use config::{EncoderConfig, Family, ModernLayers};
pub use error::Error;
pub use network::{Activations, Coefficients, Mode, Network};
pub use ops::activation::Activation;
pub use ops::pooling::Pooling;
pub use ops::softmax::cross_entropy;
pub use optimizer::{AdamW, AdamWOptions};
pub use options::{LayerChoice, NetworkOptions, ScratchOptions, TagHead};
pub use parameters::{Gradients, Parameter, Role, Tensor, TensorData};
pub use random_encoder::RandomEncoder;
pub use subwords::SentenceInput;
