//! The recipe of `tutte train`: from a treebank to a model that turns raw text into trees.
//!
//! ```
//! # let text = "1\tTea\ttea\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\tcool\tVERB\t_\t_\t0\troot\t_\t_\n";
//! # let treebank: Vec<tutte_treebank::Sentence> = vec![text.parse()?, text.parse()?];
//! use tutte::Pipeline;
//! use tutte::learn::{Preset, Recipe, train_pipeline};
//!
//! let recipe = Recipe::new().with_preset(Preset::Fast).with_seed(7);
//! let trained = train_pipeline(treebank, Vec::new(), &recipe, &mut ())?;
//! let parsed = Pipeline::new(&trained.model).parse_text("Tea cools", 1)?;
//! assert_eq!(parsed[0].word(2).unwrap().upos(), "VERB");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The stages are the tokenizer, the tagger, jackknifed tags, and the parser with its pruner, passes, folds and
//! transition parser. Jackknifed tags of a sentence come from a tagger that was not trained on it. A [`Recipe`] can
//! leave out any stage. The best pass and the temperature are chosen on development data, and the precision of
//! probabilities is measured there. With an [output](Recipe::with_output), the best model so far is kept beside that
//! file until the training ends, and an interrupted training can be [resumed](Recipe::resuming). The same treebank, recipe and seed give the
//! same bytes, whether resumed or not, for any number of threads.

#[cfg(feature = "neural")]
mod both;
mod data;
mod gate;
#[cfg(feature = "neural")]
mod network;
mod observer;
mod passes;
mod pilot;
mod plan;
mod preset;
mod stage_cache;
mod text_stages;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tutte_linear::Compact;
use tutte_treebank::Sentence;
use tutte_trees::TreeSet;

use self::data::Data;
pub use self::data::TreeSetChoice;
use self::observer::Watched;
pub use self::observer::{Event, EventObserver, PassReport, Stage, Work};
use self::passes::{Outcome, PROVISIONAL_TEMPERATURE, Passes};
pub use self::pilot::TreeSetComparison;
pub use self::preset::Preset;
pub use self::stage_cache::best_path;
use self::stage_cache::{TextParts, checkpoint_path, has_stages, remove_stages};
use super::annealing::Annealing;
#[cfg(feature = "neural")]
use super::network::{EncoderSource, NetworkTraining};
use super::optimizer::Optimizer;
use super::teacher::has_answers;
use super::train::{Checkpoint, FactorOptions, TrainingOptions, check_options, memory};
use crate::features::FeatureSet;
use crate::{
    About, CheckpointProblem, DevScores, Error, Labelling, Model, ModelFile, ParserModel, Support,
};

/// Time between two reports on a stage that takes long.
const TICK: Duration = Duration::from_millis(200);

/// A part of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// Finds sentences and words.
    Tokenizer,
    /// Finds tags, features and lemmas.
    Tagger,
    /// Finds trees.
    Parser,
}

/// The tags that a parser learns from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TagVersions {
    /// Gold tags, and in a second version those of taggers that were not trained on the sentence.
    Jackknifed,
    /// Gold tags alone.
    Gold,
}

impl TagVersions {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            TagVersions::Jackknifed => "jackknife",
            TagVersions::Gold => "gold",
        }
    }
}

/// Settings of a training, with one method for each.
#[derive(Clone, Debug)]
pub struct Recipe {
    preset: Preset,
    parts: Vec<Part>,
    tags: Option<TagVersions>,
    optimizer: Optimizer,
    labelling: Option<Labelling>,
    has_pruner: Option<bool>,
    factors: Option<Option<FactorOptions>>,
    factor_iterations: Option<usize>,
    passes: Option<usize>,
    tree_set: Option<TreeSet>,
    clusters: Option<usize>,
    templates: Option<(String, FeatureSet)>,
    dictionary: Option<Support>,
    bits: Option<u32>,
    annealing: Option<Annealing>,
    init: Option<Arc<ParserModel<Compact>>>,
    seed: u64,
    threads: usize,
    time: Option<Duration>,
    lenient: bool,
    output: Option<PathBuf>,
    resume: bool,
    replaces_parsers: bool,
    about: About,
    dev_name: Option<String>,
    silver: Vec<Sentence>,
    #[cfg(feature = "neural")]
    encoder: Option<EncoderSource>,
    #[cfg(feature = "neural")]
    network_training: Option<NetworkTraining>,
    #[cfg(feature = "neural")]
    has_features_too: bool,
}

