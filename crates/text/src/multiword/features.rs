//! Features of a token and a rule that is considered for it, as tables of templates.
//!
//! A rule divides a form into a stem and a rest. Suffixes follow the vowels and the voicing of the stem (Turkish `-dır`,
//! `-dir`, `-dur`, `-tür`). So rests and the ends of stems are seen as written and as [skeletons](skeleton), which do
//! not have these differences. An unknown form may be a noun with a copula or a verb. The longest lemmas with which it
//! starts tell them apart, with what stands between lemma and rest: `gitmeli|yim` starts with the verb `git`. What is
//! learnt of a rare rest is shared by all rests of its class ([`Multiword::classes`](super::Multiword)): `-dir` and
//! `-ydik` are copulas, and follow the same stems.
//!
//! A [`Template`] combines two attributes. Its feature is the hash of its number, of the rule or class that it belongs
//! to, and of the values of both attributes. Numbers, attributes and the order of templates are part of the model format.

use std::ops::{Index, IndexMut};

use tutte_linear::Hash;

use super::harmony::agreement;
use super::lexicon::{Entry, PosSet, each_pos};
use super::rule::{DividedForm, Rule};
use crate::characters::skeleton;
use crate::token_attributes::{TokenAttributes, ending_hash, form_hash};

/// Offsets of the neighbours whose parts of speech are looked up.
pub(super) const NEIGHBOURS: [isize; 4] = [-2, -1, 1, 2];

/// A property of a token, or of a token and a rule.
///
/// `Pos` is a set of parts of speech, but [`Pos`](Attribute::Pos) itself is a single one. The first word is the one that
/// the rule makes of the stem. "Previous", "next" and "second" are the tokens at −1, 1 and 2; parts of speech of the
/// neighbours at −2, −1, 1 and 2 are called earlier, left, right and later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attribute {
    /// Always 0: for templates with fewer than two attributes.
    Nothing,

    // Of the token.
    Form,
    Shape,
    Length,
    Start3,
    Ending3,
    Ending4,
    Ending5,

    // Of its neighbours.
    PreviousForm,
    PreviousEnding2,
    PreviousEnding3,
    NextForm,
    NextShape,
    NextFirst,
    NextEnding2,
    NextEnding3,
    SecondForm,
    FormAndPrevious,
    FormAndNext,
    LeftPos,
    RightPos,
    LeftAndRightPos,
    EarlierAndLeftPos,
    RightAndLaterPos,

    // Of the token's entry in the lexicon, as one word.
    Frequency,
    FormPos,
    LemmaPos,
    FormAndLemmaPos,

    // Of the first word that the rule makes.
    FirstWord,
    FirstFrequency,
    FirstFormPos,
    FirstLemmaPos,
    FirstPos,
    /// Frequencies of the first word and of the token.
    Frequencies,

    // Of the stem and the rest, as written and as skeletons.
    Rest,
    StemEnding1,
    StemEnding2,
    StemEnding3,
    RestSkeleton,
    StemSkeleton1,
    StemSkeleton2,
    StemSkeleton3,
    StemSkeleton4,
    StemSkeleton5,
    /// Agreement of stem and rest in vowels, voicing and the letters at the border, see [`agreement`].
    Agreement,
    VoicingAndHarmony,
    Harmony,
    /// Class of the rest.
    Class,

    // Of the longest lemma with which the form starts.
    LongestLemmaPos,
    AfterLongestLemma,
    /// Number of characters by which that lemma ends before the cut or after it.
    Reach,
    RestAndReach,

    // Of one part of speech of one lemma with which the form starts, or of the first word.
    Pos,
    /// Skeleton of the form after the lemma.
    AfterLemma,
    /// Skeleton between the lemma and the rest.
    Between,
    BetweenAndRest,
    /// Number of characters of the rest that belong to the lemma.
    Overlap,
}

use Attribute::*;

/// Number of a template and its two attributes.
type Template = (u64, Attribute, Attribute);

