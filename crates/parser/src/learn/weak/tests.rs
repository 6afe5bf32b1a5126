//! Checks the gradient of F, that targets are reached, and that threads and gold heads of raw sentences have no effect.

use super::problem::Problem;
use super::*;
use tutte_trees::Constraints;

use crate::Parser;
use crate::learn::train::tests::{SMALL, treebank};

/// Makes constraints of rules: tag of the head, tag of the dependent, target as a share of the words.
fn evidence<'a>(
    raw: &'a [Sentence],
    trees: &'a [Sentence],
    rules: &[(&str, &str, Wanted)],
) -> WeakData<'a> {
    let mut arcs = vec![Vec::new(); raw.len()];
    let mut of = vec![0.0; rules.len()];
    for (at, sentence) in raw.iter().enumerate() {
        let tag = |word: usize| sentence.word(word).map_or("ROOT", |token| token.upos());
        for (number, (head_tag, tag_of, _)) in rules.iter().enumerate() {
            for word in (1..=sentence.len()).filter(|&word| tag(word) == *tag_of) {
                of[number] += 1.0;
                let heads = (0..=sentence.len()).filter(|&h| h != word && tag(h) == *head_tag);
                arcs[at].extend(heads.map(|head| (head, word, number)));
            }
        }
    }
    let constraint = |((_, _, wanted), of): (&(&str, &str, Wanted), f64)| ExpectationConstraint {
        of: of.max(1.0),
        wanted: *wanted,
        grouped: true,
    };
    let constraints = rules.iter().zip(of).map(constraint).collect();
    WeakData { raw, constraints, arcs, trees, ..WeakData::default() }
}

fn rules() -> Vec<(&'static str, &'static str, Wanted)> {
    vec![
        ("NOUN", "DET", Wanted::exactly(0.9)),
        ("VERB", "NOUN", Wanted { low: 0.5, high: 0.7, weight: 2.0 }),
        ("ROOT", "VERB", Wanted { low: 0.8, high: 1.0, weight: 0.5 }),
    ]
}

fn options() -> WeakOptions {
    let templates = FeatureSet::parse(SMALL).unwrap();
    WeakOptions { templates, least: 1, ..WeakOptions::default() }
}

#[test]
fn gradients_are_derivatives_with_all_terms() {
    let treebank = treebank();
    let evidence = evidence(&treebank[..6], &treebank[6..9], &rules());
    for criterion in [Criterion::Squared, Criterion::Kl, Criterion::KlBernoulli] {
        for (at, tree_set) in TreeSet::ALL.into_iter().enumerate() {
            let entropy = Some(([1.0, 2.0][at % 2], 0.3));
            let options =
                WeakOptions { criterion, entropy, tree_set, trees_weight: 0.5, ..options() };
            let mut problem = Problem::new(&evidence, &options).unwrap();
            problem.uses_entropy = true;
            // Weights and steps are exact in `f32`.
            let x: Vec<f64> = (0..problem.start(0, 1).len())
                .map(|i| ((i * 37 + at) % 17) as f64 / 16.0 - 0.5)
                .collect();
            let mut gradient = vec![0.0; x.len()];
            problem.evaluate(&x, &mut gradient).unwrap();
            let mut unused = vec![0.0; x.len()];
            for i in (0..x.len()).step_by(x.len() / 12) {
                let mut value = |by: f64| {
                    let mut x = x.clone();
                    x[i] += by;
                    problem.evaluate(&x, &mut unused).unwrap()
                };
                let h = 2f64.powi(-8);
                let mut slope = |d: f64| (value(d) - value(-d)) / (2.0 * d);
                // Two differences cancel the error in h².
                let near = slope(h);
                let far = slope(2.0 * h);
                let expected = near + (near - far) / 3.0;
                assert!((gradient[i] - expected).abs() < 1e-5, "{} {expected}", gradient[i]);
            }
        }
    }
}

