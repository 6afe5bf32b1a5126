//! What was learnt before the parser, kept beside the model until that is finished.
//!
//! ```text
//! en.tutte.resume-text  a model of its own, with tokenizer and tagger; its description says of which training
//! en.tutte.resume-tags  the treebank as taggers tagged it that had not seen it, if the parser learns from that
//! ```
//!
//! Both are of use only if the training is the same: treebank, seed, sizes. Tags belong to a model whose
//! description has their hash.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use tutte::{About, Model, ModelFile};
use tutte_treebank::{AtomicFile, Reader, Sentence, Writer};
use xxhash_rust::xxh3::Xxh3;

use super::progress::discard;
use super::text::Text;
use crate::failure::advise;

/// Where it is kept, and what it must be of.
#[derive(Debug)]
pub(super) struct Shelf {
    text: PathBuf,
    tags: PathBuf,
    /// What may have been left by another training's parser.
    stale: PathBuf,
    /// What two trainings must share, by name.
    settings: Vec<(String, String)>,
}

/// The name of the hash of tags in a description.
const TAGGED: &str = "tagged treebank";

/// What is found there.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) text: Text,
    pub(super) tagged: Option<Vec<Sentence>>,
}

/// `en.tutte.resume` and so on: files beside a model.
pub(super) fn beside(output: &Path, ending: &str) -> PathBuf {
    let mut path = OsString::from(output);
    path.push(ending);
    path.into()
}

/// What is kept of tokenizer and tagger, and of tags.
pub(super) fn files(output: &Path) -> [PathBuf; 2] {
    [".resume-text", ".resume-tags"].map(|ending| beside(output, ending))
}

/// Whether there is something of a tokenizer or tagger to go on from.
pub(super) fn is_there(output: &Path) -> bool {
    files(output)[0].is_file()
}

impl Shelf {
    /// That of a training from a treebank, with these settings.
    pub(super) fn new(output: &Path, train: &[Sentence], settings: &[(&str, String)]) -> Self {
        let treebank = format!("of {} sentences ({})", train.len(), hash(train));
        let always = [("version", env!("CARGO_PKG_VERSION").to_owned()), ("treebank", treebank)];
        let settings = always.iter().chain(settings);
        let [text, tags] = files(output);
        Self {
            text,
            tags,
            stale: super::checkpoint::path(output),
            settings: settings.map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
        }
    }

    /// What is there, if it is of this training.
    pub(super) fn open(&self) -> Result<Kept> {
        if !self.text.is_file() {
            return Ok(Kept::default());
        }
        let hint = "go on with the files and options it was started with, or start afresh without \
                    --resume";
        let ModelFile { model, about, .. } =
            ModelFile::open(&self.text).map_err(|error| advise(error, hint))?;
        let found = |name: &str| {
            let mut all = about.training.iter();
            all.find(|(other, _)| other == name).map_or("none", |(_, value)| value)
        };
        let differences: Vec<String> = self
            .settings
            .iter()
            .filter(|(name, value)| found(name) != value)
            .map(|(name, value)| format!("{name} was {} and is {value}", found(name)))
            .collect();
        if !differences.is_empty() {
            let (path, what) = (self.text.display(), differences.join("; "));
            return Err(advise(anyhow!("{path}: of another training: {what}"), hint));
        }
        let Model { tokenizer, tagger, .. } = model;
        let text = Text { tokenizer, tagger };
        let tagged = match found(TAGGED) {
            "none" => None,
            expected => self.read_tags().filter(|tagged| hash(tagged) == expected),
        };
        Ok(Kept { text, tagged })
    }

    /// Tags that cannot be read are learnt again.
    fn read_tags(&self) -> Option<Vec<Sentence>> {
        let file = fs::File::open(&self.tags).ok()?;
        Reader::new(std::io::BufReader::new(file)).collect::<Result<_, _>>().ok()
    }

    /// Keeps what is ready, and the treebank as it was tagged.
    pub(super) fn keep(&self, text: &Text, tagged: Option<&[Sentence]>) -> Result<()> {
        let mut training = self.settings.clone();
        if let Some(tagged) = tagged {
            let mut writer = Writer::new(AtomicFile::create(&self.tags)?);
            tagged.iter().try_for_each(|sentence| writer.write(sentence))?;
            writer.finish()?.commit()?;
            training.push((TAGGED.to_owned(), hash(tagged)));
        }
        // The set of trees is the parser's, which there is none of.
        let mut model = Model::default();
        text.put_into(&mut model);
        model.save(&self.text, &About { training, ..About::default() })?;
        // A parser that has learnt from other tags does not go on with these.
        discard(&self.stale)
    }
}

/// Sentences told from others.
fn hash(sentences: &[Sentence]) -> String {
    let mut hash = Xxh3::new();
    for sentence in sentences {
        hash.update(sentence.as_str().as_bytes());
        hash.update(b"\n");
    }
    format!("{:016x}", hash.digest())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn treebank(tag: &str) -> Vec<Sentence> {
        vec![format!("1\tTea\ttea\t{tag}\t_\t_\t0\troot\t_\t_\n\n").parse().unwrap()]
    }

    #[test]
    fn what_is_kept_is_found_by_the_same_training_only() {
        let folder = std::env::temp_dir().join(format!("tutte-shelf-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let output = folder.join("en.tutte");
        let shelf = |tag: &str, seed: u64| {
            Shelf::new(&output, &treebank(tag), &[("seed", seed.to_string())])
        };
        let noun = shelf("NOUN", 1);
        assert!(noun.open().unwrap().tagged.is_none(), "nothing is there yet");
        noun.keep(&Text::default(), Some(&treebank("VERB"))).unwrap();
        let kept = shelf("NOUN", 1).open().unwrap();
        assert!(kept.text.tokenizer.is_none());
        assert_eq!(kept.tagged, Some(treebank("VERB")));
        let said = shelf("NOUN", 2).open().unwrap_err().to_string();
        assert!(said.ends_with("of another training: seed was 1 and is 2"), "{said}");
        assert!(shelf("X", 1).open().unwrap_err().to_string().contains("treebank was of 1 "));

        fs::write(&noun.tags, "damaged").unwrap();
        assert!(noun.open().unwrap().tagged.is_none(), "tags of something else");
        assert!(is_there(&output));
        files(&output).iter().for_each(|path| discard(path).unwrap());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::remove_dir_all(folder).unwrap();
    }
}