/// The token as a whole, its neighbours and its first word.
const TOKEN: &[Template] = &[
    (201, Nothing, Nothing),
    (202, Form, Nothing),
    (203, Ending3, Nothing),
    (204, Ending4, Nothing),
    (205, Ending5, Nothing),
    (206, Shape, Length),
    (207, Form, Shape),
    (208, Form, PreviousForm),
    (209, Form, NextForm),
    (210, Form, NextEnding2),
    (211, Form, NextShape),
    (212, Form, PreviousEnding2),
    (213, Ending3, NextForm),
    (214, Ending3, PreviousForm),
    (215, FormAndNext, SecondForm),
    (216, Start3, Nothing),
    (217, Ending3, Length),
    (218, Shape, NextShape),
    (219, FirstFrequency, Frequency),
    (224, FirstWord, Nothing),
    (225, FirstWord, Rest),
];

/// Only for tokens that are also single words. French `des` is one word in `il y a des`, two in `la fin des`.
const AMBIGUOUS: &[Template] = &[
    (360, Form, LeftPos),
    (361, Form, RightPos),
    (362, Form, LeftAndRightPos),
    (363, Form, EarlierAndLeftPos),
    (364, Form, RightAndLaterPos),
    (365, Form, PreviousEnding3),
    (366, Form, NextEnding3),
    (367, FormAndPrevious, RightPos),
];

const FIRST_WORD: &[Template] = &[(226, FirstPos, Nothing), (230, FirstPos, Frequency)];

/// The rest as written.
const REST: &[Template] = &[
    (220, Frequencies, Rest),
    (221, Rest, StemEnding1),
    (222, Rest, StemEnding2),
    (223, Rest, StemEnding3),
    (227, FirstPos, Rest),
    (228, FirstFormPos, Rest),
    (229, FirstLemmaPos, Rest),
];
/// For each part of speech of the first word as a form.
const REST_BY_FORM_POS: &[Template] = &[(231, Pos, Rest)];
/// For each part of speech of the first word as a lemma.
const REST_BY_LEMMA_POS: &[Template] = &[(232, Pos, Rest)];

/// As [`REST`], for the skeleton of the rest.
const REST_SKELETON: &[Template] = &[
    (240, Frequencies, RestSkeleton),
    (241, RestSkeleton, StemSkeleton1),
    (242, RestSkeleton, StemSkeleton2),
    (243, RestSkeleton, StemSkeleton3),
    (247, FirstPos, RestSkeleton),
    (248, FirstFormPos, RestSkeleton),
    (249, FirstLemmaPos, RestSkeleton),
];
const REST_SKELETON_BY_FORM_POS: &[Template] = &[(251, Pos, RestSkeleton)];
const REST_SKELETON_BY_LEMMA_POS: &[Template] = &[(252, Pos, RestSkeleton)];

/// The skeleton of the rest with its context.
const CONTEXT: &[Template] = &[
    (260, RestSkeleton, Nothing),
    (261, RestSkeleton, NextForm),
    (262, RestSkeleton, NextShape),
    (263, RestSkeleton, NextFirst),
    (264, RestSkeleton, NextEnding3),
    (265, RestSkeleton, PreviousForm),
    (266, RestSkeleton, PreviousEnding3),
    (267, RestSkeleton, Shape),
    (268, FirstPos, NextShape),
    (270, FormPos, RestSkeleton),
    (271, LemmaPos, RestSkeleton),
    (272, FormAndLemmaPos, FirstPos),
];

/// Only if the form starts with a lemma.
const LONGEST_LEMMA: &[Template] = &[
    (273, LongestLemmaPos, Reach),
    (274, LongestLemmaPos, RestAndReach),
    (275, LongestLemmaPos, AfterLongestLemma),
];

/// Templates for each part of speech of each lemma with which the form starts.
struct LemmaTemplates {
    /// If the lemma ends before the rest.
    in_stem: &'static [Template],
    /// If it is also the longest lemma.
    longest_in_stem: &'static [Template],
    /// If the lemma reaches into the rest.
    into_rest: &'static [Template],
    /// In both cases.
    always: &'static [Template],
}

const LEMMAS: LemmaTemplates = LemmaTemplates {
    in_stem: &[(280, Pos, BetweenAndRest), (281, Pos, Between)],
    longest_in_stem: &[(284, Pos, BetweenAndRest)],
    into_rest: &[(282, Pos, Overlap)],
    always: &[(283, Pos, AfterLemma)],
};

const AGREEMENT: &[Template] = &[
    (290, Agreement, RestSkeleton),
    (291, Agreement, Class),
    (292, Agreement, Nothing),
    (293, Agreement, FirstPos),
    (294, VoicingAndHarmony, RestSkeleton),
    (295, Harmony, RestSkeleton),
];

