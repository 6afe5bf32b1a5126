//! Compares limited trees with all labelled trees of a sentence.

use tutte_treebank::stats::LabelRepeats;
use tutte_treebank::{Column, Reader, Sentence};
use tutte_trees::{Constraints, LabelledTree};

use super::*;
use crate::learn::{Part, Preset, Recipe, train_pipeline};
use crate::{
    About, Decoding, LabelledDistribution, Labelling, Mixture, ModelFile, Parse, Parser,
    ParserModel, TrainingOptions, train,
};

const TREEBANK: &str = "\
1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
3\tcats\tcat\tNOUN\t_\t_\t2\tobj\t_\t_

1\tBlack\tblack\tADJ\t_\t_\t2\tamod\t_\t_
2\tcats\tcat\tNOUN\t_\t_\t3\tnsubj\t_\t_
3\tsleep\tsleep\tVERB\t_\t_\t0\troot\t_\t_

";

/// Both nouns would be the object of the verb.
const TWO_OBJECTS: &str = "\
1\tchase\tchase\tVERB\t_\t_\t_\t_\t_\t_
2\tcats\tcat\tNOUN\t_\t_\t_\t_\t_\t_
3\tdogs\tdog\tNOUN\t_\t_\t_\t_\t_\t_
";

fn model(labelling: Labelling) -> ParserModel {
    let treebank: Vec<Sentence> =
        Reader::new(TREEBANK.as_bytes()).collect::<Result<_, _>>().unwrap();
    let options =
        TrainingOptions { passes: 4, bits: 12, label_bits: 8, ..TrainingOptions::plain() };
    train(&treebank, &TrainingOptions { labelling, ..options }, &mut ()).unwrap()
}

fn limits(model: &ParserModel) -> LabelLimits {
    LabelLimits::of(["obj", "nsubj"], model.labels.labels()).unwrap()
}

fn allows(limits: &LabelLimits, tree: &LabelledTree) -> bool {
    limits.allow(tree.tree().heads(), tree.labels())
}

fn labelled(parse: &Parse) -> LabelledTree {
    LabelledTree::new(parse.tree.clone(), parse.labels.clone()).unwrap()
}

/// Returns all labelled trees of a distribution.
fn all_trees(distribution: &LabelledDistribution<'_>) -> Vec<LabelledTree> {
    let trees = distribution.kbest(100_000);
    assert!((trees.iter().map(|tree| tree.log_prob.exp()).sum::<f64>() - 1.0).abs() < 1e-9);
    trees.into_iter().map(|ranked| ranked.tree).collect()
}

/// Returns what decoding under limits maximises.
fn value(
    decoding: Decoding,
    labelling: Labelling,
    distribution: &LabelledDistribution<'_>,
    tree: &LabelledTree,
) -> f64 {
    let arc = |(head, word, label): (usize, usize, usize)| {
        let probs = distribution.label_probs(head, word).unwrap();
        let best = probs.iter().copied().fold(0.0, f64::max);
        let lost = match decoding {
            Decoding::Map => best.ln() - probs[label].ln(),
            _ => distribution.arcs().marginals()[(head, word)] * (best - probs[label]),
        };
        match decoding {
            Decoding::Map if labelling == Labelling::Joint => probs[label].ln(),
            Decoding::Map => -lost,
            _ => distribution.arcs().marginals()[(head, word)] - lost,
        }
    };
    let bare = if decoding == Decoding::Map {
        distribution.arcs().log_prob(tree.tree()).unwrap()
    } else {
        0.0
    };
    bare + tree.arcs().map(arc).sum::<f64>()
}

#[test]
fn the_tree_is_the_best_of_those_that_satisfy_the_limits() {
    let sentence: Sentence = TWO_OBJECTS.parse().unwrap();
    for labelling in [Labelling::Staged, Labelling::Joint] {
        let model = model(labelling);
        let limits = limits(&model);
        for tree_set in TreeSet::ALL {
            for decoding in [Decoding::Mbr, Decoding::Map] {
                let what = format!("{labelling:?} {tree_set} {decoding:?}");
                let parser = || Parser::new(&model).with_tree_set(tree_set).with_decoding(decoding);
                let free = parser().parse(&sentence).unwrap();
                assert!(!limits.allow(free.tree.heads(), &free.labels), "{what}");
                assert_eq!(free.repair, Repair::None);
                let found = parser().with_label_limits(limits.clone()).parse(&sentence).unwrap();
                assert_eq!(found.repair, Repair::Certified, "{what}");
                let analysis = parser()
                    .with_label_limits(limits.clone())
                    .analyse(&sentence, &Constraints::new())
                    .unwrap();
                assert_eq!(
                    (&analysis.parse.tree, &analysis.parse.labels),
                    (&found.tree, &found.labels)
                );
                assert_eq!(analysis.parse.repair, Repair::Certified);
                let distribution = analysis.distribution;
                for (word, (&head, &label)) in
                    (1..).zip(found.tree.heads().iter().zip(&found.labels))
                {
                    let probs = distribution.label_probs(head, word).unwrap();
                    assert!((found.label_probs[word - 1] - probs[label]).abs() < 1e-6, "{what}");
                    assert!((analysis.parse.label_probs[word - 1] - probs[label]).abs() < 1e-12);
                    assert!(
                        (found.head_probs[word - 1]
                            - distribution.arcs().marginals()[(head, word)])
                            .abs()
                            < 1e-9
                    );
                }
                let of = |tree: &LabelledTree| value(decoding, labelling, &distribution, tree);
                let trees = all_trees(&distribution);
                let best = |trees: &mut dyn Iterator<Item = &LabelledTree>| {
                    trees.map(of).fold(f64::NEG_INFINITY, f64::max)
                };
                let all = best(&mut trees.iter());
                let allowed = best(&mut trees.iter().filter(|tree| allows(&limits, tree)));
                assert!(allowed < all, "{what}");
                assert!((of(&labelled(&free)) - all).abs() < 1e-6, "{what}");
                assert!(allows(&limits, &labelled(&found)));
                assert!((of(&labelled(&found)) - allowed).abs() < 1e-6, "{what}");
            }
        }
    }
}

