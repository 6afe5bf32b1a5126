//! Networks through the whole library: training, tree sets, tags, probabilities, the model file.

mod answers;
mod joined;
mod training;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tutte::active::{SentenceUncertainty, Unit, questions};
use tutte::learn::network::{EncoderSource, NetworkEvent, NetworkTraining, train_network};
use tutte::learn::{Ending, Event, Recipe, best_path, mix, train_pipeline};
use tutte::rules::RuleSet;
use tutte::weak::WeakData;
use tutte::{
    About, AnnotationOptions, Calibrator, Constraints, Method, Model, ModelFile, Parser,
    ParserModel, Pipeline, Sentence, TagSource, TreeSet,
};
use tutte_neural::{Family, RandomEncoder};

/// Sentences whose trees depend on their words: verbs are roots, and nouns depend on them.
fn treebank() -> Vec<Sentence> {
    let verbs = ["sees", "likes", "hears", "finds", "draws"];
    let nouns = ["Ada", "Bo", "Cy", "Di"];
    let mut sentences = Vec::new();
    for (at, verb) in verbs.iter().enumerate() {
        for (number, noun) in nouns.iter().enumerate() {
            let other = nouns[(at + number + 1) % nouns.len()];
            let text = format!(
                "1\t{noun}\t{noun}\tPROPN\tNNP\tNumber=Sing\t2\tnsubj\t_\t_\n\
                 2\t{verb}\t{verb}\tVERB\tVBZ\t_\t0\troot\t_\t_\n\
                 3\tthe\tthe\tDET\tDT\t_\t5\tdet\t_\t_\n\
                 4\told\told\tADJ\tJJ\t_\t5\tamod\t_\t_\n\
                 5\t{other}\t{other}\tPROPN\tNNP\tNumber=Sing\t2\tobj\t_\tSpaceAfter=No\n\
                 6\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_\n"
            );
            sentences.push(text.parse().expect("a sentence"));
        }
    }
    sentences
}

fn training() -> NetworkTraining {
    NetworkTraining::scratch().with_epochs(30).with_batch(60).with_warmup(5).with_dropout(0.1)
}

fn trained(tree_set: TreeSet, threads: usize, epochs: usize) -> ParserModel {
    let options = training().with_threads(threads).with_epochs(epochs);
    let scratch = EncoderSource::Scratch;
    train_network(&treebank(), &[], tree_set, &scratch, &options, &mut ()).expect("a model")
}

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("network-{name}"))
}

/// Writes a tiny encoder of random weights that knows the words of the treebank.
fn tiny_encoder(name: &str) -> EncoderSource {
    let folder = place(name);
    let words: Vec<String> = treebank()
        .iter()
        .flat_map(|s| s.words().map(|w| w.form().to_owned()).collect::<Vec<_>>())
        .collect();
    RandomEncoder::new(Family::Bert).with_words(words).write(&folder).expect("an encoder");
    EncoderSource::Folder(folder)
}

/// Trains with few, large steps, so that every loss that can fall does.
fn short() -> NetworkTraining {
    let usual = training().with_epochs(12).with_batch(40);
    usual.with_rates(3e-3, 3e-3).with_dropout(0.0).with_threads(2)
}
