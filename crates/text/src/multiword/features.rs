//! What is seen of a token for which a rule is considered.
//!
//! A rule cuts a form into a stem and a rest. Suffixes take the vowels of the stem before them and are voiced
//! as it is (Turkish `-dır`, `-dir`, `-dur`, `-tür`), so rests and the ends of stems are seen as written and
//! as skeletons, in which these are one. Whether a form that was never seen is a noun with a copula or a
//! verb is told by the longest lemmas with which it starts, and by what is between them and the rest:
//! `gitmeli|yim` starts with the verb `git`. What was seen of few rests only is shared by all of one class
//! ([`Multiword::classes`](super::Multiword)): `-dir` and `-ydik` are copulas, and follow the same stems.

use tutte_linear::Hash;

use super::harmony::agreement;
use super::lexicon::Known;
use super::rule::Rule;
use crate::token_attributes::{self, Facts};

/// Where the neighbours of a token are of which parts of speech are seen.
pub(super) const NEAR: [isize; 4] = [-2, -1, 1, 2];

/// A token, for which rules are considered.
pub(super) struct Seen<'a, K, C> {
    /// Lower-cased.
    form: &'a [char],
    skeleton: Vec<char>,
    facts: &'a Facts,
    at: usize,
    /// What is known of it as one word.
    whole: Known,
    /// The parts of speech that the forms [around](NEAR) it may have.
    near: [u8; 4],
    /// The longest known lemmas with which it starts, of two characters at least: their lengths and parts of
    /// speech; zeros behind the last.
    lemmas: [(usize, u8); 3],
    /// What is known of a word.
    known: &'a K,
    /// The class of a rest, by the hash of its skeleton.
    class: &'a C,
}

impl<'a, K: Fn(u64) -> Known, C: Fn(u64) -> u64> Seen<'a, K, C> {
    /// Longer lemmas are not looked for: each costs its length.
    const LONGEST_LEMMA: usize = 32;

    pub(super) fn new(
        form: &'a [char],
        facts: &'a Facts,
        at: usize,
        whole: Known,
        near: [u8; 4],
        known: &'a K,
        class: &'a C,
    ) -> Self {
        let starts = (2..=form.len().min(Self::LONGEST_LEMMA)).rev();
        let kinds = |length: usize| {
            let (start, last) = (&form[..length - 1], form[length - 1]);
            let with =
                |last| known(token_attributes::form(start.iter().copied().chain([last]))).as_lemma;
            with(last) | hard(last).map_or(0, with)
        };
        let found = starts.map(|length| (length, kinds(length))).filter(|(_, kinds)| *kinds != 0);
        let mut lemmas = [(0, 0); 3];
        lemmas.iter_mut().zip(found).for_each(|(lemma, found)| *lemma = found);
        let skeleton = form.iter().map(|&c| token_attributes::skeleton(c)).collect();
        Self { form, skeleton, facts, at, whole, near, lemmas, known, class }
    }

