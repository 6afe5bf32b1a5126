//! Training of networks: recipes, resuming, objectives, rules, batches and errors.

use super::*;

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
