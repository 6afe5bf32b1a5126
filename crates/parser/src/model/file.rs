//! The model file: one [safetensors](https://github.com/huggingface/safetensors) file, that is a
//! JSON header and tables of numbers, without code, safe to open from anywhere and made to be
//! mapped into memory.
//!
//! ```text
//! arcs            i8  [cells]         weights of arcs (see `Compact`); [kinds, cells] if arcs are of
//!                                     several latent kinds
//! arcs.scale      f32 [1]
//! arcs.…                              those of a dictionary, if there is one: see `dictionary.rs`
//! guided…         as arcs             of a second pass
//! pruner…         as arcs             of a pruner
//! labels          i8  [rows, width]   weights of labels
//! labels.scale    f32 [1]
//! tagger…                             those of a tagger, if there is one: see `tagger.rs`
//! tokens…                             those of a tokenizer, if there is one: see `tokenizer.rs`
//! __metadata__    {"tutte": "…"}      what `Document` says below, as JSON
//! ```
//!
//! The document is one string because the header's map has no order, and the same model is the same
//! bytes. Its checksum (XXH3, 64 bits) covers the document itself and all tables. Reading checks
//! everything before anything is used: kind of file, format version, length, checksum, templates,
//! tree set, and the sizes of all tables. The checksum is the only part that looks at all weights;
//! it costs about a millisecond for ten megabytes that are in the system's cache, so it is never
//! left out.
//!
//! A file packed by gzip or Zstandard, recognised by its content, is unpacked into memory instead of being
//! mapped: its header first, which says how much more there is to unpack.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;

use safetensors::tensor::{Metadata, TensorInfo, TensorView};
use safetensors::{Dtype, SafeTensorError};
use serde::{Deserialize, Serialize};
use tutte_trees::TreeSet;
use xxhash_rust::xxh3::Xxh3;

use super::dictionary::DictionaryBytes;
use super::tagger::TaggerBytes;
use super::{Model, tokenizer};
use crate::features::{BLOCK, FeatureSet};
use crate::labels::{Labelling, Places, width_of};
use crate::mapped::{self, Content};
use crate::text::{TaggerDocument, TokenizerDocument};
use crate::{
    ArcModel, Calibration, Compact, Error, Guided, Index, LabelModel, ModelProblem, Pruner, Weights,
};

/// The version of the format. It changes whenever an older tutte would read a newer file wrongly:
/// other tables, another meaning of templates, other hashes.
const FORMAT: u64 = 4;

/// The key of the document in the header's metadata.
pub(super) const DOCUMENT: &str = "tutte";

/// What stands for the checksum while it is computed.
pub(super) const NO_CHECKSUM: &str = "0000000000000000";

/// Where a model comes from: what its users want to know and nothing depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The language.
    pub language: Option<String>,
    /// The name of the treebank.
    pub data: Option<String>,
    /// The licence of the treebank, and so perhaps of the model.
    pub licence: Option<String>,
    /// The command that made it.
    pub command: Option<String>,
    /// What random choices came from.
    pub seed: u64,
    /// The options of training, name and value, in order.
    pub training: Vec<(String, String)>,
    /// How well it does on data it was not trained on.
    pub dev: Option<DevScores>,
}

/// Scores on a development set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DevScores {
    /// The pass after which the model was kept.
    pub pass: usize,
    /// Words that were scored.
    pub words: usize,
    /// Words with the right head.
    pub heads: usize,
    /// Words with the right head and label.
    pub both: usize,
}

impl DevScores {
    /// The share of words with the right head.
    pub fn uas(&self) -> f64 {
        self.heads as f64 / self.words.max(1) as f64
    }

    /// The share of words with the right head and label.
    pub fn las(&self) -> f64 {
        self.both as f64 / self.words.max(1) as f64
    }
}

