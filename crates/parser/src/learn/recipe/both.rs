//! A recipe with features and a network: two trainings on the same treebank, joined on held-out trees.
//!
//! ```text
//! en.tutte.features   the model of features, once it is trained; until then its own files lie beside it
//! en.tutte.network    the model of the network
//! ```
//!
//! Held-out trees are the development data. Without any, every tenth sentence of the treebank is held out. They choose
//! the weights of both scorers ([`mix`]) and the temperature. The two files are removed at the end.

use std::path::Path;

use tutte_linear::{Checksum, Compact};
use tutte_treebank::{Sentence, beside};

use super::observer::EventObserver;
use super::passes::calibrate;
use super::stage_cache::remove;
use super::{Ending, Recipe, TemperatureSource, Trained, train_pipeline};
use crate::learn::mix::{Mixed, mix};
use crate::learn::network::check;
use crate::{CheckpointProblem, Decoding, DevScores, Error, Model, ModelFile, Pipeline, TagSource};

/// Without development data, one sentence of this many is held out.
const HELD_OUT: usize = 10;

impl Recipe {
    /// Returns the recipes of the features and of the network.
    fn halves(&self) -> [Recipe; 2] {
        let half = |ending: &str| Recipe {
            has_features_too: false,
            resume: false,
            output: self.regular_output().map(|output| beside(output, ending)),
            ..self.clone()
        };
        // The number of passes is that of the network's epochs.
        let features =
            Recipe { encoder: None, network_training: None, passes: None, ..half(".features") };
        [features, half(".network")]
    }

    /// Returns `true` if a training of the features or of the network has ended, or can be resumed.
    pub(super) fn can_resume_halves(&self) -> bool {
        let is_started =
            |half: &Recipe| half.can_resume() || half.output.as_deref().is_some_and(Path::is_file);
        self.has_both() && self.halves().iter().any(is_started)
    }

    /// Returns a hash of all that decides the bits of the two models.
    fn origin(&self, treebank: &[Sentence], dev: &[Sentence]) -> String {
        let mut hash = Checksum::default();
        for part in [treebank, dev, &self.silver] {
            part.iter().for_each(|sentence| hash.update_line(sentence.as_str()));
            hash.update_line("");
        }
        let Self { preset, parts, tags, optimizer, tree_set, seed, encoder, .. } = self;
        let settings = (preset, parts, tags, optimizer, tree_set, seed, encoder);
        hash.update_line(&format!("{settings:?} {:?}", self.network_settings()));
        hash.to_string()
    }
}

