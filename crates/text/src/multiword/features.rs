//! Features of a token and a rule that is considered for it, as tables of templates.
//!
//! A rule divides a form into a stem and a rest. Suffixes follow the vowels and the voicing of the stem (Turkish
//! `-dır`, `-dir`, `-dur`, `-tür`). So rests and the ends of stems are seen as written and as [skeletons](skeleton),
//! which do not have these differences. An unknown form may be a noun with a copula or a verb. The longest lemmas
//! with which it starts tell them apart, with what stands between lemma and rest: `gitmeli|yim` starts with the verb
//! `git`. Rare rests share weights with all rests of their class
//! ([`Multiword::classes`](super::Multiword)): `-dir` and `-ydik` are copulas, and follow the same stems.
//!
//! A feature is the hash of the number of its [template](crate::feature_tables), of the rule or the class that it is for,
//! and of the values of up to two [attributes](Values).

use tutte_linear::Hash;

use super::harmony::agreement;
use super::lexicon::{Entry, PosSet, each_pos};
use super::rule::{DividedForm, Rule};
use crate::characters::skeleton;
use crate::feature_tables::{Table, tables};
use crate::token_attributes::{Attributes, TokenAttributes, ending_hash, form_hash};

/// Offsets of the neighbours whose parts of speech are looked up.
pub(super) const NEIGHBOURS: [isize; 4] = [-2, -1, 1, 2];

/// Values of the attributes that templates name.
#[derive(Clone, Copy, Debug, Default)]
struct Values {
    /// The token and its neighbours.
    token: Attributes,
    previous: Attributes,
    next: Attributes,
    second: Attributes,
    form_and_previous: u64,
    form_and_next: u64,
    /// Parts of speech of the neighbours at −2 (earlier), −1 (left), 1 (right) and 2 (later).
    near: NeighbourValues,
    /// The token as one word.
    whole: WordValues,
    /// The first word that the rule makes.
    first: WordValues,
    /// Frequencies of the first word and of the token.
    frequencies: u64,
    /// One of the parts of speech of the first word.
    each_pos: u64,
    /// Last characters of the stem.
    stem: StemValues,
    rest: RestValues,
    /// Agreement of stem and rest, see [`agreement`].
    agreement: AgreementValues,
    /// The longest lemma with which the form starts.
    longest: LongestLemmaValues,
    /// Each lemma with which the form starts, and one of its parts of speech.
    lemma: LemmaValues,
}

