//! Constraints are satisfied, however improbable, and contradictions are named.

use proptest::prelude::*;
use tutte_trees::{ArcMatrix, TreeDistribution};

use super::*;
use crate::learn::train::tests::{options, sentence, treebank};
use crate::{
    Decoding, Labelling, Optimizer, Parser, ParserModel, PrunerOptions, SecondPassOptions,
    TrainingOptions, train,
};

/// A model with all steps, trained enough to prune arcs.
fn cascade(labelling: Labelling) -> ParserModel {
    let pruning = Some(PrunerOptions { bits: 12, ..PrunerOptions::default() });
    let second =
        Some(SecondPassOptions { folds: 3, fold_passes: 3, ..SecondPassOptions::default() });
    let options = TrainingOptions {
        passes: 6,
        bits: 14,
        pruning,
        second_pass: second,
        labelling,
        ..options(Optimizer::default())
    };
    train(treebank(), &options, &mut ()).unwrap()
}

fn plain(labelling: Labelling) -> ParserModel {
    let options =
        TrainingOptions { passes: 2, bits: 14, labelling, ..options(Optimizer::default()) };
    train(treebank(), &options, &mut ()).unwrap()
}

/// Samples trees of a set uniformly.
fn any_trees(words: usize, tree_set: TreeSet, count: usize) -> Vec<Tree> {
    use rand_pcg::{Pcg64, rand_core::SeedableRng};
    let d = TreeDistribution::new(ArcMatrix::zeros(words), tree_set).unwrap();
    let mut rng = Pcg64::seed_from_u64(3);
    (0..count).map(|_| d.sample(&mut rng)).collect()
}

#[test]
fn without_constraints_an_analysis_is_a_parse() {
    for labelling in [Labelling::Staged, Labelling::Joint, Labelling::None] {
        let model = cascade(labelling);
        for decoding in [Decoding::Mbr, Decoding::Map] {
            let mut parser = Parser::new(&model).with_decoding(decoding);
            for sentence in &treebank() {
                let parse = parser.parse(sentence).unwrap();
                let found = parser.analyse(sentence, &Constraints::new()).unwrap().parse;
                assert_eq!((&found.tree, &found.labels), (&parse.tree, &parse.labels));
                let probs = |parse: &crate::Parse| {
                    [parse.head_probs.clone(), parse.label_probs.clone()].concat()
                };
                for (found, expected) in probs(&found).into_iter().zip(probs(&parse)) {
                    assert!((found - expected).abs() < 1e-5);
                }
            }
        }
    }
}

#[test]
fn a_complete_tree_has_probability_one_however_improbable() {
    for labelling in [Labelling::Staged, Labelling::Joint, Labelling::None] {
        let model = cascade(labelling);
        let mut left_out = 0;
        let mut trees = 0;
        for tree_set in TreeSet::ALL {
            let mut parser = Parser::new(&model).with_tree_set(tree_set);
            for sentence in &treebank() {
                let alone = parser.scores(sentence).unwrap().clone();
                for tree in any_trees(sentence.len(), tree_set, 3) {
                    left_out += tree.arcs().filter(|arc| alone[*arc] == f64::NEG_INFINITY).count();
                    let heads: Vec<_> = tree.heads().iter().copied().map(Some).collect();
                    let constraints = Constraints::new().partial_tree(&heads);
                    let analysis = parser.analyse(sentence, &constraints).unwrap();
                    assert_eq!(analysis.parse.tree, tree);
                    let certain = |p: &f64| (p - 1.0).abs() < 1e-9;
                    assert!(analysis.parse.head_probs.iter().all(certain));
                    assert!(analysis.distribution.arcs().log_prob(&tree).unwrap().abs() < 1e-9);
                    trees += 1;
                }
            }
        }
        assert!(left_out > trees, "only {left_out} arcs of {trees} trees were pruned");
    }
}

#[test]
fn some_heads_are_kept_and_some_avoided() {
    let model = cascade(Labelling::Joint);
    for tree_set in TreeSet::ALL {
        let mut parser = Parser::new(&model).with_tree_set(tree_set);
        for sentence in &treebank() {
            for (number, tree) in any_trees(sentence.len(), tree_set, 3).iter().enumerate() {
                let avoided = parser.parse(sentence).unwrap().tree;
                let mut constraints = Constraints::new();
                for (head, word) in tree.arcs() {
                    if (word + number) % 3 == 0 {
                        constraints = constraints.require_arc(head, word);
                    } else if avoided.head(word) != Some(head) {
                        // The sampled tree does not have this arc.
                        constraints = constraints.forbid_arc(avoided.head(word).unwrap(), word);
                    }
                }
                let analysis = parser.analyse(sentence, &constraints).unwrap();
                let found = &analysis.parse.tree;
                assert!(constraints.required_arcs().iter().all(|&(h, m)| found.head(m) == Some(h)));
                assert!(
                    constraints.forbidden_arcs().iter().all(|&(h, m)| found.head(m) != Some(h))
                );
                found.check_in(tree_set).unwrap();
                let marginals = analysis.distribution.arcs().marginals();
                assert!(
                    constraints
                        .required_arcs()
                        .iter()
                        .all(|arc| (marginals[*arc] - 1.0).abs() < 1e-9)
                );
                assert!(constraints.forbidden_arcs().iter().all(|arc| marginals[*arc] == 0.0));
            }
        }
    }
}