impl Default for Recipe {
    fn default() -> Self {
        Self {
            preset: Preset::default(),
            parts: Vec::new(),
            tags: None,
            optimizer: Optimizer::default(),
            labelling: None,
            has_pruner: None,
            factors: None,
            factor_iterations: None,
            passes: None,
            tree_set: None,
            clusters: None,
            templates: None,
            dictionary: None,
            bits: None,
            annealing: None,
            init: None,
            seed: 1,
            threads: 1,
            time: None,
            lenient: false,
            output: None,
            resume: false,
            replaces_parsers: false,
            about: About::default(),
            dev_name: None,
            silver: Vec::new(),
            #[cfg(feature = "neural")]
            encoder: None,
            #[cfg(feature = "neural")]
            network_training: None,
            #[cfg(feature = "neural")]
            has_features_too: false,
        }
    }
}

impl Recipe {
    /// Returns the recipe of `tutte train` without options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the preset.
    pub fn with_preset(self, preset: Preset) -> Self {
        Self { preset, ..self }
    }

    /// Sets the parts to train. By default, all parts that the treebank has data for.
    pub fn with_parts(self, parts: impl IntoIterator<Item = Part>) -> Self {
        Self { parts: parts.into_iter().collect(), ..self }
    }

    /// Sets the tags that the parser learns from. By default, jackknifed tags if there is a tagger.
    pub fn with_tags(self, tags: TagVersions) -> Self {
        Self { tags: Some(tags), ..self }
    }

    /// Sets the optimizer of arcs.
    pub fn with_optimizer(self, optimizer: Optimizer) -> Self {
        Self { optimizer, ..self }
    }

    /// Sets the relation of labels to arcs.
    pub fn with_labelling(self, labelling: Labelling) -> Self {
        Self { labelling: Some(labelling), ..self }
    }

    /// Turns the pruner on or off.
    pub fn with_pruner(self, has_pruner: bool) -> Self {
        Self { has_pruner: Some(has_pruner), ..self }
    }

    /// Sets the number of passes over the treebank.
    pub fn with_passes(self, passes: usize) -> Self {
        Self { passes: Some(passes), ..self }
    }

    /// Sets the factors of the second pass; `None` trains without factors. By default, the preset decides. Options
    /// without effect are ignored, see [`SecondPassOptions::factors`](crate::SecondPassOptions).
    pub fn with_factors(self, factors: Option<FactorOptions>) -> Self {
        Self { factors: Some(factors), ..self }
    }

    /// Sets the number of iterations of belief propagation over factors.
    pub fn with_factor_iterations(self, iterations: usize) -> Self {
        Self { factor_iterations: Some(iterations), ..self }
    }

    /// Sets the tree set. By default, it is chosen by accuracy on held-out sentences, see [`TreeSetChoice`].
    pub fn with_tree_set(self, tree_set: TreeSet) -> Self {
        Self { tree_set: Some(tree_set), ..self }
    }

    /// Sets the number of latent clusters of arcs.
    pub fn with_clusters(self, clusters: usize) -> Self {
        Self { clusters: Some(clusters), ..self }
    }

    /// Sets the feature templates of arcs, with a name for the model's description.
    pub fn with_templates(self, name: impl Into<String>, templates: FeatureSet) -> Self {
        Self { templates: Some((name.into(), templates)), ..self }
    }

    /// Gives weights to exactly the features with this support, instead of hashing them.
    pub fn with_dictionary(self, support: Support) -> Self {
        Self { dictionary: Some(support), ..self }
    }

    /// Sets the binary logarithm of the number of weights of arcs.
    pub fn with_bits(self, bits: u32) -> Self {
        Self { bits: Some(bits), ..self }
    }

    /// Anneals the risk in the last pass of parsing. The objective of the optimizer must be risk. Stages are reported as
    /// passes, and the best one on development data is kept.
    pub fn with_annealing(self, annealing: Annealing) -> Self {
        Self { annealing: Some(annealing), ..self }
    }