    pub(super) fn features(&self, number: u16, rule: &Rule, features: &mut Vec<u32>) {
        let [before, token, next, second] = [-1, 0, 1, 2].map(|k| self.facts.near(self.at, k));
        let number = u64::from(number) + 1;
        let (stem, after, rest) = rule.stem(self.form);
        let word = token_attributes::form(stem.iter().copied().chain(after.chars()));
        let Known { alone, as_form, as_lemma } = (self.known)(word);
        // Without a stem, the rest is the form.
        let (stem_skeleton, rest_skeleton) = self.skeleton.split_at(self.form.len() - rest.len());
        let cut = stem_skeleton.len();
        let agreement = agreement(&self.form[..cut], &self.form[cut..]);
        let [rest, bones] = [rest, rest_skeleton].map(all);
        let whole = u64::from(self.whole.alone);
        features.clear();
        let mut add = |t: u64, a: u64, b: u64| {
            features.push(Hash::of(t).and(number).and(a).and(b).feature());
        };
        add(201, 0, 0);
        add(202, token.form, 0);
        add(203, token.ending3, 0);
        add(204, token.ending4, 0);
        add(205, token.ending5, 0);
        add(206, token.shape, token.length);
        add(207, token.form, token.shape);
        add(208, token.form, before.form);
        add(209, token.form, next.form);
        add(210, token.form, next.ending2);
        add(211, token.form, next.shape);
        add(212, token.form, before.ending2);
        add(213, token.ending3, next.form);
        add(214, token.ending3, before.form);
        add(215, token.form ^ next.form.rotate_left(7), second.form);
        add(216, token.start3, 0);
        add(217, token.ending3, token.length);
        add(218, token.shape, next.shape);
        add(219, alone.into(), whole);
        add(224, word, 0);
        add(225, word, rest);
        if self.whole.alone > 0 {
            // A word that may be several: French `des` is one in `il y a des`, two in `la fin des`.
            let [earlier, left, right, later] = self.near.map(u64::from);
            add(360, token.form, left);
            add(361, token.form, right);
            add(362, token.form, left << 8 | right);
            add(363, token.form, earlier << 8 | left);
            add(364, token.form, right << 8 | later);
            add(365, token.form, before.ending3);
            add(366, token.form, next.ending3);
            add(367, token.form ^ before.form.rotate_left(7), right);
        }
        let kinds = u64::from(as_form) << 8 | u64::from(as_lemma);
        add(226, kinds, 0);
        add(230, kinds, whole);
        for (t, stem, rest) in [(0, stem, rest), (20, stem_skeleton, bones)] {
            add(220 + t, u64::from(alone) << 3 | whole, rest);
            add(221 + t, rest, token_attributes::ending(stem, 1));
            add(222 + t, rest, token_attributes::ending(stem, 2));
            add(223 + t, rest, token_attributes::ending(stem, 3));
            add(227 + t, kinds, rest);
            add(228 + t, as_form.into(), rest);
            add(229 + t, as_lemma.into(), rest);
            for kind in 0..8 {
                if as_form >> kind & 1 == 1 {
                    add(231 + t, kind, rest);
                }
                if as_lemma >> kind & 1 == 1 {
                    add(232 + t, kind, rest);
                }
            }
        }
        add(260, bones, 0);
        add(261, bones, next.form);
        add(262, bones, next.shape);
        add(263, bones, next.first);
        add(264, bones, next.ending3);
        add(265, bones, before.form);
        add(266, bones, before.ending3);
        add(267, bones, token.shape);
        add(268, kinds, next.shape);
        let Known { as_form: whole_form, as_lemma: whole_lemma, .. } = self.whole;
        add(270, whole_form.into(), bones);
        add(271, whole_lemma.into(), bones);
        add(272, u64::from(whole_form) << 8 | u64::from(whole_lemma), kinds);
        let (length, lemma) = self.lemmas[0];
        if length > 0 {
            // How far the lemma reaches into the rest, or stays behind it.
            let reach = (length + 8).saturating_sub(stem.len()).clamp(4, 16) as u64;
            add(273, lemma.into(), reach);
            add(274, lemma.into(), bones ^ reach.rotate_left(40));
            add(275, lemma.into(), all(&self.skeleton[length..]));
        }
        // Of what part of speech the lemma may be, and what follows it up to the rest.
        let lemmas = || {
            let each = self.lemmas.iter().enumerate().filter(|(_, (length, _))| *length > 0);
            each.flat_map(|(rank, &(length, kinds))| {
                let kinds = (0..8u64).filter(move |kind| kinds >> kind & 1 == 1);
                let between = self.skeleton.get(length..cut).map(all);
                kinds.map(move |kind| (rank, length, kind, between))
            })
        };
        for (rank, length, kind, between) in lemmas() {
            match between {
                Some(between) => {
                    add(280, kind, between ^ bones.rotate_left(13));
                    add(281, kind, between);
                    if rank == 0 {
                        add(284, kind, between ^ bones.rotate_left(13));
                    }
                }
                None => add(282, kind, (length - cut) as u64),
            }
            add(283, kind, all(&self.skeleton[length..]));
        }
        let class = (self.class)(bones);
        add(290, agreement, bones);
        add(291, agreement, class);
        add(292, agreement, 0);
        add(293, agreement, kinds);
        add(294, agreement >> 4, bones);
        add(295, agreement >> 8, bones);
        // What does not depend on the length of the rest.
        let mut add = |t: u64, a: u64, b: u64| {
            features.push(Hash::of(t).and(class).and(a).and(b).feature());
        };
        add(310, 0, 0);
        add(311, kinds, 0);
        add(312, kinds, whole);
        add(313, word, 0);
        for length in 1..=5 {
            add(320 + length as u64, token_attributes::ending(stem_skeleton, length), 0);
        }
        add(326, next.form, 0);
        add(327, next.shape, 0);
        add(328, next.ending3, 0);
        add(329, before.form, 0);
        add(330, before.ending3, 0);
        add(331, token.shape, 0);
        add(332, token.shape, next.shape);
        for (rank, length, kind, between) in lemmas() {
            match between {
                Some(between) => {
                    add(340, kind, between);
                    if rank == 0 {
                        add(341, kind, between);
                    }
                }
                None => add(342, kind, (length - cut) as u64),
            }
        }
        // What does not depend on the rest at all.
        let mut add = |t: u64, a: u64, b: u64| {
            features.push(Hash::of(t).and(a).and(b).feature());
        };
        add(350, word, 0);
        add(351, kinds, 0);
        add(352, kinds, whole);
    }
}

