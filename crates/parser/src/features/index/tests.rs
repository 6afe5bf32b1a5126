//! Tests that compare dictionaries with maps of all keys.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tutte_treebank::Sentence;
use tutte_trees::TreeSet;

use super::support::SupportingArcs;
use super::*;
use crate::features::{Atoms, Conjoin, FeatureSet, Prepared, Readable, bin};
use crate::learn::corpus::Corpus;
use crate::learn::train::tests::treebank;
use crate::{Optimizer, Parser, TrainingOptions, train};

const SET: TreeSet = TreeSet::NonProjectiveSingleRoot;

/// Returns all features of all arcs or of gold arcs: the name of each, and its count in each bin.
fn counted(
    treebank: &[Sentence],
    features: &FeatureSet,
    gold: bool,
) -> BTreeMap<u64, (String, [u32; BLOCK])> {
    let mut all = BTreeMap::new();
    let mut prepared = Prepared::default();
    for sentence in treebank {
        let atoms = Atoms::new(sentence, features.columns());
        let readable = Readable::new(sentence, &atoms);
        for (number, template) in features.templates().iter().enumerate() {
            prepared.fill(features, &atoms, |other| other == number);
            for (head, modifier) in (0..=sentence.len())
                .flat_map(|head| (1..=sentence.len()).map(move |modifier| (head, modifier)))
                .filter(|&(head, modifier)| head != modifier)
                .filter(|&(head, m)| !gold || sentence.word(m).unwrap().head() == Some(head))
            {
                let mut nth = 0;
                prepared.keys(head, modifier, |key| {
                    let values = readable.values(template, head, modifier, nth);
                    let pairs = template.places().into_iter().zip(values);
                    let name: Vec<String> =
                        pairs.map(|(p, value)| format!("{p}={value}")).collect();
                    let name = name.join(" ");
                    let entry = all.entry(key).or_insert((name.clone(), [0; BLOCK]));
                    assert_eq!(entry.0, name, "a key belongs to one feature");
                    entry.1[0] += 1;
                    entry.1[bin(head, modifier)] += 1;
                    nth += 1;
                });
            }
        }
    }
    all
}

/// Returns the keys with enough support, from a map.
fn expected(
    counted: &BTreeMap<u64, (String, [u32; BLOCK])>,
    enough: u32,
    conjoin: Conjoin,
) -> Vec<(u64, u16)> {
    let exists = |slot: usize| if slot == 0 { conjoin.bare() } else { conjoin.binned() };
    let mask = |counts: &[u32; BLOCK]| {
        let slots = (0..BLOCK).filter(|&slot| exists(slot) && counts[slot] >= enough);
        slots.fold(0u16, |mask, slot| mask | 1 << slot)
    };
    let all = counted.iter().map(|(key, (_, counts))| (*key, mask(counts)));
    all.filter(|(_, mask)| *mask != 0).collect()
}

/// The result does not depend on how many features are counted at once.
#[test]
fn exactly_the_features_with_enough_support_are_kept() {
    let treebank = treebank();
    for (conjoin, support, enough) in [
        (Conjoin::Both, Support::Gold, 1),
        (Conjoin::Both, Support::Count(1), 1),
        (Conjoin::Both, Support::Count(10), 10),
        (Conjoin::Only, Support::Count(3), 3),
        (Conjoin::None, Support::Count(10), 10),
    ] {
        let features = FeatureSet::mcdonald().with_conjoin(conjoin);
        let corpus = Corpus::new(&treebank, &features, None, SET).unwrap();
        let arcs = SupportingArcs::of_corpus(&corpus, &features, support);
        let counted = counted(&treebank, &features, support == Support::Gold);
        let expected = expected(&counted, enough, conjoin);
        assert!(!expected.is_empty() && (enough == 1 || expected.len() < counted.len()));
        for at_once in [1 << 20, 1000, 177] {
            assert!(arcs.supported_in_passes(at_once) == expected, "{support} {at_once}");
        }
    }
}

#[test]
fn gold_arcs_support_less_than_all() {
    let treebank = treebank();
    let features = FeatureSet::mcdonald();
    let new = |support| Dictionary::new(&treebank, &features, support, SET, 1).unwrap();
    let gold = new(Support::Gold);
    let all = new(Support::Count(1));
    assert!(gold.cells() < all.cells() && gold.len() < all.len());
    let all: BTreeMap<u64, u16> = all.keys().collect();
    assert!(gold.keys().all(|(key, mask)| mask & !all[&key] == 0));
}

#[test]
fn neither_order_nor_threads_matter() {
    let features = FeatureSet::mcdonald();
    let mut treebank = treebank();
    let new = |treebank: &[Sentence], threads| {
        let dictionary =
            Dictionary::new(treebank, &features, Support::Count(2), SET, threads).unwrap();
        let names = dictionary.names();
        (dictionary.keys().collect::<Vec<_>>(), names.values(), names.recipes().to_vec())
    };
    let first = new(&treebank, 1);
    assert!(first == new(&treebank, 3));
    treebank.reverse();
    treebank.swap(3, 11);
    assert!(first == new(&treebank, 2));
}

