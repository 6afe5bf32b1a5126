//! Features and a network in one model.

use super::*;

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