#[test]
fn targets_are_reached_and_other_features_move_too() {
    let raw = treebank();
    let evidence = evidence(&raw, &[], &rules());
    let options = WeakOptions { prior_variance: 1e4, ..options() };
    let mut last = f64::INFINITY;
    let learnt = learn(&evidence, &options, &mut |step: WeakStep<'_>| {
        let progress = step.progress;
        assert!(progress.objective <= last + 1e-9, "the objective never rises");
        last = progress.objective;
    })
    .unwrap();
    for ((_, _, wanted), (before, after)) in
        rules().iter().zip(learnt.before.iter().zip(&learnt.after.expectations))
    {
        assert!(wanted.residual(*after) < 1e-2, "{after} instead of {wanted:?}, before {before}");
    }
    assert!(learnt.before.iter().zip(&learnt.after.expectations).any(|(b, a)| (b - a).abs() > 0.1));
    // Arcs of words that rules do not mention share features, so their weights move as well.
    let moved = learnt.model.arcs.weights.iter().filter(|weight| **weight != 0.0).count();
    assert!(moved > 100, "{moved}");
}

/// Training on the expectations of a given model, with a very weak prior, reproduces them. The corpus is 200 random
/// sentences.
#[test]
fn expectations_of_a_given_model_are_reproduced() {
    const TAGS: [&str; 3] = ["NOUN", "VERB", "DET"];
    let mut state = 7u64;
    let mut draw = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut raw: Vec<Sentence> = Vec::new();
    for _ in 0..200 {
        let words = 2 + draw(5);
        let line = |word| format!("{word}\tw\t_\t{}\t_\t_\t_\t_\t_\t_\n", TAGS[draw(3)]);
        raw.push((1..=words).map(line).collect::<String>().parse().unwrap());
    }
    let weights: Vec<f64> = (0..12).map(|_| draw(400) as f64 / 100.0 - 2.0).collect();
    let tag = |sentence: &Sentence, place: usize| {
        let tag = sentence.word(place).map(|word| word.upos());
        tag.map_or(3, |tag| TAGS.iter().position(|other| *other == tag).unwrap())
    };
    for tree_set in TreeSet::ALL {
        let mut arcs = Vec::new();
        let mut sums = [0.0; 12];
        let mut of = [0.0; 12];
        for sentence in &raw {
            let feature = |head, word| 3 * tag(sentence, head) + tag(sentence, word);
            let scores =
                tutte_trees::ArcMatrix::from_fn(sentence.len(), |h, m| weights[feature(h, m)]);
            let trees = tutte_trees::TreeDistribution::new(scores, tree_set).unwrap();
            let all = tutte_trees::arcs(sentence.len()).map(|(h, m)| (h, m, feature(h, m)));
            let all: Vec<_> = all.collect();
            for &(head, word, feature) in &all {
                sums[feature] += trees.marginals()[(head, word)];
                of[feature] += 1.0;
            }
            arcs.push(all);
        }
        let constraint = |(sum, of): (f64, f64)| ExpectationConstraint {
            of,
            wanted: Wanted::exactly(sum / of),
            grouped: false,
        };
        let constraints: Vec<ExpectationConstraint> =
            sums.into_iter().zip(of).map(constraint).collect();
        let evidence = WeakData { raw: &raw, constraints, arcs, ..WeakData::default() };
        let templates = FeatureSet::parse("conjoin none\nh.upos m.upos").unwrap();
        let options =
            WeakOptions { templates, tree_set, prior_variance: 1e6, tolerance: 1e-9, ..options() };
        let learnt = learn(&evidence, &options, &mut ()).unwrap();
        for (constraint, found) in evidence.constraints.iter().zip(&learnt.after.expectations) {
            let residual = constraint.wanted.residual(*found);
            assert!(residual < 1e-3, "{tree_set}: {found} instead of {:?}", constraint.wanted);
        }
    }
}

