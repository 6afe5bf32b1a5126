//! Everything that can go wrong, and what to do about it.

use std::path::PathBuf;

/// Error of loading, saving or running a network.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of an encoder folder could not be read.
    #[error(
        "cannot read {}: {source}. An encoder is a folder with three files: config.json, \
         tokenizer.json and model.safetensors. Model hubs offer them on a model's page, under \"Files\"",
        path.display()
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },

    /// The file `config.json` is not understood.
    #[error("{origin}: {problem}")]
    Config {
        /// The file, or the part of a model file.
        origin: String,
        /// The problem and its cure.
        problem: String,
    },

    /// The tokenizer is not understood, or does not belong to the encoder.
    #[error("{origin}: {problem}")]
    Tokenizer {
        /// The file, or the part of a model file.
        origin: String,
        /// The problem and its cure.
        problem: String,
    },

    /// The file of weights is not in the safetensors format.
    #[error(
        "{origin}: not a safetensors file ({source}). Convert other formats to safetensors first"
    )]
    Format {
        /// The file.
        origin: String,
        /// The reader's error.
        source: safetensors::SafeTensorError,
    },

    /// A tensor is missing.
    #[error(
        "{origin}: there is no tensor \"{name}\". The weights must belong to the same model as \
         config.json: fetch all three files from one place"
    )]
    MissingTensor {
        /// The file, or the part of a model file.
        origin: String,
        /// Name of the tensor.
        name: String,
    },

    /// A tensor has another shape than the configuration says.
    #[error(
        "{origin}: the tensor \"{name}\" has the shape {found:?}, but the configuration asks for \
         {expected:?}. Fetch config.json and model.safetensors from one place"
    )]
    Shape {
        /// The file, or the part of a model file.
        origin: String,
        /// Name of the tensor.
        name: String,
        /// The shape in the file.
        found: Vec<usize>,
        /// The shape that the configuration asks for.
        expected: Vec<usize>,
    },

    /// A tensor has an element type that is not supported.
    #[error(
        "{origin}: the tensor \"{name}\" has elements of type {found}. Convert it to F32, F16 or BF16"
    )]
    ElementType {
        /// The file, or the part of a model file.
        origin: String,
        /// Name of the tensor.
        name: String,
        /// The element type.
        found: String,
    },

    /// A tensor holds a number that is not finite.
    #[error(
        "{origin}: the tensor \"{name}\" holds {value} at index {index}. The file is damaged: fetch it again"
    )]
    NotFinite {
        /// The file, or the part of a model file.
        origin: String,
        /// Name of the tensor.
        name: String,
        /// Index of the first such number.
        index: usize,
        /// The number.
        value: f32,
    },

    /// An option of the network makes no sense.
    #[error("the option {option} is {found}, but it must be {expected}")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// Its value.
        found: String,
        /// The values that it can have.
        expected: String,
    },

    /// An operation needs 32-bit weights, and the network has 8-bit weights.
    #[error(
        "a network with 8-bit weights cannot be trained. Train with 32-bit weights, then quantize"
    )]
    Quantized,
}
