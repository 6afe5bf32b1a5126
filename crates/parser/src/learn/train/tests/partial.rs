//! Tests of training on partial trees.

use super::*;
use crate::{Contradiction, Error};

/// Returns the treebank without every third head and label, and in its second half without every second.
fn partial_treebank() -> Vec<Sentence> {
    let mut treebank = treebank();
    let half = treebank.len() / 2;
    for (at, sentence) in treebank.iter_mut().enumerate() {
        let every = if at < half { 3 } else { 2 };
        *sentence = without_heads(sentence, |word| (word + at) % every == 0);
    }
    treebank
}

/// Returns a sentence without some heads and labels.
fn without_heads(sentence: &Sentence, is_unknown: impl Fn(usize) -> bool) -> Sentence {
    let mut number = 0;
    let line = |line: &str| {
        number += 1;
        let mut columns: Vec<&str> = line.split('\t').collect();
        if is_unknown(number) {
            (columns[6], columns[7]) = ("_", "_");
        }
        columns.join("\t") + "\n"
    };
    let text = sentence.to_string();
    text.lines().filter(|line| !line.is_empty()).map(line).collect::<String>().parse().unwrap()
}

/// Counts the known heads and labels that a model does not give.
fn mistakes(model: &ParserModel, treebank: &[Sentence]) -> usize {
    let mut parser = Parser::new(model);
    let wrong = |sentence: &Sentence| {
        let parse = parser.parse(sentence).unwrap();
        let names = model.labels.labels();
        let found = parse.tree.heads().iter().zip(&parse.labels);
        let differs = |(word, (head, label)): &(tutte_treebank::Token<'_>, (&usize, &usize))| {
            let labelled = names.get(**label).is_none_or(|name| name == word.deprel());
            word.head().is_some_and(|gold| gold != **head || !labelled && word.deprel() != "_")
        };
        sentence.words().zip(found).filter(differs).count()
    };
    treebank.iter().map(wrong).sum()
}

fn small(options: TrainingOptions) -> TrainingOptions {
    TrainingOptions { bits: 14, label_bits: 8, passes: 25, ..options }
}

#[test]
fn known_heads_and_labels_are_fitted() {
    let treebank = partial_treebank();
    let every =
        [TrainingOptions::default(), TrainingOptions::fast(), TrainingOptions::plain()].map(small);
    let mut optimizers = vec![TrainingOptions::default().optimizer];
    optimizers.push(Optimizer::Lbfgs { objective: likelihood(), c: 10.0, memory: 10 });
    optimizers.push(adagrad(softmax_margin(1.0)));
    for optimizer in optimizers {
        for options in &every {
            let options = TrainingOptions { optimizer: optimizer.clone(), ..options.clone() };
            let model = train(&treebank, &options, &mut ()).unwrap();
            assert_eq!(mistakes(&model, &treebank), 0, "{optimizer:?} {options:?}");
        }
    }
}

#[test]
fn clusters_and_tree_sets_work_with_partial_trees() {
    let mut treebank = partial_treebank();
    // Its arcs cross.
    treebank.remove(11);
    for tree_set in TreeSet::ALL {
        let options = TrainingOptions { tree_set, clusters: 2, ..small(TrainingOptions::plain()) };
        let model = train(&treebank, &options, &mut ()).unwrap();
        assert_eq!(mistakes(&model, &treebank), 0, "{tree_set}");
    }
}

/// A sentence without any head does not move weights.
#[test]
fn unannotated_sentences_do_not_move_weights() {
    let whole = treebank();
    let options =
        TrainingOptions { optimizer: adagrad(likelihood()), ..small(TrainingOptions::plain()) };
    let plain = TrainingOptions { passes: 1, ..options };
    let mut more = whole.clone();
    more.push(without_heads(&whole[3], |_| true));
    let optimizer = Optimizer::Lbfgs { objective: likelihood(), c: 1.0, memory: 5 };
    let steps = TrainingOptions { optimizer, passes: 5, ..plain.clone() };
    let with = train(&more, &steps, &mut ()).unwrap();
    let without = train(&whole, &steps, &mut ()).unwrap();
    let far = |(a, b): (&f32, &f32)| (a - b).abs() > 1e-4;
    let all = with.arcs.weights.iter().zip(&without.arcs.weights);
    assert!(!all.into_iter().any(far));
    assert_eq!(with.labels.labels(), without.labels.labels());
}

/// Heads without a label are learnt, and `_` does not become a label.
#[test]
fn labels_may_be_unknown() {
    let no_labels = |text: String| text.replace("\tnsubj\t", "\t_\t");
    let treebank: Vec<Sentence> =
        treebank().iter().map(|s| no_labels(s.to_string()).parse().unwrap()).collect();
    for options in [TrainingOptions::default(), TrainingOptions::plain()].map(small) {
        let model = train(&treebank, &options, &mut ()).unwrap();
        assert!(!model.labels.labels().iter().any(|label| label == "_" || label == "nsubj"));
        assert_eq!(mistakes(&model, &treebank), 0);
    }
}

#[test]
fn contradictions_are_refused() {
    let refusal = |words: &str, tree_set| {
        let treebank = [sentence("stop/VERB/0/root"), sentence(words)];
        let options = TrainingOptions { tree_set, ..small(TrainingOptions::plain()) };
        match train(&treebank, &options, &mut ()).unwrap_err() {
            Error::Contradiction { problem, .. } => problem,
            other => panic!("{other}"),
        }
    };
    let single = TreeSet::NonProjectiveSingleRoot;
    let cycle = refusal("a/X/2/x b/X/1/x c/X/_/_", single);
    assert!(matches!(cycle, Contradiction::Cycle { words } if words.len() == 2));
    let roots = refusal("a/X/0/x b/X/0/x c/X/_/_", single);
    assert!(matches!(roots, Contradiction::SeveralRoots { words, .. } if words == [1, 2]));
    let cross = refusal("a/X/3/x b/X/4/x c/X/_/_ d/X/_/_", TreeSet::ProjectiveSingleRoot);
    assert!(matches!(cross, Contradiction::Crossing { .. }));
    // With 2 → 1 → 3, every head of 2 crosses 1 → 3.
    let none = refusal("a/X/2/x b/X/_/_ c/X/1/x", TreeSet::ProjectiveSingleRoot);
    assert!(matches!(none, Contradiction::NoTree(_)));
}

#[test]
fn optimizers_of_whole_trees_refuse_partial_ones() {
    let treebank = partial_treebank();
    for optimizer in [
        Optimizer::Perceptron,
        Optimizer::PassiveAggressive { update: Update::Pa, cost: Cost::Identity },
        Optimizer::Mira { k: 1, c: f64::INFINITY },
        exponentiated(Dual::LogLinear, Rate::Shared),
    ] {
        for options in [TrainingOptions::default(), TrainingOptions::plain()] {
            let options = TrainingOptions { optimizer: optimizer.clone(), ..small(options) };
            let error = train(&treebank, &options, &mut ()).unwrap_err();
            assert!(matches!(error, Error::PartialTree { .. }), "{error}");
        }
    }
    let nothing = [without_heads(&treebank[0], |_| true)];
    let error = train(&nothing, &small(TrainingOptions::default()), &mut ()).unwrap_err();
    assert!(matches!(error, Error::NoHeads), "{error}");
}
