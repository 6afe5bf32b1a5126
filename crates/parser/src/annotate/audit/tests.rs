use super::*;
use crate::{Labelling, TrainingOptions};

/// Sentences of a language without exceptions, `The N V the N`, whose nouns differ.
fn treebank(count: usize) -> Vec<Sentence> {
    let sentence = |at: usize| {
        let (one, other) = (format!("n{at}"), format!("o{at}"));
        format!(
            "# sent_id = s{at}\n\
             1\tThe\tthe\tDET\t_\t_\t2\tdet\t_\t_\n2\t{one}\t{one}\tNOUN\t_\t_\t3\tnsubj\t_\t_\n\
             3\tsees\tsee\tVERB\t_\t_\t0\troot\t_\t_\n4\tthe\tthe\tDET\t_\t_\t5\tdet\t_\t_\n\
             5\t{other}\t{other}\tNOUN\t_\t_\t3\tobj\t_\t_\n"
        )
        .parse()
        .unwrap()
    };
    (0..count).map(sentence).collect()
}

fn settings() -> Settings {
    let options = TrainingOptions { bits: 14, label_bits: 8, ..TrainingOptions::fast() };
    Settings { folds: 4, options }
}

fn run<'a>(treebank: &'a [Sentence], settings: &Settings) -> Audit<'a> {
    Audit::run(treebank, settings, |_| {}).unwrap()
}

#[test]
fn planted_errors_are_found_first() {
    let mut treebank = treebank(60);
    treebank[17].set_head(4, Some(3)).unwrap();
    treebank[31].set_deprel(5, "nsubj").unwrap();
    let audit = run(&treebank, &settings());
    let findings = audit.findings(0.5);
    let places: Vec<_> = findings.iter().map(|find| (find.sentence, find.word)).collect();
    assert_eq!(places.len(), 2, "{findings:#?}");
    assert!(places.contains(&(17, 4)) && places.contains(&(31, 5)), "{places:?}");
    let find = |sentence| findings.iter().find(|find| find.sentence == sentence).unwrap();
    assert_eq!((find(17).rather_head, find(17).rather_label.as_str()), (5, "det"));
    assert_eq!(find(17).pattern.to_string(), "DET ← VERB det → NOUN det");
    assert_eq!((find(31).rather_head, find(31).rather_label.as_str()), (3, "obj"));
    assert_eq!(find(31).pattern.to_string(), "NOUN ← VERB nsubj → obj");
    assert!(findings.iter().all(|find| find.rather_prob > 0.5 && find.suspicion > 0.7));
    let patterns = audit.patterns(&findings);
    let seen: Vec<_> = patterns.iter().map(|count| (count.finds, count.arcs)).collect();
    assert_eq!(seen, [(1, 1), (1, 61)], "{patterns:?}");
    assert_eq!(
        audit.findings(1.1).len(),
        240,
        "all arcs but those of the only word that can be the root"
    );
}

#[test]
fn heads_alone_can_be_judged() {
    let mut treebank = treebank(40);
    treebank[17].set_head(4, Some(3)).unwrap();
    treebank[31].set_deprel(5, "nsubj").unwrap();
    let Settings { folds, options } = settings();
    let options = TrainingOptions { labelling: Labelling::None, ..options };
    let audit = run(&treebank, &Settings { folds, options });
    let findings = audit.findings(0.5);
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!(findings[0].pattern.to_string(), "DET ← VERB det → NOUN");
}