/// Hashed with the class of the rest in place of the rule: these do not depend on the length of the rest.
const CLASS: &[Template] = &[
    (310, Nothing, Nothing),
    (311, FirstPos, Nothing),
    (312, FirstPos, Frequency),
    (313, FirstWord, Nothing),
    (321, StemSkeleton1, Nothing),
    (322, StemSkeleton2, Nothing),
    (323, StemSkeleton3, Nothing),
    (324, StemSkeleton4, Nothing),
    (325, StemSkeleton5, Nothing),
    (326, NextForm, Nothing),
    (327, NextShape, Nothing),
    (328, NextEnding3, Nothing),
    (329, PreviousForm, Nothing),
    (330, PreviousEnding3, Nothing),
    (331, Shape, Nothing),
    (332, Shape, NextShape),
];
const CLASS_LEMMAS: LemmaTemplates = LemmaTemplates {
    in_stem: &[(340, Pos, Between)],
    longest_in_stem: &[(341, Pos, Between)],
    into_rest: &[(342, Pos, Overlap)],
    always: &[],
};

/// Hashed with neither rule nor class: these do not depend on the rest at all.
const ANY_RULE: &[Template] =
    &[(350, FirstWord, Nothing), (351, FirstPos, Nothing), (352, FirstPos, Frequency)];

/// Value of each attribute.
#[derive(Clone, Copy, Debug)]
struct Values([u64; Attribute::COUNT]);

impl Attribute {
    const COUNT: usize = Overlap as usize + 1;
}

impl Index<Attribute> for Values {
    type Output = u64;

    #[inline]
    fn index(&self, attribute: Attribute) -> &u64 {
        &self.0[attribute as usize]
    }
}

impl IndexMut<Attribute> for Values {
    #[inline]
    fn index_mut(&mut self, attribute: Attribute) -> &mut u64 {
        &mut self.0[attribute as usize]
    }
}

/// A lemma with which a form starts.
#[derive(Clone, Copy, Debug, Default)]
struct LemmaPrefix {
    /// Number of its characters; 0 if there is no lemma.
    length: usize,
    pos: PosSet,
    /// Hash of the skeleton of what follows it.
    after: u64,
}

/// A token for which rules are considered.
pub(super) struct TokenContext<'a, E, C> {
    /// Lower-cased form.
    form: &'a [char],
    skeleton: Vec<char>,
    /// Values of the attributes that do not depend on the rule; 0 for the others.
    values: Values,
    /// The longest lemmas of two or more characters with which the form starts, the longest first.
    lemmas: [LemmaPrefix; 3],
    /// Returns the entry of a word in the lexicon, by its hash.
    entry: &'a E,
    /// Returns the class of a rest, by the hash of its skeleton.
    class: &'a C,
}

impl<'a, E: Fn(u64) -> Entry, C: Fn(u64) -> u64> TokenContext<'a, E, C> {
    /// Maximal length of the lemmas that are looked up. The cost of each look-up is its length.
    const LONGEST_LEMMA: usize = 32;

    /// Reads the token at `at`. `whole` is its entry in the lexicon, `neighbour_pos` the parts of speech of its
    /// [neighbours](NEIGHBOURS).
    pub(super) fn new(
        form: &'a [char],
        attributes: &TokenAttributes,
        at: usize,
        whole: Entry,
        neighbour_pos: [PosSet; 4],
        entry: &'a E,
        class: &'a C,
    ) -> Self {
        let skeleton: Vec<char> = form.iter().map(|&c| skeleton(c)).collect();
        let lemmas = Self::lemma_prefixes(form, &skeleton, entry);

        let [previous, token, next, second] = [-1, 0, 1, 2].map(|k| attributes.near(at, k));
        let [earlier, left, right, later] = neighbour_pos.map(u64::from);
        let mut values = Values([0; Attribute::COUNT]);
        values[Form] = token.form;
        values[Shape] = token.shape;
        values[Length] = token.length;
        values[Start3] = token.start3;
        values[Ending3] = token.ending3;
        values[Ending4] = token.ending4;
        values[Ending5] = token.ending5;
        values[PreviousForm] = previous.form;
        values[PreviousEnding2] = previous.ending2;
        values[PreviousEnding3] = previous.ending3;
        values[NextForm] = next.form;
        values[NextShape] = next.shape;
        values[NextFirst] = next.first;
        values[NextEnding2] = next.ending2;
        values[NextEnding3] = next.ending3;
        values[SecondForm] = second.form;
        values[FormAndPrevious] = token.form ^ previous.form.rotate_left(7);
        values[FormAndNext] = token.form ^ next.form.rotate_left(7);
        values[LeftPos] = left;
        values[RightPos] = right;
        values[LeftAndRightPos] = left << 8 | right;
        values[EarlierAndLeftPos] = earlier << 8 | left;
        values[RightAndLaterPos] = right << 8 | later;
        values[Frequency] = whole.frequency.into();
        values[FormPos] = whole.form_pos.into();
        values[LemmaPos] = whole.lemma_pos.into();
        values[FormAndLemmaPos] = both_pos(whole);
        values[LongestLemmaPos] = lemmas[0].pos.into();
        values[AfterLongestLemma] = lemmas[0].after;
        Self { form, skeleton, values, lemmas, entry, class }
    }

