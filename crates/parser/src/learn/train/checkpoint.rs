//! Checkpoints: the whole state of a training after a pass, as a file that it can be resumed from.
//!
//! ```text
//! magic     16 bytes
//! format    u64
//! settings  (name, value) as text: everything else that decides the bits of the model
//! place     number of passes done, in all and in this stage; the stage
//! pruner    weights, if there is one
//! first     in the second stage: weights of the first pass, temperature, transition parser if there is one,
//!           first-pass outputs
//! trainer   current weights and state of their optimizers, see `Checkpointed`
//! checksum  u64, XXH3 of all bytes before
//! ```
//!
//! A file is read twice: first for its checksum, then for its content, which streams into its tables without a
//! second copy in memory.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Take, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tutte_linear::{Checkpointed, Checksum, Codec};
use tutte_treebank::{AtomicFile, Sentence};

use super::{TrainingOptions, start};
use crate::features::FirstPassOutput;
use crate::learn::TrainingSet;
use crate::{CheckpointProblem, Error, ParserModel};

const MAGIC: [u8; 16] = *b"tutte checkpoint";
/// Version of the format. It changes whenever a `Checkpointed` type changes what it writes.
const FORMAT: u64 = 5;
/// Largest number of passes that a checkpoint may name.
const MOST_PASSES: usize = u32::MAX as usize;
/// Number of bytes of the checksum.
const CHECKSUM: u64 = 8;

/// A saved training, from which [`train_resumable`](super::train_resumable) can resume.
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    settings: Settings,
    place: CheckpointPlace,
    /// The part that has not been read yet.
    rest: Take<BufReader<File>>,
}

/// Position in a training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckpointPlace {
    /// Number of passes over the treebank so far, in both stages.
    pub passes: usize,
    /// Number of the last pass in its stage, as in [`Pass`](super::Pass).
    pub number: usize,
    /// `true` if that pass belongs to the second pass of parsing.
    pub is_second: bool,
}

/// Settings that two trainings must share to give the same model, by name.
pub(in crate::learn) type Settings = Vec<(String, String)>;

impl Checkpoint {
    /// Opens a file that [`Snapshot::save`] has written, and checks that it is whole.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if the file is damaged or not a checkpoint.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        Self::read_header(path).map_err(|problem| checkpoint_error(path, problem))
    }

    fn read_header(path: &Path) -> Result<Self, CheckpointProblem> {
        let mut file = File::open(path).map_err(CheckpointProblem::Unreadable)?;
        let length = check(&mut file)?;
        file.seek(SeekFrom::Start(MAGIC.len() as u64)).map_err(CheckpointProblem::Unreadable)?;
        let mut rest = BufReader::new(file).take(length - MAGIC.len() as u64);
        let mut format = 0;
        let mut settings = Settings::new();
        let mut place = CheckpointPlace::default();
        header(&mut Codec::Read(&mut rest), &mut format, &mut settings, &mut place)
            .map_err(damaged)?;
        let CheckpointPlace { passes, number, .. } = place;
        if number > passes || passes > MOST_PASSES {
            let what = format!("it is of pass {number} after {passes} passes");
            return Err(CheckpointProblem::Damaged { what });
        }
        Ok(Self { path: path.to_owned(), settings, place, rest })
    }

    /// Returns the position of the training.
    pub fn place(&self) -> CheckpointPlace {
        self.place
    }

    /// Checks that a training with these sentences, options and development data can resume from here.
    /// [`train_resumable`](super::train_resumable) checks it, too.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] with the settings that differ.
    pub fn suits(
        &self,
        treebank: &TrainingSet<'_>,
        options: &TrainingOptions,
        dev: &[Sentence],
    ) -> Result<(), Error> {
        self.check(&settings(treebank, options, dev))
    }

    /// Reads the next part.
    pub(super) fn read(
        &mut self,
        fill: impl FnOnce(&mut Codec<'_>) -> io::Result<()>,
    ) -> Result<(), Error> {
        fill(&mut Codec::Read(&mut self.rest))
            .map_err(|error| checkpoint_error(&self.path, damaged(error)))
    }

    /// Returns the error for a content that cannot be.
    pub(super) fn damaged(&self, what: &str) -> Error {
        checkpoint_error(&self.path, CheckpointProblem::Damaged { what: what.to_owned() })
    }

    /// Reads the last part.
    pub(in crate::learn) fn finish(mut self, trainer: &mut dyn Checkpointed) -> Result<(), Error> {
        self.read(|codec| trainer.checkpoint(codec))?;
        match self.rest.limit() {
            0 => Ok(()),
            more => {
                let what = format!("it has {more} bytes too many");
                Err(checkpoint_error(&self.path, CheckpointProblem::Damaged { what }))
            }
        }
    }

    /// Refuses to resume with other settings.
    pub(in crate::learn) fn check(&self, now: &Settings) -> Result<(), Error> {
        let before = |name: &String| self.settings.iter().find(|(other, _)| other == name);
        let differences: Vec<(String, String, String)> = now
            .iter()
            .filter_map(|(name, value)| {
                let before = before(name).map_or("none", |(_, value)| value);
                (before != value).then(|| (name.clone(), before.to_owned(), value.clone()))
            })
            .collect();
        if differences.is_empty() {
            Ok(())
        } else {
            Err(checkpoint_error(&self.path, CheckpointProblem::Different { differences }))
        }
    }
}