/// What an audit says of a fold is what a model says that was trained by hand on the others.
#[test]
fn arcs_are_judged_by_a_model_that_has_not_seen_them() {
    let mut treebank = treebank(30);
    treebank[17].set_head(4, Some(3)).unwrap();
    let mut settings = settings();
    for pruning in
        [None, Some(crate::PrunerOptions { bits: 12, ..crate::PrunerOptions::default() })]
    {
        settings.options.pruning = pruning;
        let audit = run(&treebank, &settings);
        for fold in 0..audit.folds().count() {
            let part = |numbers: Vec<usize>| -> Vec<Sentence> {
                numbers.into_iter().map(|at| treebank[at].clone()).collect()
            };
            let others = part(audit.folds().learnt_for(fold).collect());
            let own: Vec<usize> = audit.folds().held_out(fold).collect();
            let mut model = train(&others, &settings.options, |_, _| {}).unwrap();
            model.temperature = model.best_temperature(&part(own.clone()), 1).unwrap();
            let mut parser = Parser::new(&model);
            for at in own {
                let distribution = parser.distribution(&treebank[at]).unwrap();
                let judged = (1..).zip(treebank[at].words()).zip(audit.judged(at));
                for ((word, token), judged) in judged {
                    let head = token.head().unwrap();
                    let head_prob = distribution.head_probs(word).unwrap()[head];
                    if head_prob > 0.0 {
                        // What steps left out takes its small share.
                        assert!((judged.head_prob - head_prob).abs() < 0.05);
                        let label = distribution.label(token.deprel()).unwrap();
                        let label_prob = distribution.label_probs(head, word).unwrap()[label];
                        assert_eq!(judged.label_prob, label_prob);
                    } else {
                        assert!(judged.head_prob < 0.05, "{judged:?}");
                    }
                    let best = distribution.alternatives(word, 1).unwrap()[0];
                    if best.head != head {
                        let rather = judged.rather.unwrap();
                        assert_eq!(rather.head, best.head);
                        assert_eq!(audit.labels()[rather.label], best.label);
                    }
                }
            }
        }
    }
}

#[test]
fn probabilities_of_heads_sum_to_one_with_what_steps_left_out() {
    let treebank = treebank(12);
    for options in [TrainingOptions::fast(), TrainingOptions::default(), TrainingOptions::plain()] {
        let options = TrainingOptions { bits: 14, label_bits: 8, passes: 1, ..options };
        let model = train(&treebank, &options, |_, _| {}).unwrap();
        let mut parser = Parser::new(&model);
        for sentence in &treebank {
            let distribution = parser.distribution(sentence).unwrap();
            let marginals = distribution.arcs().marginals();
            let all = parser.with_left_out(marginals);
            let mut left_out = 0.0;
            for word in 1..=5 {
                let heads = || (0..=5).filter(move |&head| head != word);
                let sum: f64 = heads().map(|head| all[(head, word)]).sum();
                assert!((sum - 1.0).abs() < 1e-9, "{sum}");
                for head in heads().filter(|&head| marginals[(head, word)] == 0.0) {
                    left_out += all[(head, word)];
                    assert!(all[(head, word)] < 0.05, "{}", all[(head, word)]);
                }
            }
            assert_eq!(left_out > 0.0, options.second_pass.is_some());
        }
    }
}

#[test]
fn any_number_of_threads_says_the_same() {
    let mut treebank = treebank(30);
    treebank[17].set_head(4, Some(3)).unwrap();
    let mut settings = settings();
    let alone = run(&treebank, &settings);
    settings.options.threads = 3;
    let together = run(&treebank, &settings);
    assert!((0..30).all(|at| alone.judged(at) == together.judged(at)));
}

#[test]
fn the_same_words_are_no_evidence_for_themselves_and_their_differences_are_told() {
    let mut treebank = treebank(24);
    // The same error twice, far apart: whoever had learnt one of them would believe the other.
    treebank[3].set_head(4, Some(3)).unwrap();
    let twin = treebank[3].clone();
    treebank.push(twin);
    let audit = run(&treebank, &settings());
    let places: Vec<_> =
        audit.findings(0.5).iter().map(|find| (find.sentence, find.word)).collect();
    assert!(places.contains(&(3, 4)) && places.contains(&(24, 4)), "{places:?}");
    assert!(audit.inconsistent().is_empty());

    treebank[24].set_head(4, Some(5)).unwrap();
    let audit = run(&treebank, &settings());
    assert_eq!(audit.inconsistent(), [[3, 24]]);
}

#[test]
fn what_cannot_be_judged_is_refused() {
    let same = vec![treebank(1).remove(0); 12];
    let error = Audit::run(&same, &settings(), |_| {}).unwrap_err();
    assert!(error.to_string().contains("same words"), "{error}");
}