/// A model of one pass does not prune, so parsing with constraints equals conditioning afterwards.
#[test]
fn with_one_pass_constraints_are_conditioning() {
    for labelling in [Labelling::Staged, Labelling::Joint] {
        let model = plain(labelling);
        let mut parser = Parser::new(&model);
        let label = |name: &str| model.labels.labels().iter().position(|l| l == name).unwrap();
        let sentence = sentence(
            "the/DET/2/det cat/NOUN/3/nsubj sleeps/VERB/0/root in/ADP/6/case a/DET/6/det bed/NOUN/3/obl",
        );
        let alone = parser.distribution(&sentence).unwrap();
        for constraints in [
            Constraints::new().require_arc(6, 2),
            Constraints::new().forbid_arc(3, 2).forbid_root(3),
            Constraints::new().require_label(2, label("root")),
            Constraints::new().require_label(2, label("obj")).require_arc(1, 6).forbid_arc(0, 5),
            Constraints::new().forbid_label(2, label("nsubj")),
        ] {
            let found = parser.analyse(&sentence, &constraints).unwrap();
            let expected = alone.condition(&constraints).unwrap();
            let marginals = found.distribution.trees().marginals();
            let wanted = expected.trees().marginals();
            for ((.., p), (.., q)) in marginals.arcs().zip(wanted.arcs()) {
                assert!((p - q).abs() < 1e-9, "{p} {q}");
            }
            assert!((found.distribution.entropy() - expected.entropy()).abs() < 1e-9);
            for &(word, label) in constraints.required_labels() {
                assert_eq!(found.parse.labels[word - 1], label);
                assert!((found.parse.label_probs[word - 1] - 1.0).abs() < 1e-9);
            }
            for &(word, label) in constraints.forbidden_labels() {
                assert_ne!(found.parse.labels[word - 1], label);
            }
        }
    }
}

/// The label `nsubj` implies that the head is a word, and `root` that it is the root, also in steps without labels.
#[test]
fn required_labels_restrict_heads() {
    let model = cascade(Labelling::Joint);
    let label = |name: &str| model.labels.labels().iter().position(|l| l == name).unwrap();
    for decoding in [Decoding::Mbr, Decoding::Map] {
        let mut parser = Parser::new(&model).with_decoding(decoding);
        for sentence in treebank().iter().filter(|sentence| sentence.len() > 1) {
            let parse = parser.parse(sentence).unwrap();
            let root = parse.tree.root_words().next().unwrap();
            let other = if root == 1 { 2 } else { 1 };
            let constraints = Constraints::new().require_label(other, label("root"));
            let found = parser.analyse(sentence, &constraints).unwrap().parse;
            assert_eq!((found.tree.head(other), found.labels[other - 1]), (Some(0), label("root")));
            let constraints = Constraints::new().require_label(root, label("nsubj"));
            let found = parser.analyse(sentence, &constraints).unwrap().parse;
            assert_ne!(found.tree.head(root), Some(0));
            assert_eq!(found.labels[root - 1], label("nsubj"));
        }
    }
}

/// A sentence from words written as head:label:MISC.
fn sentence_of(words: &str) -> Sentence {
    let line = |(number, word): (usize, &str)| {
        let columns: Vec<&str> = word.split(':').collect();
        let [head, label, misc] = columns[..] else { panic!("{word}") };
        format!("{number}\tw\tw\tNOUN\t_\t_\t{head}\t{label}\t_\t{misc}\n")
    };
    let lines: String = (1..).zip(words.split(' ')).map(line).collect();
    format!("# sent_id = odd-1\n{lines}").parse().unwrap()
}