/// If the targets are the expectations at w = 0, weights do not move.
#[test]
fn true_expectations_are_kept() {
    let raw = treebank();
    let uniform = evidence(&raw, &[], &rules());
    let before = learn(&uniform, &WeakOptions { steps: 0, ..options() }, &mut ()).unwrap().before;
    let rules: Vec<_> = rules()
        .into_iter()
        .zip(&before)
        .map(|((head, word, _), e)| (head, word, Wanted::exactly(*e)))
        .collect();
    let learnt = learn(&evidence(&raw, &[], &rules), &options(), &mut ()).unwrap();
    assert!(learnt.after.objective < 1e-12);
    assert!(learnt.model.arcs.weights.iter().all(|weight| weight.abs() < 1e-6));
}

#[test]
fn heads_of_raw_sentences_and_threads_do_not_matter() {
    let gold = treebank();
    let mut other = gold.clone();
    for sentence in &mut other {
        let words = sentence.len();
        sentence.set_heads(&(0..words).map(Some).collect::<Vec<_>>()).unwrap();
    }
    let options = |threads| WeakOptions { threads, restarts: 1, steps: 15, ..options() };
    let one = learn(&evidence(&gold, &[], &rules()), &options(1), &mut ()).unwrap();
    for (raw, threads) in [(&other, 1), (&gold, 2), (&gold, 7)] {
        let learnt = learn(&evidence(raw, &[], &rules()), &options(threads), &mut ()).unwrap();
        assert_eq!(learnt.model.arcs.weights, one.model.arcs.weights);
    }
}

#[test]
fn trees_alone_are_memorised() {
    let trees = treebank();
    let evidence = WeakData { trees: &trees, ..WeakData::default() };
    let options = WeakOptions { prior_variance: 100.0, ..options() };
    let learnt = learn(&evidence, &options, &mut ()).unwrap();
    let mut parser = Parser::new(&learnt.model);
    let wrong = |sentence: &Sentence| {
        let heads = parser.parse(sentence).unwrap().tree.into_heads();
        heads.iter().zip(sentence.heads().unwrap()).filter(|(a, b)| **a != *b).count()
    };
    assert_eq!(trees.iter().map(wrong).sum::<usize>(), 0);
}

/// An entropy of weight 0 changes nothing, bit by bit.
#[test]
fn entropy_of_weight_zero_changes_nothing_and_of_others_does() {
    let treebank = treebank();
    let evidence = evidence(&treebank[4..], &treebank[..4], &[]);
    let learnt = |entropy| {
        let options = WeakOptions { entropy, steps: 10, ..options() };
        learn(&evidence, &options, &mut ()).unwrap().model.arcs.weights
    };
    let none = learnt(None);
    assert_eq!(learnt(Some((2.0, 0.0))), none);
    assert_ne!(learnt(Some((2.0, 0.5))), none);
    assert_ne!(learnt(Some((f64::INFINITY, 0.5))), none);
}

#[test]
fn sentences_without_a_tree_are_listed_and_bad_input_is_refused() {
    let raw = &treebank()[..3];
    let mut candidates = vec![Candidates::all(); 3];
    candidates[1] = Candidates::of(raw[1].len(), |head, _| head != 0);
    let rules = rules();
    let evidence = WeakData { candidates, ..evidence(raw, &[], &rules) };
    let learnt = learn(&evidence, &WeakOptions { steps: 3, ..options() }, &mut ()).unwrap();
    assert_eq!(learnt.impossible, [1]);
    let refused = |evidence: &WeakData<'_>, options: &WeakOptions| {
        learn(evidence, options, &mut ()).unwrap_err().to_string()
    };
    let mut far = evidence.clone();
    far.arcs[0].push((99, 1, 0));
    assert!(refused(&far, &options()).contains("no arc 99"));
    let mut high = evidence.clone();
    high.constraints[0].wanted.high = 1.5;
    assert!(refused(&high, &options()).contains("between 0 and 1"));
    assert!(
        refused(&evidence, &WeakOptions { prior_variance: 0.0, ..options() }).contains("variance")
    );
    assert!(refused(&WeakData::default(), &options()).contains("no words"));
}

