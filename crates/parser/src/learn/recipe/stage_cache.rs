//! Files kept beside a model until its training has ended.
//!
//! ```text
//! en.tutte.best         the best model so far
//! en.tutte.resume       the checkpoint of the parser
//! en.tutte.resume-text  a model with tokenizer and tagger; its description names the training
//! en.tutte.resume-tags  the treebank with jackknifed tags, if the parser learns from them
//! ```
//!
//! The last two are used only by the same training: same treebank, seed and sizes. The tags belong to the model
//! whose description has their hash.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tutte_linear::{Checksum, Compact};
use tutte_text::{Tagger, Tokenizer};
use tutte_treebank::{AtomicFile, Reader, Sentence, Writer, beside};

use crate::{About, CheckpointProblem, Error, Model, ModelFile};

/// The parts of a model that are not its parser.
#[derive(Clone, Debug, Default)]
pub(super) struct TextParts {
    pub(super) tokenizer: Option<Arc<Tokenizer<Compact>>>,
    pub(super) tagger: Option<Arc<Tagger<Compact>>>,
}

impl TextParts {
    /// Puts these parts into a model.
    pub(super) fn put_into(&self, model: &mut Model<Compact>) {
        model.tokenizer.clone_from(&self.tokenizer);
        model.tagger.clone_from(&self.tagger);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tokenizer.is_none() && self.tagger.is_none()
    }
}

/// The files of a training, and the settings that must agree.
#[derive(Debug)]
pub(super) struct StageCache {
    /// Nothing is kept without files.
    files: Option<CacheFiles>,
    /// Settings that two trainings must share, by name.
    settings: Vec<(String, String)>,
}

#[derive(Debug)]
struct CacheFiles {
    text: PathBuf,
    tags: PathBuf,
    /// Checkpoint of a parser that may have learnt from other tags.
    checkpoint: PathBuf,
}

/// Name of the hash of jackknifed tags in a description.
const TAGGED: &str = "tagged treebank";

/// Stages of an interrupted training.
#[derive(Debug, Default)]
pub(super) struct CachedStages {
    pub(super) text: TextParts,
    pub(super) tagged: Option<Vec<Sentence>>,
}

/// Returns the path of the best model so far of a training that has not ended: `en.tutte.best` for `en.tutte`.
pub fn best_path(output: &Path) -> PathBuf {
    beside(output, ".best")
}

/// Returns the path of the checkpoint of a model's parser.
pub(super) fn checkpoint_path(output: &Path) -> PathBuf {
    beside(output, ".resume")
}

/// Returns the paths of tokenizer and tagger, and of jackknifed tags.
pub(super) fn paths(output: &Path) -> [PathBuf; 2] {
    [".resume-text", ".resume-tags"].map(|ending| beside(output, ending))
}

/// Returns `true` if a training of this model left stages behind.
pub(super) fn has_stages(output: &Path) -> bool {
    paths(output)[0].is_file()
}

/// Removes the stages of a finished training.
pub(super) fn remove_stages(output: &Path) -> Result<(), Error> {
    paths(output).iter().try_for_each(|path| remove(path))
}

/// Removes a file, if there is one.
pub(super) fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != ErrorKind::NotFound => {
            Err(tutte_treebank::Error::File { path: path.to_owned(), action: "remove", source }
                .into())
        }
        _ => Ok(()),
    }
}

impl StageCache {
    /// Opens the cache of a training from a treebank, with these settings.
    pub(super) fn new(
        output: Option<&Path>,
        train: &[Sentence],
        settings: &[(&str, String)],
    ) -> Self {
        let treebank = format!("of {} sentences ({})", train.len(), hash(train));
        let always = [("version", env!("CARGO_PKG_VERSION").to_owned()), ("treebank", treebank)];
        let settings = always.iter().chain(settings);
        let files = output.map(|output| {
            let [text, tags] = paths(output);
            CacheFiles { text, tags, checkpoint: checkpoint_path(output) }
        });
        Self {
            files,
            settings: settings.map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
        }
    }

