//! Clusters compared with a single one, with each other, and with an enumeration of all trees and clusters.

use tutte_linear::Codec;
use tutte_trees::oracle::all_trees;
use tutte_trees::{Tree, TreeSet};

use super::*;
use crate::features::{Atoms, Prepared};
use crate::learn::TrainedPass;
use crate::learn::objective::likelihood;
use crate::learn::optimizer::{OptimizerRun, Schedule};
use crate::learn::train::tests::{SMALL, corpus, sentence, small_model, treebank};
use crate::learn::train::{PrunerOptions, SecondPassOptions, train, train_further};
use crate::{Decoding, Parser, ParserModel};

const SET: TreeSet = TreeSet::NonProjectiveSingleRoot;

fn adagrad() -> Optimizer {
    let objective = likelihood();
    Optimizer::AdaGrad { objective, rate: 0.2, damping: 1.0, dropout: 0.2, batch: 2 }
}

fn options() -> TrainingOptions {
    TrainingOptions {
        optimizer: adagrad(),
        passes: 8,
        bits: 14,
        label_bits: 8,
        ..TrainingOptions::plain()
    }
}

/// Returns a model with few features and some clusters, whose weights are noise.
fn model(clusters: usize, deviation: f64) -> ParserModel {
    let mut model = small_model(&treebank(), SMALL, SET);
    let ArcModel { features, index, .. } = model.arcs;
    model.arcs = ArcModel::clustered(features, index, clusters, deviation, 3);
    model
}

fn trained(model: ParserModel, options: &TrainingOptions) -> ParserModel {
    train_further(model, &treebank(), options, &mut ()).unwrap()
}

#[test]
fn one_cluster_is_the_ordinary_model() {
    let plain = trained(small_model(&treebank(), SMALL, SET), &options());
    assert!(trained(model(1, 0.0), &options()).arcs.weights == plain.arcs.weights);
}

#[test]
fn equal_clusters_score_as_one_and_stay_equal() {
    let plain = trained(small_model(&treebank(), SMALL, SET), &options());
    let mut four = plain.clone();
    four.arcs.clusters = 4;
    four.arcs.weights = plain.arcs.weights.repeat(4);
    let check = |four: &ParserModel| {
        for sentence in treebank() {
            let summed = Parser::new(four).scores(&sentence).unwrap().clone();
            let one = ParserModel { arcs: first_cluster(&four.arcs), ..four.clone() };
            for (head, modifier, score) in Parser::new(&one).scores(&sentence).unwrap().arcs() {
                assert!((summed[(head, modifier)] - score - 4f64.ln()).abs() < 1e-12);
            }
            let parse = |model, decoding| {
                Parser::new(model).with_decoding(decoding).parse(&sentence).unwrap()
            };
            assert_eq!(parse(four, Decoding::MaxZ).tree, parse(&one, Decoding::Map).tree);
            assert_eq!(parse(four, Decoding::Mbr).tree, parse(&one, Decoding::Mbr).tree);
        }
    };
    check(&four);
    let further = trained(four, &options());
    let cells = further.arcs.index.cells();
    assert!(
        further.arcs.weights.chunks(cells).all(|cluster| *cluster == further.arcs.weights[..cells])
    );
    check(&further);
}

fn first_cluster(arcs: &ArcModel) -> ArcModel {
    let weights = arcs.weights[..arcs.index.cells()].to_vec();
    ArcModel { clusters: 1, weights, ..arcs.clone() }
}

#[test]
fn clusters_learn_and_diverge() {
    for optimizer in [
        adagrad(),
        Optimizer::Sgd {
            objective: likelihood(),
            rate: 0.1,
            prior: Some(100.0),
            dropout: 0.2,
            batch: 2,
        },
    ] {
        let options = TrainingOptions { passes: 30, optimizer, threads: 2, ..options() };
        let mut losses = Vec::new();
        let mut watch = |TrainedPass { pass, .. }: TrainedPass<'_>| losses.push(pass.loss);
        let trained = train_further(model(3, 0.05), &treebank(), &options, &mut watch).unwrap();
        assert!(losses[29] < 0.2 * losses[0], "{losses:?}");
        let cells = trained.arcs.index.cells();
        assert!(trained.arcs.weights[..cells] != trained.arcs.weights[cells..2 * cells]);
        for sentence in treebank() {
            for decoding in [Decoding::Map, Decoding::Mbr, Decoding::MaxZ] {
                let mut parser = Parser::new(&trained).with_decoding(decoding);
                let parse = parser.parse(&sentence).unwrap();
                let gold = sentence.heads().unwrap();
                assert_eq!(parse.tree.heads(), gold, "{decoding:?} {}", options.optimizer);
            }
        }
    }
}

