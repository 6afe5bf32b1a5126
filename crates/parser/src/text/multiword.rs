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
//! endings and by how often their first word was seen alone, ambiguous ones (French `des`) by their
//! neighbours. Cost: a look-up of the ending; if there are rules, some 25 look-ups each.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::corpus::Paragraph;
use super::facts::{self, Facts};
use super::gaps::Stretch;
use super::laps::Laps;
use super::linear::{Hash, Learner, score};
use crate::learner::Order;
use crate::{Error, Weights};

/// How a form becomes words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Rule(pub(super) Vec<Recipe>);

/// How a form becomes one word: `before`, a piece of the form, `after`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Recipe {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    before: String,
    /// The characters from the start of the piece to the end of the form; without, the form's start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<u16>,
    /// The characters from the end of the piece to the end of the form.
    to: u16,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    after: String,
}

impl Rule {
    /// The most words of a token, and the most characters of a literal piece.
    const LIMIT: usize = 32;

    /// The rule that makes these words, two or more, out of a form.
    fn new(form: &str, words: &[&str]) -> Option<Self> {
        let form = lower(form);
        let last = words.len() - 1;
        let recipe =
            |(at, word): (usize, &&str)| Recipe::new(&form, &lower(word), at == 0, at == last);
        let rule = Self(words.iter().enumerate().map(recipe).collect::<Option<_>>()?);
        rule.is_sound().then_some(rule)
    }

    /// Whether it can be applied without surprises, as those of damaged files cannot.
    pub(super) fn is_sound(&self) -> bool {
        let sound = |recipe: &Recipe| {
            let literal = [&recipe.before, &recipe.after];
            literal
                .iter()
                .all(|text| text.len() <= Self::LIMIT && !text.chars().any(|c| c.is_whitespace()))
                && recipe.from.is_none_or(|from| from >= recipe.to)
                && (recipe.from != Some(recipe.to) || literal.iter().any(|text| !text.is_empty()))
        };
        (2..=Self::LIMIT).contains(&self.0.len()) && self.0.iter().all(sound)
    }

    /// The words of a form, or `false` if the rule cannot be applied to it.
    pub(super) fn apply(&self, form: &str, words: &mut Vec<String>) -> bool {
        words.clear();
        let characters: Vec<char> = form.chars().collect();
        let letters = || characters.iter().filter(|c| c.is_alphabetic());
        let shout = letters().count() > 1 && letters().all(|c| c.is_uppercase());
        let capital = characters.first().is_some_and(|c| c.is_uppercase());
        let push = |word: &mut String, literal: &str, first: bool| match shout {
            true => word.extend(literal.chars().flat_map(char::to_uppercase)),
            false if capital && first && word.is_empty() => {
                let mut rest = literal.chars();
                word.extend(rest.next().into_iter().flat_map(char::to_uppercase));
                word.push_str(rest.as_str());
            }
            false => word.push_str(literal),
        };
        let mut made = Vec::with_capacity(self.0.len());
        for recipe in &self.0 {
            let end = characters.len().checked_sub(recipe.to.into());
            let start =
                recipe.from.map_or(Some(0), |from| characters.len().checked_sub(from.into()));
            let (Some(start), Some(end)) = (start, end) else { return false };
            let Some(piece) = characters.get(start..end) else { return false };
            let mut word = String::new();
            let first = made.is_empty();
            push(&mut word, &recipe.before, first);
            word.extend(piece);
            push(&mut word, &recipe.after, first);
            if word.is_empty() || word.contains(char::is_whitespace) {
                return false;
            }
            made.push(word);
        }
        *words = made;
        true
    }

    /// The first word of a lower-cased form before its literal ending, that ending, and what is left.
    fn stem<'a>(&'a self, form: &'a [char]) -> (&'a [char], &'a str, &'a [char]) {
        let [first, ..] = &self.0[..] else { return (&[], "", form) };
        let cut = form.len().saturating_sub(first.to.into());
        match first.from {
            None => (&form[..cut], &first.after, &form[cut..]),
            Some(_) => (&[], &first.before, form),
        }
    }

    /// How many words it makes.
    pub(super) fn words(&self) -> usize {
        self.0.len()
    }
}

impl Recipe {
    fn new(form: &[char], word: &[char], first: bool, last: bool) -> Option<Self> {
        let n = form.len();
        let number = |number: usize| u16::try_from(number).ok();
        let text = |characters: &[char]| characters.iter().collect::<String>();
        if first {
            let same = form.iter().zip(word).take_while(|(a, b)| a == b).count();
            if same > 0 {
                let after = text(&word[same..]);
                return Some(Self { to: number(n - same)?, after, ..Self::default() });
            }
        } else if last {
            let same = form.iter().rev().zip(word.iter().rev()).take_while(|(a, b)| a == b).count();
            let before = text(&word[..word.len() - same]);
            return Some(Self { before, from: Some(number(same)?), ..Self::default() });
        } else if let Some(at) = (0..n).rev().find(|&at| form[at..].starts_with(word)) {
            let (from, to) = (Some(number(n - at)?), number(n - at - word.len())?);
            return Some(Self { from, to, ..Self::default() });
        }
        Some(Self { before: text(word), from: Some(0), ..Self::default() })
    }
}