/// Writes or reads all that precedes the tables.
fn header(
    codec: &mut Codec<'_>,
    format: &mut u64,
    settings: &mut Settings,
    place: &mut CheckpointPlace,
) -> io::Result<()> {
    codec.value(format)?;
    let mut count = settings.len() as u64;
    codec.value(&mut count)?;
    for at in 0..count as usize {
        if at == settings.len() {
            settings.push(Default::default());
        }
        let (name, value) = &mut settings[at];
        codec.text(name)?;
        codec.text(value)?;
    }
    codec.value(&mut place.passes)?;
    codec.value(&mut place.number)?;
    codec.flag(&mut place.is_second)
}

/// Checks magic, format and checksum. Returns the length without the checksum.
fn check(file: &mut File) -> Result<u64, CheckpointProblem> {
    let unreadable = CheckpointProblem::Unreadable;
    let length = file.metadata().map_err(unreadable)?.len();
    let mut start = [0; MAGIC.len() + 8];
    let found = read_up_to(file, &mut start).map_err(unreadable)?;
    let (magic, format) = start.split_at(MAGIC.len());
    if !magic.starts_with(&MAGIC) {
        return Err(CheckpointProblem::NotACheckpoint);
    }
    let mut version = 0u64;
    bytemuck::bytes_of_mut(&mut version).copy_from_slice(format);
    if found < start.len() || length < start.len() as u64 + CHECKSUM {
        return Err(CheckpointProblem::Damaged { what: "it is cut off".to_owned() });
    }
    let content = length - CHECKSUM;
    if version != FORMAT {
        return Err(CheckpointProblem::FormatVersion { found: version, expected: FORMAT });
    }
    let mut hash = Checksum::default();
    hash.update(&start);
    let mut buffer = vec![0; 1 << 16];
    let mut left = content - start.len() as u64;
    while left > 0 {
        let size = left.min(buffer.len() as u64) as usize;
        file.read_exact(&mut buffer[..size]).map_err(unreadable)?;
        hash.update(&buffer[..size]);
        left -= size as u64;
    }
    let mut checksum = 0u64;
    file.read_exact(bytemuck::bytes_of_mut(&mut checksum)).map_err(unreadable)?;
    if checksum == hash.value() {
        Ok(content)
    } else {
        let what = "its checksum does not match; it is cut off or was altered".to_owned();
        Err(CheckpointProblem::Damaged { what })
    }
}

fn read_up_to(file: &mut File, bytes: &mut [u8]) -> io::Result<usize> {
    let mut found = 0;
    while found < bytes.len() {
        match file.read(&mut bytes[found..]) {
            Ok(0) => break,
            Ok(more) => found += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

fn damaged(error: io::Error) -> CheckpointProblem {
    CheckpointProblem::Damaged { what: error.to_string() }
}

fn checkpoint_error(path: &Path, problem: CheckpointProblem) -> Error {
    Error::Checkpoint { path: path.to_owned(), problem }
}

/// The state of a training after a pass, ready to be saved.
pub struct Snapshot<'a> {
    pub(in crate::learn) settings: &'a Settings,
    pub(in crate::learn) place: CheckpointPlace,
    /// Model with its pruner and, in the second stage, its first pass. Of a network, the trainer has all weights.
    pub(in crate::learn) model: &'a mut ParserModel,
    pub(in crate::learn) first_pass_outputs: &'a [Arc<FirstPassOutput>],
    pub(in crate::learn) trainer: &'a mut dyn Checkpointed,
}

impl std::fmt::Debug for Snapshot<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot").field("place", &self.place).finish_non_exhaustive()
    }
}

