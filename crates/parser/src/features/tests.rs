//! Tests that compare keys with features written out as text: two features have the same key if and
//! only if their texts are the same.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use tutte_treebank::Sentence;
use tutte_trees::ArcMatrix;

use super::*;

mod acceptance;

fn sentence(words: &[[&str; 5]]) -> Sentence {
    let lines: String = (1..)
        .zip(words)
        .map(|(id, [form, lemma, upos, xpos, feats])| {
            format!("{id}\t{form}\t{lemma}\t{upos}\t{xpos}\t{feats}\t_\t_\t_\t_\n")
        })
        .collect();
    lines.parse().unwrap()
}

fn tea() -> Sentence {
    sentence(&[
        ["She", "she", "PRON", "PRP", "Case=Nom|Number=Sing"],
        ["poured", "pour", "VERB", "VBD", "Tense=Past"],
        ["the", "the", "DET", "DT", "_"],
        ["tea", "tea", "NOUN", "NN", "Number=Sing"],
        ["slowly", "slowly", "ADV", "RB", "_"],
    ])
}

/// The value of an attribute at a place, as text.
fn value(sentence: &Sentence, attribute: Attribute, place: isize) -> String {
    let words = sentence.len() as isize;
    let special = match place {
        ..0 => Some("<s>"),
        0 => Some("<root>"),
        _ if place > words => Some("</s>"),
        _ => None,
    };
    if let Some(special) = special {
        return special.to_owned();
    }
    let word = sentence.word(place as usize).unwrap();
    let characters: Vec<char> = word.form().chars().collect();
    match attribute {
        Attribute::Form => word.form().to_owned(),
        Attribute::Lemma => word.lemma().to_owned(),
        Attribute::Upos => word.upos().to_owned(),
        Attribute::Tag if word.xpos() == "_" => word.upos().to_owned(),
        Attribute::Tag => word.xpos().to_owned(),
        Attribute::Feats => word.feats().to_owned(),
        Attribute::Prefix(length) | Attribute::Cut(length) => {
            characters.iter().take(length.into()).collect()
        }
        Attribute::Suffix(length) => {
            let from = characters.len().saturating_sub(length.into());
            characters[from..].iter().collect()
        }
        _ => panic!("not tested here"),
    }
}

/// The values of a template on an arc, each time it fires: the slow twin of keys and names.
fn values(
    sentence: &Sentence,
    template: &Template,
    head: usize,
    modifier: usize,
) -> Vec<Vec<String>> {
    let adjacent = head.abs_diff(modifier) == 1;
    let half = |atoms: &[Atom], place: usize, other: usize| -> Vec<Vec<String>> {
        let mut all = vec![Vec::new()];
        for atom in atoms {
            let towards_other = (atom.offset > 0) == (other > place) && atom.offset != 0;
            let values = if atom.attribute == Attribute::Feat {
                let word = sentence.word(place);
                word.map(|word| word.features().map(|(k, v)| format!("{k}={v}")).collect())
                    .unwrap_or_default()
            } else if adjacent && towards_other {
                vec!["<mid>".to_owned()]
            } else {
                vec![value(sentence, atom.attribute, place as isize + isize::from(atom.offset))]
            };
            let longer = |all: &Vec<String>, value: &String| {
                [&all[..], std::slice::from_ref(value)].concat()
            };
            all = all.iter().flat_map(|all| values.iter().map(move |v| longer(all, v))).collect();
        }
        all
    };
    let cuts = |atoms: &[Atom], place: usize| {
        atoms.iter().any(|atom| match (atom.attribute, sentence.word(place)) {
            (Attribute::Cut(length), Some(word)) => word.form().chars().count() > length.into(),
            _ => false,
        })
    };
    let is_cut = template.attributes().any(|attribute| matches!(attribute, Attribute::Cut(_)));
    if is_cut && !cuts(&template.head, head) && !cuts(&template.modifier, modifier) {
        return Vec::new();
    }
    let mut between = vec![Vec::new()];
    if let Some(Between { attribute, each }) = template.between {
        let inside = head.min(modifier) + 1..head.max(modifier);
        between = inside.map(|place| vec![value(sentence, attribute, place as isize)]).collect();
        if !each {
            between.sort();
            between.dedup();
        }
    }
    let mut all = Vec::new();
    for h in half(&template.head, head, modifier) {
        for m in half(&template.modifier, modifier, head) {
            all.extend(between.iter().map(|b| [&h[..], b, &m].concat()));
        }
    }
    all
}

