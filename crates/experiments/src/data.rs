//! Training, tuning and test sentences of experiments.
//!
//! A treebank is a folder in the data folder with the files `train`, `dev` and `test`. Some may be missing:
//! - without `train`, `dev` is the training file;
//! - without a `dev` of its own, the last fifth of the training sentences is held out for tuning;
//! - `test` is used for testing only.
//!
//! [`Cut`] makes them smaller. It keeps sentences evenly spaced over the file, so that all its parts are
//! represented.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, anyhow};
use serde::{Deserialize, Serialize};
use tutte_treebank::Sentence;
use tutte_trees::TreeSet;

/// The treebank whose `newdoc id` names genres.
pub(crate) const ENGLISH: &str = "ud/english-ewt";

/// Source of the sentences of an experiment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Source {
    /// All from one treebank.
    Treebank(String),
    /// Tested on one genre of [`ENGLISH`]; trained and tuned on the same genre, or on all others.
    Genre {
        /// Start of the `newdoc id`.
        genre: String,
        /// Trains on the genre itself.
        inside: bool,
    },
    /// Trained and tuned on [`ENGLISH`], tested on another treebank.
    Transfer(String),
}

impl Source {
    /// Returns a treebank by the name of its folder.
    pub(crate) fn treebank(name: &str) -> Self {
        Source::Treebank(name.to_owned())
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Treebank(name) => f.write_str(short(name)),
            Source::Genre { genre, inside: true } => write!(f, "{genre} → {genre}"),
            Source::Genre { genre, inside: false } => write!(f, "others → {genre}"),
            Source::Transfer(name) => write!(f, "{} → {}", short(ENGLISH), short(name)),
        }
    }
}

/// Returns the name of a treebank without its collection.
fn short(name: &str) -> &str {
    name.strip_prefix("ud/").unwrap_or(name)
}

/// Approximate numbers of words to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Cut {
    /// Training words.
    pub(crate) train: usize,
    /// Tuning words, and the same number of test words.
    pub(crate) test: usize,
}

impl Cut {
    /// All words.
    pub(crate) const NONE: Self = Self { train: usize::MAX, test: usize::MAX };
}

/// The three parts of an experiment.
#[derive(Debug)]
pub(crate) struct Split {
    pub(crate) train: Vec<Sentence>,
    pub(crate) dev: Vec<Sentence>,
    pub(crate) test: Vec<Sentence>,
    /// True if a tree of the whole training file has several roots.
    has_several_roots: bool,
}

impl Split {
    /// Returns the smallest tree set that contains the training trees, projective or not as asked.
    pub(crate) fn tree_set(&self, projective: bool) -> TreeSet {
        match (projective, self.has_several_roots) {
            (false, false) => TreeSet::NonProjectiveSingleRoot,
            (false, true) => TreeSet::NonProjectiveMultiRoot,
            (true, false) => TreeSet::ProjectiveSingleRoot,
            (true, true) => TreeSet::ProjectiveMultiRoot,
        }
    }

    /// Returns the share of crossing arcs in the training trees.
    pub(crate) fn crossing(&self) -> Result<f64> {
        let mut crossing = 0;
        for sentence in &self.train {
            crossing += sentence.tree()?.nonprojective_arcs().len();
        }
        Ok(crossing as f64 / words(&self.train).max(1) as f64)
    }
}

/// Returns the number of words.
pub(crate) fn words(sentences: &[Sentence]) -> usize {
    sentences.iter().map(Sentence::len).sum()
}

/// The data folder. Each split is read once.
#[derive(Debug)]
pub(crate) struct Data {
    folder: PathBuf,
    splits: Mutex<BTreeMap<(Source, Cut), Arc<Split>>>,
}

impl Data {
    /// Opens the folder named by `TUTTE_DATA`, or `../shared/data`.
    pub(crate) fn find() -> Result<Self> {
        let folder = std::env::var_os("TUTTE_DATA")
            .map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
        if !folder.is_dir() {
            return Err(anyhow!(
                "{} is not a folder: set TUTTE_DATA to the folder with the treebanks",
                folder.display()
            ));
        }
        Ok(Self::at(folder))
    }

    /// Opens a folder.
    pub(crate) fn at(folder: PathBuf) -> Self {
        Self { folder, splits: Mutex::default() }
    }

    /// Returns the sentences of an experiment.
    pub(crate) fn split(&self, source: &Source, cut: Cut) -> Result<Arc<Split>> {
        let mut splits = self.splits.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (source.clone(), cut);
        if let Some(split) = splits.get(&key) {
            return Ok(Arc::clone(split));
        }
        let split =
            self.read(source, cut).with_context(|| format!("cannot read the data of {source}"))?;
        let split = Arc::new(split);
        splits.insert(key, Arc::clone(&split));
        Ok(split)
    }

    fn read(&self, source: &Source, cut: Cut) -> Result<Split> {
        let (train, dev, test) = match source {
            Source::Treebank(name) => {
                let (train, dev) = self.learning(name)?;
                (train, dev, self.file(name, "test")?)
            }
            Source::Genre { genre, inside } => {
                let (train, dev) = self.learning(ENGLISH)?;
                let of = |sentences| of_genre(sentences, |found| (found == genre) == *inside);
                let test = of_genre(self.file(ENGLISH, "test")?, |found| found == genre);
                (of(train), of(dev), test)
            }
            Source::Transfer(name) => {
                let (train, dev) = self.learning(ENGLISH)?;
                (train, dev, self.file(name, "test")?)
            }
        };
        if train.is_empty() || dev.is_empty() || test.is_empty() {
            return Err(anyhow!("no sentences for training, tuning or testing"));
        }
        let has_several_roots = has_several_roots(&train)?;
        let [train, dev, test] = [(train, cut.train), (dev, cut.test), (test, cut.test)]
            .map(|(sentences, words)| spaced(sentences, words));
        Ok(Split { train, dev, test, has_several_roots })
    }

