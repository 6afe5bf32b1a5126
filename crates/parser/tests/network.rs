//! Networks through the whole library: training, tree sets, tags, probabilities, the model file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tutte::learn::network::{EncoderSource, NetworkEvent, NetworkTraining, train_network};
use tutte::learn::{Recipe, train_pipeline};
use tutte::{
    About, Constraints, Model, ModelFile, Parser, ParserModel, Pipeline, Sentence, TagSource,
    TreeSet,
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

#[test]
fn a_network_learns_the_trees_labels_and_tags_of_a_small_treebank() {
    let treebank = treebank();
    let model = Model::from(trained(TreeSet::ProjectiveSingleRoot, 2, 30)).compact();
    let pipeline = Pipeline::new(&model).with_tags(TagSource::Model);
    let parsed = pipeline.parse_words(&treebank, 2).expect("trees");
    for (gold, parsed) in treebank.iter().zip(&parsed) {
        for (gold, parsed) in gold.words().zip(parsed.words()) {
            let columns = |word: tutte_treebank::Token<'_>| {
                (word.head(), word.deprel().to_owned(), word.upos().to_owned())
            };
            assert_eq!(columns(gold), columns(parsed), "{}", gold.form());
            assert_eq!(gold.xpos(), parsed.xpos());
            assert_eq!(gold.feats(), parsed.feats());
        }
    }
}

#[test]
fn the_number_of_threads_does_not_change_a_network() {
    let bytes = |threads, name: &str| {
        let model = trained(TreeSet::NonProjectiveSingleRoot, threads, 2);
        let path = place(name);
        model.compact().save(&path, &About::default()).expect("a file");
        std::fs::read(path).expect("a file")
    };
    assert!(bytes(1, "one.tutte") == bytes(3, "three.tutte"));
}

#[test]
fn a_network_answers_in_every_tree_set() {
    let sentence = &treebank()[3];
    for tree_set in TreeSet::ALL {
        let model = trained(tree_set, 2, 4);
        let mut parser = Parser::new(&model);
        let distribution = parser.distribution(sentence).expect("a distribution");
        for word in 1..=sentence.len() {
            let total: f64 = distribution.head_probs(word).expect("a word").iter().sum();
            assert!((total - 1.0).abs() < 1e-9, "{tree_set}: {total}");
        }
        let best = distribution.kbest(3);
        assert!(best[0].log_prob >= best[1].log_prob && best[1].log_prob >= best[2].log_prob);
        let constraints = Constraints::new().require_arc(5, 4);
        let given = parser.analyse(sentence, &constraints).expect("a tree");
        assert_eq!(given.parse.tree.head(4), Some(5));
    }
}

#[test]
fn a_model_file_keeps_a_network() {
    let model = trained(TreeSet::ProjectiveSingleRoot, 2, 3).compact();
    let path = place("kept.tutte");
    model.save(&path, &About::default()).expect("a file");
    let file = ModelFile::open(&path).expect("a model");
    let again = file.model.require_parser().expect("a parser");
    let sentence = &treebank()[0];
    let scores = |model: &ParserModel<tutte::Compact>| {
        Parser::new(model).scores(sentence).expect("scores").clone()
    };
    assert_eq!(scores(&model), scores(again));
    // 8-bit weights are stored and read, too.
    let network = again.network.as_ref().expect("a network");
    let small =
        tutte::NetworkScorer::new(network.network().quantize(), network.tag_classes().to_vec());
    let mut small_model = model.clone();
    small_model.network = Some(Arc::new(small.expect("a network")));
    small_model.save(&path, &About::default()).expect("a file");
    let file = ModelFile::open(&path).expect("a model");
    let again = file.model.require_parser().expect("a parser");
    assert_eq!(scores(&small_model), scores(again));
}

#[test]
fn eight_bits_change_little_and_survive_a_file() {
    let treebank = treebank();
    let full = Model::from(trained(TreeSet::ProjectiveSingleRoot, 2, 30)).compact();
    let mut rounded = full.clone();
    let parser = rounded.parser.as_mut().expect("a parser");
    parser.network = parser.network.as_ref().map(|network| Arc::new(network.quantize()));
    let path = place("rounded.tutte");
    rounded.save(&path, &About::default()).expect("a file");
    full.save(place("full.tutte"), &About::default()).expect("a file");
    let bytes = |name: &str| std::fs::metadata(place(name)).expect("a file").len();
    assert!(bytes("rounded.tutte") < bytes("full.tutte"));
    let read = ModelFile::open(&path).expect("the file is a model").model;
    let parse = |model: &Model<tutte::Compact>| {
        Pipeline::new(model).with_tags(TagSource::Model).parse_words(&treebank, 1).expect("trees")
    };
    assert_eq!(parse(&read), parse(&rounded));
    for (gold, parsed) in treebank.iter().zip(&parse(&read)) {
        assert_eq!(gold.heads(), parsed.heads());
    }
}

#[test]
fn the_recipe_trains_a_pretrained_encoder_with_a_tokenizer() {
    let folder = place("encoder");
    let words = treebank()
        .iter()
        .flat_map(|s| s.words().map(|w| w.form().to_owned()).collect::<Vec<_>>())
        .collect::<Vec<_>>();
    RandomEncoder::new(Family::Bert).with_words(words).write(&folder).expect("an encoder");
    let output = place("recipe.tutte");
    let recipe = Recipe::new()
        .with_encoder(EncoderSource::Folder(folder))
        .with_passes(2)
        .with_output(&output);
    let trained = train_pipeline(treebank(), treebank(), &recipe, &mut ()).expect("a model");
    assert_eq!(trained.passes, 2);
    assert!(trained.dev.is_some() && trained.model.tokenizer.is_some());
    let file = ModelFile::open(&output).expect("a model");
    let parsed = Pipeline::new(&file.model).parse_text("Ada sees the old Bo.", 1).expect("trees");
    assert_eq!(parsed[0].len(), 6);
    assert!(parsed[0].tree().is_ok());
}

#[test]
fn an_encoder_that_is_not_there_is_an_error_that_names_the_files() {
    let missing = EncoderSource::Folder(place("missing"));
    let set = TreeSet::ProjectiveSingleRoot;
    let result = train_network(&treebank(), &[], set, &missing, &training(), &mut ());
    let message = result.expect_err("no encoder").to_string();
    assert!(message.contains("config.json"), "{message}");
}

#[test]
fn an_observer_stops_a_training() {
    let mut stop = |event: NetworkEvent<'_>| match event {
        NetworkEvent::Step { step: 2.., .. } => std::ops::ControlFlow::Break(()),
        _ => std::ops::ControlFlow::Continue(()),
    };
    let set = TreeSet::ProjectiveSingleRoot;
    let scratch = EncoderSource::Scratch;
    let result = train_network(&treebank(), &[], set, &scratch, &training(), &mut stop);
    assert!(matches!(result, Err(tutte::Error::Stopped)));
}