/// The features of a template on an arc as text.
fn texts(sentence: &Sentence, template: &Template, head: usize, modifier: usize) -> Vec<String> {
    let values = values(sentence, template, head, modifier);
    values.iter().map(|values| format!("{template}: {}", values.join("/"))).collect()
}

/// The features of an arc as text, by [`Readable`], in the order of keys.
fn names(features: &FeatureSet, sentence: &Sentence, head: usize, modifier: usize) -> Vec<String> {
    let atoms = Atoms::new(sentence, features.columns());
    let readable = Readable::new(sentence, &atoms);
    let mut prepared = Prepared::default();
    let mut names = Vec::new();
    for (number, template) in features.templates().iter().enumerate() {
        prepared.fill(features, &atoms, |other| other == number);
        let mut nth = 0;
        prepared.keys(head, modifier, |_| {
            let values = readable.values(template, head, modifier, nth);
            names.push(format!("{template}: {}", values.join("/")));
            nth += 1;
        });
    }
    names
}

fn keys(features: &FeatureSet, sentence: &Sentence, head: usize, modifier: usize) -> Vec<u64> {
    let mut prepared = Prepared::default();
    prepared.fill(features, &Atoms::new(sentence, features.columns()), |_| true);
    let mut keys = Vec::new();
    prepared.keys(head, modifier, |key| keys.push(key));
    keys.sort_unstable();
    keys
}

/// Every attribute and every scope of template that the slow twin supports.
const MANY: &str = "
h.form
m.form
h.lemma h.tag
m.suffix2 m.prefix3
h.form m.form
h.tag m.tag
h.feats m.upos
h.tag h+1.tag m-1.tag m.tag
h-1.upos h.upos m.upos m+1.upos
h-2.upos h.upos m.upos m+2.upos
h.tag b.tag m.tag
h.tag b*.tag m.tag
b.upos m.lemma
h.cut3
h.cut3 m.cut3
m.cut2 h.tag
h.feat m.upos
h.upos m.feat
h.feat m.feat
m.feat
";

#[test]
fn an_arc_has_the_features_its_templates_say() {
    let features = FeatureSet::parse(MANY).unwrap();
    let mut texts_of = HashMap::new();
    let mut keys_of = HashMap::new();
    let sentence = tea();
    for head in 0..=5 {
        for modifier in (1..=5).filter(|&modifier| modifier != head) {
            let mut expected = Vec::new();
            for template in features.templates() {
                let one = FeatureSet::new(
                    features.templates().iter().filter(|t| *t == template).cloned().collect(),
                );
                let number = texts(&sentence, template, head, modifier).len();
                assert_eq!(keys(&one, &sentence, head, modifier).len(), number, "{template}");
                expected.extend(texts(&sentence, template, head, modifier));
            }
            let found = keys(&features, &sentence, head, modifier);
            assert_eq!(found.len(), expected.len(), "{head} → {modifier}");
            let mut names = names(&features, &sentence, head, modifier);
            names.sort();
            let mut sorted = expected.clone();
            sorted.sort();
            assert_eq!(names, sorted, "{head} → {modifier}");
            keys_of.insert((head, modifier), found);
            texts_of.insert((head, modifier), expected);
        }
    }
    assert_same_structure(&texts_of, &keys_of);
}

/// Checks that two arcs share as many keys as texts.
fn assert_same_structure(
    texts: &HashMap<(usize, usize), Vec<String>>,
    keys: &HashMap<(usize, usize), Vec<u64>>,
) {
    for (a, texts_a) in texts {
        for (b, texts_b) in texts {
            let shared = |counts: &BTreeMap<usize, usize>| counts.values().sum::<usize>();
            let mut same_texts = BTreeMap::new();
            for (at, text) in texts_a.iter().enumerate() {
                same_texts.insert(at, texts_b.iter().filter(|other| *other == text).count());
            }
            let mut same_keys = BTreeMap::new();
            for (at, key) in keys[a].iter().enumerate() {
                same_keys.insert(at, keys[b].iter().filter(|other| *other == key).count());
            }
            assert_eq!(shared(&same_texts), shared(&same_keys), "{a:?} {b:?}");
        }
    }
}