/// The temperature scales probabilities, and does not change the most probable tree.
#[test]
fn the_most_probable_tree_does_not_depend_on_the_temperature() {
    let sentence: Sentence = TWO_OBJECTS.parse().unwrap();
    for labelling in [Labelling::Staged, Labelling::Joint] {
        let model = model(labelling);
        let limits = limits(&model);
        let tree = |temperature: f64| {
            let model = ParserModel { temperature, ..model.clone() };
            let parser = Parser::new(&model).with_decoding(Decoding::Map);
            let found = parser.with_label_limits(limits.clone()).parse(&sentence).unwrap();
            assert_eq!(found.repair, Repair::Certified);
            labelled(&found)
        };
        let expected = tree(1.0);
        assert!([0.5, 3.0].into_iter().all(|temperature| tree(temperature) == expected));
    }
}

#[test]
fn sentences_without_violation_keep_their_trees() {
    let model = model(Labelling::Joint);
    let sentence: Sentence = TREEBANK.split("\n\n").next().unwrap().parse().unwrap();
    let free = Parser::new(&model).parse(&sentence).unwrap();
    let limited = Parser::new(&model).with_label_limits(limits(&model)).parse(&sentence).unwrap();
    assert_eq!(free, limited);
}

/// Labels that are given may leave no tree.
#[test]
fn given_labels_are_stronger_than_limits() {
    let model = model(Labelling::Joint);
    let limits = limits(&model);
    let sentence: Sentence = TWO_OBJECTS.parse().unwrap();
    let obj = model.labels.labels().iter().position(|label| label == "obj").unwrap();
    let analyse = |constraints: &Constraints| {
        let mut parser = Parser::new(&model).with_label_limits(limits.clone());
        parser.analyse(&sentence, constraints).unwrap().parse
    };
    // One given object: the other word gets another label or head.
    let given = Constraints::new().require_arc(1, 3).require_label(3, obj);
    let parse = analyse(&given);
    assert_eq!(parse.repair, Repair::Certified);
    assert_eq!((parse.tree.head(3), parse.labels[2]), (Some(1), obj));
    assert!(limits.allow(parse.tree.heads(), &parse.labels));
    let given = given.require_arc(1, 2).require_label(2, obj);
    let parse = analyse(&given);
    assert_eq!(parse.repair, Repair::Failed);
    assert_eq!(&parse.tree.heads()[1..], [1, 1]);
    assert_eq!(parse.labels[1..], [obj, obj]);
}

