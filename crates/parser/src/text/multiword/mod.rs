//! Multiword tokens: which tokens are several words (`don't`, French `du`), and which words.
//!
//! A [`Rule`] makes words out of a form: each is a piece of the form, counted from its end, between two
//! literal pieces. So `do|n't`, `ca|n't` and `Does|n't` are one rule, Turkish `evde|ki` is another; `du` is
//! `d`+`e` and `le`. Rules are those of the treebank's multiword tokens. Of those seen with the last two
//! characters of a form, r is the right one with probability
//!
//! > p(r) = exp(w·f(form, neighbours, r)) / (1 + Σ_r' exp(w·f(form, neighbours, r'))),
//!
//! the 1 being for no rule at all; the most probable is taken. Forms that were never seen go by their
//! endings and by what is known of their first word ([`lexicon`]), ambiguous ones (French `des`) by their
//! neighbours. Cost: a look-up of the ending; if there are rules, some 35 look-ups each.

mod lexicon;
mod rule;

use std::collections::{BTreeMap, HashMap};

use self::lexicon::{Counts, Frequency, Known};
pub(super) use self::lexicon::{Lexicon, kind};
pub(super) use self::rule::Rule;
use self::rule::lower;
use super::corpus::Paragraph;
use super::facts::{self, Facts};
use super::gaps::Stretch;
use super::laps::Laps;
use super::linear::{Hash, Learner, score};
use crate::learner::Order;
use crate::{Compact, Error, Weights};

/// A model of multiword tokens.
#[derive(Clone, Debug)]
pub(super) struct Multiword<W> {
    pub(super) weights: W,
    pub(super) lexicon: Lexicon<W>,
    pub(super) rules: Vec<Rule>,
    /// The rules seen with an ending, frequent ones first.
    pub(super) endings: BTreeMap<String, Vec<u16>>,
    by_hash: HashMap<u64, Vec<u16>>,
}

impl<W: Weights> Multiword<W> {
    /// Rules and their endings must be sound.
    pub(super) fn new(
        weights: W,
        lexicon: Lexicon<W>,
        rules: Vec<Rule>,
        endings: BTreeMap<String, Vec<u16>>,
    ) -> Self {
        let hash = |ending: &str| facts::ending(&ending.chars().collect::<Vec<char>>(), 2);
        let by_hash = endings.iter().map(|(ending, rules)| (hash(ending), rules.clone())).collect();
        Self { weights, lexicon, rules, endings, by_hash }
    }

    /// The rule for a token, if it is a multiword token. `form` is lower-cased.
    pub(super) fn rule(
        &self,
        form: &[char],
        facts: &Facts,
        at: usize,
        features: &mut Vec<u32>,
    ) -> Option<u16> {
        let rules = self.by_hash.get(&facts.near(at, 0).ending2)?;
        let whole = self.lexicon.frequency(facts.near(at, 0).form);
        let seen = Seen { form, facts, at, whole };
        let mut best = (0.0, None);
        for &number in rules {
            let rule = &self.rules[usize::from(number)];
            seen.features(number, rule, |word| self.lexicon.known(word), features);
            let score = score(&self.weights, features);
            if score > best.0 {
                best = (score, Some(number));
            }
        }
        best.1
    }
}

impl Multiword<Vec<f32>> {
    pub(super) fn compact(&self) -> Multiword<Compact> {
        let (rules, endings) = (self.rules.clone(), self.endings.clone());
        Multiword::new(Compact::new(&self.weights), self.lexicon.compact(), rules, endings)
    }

    const RATE: f32 = 1.0;
    /// The rules looked at for one ending.
    const CANDIDATES: usize = 12;