/// A model that was read from a file, and what the file says about it.
///
/// ```
/// # let folder = std::env::temp_dir().join(format!("tutte-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("tea.tutte");
/// use tutte::{About, ModelFile, Options, Parser, train};
///
/// let treebank = ["# sent_id = 1\n1\tTea\ttea\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\tcool\tVERB\t_\t_\t0\troot\t_\t_\n".parse()?];
/// let options = Options { passes: 2, bits: 12, label_bits: 8, ..Options::default() };
/// let model = train(&treebank, &options, |_, _| {})?;
/// model.compact().save(&path, &About { language: Some("en".into()), ..About::default() })?;
///
/// let file = ModelFile::open(&path)?;
/// assert_eq!(file.about.language.as_deref(), Some("en"));
/// assert_eq!(Parser::new(&file.model).parse(&treebank[0])?.tree.heads(), [2, 0]);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ModelFile {
    /// The model; its weights stay in the file, mapped into memory, unless it is packed.
    pub model: Model<Compact>,
    /// Where it comes from.
    pub about: About,
    /// The version of the format.
    pub format: u64,
    /// The version of tutte that wrote it.
    pub tutte: String,
    /// The checksum of its content.
    pub checksum: String,
    /// The length of the file, unpacked.
    pub bytes: u64,
}

/// The part of a file that is no table.
#[derive(Serialize, Deserialize)]
struct Document {
    format: u64,
    checksum: String,
    tutte: String,
    tree_set: String,
    temperature: f64,
    /// Files without it are as old as format 3, and as good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calibration: Option<Calibration>,
    pruner: Option<PrunerDocument>,
    arcs: ArcDocument,
    guided: Option<GuidedDocument>,
    labels: LabelDocument,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tagger: Option<TaggerDocument>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokenizer: Option<TokenizerDocument>,
    about: About,
}

#[derive(Serialize, Deserialize)]
struct ArcDocument {
    index: IndexDocument,
    templates: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct PrunerDocument {
    threshold: f64,
    #[serde(flatten)]
    arcs: ArcDocument,
}

#[derive(Serialize, Deserialize)]
struct GuidedDocument {
    threshold: f64,
    #[serde(flatten)]
    arcs: ArcDocument,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum IndexDocument {
    Hashed { bits: u32 },
    Dictionary,
}

#[derive(Serialize, Deserialize)]
struct LabelDocument {
    labelling: Labelling,
    names: Vec<String>,
    /// The labels that arcs of the root have, and those that arcs of words have.
    places: [Vec<usize>; 2],
    bits: u32,
    templates: Vec<String>,
}

/// What can be read of a document of any format version.
#[derive(Deserialize)]
struct AnyDocument {
    format: u64,
    tutte: Option<String>,
}

impl Model<Compact> {
    /// Writes the model to a file, which appears whole or not at all; packed if its path ends in `.gz` or
    /// `.zst`.
    ///
    /// # Errors
    /// If it cannot be written.
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

    /// Reads a model from a file; see [`ModelFile`] for what else the file says.
    ///
    /// # Errors
    /// [`Error::Model`] if it is no model, or none that can be used.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        Ok(ModelFile::open(path)?.model)
    }

