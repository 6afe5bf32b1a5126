//! The stages before the parser: tokenizer, tagger, and the tags that the parser learns from.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use tutte_linear::{Compact, join};
use tutte_text::{
    Progress, ProgressObserver, Tagger, TaggerMemory, TaggerOptions, Tokenizer, TokenizerOptions,
    jackknife_observed,
};
use tutte_treebank::{Format, Sentence};

use super::data::Data;
use super::observer::{Event, Stage, Watched, Work};
use super::preset::TAG_FOLDS;
use super::stage_cache::{CachedStages, StageCache, TextParts};
use super::{Part, Preset, Recipe, TICK, TagVersions};
use crate::Error;
use crate::learn::TrainingSet;

/// Most words of another parser's trees that the tagger learns from. The others are tagged by the tagger itself: they
/// are new to it, as text will be.
const SILVER_WORDS_OF_TAGGER: usize = 3_000_000;

impl Recipe {
    /// Returns `true` if a part is to be learnt from this treebank.
    pub(super) fn wants(&self, part: Part, train: &[Sentence]) -> bool {
        if !self.parts.is_empty() {
            return self.parts.contains(&part);
        }
        let is_conllu = train.iter().all(|sentence| sentence.format() == Format::ConllU);
        let has_tags = || train.iter().any(|s| s.words().any(|word| word.upos() != "_"));
        match part {
            Part::Parser => true,
            Part::Tagger | Part::Tokenizer => is_conllu && has_tags(),
        }
    }

    /// Returns the tags that the parser learns from.
    pub(super) fn tag_versions(&self, train: &[Sentence]) -> TagVersions {
        let has_tagger = self.wants(Part::Tagger, train);
        // A network learns tags and trees together.
        if has_tagger
            && !self.has_network()
            && self.tags != Some(TagVersions::Gold)
            && train.len() > 1
        {
            TagVersions::Jackknifed
        } else {
            TagVersions::Gold
        }
    }

    /// Returns the options of the tagger. Beside a network it only makes lemmas, so a small one will do.
    fn tagger(&self, words: usize, seed: u64) -> TaggerOptions {
        let preset = if self.has_network() { Preset::Compact } else { self.preset };
        preset.tagger(words, seed)
    }

    fn tokenizer(&self) -> TokenizerOptions {
        TokenizerOptions::default().with_seed(self.seed).with_threads(self.threads)
    }

    fn stage_cache(&self, data: &Data) -> StageCache {
        let train = data.train.sentences();
        // The seed is listed once; the number of threads does not matter.
        let tokenizer = self.tokenizer().with_threads(1).with_seed(0);
        let tagger = self.tagger(data.words, 0);
        let settings = [
            ("seed", self.seed.to_string()),
            ("parts", format!("{:?}", self.parts)),
            ("tags", self.tag_versions(train).name().to_owned()),
            ("tokenizer", format!("{tokenizer:?}")),
            ("tagger", format!("{tagger:?}")),
        ];
        StageCache::new(self.regular_output(), train, &settings)
    }
}

/// Learns tokenizer and tagger. Adds jackknifed tags to the treebank, and predicted tags to the development
/// data, if the parser uses them. Returns `false` if the observer stopped it; `text` has the parts that are ready.
pub(super) fn learn(
    recipe: &Recipe,
    data: &mut Data,
    text: &mut TextParts,
    watched: &mut Watched<'_>,
) -> Result<bool, Error> {
    let train = data.train.sentences();
    if ![Part::Tokenizer, Part::Tagger].iter().any(|part| recipe.wants(*part, train)) {
        return Ok(true);
    }
    let cache = recipe.stage_cache(data);
    let stages = if recipe.resume { cache.open()? } else { CachedStages::default() };
    match run(recipe, data, &cache, stages, text, watched) {
        Ok(()) => Ok(true),
        Err(Error::Stopped) => Ok(false),
        Err(error) => Err(error),
    }
}