/// Rules that contradict each other leave residuals; they are not an error.
#[test]
fn conflicts_leave_residuals() {
    let raw = treebank();
    let rules = [
        ("NOUN", "DET", Wanted::exactly(1.0)),
        ("VERB", "DET", Wanted::exactly(1.0)),
        ("NOUN", "INTJ", Wanted::exactly(0.5)),
    ];
    let learnt = learn(&evidence(&raw, &[], &rules), &options(), &mut ()).unwrap();
    let sum = learnt.after.expectations[0] + learnt.after.expectations[1];
    assert!(sum < 1.0 + 1e-6 && sum > 0.5, "{sum}");
    assert_eq!(learnt.after.expectations[2], 0.0, "the rule matches nothing");
}

/// Hard constraints hold in the parser that is learnt, in every question, and in its file.
#[test]
fn hard_constraints_hold_in_the_parser() {
    let raw = treebank();
    let text = "det: DET <- nearest NOUN head right 90%\nroot: VERB <- ROOT always\nno: * <- DET|ADP never\n";
    let rules = crate::rules::RuleSet::parse("rules", text).unwrap();
    for tree_set in TreeSet::ALL {
        let evidence = WeakData::of_rules(&rules, &raw, tree_set);
        let options = WeakOptions { steps: 3, tree_set, ..options() };
        let model = learn(&evidence, &options, &mut ()).unwrap().model;
        let hard = model.rules.as_ref().unwrap();
        assert_eq!(hard.len(), 2);
        let mut parser = Parser::new(&model);
        let (mut with_tree, mut without) = (0, 0);
        for sentence in &raw {
            let allowed = hard.allowed_arcs(sentence.len(), &hard.matches(sentence));
            let analysis = parser.analyse(sentence, &Constraints::new());
            match parser.parse(sentence) {
                Ok(parse) => {
                    with_tree += 1;
                    assert!(parse.tree.arcs().all(|(head, word)| allowed.allows(head, word)));
                    let analysis = analysis.unwrap();
                    assert_eq!(analysis.parse.tree, parse.tree);
                    for (head, word) in tutte_trees::arcs(sentence.len()) {
                        let prob = analysis.distribution.arc_probs()[(head, word)];
                        assert!(allowed.allows(head, word) || prob == 0.0);
                    }
                    let all = analysis.distribution.trees().kbest(20);
                    let mut arcs = all.iter().flat_map(|found| found.tree.arcs());
                    assert!(arcs.all(|(head, word, _)| allowed.allows(head, word)));
                    // Heads that a rule forbids cannot be required, either.
                    let forbidden =
                        tutte_trees::arcs(sentence.len()).find(|arc| !allowed.allows(arc.0, arc.1));
                    if let Some((head, word)) = forbidden {
                        let required = Constraints::new().require_arc(head, word);
                        let error = parser.analyse(sentence, &required).unwrap_err().to_string();
                        assert!(error.contains("no tree satisfies"), "{error}");
                    }
                }
                Err(error) => {
                    without += 1;
                    assert!(error.to_string().contains("model's rules"), "{error}");
                    assert_eq!(analysis.unwrap_err().to_string(), error.to_string());
                }
            }
        }
        // Sentences with two verbs have no tree with one root.
        assert_eq!(without > 0, tree_set.is_single_root(), "{tree_set}: {without}");
        assert!(with_tree > 10);
        // Without the rules, other arcs are possible.
        let free = crate::ParserModel { rules: None, ..model.clone() };
        let probs = Parser::new(&free).distribution(&raw[0]).unwrap().arc_probs().clone();
        let allowed = hard.allowed_arcs(raw[0].len(), &hard.matches(&raw[0]));
        let mut arcs = tutte_trees::arcs(raw[0].len());
        assert!(arcs.any(|(head, word)| !allowed.allows(head, word) && probs[(head, word)] > 0.0));
        let words: usize = raw.iter().map(Sentence::len).sum();
        assert_eq!(model.evaluate(&raw, crate::Decoding::Mbr, 2).unwrap().words, words);
    }
}