    /// The content of a file.
    pub(super) fn to_bytes(&self, about: &About) -> Result<Vec<u8>, SafeTensorError> {
        let Model {
            pruner,
            arcs,
            guided,
            labels,
            tree_set,
            temperature,
            calibration,
            tagger,
            tokenizer,
        } = self;
        let parts = [
            (&ARCS, Some(arcs)),
            (&GUIDED, guided.as_ref().map(|guided| &guided.arcs)),
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
            let shape = shape_of(arcs.kinds, cells.len() / arcs.kinds);
            tables.push(table(names.weights, Dtype::I8, shape, bytemuck::cast_slice(cells))?);
            tables.push(table(names.scale, Dtype::F32, vec![1], scale)?);
            if let Some(dictionary) = dictionary {
                tables.extend(dictionary.tables(names)?);
            }
        }
        let tagger_bytes = tagger.as_ref().map(|tagger| TaggerBytes::new(tagger));
        if let Some(bytes) = &tagger_bytes {
            tables.extend(bytes.tables()?);
        }
        let scales = tokenizer.as_ref().map(|tokenizer| tokenizer::scales(tokenizer));
        if let (Some(tokenizer), Some(scales)) = (tokenizer, &scales) {
            tables.extend(tokenizer::tables(tokenizer, scales)?);
        }
        let document = Document {
            format: FORMAT,
            checksum: NO_CHECKSUM.to_owned(),
            tutte: env!("CARGO_PKG_VERSION").to_owned(),
            tree_set: tree_set.to_string(),
            temperature: *temperature,
            calibration: calibration.clone(),
            pruner: pruner.as_ref().map(|pruner| PrunerDocument {
                threshold: pruner.threshold,
                arcs: ArcDocument::new(&pruner.arcs),
            }),
            arcs: ArcDocument::new(arcs),
            guided: guided.as_ref().map(|guided| GuidedDocument {
                threshold: guided.threshold,
                arcs: ArcDocument::new(&guided.arcs),
            }),
            labels: LabelDocument {
                labelling: labels.labelling(),
                names: labels.labels().to_vec(),
                places: labels.places().lists(),
                bits: labels.bits(),
                templates: lines(&labels.features),
            },
            tagger: tagger.as_ref().map(|tagger| tagger.document()),
            tokenizer: tokenizer.as_ref().map(|tokenizer| tokenizer.document()),
            about: about.clone(),
        };
        let text = serde_json::to_string(&document)?;
        let content = tables.iter().map(|(name, view)| (*name, view.shape(), view.data()));
        let checksum = checksum(&text, content);
        // The first such zeros are the checksum: it stands right after the format.
        let text = text.replacen(NO_CHECKSUM, &checksum, 1);
        let metadata = HashMap::from([(DOCUMENT.to_owned(), text)]);
        safetensors::serialize(tables, Some(metadata))
    }
}

/// The names of the tables of a model of arcs.
pub(super) struct ArcTables {
    weights: &'static str,
    scale: &'static str,
    pub(super) keys: &'static str,
    pub(super) slots: &'static str,
    pub(super) values: &'static str,
    pub(super) names: &'static str,
}

macro_rules! arc_tables {
    ($part:literal) => {
        ArcTables {
            weights: $part,
            scale: concat!($part, ".scale"),
            keys: concat!($part, ".keys"),
            slots: concat!($part, ".slots"),
            values: concat!($part, ".values"),
            names: concat!($part, ".names"),
        }
    };
}

const ARCS: ArcTables = arc_tables!("arcs");
const GUIDED: ArcTables = arc_tables!("guided");
const PRUNER: ArcTables = arc_tables!("pruner");

/// The shape of the weights of arcs.
fn shape_of(kinds: usize, cells: usize) -> Vec<usize> {
    if kinds == 1 { vec![cells] } else { vec![kinds, cells] }
}

impl ArcDocument {
    fn new<W>(arcs: &ArcModel<W>) -> Self {
        let index = match &arcs.index {
            &Index::Hashed { bits } => IndexDocument::Hashed { bits },
            Index::Dictionary(_) => IndexDocument::Dictionary,
        };
        Self { index, templates: lines(&arcs.features) }
    }

    fn model(
        &self,
        names: &ArcTables,
        tables: &Tables<'_>,
    ) -> Result<ArcModel<Compact>, ModelProblem> {
        let features = features(&self.templates)?;
        let index = match self.index {
            IndexDocument::Hashed { bits } => {
                Index::Hashed { bits: within(bits, BLOCK.ilog2() + 1..=*Document::BITS.end())? }
            }
            IndexDocument::Dictionary => {
                Index::Dictionary(tables.dictionary(names, &features)?.into())
            }
        };
        let kinds = tables.kinds(names.weights);
        let shape = shape_of(kinds, index.cells());
        let weights = tables.weights(names.weights, &shape, names.scale)?;
        Ok(ArcModel { features, index, kinds, weights })
    }
}

fn features(templates: &[String]) -> Result<FeatureSet, ModelProblem> {
    let parsed = FeatureSet::from_lines(templates.iter().map(String::as_str));
    parsed.map_err(|error| ModelProblem::UnknownTemplate(Box::new(error)))
}

pub(super) type NamedTable<'a> = (&'static str, TensorView<'a>);

pub(super) fn table<'a>(
    name: &'static str,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: &'a [u8],
) -> Result<NamedTable<'a>, SafeTensorError> {
    Ok((name, TensorView::new(dtype, shape, bytes)?))
}

fn lines(features: &FeatureSet) -> Vec<String> {
    features.to_string().lines().map(str::to_owned).collect()
}

/// The checksum of a document without checksum and of all tables, whatever their order.
pub(super) fn checksum<'a>(
    document: &str,
    tables: impl Iterator<Item = (&'a str, &'a [usize], &'a [u8])>,
) -> String {
    let mut tables: Vec<_> = tables.collect();
    tables.sort_unstable_by_key(|(name, ..)| *name);
    let mut hash = Xxh3::new();
    hash.update(document.as_bytes());
    for (name, shape, bytes) in tables {
        hash.update(name.as_bytes());
        shape.iter().for_each(|size| hash.update(&(*size as u64).to_le_bytes()));
        hash.update(bytes);
    }
    format!("{:016x}", hash.digest())
}

