//! The model file: one [safetensors](https://github.com/huggingface/safetensors) file.
//!
//! It has a JSON header and tables of numbers, and no code. It is safe to open from anywhere, and made to
//! be mapped into memory.
//!
//! ```text
//! arcs            i8  [cells]         weights of arcs (see `Compact`); [clusters, cells] if there are
//!                                     several latent clusters
//! arcs.scale      f32 [1]
//! arcs.…                              tables of the dictionary, if any: see `dictionary.rs`
//! guided…         as arcs             second pass, if any
//! pruner…         as arcs             pruner, if any
//! shifter         i8  [rows, 3]       weights of the transition parser's steps, if any
//! shifter.labels  i8  [rows, labels]  weights of its labels; each table with its scale, as arcs
//! factors         i8  [cells]         weights of factors, if any; with their scale, as arcs
//! labels          i8  [rows, width]   weights of labels
//! labels.scale    f32 [1]
//! network…                            tensors of a network, if any: see `network.rs`
//! tagger…                             tables of the tagger, if any: see `tagger.rs`
//! tokens…                             tables of the tokenizer, if any: see `tokenizer.rs`
//! __metadata__    {"tutte": "…"}      `Document` as JSON, see `document.rs`
//! ```
//!
//! The document is one string, because the header's map has no order and equal models must be equal bytes. Its checksum
//! (XXH3, 64 bits) covers the document itself and all tables. Reading checks everything before it uses anything: file
//! type, format version, length, checksum, templates, tree set, and the sizes of all tables. The checksum is the only
//! check that reads all weights. It is fast, so it is never skipped.
//!
//! A file packed by gzip or Zstandard is recognised by its content, and unpacked into memory instead of
//! mapped. Its header is unpacked first, and says how much more there is to unpack.

mod dictionary;
mod document;
mod factors;
mod header;
#[cfg(feature = "neural")]
mod network;
mod tables;
mod tagger;
mod tokenizer;
mod transition;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use safetensors::{Dtype, SafeTensorError};
use serde::{Deserialize, Serialize};
use tutte_linear::{self, Content};

use self::dictionary::DictionaryBytes;
use self::document::Document;
use self::header::{DOCUMENT, GZIP, Header, ZSTANDARD};
use self::tables::{ARCS, NO_CHECKSUM, PRUNER, SECOND_PASS, checksum, shape_of, table};
use self::tagger::TaggerBytes;
use super::{Model, ParserModel};
use crate::{Compact, Error, ModelProblem, Weights};

/// The description of a model for its users. Parsing does not depend on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Language.
    pub language: Option<String>,
    /// Name of the treebank.
    pub data: Option<String>,
    /// Licence of the treebank, and so perhaps of the model.
    pub licence: Option<String>,
    /// Command that made the model.
    pub command: Option<String>,
    /// Seed of random choices.
    pub seed: u64,
    /// Options of training, name and value, in order.
    pub training: Vec<(String, String)>,
    /// Scores on held-out data.
    pub dev: Option<DevScores>,
}

/// Scores on a development set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DevScores {
    /// Pass after which the model was kept.
    pub pass: usize,
    /// Number of scored words.
    pub words: usize,
    /// Number of words with the right head.
    pub heads: usize,
    /// Number of words with the right head and label.
    pub both: usize,
}

impl DevScores {
    /// Returns the share of words with the right head.
    pub fn uas(&self) -> f64 {
        self.heads as f64 / self.words.max(1) as f64
    }

    /// Returns the share of words with the right head and label.
    pub fn las(&self) -> f64 {
        self.both as f64 / self.words.max(1) as f64
    }
}

/// A model read from a file, with its description.
///
/// ```
/// # let folder = std::env::temp_dir().join(format!("tutte-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("tea.tutte");
/// use tutte::{About, ModelFile, Parser, TrainingOptions, train};
///
/// let treebank: [tutte::Sentence; 1] = ["# sent_id = 1\n1\tTea\ttea\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\tcool\tVERB\t_\t_\t0\troot\t_\t_\n".parse()?];
/// let options = TrainingOptions::default().with_passes(2).with_bits(12).with_label_bits(8);
/// let model = train(&treebank, &options, &mut ())?;
/// model.compact().save(&path, &About { language: Some("en".into()), ..About::default() })?;
///
/// let file = ModelFile::open(&path)?;
/// assert_eq!(file.about.language.as_deref(), Some("en"));
/// assert_eq!(Parser::new(file.model.require_parser()?).parse(&treebank[0])?.tree.heads(), [2, 0]);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ModelFile {
    /// The model. Its weights stay in the file, mapped into memory, unless the file is packed.
    pub model: Model<Compact>,
    /// Description of the model.
    pub about: About,
    /// Version of the format.
    pub format: u64,
    /// Version of tutte that wrote the file.
    pub tutte: String,
    /// Checksum of the content.
    pub checksum: String,
    /// Length of the unpacked file.
    pub bytes: u64,
}