/// Enumerates all trees of three words with all clusters of their three arcs: p(y, z) ∝ Π exp θ_z(h → m).
#[test]
fn decoders_find_the_best_of_all_trees_and_clusters() {
    const CLUSTERS: usize = 3;
    let sentence = sentence("tea/NOUN/2/nsubj cools/VERB/0/root slowly/ADV/2/advmod");
    let choices: Vec<[usize; 3]> = (0..CLUSTERS.pow(3))
        .map(|number| [number % CLUSTERS, number / CLUSTERS % CLUSTERS, number / CLUSTERS.pow(2)])
        .collect();
    let mut differ = 0;
    for seed in 0..20 {
        let mut model = small_model(&treebank(), SMALL, SET);
        let ArcModel { features, index, .. } = model.arcs;
        model.arcs = ArcModel::clustered(features, index, CLUSTERS, 0.3, seed);
        let mut prepared = Prepared::default();
        let features = &model.arcs.features;
        prepared.fill(features, &Atoms::new(&sentence, features.columns()), |_| true);
        let by_cluster = model.arcs.score_by_cluster(&prepared, |_, _| true);

        // For each tree, the best score with any clusters, and the sum over all clusters.
        let of_tree = |tree: &Tree| {
            let scores = choices.iter().map(|clusters| -> f64 {
                tree.arcs().zip(clusters).map(|(arc, cluster)| by_cluster[*cluster][arc]).sum()
            });
            scores.fold((f64::NEG_INFINITY, 0.0), |(best, sum), score| {
                (score.max(best), sum + score.exp())
            })
        };
        let trees: Vec<(Tree, (f64, f64))> =
            all_trees(3, SET).into_iter().map(|tree| (tree.clone(), of_tree(&tree))).collect();
        let (best, _) = trees.iter().max_by(|a, b| a.1.0.total_cmp(&b.1.0)).unwrap();
        let (likeliest, (_, sum)) = trees.iter().max_by(|a, b| a.1.1.total_cmp(&b.1.1)).unwrap();
        let z: f64 = trees.iter().map(|(_, (_, sum))| sum).sum();

        let parse =
            |decoding| Parser::new(&model).with_decoding(decoding).parse(&sentence).unwrap();
        assert_eq!(parse(Decoding::MaxZ).tree, *best, "seed {seed}");
        assert_eq!(parse(Decoding::Map).tree, *likeliest, "seed {seed}");
        // Probabilities are summed over clusters, whatever the decoder.
        assert_eq!(
            parse(Decoding::MaxZ).tree == parse(Decoding::Mbr).tree,
            parse(Decoding::MaxZ).head_probs == parse(Decoding::Mbr).head_probs,
        );
        let distribution = Parser::new(&model).distribution(&sentence).unwrap();
        let log_prob = distribution.arcs().log_prob(likeliest).unwrap();
        assert!((log_prob - (sum / z).ln()).abs() < 1e-9, "seed {seed}");
        differ += usize::from(best != likeliest);
    }
    assert!(differ > 0, "max-z and map differ for some weights");
}

