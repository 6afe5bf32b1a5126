use super::*;
use crate::{Labelling, TrainingOptions};

/// Sentences `The N V the N` with different nouns.
fn treebank(count: usize) -> Vec<Sentence> {
    let sentence = |at: usize| {
        let one = format!("n{at}");
        let other = format!("o{at}");
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
    Audit::run(treebank, settings, &mut ()).unwrap()
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
    assert_eq!((find(17).other_head, find(17).other_label.as_str()), (5, "det"));
    assert_eq!(find(17).pattern.to_string(), "DET ← VERB det → NOUN det");
    assert_eq!((find(31).other_head, find(31).other_label.as_str()), (3, "obj"));
    assert_eq!(find(31).pattern.to_string(), "NOUN ← VERB nsubj → obj");
    assert!(findings.iter().all(|find| find.other_prob > 0.5 && find.suspicion > 0.7));
    let patterns = audit.patterns(&findings);
    let seen: Vec<_> = patterns.iter().map(|count| (count.finds, count.arcs)).collect();
    assert_eq!(seen, [(1, 1), (1, 61)], "{patterns:?}");
    assert_eq!(
        audit.findings(1.1).len(),
        240,
        "all arcs except those of the only possible root word"
    );
}

#[test]
fn heads_alone_can_be_audited() {
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

/// An audit of a fold agrees with a model that is trained on the other folds by hand.
#[test]
fn arcs_are_scored_by_a_model_trained_without_them() {
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
            let mut model = train(&others, &settings.options, &mut ()).unwrap();
            model.temperature = model.best_temperature(&part(own.clone()), 1).unwrap();
            let mut parser = Parser::new(&model);
            for at in own {
                let distribution = parser.distribution(&treebank[at]).unwrap();
                let arcs = (1..).zip(treebank[at].words()).zip(audit.arcs(at));
                for ((word, token), arc) in arcs {
                    let head = token.head().unwrap();
                    let head_prob = distribution.head_probs(word).unwrap()[head];
                    if head_prob > 0.0 {
                        // Pruned heads have a small share of the probability.
                        assert!((arc.head_prob - head_prob).abs() < 0.05);
                        let label = distribution.label(token.deprel()).unwrap();
                        let label_prob = distribution.label_probs(head, word).unwrap()[label];
                        assert_eq!(arc.label_prob, label_prob);
                    } else {
                        assert!(arc.head_prob < 0.05, "{arc:?}");
                    }
                    let best = distribution.alternatives(word, 1).unwrap()[0];
                    if best.head != head {
                        let other = arc.other.unwrap();
                        assert_eq!(other.head, best.head);
                        assert_eq!(audit.labels()[other.label], best.label);
                    }
                }
            }
        }
    }
}

#[test]
fn probabilities_of_heads_sum_to_one_with_pruned_arcs() {
    let treebank = treebank(12);
    for options in [TrainingOptions::fast(), TrainingOptions::default(), TrainingOptions::plain()] {
        let options = TrainingOptions { bits: 14, label_bits: 8, passes: 1, ..options };
        let model = train(&treebank, &options, &mut ()).unwrap();
        let mut parser = Parser::new(&model);
        for sentence in &treebank {
            let distribution = parser.distribution(sentence).unwrap();
            let all = distribution.arc_probs();
            let marginals = distribution.arcs().marginals();
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
fn the_result_does_not_depend_on_the_number_of_threads() {
    let mut treebank = treebank(30);
    treebank[17].set_head(4, Some(3)).unwrap();
    let mut settings = settings();
    let alone = run(&treebank, &settings);
    settings.options.threads = 3;
    let together = run(&treebank, &settings);
    assert!((0..30).all(|at| alone.arcs(at) == together.arcs(at)));
}

#[test]
fn sentences_with_the_same_words_are_not_evidence_and_their_differences_are_listed() {
    let mut treebank = treebank(24);
    // The same error twice, far apart: a model trained on one of them would predict the other.
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
fn treebanks_of_one_repeated_sentence_are_refused() {
    let same = vec![treebank(1).remove(0); 12];
    let error = Audit::run(&same, &settings(), &mut ()).unwrap_err();
    assert!(error.to_string().contains("same words"), "{error}");
}

#[test]
fn labels_that_occur_once_are_impossible() {
    let mut treebank = treebank(40);
    treebank[5].set_deprel(2, "subject").unwrap();
    let audit = run(&treebank, &settings());
    let find = &audit.findings(0.5)[0];
    assert_eq!((find.sentence, find.word, find.prob), (5, 2, 0.0));
    assert_eq!(find.other_label, "nsubj");
}

#[test]
fn verdicts_hold_until_the_arc_changes() {
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
    assert_eq!(on(&sentence, 4), None, "the verdict is about another head");
    assert_eq!(on(&sentence, 5), Some(Decision::Error), "the verdict does not name an arc");
    assert_eq!(verdicts.on("s1", sentence.word(5).unwrap()), None);
    // The last verdict that agrees with the arc counts.
    let verdicts =
        Verdicts::parse("v.tsv", "s0\t4\tfine\ns0\t4\terror\t9:det\ns0\t4\tfine\t9:det").unwrap();
    assert_eq!(verdicts.on("s0", sentence.word(4).unwrap()), Some(Decision::Fine));
}

#[test]
fn malformed_lines_are_named() {
    for (line, place) in [
        ("s0 4 fine", "v.tsv:2:1: "),
        ("s0\tfour\tfine", "v.tsv:2:2: \"four\" is not a word"),
        ("s0\t0\tfine", "v.tsv:2:2: \"0\" is not a word"),
        ("s0\t4\tok", "v.tsv:2:3: \"ok\" is not a verdict"),
        ("s0\t4\tfine\tdet", "v.tsv:2:4: \"det\" is not an arc"),
        ("s0\t4\tfine\tx:det", "v.tsv:2:4: \"x:det\" is not an arc"),
    ] {
        let error = Verdicts::parse("v.tsv", &format!("# first\n{line}\n")).unwrap_err();
        assert!(error.to_string().starts_with(place), "{error}");
    }
}

#[test]
fn sentences_without_a_name_are_numbered() {
    let sentence: Sentence = "1\tTea\t_\tNOUN\t_\t_\t0\troot\t_\t_\n".parse().unwrap();
    assert_eq!(sentence_name(&sentence, 11), "@12");
    assert_eq!(sentence_name(&treebank(1)[0], 11), "s0");
}

#[test]
fn unpredictable_labels_are_less_suspicious() {
    let mut treebank = treebank(60);
    // Every third object has another label, at random. One article depends on the verb.
    for at in (0..60).step_by(3) {
        treebank[at].set_deprel(5, "odd").unwrap();
    }
    treebank[17].set_head(4, Some(3)).unwrap();
    let audit = run(&treebank, &settings());
    let find = &audit.findings(0.9)[0];
    assert_eq!((find.sentence, find.word), (17, 4));
    let arc = &audit.arcs(0)[4];
    let odds = (arc.other.unwrap().prob / arc.prob()).ln();
    assert!(audit.suspicion(arc, "odd") < odds, "{arc:?}");
    let difference = audit.suspicion(arc, "obj") - audit.suspicion(arc, "odd");
    assert!(difference > 0.3, "{difference}");
}