/// Part of the model format: a model trained by one version must be read by all others.
#[test]
fn hashes_are_what_they_have_always_been() {
    assert_eq!(Attribute::Form.hash("tea"), 0x2B64_9253_A402_9AEB); // XXH3, seed 1
    let features = FeatureSet::parse("h.form m.form\nh.tag b.tag m.tag\nm.feat").unwrap();
    let expected = [0x09CD_30FA_9A48_5517, 0x0C85_694F_1747_0D30, 0x3998_5910_9E60_B127];
    assert_eq!(keys(&features, &tea(), 2, 4), expected);
    let features = FeatureSet::parse("h.cut5 m.cut5\nh.tag b*.tag m.tag").unwrap();
    assert_eq!(keys(&features, &tea(), 2, 4), [0x0C85_694F_1747_0D30, 0xE6FD_AD7E_2769_C3BA]);
    // All templates of the papers' sets.
    let sum = |features: FeatureSet| {
        let keys = keys(&features, &tea(), 2, 4);
        keys.iter().fold(0u64, |sum, key| sum.wrapping_mul(3).wrapping_add(*key))
    };
    assert_eq!(sum(FeatureSet::mcdonald()), 0x7843_5037_C203_E684);
    assert_eq!(sum(FeatureSet::passive_aggressive()), 0x4510_7A3C_314C_1F9E);
}

#[test]
fn scoring_and_accumulating_add_the_same_cells() {
    for conjoin in [Conjoin::Both, Conjoin::Only, Conjoin::None] {
        assert_same_cells(conjoin);
    }
}

fn assert_same_cells(conjoin: Conjoin) {
    let features = FeatureSet::parse(MANY).unwrap().with_conjoin(conjoin);
    let index = crate::Index::Hashed { bits: 20 };
    let mut model = crate::ArcModel::new(features.clone(), index);
    for (cell, weight) in model.weights.iter_mut().enumerate() {
        *weight = ((cell * 2_654_435_761) % 1009) as f32 / 1009.0 - 0.5;
    }
    let sentence = tea();
    let mut prepared = Prepared::default();
    prepared.fill(&features, &Atoms::new(&sentence, features.columns()), |_| true);
    let mut scores = ArcMatrix::zeros(5);
    model.score(&prepared, |_, _| true, &mut scores);
    for head in 0..=5 {
        for modifier in (1..=5).filter(|&modifier| modifier != head) {
            // The score is linear: w · f, with f from accumulate.
            let mut one = ArcMatrix::zeros(5);
            one[(head, modifier)] = 1.0;
            let mut sum = 0.0;
            let mut cells = 0;
            model.accumulate(&prepared, &one, 0.0, |cell, amount| {
                sum += f64::from(model.weights[cell] * amount);
                cells += amount as usize;
                let slot = cell % BLOCK;
                let copies = [(conjoin.bare(), 0), (conjoin.binned(), bin(head, modifier))];
                assert!(copies.contains(&(true, slot)), "{conjoin:?}: {slot}");
            });
            assert!((sum - scores[(head, modifier)]).abs() < 1e-4, "{head} → {modifier}");
            let copies = usize::from(conjoin.bare()) + usize::from(conjoin.binned());
            assert_eq!(cells, copies * keys(&features, &sentence, head, modifier).len());
        }
    }
}

#[test]
fn features_do_not_depend_on_heads_and_labels() {
    let mut other = tea();
    other.set_heads(&[Some(2), Some(0), Some(4), Some(2), Some(2)]).unwrap();
    other.set_deprel(4, "obj").unwrap();
    for features in FeatureSet::NAMES.iter().filter_map(|name| FeatureSet::named(name)) {
        for (head, modifier) in [(0, 2), (2, 4), (4, 3), (5, 1)] {
            let blank = keys(&features, &tea(), head, modifier);
            assert_eq!(keys(&features, &other, head, modifier), blank);
        }
    }
}

