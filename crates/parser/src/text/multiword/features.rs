//! What is seen of a token for which a rule is considered.
//!
//! A rule cuts a form into a stem and a rest. Suffixes take the vowels of the stem before them and are voiced
//! as it is (Turkish `-dır`, `-dir`, `-dur`, `-tür`), so rests and the ends of stems are seen as written and
//! as skeletons, in which these are one. Whether a form that was never seen is a noun with a copula or a
//! verb is told by the longest lemma with which it starts: `gitmeli|yim` starts with the verb `git`.

use super::super::facts::{self, Facts};
use super::super::linear::Hash;
use super::lexicon::Known;
use super::rule::Rule;

/// A token, for which rules are considered.
pub(super) struct Seen<'a, K> {
    /// Lower-cased.
    form: &'a [char],
    skeleton: Vec<char>,
    facts: &'a Facts,
    at: usize,
    /// What is known of it as one word.
    whole: Known,
    /// The longest known lemma with which it starts, of two characters at least: its length and its parts of
    /// speech; zeros without.
    lemma: (usize, u8),
    /// What is known of a word.
    known: &'a K,
}

impl<'a, K: Fn(u64) -> Known> Seen<'a, K> {
    /// Longer lemmas are not looked for: each costs its length.
    const LONGEST_LEMMA: usize = 32;

    pub(super) fn new(
        form: &'a [char],
        facts: &'a Facts,
        at: usize,
        whole: Known,
        known: &'a K,
    ) -> Self {
        let starts = (2..=form.len().min(Self::LONGEST_LEMMA)).rev();
        let lemma = starts
            .map(|length| (length, known(facts::form(form[..length].iter().copied())).as_lemma))
            .find(|(_, kinds)| *kinds != 0);
        let skeleton = form.iter().map(|&c| facts::skeleton(c)).collect();
        Self { form, skeleton, facts, at, whole, lemma: lemma.unwrap_or_default(), known }
    }

    pub(super) fn features(&self, number: u16, rule: &Rule, features: &mut Vec<u32>) {
        let [before, token, next, second] = [-1, 0, 1, 2].map(|k| self.facts.near(self.at, k));
        let number = u64::from(number) + 1;
        let (stem, after, rest) = rule.stem(self.form);
        let word = facts::form(stem.iter().copied().chain(after.chars()));
        let Known { alone, as_form, as_lemma } = (self.known)(word);
        // Without a stem, the rest is the form.
        let (stem_skeleton, rest_skeleton) = self.skeleton.split_at(self.form.len() - rest.len());
        let [rest, bones] = [rest, rest_skeleton].map(|rest| facts::ending(rest, rest.len()));
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
        let kinds = u64::from(as_form) << 8 | u64::from(as_lemma);
        add(226, kinds, 0);
        add(230, kinds, whole);
        for (t, stem, rest) in [(0, stem, rest), (20, stem_skeleton, bones)] {
            add(220 + t, u64::from(alone) << 3 | whole, rest);
            add(221 + t, rest, facts::ending(stem, 1));
            add(222 + t, rest, facts::ending(stem, 2));
            add(223 + t, rest, facts::ending(stem, 3));
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
        let (length, lemma) = self.lemma;
        if length > 0 {
            // How far the lemma reaches into the rest, or stays behind it.
            let reach = (length + 8).saturating_sub(stem.len()).clamp(4, 16) as u64;
            add(273, lemma.into(), reach);
            add(274, lemma.into(), bones ^ reach.rotate_left(40));
            let behind = &self.skeleton[length..];
            add(275, lemma.into(), facts::ending(behind, behind.len()));
        }
    }
}