#[test]
fn contradictions_are_named() {
    let model = cascade(Labelling::Joint);
    let keep = KeepColumns { heads: true, labels: true };
    let message = |words: &str, tree_set| {
        let sentence = sentence_of(words);
        let mut parser = Parser::new(&model).with_tree_set(tree_set);
        let constraints = keep.constraints(&sentence, model.labels.labels());
        let error = constraints
            .and_then(|constraints| parser.analyse(&sentence, &constraints))
            .unwrap_err();
        assert!(matches!(error, Error::Contradiction { .. }), "{error}");
        error.to_string()
    };
    let set = TreeSet::NonProjectiveSingleRoot;
    for (words, expected) in [
        (
            "2:_:_ 4:_:_ _:_:_ 1:_:_",
            "input:2:7: the heads that are given form a cycle: 1 → 4 → 2 → 1",
        ),
        (
            "0:_:_ _:_:_ 0:_:_",
            "input:4:7: words 1 and 3 are given the root as head, but \
          nonprojective-single-root trees have one root word",
        ),
        (
            "2:_:A=1|Forbid=3,2 _:_:_ _:_:_",
            "input:2:7: word 1 is given head 2, which is also forbidden",
        ),
        (
            "_:nope:_",
            "input:2:8: word 1 is given the label \"nope\", which the model does not have",
        ),
        (
            "_:_:_ 0:nsubj:_",
            "input:3:8: word 2 is given head 0 and label \"nsubj\", but the model \
          allows that label only on arcs from words",
        ),
        (
            "_:_:_ 1:root:_",
            "input:3:8: word 2 is given head 1 and label \"root\", but the model \
          allows that label only on arcs from the root",
        ),
        (
            "_:_:Forbid=7 _:_:_",
            "input:2:10: Forbid is \"7\", but it must list other words of this sentence \
          (1 to 2) or 0 for the root, separated by commas",
        ),
        (
            "_:_:_ _:_:Forbid=1,x",
            "input:3:10: Forbid is \"1,x\", but it must list other words of this \
          sentence (1 to 2) or 0 for the root, separated by commas",
        ),
        (
            "_:_:Forbid=1 _:_:_",
            "input:2:10: Forbid is \"1\", but it must list other words of this sentence \
          (1 to 2) or 0 for the root, separated by commas",
        ),
        (
            "_:_:Forbid=0,2 _:_:_",
            "input:2: no tree satisfies all constraints: no \
          nonprojective-single-root tree is possible: word 1 cannot be attached with the arcs that \
          are allowed",
        ),
    ] {
        assert_eq!(message(words, set), format!("{expected} (sent_id = odd-1)"));
    }
    let crossing = message("3:_:_ 4:_:_ _:_:_ _:_:_", TreeSet::ProjectiveMultiRoot);
    assert_eq!(
        crossing,
        "input:3:7: the arcs 3 → 1 and 4 → 2 are given, but they cross, and \
                          projective-multi-root trees have no crossing arcs (sent_id = odd-1)"
    );
    let under = message("3:_:_ 0:_:_ _:_:_", TreeSet::ProjectiveSingleRoot);
    assert!(under.contains("the arcs 3 → 1 and 0 → 2 are given, but they cross"), "{under}");
}

#[test]
fn only_kept_columns_become_constraints() {
    let sentence = sentence_of("2:nsubj:_ 0:root:_ 2:_:Forbid=0");
    let names: Vec<String> = ["nsubj", "root"].map(str::to_owned).into();
    let found =
        |heads, labels| KeepColumns { heads, labels }.constraints(&sentence, &names).unwrap();
    let forbidden = Constraints::new().forbid_root(3);
    assert_eq!(found(false, false), forbidden);
    let heads = Constraints::new().partial_tree(&[Some(2), Some(0), Some(2)]).forbid_root(3);
    assert_eq!(found(true, false), heads);
    assert_eq!(found(false, true), forbidden.require_label(1, 0).require_label(2, 1));
    let unknown =
        KeepColumns { heads: true, labels: true }.constraints(&sentence, &[]).unwrap_err();
    assert!(unknown.hint().is_some_and(|hint| hint.contains("tutte info")));
}

proptest! {
    /// Compares with checking all pairs of arcs.
    #[test]
    fn crossing_arcs_are_found(
        heads in prop::collection::vec(prop::option::of(0..=7_usize), 7),
    ) {
        let heads: Vec<Option<usize>> =
            (1..).zip(heads).map(|(word, head)| head.filter(|head| *head != word)).collect();
        let ends = |word: usize| heads[word - 1].map(|head| (head.min(word), head.max(word)));
        let cross = |one: usize, other: usize| match (ends(one), ends(other)) {
            (Some((a, b)), Some((c, d))) => a < c && c < b && b < d || c < a && a < d && d < b,
            _ => false,
        };
        let any = (1..=7).any(|one| (1..one).any(|other| cross(other, one)));
        let found = crossing(&heads);
        prop_assert_eq!(found.is_some(), any);
        if let Some([one, other]) = found {
            prop_assert!(cross(one.1, other.1) && one.1 < other.1);
            prop_assert!([one, other].iter().all(|arc| heads[arc.1 - 1] == Some(arc.0)));
        }
    }
}
