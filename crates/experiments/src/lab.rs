//! Where trials are run: several at once, none twice.
//!
//! What a trial has found is kept in a file named by all its settings, so that a run that was
//! interrupted, or a page that is written anew, starts from what is known.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, anyhow};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::data::Data;

/// To be raised when the same settings come to find something else: when learners or what
/// templates look at have changed.
const VERSION: u32 = 2;

/// Something to be tried, as its settings say.
pub(crate) trait Try:
    Clone + Display + PartialEq + Serialize + DeserializeOwned + Send + Sync
{
    /// What is found.
    type Outcome: Clone + Serialize + DeserializeOwned + Send;

    /// Tries it.
    fn run(&self, data: &Data) -> Result<Self::Outcome>;

    /// What else decides what is found and may change while its name does not: templates.
    fn templates(&self) -> String;

    /// The processor time it took.
    fn seconds(outcome: &Self::Outcome) -> f64;

    /// The one number to show when it is done, in percent.
    fn headline(outcome: &Self::Outcome) -> f64;
}

/// Data, a folder for what is found, and what has been found.
#[derive(Debug)]
pub(crate) struct Lab<T: Try> {
    pub(crate) data: Data,
    folder: PathBuf,
    threads: usize,
    found: Mutex<BTreeMap<String, T::Outcome>>,
}

/// A file of the folder.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
struct Kept<T: Try> {
    version: u32,
    trial: T,
    templates: String,
    outcome: T::Outcome,
}

impl<T: Try> Lab<T> {
    /// A lab that keeps what it finds in a folder.
    pub(crate) fn open(data: Data, folder: PathBuf, threads: usize) -> Result<Self> {
        let failed = || format!("the folder {} for what is found", folder.display());
        fs::create_dir_all(&folder).with_context(failed)?;
        Ok(Self { data, folder, threads: threads.max(1), found: Mutex::default() })
    }

    /// Runs all trials that have not been run before; the longest should come first.
    pub(crate) fn run(&self, trials: &[T]) -> Result<()> {
        let mut todo: Vec<&T> = Vec::new();
        for trial in trials {
            let known = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            if known.contains_key(&key(trial)?) || todo.contains(&trial) {
                continue;
            }
            drop(known);
            match self.recall(trial)? {
                Some(outcome) => self.remember(trial, outcome)?,
                None => todo.push(trial),
            }
        }
        let next = AtomicUsize::new(0);
        let work = || -> Result<()> {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(trial) = todo.get(number) else { return Ok(()) };
                let outcome = trial.run(&self.data).with_context(|| trial.to_string())?;
                self.keep(trial, &outcome)?;
                let (seconds, best) = (T::seconds(&outcome), T::headline(&outcome));
                let of = todo.len();
                // Progress is not worth failing for.
                let _ = writeln!(
                    std::io::stderr(),
                    "{}/{of} {trial}: {best:.2} in {seconds:.1} s",
                    number + 1
                );
                self.remember(trial, outcome)?;
            }
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..self.threads).map(|_| scope.spawn(work)).collect();
            workers.into_iter().try_for_each(|worker| {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
        })
    }

    /// What a trial that was run has found.
    pub(crate) fn outcome(&self, trial: &T) -> Result<T::Outcome> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.get(&key(trial)?).cloned().ok_or_else(|| anyhow!("{trial} was not run"))
    }

    /// The processor time of all that was found.
    pub(crate) fn seconds(&self) -> f64 {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.values().map(T::seconds).sum()
    }

    fn remember(&self, trial: &T, outcome: T::Outcome) -> Result<()> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.insert(key(trial)?, outcome);
        Ok(())
    }

    fn path(&self, trial: &T) -> Result<PathBuf> {
        let text = format!("{VERSION} {} {}", key(trial)?, trial.templates());
        Ok(self.folder.join(format!("{:016x}.json", xxh3_64(text.as_bytes()))))
    }

    fn recall(&self, trial: &T) -> Result<Option<T::Outcome>> {
        let Ok(text) = fs::read_to_string(self.path(trial)?) else { return Ok(None) };
        // A file of other settings, or of another version of this program, is written anew.
        let kept = serde_json::from_str::<Kept<T>>(&text).ok();
        let same = |kept: &Kept<T>| {
            kept.version == VERSION && kept.trial == *trial && kept.templates == trial.templates()
        };
        Ok(kept.filter(same).map(|kept| kept.outcome))
    }

    fn keep(&self, trial: &T, outcome: &T::Outcome) -> Result<()> {
        let kept = Kept {
            version: VERSION,
            trial: trial.clone(),
            templates: trial.templates(),
            outcome: outcome.clone(),
        };
        let path = self.path(trial)?;
        // Whole or not at all: an interrupted run must not leave half a file.
        let draft = path.with_extension("draft");
        fs::write(&draft, serde_json::to_string(&kept)?)
            .and_then(|()| fs::rename(&draft, &path))
            .with_context(|| path.display().to_string())
    }
}