impl Snapshot<'_> {
    /// Returns the position of the training.
    pub fn place(&self) -> CheckpointPlace {
        self.place
    }

    /// Writes the snapshot to a file that [`Checkpoint::open`] reads. The file appears whole or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&mut self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        let file = AtomicFile::create(path)?;
        let file = self.write(file).map_err(|source| {
            let path = path.to_owned();
            tutte_treebank::Error::File { path, action: "write", source }
        })?;
        Ok(file.commit()?)
    }

    fn write<W: Write>(&mut self, to: W) -> io::Result<W> {
        let mut out =
            BufWriter::with_capacity(1 << 16, HashingWriter { to, hash: Checksum::default() });
        out.write_all(&MAGIC)?;
        let codec = &mut Codec::Write(&mut out);
        header(codec, &mut { FORMAT }, &mut self.settings.clone(), &mut self.place)?;
        if let Some(pruner) = &mut self.model.pruner {
            codec.table(&mut pruner.arcs.weights)?;
        }
        if self.place.is_second {
            codec.table(&mut self.model.arcs.weights)?;
            codec.value(&mut self.model.temperature)?;
            let second_pass = self.model.second_pass.as_mut();
            if let Some(transition) =
                second_pass.and_then(|second_pass| second_pass.transition.as_mut())
            {
                transition.checkpoint(codec)?;
            }
            self.first_pass_outputs.iter().try_for_each(|first_pass_output| {
                FirstPassOutput::clone(first_pass_output).checkpoint(codec)
            })?;
        }
        self.trainer.checkpoint(codec)?;
        let HashingWriter { mut to, hash } = out.into_inner()?;
        to.write_all(&hash.value().to_ne_bytes())?;
        Ok(to)
    }
}

/// A writer that hashes what it writes.
struct HashingWriter<W> {
    to: W,
    hash: Checksum,
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Returns all settings that decide the bits of the model. The number of threads does not.
pub(super) fn settings(
    treebank: &TrainingSet<'_>,
    options: &TrainingOptions,
    dev: &[Sentence],
) -> Settings {
    // All by name, so that the compiler asks about every new option.
    let TrainingOptions {
        optimizer,
        labelling,
        labels,
        passes,
        clusters,
        templates,
        dictionary,
        bits,
        label_bits,
        pruning,
        second_pass,
        tree_set,
        annealing,
        init,
        seed,
        threads: _,
    } = options;
    let lines = templates.templates().iter().map(ToString::to_string);
    [
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("treebank", fingerprint("sentences", treebank.sentences().iter().map(Sentence::as_str))),
        ("development data", fingerprint("sentences", dev.iter().map(Sentence::as_str))),
        ("what is looked at", fingerprint("templates", lines)),
        ("dictionary", format!("{dictionary:?}")),
        ("learner", optimizer.to_string()),
        ("labels", labelling.to_string()),
        ("learning of labels", format!("{labels:?}")),
        ("passes", passes.to_string()),
        ("clusters", clusters.to_string()),
        ("bits", bits.to_string()),
        ("bits of labels", label_bits.to_string()),
        ("pruning", format!("{pruning:?}")),
        ("second pass", format!("{second_pass:?}")),
        ("tree set", tree_set.to_string()),
        ("versions", treebank.versions().to_string()),
        ("annealing", annealing.map_or("none".to_owned(), |annealing| annealing.to_string())),
        ("initial weights", init.as_deref().map_or("none".to_owned(), start::fingerprint)),
        ("seed", seed.to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// Returns the number of texts and their hash.
pub(in crate::learn) fn fingerprint(
    name: &str,
    texts: impl Iterator<Item = impl AsRef<str>>,
) -> String {
    let mut hash = Checksum::default();
    let mut count = 0;
    for text in texts {
        hash.update_line(text.as_ref());
        count += 1;
    }
    format!("of {count} {name} ({hash})")
}

#[cfg(test)]
mod tests;