#[test]
fn mixtures_obey_limits() {
    let model = model(Labelling::Joint);
    let limits = limits(&model);
    let sentence: Sentence = TWO_OBJECTS.parse().unwrap();
    let mut other = sentence.clone();
    other.set(2, Column::Upos, "ADJ").unwrap();
    let [one, two] =
        [&sentence, &other].map(|read| Parser::new(&model).distribution(read).unwrap());
    let constraints = Constraints::new();
    let mixture = Mixture::new(vec![(0.9, &one), (0.1, &two)]);
    assert!(!limits.allow(
        mixture.best_parse(&constraints).unwrap().tree.heads(),
        &mixture.best_parse(&constraints).unwrap().labels
    ));
    let limited = mixture.clone().with_label_limits(limits.clone());
    let best = limited.best_parse(&constraints).unwrap();
    assert_eq!(best.repair, Repair::Certified);
    assert!(allows(&limits, &labelled(&best)));
    let value = |tree: &LabelledTree| {
        let arc = |(head, word, label): (usize, usize, usize)| {
            let probs = mixture.label_probs(head, word).unwrap();
            let best = probs.iter().copied().fold(0.0, f64::max);
            mixture.marginals()[(head, word)] * (1.0 - best + probs[label])
        };
        tree.arcs().map(arc).sum::<f64>()
    };
    let allowed = all_trees(&one).into_iter().filter(|tree| allows(&limits, tree));
    let highest = allowed.map(|tree| value(&tree)).fold(f64::NEG_INFINITY, f64::max);
    assert!((value(&labelled(&best)) - highest).abs() < 1e-9);

    let probable = limited.most_probable_parse(&constraints).unwrap();
    assert_eq!(probable.repair, Repair::Uncertified);
    assert!(allows(&limits, &labelled(&probable)));
    // One reading is the parser's own answer.
    let single = Mixture::from(&one).with_label_limits(limits.clone());
    for (decoding, found) in [
        (Decoding::Mbr, single.best_parse(&constraints).unwrap()),
        (Decoding::Map, single.most_probable_parse(&constraints).unwrap()),
    ] {
        let parser = Parser::new(&model).with_decoding(decoding).with_label_limits(limits.clone());
        let parse = { parser }.analyse(&sentence, &constraints).unwrap().parse;
        assert_eq!((found.repair, labelled(&found)), (Repair::Certified, labelled(&parse)));
    }
}

/// Every piece of a long sentence satisfies the limits.
#[test]
fn pieces_obey_limits() {
    let model = model(Labelling::Joint);
    let limits = limits(&model);
    let words = ["chase\tchase\tVERB", "cats\tcat\tNOUN", "dogs\tdog\tNOUN"];
    let lines =
        (1..=30).map(|word| format!("{word}\t{}\t_\t_\t_\t_\t_\t_\n", words[(word - 1) % 3]));
    let sentence: Sentence = lines.collect::<String>().parse().unwrap();
    let of_length = crate::Limits { whole: 10, piece: 9 };
    let parser = Parser::new(&model).with_limits(of_length).with_label_limits(limits.clone());
    let parse = { parser }.parse(&sentence).unwrap();
    assert!(parse.pieces > 1 && parse.repair == Repair::Certified);
    assert!(allows(&limits, &labelled(&parse)));
}

#[test]
fn labels_are_limited_by_name() {
    let model = model(Labelling::Joint);
    let error = LabelLimits::of(["obj", "sbj"], model.labels.labels()).unwrap_err();
    assert!(error.to_string().contains("no label \"sbj\"") && error.hint().is_some());
    let limits = LabelLimits::of([], model.labels.labels()).unwrap();
    assert!(limits.is_empty() && limits.allow(&[0, 1, 1], &[0, 1, 1]));
}

/// A model remembers labels that no head of a large treebank repeats, and its file holds them. The trees count as they
/// were given, before crossing arcs are lifted.
#[test]
fn models_know_the_labels_that_their_treebank_never_repeats() {
    let treebank: Vec<Sentence> =
        Reader::new(TREEBANK.as_bytes()).collect::<Result<_, _>>().unwrap();
    let many: Vec<Sentence> = treebank.iter().cycle().take(2000).cloned().collect();
    let recipe = Recipe::new()
        .with_preset(Preset::Plain)
        .with_parts([Part::Parser])
        .with_passes(1)
        .with_bits(12)
        .with_tree_set(TreeSet::ProjectiveSingleRoot);
    let trained = |treebank: &[Sentence]| {
        let trained = train_pipeline(treebank.to_vec(), Vec::new(), &recipe, &mut ()).unwrap();
        trained.model
    };
    let single = |treebank: &[Sentence]| trained(treebank).parser.unwrap().single_labels;
    assert!(single(&treebank).is_empty());

    // Two of a thousand objects have a rival.
    let mut two = treebank[0].clone();
    two.set_deprels(&["obj", "root", "obj"]).unwrap();
    let with_two: Vec<Sentence> = many.iter().cloned().chain([two.clone(), two]).collect();
    assert_eq!(single(&with_two), ["amod", "nsubj"]);

    let mut crossing = treebank[0].clone();
    crossing.set_heads(&[Some(3), Some(0), Some(2)]).unwrap();
    crossing.set_deprels(&["obj", "root", "obj"]).unwrap();
    let mut repeats = LabelRepeats::default();
    repeats.add(&crossing);
    assert_eq!((repeats.of("obj").heads, repeats.of("obj").repeating), (2, 0));
    let mut lifted = crossing.clone();
    lifted.projectivise().unwrap();
    repeats.add(&lifted);
    assert_eq!(repeats.of("obj").repeating, 1);
    let all: Vec<Sentence> = many.iter().cloned().chain([crossing.clone(), crossing]).collect();
    let model = trained(&all);
    let path = std::env::temp_dir().join(format!("single-labels-{}.tutte", std::process::id()));
    model.save(&path, &About::default()).unwrap();
    let read = ModelFile::open(&path);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(read.unwrap().model.parser.unwrap().single_labels, ["amod", "nsubj", "obj"]);
}