#[test]
fn distances_are_binned_as_mcdonald_did() {
    let bins: Vec<usize> = [1, 2, 3, 4, 5, 6, 10, 11, 50].map(|m| bin(0, m)).to_vec();
    assert_eq!(bins, [1, 2, 3, 4, 5, 6, 6, 7, 7]);
    assert!((1..60).all(|m| bin(60, 60 - m) == 7 + bin(0, m)));
}

#[test]
fn named_sets_hold_the_templates_they_are_written_with() {
    for (set, templates) in [
        (FeatureSet::mcdonald(), 32),
        (FeatureSet::passive_aggressive(), 25),
        (FeatureSet::richer(), 74),
        (FeatureSet::richer().with_first_pass(), 101),
        (FeatureSet::richer().with_first_pass().with_transition_parse(), 113),
        (FeatureSet::lean(), 51),
        (FeatureSet::lean().with_first_pass(), 51),
        (FeatureSet::labels(), 37),
        (FeatureSet::second_pass_labels().with_transition_labels(), 59),
        (FeatureSet::lean_labels(), 28),
    ] {
        assert_eq!(set.templates().len(), templates);
        let read = FeatureSet::parse(&set.to_string()).unwrap();
        assert_eq!(read.templates(), set.templates());
        assert_eq!((read.conjoin(), read.pairs()), (set.conjoin(), set.pairs()));
    }
    assert!(FeatureSet::NAMES.iter().all(|name| FeatureSet::named(name).is_some()));
}

#[test]
fn invalid_templates_are_refused_with_a_reason() {
    for (text, why) in [
        ("h.form x.form", "\"x\" is not a place: h, m, b, b* or a"),
        ("é.form m.form", "\"é\" is not a place: h, m, b, b* or a"),
        ("h", "\"h\" is not a place and an attribute, such as h.form"),
        ("h.colour", "\"colour\" is not an attribute of words"),
        ("h+3.form", "\"+3\" is not an offset from -2 to +2"),
        ("h-128.form", "\"-128\" is not an offset from -2 to +2"),
        ("a.colour m.form", "\"colour\" is not an attribute of arcs"),
        ("b.tag", "it has no attribute of head or modifier"),
        ("b.tag b*.tag m.tag", "only one attribute in between is allowed"),
        ("h.feat h.feat", "feat is allowed once for h and once for m"),
        ("h.form b.feat", "feat is allowed once for h and once for m"),
        ("h+1.cut5", "cut is allowed once for h and once for m"),
        ("h.feat b.tag m.tag", "only one of feat, cut, b and a is allowed"),
        ("h.cut5 m.tag a.verbs", "only one of feat, cut, b and a is allowed"),
        ("conjoin all", "conjoin takes both, only or none"),
        ("pairs 0", "pairs takes a number from 1"),
    ] {
        let error = FeatureSet::parse(text).unwrap_err().to_string();
        assert_eq!(error, format!("template {text:?}: {why}"));
    }
}

proptest! {
    #[test]
    fn keys_stand_for_texts_in_any_sentence(
        words in prop::collection::vec(("[a-c]{1,4}", "[ab]", "[AB]", "[CD_]", 0..4usize), 1..7),
    ) {
        let feats = ["_", "X=1", "X=1|Y=2", "Y=2"];
        let words: Vec<[&str; 5]> = words
            .iter()
            .map(|(form, lemma, upos, xpos, at)| {
                [form.as_str(), lemma.as_str(), upos.as_str(), xpos.as_str(), feats[*at]]
            })
            .collect();
        let sentence = sentence(&words);
        let features = FeatureSet::parse(MANY).unwrap();
        let arcs = (0..=words.len())
            .flat_map(|h| (1..=words.len()).filter(move |&m| m != h).map(move |m| (h, m)));
        let mut texts_of = HashMap::new();
        let mut keys_of = HashMap::new();
        for (head, modifier) in arcs {
            let texts = features.templates().iter();
            let mut texts: Vec<String> =
                texts.flat_map(|t| super::tests::texts(&sentence, t, head, modifier)).collect();
            let mut names = names(&features, &sentence, head, modifier);
            texts.sort();
            names.sort();
            prop_assert_eq!(&texts, &names);
            texts_of.insert((head, modifier), texts);
            keys_of.insert((head, modifier), keys(&features, &sentence, head, modifier));
        }
        assert_same_structure(&texts_of, &keys_of);
    }
}