impl ModelFile {
    /// Opens a model: checks everything, and maps its weights into memory. One that is packed by gzip or
    /// Zstandard is unpacked into memory, up to a gigabyte.
    ///
    /// # Errors
    /// [`Error::Model`] if it is no model, or none that can be used.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        Self::read(path).map_err(|problem| Error::Model { path: path.to_owned(), problem })
    }

    /// Reads a model that is part of the program.
    ///
    /// # Errors
    /// [`Error::Model`] if it is no model, or none that can be used.
    pub fn embedded(bytes: &'static [u8]) -> Result<Self, Error> {
        let header = Header::read(bytes);
        let read = header.and_then(|header| header.model(Content::Embedded(bytes)));
        read.map_err(|problem| Error::Model { path: "(embedded)".into(), problem })
    }

    fn read(path: &Path) -> Result<Self, ModelProblem> {
        let mut file = File::open(path).map_err(ModelProblem::Unreadable)?;
        let about = file.metadata().map_err(ModelProblem::Unreadable)?;
        if !about.is_file() {
            let error = io::Error::other("it is no regular file, which could be mapped");
            return Err(ModelProblem::Unreadable(error));
        }
        match Header::read(&mut file) {
            Ok(header) => {
                header.check_length(about.len())?;
                header.model(Content::Mapped(mapped::map(&file).map_err(ModelProblem::Unreadable)?))
            }
            Err(ModelProblem::NotAModel { found: GZIP | ZSTANDARD }) => {
                file.rewind().map_err(ModelProblem::Unreadable)?;
                Self::unpack(file)
            }
            Err(problem) => Err(problem),
        }
    }

    /// Reads a packed model. What is unpacked stays in memory: it is not more than its header, once that is
    /// found to be one of a model, says.
    fn unpack(file: File) -> Result<Self, ModelProblem> {
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
        // One more, so as to see whether there is.
        let rest = (length + 1).saturating_sub(bytes.len() as u64);
        match input.take(rest).read_to_end(&mut bytes) {
            Ok(_) => header.model(Content::Unpacked(bytes)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(ModelProblem::Truncated { found: bytes.len() as u64, expected: length })
            }
            Err(error) => Err(cannot_unpack(error)),
        }
    }
}

/// A larger model should be mapped, not held in memory.
const LONGEST_UNPACKED: u64 = 1 << 30;

fn cannot_unpack(error: io::Error) -> ModelProblem {
    ModelProblem::Altered { what: format!("it cannot be unpacked ({error})") }
}

/// Keeps what is read.
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

/// The start of a file, copied into memory.
struct Header {
    metadata: Metadata,
    /// Where tables start.
    start: u64,
}

impl Header {
    /// More than this is no header: that of a real model has some ten thousand bytes.
    const LONGEST: u64 = 1 << 26;

    /// Reads it from the start of a file.
    fn read(mut file: impl Read) -> Result<Self, ModelProblem> {
        let mut opening = Vec::new();
        file.by_ref().take(512).read_to_end(&mut opening).map_err(ModelProblem::Unreadable)?;
        let Some((length, [b'{', ..])) = opening.split_first_chunk::<8>() else {
            return Err(ModelProblem::NotAModel { found: looks_like(&opening) });
        };
        let length = u64::from_le_bytes(*length);
        if length > Self::LONGEST {
            return Err(ModelProblem::NotAModel { found: looks_like(&opening) });
        }
        let start = 8 + length;
        let mut text = opening.split_off(8);
        let rest = start.saturating_sub(8 + text.len() as u64);
        let read = file.take(rest).read_to_end(&mut text);
        let found = 8 + text.len() as u64;
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => ModelProblem::Truncated { found, expected: start },
            _ => ModelProblem::Unreadable(error),
        })?;
        if found < start {
            return Err(ModelProblem::Truncated { found, expected: start });
        }
        text.truncate(length as usize);
        let metadata: Metadata = serde_json::from_slice(&text).map_err(altered)?;
        Ok(Self { metadata, start })
    }

    /// What the length of the file should be.
    fn length(&self) -> u64 {
        self.start.saturating_add(self.metadata.data_len() as u64)
    }

    /// Compares the length of the file with that of its tables.
    fn check_length(&self, bytes: u64) -> Result<(), ModelProblem> {
        let expected = self.length();
        match bytes {
            _ if bytes == expected => Ok(()),
            _ if bytes < expected => Err(ModelProblem::Truncated { found: bytes, expected }),
            _ => Err(ModelProblem::Altered { what: format!("{bytes} bytes, not {expected}") }),
        }
    }

    /// The text of its document and what that says, if it is of this format.
    fn document(&self) -> Result<(&str, Document), ModelProblem> {
        let text = self.metadata.metadata().as_ref().and_then(|map| map.get(DOCUMENT));
        let text = text.ok_or(ModelProblem::NotAModel { found: "tensors of another program" })?;
        let AnyDocument { format, tutte } = serde_json::from_str(text).map_err(altered)?;
        if format != FORMAT {
            let (found, expected) = (format, FORMAT);
            return Err(ModelProblem::FormatVersion { found, expected, writer: tutte });
        }
        Ok((text, serde_json::from_str(text).map_err(altered)?))
    }

    /// The model whose header this is.
    fn model(&self, content: Content) -> Result<ModelFile, ModelProblem> {
        let bytes = content.len() as u64;
        self.check_length(bytes)?;
        let (text, document) = self.document()?;
        let content = Arc::new(content);
        let start = self.start as usize;
        let tables = Tables { metadata: &self.metadata, start, content: &content };
        tables.check(text, &document.checksum)?;
        let Document { format, checksum, tutte, about, .. } = &document;
        Ok(ModelFile {
            about: about.clone(),
            format: *format,
            tutte: tutte.clone(),
            checksum: checksum.clone(),
            bytes,
            model: document.model(&tables)?,
        })
    }
}