    /// Sets the parser whose weights the last pass of parsing starts from. Its tree set is that of the training unless the
    /// recipe has another one.
    pub fn with_init(self, init: ParserModel<Compact>) -> Self {
        let tree_set = self.tree_set.or(Some(init.tree_set));
        Self { init: Some(Arc::new(init)), tree_set, ..self }
    }

    /// Sets the seed of all random choices.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the number of threads. It does not change the model.
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Limits the time of the parser's training.
    pub fn with_time(self, time: Duration) -> Self {
        Self { time: Some(time), ..self }
    }

    /// Leaves out sentences whose trees cannot be used, instead of refusing the treebank.
    pub fn leniently(self) -> Self {
        Self { lenient: true, ..self }
    }

    /// Sets the file of the model, which is written when the training ends. Until then, an existing file stays as it
    /// was, and the best model so far and checkpoints are kept beside it, see [`best_path`].
    pub fn with_output(self, output: impl Into<PathBuf>) -> Self {
        Self { output: Some(output.into()), ..self }
    }

    /// Resumes the interrupted training of the output.
    pub fn resuming(self) -> Self {
        Self { resume: true, ..self }
    }

    /// Lets a model without a parser replace the output even if that has a parser.
    pub fn replacing_parsers(self) -> Self {
        Self { replaces_parsers: true, ..self }
    }

    /// Sets the description of the model: language, data, licence, command.
    pub fn with_description(self, about: About) -> Self {
        Self { about, ..self }
    }

    /// Sets the name of the development data, for the model's calibration.
    pub fn with_dev_name(self, name: impl Into<String>) -> Self {
        Self { dev_name: Some(name.into()), ..self }
    }

    /// Adds trees that another parser found, such as a more accurate teacher (sequence-level distillation, Kim & Rush
    /// 2016). Tagger and parser learn from them as from the treebank. The tokenizer does not: their words were found by
    /// a tokenizer, and are not gold. If they have the probabilities of the teacher's arcs (see
    /// [`write_answers`](crate::learn::write_answers)), an objective of the parser gains the term
    /// [`distil`](crate::learn::objective::distil).
    pub fn with_silver(self, silver: Vec<Sentence>) -> Self {
        Self { silver, ..self }
    }

    /// Trains a network over this encoder, instead of weights of features. The number of passes is that of epochs.
    /// Tags and lemmas, too, come from the network.
    #[cfg(feature = "neural")]
    pub fn with_encoder(self, encoder: EncoderSource) -> Self {
        Self { encoder: Some(encoder), ..self }
    }

    /// Sets the training of the network. Seed, threads and the number of epochs are those of the recipe, if it has them. By
    /// default, [the usual one](NetworkTraining::of_encoder) for the encoder.
    #[cfg(feature = "neural")]
    pub fn with_network_training(self, training: NetworkTraining) -> Self {
        Self { network_training: Some(training), ..self }
    }

    /// Trains features beside the network, and joins both: their scores are added, with weights that held-out trees
    /// decide. These are the development data or, without any, a tenth of the treebank.
    #[cfg(feature = "neural")]
    pub fn with_features_too(self) -> Self {
        Self { has_features_too: true, ..self }
    }

    /// Returns `true` if the parser has features and a network.
    #[cfg(feature = "neural")]
    fn has_both(&self) -> bool {
        self.encoder.is_some() && self.has_features_too
    }

    /// Returns `true` if the parser is a network.
    fn has_network(&self) -> bool {
        #[cfg(feature = "neural")]
        return self.encoder.is_some();
        #[cfg(not(feature = "neural"))]
        false
    }

    /// Returns `true` if a network learns from rules.
    fn has_rules(&self) -> bool {
        #[cfg(feature = "neural")]
        return self.has_network()
            && self.network_training.as_ref().is_some_and(NetworkTraining::has_rules);
        #[cfg(not(feature = "neural"))]
        false
    }

    /// Returns the settings of the network for the model's description; `None` without a network.
    fn network_settings(&self) -> Option<Vec<(String, String)>> {
        #[cfg(feature = "neural")]
        return self
            .encoder
            .as_ref()
            .map(|encoder| self.network_training(encoder).described(encoder));
        #[cfg(not(feature = "neural"))]
        None
    }

