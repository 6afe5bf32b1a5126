//! Acceptance tests: features of one sentence, written out by hand.

use super::*;

fn assert_features(head: usize, modifier: usize, expected: &[&str]) {
    let mut expected: Vec<&str> = expected.to_vec();
    let names = names(&FeatureSet::mcdonald(), &tea(), head, modifier);
    let mut found: Vec<&str> = names.iter().map(String::as_str).collect();
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn an_arc_to_the_right() {
    let expected = [
        "h.form h.tag: poured/VBD",
        "h.form: poured",
        "h.tag: VBD",
        "m.form m.tag: tea/NN",
        "m.form: tea",
        "m.tag: NN",
        "h.form h.tag m.form m.tag: poured/VBD/tea/NN",
        "h.tag m.form m.tag: VBD/tea/NN",
        "h.form m.form m.tag: poured/tea/NN",
        "h.form h.tag m.tag: poured/VBD/NN",
        "h.form h.tag m.form: poured/VBD/tea",
        "h.form m.form: poured/tea",
        "h.tag m.tag: VBD/NN",
        // Only the head is longer than five characters.
        "h.cut5 h.tag: poure/VBD",
        "h.cut5: poure",
        "h.cut5 h.tag m.cut5 m.tag: poure/VBD/tea/NN",
        "h.cut5 m.cut5 m.tag: poure/tea/NN",
        "h.cut5 h.tag m.tag: poure/VBD/NN",
        "h.cut5 h.tag m.cut5: poure/VBD/tea",
        "h.cut5 m.cut5: poure/tea",
        "h.tag b*.tag m.tag: VBD/DT/NN",
        "h.tag h+1.tag m-1.tag m.tag: VBD/DT/DT/NN",
        "h-1.tag h.tag m-1.tag m.tag: PRP/VBD/DT/NN",
        "h.tag h+1.tag m.tag m+1.tag: VBD/DT/NN/RB",
        "h-1.tag h.tag m.tag m+1.tag: PRP/VBD/NN/RB",
        "h.tag m-1.tag m.tag: VBD/DT/NN",
        "h.tag h+1.tag m.tag: VBD/DT/NN",
        "h-1.tag h.tag m.tag: PRP/VBD/NN",
        "h.tag m.tag m+1.tag: VBD/NN/RB",
    ];
    assert_features(2, 4, &expected);
    assert_eq!(bin(2, 4), 2);
}

/// Adjacent words are not neighbours of each other; left of the first word is the root.
#[test]
fn an_arc_to_the_left_of_adjacent_words() {
    let expected = [
        "h.form h.tag: poured/VBD",
        "h.form: poured",
        "h.tag: VBD",
        "m.form m.tag: She/PRP",
        "m.form: She",
        "m.tag: PRP",
        "h.form h.tag m.form m.tag: poured/VBD/She/PRP",
        "h.tag m.form m.tag: VBD/She/PRP",
        "h.form m.form m.tag: poured/She/PRP",
        "h.form h.tag m.tag: poured/VBD/PRP",
        "h.form h.tag m.form: poured/VBD/She",
        "h.form m.form: poured/She",
        "h.tag m.tag: VBD/PRP",
        "h.cut5 h.tag: poure/VBD",
        "h.cut5: poure",
        "h.cut5 h.tag m.cut5 m.tag: poure/VBD/She/PRP",
        "h.cut5 m.cut5 m.tag: poure/She/PRP",
        "h.cut5 h.tag m.tag: poure/VBD/PRP",
        "h.cut5 h.tag m.cut5: poure/VBD/She",
        "h.cut5 m.cut5: poure/She",
        "h.tag h+1.tag m-1.tag m.tag: VBD/DT/<root>/PRP",
        "h-1.tag h.tag m-1.tag m.tag: <mid>/VBD/<root>/PRP",
        "h.tag h+1.tag m.tag m+1.tag: VBD/DT/PRP/<mid>",
        "h-1.tag h.tag m.tag m+1.tag: <mid>/VBD/PRP/<mid>",
        "h.tag m-1.tag m.tag: VBD/<root>/PRP",
        "h.tag h+1.tag m.tag: VBD/DT/PRP",
        "h-1.tag h.tag m.tag: <mid>/VBD/PRP",
        "h.tag m.tag m+1.tag: VBD/PRP/<mid>",
    ];
    assert_features(2, 1, &expected);
    assert_eq!(bin(2, 1), 8);
}

/// Left of the root is the start of the sentence, right of the last word its end. The form of the root
/// is never cut.
#[test]
fn an_arc_from_the_root_to_the_last_word() {
    let expected = [
        "h.form h.tag: <root>/<root>",
        "h.form: <root>",
        "h.tag: <root>",
        "m.form m.tag: slowly/RB",
        "m.form: slowly",
        "m.tag: RB",
        "h.form h.tag m.form m.tag: <root>/<root>/slowly/RB",
        "h.tag m.form m.tag: <root>/slowly/RB",
        "h.form m.form m.tag: <root>/slowly/RB",
        "h.form h.tag m.tag: <root>/<root>/RB",
        "h.form h.tag m.form: <root>/<root>/slowly",
        "h.form m.form: <root>/slowly",
        "h.tag m.tag: <root>/RB",
        "m.cut5 m.tag: slowl/RB",
        "m.cut5: slowl",
        "h.cut5 h.tag m.cut5 m.tag: <root>/<root>/slowl/RB",
        "h.tag m.cut5 m.tag: <root>/slowl/RB",
        "h.cut5 m.cut5 m.tag: <root>/slowl/RB",
        "h.cut5 h.tag m.cut5: <root>/<root>/slowl",
        "h.cut5 m.cut5: <root>/slowl",
        "h.tag b*.tag m.tag: <root>/PRP/RB",
        "h.tag b*.tag m.tag: <root>/VBD/RB",
        "h.tag b*.tag m.tag: <root>/DT/RB",
        "h.tag b*.tag m.tag: <root>/NN/RB",
        "h.tag h+1.tag m-1.tag m.tag: <root>/PRP/NN/RB",
        "h-1.tag h.tag m-1.tag m.tag: <s>/<root>/NN/RB",
        "h.tag h+1.tag m.tag m+1.tag: <root>/PRP/RB/</s>",
        "h-1.tag h.tag m.tag m+1.tag: <s>/<root>/RB/</s>",
        "h.tag m-1.tag m.tag: <root>/NN/RB",
        "h.tag h+1.tag m.tag: <root>/PRP/RB",
        "h-1.tag h.tag m.tag: <s>/<root>/RB",
        "h.tag m.tag m+1.tag: <root>/RB/</s>",
    ];
    assert_features(0, 5, &expected);
    assert_eq!(bin(0, 5), 5);
}

/// A tag that occurs twice counts twice with `b*`, once with `b`.
#[test]
fn words_in_between_count_each_or_once() {
    let again = sentence(&[
        ["Drink", "drink", "VERB", "VB", "_"],
        ["good", "good", "ADJ", "JJ", "_"],
        ["hot", "hot", "ADJ", "JJ", "_"],
        ["tea", "tea", "NOUN", "NN", "_"],
    ]);
    for (place, times) in [("b", 1), ("b*", 2)] {
        let features = FeatureSet::parse(&format!("h.tag {place}.tag m.tag")).unwrap();
        let keys = keys(&features, &again, 1, 4);
        assert!(keys.len() == times && keys.iter().all(|key| *key == keys[0]));
    }
}

/// Number of features of poured → tea in each set.
#[test]
fn sets_have_the_expected_numbers_of_features() {
    let count = |text: &str| keys(&FeatureSet::parse(text).unwrap(), &tea(), 2, 4).len();
    let mcdonald = FeatureSet::mcdonald().to_string();
    let lines = |wanted: fn(&str) -> bool| -> String {
        mcdonald.lines().filter(|line| wanted(line)).flat_map(|line| [line, "\n"]).collect()
    };
    let basic = lines(|line| !line.contains("cut"));
    let coarse = lines(|line| !line.contains("cut") && line.contains("tag")).replace("tag", "upos");
    let lemma = lines(|line| line.contains("form")).replace("form", "lemma");
    assert_eq!(count(&basic), 6 + 7 + 1 + 4 + 4);
    assert_eq!(count(&mcdonald), 22 + 2 + 5);
    assert_eq!(count(&format!("{basic}{coarse}")), 22 + 4 + 6 + 1 + 4 + 4);
    assert_eq!(count(&format!("{basic}{lemma}")), 22 + 4 + 6);
    // One morphological feature each, and one pair.
    let pa = FeatureSet::passive_aggressive();
    assert_eq!(keys(&pa, &tea(), 2, 4).len(), 22 + 3);
    assert_eq!((pa.conjoin(), pa.pairs()), (Conjoin::Only, Some(64)));
    assert!(pa.templates().iter().flat_map(Template::attributes).all(|attribute| {
        !matches!(attribute, Attribute::Lemma | Attribute::Upos | Attribute::Cut(_))
    }));
}

#[test]
fn characters_are_cut_not_bytes() {
    let features = FeatureSet::parse("m.cut5").unwrap();
    let form = |form| sentence(&[[form, "_", "X", "_", "_"]]);
    assert_eq!(names(&features, &form("élégante"), 0, 1), ["m.cut5: éléga"]);
    assert!(names(&features, &form("éléga"), 0, 1).is_empty());
}

#[test]
fn pairs_of_features_are_limited() {
    let many = |count: usize| -> String {
        (0..count).map(|n| format!("F{n}=x")).collect::<Vec<_>>().join("|")
    };
    let nine = many(9);
    let eight = many(8);
    let two = |a: &str, b: &str| sentence(&[["a", "a", "X", "_", a], ["b", "b", "X", "_", b]]);
    let features = FeatureSet::parse("pairs 64\nh.feat m.feat\nm.tag m.feat").unwrap();
    let both = two(&nine, &eight);
    assert_eq!(keys(&features, &both, 1, 2).len(), 64 + 8);
    assert_eq!(keys(&features, &both, 2, 1).len(), 64 + 9);
    assert!(features.leaves_out_pairs(&both));
    let fewer = two(&eight, &eight);
    assert_eq!(keys(&features, &fewer, 1, 2).len(), 64 + 8);
    assert!(!features.leaves_out_pairs(&fewer));
    // The same pairs are left out every time.
    let unlimited = FeatureSet::parse("h.feat m.feat\nm.tag m.feat").unwrap();
    let all = names(&unlimited, &both, 1, 2);
    assert_eq!(names(&features, &both, 1, 2), [&all[..64], &all[72..]].concat());
}

#[test]
fn coarse_copies_are_left_out_where_tags_are_the_same() {
    let text =
        "h.tag\nh.upos\nh.tag b.tag m.tag\nh.upos b.upos m.upos\nh.upos b*.tag m.tag\nm.upos";
    let features = || FeatureSet::parse(text).unwrap();
    assert_eq!(features().without_copies(&[tea()]).to_string(), features().to_string());
    let same = sentence(&[["a", "a", "X", "_", "_"], ["b", "b", "Y", "Y", "_"]]);
    let left = features().with_conjoin(Conjoin::Only).without_copies([&same]).to_string();
    assert_eq!(left, "conjoin only\nh.tag\nh.tag b.tag m.tag\nh.upos b*.tag m.tag\nm.upos\n");
    assert_eq!(features().without_copies([&same, &tea()]).templates().len(), 6);
}

#[test]
fn morphological_features_have_no_order() {
    let feats = |feats| sentence(&[["a", "a", "X", "_", feats], ["b", "b", "Y", "_", "_"]]);
    let features = FeatureSet::parse("m.feats\nm.feat\nh.tag m.feat").unwrap();
    let [one, other] = ["NumType=Card|b|Number=Plur", "b|Number=Plur|NumType=Card"].map(feats);
    assert_eq!(keys(&features, &one, 0, 1), keys(&features, &other, 0, 1));
    assert_eq!(names(&features, &one, 0, 1)[0], "m.feats: b|Number=Plur|NumType=Card");
}

/// Mirrored arcs have the bin of the other direction and the same distance. They have the same features
/// if templates are mirrored too.
#[test]
fn mirrored_sentences_have_mirrored_features() {
    let words: Vec<[String; 5]> = (0..12usize)
        .map(|n| {
            [format!("w{n}"), format!("l{}", n % 4), format!("T{}", n % 3), "_".into(), "_".into()]
        })
        .collect();
    let mut words: Vec<[&str; 5]> =
        words.iter().map(|word| word.each_ref().map(String::as_str)).collect();
    let there = sentence(&words);
    words.reverse();
    let back = sentence(&words);
    let text = "h.form m.form\nh.tag b*.tag m.tag\nh.tag b.tag m.tag\nh.tag h+1.tag m-1.tag m.tag\n\
                h-1.tag h.tag m.tag m+1.tag";
    let swap = |sign: char| if sign == '+' { '-' } else { '+' };
    let mirrored: String =
        text.chars().map(|c| if "+-".contains(c) { swap(c) } else { c }).collect();
    let features = FeatureSet::parse(text).unwrap();
    let mirrored = FeatureSet::parse(&mirrored).unwrap();
    // Not at the ends: only the left end has a root.
    for head in 2..=11 {
        for modifier in (2..=11).filter(|&modifier| modifier != head) {
            let (h, m) = (13 - head, 13 - modifier);
            assert_eq!(keys(&features, &there, head, modifier), keys(&mirrored, &back, h, m));
            let one = bin(head, modifier);
            let other = bin(h, m);
            assert_eq!(one.abs_diff(other), 7);
            assert_eq!(one < 8, head < modifier);
        }
    }
}