fn key<T: Try>(trial: &T) -> Result<String> {
    Ok(serde_json::to_string(trial)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Cut, Source};
    use crate::decoder::Decoder;
    use crate::trial::{Templates, Trial};

    /// A treebank of a language with two words, where verbs head nouns.
    fn treebank(folder: &std::path::Path) {
        let folder = folder.join("toy");
        fs::create_dir_all(&folder).unwrap();
        let mut text = String::new();
        for number in 0..30 {
            let verb = 1 + number % 4;
            for word in 1..=4 {
                let (tag, head) = if word == verb { ("V", 0) } else { ("N", verb) };
                text += &format!("{word}\tw{word}\tw\t{tag}\t{tag}\t_\t{head}\tdep\t_\t_\n");
            }
            text += "\n";
        }
        for part in ["train", "test"] {
            fs::write(folder.join(part).with_extension("conllu"), &text).unwrap();
        }
    }

    fn trial(learner: &str, kinds: usize) -> Trial {
        Trial {
            source: Source::treebank("toy"),
            cut: Cut { train: 1000, test: 1000 },
            learner: learner.to_owned(),
            after: None,
            templates: Templates::McDonald,
            projective: false,
            kinds,
            passes: 3,
            bits: 14,
            decoders: vec![Decoder::Map, Decoder::MaxZ, Decoder::Mbr],
            judged: true,
        }
    }

    #[test]
    fn what_was_found_is_not_looked_for_again() {
        let folder = std::env::temp_dir().join(format!("tutte-lab-{}", std::process::id()));
        treebank(&folder);
        let after = Some(("perceptron".to_owned(), 2));
        let trials = [
            trial("perceptron", 0),
            Trial { after, ..trial("adagrad:objective=risk", 0) },
            trial("sgd", 2),
        ];
        let open = || Lab::open(Data::at(folder.clone()), folder.join("found"), 2).unwrap();
        let first = open();
        first.run(&trials).unwrap();
        for trial in &trials {
            let outcome = first.outcome(trial).unwrap();
            assert!((0..3).all(|decoder| outcome.uas(decoder) == 1.0), "{trial}");
            assert_eq!((outcome.words, outcome.lengths.len()), (96, 30), "a fifth is kept back");
            assert_eq!(outcome.seconds.len(), 3);
            assert!(outcome.judged.is_some());
        }
        // Without data nothing can be run: all must be known.
        fs::remove_dir_all(folder.join("toy")).unwrap();
        let second = open();
        second.run(&trials).unwrap();
        let words = |lab: &Lab<Trial>| lab.outcome(&trials[0]).unwrap().decoded[0].correct.clone();
        assert_eq!(words(&first), words(&second));
        let error = second.run(&[trial("pa", 0)]).unwrap_err();
        assert!(format!("{error:#}").contains("no dev file of toy"), "{error:#}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