    /// Returns `true` if an earlier training of the output can be resumed.
    pub fn can_resume(&self) -> bool {
        #[cfg(feature = "neural")]
        if self.has_both() {
            return self.can_resume_halves();
        }
        let output = self.regular_output();
        output.is_some_and(|output| checkpoint_path(output).is_file() || has_stages(output))
    }

    /// Returns the file that a resumed parser starts from.
    pub fn checkpoint(&self) -> Option<PathBuf> {
        self.regular_output().map(checkpoint_path)
    }

    /// Returns the files that a training writes beside its output.
    pub fn files_beside(&self) -> Vec<PathBuf> {
        let Some(output) = self.regular_output() else { return Vec::new() };
        let [text, tags] = stage_cache::paths(output);
        vec![best_path(output), checkpoint_path(output), text, tags]
    }

    /// Returns the output, unless it is a pipe or a device: nothing is kept beside those.
    fn regular_output(&self) -> Option<&Path> {
        let is_regular = |output: &&Path| output.metadata().map_or(true, |about| about.is_file());
        self.output.as_deref().filter(is_regular)
    }

    /// Returns the output if it is a model with a parser.
    fn output_with_parser(&self) -> Option<&Path> {
        self.regular_output().filter(|output| has_parser(output))
    }

    /// Refuses settings that exclude each other.
    fn check(&self) -> Result<(), Error> {
        let wrong = |why: &str| Err(Error::Setting(why.to_owned()));
        if self.dictionary.is_some() && self.bits.is_some() {
            return wrong(
                "a dictionary has as many weights as it needs; set the number of bits for hashed features only",
            );
        }
        if self.dictionary.is_some() && self.preset != Preset::Plain {
            return wrong(
                "a dictionary needs the preset plain, since features of a second pass have no names",
            );
        }
        if self.has_network() && (self.annealing.is_some() || self.init.is_some()) {
            return wrong("annealing and initial weights are for features; leave out the encoder");
        }
        #[cfg(feature = "neural")]
        if self.has_both() && self.has_rules() {
            return wrong("features do not learn from rules; train the network alone");
        }
        let has_tagger = self.parts.is_empty() || self.parts.contains(&Part::Tagger);
        if self.tags == Some(TagVersions::Jackknifed) && !has_tagger {
            return wrong(
                "jackknifed tags need a tagger; add it to the parts, or choose gold tags",
            );
        }
        let has_parser = self.parts.is_empty() || self.parts.contains(&Part::Parser);
        if !has_parser
            && !self.replaces_parsers
            && let Some(path) = self.output_with_parser()
        {
            return Err(Error::ParserWouldBeLost { path: path.to_owned() });
        }
        Ok(())
    }