#[test]
fn labels_that_nobody_else_has_are_impossible() {
    let mut treebank = treebank(40);
    treebank[5].set_deprel(2, "subject").unwrap();
    let audit = run(&treebank, &settings());
    let find = &audit.findings(0.5)[0];
    assert_eq!((find.sentence, find.word, find.prob), (5, 2, 0.0));
    assert_eq!(find.rather_label, "nsubj");
}

#[test]
fn verdicts_hold_while_the_arc_is_what_they_were_about() {
    let mut sentence = treebank(1).remove(0);
    let text = "\u{feff}sent_id\tword\tverdict\tarc\tform\r\n# mine\n\n\
                s0\t4\tFINE\t5:det\tthe\t0.01\tmore\r\ns0\t5\terror\ns0\t1\t?\t2:det\ns0\t2\t\n";
    let verdicts = Verdicts::parse("v.tsv", text).unwrap();
    assert_eq!(verdicts.len(), 2);
    let on = |sentence: &Sentence, word| verdicts.on("s0", sentence.word(word).unwrap());
    assert_eq!(
        [1, 2, 3, 4].map(|word| on(&sentence, word)),
        [None, None, None, Some(Decision::Fine)]
    );
    assert_eq!(on(&sentence, 5), Some(Decision::Error));
    sentence.set_head(4, Some(3)).unwrap();
    sentence.set_head(5, Some(2)).unwrap();
    assert_eq!(on(&sentence, 4), None, "it was about another head");
    assert_eq!(on(&sentence, 5), Some(Decision::Error), "it did not say about what");
    assert_eq!(verdicts.on("s1", sentence.word(5).unwrap()), None);
    // The last one that fits counts.
    let verdicts =
        Verdicts::parse("v.tsv", "s0\t4\tfine\ns0\t4\terror\t9:det\ns0\t4\tfine\t9:det").unwrap();
    assert_eq!(verdicts.on("s0", sentence.word(4).unwrap()), Some(Decision::Fine));
}

#[test]
fn lines_that_are_no_verdicts_are_named() {
    for (line, place) in [
        ("s0 4 fine", "v.tsv:2:1: "),
        ("s0\tfour\tfine", "v.tsv:2:2: \"four\" is no word"),
        ("s0\t0\tfine", "v.tsv:2:2: \"0\" is no word"),
        ("s0\t4\tok", "v.tsv:2:3: \"ok\" is no verdict"),
        ("s0\t4\tfine\tdet", "v.tsv:2:4: \"det\" is no arc"),
        ("s0\t4\tfine\tx:det", "v.tsv:2:4: \"x:det\" is no arc"),
    ] {
        let error = Verdicts::parse("v.tsv", &format!("# first\n{line}\n")).unwrap_err();
        assert!(error.to_string().starts_with(place), "{error}");
    }
}

#[test]
fn sentences_without_a_name_are_counted() {
    let sentence: Sentence = "1\tTea\t_\tNOUN\t_\t_\t0\troot\t_\t_\n".parse().unwrap();
    assert_eq!(sentence_name(&sentence, 11), "@12");
    assert_eq!(sentence_name(&treebank(1)[0], 11), "s0");
}

#[test]
fn labels_that_nobody_can_foresee_are_less_suspicious() {
    let mut treebank = treebank(60);
    // Every third object is called something else, for no reason; one article hangs from the verb.
    for at in (0..60).step_by(3) {
        treebank[at].set_deprel(5, "odd").unwrap();
    }
    treebank[17].set_head(4, Some(3)).unwrap();
    let audit = run(&treebank, &settings());
    let find = &audit.findings(0.9)[0];
    assert_eq!((find.sentence, find.word), (17, 4));
    let judged = &audit.judged(0)[4];
    let odds = (judged.rather.unwrap().prob / judged.prob()).ln();
    assert!(audit.suspicion(judged, "odd") < odds, "{judged:?}");
    let other = audit.suspicion(judged, "obj") - audit.suspicion(judged, "odd");
    assert!(other > 0.3, "{other}");
}