    fn lemma_prefixes(form: &[char], skeleton: &[char], entry: &E) -> [LemmaPrefix; 3] {
        let pos = |length: usize| {
            let start = &form[..length - 1];
            let last = form[length - 1];
            let ending_in = |last| entry(form_hash(start.iter().copied().chain([last]))).lemma_pos;
            ending_in(last) | devoiced(last).map_or(0, ending_in)
        };
        let lengths = (2..=form.len().min(Self::LONGEST_LEMMA)).rev();
        let found = lengths.map(|length| (length, pos(length))).filter(|(_, pos)| *pos != 0);
        let mut lemmas = [LemmaPrefix::default(); 3];
        for (lemma, (length, pos)) in lemmas.iter_mut().zip(found) {
            *lemma = LemmaPrefix { length, pos, after: full_hash(&skeleton[length..]) };
        }
        lemmas
    }

    /// Writes the features of the token and a rule. `number` is the index of the rule.
    pub(super) fn features(&self, number: u16, rule: &Rule, features: &mut Vec<u32>) {
        let DividedForm { stem, literal, rest } = rule.divide(self.form);
        let first_word = form_hash(stem.iter().copied().chain(literal.chars()));
        let first = (self.entry)(first_word);
        let cut = self.form.len() - rest.len();
        let (stem_skeleton, rest_skeleton) = self.skeleton.split_at(cut);
        let rest_hash = full_hash(rest_skeleton);
        let agreement = agreement(&self.form[..cut], &self.form[cut..]);
        let class = (self.class)(rest_hash);

        let mut values = self.values;
        values[FirstWord] = first_word;
        values[FirstFrequency] = first.frequency.into();
        values[FirstFormPos] = first.form_pos.into();
        values[FirstLemmaPos] = first.lemma_pos.into();
        values[FirstPos] = both_pos(first);
        values[Frequencies] = u64::from(first.frequency) << 3 | values[Frequency];
        values[Rest] = full_hash(rest);
        values[StemEnding1] = ending_hash(stem, 1);
        values[StemEnding2] = ending_hash(stem, 2);
        values[StemEnding3] = ending_hash(stem, 3);
        values[RestSkeleton] = rest_hash;
        values[StemSkeleton1] = ending_hash(stem_skeleton, 1);
        values[StemSkeleton2] = ending_hash(stem_skeleton, 2);
        values[StemSkeleton3] = ending_hash(stem_skeleton, 3);
        values[StemSkeleton4] = ending_hash(stem_skeleton, 4);
        values[StemSkeleton5] = ending_hash(stem_skeleton, 5);
        values[Agreement] = agreement;
        values[VoicingAndHarmony] = agreement >> 4;
        values[Harmony] = agreement >> 8;
        values[Class] = class;

        features.clear();
        let mut list = FeatureList { features, values };
        let number = u64::from(number) + 1;
        let with_rule = |template| Hash::of(template).and(number);
        list.add(TOKEN, with_rule);
        if self.values[Frequency] > 0 {
            list.add(AMBIGUOUS, with_rule);
        }
        list.add(FIRST_WORD, with_rule);
        for (templates, by_form_pos, by_lemma_pos) in [
            (REST, REST_BY_FORM_POS, REST_BY_LEMMA_POS),
            (REST_SKELETON, REST_SKELETON_BY_FORM_POS, REST_SKELETON_BY_LEMMA_POS),
        ] {
            list.add(templates, with_rule);
            // Features of forms and lemmas alternate.
            for pos in each_pos(first.form_pos | first.lemma_pos) {
                list.values[Pos] = pos;
                if first.form_pos >> pos & 1 == 1 {
                    list.add(by_form_pos, with_rule);
                }
                if first.lemma_pos >> pos & 1 == 1 {
                    list.add(by_lemma_pos, with_rule);
                }
            }
        }
        list.add(CONTEXT, with_rule);
        let longest = self.lemmas[0].length;
        if longest > 0 {
            let reach = (longest + 8).saturating_sub(stem.len()).clamp(4, 16) as u64;
            list.values[Reach] = reach;
            list.values[RestAndReach] = rest_hash ^ reach.rotate_left(40);
            list.add(LONGEST_LEMMA, with_rule);
        }
        self.add_lemmas(&LEMMAS, cut, with_rule, &mut list);
        list.add(AGREEMENT, with_rule);

        let with_class = |template| Hash::of(template).and(class);
        list.add(CLASS, with_class);
        self.add_lemmas(&CLASS_LEMMAS, cut, with_class, &mut list);

        list.add(ANY_RULE, Hash::of);
    }