    /// Learns from paragraphs whose multiword tokens are known.
    pub(super) fn train(
        paragraphs: &[Paragraph<'_>],
        bits: u32,
        passes: usize,
        seed: u64,
        laps: &Laps<'_>,
    ) -> Result<Self, Error> {
        let mut numbers: BTreeMap<Rule, u16> = BTreeMap::new();
        let mut counts: BTreeMap<String, BTreeMap<u16, usize>> = BTreeMap::new();
        // The rule of each multiword token.
        let mut gold: HashMap<(usize, usize), u16> = HashMap::new();
        for (number, paragraph) in paragraphs.iter().enumerate() {
            for (token, form, words) in &paragraph.multiword {
                let Some(rule) = Rule::new(form, words) else { continue };
                let Ok(new) = u16::try_from(numbers.len()) else { break };
                let rule = *numbers.entry(rule).or_insert(new);
                let form = lower(form);
                let ending = form[form.len().saturating_sub(2)..].iter().collect();
                *counts.entry(ending).or_default().entry(rule).or_default() += 1;
                gold.insert((number, *token), rule);
            }
        }
        let frequent = |counts: BTreeMap<u16, usize>| {
            let mut rules: Vec<(u16, usize)> = counts.into_iter().collect();
            rules.sort_by_key(|&(rule, count)| (std::cmp::Reverse(count), rule));
            rules.truncate(Self::CANDIDATES);
            rules.into_iter().map(|(rule, _)| rule).collect()
        };
        let endings = counts.into_iter().map(|(ending, rules)| (ending, frequent(rules))).collect();
        let mut rules = vec![Rule(Vec::new()); numbers.len()];
        numbers.into_iter().for_each(|(rule, number)| rules[usize::from(number)] = rule);
        let mut model = Self::new(Vec::new(), Lexicon::default(), rules, endings);
        if !model.rules.is_empty() {
            let facts: Vec<Facts> = paragraphs.iter().map(Paragraph::facts).collect();
            let alone = facts.iter().enumerate().flat_map(|(paragraph, facts)| {
                let gold = &gold;
                let alone = move |token: &usize| !gold.contains_key(&(paragraph, *token));
                (0..facts.len()).filter(alone).map(|token| facts.near(token, 0).form)
            });
            let counts = Counts::new(paragraphs, alone);
            model.weights =
                model.learn(paragraphs, &facts, &gold, &counts, bits, passes, seed, laps)?;
            model.lexicon = counts.lexicon(bits);
        } else {
            laps.pass_over(passes)?;
        }
        Ok(model)
    }

    fn learn(
        &self,
        paragraphs: &[Paragraph<'_>],
        facts: &[Facts],
        gold: &HashMap<(usize, usize), u16>,
        counts: &Counts,
        bits: u32,
        passes: usize,
        seed: u64,
        laps: &Laps<'_>,
    ) -> Result<Vec<f32>, Error> {
        let candidates = |&(paragraph, token): &(usize, usize)| {
            self.by_hash.get(&facts[paragraph].near(token, 0).ending2)
        };
        let tokens = |(paragraph, facts): (usize, &Facts)| {
            (0..facts.len()).map(move |token| (paragraph, token))
        };
        let places: Vec<(usize, usize)> = facts
            .iter()
            .enumerate()
            .flat_map(tokens)
            .filter(|place| candidates(place).is_some())
            .collect();
        let mut learner = Learner::new(bits, Self::RATE);
        let mut order = Order::new(seed, 2);
        let (mut features, mut scores) = (Vec::new(), Vec::new());
        for _ in 0..passes {
            for place in order.shuffled(places.len()) {
                let place = places[place];
                let Some(rules) = candidates(&place) else { continue };
                let right = gold.get(&place);
                let (paragraph, token) = place;
                let (facts, text) = (&facts[paragraph], &paragraphs[paragraph]);
                // What the token itself adds is not known of other tokens.
                let own = text.words_of(token);
                let whole = counts.frequency(facts.near(token, 0).form, right.is_none().into());
                let Stretch { start, end } = text.tokens[token];
                let form = &text.characters.lower[start..end];
                let seen = Seen { form, facts, at: token, whole };
                let read = |number: u16, features: &mut Vec<u32>| {
                    let rule = &self.rules[usize::from(number)];
                    seen.features(number, rule, |word| counts.known(word, own), features);
                };
                scores.clear();
                for &rule in rules {
                    read(rule, &mut features);
                    scores.push(learner.score(&features));
                }
                let largest = scores.iter().fold(0f32, |largest, &score| largest.max(score));
                let all =
                    (-largest).exp() + scores.iter().map(|x| (x - largest).exp()).sum::<f32>();
                learner.tick();
                for (&rule, score) in rules.iter().zip(&scores) {
                    let wanted = if right == Some(&rule) { 1.0 } else { 0.0 };
                    let gradient = (score - largest).exp() / all - wanted;
                    if gradient.abs() > 1e-3 {
                        read(rule, &mut features);
                        learner.update(&features, gradient);
                    }
                }
            }
            laps.lap()?;
        }
        Ok(learner.averaged())
    }
}

/// A token, for which rules are considered.
struct Seen<'a> {
    /// Lower-cased.
    form: &'a [char],
    facts: &'a Facts,
    at: usize,
    /// How often it was seen as one word.
    whole: Frequency,
}

impl Seen<'_> {
    /// `known` says what is known of a word.
    fn features(
        &self,
        number: u16,
        rule: &Rule,
        known: impl Fn(u64) -> Known,
        features: &mut Vec<u32>,
    ) {
        let [before, token, next, second] = [-1, 0, 1, 2].map(|k| self.facts.near(self.at, k));
        let number = u64::from(number) + 1;
        let (stem, after, rest) = rule.stem(self.form);
        let word = facts::form(stem.iter().copied().chain(after.chars()));
        let Known { alone, as_form, as_lemma } = known(word);
        let rest = facts::ending(rest, rest.len());
        let whole = u64::from(self.whole);
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
        add(220, u64::from(alone) << 3 | whole, rest);
        add(221, rest, facts::ending(stem, 1));
        add(222, rest, facts::ending(stem, 2));
        add(223, rest, facts::ending(stem, 3));
        add(224, word, 0);
        add(225, word, rest);
        let kinds = u64::from(as_form) << 8 | u64::from(as_lemma);
        add(226, kinds, 0);
        add(227, kinds, rest);
        add(228, as_form.into(), rest);
        add(229, as_lemma.into(), rest);
        add(230, kinds, whole);
        for kind in 0..8 {
            if as_form >> kind & 1 == 1 {
                add(231, kind, rest);
            }
            if as_lemma >> kind & 1 == 1 {
                add(232, kind, rest);
            }
        }
    }
}