/// A hash of characters, all of them.
fn all(characters: &[char]) -> u64 {
    token_attributes::ending(characters, characters.len())
}

/// The letter at the end of a lemma that became this one before a vowel: `kulağı` is of `kulak`.
fn hard(lower: char) -> Option<char> {
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
    use crate::characters::{Characters, lower};
    use crate::token_boundaries::Stretch;

    /// A token among others, the rule that is considered for it, and the features that models are learnt with.
    struct Recorded {
        /// Words, with a space between two.
        text: &'static str,
        /// The place of the token among them.
        at: usize,
        /// The words that the rule makes of the token.
        words: [&'static str; 2],
        /// The number of its features, and a hash of them in their order.
        features: (usize, u64),
    }

    /// Frequency, parts of speech of the form, and parts of speech of the lemma, as masks.
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

    /// Models in files rest on these numbers.
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
        let hash = |form: &str| token_attributes::form(form.chars());
        let known = |word: u64| {
            let found = LEXICON.iter().find(|(form, ..)| hash(form) == word);
            found.map_or(Known::default(), |&(_, alone, as_form, as_lemma)| Known {
                alone,
                as_form,
                as_lemma,
            })
        };
        let all = |text: &str| all(&text.chars().collect::<Vec<_>>());
        let class = |rest: u64| u64::from(rest == all("dir")) + 2 * u64::from(rest == all("li"));
        let mut characters = Characters::default();
        characters.read(case.text);
        let mut tokens = Vec::new();
        let mut start = 0;
        for word in case.text.split(' ') {
            let end = start + word.chars().count();
            tokens.push(Stretch { start, end });
            start = end + 1;
        }
        let mut facts = Facts::default();
        facts.read(&characters, &tokens);
        let token = case.text.split(' ').nth(case.at).unwrap();
        let form: Vec<char> = token.chars().map(lower).collect();
        let rule = Rule::new(token, &case.words).unwrap();
        let near = NEAR.map(|k| known(facts.near(case.at, k).form).as_form);
        let whole = known(facts.near(case.at, 0).form);
        let seen = Seen::new(&form, &facts, case.at, whole, near, &known, &class);
        let mut features = Vec::new();
        seen.features(case.at as u16 + 5, &rule, &mut features);
        let bytes: Vec<u8> = features.iter().flat_map(|feature| feature.to_le_bytes()).collect();
        (features.len(), xxh3_64(&bytes))
    }
}