#[derive(Clone, Copy, Debug, Default)]
struct NeighbourValues {
    left_pos: u64,
    right_pos: u64,
    both_pos: u64,
    two_left_pos: u64,
    two_right_pos: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct WordValues {
    form: u64,
    frequency: u64,
    /// Parts of speech as a form.
    form_pos: u64,
    /// Parts of speech as a lemma.
    lemma_pos: u64,
    /// Both.
    pos: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct StemValues {
    ending1: u64,
    ending2: u64,
    ending3: u64,
    skeleton1: u64,
    skeleton2: u64,
    skeleton3: u64,
    skeleton4: u64,
    skeleton5: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct RestValues {
    form: u64,
    skeleton: u64,
    class: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct AgreementValues {
    full: u64,
    voicing_and_harmony: u64,
    harmony: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct LongestLemmaValues {
    pos: u64,
    /// Skeleton of the form after the lemma.
    after: u64,
    /// Number of characters from the end of the stem to the end of the lemma, plus 8; from 4 to 16.
    reach: u64,
    reach_and_rest: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct LemmaValues {
    pos: u64,
    /// Skeleton of the form after the lemma.
    after: u64,
    /// Skeleton between the lemma and the rest.
    between: u64,
    between_and_rest: u64,
    /// Number of characters of the rest that belong to the lemma.
    overlap: u64,
}

impl WordValues {
    fn new(form: u64, entry: Entry) -> Self {
        let form_pos = u64::from(entry.form_pos);
        let lemma_pos = u64::from(entry.lemma_pos);
        let pos = form_pos << 8 | lemma_pos;
        Self { form, frequency: entry.frequency.into(), form_pos, lemma_pos, pos }
    }
}

tables! {
    up to 2 attributes of Values;

    /// The token as a whole, its neighbours and its first word.
    Token {
        201;
        202 token.form;
        203 token.ending3;
        204 token.ending4;
        205 token.ending5;
        206 token.shape token.length;
        207 token.form token.shape;
        208 token.form previous.form;
        209 token.form next.form;
        210 token.form next.ending2;
        211 token.form next.shape;
        212 token.form previous.ending2;
        213 token.ending3 next.form;
        214 token.ending3 previous.form;
        215 form_and_next second.form;
        216 token.start3;
        217 token.ending3 token.length;
        218 token.shape next.shape;
        219 first.frequency whole.frequency;
        224 first.form;
        225 first.form rest.form;
    }

    /// Only for tokens that are also single words. French `des` is one word in `il y a des`, two in `la fin des`.
    Ambiguous {
        360 token.form near.left_pos;
        361 token.form near.right_pos;
        362 token.form near.both_pos;
        363 token.form near.two_left_pos;
        364 token.form near.two_right_pos;
        365 token.form previous.ending3;
        366 token.form next.ending3;
        367 form_and_previous near.right_pos;
    }

    FirstWord {
        226 first.pos;
        230 first.pos whole.frequency;
    }

    /// The rest as written.
    Rest {
        220 frequencies rest.form;
        221 rest.form stem.ending1;
        222 rest.form stem.ending2;
        223 rest.form stem.ending3;
        227 first.pos rest.form;
        228 first.form_pos rest.form;
        229 first.lemma_pos rest.form;
    }

    /// For each part of speech of the first word as a form.
    RestByFormPos {
        231 each_pos rest.form;
    }

    /// For each part of speech of the first word as a lemma.
    RestByLemmaPos {
        232 each_pos rest.form;
    }

    /// As [`Rest`], for the skeleton of the rest.
    RestSkeleton {
        240 frequencies rest.skeleton;
        241 rest.skeleton stem.skeleton1;
        242 rest.skeleton stem.skeleton2;
        243 rest.skeleton stem.skeleton3;
        247 first.pos rest.skeleton;
        248 first.form_pos rest.skeleton;
        249 first.lemma_pos rest.skeleton;
    }

    RestSkeletonByFormPos {
        251 each_pos rest.skeleton;
    }

    RestSkeletonByLemmaPos {
        252 each_pos rest.skeleton;
    }

    /// The skeleton of the rest in its context.
    Context {
        260 rest.skeleton;
        261 rest.skeleton next.form;
        262 rest.skeleton next.shape;
        263 rest.skeleton next.first;
        264 rest.skeleton next.ending3;
        265 rest.skeleton previous.form;
        266 rest.skeleton previous.ending3;
        267 rest.skeleton token.shape;
        268 first.pos next.shape;
        270 whole.form_pos rest.skeleton;
        271 whole.lemma_pos rest.skeleton;
        272 whole.pos first.pos;
    }

    /// Only if the form starts with a lemma.
    LongestLemma {
        273 longest.pos longest.reach;
        274 longest.pos longest.reach_and_rest;
        275 longest.pos longest.after;
    }

    /// For each lemma that ends before the rest.
    LemmaInStem {
        280 lemma.pos lemma.between_and_rest;
        281 lemma.pos lemma.between;
    }

    /// For the longest lemma, if it ends before the rest.
    LongestLemmaInStem {
        284 lemma.pos lemma.between_and_rest;
    }

    /// For each lemma that reaches into the rest.
    LemmaIntoRest {
        282 lemma.pos lemma.overlap;
    }

    /// For each lemma.
    AnyLemma {
        283 lemma.pos lemma.after;
    }

    Agreement {
        290 agreement.full rest.skeleton;
        291 agreement.full rest.class;
        292 agreement.full;
        293 agreement.full first.pos;
        294 agreement.voicing_and_harmony rest.skeleton;
        295 agreement.harmony rest.skeleton;
    }

    /// Hashed with the class of the rest in place of the rule: these do not depend on the length of the rest.
    Class {
        310;
        311 first.pos;
        312 first.pos whole.frequency;
        313 first.form;
        321 stem.skeleton1;
        322 stem.skeleton2;
        323 stem.skeleton3;
        324 stem.skeleton4;
        325 stem.skeleton5;
        326 next.form;
        327 next.shape;
        328 next.ending3;
        329 previous.form;
        330 previous.ending3;
        331 token.shape;
        332 token.shape next.shape;
    }

    ClassLemmaInStem {
        340 lemma.pos lemma.between;
    }

    ClassLongestLemmaInStem {
        341 lemma.pos lemma.between;
    }

    ClassLemmaIntoRest {
        342 lemma.pos lemma.overlap;
    }

    /// Hashed with neither rule nor class: these do not depend on the rest at all.
    AnyRule {
        350 first.form;
        351 first.pos;
        352 first.pos whole.frequency;
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
    const MAX_LEMMA: usize = 32;

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
        let values = Values {
            token,
            previous,
            next,
            second,
            form_and_previous: token.form ^ previous.form.rotate_left(7),
            form_and_next: token.form ^ next.form.rotate_left(7),
            near: NeighbourValues {
                left_pos: left,
                right_pos: right,
                both_pos: left << 8 | right,
                two_left_pos: earlier << 8 | left,
                two_right_pos: right << 8 | later,
            },
            whole: WordValues::new(token.form, whole),
            longest: LongestLemmaValues {
                pos: lemmas[0].pos.into(),
                after: lemmas[0].after,
                ..LongestLemmaValues::default()
            },
            ..Values::default()
        };
        Self { form, skeleton, values, lemmas, entry, class }
    }

    fn lemma_prefixes(form: &[char], skeleton: &[char], entry: &E) -> [LemmaPrefix; 3] {
        let pos = |length: usize| {
            let start = &form[..length - 1];
            let last = form[length - 1];
            let ending_in = |last| entry(form_hash(start.iter().copied().chain([last]))).lemma_pos;
            ending_in(last) | devoiced(last).map_or(0, ending_in)
        };
        let lengths = (2..=form.len().min(Self::MAX_LEMMA)).rev();
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
        values.first = WordValues::new(first_word, first);
        values.frequencies = values.first.frequency << 3 | values.whole.frequency;
        values.stem = StemValues {
            ending1: ending_hash(stem, 1),
            ending2: ending_hash(stem, 2),
            ending3: ending_hash(stem, 3),
            skeleton1: ending_hash(stem_skeleton, 1),
            skeleton2: ending_hash(stem_skeleton, 2),
            skeleton3: ending_hash(stem_skeleton, 3),
            skeleton4: ending_hash(stem_skeleton, 4),
            skeleton5: ending_hash(stem_skeleton, 5),
        };
        values.rest = RestValues { form: full_hash(rest), skeleton: rest_hash, class };
        values.agreement = AgreementValues {
            full: agreement,
            voicing_and_harmony: agreement >> 4,
            harmony: agreement >> 8,
        };

        features.clear();
        let number = u64::from(number) + 1;
        let with_rule = |template| Hash::of(template).and(number);
        Token::add(&values, with_rule, features);
        if values.whole.frequency > 0 {
            Ambiguous::add(&values, with_rule, features);
        }
        FirstWord::add(&values, with_rule, features);
        Rest::add(&values, with_rule, features);
        for pos in 0..8 {
            values.each_pos = pos;
            if has_pos(first.form_pos, pos) {
                RestByFormPos::add(&values, with_rule, features);
            }
            if has_pos(first.lemma_pos, pos) {
                RestByLemmaPos::add(&values, with_rule, features);
            }
        }
        RestSkeleton::add(&values, with_rule, features);
        for pos in 0..8 {
            values.each_pos = pos;
            if has_pos(first.form_pos, pos) {
                RestSkeletonByFormPos::add(&values, with_rule, features);
            }
            if has_pos(first.lemma_pos, pos) {
                RestSkeletonByLemmaPos::add(&values, with_rule, features);
            }
        }
        Context::add(&values, with_rule, features);
        let longest = self.lemmas[0].length;
        if longest > 0 {
            let reach = (longest + 8).saturating_sub(stem.len()).clamp(4, 16) as u64;
            values.longest.reach = reach;
            values.longest.reach_and_rest = rest_hash ^ reach.rotate_left(40);
            LongestLemma::add(&values, with_rule, features);
        }
        self.each_lemma(cut, &mut values, |values, is_in_stem, is_longest| {
            if is_in_stem {
                LemmaInStem::add(values, with_rule, features);
                if is_longest {
                    LongestLemmaInStem::add(values, with_rule, features);
                }
            } else {
                LemmaIntoRest::add(values, with_rule, features);
            }
            AnyLemma::add(values, with_rule, features);
        });
        Agreement::add(&values, with_rule, features);

        let with_class = |template| Hash::of(template).and(class);
        Class::add(&values, with_class, features);
        self.each_lemma(cut, &mut values, |values, is_in_stem, is_longest| {
            if is_in_stem {
                ClassLemmaInStem::add(values, with_class, features);
                if is_longest {
                    ClassLongestLemmaInStem::add(values, with_class, features);
                }
            } else {
                ClassLemmaIntoRest::add(values, with_class, features);
            }
        });

        AnyRule::add(&values, Hash::of, features);
    }

    /// Calls `add` with the values of each part of speech of each lemma with which the form starts. The flags are
    /// `true` for a lemma that ends before the rest, which starts at `cut`, and for the longest lemma.
    fn each_lemma(
        &self,
        cut: usize,
        values: &mut Values,
        mut add: impl FnMut(&Values, bool, bool),
    ) {
        for (rank, lemma) in self.lemmas.iter().enumerate().filter(|(_, lemma)| lemma.length > 0) {
            let between = self.skeleton.get(lemma.length..cut).map(full_hash);
            let hash = between.unwrap_or_default();
            values.lemma = LemmaValues {
                after: lemma.after,
                between: hash,
                between_and_rest: hash ^ values.rest.skeleton.rotate_left(13),
                overlap: lemma.length.saturating_sub(cut) as u64,
                pos: 0,
            };
            for pos in each_pos(lemma.pos) {
                values.lemma.pos = pos;
                add(values, between.is_some(), rank == 0);
            }
        }
    }
}

/// Returns `true` if a set has a part of speech.
fn has_pos(set: PosSet, pos: u64) -> bool {
    set >> pos & 1 == 1
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
    use super::*;
    use crate::characters::lower;
    use crate::feature_tables::{are_distinct, digest};

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
            assert_eq!(
                digest(&features(&case)),
                case.features,
                "{} in {}",
                case.words.concat(),
                case.text
            );
        }
    }

    fn features(case: &Recorded) -> Vec<u32> {
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
        let attributes = TokenAttributes::of_spaced_tokens(case.text);
        let token = case.text.split(' ').nth(case.at).unwrap();
        let form: Vec<char> = token.chars().map(lower).collect();
        let rule = Rule::new(token, &case.words).unwrap();
        let near = NEIGHBOURS.map(|k| entry(attributes.near(case.at, k).form).form_pos);
        let whole = entry(attributes.near(case.at, 0).form);
        let context = TokenContext::new(&form, &attributes, case.at, whole, near, &entry, &class);
        let mut features = Vec::new();
        context.features(case.at as u16 + 5, &rule, &mut features);
        features
    }

    #[test]
    fn every_template_has_its_own_number() {
        let tables = [
            Token::NUMBERS,
            Ambiguous::NUMBERS,
            FirstWord::NUMBERS,
            Rest::NUMBERS,
            RestByFormPos::NUMBERS,
            RestByLemmaPos::NUMBERS,
            RestSkeleton::NUMBERS,
            RestSkeletonByFormPos::NUMBERS,
            RestSkeletonByLemmaPos::NUMBERS,
            Context::NUMBERS,
            LongestLemma::NUMBERS,
            LemmaInStem::NUMBERS,
            LongestLemmaInStem::NUMBERS,
            LemmaIntoRest::NUMBERS,
            AnyLemma::NUMBERS,
            Agreement::NUMBERS,
            Class::NUMBERS,
            ClassLemmaInStem::NUMBERS,
            ClassLongestLemmaInStem::NUMBERS,
            ClassLemmaIntoRest::NUMBERS,
            AnyRule::NUMBERS,
        ];
        assert!(are_distinct(&tables));
    }
}
