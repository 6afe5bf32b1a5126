//! Tests of the features of gaps.

use super::*;
use crate::feature_tables::{are_distinct, digest};

/// Features of all gaps and spaces of a text, recorded when the first models were trained.
#[test]
fn features_are_part_of_the_format() {
    let long = "ab-".repeat(PIECE);
    let recorded = [
        ("tea", (20, 1137624330091720950)),
        ("I don't mind, he said.", (230, 6946205276518097370)),
        ("(1 000 km) x=3.5%… d\u{301}e!", (366, 14854039045726863533)),
        ("see www.example.org/a?b, or me@example.org.", (622, 2781788153530473493)),
        ("我是 猫です ﬁn", (107, 11960219995426029973)),
        (&long, (16357, 2298372466060316675)),
    ];
    for (text, expected) in recorded {
        assert_eq!(digest(&all_features(text, GapTemplates::First)), expected, "{text}");
    }
}

/// As they were recorded when the English model with shapes was trained.
#[test]
fn features_of_models_with_shapes_are_part_of_the_format() {
    let text = "Dr. Tea's Ph.D. (vol. 3, 10–20): 'cause <3 24/7…";
    let recorded = [
        (GapTemplates::WithShapes, (751, 13005082134314448816)),
        (GapTemplates::WithFrequencies, (819, 3402875429363492788)),
    ];
    for (templates, expected) in recorded {
        assert_eq!(digest(&all_features(text, templates)), expected, "{templates:?}");
    }
}

#[test]
fn all_dashes_between_digits_are_one_sign() {
    let common = |one: &str, other: &str| {
        let [one, other] =
            [one, other].map(|text| all_features(text, GapTemplates::WithFrequencies));
        one.iter().filter(|feature| other.contains(feature)).count()
    };
    assert!(common("x 44-48", "x 44–48") > common("x 44/48", "x 44–48"));
}

/// Returns the features of all gaps and spaces. A token ends at every third gap.
fn all_features(text: &str, templates: GapTemplates) -> Vec<u32> {
    let mut characters = Characters::default();
    characters.read(text);
    let mut gaps = GapFeatures::default();
    gaps.read(&characters, templates);
    let mut all = Vec::new();
    for chunk in 0..gaps.chunks.len() {
        all.extend_from_slice(gaps.space_features(&characters, chunk).unwrap_or_default());
        let frequency = |_, span: CharSpan| (span.end % 5) as Frequency;
        gaps.each_gap(&characters, chunk, frequency, |gap, _, features| {
            all.extend_from_slice(features);
            gap % 3 == 0
        });
    }
    all
}

/// Returns the kinds of all gaps of the first chunk of a text, in which every gap ends a token if `splits`.
fn kinds(text: &str, splits: bool) -> Vec<GapKind> {
    let mut characters = Characters::default();
    characters.read(text);
    let mut gaps = GapFeatures::default();
    gaps.read(&characters, GapTemplates::WithFrequencies);
    let mut kinds = Vec::new();
    gaps.each_gap(
        &characters,
        0,
        |_, _| 0,
        |_, kind, features| {
            assert_eq!(kind.numbers().count(), features.len(), "{text}: {kind:?}");
            kinds.push(kind);
            splits
        },
    );
    kinds
}

#[test]
fn initials_numbers_quotes_and_emoticons_have_features_of_their_own() {
    use GapKind::*;
    assert_eq!(kinds("Ph.D.", false), [BetweenLetters, InInitials, InInitials, InInitials]);
    assert_eq!(kinds("is.So.", false).last(), Some(&BesideOther), "no single letter");
    assert_eq!(kinds("10-20", false)[1..3], [InNumber, InNumber]);
    assert_eq!(kinds("24/7.", true)[1..], [InNumber, InNumber, BesideOther]);
    assert_eq!(kinds("vol. 3", false)[2], StopBeforeNumber);
    assert_eq!(kinds("vol. Three", false)[2], BesideOther);
    assert_eq!(kinds("'cause", false)[0], AfterQuote);
    assert_eq!(kinds("<3!", false), [BesideEmoticon, BesideEmoticon]);
    assert_eq!(kinds("a🎉b", false), [BesideEmoji, BesideEmoji]);
    // A long chunk without white space costs no more than others.
    kinds(&"1-".repeat(5000), false);
    kinds(&"a.".repeat(5000), false);
}

#[test]
fn emoticons_are_found() {
    let found = |text: &str| {
        let chunk: Vec<char> = text.to_lowercase().chars().collect();
        emoticon(&chunk).map(|CharSpan { start, end }| chunk[start..end].iter().collect())
    };
    for (text, expected) in [
        (":)", ":)"),
        ("nice:-))!", ""),
        ("(;P)", ";p"),
        ("<3!", "<3"),
        ("</3", "</3"),
        (":D.", ":d"),
    ] {
        assert_eq!(found(text).unwrap_or_default(), expected.to_owned(), "{text}");
    }
    for text in ["10:30", "a=b", "x<30", "::)", "http://a", "<3k"] {
        assert_eq!(found(text), None::<String>, "{text}");
    }
}

#[test]
fn quotations_are_closed_or_not() {
    let quote = |text: &str| {
        let mut characters = Characters::default();
        characters.read(text);
        let mut gaps = GapFeatures::default();
        gaps.read(&characters, GapTemplates::WithFrequencies);
        gaps.quote(&characters, 0)
    };
    assert_eq!(quote("it's"), 0);
    assert_eq!(quote("'so' it goes"), 1);
    assert_eq!(quote("'so it goes'."), 2);
    assert_eq!(quote("'cause it's"), 3);
    assert_eq!(quote("'"), 3);
}

#[test]
fn dropout_leaves_out_words_and_nothing_else() {
    let kind = GapKind::StopBeforeNumber;
    let features: Vec<u32> = kind.numbers().map(|&number| number as u32).collect();
    let mut kept = Vec::new();
    kind.without_words(&features, &mut kept);
    assert!(kept.contains(&52) && !kept.contains(&58));
    assert!(GapKind::WORDS.iter().all(|number| !kept.contains(&(*number as u32))));
}

#[test]
fn every_template_has_its_own_number() {
    assert!(are_distinct(&[
        AnyGap::NUMBERS,
        BetweenLetters::NUMBERS,
        BesideOther::NUMBERS,
        PlaceInAddress::NUMBERS,
        PlaceInAddressBesideOther::NUMBERS,
        Shapes::NUMBERS,
        StopBeforeNumber::NUMBERS,
        InInitials::NUMBERS,
        InNumber::NUMBERS,
        AfterQuote::NUMBERS,
        BesideEmoticon::NUMBERS,
        SignAsWritten::NUMBERS,
        Frequencies::NUMBERS,
        Space::NUMBERS,
    ]));
}
