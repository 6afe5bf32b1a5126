//! Networks through the whole library: training, tree sets, tags, probabilities, the model file.

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
fn a_network_finds_lemmas_and_possible_combinations_of_tags_without_a_tagger() {
    let forms = [
        ("dogs", "dog"),
        ("cats", "cat"),
        ("cities", "city"),
        ("ponies", "pony"),
        ("sheep", "sheep"),
    ];
    let mut sentences: Vec<Sentence> = Vec::new();
    for (number, (form, lemma)) in forms.iter().enumerate() {
        for verb in ["runs", "sings", "sleeps", "eats"] {
            let text = format!(
                "# sent_id = {number}-{verb}\n\
                 1\t{form}\t{lemma}\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t_\t_\n\
                 2\t{verb}\t{}\tVERB\tVBZ\tTense=Pres\t0\troot\t_\t_\n",
                &verb[..verb.len() - 1]
            );
            sentences.push(text.parse().expect("a sentence"));
        }
    }
    let options = training().with_batch(20).with_epochs(40);
    let set = TreeSet::ProjectiveSingleRoot;
    let model = train_network(&sentences, &[], set, &EncoderSource::Scratch, &options, &mut ());
    let path = place("lemmas.tutte");
    Model::from(model.expect("a model")).compact().save(&path, &About::default()).expect("a file");
    let model = ModelFile::open(&path).expect("a model").model;
    assert!(model.tagger.is_none() && model.finds_tags());
    let pipeline = Pipeline::new(&model).with_tags(TagSource::Model);
    let parsed = pipeline.parse_words(&sentences, 1).expect("trees");
    for (gold, parsed) in sentences.iter().zip(&parsed) {
        for (gold, parsed) in gold.words().zip(parsed.words()) {
            assert_eq!(gold.lemma(), parsed.lemma());
            assert_eq!((gold.xpos(), gold.feats()), (parsed.xpos(), parsed.feats()));
        }
    }
    // No rule that applies is chosen for a form that is too short for it, and probabilities are reported.
    let short: Sentence = "1\tie\t_\t_\t_\t_\t_\t_\t_\t_\n".parse().expect("a sentence");
    let mut annotator = pipeline.annotator();
    let mut sentence = short.clone();
    let readings = annotator.tag(&mut sentence).expect("tags");
    assert!(!sentence.word(1).expect("a word").lemma().is_empty());
    let word = sentence.word(1).expect("a word");
    let known = [("NNS", "Number=Plur"), ("VBZ", "Tense=Pres")];
    assert!(known.contains(&(word.xpos(), word.feats())));
    let detail = AnnotationOptions::default();
    let distributions =
        annotator.analyse(&mut sentence, &readings, &Constraints::new()).expect("trees");
    let mut annotation = distributions.annotation(&Constraints::new(), &detail).expect("words");
    annotator.add_tag_probabilities(&sentence, &readings, &detail, &mut annotation);
    let tag = annotation.words[0].tag.as_ref().expect("probabilities");
    assert!(tag.lemma.is_some_and(|prob| prob > 0.0 && prob <= 1.0));
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

/// Sentences of many lengths, some of them equal.
fn text() -> Vec<Sentence> {
    let forms = ["Ada", "sees", "the", "old", "Bo", ".", "who", "xyz"];
    let lengths = (0..120).map(|at| if at == 70 { 600 } else { 1 + at * 7 % 19 });
    let sentence = |(at, words): (usize, usize)| {
        let word = |word: usize| {
            let form = forms[(at % 9 + word * word) % forms.len()];
            format!("{word}\t{form}\t_\t_\t_\t_\t_\t_\t_\t_\n")
        };
        (1..=words).map(word).collect::<String>().parse().expect("a sentence")
    };
    (0..).zip(lengths).map(sentence).collect()
}

#[test]
fn batches_do_not_change_a_bit() {
    let full = Model::from(trained(TreeSet::ProjectiveSingleRoot, 2, 3)).compact();
    let mut rounded = full.clone();
    let parser = rounded.parser.as_mut().expect("a parser");
    parser.network = parser.network.as_ref().map(|network| Arc::new(network.quantize()));
    for model in [&full, &rounded] {
        let parser = model.require_parser().expect("a parser");
        let text = text();
        let mut alone = Parser::new(parser);
        let mut together = Parser::new(parser);
        together.prepare(&text[..50]);
        // Sentences of the batch in another order, others between them, and a batch that is left half-way.
        let order = [7, 7, 49, 0, 70, 1, 80, 2, 3, 48, 81, 4];
        for at in order.into_iter().chain(50..60) {
            if at == 55 {
                together.prepare(&text[55..58]);
            }
            assert_eq!(
                alone.parse(&text[at]).expect("a tree"),
                together.parse(&text[at]).expect("a tree"),
            );
            if text[at].len() < 100 {
                let scores = alone.scores(&text[at]).expect("scores").clone();
                assert_eq!(&scores, together.scores(&text[at]).expect("scores"));
            }
        }
        let pipeline = Pipeline::new(model).with_tags(TagSource::Model);
        let mut annotator = pipeline.annotator();
        let mut one_by_one = text.clone();
        for sentence in &mut one_by_one {
            annotator.annotate(sentence).expect("a tree");
        }
        for threads in [1, 2, 3] {
            let streamed = pipeline.parse_words(&text, threads).expect("trees");
            assert!(streamed == one_by_one, "{threads} threads");
        }
    }
}

#[test]
fn a_network_answers_every_sentence_before_it_reads_the_next() {
    let model = trained(TreeSet::ProjectiveSingleRoot, 2, 1);
    for threads in [1, 2] {
        let (ask, questions) = std::sync::mpsc::channel::<()>();
        ask.send(()).expect("a reader");
        let mut ask = Some(ask);
        let mut answers = 0;
        let sentence = treebank()[0].clone();
        tutte::map_batches::<_, _, String>(
            threads,
            || Parser::new(&model),
            |parser, _, sentence| parser.parse(sentence).map_err(|error| error.to_string()),
            // Fails, instead of waiting for ever.
            move |next| match questions.recv_timeout(std::time::Duration::from_secs(60)) {
                Ok(()) => {
                    next.clone_from(&sentence);
                    Ok(true)
                }
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => Ok(false),
                Err(error) => Err(error.to_string()),
            },
            |_, parse, is_next_known| {
                assert_eq!((parse?.tree.heads().len(), is_next_known), (6, false));
                answers += 1;
                match &ask {
                    Some(open) if answers < 5 => open.send(()).expect("a reader"),
                    _ => ask = None,
                }
                Ok(())
            },
        )
        .expect("answers");
        assert_eq!(answers, 5);
    }
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
fn an_encoder_can_stay_outside_of_the_model() {
    let encoder = tiny_encoder("outside");
    let options = training().with_epochs(3).with_frozen_encoder(true).with_encoder_outside(true);
    let set = TreeSet::ProjectiveSingleRoot;
    let model = train_network(&treebank(), &[], set, &encoder, &options, &mut ());
    let model = model.expect("a model").compact();
    let path = place("outside.tutte");
    model.save(&path, &About::default()).expect("a file");
    let inside = place("outside-inside.tutte");
    let mut other = model.clone();
    let network = model.network.as_ref().expect("a network");
    let again =
        tutte::NetworkScorer::new(network.network().clone(), network.tag_classes().to_vec());
    other.network = Some(Arc::new(again.expect("a network")));
    other.save(&inside, &About::default()).expect("a file");
    let length = |path: &Path| std::fs::metadata(path).expect("a file").len();
    assert!(length(&path) < length(&inside));

    let read = ModelFile::open(&path).expect("a model").model;
    let read = read.require_parser().expect("a parser");
    let sentence = &treebank()[0];
    let scores = |model: &ParserModel<tutte::Compact>| {
        Parser::new(model).scores(sentence).expect("scores").clone()
    };
    assert_eq!(scores(&model), scores(read));
    // What is read is written in the same way, unless it is rounded.
    let scorer = read.network.as_ref().expect("a network");
    assert_eq!(scorer.encoder_outside(), Some("network-outside"));
    assert_eq!(scorer.quantize().encoder_outside(), None);
    let copy = place("outside-copy.tutte");
    read.save(&copy, &About::default()).expect("a file");
    assert!(std::fs::read(&path).expect("a file") == std::fs::read(&copy).expect("a file"));

    // Another encoder, and none.
    let EncoderSource::Folder(folder) = &encoder else { unreachable!("an encoder in a folder") };
    let error = || ModelFile::open(&path).expect_err("no encoder").to_string();
    let words = (0..40).map(|at| format!("w{at}"));
    let changed = RandomEncoder::new(Family::Bert).with_words(words).with_sizes(8, 1, 2, 16);
    std::fs::remove_dir_all(folder).expect("a folder");
    changed.write(folder).expect("an encoder");
    assert!(error().contains("another encoder"), "{}", error());
    std::fs::remove_dir_all(folder).expect("a folder");
    assert!(error().contains("config.json"), "{}", error());
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
    let output = place("recipe.tutte");
    let recipe =
        Recipe::new().with_encoder(tiny_encoder("encoder")).with_passes(2).with_output(&output);
    let trained = train_pipeline(treebank(), treebank(), &recipe, &mut ()).expect("a model");
    assert_eq!(trained.passes, 2);
    assert!(trained.dev.is_some() && trained.model.tokenizer.is_some());
    let file = ModelFile::open(&output).expect("a model");
    let parsed = Pipeline::new(&file.model).parse_text("Ada sees the old Bo.", 1).expect("trees");
    assert_eq!(parsed[0].len(), 6);
    assert!(parsed[0].tree().is_ok());
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

#[test]
fn an_interrupted_training_is_resumed_to_the_same_bytes() {
    let plain = NetworkTraining::new().with_batch(60);
    resumes("plain", plain.clone(), treebank);
    resumes("few", plain.clone().with_accumulated_batches(3).with_sorted_batches(true), treebank);
    resumes("rules", plain.with_accumulated_batches(2).with_rules(rules()), half_raw);
}

/// Checks that a training resumes to the same bytes, with another number of threads.
fn resumes(name: &str, training: NetworkTraining, treebank: fn() -> Vec<Sentence>) {
    let encoder = tiny_encoder(&format!("resumed-{name}"));
    let place = |file: &str| place(&format!("{name}-{file}"));
    let recipe = |name: &str, threads: usize| {
        let recipe = Recipe::new().with_encoder(encoder.clone()).with_threads(threads);
        let recipe = recipe.with_network_training(training.clone());
        recipe.with_passes(3).with_output(place(name))
    };
    let dev = || crate::treebank()[..5].to_vec();
    let whole = recipe("whole.tutte", 1);
    train_pipeline(treebank(), dev(), &whole, &mut ()).expect("a model");

    let mut stop = |event: Event<'_>| match event {
        Event::Pass(_) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let output = place("cut.tutte");
    let _ = std::fs::remove_file(&output);
    let cut = recipe("cut.tutte", 1);
    let trained = train_pipeline(treebank(), dev(), &cut, &mut stop).expect("a model");
    assert_eq!(trained.ending, Ending::Interrupted);
    assert_eq!(trained.file, Some(best_path(&output)));
    assert!(!output.exists() && cut.can_resume());

    // Other settings are refused, and nothing is lost.
    let other = recipe("cut.tutte", 1).with_passes(4).resuming();
    let message = train_pipeline(treebank(), dev(), &other, &mut ()).unwrap_err().to_string();
    assert!(message.ends_with("of another training: epochs was 3 and is 4"), "{message}");
    let features = Recipe::new().with_output(&output).resuming();
    let message = train_pipeline(treebank(), dev(), &features, &mut ()).unwrap_err().to_string();
    assert!(message.contains("of another training"), "{message}");

    let trained = train_pipeline(treebank(), dev(), &recipe("cut.tutte", 3).resuming(), &mut ())
        .expect("a model");
    assert_eq!((trained.ending, trained.passes), (Ending::Finished, 3));
    let bytes = |name: &str| std::fs::read(place(name)).expect("a file");
    assert!(bytes("whole.tutte") == bytes("cut.tutte"));
    assert!(cut.files_beside().iter().all(|file| !file.exists()));
}

/// Returns the loss per word of every epoch.
fn losses(treebank: &[Sentence], encoder: &EncoderSource, options: &NetworkTraining) -> Vec<f64> {
    let mut losses = Vec::new();
    let mut observer = |event: NetworkEvent<'_>| {
        if let NetworkEvent::Epoch { loss, .. } = event {
            losses.push(loss);
        }
    };
    let set = TreeSet::NonProjectiveSingleRoot;
    train_network(treebank, &[], set, encoder, options, &mut observer).expect("a model");
    losses
}

/// Trains with few, large steps, so that every loss that can fall does.
fn short() -> NetworkTraining {
    let usual = training().with_epochs(12).with_batch(40);
    usual.with_rates(3e-3, 3e-3).with_dropout(0.0).with_threads(2)
}

#[test]
fn every_objective_trains_a_network() {
    let encoder = tiny_encoder("objectives-encoder");
    for objective in [
        "likelihood",
        "softmax",
        "softmax-margin(1)",
        "risk(1)",
        "likelihood + risk(0.1..2)",
        "likelihood + decoded-risk(0.1)",
        "brier",
        "likelihood + 0.1*entropy",
        "likelihood + 0.1*renyi(2)",
    ] {
        let options = short().with_objective(objective.parse().expect("an objective"));
        let losses = losses(&treebank(), &encoder, &options);
        assert!(losses[11] < 0.8 * losses[0], "{objective}: {losses:?}");
    }
}

#[test]
fn a_network_learns_from_partial_trees_and_raw_text() {
    let encoder = tiny_encoder("partial-encoder");
    let mut partial: Vec<Sentence> = treebank();
    for (number, sentence) in partial.iter_mut().enumerate() {
        let text = sentence.as_str();
        // Some heads are unknown; every fourth sentence is raw.
        let text = if number % 4 == 0 {
            let lines = text.lines().map(|line| {
                let mut columns: Vec<&str> = line.split('\t').collect();
                if columns.len() > 7 {
                    columns[6..8].fill("_");
                }
                columns.join("\t")
            });
            lines.collect::<Vec<_>>().join("\n") + "\n"
        } else {
            text.replace("\t5\tamod", "\t_\t_").replace("\t2\tpunct", "\t_\t_")
        };
        *sentence = text.parse().expect("a sentence");
    }
    let objective = "likelihood + 0.2*entropy".parse().expect("an objective");
    let losses = losses(&partial, &encoder, &short().with_objective(objective));
    assert!(losses[11] < 0.8 * losses[0], "{losses:?}");
}

#[test]
fn a_network_learns_from_a_teacher() {
    let encoder = tiny_encoder("taught-encoder");
    let answers =
        ["2:nsubj:0.9,3:nsubj:0.1", "0:root:1", "5:det:1", "5:amod:1", "2:obj:1", "2:punct:1"];
    let mut taught = treebank();
    for sentence in &mut taught {
        let entries: Vec<Vec<(&str, String)>> =
            answers.iter().map(|answer| vec![("Teacher", (*answer).to_owned())]).collect();
        sentence.replace_misc(&["Teacher"], &entries).expect("MISC");
    }
    let losses = losses(&taught, &encoder, &short().learning_from_teachers());
    assert!(losses[11] < 0.8 * losses[0], "{losses:?}");
}

fn rules() -> RuleSet {
    let text = "\
det: DET <- nearest PROPN  head right  90%
root: VERB <- ROOT  0.8..1
subject: PROPN <- VERB  head right  40% of words
leaf: * <- PUNCT  never
";
    RuleSet::parse("rules", text).expect("rules")
}

/// Returns the treebank with the heads of every second sentence left out.
fn half_raw() -> Vec<Sentence> {
    let mut treebank = treebank();
    for sentence in treebank.iter_mut().step_by(2) {
        sentence.set_heads(&[None; 6]).expect("heads");
        sentence.set_deprels(&["_"; 6]).expect("labels");
    }
    treebank
}

/// Returns the expectation of each rule that has a share.
fn expectations(model: &ParserModel, raw: &[Sentence]) -> Vec<f64> {
    let WeakData { constraints, arcs, .. } = WeakData::of_rules(&rules(), raw, model.tree_set);
    let mut sums = vec![0.0; constraints.len()];
    let mut parser = Parser::new(model);
    for (sentence, matches) in raw.iter().zip(arcs) {
        let distribution = parser.distribution(sentence).expect("a distribution");
        for (head, word, rule) in matches {
            sums[rule] += distribution.arcs().marginals()[(head, word)];
        }
    }
    sums.iter().zip(&constraints).map(|(sum, constraint)| sum / constraint.of).collect()
}

#[test]
fn rules_alone_move_a_network_to_their_targets() {
    let mut raw = treebank();
    for sentence in &mut raw {
        sentence.set_heads(&[None; 6]).expect("heads");
        sentence.set_deprels(&["_"; 6]).expect("labels");
    }
    let set = TreeSet::NonProjectiveSingleRoot;
    for (source, rate) in [(EncoderSource::Scratch, 3e-4), (tiny_encoder("ruled-encoder"), 1e-3)] {
        let trained = |rate: f32, epochs: usize, threads: usize| {
            let options = short().with_epochs(epochs).with_batch(80).with_rates(rate, rate);
            let options = options.with_rules(rules()).with_threads(threads);
            train_network(&raw, &[], set, &source, &options, &mut ()).expect("a model")
        };
        let before = expectations(&trained(1e-9, 1, 1), &raw);
        let model = trained(rate, 60, 2);
        let after = expectations(&model, &raw);
        let seen = format!("{source:?}: {before:?}, {after:?}");
        assert!(before[0] < 0.6 && before[1] < 0.6 && before[2] < 0.3, "{seen}");
        assert!((after[0] - 0.9).abs() < 0.05 && (after[2] - 0.4).abs() < 0.05, "{seen}");
        assert!((0.75..=1.0).contains(&after[1]), "{seen}");
        // What never happens is impossible, also in the parser.
        assert!(model.rules.is_some() && after[3] == 0.0, "{seen}");
        let [one, three] = [1, 3].map(|threads| expectations(&trained(rate, 5, threads), &raw));
        assert_eq!(one, three, "threads change nothing");
    }
}

#[test]
fn a_network_learns_from_trees_and_rules_together() {
    let encoder = tiny_encoder("half-ruled-encoder");
    let options = short().with_rules(rules()).with_accumulated_batches(2);
    let losses = losses(&half_raw(), &encoder, &options);
    assert!(losses[11] < 0.8 * losses[0], "{losses:?}");

    // Through the recipe, to a model file. Raw sentences alone are enough.
    let output = place("ruled.tutte");
    let recipe = Recipe::new().with_encoder(encoder.clone()).with_output(&output).with_passes(3);
    let recipe = recipe.with_network_training(short().with_rules(rules()));
    let raw: Vec<Sentence> = half_raw().into_iter().step_by(2).collect();
    train_pipeline(raw.clone(), Vec::new(), &recipe, &mut ()).expect("a model");
    let file = ModelFile::open(&output).expect("a model");
    assert!(
        file.about.training.iter().any(|(name, value)| name == "rule det" && value.contains("90%"))
    );
    let model = file.model.require_parser().expect("a parser");
    assert_eq!(model.rules.as_ref().expect("rules").len(), 1);
    let parsed = Parser::new(model).parse(&raw[0]).expect("a tree");
    assert!(parsed.tree.heads().iter().all(|head| *head != 6), "nothing depends on punctuation");

    let both = recipe.with_features_too();
    let message = train_pipeline(half_raw(), Vec::new(), &both, &mut ()).unwrap_err().to_string();
    assert!(message.contains("features do not learn from rules"), "{message}");
}

#[test]
fn a_step_of_several_batches_is_a_step_of_one_large_batch() {
    let encoder = tiny_encoder("accumulated-encoder");
    let losses = |options: NetworkTraining| {
        let options = options.with_epochs(3).with_frozen_encoder(true);
        losses(&treebank(), &encoder, &options)
    };
    let large = losses(short().with_batch(1000));
    let several = short().with_batch(50).with_accumulated_batches(100);
    for found in [losses(several.clone()), losses(several.with_sorted_batches(true))] {
        // Sums are rounded in another order. The optimizer makes more of that in later steps.
        assert!((found[0] - large[0]).abs() < 1e-5 * large[0], "{found:?} {large:?}");
        assert!((found[2] - large[2]).abs() < 1e-2 * large[2], "{found:?} {large:?}");
    }
    let steps = losses(short().with_batch(50));
    assert!(steps[2] < 0.9 * large[2], "{steps:?} {large:?}");
}

#[test]
fn settings_that_cannot_be_are_errors() {
    let encoder = EncoderSource::Scratch;
    let set = TreeSet::ProjectiveSingleRoot;
    for (options, said) in [
        (training().with_objective("risk(0)".parse().expect("an objective")), "gamma is 0"),
        (training().with_epochs(0), "one epoch"),
        (training().with_rates(0.1, f32::NAN), "the rate is NaN"),
        (training().with_accumulated_batches(0), "at least one batch"),
        (training().with_rules_weight(f64::NAN), "the weight of rules is NaN"),
        (training().with_rules(rules()), "add raw sentences"),
        (training().with_encoder_outside(true), "freeze it"),
        (training().with_frozen_encoder(true).with_encoder_outside(true), "in a folder"),
    ] {
        let result = train_network(&treebank(), &[], set, &encoder, &options, &mut ());
        let message = result.expect_err("a setting that cannot be").to_string();
        assert!(message.contains(said), "{message}");
    }
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

/// Returns a model of features and a model of a network, of the same treebank.
fn two_models(name: &str) -> [Model<tutte::Compact>; 2] {
    two_models_of(name, &treebank())
}

fn two_models_of(name: &str, treebank: &[Sentence]) -> [Model<tutte::Compact>; 2] {
    let encoder = tiny_encoder(&format!("{name}-encoder"));
    let network = Recipe::new().with_encoder(encoder).with_network_training(short());
    [Recipe::new().with_passes(2), network].map(|recipe| {
        let recipe = recipe.with_tree_set(TreeSet::ProjectiveSingleRoot);
        train_pipeline(treebank.to_vec(), Vec::new(), &recipe, &mut ()).expect("a model").model
    })
}

#[test]
fn features_and_a_network_answer_every_question_together() {
    let [features, network] = two_models("mixed");
    let held_out = &treebank()[..8];
    let mixed = mix(&features, &network, held_out, 1).expect("a mixture");
    let again = mix(&features, &network, held_out, 3).expect("a mixture");
    assert_eq!(mixed.weights, again.weights, "threads change nothing");
    let [both, features_alone, network_alone] = mixed.log_likelihoods;
    assert!(both > features_alone.max(network_alone) - 1e-3, "{:?}", mixed.log_likelihoods);

    // A file keeps the weights.
    let path = place("mixed.tutte");
    mixed.model.save(&path, &About::default()).expect("a file");
    let model = ModelFile::open(&path).expect("a model").model;
    let parser_model = model.require_parser().expect("a parser");
    let scorer = parser_model.network.as_ref().expect("a network");
    assert_eq!(scorer.score_weights(), Some(mixed.weights));

    // Both scorers count.
    let sentence = &treebank()[3];
    let scores = |model: &Model<tutte::Compact>| {
        let parser = model.require_parser().expect("a parser");
        Parser::new(parser).scores(sentence).expect("scores").clone()
    };
    assert_eq!(scores(&mixed.model), scores(&model));
    assert_ne!(scores(&model), scores(&features));
    assert_ne!(scores(&model), scores(&network));

    let mut parser = Parser::new(parser_model);
    let distribution = parser.distribution(sentence).expect("a distribution");
    for word in 1..=sentence.len() {
        let total: f64 = distribution.head_probs(word).expect("a word").iter().sum();
        assert!((total - 1.0).abs() < 1e-9, "{total}");
        let all: f64 = (0..=sentence.len())
            .filter(|head| *head != word)
            .map(|head| distribution.arc_probs()[(head, word)])
            .sum();
        assert!((all - 1.0).abs() < 1e-9, "with the arcs that were left out: {all}");
    }
    let best = distribution.kbest(3);
    assert!(best.windows(2).all(|pair| pair[0].log_prob >= pair[1].log_prob));
    let samples = distribution.samples(20, 7);
    assert!(samples.iter().all(|tree| tree.tree().check_in(TreeSet::ProjectiveSingleRoot).is_ok()));
    // Heads that the pruner of the features would leave out can be kept.
    for (head, word) in [(5, 4), (1, 6), (0, 1)] {
        let constraints = Constraints::new().require_arc(head, word);
        let given = parser.analyse(sentence, &constraints).expect("a tree");
        assert_eq!(given.parse.tree.head(word), Some(head));
    }

    // From raw text, with tags; calibrated; in 8 bits.
    let mut calibrated = model.clone();
    let pipeline = Pipeline::new(&model).with_tags(TagSource::Model);
    let calibrator = Calibrator::of(&pipeline, held_out, 2).expect("held-out trees");
    let (temperature, calibration) = calibrator.fit(Method::Temperature).expect("a temperature");
    let parser = calibrated.parser.as_mut().expect("a parser");
    parser.temperature = temperature;
    parser.calibration = Some(calibration);
    parser.network = parser.network.as_ref().map(|network| Arc::new(network.quantize()));
    let rounded = parser.network.as_ref().expect("a network");
    assert_eq!(rounded.score_weights(), Some(mixed.weights));
    calibrated.save(&path, &About::default()).expect("a file");
    let small = ModelFile::open(&path).expect("a model").model;
    let parsed = Pipeline::new(&small).parse_text("Ada sees the old Bo.", 1).expect("trees");
    assert!(parsed[0].len() == 6 && parsed[0].tree().is_ok());
    for (gold, parsed) in treebank().iter().zip(
        Pipeline::new(&small)
            .with_tags(TagSource::Model)
            .parse_words(&treebank(), 2)
            .expect("trees"),
    ) {
        assert_eq!(gold.heads(), parsed.heads());
    }
}

/// Returns the treebank with other tags of names.
fn retagged() -> Vec<Sentence> {
    let retag = |sentence: &Sentence| sentence.as_str().replace("\tPROPN\t", "\tX\t").parse();
    treebank().iter().map(retag).collect::<Result<_, _>>().expect("sentences")
}

#[test]
fn a_joined_model_takes_the_better_tags() {
    let [features, network] = two_models("tags");
    let [worse_features, worse_network] = two_models_of("worse-tags", &retagged());
    let held_out = &treebank()[..8];
    let upos = |sentences: &[Sentence]| -> Vec<String> {
        let words = sentences.iter().flat_map(Sentence::words);
        words.map(|word| word.upos().to_owned()).collect()
    };
    for (features, network, by_tagger) in [
        (&features, &worse_network, true),
        (&worse_features, &network, false),
        (&worse_features, &worse_network, false),
    ] {
        let mixed = mix(features, network, held_out, 2).expect("a mixture");
        let tags = mixed.tags.expect("two taggers");
        assert_eq!(tags.is_tagger_better(), by_tagger, "{tags}");
        assert_eq!(tags.words, 48);
        let path = place("tagged.tutte");
        mixed.model.save(&path, &About::default()).expect("a file");
        let model = ModelFile::open(&path).expect("a model").model;
        let scorer = model.require_parser().expect("a parser").network.as_ref();
        assert_eq!(scorer.expect("a network").has_tags(), !by_tagger);
        assert!(model.finds_tags());
        let pipeline = Pipeline::new(&model).with_tags(TagSource::Model);
        let found = upos(&pipeline.parse_words(held_out, 1).expect("trees"));
        let right = found.iter().zip(upos(held_out)).filter(|(found, gold)| *found == gold).count();
        assert_eq!(right, if by_tagger { tags.tagger } else { tags.network });
        // The source of tags is that of their probabilities, too.
        let mut annotator = pipeline.annotator();
        let mut sentence = held_out[0].clone();
        let readings = annotator.tag(&mut sentence).expect("tags");
        let soft = annotator.soft_tags(&sentence, &readings, 0.0).expect("tags").expect("tags");
        let has_x = soft[0].iter().any(|tag| tag.upos == "X");
        assert_eq!(has_x, !by_tagger && std::ptr::eq(network, &worse_network));
        // Files of models that leave tags to their tagger are not read by programs that would not.
        let mut without_factors = mixed.model.clone();
        let parser = without_factors.parser.as_mut().expect("a parser");
        parser.second_pass.as_mut().expect("a second pass").factors = None;
        without_factors.save(&path, &About::default()).expect("a file");
        let format = ModelFile::open(&path).expect("a model").format;
        assert_eq!(format, if by_tagger { 7 } else { 6 });
    }
    // Without gold tags, and without a tagger, there is no choice.
    let [mut alone, mut other] = [features.clone(), network.clone()];
    (alone.tagger, other.tagger) = (None, None);
    assert_eq!(mix(&alone, &other, held_out, 1).expect("a mixture").tags, None);
}

/// Returns log p of the trees of held-out sentences per word, as a model finds it in use.
fn log_likelihood(model: &Model<tutte::Compact>, held_out: &[Sentence]) -> f64 {
    let pipeline = Pipeline::new(model).with_tags(TagSource::Model).with_readings(1);
    let mut annotator = pipeline.annotator();
    let mut sum = 0.0;
    for sentence in held_out {
        let mut tagged = sentence.clone();
        annotator.tag(&mut tagged).expect("tags");
        let parser = annotator.parser().expect("a parser");
        let distribution = parser.distribution(&tagged).expect("a distribution");
        sum += distribution.log_prob_in(sentence).expect("a tree");
    }
    sum / held_out.iter().map(Sentence::len).sum::<usize>() as f64
}

/// Returns the treebank with other heads of some words, which no word tells.
fn noisy() -> Vec<Sentence> {
    let mut sentences: Vec<Sentence> = [treebank(), treebank(), treebank()].concat();
    for (at, sentence) in sentences.iter_mut().enumerate() {
        let heads = match (at * 7 + at / 20 * 3) % 10 {
            0..5 => [2, 0, 5, 5, 2, 2],
            5..7 => [2, 0, 4, 5, 2, 2],
            7..9 => [2, 0, 5, 3, 2, 5],
            _ => [5, 0, 5, 5, 2, 2],
        };
        sentence.set_heads(&heads.map(Some)).expect("heads");
    }
    sentences
}

#[test]
fn factors_refine_the_sum_of_features_and_a_network() {
    let treebank = noisy();
    let [features, network] = two_models_of("refined", &treebank[..40]);
    let first = mix(&features, &network, &treebank[40..], 1).expect("a mixture");
    let mut held_out = treebank[40..].to_vec();
    // In use, gold arcs may not be candidates.
    held_out.retain(|one| log_likelihood(&first.model, std::slice::from_ref(one)).is_finite());
    assert!(held_out.len() > 10);
    let held_out = &held_out;
    let mixed = mix(&features, &network, held_out, 1).expect("a mixture");
    let found = mixed.factors.expect("factors");
    assert_eq!(mix(&features, &network, held_out, 3).expect("a mixture").factors, Some(found));
    assert!(found.weight > 0.0);
    // What was measured is what is used.
    let used = log_likelihood(&mixed.model, held_out);
    assert!((used - found.log_likelihood).abs() < 1e-5, "{used} {found:?}");
    let mut without = mixed.model.clone();
    let parser = without.parser.as_mut().expect("a parser");
    parser.second_pass.as_mut().expect("a second pass").factors = None;
    let used = log_likelihood(&without, held_out);
    assert!((used - mixed.log_likelihoods[0]).abs() < 1e-5, "{used} {:?}", mixed.log_likelihoods);
    assert!(found.log_likelihood > used, "the weight is the best one");
}

#[test]
fn a_joined_model_with_factors_answers_every_question() {
    let treebank = noisy();
    let [features, network] = two_models_of("questions", &treebank[..40]);
    let held_out = &treebank[40..];
    let mixed = mix(&features, &network, held_out, 2).expect("a mixture");
    let path = place("questions.tutte");
    mixed.model.save(&path, &About::default()).expect("a file");
    let model = ModelFile::open(&path).expect("a model").model;
    let parser_model = model.require_parser().expect("a parser");
    let factors = |model: &ParserModel<tutte::Compact>| {
        let factors = model.second_pass.as_ref().and_then(|second| second.factors.clone());
        let factors = factors.expect("factors");
        (
            tutte::Weights::scale(factors.weights()),
            tutte::Weights::cells(factors.weights()).to_vec(),
        )
    };
    assert_eq!(factors(parser_model), factors(mixed.model.require_parser().expect("a parser")));
    let sentence = &held_out[3];
    let mut plain = parser_model.clone();
    plain.second_pass.as_mut().expect("a second pass").factors = None;
    let mut parser = Parser::new(parser_model);
    let scores = parser.scores(sentence).expect("scores").clone();
    assert_ne!(&scores, Parser::new(&plain).scores(sentence).expect("scores"), "factors count");
    // A batch does not change a bit.
    parser.prepare(held_out);
    assert_eq!(&scores, parser.scores(sentence).expect("scores"));

    let set = parser_model.tree_set;
    let distribution = parser.distribution(sentence).expect("a distribution");
    for word in 1..=sentence.len() {
        let total: f64 = distribution.head_probs(word).expect("a word").iter().sum();
        assert!((total - 1.0).abs() < 1e-9, "{total}");
        let heads = (0..=sentence.len()).filter(|head| *head != word);
        let all: f64 = heads.map(|head| distribution.arc_probs()[(head, word)]).sum();
        assert!((all - 1.0).abs() < 1e-9, "with the arcs that were left out: {all}");
    }
    let best = distribution.kbest(8);
    assert!(best.windows(2).all(|pair| pair[0].log_prob >= pair[1].log_prob));
    let known: f64 = best.iter().map(|tree| tree.log_prob.exp()).sum();
    assert!(known > 0.3 && known < 1.0 + 1e-9, "{known}");
    let samples = distribution.samples(2000, 7);
    assert!(samples.iter().all(|tree| tree.tree().check_in(set).is_ok()));
    for (head, word) in [(5, 3), (4, 3), (3, 4)] {
        let share = samples.iter().filter(|tree| tree.tree().head(word) == Some(head)).count();
        let expected = distribution.arcs().marginals()[(head, word)];
        assert!((share as f64 / 2000.0 - expected).abs() < 0.05, "{share} {expected}");
    }
    // Any head can be kept, also one that the pruner of the features would leave out.
    for (head, word) in [(5, 4), (1, 6), (0, 1)] {
        let constraints = Constraints::new().require_arc(head, word).forbid_arc(2, 5);
        let given = parser.analyse(sentence, &constraints).expect("a tree");
        assert_eq!(given.parse.tree.head(word), Some(head));
        assert_ne!(given.parse.tree.head(5), Some(2));
        let trees = given.distribution.kbest(3);
        assert!(trees.iter().all(|tree| tree.tree.tree().head(word) == Some(head)));
    }
    // Questions to annotators, calibration, and the pipeline from raw text.
    let pool: Vec<SentenceUncertainty> = held_out
        .iter()
        .map(|sentence| {
            let distribution = parser.distribution(sentence).expect("a distribution");
            SentenceUncertainty::new(sentence, &distribution, false).expect("an uncertainty")
        })
        .collect();
    let asked = questions(&pool, Unit::Word, 5, false);
    assert!(asked.len() == 5 && asked.windows(2).all(|pair| pair[0].entropy >= pair[1].entropy));
    let pipeline = Pipeline::new(&model).with_tags(TagSource::Model);
    for calibrator in
        [Calibrator::of(&pipeline, held_out, 2), Calibrator::of_text(&pipeline, held_out, 2)]
    {
        let (temperature, _) =
            calibrator.expect("held-out trees").fit(Method::Isotonic).expect("a calibration");
        assert!(temperature.is_finite() && temperature > 0.0);
    }
    let parsed = Pipeline::new(&model).parse_text("Ada sees the old Bo.", 1).expect("trees");
    assert!(parsed[0].len() == 6 && parsed[0].tree().is_ok());
    // In every tree set.
    for tree_set in TreeSet::ALL {
        let mut parser = Parser::new(parser_model).with_tree_set(tree_set);
        let tree = parser.parse(sentence).expect("a tree").tree;
        assert!(tree.check_in(tree_set).is_ok());
    }
    let one: Sentence = "1\tAda\t_\tPROPN\t_\t_\t_\t_\t_\t_\n".parse().expect("a sentence");
    assert_eq!(parser.parse(&one).expect("a tree").tree.heads(), [0]);
}

#[test]
fn the_recipe_trains_features_and_a_network() {
    let encoder = tiny_encoder("both-encoder");
    let recipe = |name: &str| {
        let recipe = Recipe::new().with_encoder(encoder.clone()).with_features_too();
        recipe
            .with_network_training(short())
            .with_passes(2)
            .with_output(place(name))
            .with_threads(2)
    };
    let trained = train_pipeline(treebank(), Vec::new(), &recipe("both.tutte"), &mut ());
    let trained = trained.expect("a model");
    let parser = trained.model.require_parser().expect("a parser");
    assert!(parser.network.as_ref().is_some_and(|network| network.score_weights().is_some()));
    assert!(trained.model.tokenizer.is_some());

    // Stopped in the training of the network, and resumed.
    let mut passes = 0;
    let mut stop = |event: Event<'_>| {
        if let Event::Pass(report) = event {
            // The first epoch comes after all passes of the features.
            let is_new = report.number == 1;
            passes += usize::from(is_new);
        }
        if passes == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let cut = recipe("both-cut.tutte");
    let _ = std::fs::remove_file(place("both-cut.tutte"));
    let trained = train_pipeline(treebank(), Vec::new(), &cut, &mut stop).expect("a model");
    assert_eq!(trained.ending, Ending::Interrupted);
    assert!(cut.can_resume() && !place("both-cut.tutte").exists());
    train_pipeline(treebank(), Vec::new(), &cut.clone().resuming(), &mut ()).expect("a model");
    let bytes = |name: &str| std::fs::read(place(name)).expect("a file");
    assert!(bytes("both.tutte") == bytes("both-cut.tutte"));
    assert!(!cut.can_resume());
}

#[test]
fn models_that_do_not_belong_together_are_not_joined() {
    let [features, network] = two_models("unjoined");
    let held_out = &treebank()[..2];
    let message = |first: &Model<tutte::Compact>, second: &Model<tutte::Compact>| {
        mix(first, second, held_out, 1).expect_err("models that differ").to_string()
    };
    assert!(message(&network, &network).contains("without --encoder"));
    assert!(message(&features, &features).contains("with --encoder"));
    let mut other = features.clone();
    other.parser.as_mut().expect("a parser").tree_set = TreeSet::NonProjectiveMultiRoot;
    assert!(message(&other, &network).contains("the same --tree-set"));
    let nothing = mix(&features, &network, &[], 1).expect_err("nothing to judge");
    assert!(matches!(nothing, tutte::Error::NothingToJudge));
}

#[test]
fn an_average_of_weights_is_kept_and_resumed() {
    let encoder = tiny_encoder("average-encoder");
    let recipe = |name: &str, decay: Option<f32>| {
        let mut training = NetworkTraining::of_encoder(&encoder).with_batch(60);
        if let Some(decay) = decay {
            training = training.with_average(decay);
        }
        let recipe = Recipe::new().with_encoder(encoder.clone()).with_network_training(training);
        recipe.with_passes(2).with_output(place(name))
    };
    let train = |recipe: &Recipe| train_pipeline(treebank(), Vec::new(), recipe, &mut ());
    train(&recipe("raw.tutte", None)).expect("a model");
    train(&recipe("average.tutte", Some(0.9))).expect("a model");
    let mut stop = |event: Event<'_>| match event {
        Event::Pass(_) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let cut = recipe("average-cut.tutte", Some(0.9));
    train_pipeline(treebank(), Vec::new(), &cut, &mut stop).expect("a model");
    train(&cut.resuming()).expect("a model");
    let bytes = |name: &str| std::fs::read(place(name)).expect("a file");
    assert!(bytes("average.tutte") == bytes("average-cut.tutte"));
    assert!(bytes("average.tutte") != bytes("raw.tutte"));
}