    /// Adds the features of the lemmas with which the form starts. The rest starts at `cut`.
    fn add_lemmas(
        &self,
        templates: &LemmaTemplates,
        cut: usize,
        start: impl Fn(u64) -> Hash + Copy,
        list: &mut FeatureList<'_>,
    ) {
        for (rank, lemma) in self.lemmas.iter().enumerate().filter(|(_, lemma)| lemma.length > 0) {
            list.values[AfterLemma] = lemma.after;
            let between = self.skeleton.get(lemma.length..cut).map(full_hash);
            match between {
                Some(between) => {
                    list.values[Between] = between;
                    list.values[BetweenAndRest] =
                        between ^ list.values[RestSkeleton].rotate_left(13);
                }
                None => list.values[Overlap] = (lemma.length - cut) as u64,
            }
            for pos in each_pos(lemma.pos) {
                list.values[Pos] = pos;
                if between.is_none() {
                    list.add(templates.into_rest, start);
                } else {
                    list.add(templates.in_stem, start);
                    if rank == 0 {
                        list.add(templates.longest_in_stem, start);
                    }
                }
                list.add(templates.always, start);
            }
        }
    }
}

/// Features so far, and the values for the next ones.
struct FeatureList<'a> {
    features: &'a mut Vec<u32>,
    values: Values,
}

impl FeatureList<'_> {
    /// Adds a feature for each template. `start` is the hash of a template's number, with the rule or the class.
    #[inline]
    fn add(&mut self, templates: &[Template], start: impl Fn(u64) -> Hash) {
        let values = &self.values;
        self.features.extend(templates.iter().map(|&(number, first, second)| {
            start(number).and(values[first]).and(values[second]).feature()
        }));
    }
}

/// Parts of speech as a form and as a lemma.
fn both_pos(entry: Entry) -> u64 {
    u64::from(entry.form_pos) << 8 | u64::from(entry.lemma_pos)
}

/// Returns the hash of all characters.
fn full_hash(characters: &[char]) -> u64 {
    ending_hash(characters, characters.len())
}