/// Trains features and a network, and joins them.
pub(super) fn train(
    treebank: Vec<Sentence>,
    dev: Vec<Sentence>,
    recipe: &Recipe,
    observer: &mut EventObserver<'_>,
) -> Result<Trained, Error> {
    let (treebank, held_out) =
        if dev.is_empty() { divide(treebank) } else { (treebank, dev.clone()) };
    if let Some(encoder) = &recipe.encoder {
        // Otherwise the features would be trained first.
        check(&treebank, encoder, &recipe.network_training(encoder))?;
    }
    let origin = recipe.origin(&treebank, &dev);
    let [mut features, mut network] = recipe.halves();
    features.about.data = Some(origin.clone());
    network.about.data = Some(origin.clone());
    let mut run = |half: &Recipe| {
        if recipe.resume
            && let Some(model) = finished(half, &origin)?
        {
            return Ok(Ok((model, 0)));
        }
        let half = Recipe { resume: recipe.resume && half.can_resume(), ..half.clone() };
        let trained = train_pipeline(treebank.clone(), dev.clone(), &half, observer)?;
        Ok::<_, Error>(match trained.ending {
            Ending::Interrupted => Err(trained),
            Ending::Finished | Ending::TimeUp => Ok((trained.model, trained.passes)),
        })
    };
    let (of_features, first) = match run(&features)? {
        Ok(model) => model,
        Err(interrupted) => return Ok(interrupted),
    };
    network.tree_set = Some(of_features.require_parser()?.tree_set);
    let (of_network, second) = match run(&network)? {
        Ok(model) => model,
        Err(interrupted) => return Ok(interrupted),
    };
    let Mixed { mut model, weights, factors, tags: accuracy, .. } =
        mix(&of_features, &of_network, &held_out, recipe.threads)?;
    let tags = if model.finds_tags() { TagSource::Model } else { TagSource::Given };
    calibrate(&mut model, &held_out, tags, recipe.dev_name.clone(), recipe.threads)?;
    let scores =
        if dev.is_empty() { None } else { Some(scores(&model, &dev, tags, recipe.threads)?) };
    let mut about = recipe.about.clone();
    about.seed = recipe.seed;
    about.dev = scores;
    about.training = recipe.network_settings().unwrap_or_default();
    let numbers = |name: &str, features: f64, network: f64| {
        (name.to_owned(), format!("features {features:.4}, network {network:.4}"))
    };
    about.training.push(numbers("weights of arcs", weights.arcs.features, weights.arcs.network));
    about.training.push(numbers(
        "weights of labels",
        weights.labels.features,
        weights.labels.network,
    ));
    let weight = factors.map(|it| ("weight of factors".to_owned(), format!("{:.4}", it.weight)));
    about.training.extend(weight);
    about.training.extend(accuracy.map(|accuracy| {
        let source = if accuracy.is_tagger_better() { "tagger" } else { "network" };
        ("tags".to_owned(), format!("{source}: {accuracy}"))
    }));
    if let Some(output) = &recipe.output {
        model.save(output, &about)?;
        for half in [&features, &network] {
            half.output.as_deref().map_or(Ok(()), remove)?;
        }
    }
    Ok(Trained {
        model,
        about,
        ending: Ending::Finished,
        sentences: treebank.len(),
        words: treebank.iter().map(Sentence::len).sum(),
        passes: first + second,
        best_pass: second,
        dev: scores,
        temperature_source: Some(if dev.is_empty() {
            TemperatureSource::Treebank
        } else {
            TemperatureSource::Dev
        }),
        gold: dev,
        file: recipe.output.clone(),
    })
}

/// Divides a treebank into sentences to learn from and held-out ones.
fn divide(treebank: Vec<Sentence>) -> (Vec<Sentence>, Vec<Sentence>) {
    let is_held_out = |at: usize| at % HELD_OUT == HELD_OUT - 1;
    let (held_out, rest): (Vec<_>, Vec<_>) =
        treebank.into_iter().enumerate().partition(|(at, _)| is_held_out(*at));
    let sentences = |list: Vec<(usize, Sentence)>| list.into_iter().map(|(_, it)| it).collect();
    (sentences(rest), sentences(held_out))
}

/// Returns the model of a half that an interrupted training has finished.
fn finished(half: &Recipe, origin: &str) -> Result<Option<Model<Compact>>, Error> {
    let Some(path) = half.output.as_deref().filter(|path| path.is_file()) else { return Ok(None) };
    let ModelFile { model, about, .. } = ModelFile::open(path)?;
    if about.data.as_deref() != Some(origin) {
        let problem = CheckpointProblem::OtherModel;
        return Err(Error::Checkpoint { path: path.to_owned(), problem });
    }
    Ok(Some(model))
}

/// Returns the scores of a model on development data.
fn scores(
    model: &Model<Compact>,
    dev: &[Sentence],
    tags: TagSource,
    threads: usize,
) -> Result<DevScores, Error> {
    let mut annotator = Pipeline::new(model).with_tags(tags).annotator();
    let mut tagged = dev.to_vec();
    for sentence in &mut tagged {
        annotator.tag(sentence)?;
    }
    let found = model.require_parser()?.evaluate(&tagged, Decoding::Mbr, threads)?;
    Ok(DevScores { pass: 0, words: found.words, heads: found.heads, both: found.both })
}