fn lower(text: &str) -> Vec<char> {
    text.chars().map(|c| c.to_lowercase().next().unwrap_or(c)).collect()
}

/// A model of multiword tokens.
#[derive(Clone, Debug)]
pub(super) struct Multiword<W> {
    pub(super) weights: W,
    /// How often forms were seen as tokens of one word, see [`Frequency`]: a Bloom filter of two hashes.
    pub(super) forms: W,
    pub(super) rules: Vec<Rule>,
    /// The rules seen with an ending, frequent ones first.
    pub(super) endings: BTreeMap<String, Vec<u16>>,
    by_hash: HashMap<u64, Vec<u16>>,
}

/// Never, once, two or three times, up to seven, more often.
type Frequency = u8;

fn frequency(count: u32) -> Frequency {
    count.checked_ilog2().map_or(0, |log| log as Frequency + 1).min(4)
}

/// The two cells of a form.
fn cells(form: u64, count: usize) -> [usize; 2] {
    [251, 252].map(|salt| Hash::of(salt).and(form).feature() as usize & (count - 1))
}

impl<W: Weights> Multiword<W> {
    /// Rules and their endings must be sound.
    pub(super) fn new(
        weights: W,
        forms: W,
        rules: Vec<Rule>,
        endings: BTreeMap<String, Vec<u16>>,
    ) -> Self {
        let hash = |ending: &str| facts::ending(&ending.chars().collect::<Vec<char>>(), 2);
        let by_hash = endings.iter().map(|(ending, rules)| (hash(ending), rules.clone())).collect();
        Self { weights, forms, rules, endings, by_hash }
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
        let mut best = (0.0, None);
        for &number in rules {
            let seen = Seen { form, facts, at, whole: self.frequency(facts.near(at, 0).form) };
            let rule = &self.rules[usize::from(number)];
            seen.features(number, rule, |stem| self.frequency(stem), features);
            let score = score(&self.weights, features);
            if score > best.0 {
                best = (score, Some(number));
            }
        }
        best.1
    }

    fn frequency(&self, form: u64) -> Frequency {
        let forms = self.forms.cells();
        if forms.is_empty() {
            return 0;
        }
        let [one, other] = cells(form, forms.len()).map(|cell| {
            let value: f32 = forms[cell].into();
            (value * self.forms.scale()).round() as Frequency
        });
        one.min(other)
    }
}

impl Multiword<Vec<f32>> {
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
        let mut model = Self::new(Vec::new(), Vec::new(), rules, endings);
        if !model.rules.is_empty() {
            let facts: Vec<Facts> = paragraphs.iter().map(Paragraph::facts).collect();
            let mut counts: HashMap<u64, u32> = HashMap::new();
            for (paragraph, facts) in facts.iter().enumerate() {
                for token in
                    (0..facts.len()).filter(|&token| !gold.contains_key(&(paragraph, token)))
                {
                    *counts.entry(facts.near(token, 0).form).or_default() += 1;
                }
            }
            let mut forms = vec![0f32; 1 << (bits + 2)];
            for (&form, &count) in &counts {
                for cell in cells(form, forms.len()) {
                    forms[cell] = forms[cell].max(frequency(count).into());
                }
            }
            model.weights =
                model.learn(paragraphs, &facts, &gold, &counts, bits, passes, seed, laps)?;
            model.forms = forms;
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
        counts: &HashMap<u64, u32>,
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
                let count = |form: u64| counts.get(&form).copied().unwrap_or(0);
                let others =
                    count(facts.near(token, 0).form).saturating_sub(right.is_none().into());
                let Stretch { start, end } = text.tokens[token];
                let form = &text.characters.lower[start..end];
                let seen = Seen { form, facts, at: token, whole: frequency(others) };
                let read = |number: u16, features: &mut Vec<u32>| {
                    let rule = &self.rules[usize::from(number)];
                    seen.features(number, rule, |stem| frequency(count(stem)), features);
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
    /// `frequency` says how often a form was seen as one word.
    fn features(
        &self,
        number: u16,
        rule: &Rule,
        frequency: impl Fn(u64) -> Frequency,
        features: &mut Vec<u32>,
    ) {
        let [before, token, next, second] = [-1, 0, 1, 2].map(|k| self.facts.near(self.at, k));
        let number = u64::from(number) + 1;
        let (stem, after, rest) = rule.stem(self.form);
        let word = facts::form(stem.iter().copied().chain(after.chars()));
        let known = u64::from(frequency(word));
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
        add(219, known, whole);
        add(220, known << 3 | whole, rest);
        add(221, rest, facts::ending(stem, 1));
        add(222, rest, facts::ending(stem, 2));
        add(223, rest, facts::ending(stem, 3));
        add(224, word, 0);
        add(225, word, rest);
    }
}