/// Returns the letter at the end of a lemma that became this one before a vowel: `kulağı` is a form of `kulak`.
fn devoiced(lower: char) -> Option<char> {
    match lower {
        'ğ' => Some('k'),
        'b' => Some('p'),
        'c' => Some('ç'),
        'd' => Some('t'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;
    use crate::characters::{CharSpan, Characters, lower};

    /// Features of a token and a rule, recorded when the first models were trained.
    struct Recorded {
        /// Tokens, separated by spaces.
        text: &'static str,
        /// Index of the token.
        at: usize,
        /// Words that the rule makes of the token.
        words: [&'static str; 2],
        /// Number of features, and the hash of all in their order.
        features: (usize, u64),
    }

    /// Word, frequency, parts of speech as a form, and parts of speech as a lemma.
    const LEXICON: [(&str, u8, u8, u8); 9] = [
        ("des", 4, 0b10, 0),
        ("git", 2, 0b1000, 0b1000),
        ("gitme", 1, 0b1, 0b1001),
        ("kulak", 1, 0b1, 0b1),
        ("fin", 1, 0b1, 0b1),
        ("kent", 3, 0b11, 0b11),
        ("de", 4, 0, 0),
        ("ke", 1, 0b100_0000, 0b101_0000),
        ("lac", 2, 0b1, 0b1),
    ];

    #[test]
    fn features_are_part_of_the_format() {
        let recorded = [
            Recorded {
                text: "la fin des lacs",
                at: 2,
                words: ["de", "les"],
                features: (82, 4900056295592048248),
            },
            Recorded {
                text: "gitmeliyim",
                at: 0,
                words: ["gitmeli", "yim"],
                features: (93, 8184704193170453726),
            },
            Recorded {
                text: "o kulağıdır .",
                at: 1,
                words: ["kulağı", "dır"],
                features: (83, 3576757986537528011),
            },
            Recorded {
                text: "bu kentli !",
                at: 1,
                words: ["kent", "li"],
                features: (105, 10517307861744917798),
            },
            Recorded {
                text: "I don't mind",
                at: 1,
                words: ["do", "n't"],
                features: (74, 13520232106269164661),
            },
            Recorded {
                text: "Gitmedi Ali",
                at: 0,
                words: ["g", "itmedi"],
                features: (86, 10797221058899175465),
            },
            Recorded {
                text: "\" au",
                at: 1,
                words: ["à", "le"],
                features: (74, 14005843821250727881),
            },
        ];
        for case in recorded {
            assert_eq!(digest(&case), case.features, "{} in {}", case.words.concat(), case.text);
        }
    }

    fn digest(case: &Recorded) -> (usize, u64) {
        let hash = |form: &str| form_hash(form.chars());
        let entry = |word: u64| {
            let found = LEXICON.iter().find(|(form, ..)| hash(form) == word);
            found.map_or(Entry::default(), |&(_, frequency, form_pos, lemma_pos)| Entry {
                frequency,
                form_pos,
                lemma_pos,
            })
        };
        let hash_of = |text: &str| full_hash(&text.chars().collect::<Vec<_>>());
        let class =
            |rest: u64| u64::from(rest == hash_of("dir")) + 2 * u64::from(rest == hash_of("li"));
        let mut characters = Characters::default();
        characters.read(case.text);
        let mut tokens = Vec::new();
        let mut start = 0;
        for word in case.text.split(' ') {
            let end = start + word.chars().count();
            tokens.push(CharSpan { start, end });
            start = end + 1;
        }
        let mut attributes = TokenAttributes::default();
        attributes.read(&characters, &tokens);
        let token = case.text.split(' ').nth(case.at).unwrap();
        let form: Vec<char> = token.chars().map(lower).collect();
        let rule = Rule::new(token, &case.words).unwrap();
        let near = NEIGHBOURS.map(|k| entry(attributes.near(case.at, k).form).form_pos);
        let whole = entry(attributes.near(case.at, 0).form);
        let context = TokenContext::new(&form, &attributes, case.at, whole, near, &entry, &class);
        let mut features = Vec::new();
        context.features(case.at as u16 + 5, &rule, &mut features);
        let bytes: Vec<u8> = features.iter().flat_map(|feature| feature.to_le_bytes()).collect();
        (features.len(), xxh3_64(&bytes))
    }

    #[test]
    fn every_template_has_its_own_number() {
        let lemmas = |lemmas: LemmaTemplates| {
            [lemmas.in_stem, lemmas.longest_in_stem, lemmas.into_rest, lemmas.always].concat()
        };
        let tables = [
            TOKEN,
            AMBIGUOUS,
            FIRST_WORD,
            REST,
            REST_BY_FORM_POS,
            REST_BY_LEMMA_POS,
            REST_SKELETON,
            REST_SKELETON_BY_FORM_POS,
            REST_SKELETON_BY_LEMMA_POS,
            CONTEXT,
            LONGEST_LEMMA,
            &lemmas(LEMMAS),
            AGREEMENT,
            CLASS,
            &lemmas(CLASS_LEMMAS),
            ANY_RULE,
        ];
        let mut numbers: Vec<u64> = tables.concat().iter().map(|(number, ..)| *number).collect();
        let count = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), count);
    }
}