    /// Returns the training and tuning sentences.
    fn learning(&self, treebank: &str) -> Result<(Vec<Sentence>, Vec<Sentence>)> {
        let has = |part| self.path(treebank, part).is_some();
        if has("train") && has("dev") {
            return Ok((self.file(treebank, "train")?, self.file(treebank, "dev")?));
        }
        let part = if has("train") { "train" } else { "dev" };
        let mut train = self.file(treebank, part)?;
        let dev = train.split_off(train.len() * 4 / 5);
        Ok((train, dev))
    }

    /// Returns all training, tuning and test sentences. If there is only a test file, its sentences are the training
    /// sentences too; that is for learners that do not use trees.
    pub(crate) fn parts(&self, treebank: &str) -> Result<[Vec<Sentence>; 3]> {
        let test = self.file(treebank, "test")?;
        let (train, dev) = match self.path(treebank, "train").or(self.path(treebank, "dev")) {
            Some(_) => self.learning(treebank)?,
            None => (test.clone(), Vec::new()),
        };
        Ok([train, dev, test])
    }

    /// Returns the training and tuning sentences of a treebank. Its test file is not read.
    pub(crate) fn without_test(&self, treebank: &str, cut: Cut) -> Result<Split> {
        let (train, dev) = self.learning(treebank)?;
        if train.is_empty() || dev.is_empty() {
            return Err(anyhow!("no sentences of {treebank} for training or tuning"));
        }
        let has_several_roots = has_several_roots(&train)?;
        let (train, dev) = (spaced(train, cut.train), spaced(dev, cut.test));
        Ok(Split { train, dev, test: Vec::new(), has_several_roots })
    }

    /// Returns the sentences of the training file.
    pub(crate) fn train(&self, treebank: &str) -> Result<Vec<Sentence>> {
        self.file(treebank, "train")
    }

    fn path(&self, treebank: &str, part: &str) -> Option<PathBuf> {
        let folder = self.folder.join(treebank);
        let names = ["conllu", "conll"].map(|extension| folder.join(format!("{part}.{extension}")));
        names.into_iter().find(|path| path.is_file())
    }

    fn file(&self, treebank: &str, part: &str) -> Result<Vec<Sentence>> {
        let path = self
            .path(treebank, part)
            .ok_or_else(|| anyhow!("no {part} file of {treebank} in {}", self.folder.display()))?;
        read(&path)
    }
}

/// Returns `true` if a tree has several roots.
fn has_several_roots(sentences: &[Sentence]) -> Result<bool> {
    for sentence in sentences {
        if sentence.tree()?.root_words().count() > 1 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads all non-empty sentences of a file.
fn read(path: &Path) -> Result<Vec<Sentence>> {
    let mut sentences = Vec::new();
    for sentence in tutte_treebank::open(path)? {
        sentences.push(sentence?);
    }
    sentences.retain(|sentence| !sentence.is_empty());
    Ok(sentences)
}

/// Returns the sentences of some genres. A genre is the start of the document's `newdoc id`.
fn of_genre(sentences: Vec<Sentence>, keep: impl Fn(&str) -> bool) -> Vec<Sentence> {
    let mut kept = Vec::new();
    let mut genre = String::new();
    for sentence in sentences {
        if let Some(document) = sentence.newdoc() {
            genre = document.split('-').next().unwrap_or_default().to_owned();
        }
        if keep(&genre) {
            kept.push(sentence);
        }
    }
    kept
}

/// Returns evenly spaced sentences with about `limit` words.
fn spaced(sentences: Vec<Sentence>, limit: usize) -> Vec<Sentence> {
    let share = (limit as f64 / words(&sentences).max(1) as f64).min(1.0);
    let mut seen = 0;
    let mut kept = 0;
    let keep = |sentence: &Sentence| {
        seen += sentence.len();
        let wanted = share * seen as f64;
        let keep = kept as f64 + sentence.len() as f64 / 2.0 <= wanted;
        kept += if keep { sentence.len() } else { 0 };
        keep
    };
    sentences.into_iter().filter(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(lengths: &[usize]) -> Vec<Sentence> {
        let row = |word| format!("{word}\tw\tw\tX\t_\t_\t{}\tdep\t_\t_\n", word - 1);
        lengths
            .iter()
            .map(|&length| (1..=length).map(row).collect::<String>().parse().unwrap())
            .collect()
    }

    #[test]
    fn cuts_are_spread_over_the_file() {
        let lengths: Vec<usize> = (0..100).map(|i| 1 + i * 7 % 13).collect();
        let all = sentences(&lengths);
        let total = words(&all);
        assert_eq!(spaced(all.clone(), usize::MAX).len(), 100, "no limit, no cut");
        let half = spaced(all, total / 2);
        assert!(words(&half).abs_diff(total / 2) <= 13);
        let (first, second) = half.split_at(half.len() / 2);
        assert!(words(first).abs_diff(words(second)) < total / 10);
    }

    #[test]
    fn a_genre_lasts_until_the_next_document() {
        let rows = "1\tw\tw\tX\t_\t_\t0\troot\t_\t_\n";
        let sentence = |comment: &str| format!("{comment}{rows}").parse::<Sentence>().unwrap();
        let all = vec![
            sentence("# newdoc id = weblog-a\n"),
            sentence(""),
            sentence("# newdoc id = email-b\n"),
            sentence(""),
            sentence(""),
        ];
        assert_eq!(of_genre(all.clone(), |genre| genre == "weblog").len(), 2);
        assert_eq!(of_genre(all, |genre| genre == "email").len(), 3);
    }
}
