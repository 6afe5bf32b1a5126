//! Networks.

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

pub use config::{EncoderConfig, Family};
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