    /// Opens the checkpoint, if the recipe resumes.
    fn open_checkpoint(&self) -> Result<Option<Checkpoint>, Error> {
        let Some(path) = self.checkpoint().filter(|_| self.resume) else { return Ok(None) };
        match Checkpoint::open(&path) {
            Ok(checkpoint) => Ok(Some(checkpoint)),
            Err(Error::Checkpoint { problem: CheckpointProblem::Unreadable(error), path })
                if error.kind() == ErrorKind::NotFound =>
            {
                // The training may have been interrupted before the parser.
                if self.regular_output().is_some_and(has_stages) {
                    return Ok(None);
                }
                Err(Error::Checkpoint { path, problem: CheckpointProblem::Missing })
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the options of the parser.
    fn options(&self, data: &Data, templates: FeatureSet) -> TrainingOptions {
        let usual = self.preset.options(data.words, data.tree_set);
        let versions = data.train.versions();
        let temperature = (!data.dev.is_empty()).then_some(PROVISIONAL_TEMPERATURE);
        let second_pass = usual.second_pass.clone();
        let second_pass = second_pass.map(|second| {
            let factors = self.factors.clone().unwrap_or_else(|| second.factors.clone());
            let factors = factors.map(|factors| {
                let iterations = self.factor_iterations.unwrap_or(factors.iterations);
                factors.with_iterations(iterations)
            });
            preset::second_pass(second, &self.optimizer, versions, temperature)
                .with_factors(factors)
        });
        let labelling = match self.clusters {
            None => usual.labelling,
            Some(_) => Labelling::Staged,
        };
        // With two versions, each sentence is seen twice in a pass.
        let passes = if versions == 1 { usual.passes } else { usual.passes / 2 + 1 };
        TrainingOptions {
            templates,
            dictionary: self.dictionary,
            optimizer: if data.train.sentences().iter().any(has_answers) {
                self.optimizer.clone().learning_from_teachers()
            } else {
                self.optimizer.clone()
            },
            labelling: self.labelling.unwrap_or(labelling),
            passes: self.passes.unwrap_or(passes),
            pruning: match self.has_pruner {
                None => usual.pruning,
                Some(true) => Some(usual.pruning.unwrap_or_default()),
                Some(false) => None,
            },
            clusters: self.clusters.unwrap_or(1),
            bits: self.bits.unwrap_or(usual.bits),
            second_pass,
            annealing: self.annealing,
            init: self.init.clone(),
            seed: self.seed,
            threads: self.threads,
            ..usual
        }
    }
}

/// The reason why a training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Ending {
    /// All passes were done.
    Finished,
    /// The time of the recipe was up.
    #[serde(rename = "time")]
    TimeUp,
    /// The observer stopped it.
    Interrupted,
}

/// The trees that a temperature was chosen on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TemperatureSource {
    /// Development data.
    Dev,
    /// A part of the treebank, with a second pass that was not trained on it.
    Treebank,
}

/// A trained model, and a report on its training.
#[derive(Debug)]
#[non_exhaustive]
pub struct Trained {
    /// The model, as its file holds it.
    pub model: Model<Compact>,
    /// The description in its file.
    pub about: About,
    /// Reason why the training ended.
    pub ending: Ending,
    /// Number of sentences of the treebank.
    pub sentences: usize,
    /// Number of words of the treebank.
    pub words: usize,
    /// Number of passes of the parser.
    pub passes: usize,
    /// Number of the pass that the parser is from; 0 without a parser.
    pub best_pass: usize,
    /// Scores of that pass on development data.
    pub dev: Option<DevScores>,
    /// The trees that the temperature was chosen on.
    pub temperature_source: Option<TemperatureSource>,
    /// Development data as it was given.
    pub gold: Vec<Sentence>,
    /// File of the model, if it was written: the output or, after an interruption, [`best_path`]. A training that
    /// ends before its parser has a pass does not replace a model with a parser.
    pub file: Option<PathBuf>,
}

/// Trains all parts of a recipe. Development data may be empty.
///
/// See the [module](self) for an example.
///
/// # Errors
/// Those of the treebank; [`Error::Setting`] if settings exclude each other; [`Error::Checkpoint`] if a training cannot
/// be resumed; [`Error::ParserWouldBeLost`] if the output has a parser and the recipe has none; [`Error::Stopped`] if
/// the observer stopped it before anything was learnt; those of writing the model.
pub fn train_pipeline(
    treebank: Vec<Sentence>,
    dev: Vec<Sentence>,
    recipe: &Recipe,
    observer: &mut EventObserver<'_>,
) -> Result<Trained, Error> {
    recipe.check()?;
    #[cfg(feature = "neural")]
    if recipe.has_both() {
        return both::train(treebank, dev, recipe, observer);
    }
    let mut watched = Watched::new(observer);
    let (name, templates) = match &recipe.templates {
        Some((name, templates)) => (name.clone(), templates.clone()),
        None => {
            let name = recipe.preset.templates();
            let templates = FeatureSet::named(name)
                .ok_or_else(|| Error::Setting(format!("there are no templates called {name}")))?;
            (name.to_owned(), templates)
        }
    };
    let resumed = recipe.open_checkpoint()?;
    let mut data = Data::new(treebank, dev, recipe, &mut watched)?;
    let tags = recipe.tag_versions(data.train.sentences()).name();
    let wants_parser = recipe.wants(Part::Parser, data.train.sentences());
    if wants_parser && !recipe.has_network() {
        // What the parser cannot be trained on is an error before the tagger is trained.
        let options = recipe.options(&data, templates.clone());
        check_options(&options)?;
        memory::check(data.train.sentences(), &options)?;
    }
    #[cfg(feature = "neural")]
    if wants_parser && let Some(encoder) = &recipe.encoder {
        let training = recipe.network_training(encoder);
        super::network::check(data.train.sentences(), encoder, &training)?;
    }
    let mut text = TextParts::default();
    let is_ready = text_stages::learn(recipe, &mut data, &mut text, &mut watched)?;
    if !is_ready {
        return without_parser(recipe, &text, Ending::Interrupted, data);
    }
    if !wants_parser {
        return without_parser(recipe, &text, Ending::Finished, data);
    }
    report_pairs(&templates, data.train.sentences(), &mut watched);
    let options = recipe.options(&data, templates);
    let training = recipe
        .network_settings()
        .unwrap_or_else(|| preset::settings(&options, recipe.preset, &name, tags));
    let about = About { training, seed: recipe.seed, ..recipe.about.clone() };
    let Data { sentences, words, .. } = data;
    let passes = Passes { recipe, options, text: text.clone(), about, watched: &mut watched };
    let gold = data.gold.clone();
    #[cfg(feature = "neural")]
    let outcome = match &recipe.encoder {
        Some(encoder) => passes.run_network(encoder, data, resumed)?,
        None => passes.run(data, resumed)?,
    };
    #[cfg(not(feature = "neural"))]
    let outcome = passes.run(data, resumed)?;
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(ending) => return save_text(recipe, &text, ending, sentences, words, gold),
    };
    let Outcome { best, about, ending, passes, temperature_source, gold, file } = outcome;
    if ending == Ending::Finished {
        recipe.regular_output().map_or(Ok(()), remove_stages)?;
    }
    Ok(Trained {
        model: best.model,
        about,
        ending,
        sentences,
        words,
        passes,
        best_pass: best.pass,
        dev: best.dev,
        temperature_source,
        gold,
        file,
    })
}