    /// Reads the stages of an interrupted training.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if they are of another training.
    pub(super) fn open(&self) -> Result<CachedStages, Error> {
        let Some(files) = self.files.as_ref().filter(|files| files.text.is_file()) else {
            return Ok(CachedStages::default());
        };
        let ModelFile { model, about, .. } = ModelFile::open(&files.text)?;
        let found = |name: &str| {
            let mut all = about.training.iter();
            all.find(|(other, _)| other == name).map_or("none", |(_, value)| value)
        };
        let differences: Vec<(String, String, String)> = self
            .settings
            .iter()
            .filter(|(name, value)| found(name) != value)
            .map(|(name, value)| (name.clone(), found(name).to_owned(), value.clone()))
            .collect();
        if !differences.is_empty() {
            let problem = CheckpointProblem::Different { differences };
            return Err(Error::Checkpoint { path: files.text.clone(), problem });
        }
        let Model { tokenizer, tagger, .. } = model;
        let tagged = match found(TAGGED) {
            "none" => None,
            expected => read_tags(&files.tags).filter(|tagged| hash(tagged) == expected),
        };
        Ok(CachedStages { text: TextParts { tokenizer, tagger }, tagged })
    }

    /// Keeps the stages that are ready.
    pub(super) fn keep(&self, text: &TextParts, tagged: Option<&[Sentence]>) -> Result<(), Error> {
        let Some(files) = &self.files else { return Ok(()) };
        let mut training = self.settings.clone();
        if let Some(tagged) = tagged {
            let mut writer = Writer::new(AtomicFile::create(&files.tags)?);
            let cannot = |source| {
                let path = files.tags.clone();
                tutte_treebank::Error::File { path, action: "write", source }
            };
            tagged.iter().try_for_each(|sentence| writer.write(sentence)).map_err(cannot)?;
            writer.finish().map_err(cannot)?.commit()?;
            training.push((TAGGED.to_owned(), hash(tagged)));
        }
        let mut model = Model::default();
        text.put_into(&mut model);
        model.save(&files.text, &About { training, ..About::default() })?;
        // A parser that has learnt from other tags cannot resume with these.
        remove(&files.checkpoint)
    }
}

/// Reads jackknifed tags. If they cannot be read, they are made again.
fn read_tags(path: &Path) -> Option<Vec<Sentence>> {
    let file = fs::File::open(path).ok()?;
    Reader::new(std::io::BufReader::new(file)).collect::<Result<_, _>>().ok()
}

/// Returns a hash of sentences.
fn hash(sentences: &[Sentence]) -> String {
    let mut hash = Checksum::default();
    sentences.iter().for_each(|sentence| hash.update_line(sentence.as_str()));
    hash.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn treebank(tag: &str) -> Vec<Sentence> {
        vec![format!("1\tTea\ttea\t{tag}\t_\t_\t0\troot\t_\t_\n\n").parse().unwrap()]
    }

    #[test]
    fn stages_are_found_by_the_same_training_only() {
        let folder = std::env::temp_dir().join(format!("tutte-stages-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let output = folder.join("en.tutte");
        let cache = |tag: &str, seed: u64| {
            StageCache::new(Some(&output), &treebank(tag), &[("seed", seed.to_string())])
        };
        let noun = cache("NOUN", 1);
        assert!(noun.open().unwrap().tagged.is_none(), "nothing is there yet");
        noun.keep(&TextParts::default(), Some(&treebank("VERB"))).unwrap();
        let stages = cache("NOUN", 1).open().unwrap();
        assert!(stages.text.tokenizer.is_none());
        assert_eq!(stages.tagged, Some(treebank("VERB")));
        let said = cache("NOUN", 2).open().unwrap_err().to_string();
        assert!(said.ends_with("of another training: seed was 1 and is 2"), "{said}");
        assert!(cache("X", 1).open().unwrap_err().to_string().contains("treebank was of 1 "));

        fs::write(paths(&output)[1].clone(), "damaged").unwrap();
        assert!(noun.open().unwrap().tagged.is_none(), "tags of something else");
        assert!(has_stages(&output));
        remove_stages(&output).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn checkpoints_lie_beside_models() {
        let path = checkpoint_path(Path::new("models/en.tutte"));
        assert_eq!(path, Path::new("models/en.tutte.resume"));
    }
}