fn altered(error: serde_json::Error) -> ModelProblem {
    ModelProblem::Altered { what: format!("its header cannot be read ({error})") }
}

const GZIP: &str = "a gzip file";
const ZSTANDARD: &str = "a Zstandard file";
const PACKED_OTHER: &str = "something else that is packed";

/// What a file that is no model seems to be, from its start.
fn looks_like(opening: &[u8]) -> &'static str {
    match opening {
        [] => "an empty file",
        [0x1f, 0x8b, ..] => GZIP,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => ZSTANDARD,
        [b'P', b'K', 3, 4, ..] => "a zip file",
        // The start may end in the middle of a character.
        _ if !opening.contains(&0)
            && std::str::from_utf8(opening).map_or_else(|e| e.error_len().is_none(), |_| true) =>
        {
            "a text file"
        }
        _ => "a file of another kind",
    }
}

/// The tables of a file.
pub(super) struct Tables<'a> {
    metadata: &'a Metadata,
    start: usize,
    content: &'a Arc<Content>,
}

impl Tables<'_> {
    /// Compares the checksum.
    fn check(&self, document: &str, expected: &str) -> Result<(), ModelProblem> {
        let tables = self.metadata.tensors();
        let content = tables.iter().map(|(name, info)| {
            (name.as_str(), info.shape.as_slice(), &self.content[self.range(info)])
        });
        let found = checksum(&document.replacen(expected, NO_CHECKSUM, 1), content);
        // Nothing else would ever be seen by a fuzzer.
        if found != expected && !cfg!(fuzzing) {
            let what = format!("its checksum is {found}, not {expected}");
            return Err(ModelProblem::Altered { what });
        }
        Ok(())
    }

    /// Where in the file a table is; the header's reader has checked that all fit.
    fn range(&self, info: &TensorInfo) -> std::ops::Range<usize> {
        let (start, end) = info.data_offsets;
        self.start + start..self.start + end
    }

    /// A table of a given kind and shape.
    pub(super) fn find(
        &self,
        name: &'static str,
        dtype: Dtype,
        shape: &[usize],
    ) -> Result<std::ops::Range<usize>, ModelProblem> {
        let show = |dtype: Dtype, shape: &[usize]| format!("{dtype:?} {shape:?}");
        let wrong = |found| ModelProblem::Table { name, found, expected: show(dtype, shape) };
        let info = self.metadata.info(name).ok_or_else(|| wrong("missing".to_owned()))?;
        if info.dtype != dtype || info.shape != shape {
            return Err(wrong(show(info.dtype, &info.shape)));
        }
        Ok(self.range(info))
    }

    /// A list of a given kind, however long.
    pub(super) fn list(&self, name: &'static str, dtype: Dtype) -> Result<&[u8], ModelProblem> {
        let shape = self.metadata.info(name).map(|info| info.shape.as_slice());
        let length = shape.and_then(|shape| shape.first().copied()).unwrap_or_default();
        Ok(self.bytes(self.find(name, dtype, &[length])?))
    }

    /// The bytes of a table.
    pub(super) fn bytes(&self, range: std::ops::Range<usize>) -> &[u8] {
        &self.content[range]
    }

    /// A table of weights of a given shape, and its scale.
    pub(super) fn weights(
        &self,
        name: &'static str,
        shape: &[usize],
        scale: &'static str,
    ) -> Result<Compact, ModelProblem> {
        let cells = self.find(name, Dtype::I8, shape)?;
        Ok(Compact::in_file(self.content, cells, self.scale(scale)?))
    }

    /// Of how many kinds the arcs are whose weights a table has.
    fn kinds(&self, name: &'static str) -> usize {
        match self.metadata.info(name).map(|info| info.shape.as_slice()) {
            Some(&[kinds, _]) if kinds > 1 => kinds,
            _ => 1,
        }
    }

    fn scale(&self, name: &'static str) -> Result<f32, ModelProblem> {
        let bytes = self.bytes(self.find(name, Dtype::F32, &[1])?);
        let scale = bytes.first_chunk().map_or(f32::NAN, |bytes| f32::from_le_bytes(*bytes));
        if scale.is_finite() && scale > 0.0 {
            return Ok(scale);
        }
        let expected = "a number above 0".to_owned();
        Err(ModelProblem::Table { name, found: scale.to_string(), expected })
    }
}