/// Returns `true` if a file is a model with a parser.
fn has_parser(path: &Path) -> bool {
    path.is_file() && ModelFile::open(path).is_ok_and(|file| file.model.parser.is_some())
}

/// Ends a training without a parser, with the parts that are ready.
fn without_parser(
    recipe: &Recipe,
    text: &TextParts,
    ending: Ending,
    data: Data,
) -> Result<Trained, Error> {
    let Data { gold, sentences, words, .. } = data;
    save_text(recipe, text, ending, sentences, words, gold)
}

fn save_text(
    recipe: &Recipe,
    text: &TextParts,
    ending: Ending,
    sentences: usize,
    words: usize,
    gold: Vec<Sentence>,
) -> Result<Trained, Error> {
    if text.is_empty() {
        return Err(Error::Stopped);
    }
    let about = About { seed: recipe.seed, ..recipe.about.clone() };
    let mut model = Model::default();
    text.put_into(&mut model);
    // Before the parser has a pass, a model that has a parser is better.
    let file = match ending {
        Ending::Finished => recipe.output.clone(),
        Ending::TimeUp => recipe.output.clone().filter(|output| !has_parser(output)),
        Ending::Interrupted => {
            recipe.regular_output().map(best_path).filter(|best| !has_parser(best))
        }
    };
    if let Some(output) = &file {
        model.save(output, &about)?;
        if ending == Ending::Finished {
            recipe.regular_output().map_or(Ok(()), remove_stages)?;
        }
    }
    Ok(Trained {
        model,
        about,
        ending,
        sentences,
        words,
        passes: 0,
        best_pass: 0,
        dev: None,
        temperature_source: None,
        gold,
        file,
    })
}

/// Reports arcs with more pairs of morphological features than the templates allow.
fn report_pairs(templates: &FeatureSet, train: &[Sentence], watched: &mut Watched<'_>) {
    let sentences = train.iter().filter(|sentence| templates.leaves_out_pairs(sentence)).count();
    if let (Some(pairs), 1..) = (templates.pairs(), sentences) {
        watched.notify(Event::FeaturePairsLimited { sentences, pairs });
    }
}