fn run(
    recipe: &Recipe,
    data: &mut Data,
    cache: &StageCache,
    stages: CachedStages,
    text: &mut TextParts,
    watched: &mut Watched<'_>,
) -> Result<(), Error> {
    let words = data.words;
    let train = data.train.sentences();
    let CachedStages { text: before, tagged } = stages;
    if recipe.wants(Part::Tokenizer, train) {
        text.tokenizer = before.tokenizer;
        if text.tokenizer.is_some() {
            watched.notify(Event::Reused(Stage::Tokenizer));
        } else {
            let started = Instant::now();
            let options = recipe.tokenizer();
            let tokenizer = observed(Stage::Tokenizer, words, watched, |observer| {
                Tokenizer::train_observed(&train[..data.gold_sentences], &options, observer)
            })?;
            text.tokenizer = Some(Arc::new(tokenizer.compact()));
            let took = started.elapsed();
            watched.notify(Event::Finished { stage: Stage::Tokenizer, took, scores: None });
            cache.keep(text, None)?;
        }
    }
    if !recipe.wants(Part::Tagger, train) {
        return Ok(());
    }
    let started = Instant::now();
    let taught = sentences_of_tagger(data);
    let options = recipe.tagger(words, recipe.seed);
    text.tagger = before.tagger;
    let is_new = text.tagger.is_none();
    let tagger = match &text.tagger {
        Some(tagger) => Arc::clone(tagger),
        None => {
            let tagger = observed(Stage::Tagger, words, watched, |observer| {
                Tagger::train_observed(&train[..taught], &options, observer)
            })?;
            Arc::new(tagger.rounded(recipe.preset.rounding()))
        }
    };
    let scores = if data.dev.is_empty() { None } else { Some(tagger.evaluate(&data.dev)?) };
    text.tagger = Some(Arc::clone(&tagger));
    if is_new {
        let took = started.elapsed();
        watched.notify(Event::Finished { stage: Stage::Tagger, took, scores: scores.as_ref() });
        cache.keep(text, None)?;
    } else {
        watched.notify(Event::Reused(Stage::Tagger));
    }
    let is_jackknifed = recipe.tag_versions(train) == TagVersions::Jackknifed;
    if !recipe.wants(Part::Parser, train) || !is_jackknifed {
        return Ok(());
    }
    let tagged = match tagged.filter(|tagged| tagged.len() == train.len()) {
        Some(tagged) => tagged,
        None => {
            let started = Instant::now();
            let seen = words - words / TAG_FOLDS;
            let mut tagged = observed(Stage::Jackknife, seen, watched, |observer| {
                let train = &train[..taught];
                jackknife_observed(train, &options, TAG_FOLDS, recipe.threads, observer)
            })?;
            tagged.extend(tagged_by(&tagger, &train[taught..], recipe.threads)?);
            let took = started.elapsed();
            watched.notify(Event::Finished { stage: Stage::Jackknife, took, scores: None });
            cache.keep(text, Some(&tagged))?;
            tagged
        }
    };
    // The tags of another parser are not gold, so the parser learns from predicted ones alone.
    data.train = TrainingSet::from(train[..data.gold_sentences].to_vec()).with_version(tagged)?;
    let mut memory = TaggerMemory::default();
    for sentence in &mut data.dev {
        tagger.annotate(sentence, &mut memory)?;
    }
    Ok(())
}

/// Returns the number of sentences that the tagger learns from: the treebank, and some of another parser's trees.
fn sentences_of_tagger(data: &Data) -> usize {
    let silver = &data.train.sentences()[data.gold_sentences..];
    let mut words = 0;
    let few = silver.iter().take_while(|sentence| {
        words += sentence.len();
        words <= SILVER_WORDS_OF_TAGGER
    });
    data.gold_sentences + few.count()
}

/// Returns sentences with the tags that a tagger predicts.
fn tagged_by(
    tagger: &Tagger<Compact>,
    sentences: &[Sentence],
    threads: usize,
) -> Result<Vec<Sentence>, Error> {
    let part = sentences.len().div_ceil(threads.max(1)).max(1);
    let tag = |sentences: &[Sentence]| -> Result<Vec<Sentence>, Error> {
        let mut memory = TaggerMemory::default();
        let mut tagged = sentences.to_vec();
        for sentence in &mut tagged {
            tagger.annotate(sentence, &mut memory)?;
        }
        Ok(tagged)
    };
    let tag = &tag;
    thread::scope(|scope| {
        let threads: Vec<_> =
            sentences.chunks(part).map(|part| scope.spawn(move || tag(part))).collect();
        let parts = threads.into_iter().map(join).collect::<Result<Vec<_>, _>>()?;
        Ok(parts.into_iter().flatten().collect())
    })
}

/// Runs a stage of passes over this many words on a thread of its own, and reports its progress. If the observer
/// stops it, it ends with [`Error::Stopped`] after the passes under way.
fn observed<T: Send>(
    stage: Stage,
    words: usize,
    watched: &mut Watched<'_>,
    learn: impl FnOnce(&mut ProgressObserver<'_>) -> Result<T, tutte_text::Error> + Send,
) -> Result<T, Error> {
    let started = Instant::now();
    let is_stopping = AtomicBool::new(watched.is_stopped());
    let is_stopping = &is_stopping;
    let (sender, passes) = channel();
    thread::scope(|scope| {
        let learner = scope.spawn(move || {
            learn(&mut |progress: Progress| {
                // The receiver may be gone.
                let _ = sender.send(progress);
                if is_stopping.load(Ordering::Relaxed) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })
        });
        let mut last = Progress { done: 0, of: 1 };
        let mut took = Duration::ZERO;
        loop {
            match passes.recv_timeout(TICK) {
                Ok(progress) => {
                    last = progress;
                    took = started.elapsed();
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let elapsed = started.elapsed();
            let whole = took.mul_f64(last.of as f64 / last.done.max(1) as f64);
            watched.notify(Event::Working(&Work {
                stage,
                elapsed,
                words: last.done as f64 * words as f64,
                took,
                left: whole.saturating_sub(elapsed),
                is_stopping: watched.is_stopped(),
            }));
            is_stopping.store(watched.is_stopped(), Ordering::Relaxed);
        }
        Ok(join(learner)?)
    })
}