impl Document {
    /// Binary logarithms of sizes that a machine can hold.
    const BITS: std::ops::RangeInclusive<u32> = 1..=30;

    fn model(self, tables: &Tables<'_>) -> Result<Model<Compact>, ModelProblem> {
        let tree_set: TreeSet =
            self.tree_set.parse().map_err(|_| ModelProblem::UnknownTreeSet(self.tree_set))?;
        let arcs = self.arcs.model(&ARCS, tables)?;
        let number = |name, value: f64, least: f64| match value.is_finite() && value > least {
            true => Ok(value),
            false => Err(ModelProblem::Altered { what: format!("its {name} is {value}") }),
        };
        let guided = self.guided.map(|guided| {
            let arcs = guided.arcs.model(&GUIDED, tables)?;
            Ok(Guided { arcs, threshold: number("threshold", guided.threshold, -1.0)? })
        });
        let pruner = self.pruner.map(|pruner| {
            let arcs = pruner.arcs.model(&PRUNER, tables)?;
            Ok(Pruner { arcs, threshold: number("threshold", pruner.threshold, -1.0)? })
        });
        let LabelDocument { labelling, names, places, bits, templates } = self.labels;
        // Fewer rows than a feature has are enough only for no feature.
        let fewest = if names.is_empty() { *Self::BITS.start() } else { 2 };
        let bits = within(bits, fewest..=*Self::BITS.end())?;
        let width = width_of(names.len());
        if let Some(info) = tables.metadata.info("labels")
            && let [_, columns] = info.shape[..]
            && (columns != width || names.is_empty() != (labelling == Labelling::None))
        {
            return Err(ModelProblem::LabelCount { labels: names.len(), columns });
        }
        let weights = tables.weights("labels", &[1 << bits, width], "labels.scale")?;
        let places = Places::from_lists(names.len(), [&places[0], &places[1]]);
        let places = places.ok_or_else(|| {
            let what = format!("it places a label that is none of its {}", names.len());
            ModelProblem::Altered { what }
        })?;
        let labels = LabelModel::with_weights(features(&templates)?, names, bits, weights)
            .with_labelling(labelling)
            .with_places(places);
        Ok(Model {
            pruner: pruner.transpose()?,
            arcs,
            guided: guided.transpose()?,
            labels,
            tree_set,
            temperature: number("temperature", self.temperature, 0.0)?,
            calibration: self.calibration,
            tagger: self.tagger.map(|tagger| tables.tagger(tagger)).transpose()?.map(Arc::new),
            tokenizer: self
                .tokenizer
                .map(|tokenizer| tables.tokenizer(tokenizer))
                .transpose()?
                .map(Arc::new),
        })
    }
}

fn within(bits: u32, range: std::ops::RangeInclusive<u32>) -> Result<u32, ModelProblem> {
    if range.contains(&bits) {
        return Ok(bits);
    }
    let what = format!("a table of 2^{bits} cells; possible are 2^{range:?}");
    Err(ModelProblem::Altered { what })
}