impl Model<Compact> {
    /// Writes the model to a file atomically; packed if its path ends in `.gz` or `.zst`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>, about: &About) -> Result<(), Error> {
        let path = path.as_ref();
        let cannot = |source| {
            let path = path.to_owned();
            Error::from(tutte_treebank::Error::File { path, action: "write", source })
        };
        let bytes = self.to_bytes(about).map_err(|error| cannot(io::Error::other(error)))?;
        let mut file = tutte_treebank::Output::create(path)?;
        file.write_all(&bytes).map_err(cannot)?;
        Ok(file.commit()?)
    }

    /// Reads a model from a file; [`ModelFile`] also gives its description.
    ///
    /// # Errors
    /// [`Error::Model`] if the file is not a model, or cannot be used.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        Ok(ModelFile::open(path)?.model)
    }

    /// Returns the content of a file.
    pub(super) fn to_bytes(&self, about: &About) -> Result<Vec<u8>, SafeTensorError> {
        let Model { parser, tagger, tokenizer } = self;
        let parser = document::stored_parser(parser.as_ref());
        let ParserModel { pruner, arcs, second_pass, labels, .. } = &*parser;
        let parts = [
            (&ARCS, Some(arcs)),
            (&SECOND_PASS, second_pass.as_ref().map(|second_pass| &second_pass.arcs)),
            (&PRUNER, pruner.as_ref().map(|pruner| &pruner.arcs)),
        ];
        let parts: Vec<_> = parts
            .into_iter()
            .filter_map(|(names, arcs)| Some((names, arcs?, DictionaryBytes::new(&arcs?.index))))
            .collect();
        let scale = labels.weights.scale().to_le_bytes();
        let label_cells = labels.weights.cells();
        let rows = vec![1 << labels.bits(), labels.width()];
        let mut tables = vec![
            table("labels", Dtype::I8, rows, bytemuck::cast_slice(label_cells))?,
            table("labels.scale", Dtype::F32, vec![1], &scale)?,
        ];
        let scales: Vec<[u8; 4]> =
            parts.iter().map(|(_, arcs, _)| arcs.weights.scale().to_le_bytes()).collect();
        for ((names, arcs, dictionary), scale) in parts.iter().zip(&scales) {
            let cells = arcs.weights.cells();
            let shape = shape_of(arcs.clusters, cells.len() / arcs.clusters);
            tables.push(table(names.weights, Dtype::I8, shape, bytemuck::cast_slice(cells))?);
            tables.push(table(names.scale, Dtype::F32, vec![1], scale)?);
            if let Some(dictionary) = dictionary {
                tables.extend(dictionary.tables(names)?);
            }
        }
        let transition =
            second_pass.as_ref().and_then(|second_pass| second_pass.transition.as_ref());
        let transition_scales = transition.map(transition::scales);
        if let (Some(transition), Some(scales)) = (transition, &transition_scales) {
            tables.extend(transition::tables(transition, scales)?);
        }
        let factors = second_pass.as_ref().and_then(|second_pass| second_pass.factors.as_ref());
        let factor_scale = factors.map(factors::scale);
        if let (Some(factors), Some(scale)) = (factors, &factor_scale) {
            tables.extend(factors::tables(factors, scale)?);
        }
        #[cfg(feature = "neural")]
        let network_bytes = parser.network.as_deref().map(network::NetworkBytes::new);
        #[cfg(feature = "neural")]
        if let Some(bytes) = &network_bytes {
            tables.extend(bytes.tables()?);
        }
        let tagger_bytes = tagger.as_ref().map(|tagger| TaggerBytes::new(tagger));
        if let Some(bytes) = &tagger_bytes {
            tables.extend(bytes.tables()?);
        }
        let scales = tokenizer.as_ref().map(|tokenizer| tokenizer::scales(tokenizer));
        if let (Some(tokenizer), Some(scales)) = (tokenizer, &scales) {
            tables.extend(tokenizer::tables(tokenizer, scales)?);
        }
        let document = Document::new(self, &parser, about);
        let text = serde_json::to_string(&document)?;
        let content = tables.iter().map(|(name, view)| (name.as_ref(), view.shape(), view.data()));
        let checksum = checksum(&text, content);
        // The first such zeros are those of the checksum, which comes right after the format.
        let text = text.replacen(NO_CHECKSUM, &checksum, 1);
        let metadata = HashMap::from([(DOCUMENT.to_owned(), text)]);
        safetensors::serialize(tables, Some(metadata))
    }
}

impl ParserModel<Compact> {
    /// Writes a model file with this parser alone, see [`Model::save`].
    ///
    /// # Errors
    /// As [`Model::save`].
    pub fn save(&self, path: impl AsRef<Path>, about: &About) -> Result<(), Error> {
        Model::from(self.clone()).save(path, about)
    }

