//! Runs trials in parallel and caches their outcomes.
//!
//! The outcome of a trial is a file named by a hash of all its settings. An interrupted run resumes from the cached
//! outcomes, and a page can be written again without running its trials.

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
use tutte_linear::hash_text;

use crate::data::Data;

/// Version of the cache. Raise it when the same settings give another outcome: when learners or the attributes in
/// templates have changed.
const VERSION: u32 = 2;

/// Settings of a trial.
pub(crate) trait Try:
    Clone + Display + PartialEq + Serialize + DeserializeOwned + Send + Sync
{
    /// Result of the trial.
    type Outcome: Clone + Serialize + DeserializeOwned + Send;

    /// Runs the trial.
    fn run(&self, data: &Data) -> Result<Self::Outcome>;

    /// Returns the templates as text. They determine the outcome too, and may change while their name does not.
    fn templates(&self) -> String;

    /// Returns the processor time of the trial.
    fn seconds(outcome: &Self::Outcome) -> f64;

    /// Returns the number to show when the trial is done, in percent.
    fn headline(outcome: &Self::Outcome) -> f64;
}

/// The data, the cache folder, and the outcomes so far.
#[derive(Debug)]
pub(crate) struct Lab<T: Try> {
    pub(crate) data: Data,
    folder: PathBuf,
    threads: usize,
    outcomes: Mutex<BTreeMap<String, T::Outcome>>,
}

/// A file of the cache.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
struct CachedOutcome<T: Try> {
    version: u32,
    trial: T,
    templates: String,
    outcome: T::Outcome,
}

impl<T: Try> Lab<T> {
    /// Opens a lab that caches outcomes in a folder.
    pub(crate) fn open(data: Data, folder: PathBuf, threads: usize) -> Result<Self> {
        let failed = || format!("cannot create the cache folder {}", folder.display());
        fs::create_dir_all(&folder).with_context(failed)?;
        Ok(Self { data, folder, threads: threads.max(1), outcomes: Mutex::default() })
    }

    /// Runs all trials that are not cached. The longest should come first.
    pub(crate) fn run(&self, trials: &[T]) -> Result<()> {
        let mut todo: Vec<&T> = Vec::new();
        for trial in trials {
            let outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
            if outcomes.contains_key(&key(trial)?) || todo.contains(&trial) {
                continue;
            }
            drop(outcomes);
            match self.read_cached(trial)? {
                Some(outcome) => self.add(trial, outcome)?,
                None => todo.push(trial),
            }
        }
        let next = AtomicUsize::new(0);
        let work = || -> Result<()> {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(trial) = todo.get(number) else { return Ok(()) };
                let outcome = trial.run(&self.data).with_context(|| trial.to_string())?;
                self.write_cached(trial, &outcome)?;
                let seconds = T::seconds(&outcome);
                let headline = T::headline(&outcome);
                let of = todo.len();
                // A failure to print progress is ignored.
                let _ = writeln!(
                    std::io::stderr(),
                    "{}/{of} {trial}: {headline:.2} in {seconds:.1} s",
                    number + 1
                );
                self.add(trial, outcome)?;
            }
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..self.threads).map(|_| scope.spawn(work)).collect();
            workers.into_iter().try_for_each(|worker| {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
        })
    }

    /// Returns the outcome of a trial that was run.
    pub(crate) fn outcome(&self, trial: &T) -> Result<T::Outcome> {
        let outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        outcomes.get(&key(trial)?).cloned().ok_or_else(|| anyhow!("{trial} was not run"))
    }

    /// Returns the processor time of all outcomes.
    pub(crate) fn seconds(&self) -> f64 {
        let outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        outcomes.values().map(T::seconds).sum()
    }

    fn add(&self, trial: &T, outcome: T::Outcome) -> Result<()> {
        let mut outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        outcomes.insert(key(trial)?, outcome);
        Ok(())
    }

    fn path(&self, trial: &T) -> Result<PathBuf> {
        let text = format!("{VERSION} {} {}", key(trial)?, trial.templates());
        Ok(self.folder.join(format!("{:016x}.json", hash_text(&text, 0))))
    }

    fn read_cached(&self, trial: &T) -> Result<Option<T::Outcome>> {
        let Ok(text) = fs::read_to_string(self.path(trial)?) else { return Ok(None) };
        // A file of other settings, or of another version of this program, is replaced.
        let cached = serde_json::from_str::<CachedOutcome<T>>(&text).ok();
        let is_current = |cached: &CachedOutcome<T>| {
            cached.version == VERSION
                && cached.trial == *trial
                && cached.templates == trial.templates()
        };
        Ok(cached.filter(is_current).map(|cached| cached.outcome))
    }

    fn write_cached(&self, trial: &T, outcome: &T::Outcome) -> Result<()> {
        let cached = CachedOutcome {
            version: VERSION,
            trial: trial.clone(),
            templates: trial.templates(),
            outcome: outcome.clone(),
        };
        let path = self.path(trial)?;
        // Written under another name first: an interrupted run must not leave half a file.
        let draft = path.with_extension("draft");
        fs::write(&draft, serde_json::to_string(&cached)?)
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

    /// Writes a treebank with two tags, where verbs head nouns.
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

    fn trial(learner: &str, clusters: usize) -> Trial {
        Trial {
            source: Source::treebank("toy"),
            cut: Cut { train: 1000, test: 1000 },
            learner: learner.to_owned(),
            after: None,
            templates: Templates::McDonald,
            projective: false,
            clusters,
            passes: 3,
            bits: 14,
            decoders: vec![Decoder::Map, Decoder::MaxZ, Decoder::Mbr],
            should_test_calibration: true,
        }
    }

    #[test]
    fn cached_outcomes_are_not_computed_again() {
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
            assert_eq!((outcome.words, outcome.lengths.len()), (96, 30), "a fifth is held out");
            assert_eq!(outcome.seconds.len(), 3);
            assert!(outcome.calibration.is_some());
        }
        // Without data no trial can run: all outcomes must be cached.
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