/// Support is counted in the trees that are learnt from.
#[test]
fn trees_are_made_projective_first() {
    let mut treebank = treebank();
    let features = FeatureSet::mcdonald();
    let new = |treebank: &[Sentence], set| {
        let dictionary = Dictionary::new(treebank, &features, Support::Gold, set, 1).unwrap();
        dictionary.keys().collect::<Vec<_>>()
    };
    let projective = new(&treebank, TreeSet::ProjectiveSingleRoot);
    assert!(projective != new(&treebank, SET));
    for sentence in &mut treebank {
        sentence.projectivise().unwrap();
    }
    assert!(projective == new(&treebank, SET));
}

#[test]
fn every_feature_has_the_name_of_its_key() {
    let treebank = treebank();
    for features in [FeatureSet::richer(), FeatureSet::passive_aggressive()] {
        let counted = counted(&treebank, &features, true);
        let dictionary = Dictionary::new(&treebank, &features, Support::Gold, SET, 1).unwrap();
        let names: Vec<String> =
            dictionary.names().read(&features).map(|name| name.to_string()).collect();
        assert!(counted.values().map(|(name, _)| name).eq(&names));
        assert!(names.iter().any(|name| name == "h.form=sleeps m.form=cat"));
        // No two features share a key, so no two share a name, unless two templates are the same.
        let different: BTreeSet<&String> = names.iter().collect();
        assert_eq!(different.len(), names.len());
    }
}

/// Hashing is exact too if there are enough weights that no two features share one.
#[test]
fn a_large_table_and_a_dictionary_give_the_same_scores() {
    let treebank = &treebank()[..2];
    let bits = 24;
    for templates in [FeatureSet::mcdonald(), FeatureSet::passive_aggressive()] {
        let keys: Vec<u64> = counted(treebank, &templates, false).into_keys().collect();
        let blocks: BTreeSet<_> = keys.iter().map(|key| hashed(*key, bits).cell(0)).collect();
        assert_eq!(blocks.len(), keys.len(), "no two features share a block");
        let options = |dictionary| TrainingOptions {
            optimizer: Optimizer::Perceptron,
            templates: templates.clone(),
            dictionary,
            passes: 3,
            bits,
            label_bits: 6,
            ..TrainingOptions::plain()
        };
        let large = train(treebank, &options(None), &mut ()).unwrap();
        let exact = train(treebank, &options(Some(Support::Count(1))), &mut ()).unwrap();
        for sentence in treebank {
            let scores = Parser::new(&large).scores(sentence).unwrap().clone();
            assert!(&scores == Parser::new(&exact).scores(sentence).unwrap());
            assert!(scores.arcs().any(|(.., score)| score != 0.0));
        }
    }
}

#[test]
fn every_optimizer_learns_with_a_dictionary() {
    let treebank = treebank();
    for name in Optimizer::NAMES {
        let options = TrainingOptions {
            optimizer: Optimizer::named(name).unwrap(),
            templates: FeatureSet::mcdonald(),
            dictionary: Some(Support::Gold),
            passes: 2,
            label_bits: 6,
            ..TrainingOptions::plain()
        };
        let model = train(&treebank, &options, &mut ()).unwrap();
        assert_eq!(model.arcs.weights.len(), model.arcs.index.cells());
        let score = model.evaluate(&treebank, crate::Decoding::Map, 1).unwrap();
        assert!(score.uas() > 0.8, "{name}: {}", score.uas());
    }
}

#[test]
fn supports_are_read_as_they_are_written() {
    for support in [Support::Gold, Support::Count(1), Support::Count(10)] {
        assert_eq!(support.to_string().parse::<Support>().unwrap(), support);
    }
    for wrong in ["", "0", "-1", "gold"] {
        let error = wrong.parse::<Support>().unwrap_err().to_string();
        assert!(error.contains("expected supported, or the number of"), "{error}");
    }
}

#[test]
fn keys_that_do_not_increase_are_refused() {
    let from = |keys: &[u64]| Dictionary::from_keys(keys.iter().map(|key| (*key, 1)));
    assert_eq!(from(&[3, 9, 9]).unwrap_err(), "keys that do not increase, at number 2");
    assert!(from(&[9, 3]).is_err());
    let none = from(&[]).unwrap();
    assert!(none.is_empty() && none.block(0).is_none() && none.block(u64::MAX).is_none());
}

proptest! {
    /// Look-ups agree with a map even if hundreds of keys have the same leading bits.
    #[test]
    fn look_ups_find_the_keys_and_no_others(
        keys in prop::collection::btree_map(
            prop_oneof![any::<u64>(), 0..600u64, u64::MAX - 9..=u64::MAX], any::<u16>(), 0..300),
        others in prop::collection::vec(prop_oneof![any::<u64>(), 0..600u64], 50),
    ) {
        let pairs: Vec<(u64, u16)> = keys.iter().map(|(key, mask)| (*key, *mask)).collect();
        let dictionary = Dictionary::from_keys(pairs.iter().copied()).unwrap();
        let mut next = 0;
        for (rank, (key, mask)) in pairs.iter().enumerate() {
            prop_assert_eq!(dictionary.rank(*key), Some(rank));
            let block = dictionary.block(*key).unwrap();
            for slot in 0..BLOCK {
                let has = mask >> slot & 1 == 1;
                prop_assert_eq!(block.cell(slot), has.then_some(next));
                next += usize::from(has);
            }
        }
        prop_assert_eq!(dictionary.cells(), next);
        for other in others {
            prop_assert_eq!(dictionary.rank(other).is_some(), keys.contains_key(&other));
        }
    }
}
