//! Answers of models with a network, and their files.

use super::*;

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