    /// Returns the content of a file with this parser alone.
    #[cfg(test)]
    fn to_bytes(&self, about: &About) -> Result<Vec<u8>, SafeTensorError> {
        Model::from(self.clone()).to_bytes(about)
    }
}

impl ModelFile {
    /// Opens a model: checks everything, and maps its weights into memory. A model packed by gzip or
    /// Zstandard is unpacked into memory, up to a gigabyte.
    ///
    /// # Errors
    /// [`Error::Model`] if the file is not a model, or cannot be used.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        Self::read(path).map_err(|problem| Error::Model { path: path.to_owned(), problem })
    }

    /// Reads a model that is part of the program.
    ///
    /// # Errors
    /// [`Error::Model`] if the bytes are not a model, or cannot be used.
    pub fn embedded(bytes: &'static [u8]) -> Result<Self, Error> {
        let header = Header::read(bytes);
        let read = header.and_then(|header| header.model(Content::Embedded(bytes), None));
        read.map_err(|problem| Error::Model { path: EMBEDDED.into(), problem })
    }

    /// Reads a model that is part of the program, packed by [`tutte_linear::packing::pack`]: it has about half the size,
    /// and unpacking takes some milliseconds.
    ///
    /// # Errors
    /// [`Error::Model`] if the bytes are not a packed model, or cannot be used.
    pub fn embedded_packed(bytes: &[u8]) -> Result<Self, Error> {
        let unpacked = tutte_linear::packing::unpack(bytes)
            .ok_or(ModelProblem::NotAModel { found: "bytes that are not a packed model" });
        let read = unpacked
            .and_then(|bytes| Header::read(&bytes[..])?.model(Content::Unpacked(bytes), None));
        read.map_err(|problem| Error::Model { path: EMBEDDED.into(), problem })
    }

    fn read(path: &Path) -> Result<Self, ModelProblem> {
        let mut file = File::open(path).map_err(ModelProblem::Unreadable)?;
        let about = file.metadata().map_err(ModelProblem::Unreadable)?;
        if about.is_dir() {
            return Err(ModelProblem::NotAModel { found: "a folder" });
        }
        if !about.is_file() {
            let error = io::Error::other("it is not a regular file, so it cannot be mapped");
            return Err(ModelProblem::Unreadable(error));
        }
        match Header::read(&mut file) {
            Ok(header) => {
                header.check_length(about.len())?;
                header.model(Content::map(&file).map_err(ModelProblem::Unreadable)?, path.parent())
            }
            Err(ModelProblem::NotAModel { found: GZIP | ZSTANDARD }) => {
                file.rewind().map_err(ModelProblem::Unreadable)?;
                Self::unpack(file, path.parent())
            }
            Err(problem) => Err(problem),
        }
    }

    /// Reads a packed model into memory. After the header was found to be that of a model, unpacks no more
    /// than the header announces.
    fn unpack(file: File, folder: Option<&Path>) -> Result<Self, ModelProblem> {
        let mut input = tutte_treebank::unpack(file).map_err(ModelProblem::Unreadable)?;
        let mut bytes = Vec::new();
        let header = Header::read(Recorder { input: &mut input, record: &mut bytes });
        let header = header.map_err(|problem| match problem {
            ModelProblem::NotAModel { .. } => ModelProblem::NotAModel { found: PACKED_OTHER },
            ModelProblem::Unreadable(error) => cannot_unpack(error),
            problem => problem,
        })?;
        header.document()?;
        let length = header.length();
        if length > LONGEST_UNPACKED {
            return Err(ModelProblem::TooLargeToUnpack { bytes: length, limit: LONGEST_UNPACKED });
        }
        // One byte more, to notice a file that is too long.
        let rest = (length + 1).saturating_sub(bytes.len() as u64);
        match input.take(rest).read_to_end(&mut bytes) {
            Ok(_) => header.model(Content::Unpacked(bytes), folder),
            Err(error) => Err(match (error.kind(), bytes.len() as u64) {
                (io::ErrorKind::UnexpectedEof, found) if found < length => {
                    ModelProblem::Truncated { found, expected: length }
                }
                _ => cannot_unpack(error),
            }),
        }
    }
}

/// Path of a model inside the program, for messages.
const EMBEDDED: &str = "(embedded)";

/// Description of a packed file that is not a model.
const PACKED_OTHER: &str = "something else that is packed";

/// Largest model that is unpacked into memory. A larger model should be mapped.
const LONGEST_UNPACKED: u64 = 1 << 30;

fn cannot_unpack(error: io::Error) -> ModelProblem {
    ModelProblem::Altered { what: format!("it cannot be unpacked ({error})") }
}

/// A reader that keeps a copy of all it reads.
struct Recorder<'a, R> {
    input: R,
    record: &'a mut Vec<u8>,
}

impl<R: Read> Read for Recorder<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(out)?;
        self.record.extend_from_slice(&out[..read]);
        Ok(read)
    }
}