#[test]
fn only_the_last_pass_has_clusters() {
    let treebank = treebank();
    let pruning = Some(PrunerOptions { bits: 12, ..PrunerOptions::default() });
    let two = Some(SecondPassOptions { folds: 2, fold_passes: 2, ..SecondPassOptions::default() });
    let with = |second| TrainingOptions {
        clusters: 3,
        pruning: pruning.clone(),
        second_pass: second,
        ..options()
    };
    let pruned = train(&treebank, &with(None), &mut ()).unwrap();
    assert_eq!((pruned.clusters(), pruned.arcs.clusters()), (3, 3));
    let second_pass = train(&treebank, &with(two.clone()), &mut ()).unwrap();
    assert_eq!((second_pass.clusters(), second_pass.arcs.clusters()), (3, 1));
    // A single sentence has no second pass; its only pass has the clusters.
    let single = train(&treebank[..1], &with(two.clone()), &mut ()).unwrap();
    assert_eq!(single.clusters(), 3);
    for model in [&pruned, &second_pass] {
        assert_eq!(model.pruner.as_ref().unwrap().arcs.clusters(), 1);
        let score = model.evaluate(&treebank, Decoding::MaxZ, 2).unwrap();
        assert!(score.uas() > 0.9, "{}", score.uas());
    }
    let threads = TrainingOptions { threads: 3, ..with(two) };
    let again = train(&treebank, &threads, &mut ()).unwrap();
    assert!(
        again.second_pass.unwrap().arcs.weights == second_pass.second_pass.unwrap().arcs.weights
    );
}

/// The checkpoint of an optimizer of clusters holds all its state.
#[test]
fn optimizers_resume_from_their_checkpoint() {
    let treebank = treebank();
    let start = model(3, 0.05);
    let corpus = corpus(&treebank, &start);
    let schedule = Schedule { passes: 4, seed: 5, threads: 1 };
    for name in ["adagrad:dropout=0.2,batch=2", "sgd:prior=10"] {
        let optimizer: Optimizer = name.parse().unwrap();
        let mut arcs = start.arcs.clone();
        let mut before = optimizer.start_arcs(&corpus, &mut arcs, schedule).unwrap();
        let pass = |optimizer: &mut Box<dyn OptimizerRun>, arcs: &mut ArcModel| {
            optimizer.pass(&corpus, arcs).unwrap();
        };
        (0..3).for_each(|_| pass(&mut before, &mut arcs));
        let mut bytes = Vec::new();
        before.checkpoint(&mut Codec::Write(&mut bytes)).unwrap();
        let mut copy = arcs.clone();
        let mut after = optimizer.start_arcs(&corpus, &mut copy, schedule).unwrap();
        let mut rest = &bytes[..];
        after.checkpoint(&mut Codec::Read(&mut rest)).unwrap();
        assert!(rest.is_empty(), "{name}");
        pass(&mut before, &mut arcs);
        pass(&mut after, &mut copy);
        assert!(arcs.weights == copy.weights, "{name}");
        assert!(before.weights_to_keep(&arcs) == after.weights_to_keep(&copy), "{name}");
    }
}

#[test]
fn impossible_options_are_refused() {
    let treebank = treebank();
    let refusal = |options: TrainingOptions| {
        let mut watch = |_: TrainedPass<'_>| -> () { panic!("before the first pass") };
        train(&treebank, &options, &mut watch).unwrap_err().to_string()
    };
    for clusters in [0, 257] {
        let message = refusal(TrainingOptions { clusters, ..options() });
        assert!(message.contains(&format!("{clusters} clusters")), "{message}");
    }
    for name in ["perceptron", "pa-i", "mira", "lbfgs", "eg-max-margin"] {
        let optimizer = Optimizer::named(name).unwrap();
        let message =
            refusal(TrainingOptions { clusters: 2, optimizer: optimizer.clone(), ..options() });
        assert!(message.contains(name) && message.contains("adagrad"), "{message}");
        let options = TrainingOptions { optimizer, ..options() };
        let error = train_further(model(2, 0.1), &treebank, &options, &mut ()).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    let joint = TrainingOptions { clusters: 2, labelling: Labelling::Joint, ..options() };
    let message = refusal(joint);
    assert!(message.contains("no joint labels"), "{message}");
    let mut model = model(2, 0.1);
    model.labels = model.labels.with_labelling(Labelling::Joint);
    let error = train_further(model, &treebank, &options(), &mut ()).unwrap_err();
    assert_eq!(error.to_string(), message);

    let plain = small_model(&treebank, SMALL, SET);
    let mut parser = Parser::new(&plain).with_decoding(Decoding::MaxZ);
    let error = parser.parse(&treebank[0]).unwrap_err();
    assert!(matches!(error, Error::NoClusters) && error.hint().is_some(), "{error}");
    let error = plain.evaluate(&[], Decoding::MaxZ, 2).unwrap_err();
    assert!(matches!(error, Error::NoClusters), "even for no sentences");
}
