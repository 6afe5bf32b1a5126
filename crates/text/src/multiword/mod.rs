//! Multiword tokens: which tokens are several words (`don't`, French `du`), and which words.
//!
//! A [`Rule`] makes words out of a form: each is a piece of the form, counted from its end, between two
//! literal pieces. So `do|n't`, `ca|n't` and `Does|n't` are one rule, Turkish `evde|ki` is another; `du` is
//! `d`+`e` and `le`. Rules are those of the treebank's multiword tokens. Of those seen with the last two
//! characters of a form, or with such as sound like them ([`token_attributes::skeleton`]), r is the right one with
//! probability
//!
//! > p(r) = exp(w·f(form, neighbours, r)) / (1 + Σ_r' exp(w·f(form, neighbours, r'))),
//!
//! the 1 being for no rule at all; the most probable is taken. Forms that were never seen go by their
//! endings and by what is known of their first word ([`lexicon`]), ambiguous ones (French `des`) by their
//! neighbours and what is known of these ([`features`]). Learning sees the treebank in four orders, and the model is the mean: what few tokens
//! tell depends much on when they are seen. Cost: a look-up of the ending; if there are rules, some 110
//! look-ups each.

mod features;
mod harmony;
mod lexicon;
mod rule;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use tutte_linear::{BinaryLearner, Compact, KeyedMap, Order, Weights, score};

use self::features::{NEAR, Seen};
use self::lexicon::Counts;
pub(super) use self::lexicon::{Lexicon, kind};
pub(super) use self::rule::Rule;
use self::rule::lower;
use super::progress::PassCounter;
use super::token_attributes::{self, Facts};
use super::training_text::Paragraph;
use crate::Error;

/// A model of multiword tokens.
#[derive(Clone, Debug)]
pub(super) struct Multiword<W> {
    pub(super) weights: W,
    pub(super) lexicon: Lexicon<W>,
    pub(super) rules: Vec<Rule>,
    /// The rules seen with an ending, frequent ones first.
    pub(super) endings: BTreeMap<String, Vec<u16>>,
    /// The classes of rests, which are skeletons of what rules leave of a form: those whose second words have one
    /// lemma are of one class, from 1.
    pub(super) classes: BTreeMap<String, u16>,
    by_hash: HashMap<u64, Vec<u16>>,
    class_by_hash: KeyedMap<u16>,
}

impl<W: Weights> Multiword<W> {
    /// Rules and their endings must be sound.
    pub(super) fn new(
        weights: W,
        lexicon: Lexicon<W>,
        rules: Vec<Rule>,
        endings: BTreeMap<String, Vec<u16>>,
        classes: BTreeMap<String, u16>,
    ) -> Self {
        let hash = |text: &str, count| {
            token_attributes::ending(&text.chars().collect::<Vec<char>>(), count)
        };
        let by_hash =
            endings.iter().map(|(ending, rules)| (hash(ending, 2), rules.clone())).collect();
        let class_by_hash =
            classes.iter().map(|(rest, class)| (hash(rest, rest.len()), *class)).collect();
        Self { weights, lexicon, rules, endings, classes, by_hash, class_by_hash }
    }

    /// The class of a rest, by the hash of its skeleton; 0 if it was never seen.
    fn class(&self, rest: u64) -> u64 {
        self.class_by_hash.get(&rest).copied().unwrap_or(0).into()
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
        let known = |word| self.lexicon.known(word);
        let whole = known(facts.near(at, 0).form);
        let class = |rest| self.class(rest);
        let near = NEAR.map(|k| known(facts.near(at, k).form).as_form);
        let seen = Seen::new(form, facts, at, whole, near, &known, &class);
        let mut best = (0.0, None);
        for &number in rules {
            let rule = &self.rules[usize::from(number)];
            seen.features(number, rule, features);
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
        Multiword {
            weights: Compact::new(&self.weights),
            lexicon: self.lexicon.compact(),
            rules: self.rules.clone(),
            endings: self.endings.clone(),
            classes: self.classes.clone(),
            by_hash: self.by_hash.clone(),
            class_by_hash: self.class_by_hash.clone(),
        }
    }

    /// The orders in which the treebank is learnt from; each takes half the passes.
    const ORDERS: usize = 4;
    const RATE: f32 = 0.5;
    /// The rules looked at for one ending.
    const CANDIDATES: usize = 12;
    /// A table has at most 2^20 cells, and else eight for each rule of each token that is learnt from: what
    /// unseen stems go by is rare, and must not share its cells.
    const MOST_BITS: u32 = 20;

    /// The passes over the treebank in all, where other models take so many.
    pub(super) fn passes(passes: usize) -> usize {
        Self::ORDERS * passes.div_ceil(2)
    }

    /// Learns from paragraphs whose multiword tokens are known.
    pub(super) fn train(
        paragraphs: &[Paragraph<'_>],
        passes: usize,
        seed: u64,
        laps: &PassCounter<'_>,
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
                let ending = skeleton(last_two(&form));
                *counts.entry(ending).or_default().entry(rule).or_default() += 1;
                gold.insert((number, *token), rule);
            }
        }
        let frequent = |counts: BTreeMap<u16, usize>| {
            let mut rules: Vec<(u16, usize)> = counts.into_iter().collect();
            rules.sort_by_key(|&(rule, count)| (Reverse(count), rule));
            rules.truncate(Self::CANDIDATES);
            rules.into_iter().map(|(rule, _)| rule).collect()
        };
        let by_skeleton: BTreeMap<String, Vec<u16>> =
            counts.into_iter().map(|(skeleton, rules)| (skeleton, frequent(rules))).collect();
        let forms = paragraphs.iter().flat_map(Paragraph::forms);
        let endings: BTreeSet<&[char]> = forms.map(last_two).collect();
        let with_rules = |ending: &[char]| {
            let rules = by_skeleton.get(&skeleton(ending))?;
            Some((ending.iter().collect(), rules.clone()))
        };
        let endings = endings.into_iter().filter_map(with_rules).collect();
        let mut rules = vec![Rule(Vec::new()); numbers.len()];
        numbers.into_iter().for_each(|(rule, number)| rules[usize::from(number)] = rule);
        let classes = classes(paragraphs, &gold, &rules);
        let mut model = Self::new(Vec::new(), Lexicon::default(), rules, endings, classes);
        if !model.rules.is_empty() {
            let facts: Vec<Facts> = paragraphs.iter().map(Paragraph::facts).collect();
            let alone = facts.iter().enumerate().flat_map(|(paragraph, facts)| {
                let gold = &gold;
                let alone = move |token: &usize| !gold.contains_key(&(paragraph, *token));
                (0..facts.len()).filter(alone).map(|token| facts.near(token, 0).form)
            });
            let counts = Counts::new(paragraphs, alone);
            let mut order = Order::new(seed, 2);
            for _ in 0..Self::ORDERS {
                let weights =
                    model.learn(paragraphs, &facts, &gold, &counts, passes, &mut order, laps)?;
                model.weights.resize(weights.len(), 0.0);
                let share = 1.0 / Self::ORDERS as f32;
                model.weights.iter_mut().zip(weights).for_each(|(mean, w)| *mean += share * w);
            }
            model.lexicon = counts.lexicon();
        } else {
            laps.pass_over(Self::passes(passes))?;
        }
        Ok(model)
    }

    fn learn(
        &self,
        paragraphs: &[Paragraph<'_>],
        facts: &[Facts],
        gold: &HashMap<(usize, usize), u16>,
        counts: &Counts,
        passes: usize,
        order: &mut Order,
        laps: &PassCounter<'_>,
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
        let considered: usize = places.iter().filter_map(candidates).map(Vec::len).sum();
        let bits = (considered.max(1).ilog2() + 3).clamp(14, Self::MOST_BITS);
        let mut learner = BinaryLearner::new(bits, Self::RATE);
        let (mut features, mut scores) = (Vec::new(), Vec::new());
        for _ in 0..passes.div_ceil(2) {
            for place in order.shuffled(places.len()) {
                let place = places[place];
                let Some(rules) = candidates(&place) else { continue };
                let right = gold.get(&place);
                let (paragraph, token) = place;
                let (facts, text) = (&facts[paragraph], &paragraphs[paragraph]);
                // What the token itself adds is not known of other tokens.
                let own = text.words_of(token);
                let form = text.form(token);
                let known = |word| counts.known(word, own);
                let mut whole = known(facts.near(token, 0).form);
                whole.alone = counts.frequency(facts.near(token, 0).form, right.is_none().into());
                let near = NEAR.map(|k| {
                    let own = token.checked_add_signed(k).map_or(&[][..], |at| text.words_of(at));
                    counts.known(facts.near(token, k).form, own).as_form
                });
                let class = |rest| self.class(rest);
                let seen = Seen::new(form, facts, token, whole, near, &known, &class);
                let read = |number: u16, features: &mut Vec<u32>| {
                    seen.features(number, &self.rules[usize::from(number)], features);
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

/// The most frequent class of each rest, numbered by the lemmas of second words as they come.
fn classes(
    paragraphs: &[Paragraph<'_>],
    gold: &HashMap<(usize, usize), u16>,
    rules: &[Rule],
) -> BTreeMap<String, u16> {
    let mut numbers: HashMap<u64, u16> = HashMap::new();
    let mut counts: BTreeMap<String, BTreeMap<u16, usize>> = BTreeMap::new();
    for (number, paragraph) in paragraphs.iter().enumerate() {
        for &(token, ..) in &paragraph.multiword {
            let Some(&rule) = gold.get(&(number, token)) else { continue };
            let Some(second) = paragraph.words_of(token).get(1) else { continue };
            let Ok(new) = u16::try_from(numbers.len() + 1) else { continue };
            let class = *numbers.entry(second.lemma).or_insert(new);
            let (_, _, rest) = rules[usize::from(rule)].stem(paragraph.form(token));
            *counts.entry(skeleton(rest)).or_default().entry(class).or_default() += 1;
        }
    }
    let most = |counts: BTreeMap<u16, usize>| {
        counts
            .into_iter()
            .max_by_key(|&(class, count)| (count, Reverse(class)))
            .map(|(class, _)| class)
    };
    counts.into_iter().filter_map(|(rest, counts)| Some((rest, most(counts)?))).collect()
}

/// The last two characters of a form, by which it finds its rules.
fn last_two(form: &[char]) -> &[char] {
    &form[form.len().saturating_sub(2)..]
}

/// What is left of characters in all their variants.
fn skeleton(characters: &[char]) -> String {
    characters.iter().map(|&c| token_attributes::skeleton(c)).collect()
}

#[cfg(test)]
mod tests {
    use tutte_treebank::Sentence;

    use super::*;
    use crate::progress::unobserved;

    /// A sentence of words with their parts of speech; `ev+dir` is a multiword token, with a copula unless it
    /// ends in `li`.
    fn sentence(tokens: &str) -> Sentence {
        let line = |id: String, form: &str, upos: &str| {
            let lemma = if upos == "AUX" && form != "li" { "i" } else { form };
            format!("{id}\t{form}\t{lemma}\t{upos}\t_\t_\t_\t_\t_\t_\n")
        };
        let (mut lines, mut id) = (String::new(), 1);
        for token in tokens.split(' ') {
            let (words, upos) = token.split_once('/').unwrap_or((token, "_"));
            let words: Vec<&str> = words.split('+').collect();
            if words.len() > 1 {
                lines += &line(format!("{id}-{}", id + words.len() - 1), &words.concat(), "_");
            }
            for (number, word) in words.into_iter().enumerate() {
                lines += &line(id.to_string(), word, if number == 0 { upos } else { "AUX" });
                id += 1;
            }
        }
        lines.parse().unwrap()
    }

    /// `-dür` was never seen as a word; it sounds like `-dir`, `-dır` and `-dur`.
    #[test]
    fn suffixes_are_known_whatever_their_vowels() {
        let treebank: Vec<Sentence> = [
            "ev/NOUN göl/NOUN kız/NOUN yol/NOUN ömür/NOUN indir/VERB kaldır/VERB güldür/VERB",
            "o/PRON ev+dir/NOUN",
            "o/PRON kız+dır/NOUN",
            "o/PRON yol+dur/NOUN",
        ]
        .iter()
        .cycle()
        .take(24)
        .map(|tokens| sentence(tokens))
        .collect();
        let laps = PassCounter::new(8, &unobserved);
        let paragraphs = Paragraph::of(&treebank);
        let model = Multiword::train(&paragraphs, 8, 1, &laps).unwrap();
        let words = |form: &str| {
            let sentences = [sentence(&format!("o {form}"))];
            let paragraph = &Paragraph::of(&sentences)[0];
            let rule = model.rule(paragraph.form(1), &paragraph.facts(), 1, &mut Vec::new());
            let mut words = Vec::new();
            rule.map(|rule| model.rules[usize::from(rule)].apply(form, &mut words));
            words
        };
        assert_eq!(words("göldür"), ["göl", "dür"]);
        assert_eq!(words("yoldur"), ["yol", "dur"]);
        assert!(words("güldür").is_empty(), "it was seen as one word");
        assert!(words("gölde").is_empty(), "no multiword token ends like this");
    }

    /// Neither `rue` nor `prends` was ever seen before `des`; what they are was.
    #[test]
    fn ambiguous_tokens_go_by_what_their_neighbours_may_be() {
        let treebank: Vec<Sentence> = [
            "vois/VERB des/DET chats/NOUN",
            "vends/VERB des/DET oies/NOUN",
            "fin/NOUN de+s/ADP chats/NOUN",
            "voix/NOUN de+s/ADP oies/NOUN",
            "prends/VERB rue/NOUN",
        ]
        .iter()
        .cycle()
        .take(40)
        .map(|tokens| sentence(tokens))
        .collect();
        let laps = PassCounter::new(8, &unobserved);
        let model = Multiword::train(&Paragraph::of(&treebank), 8, 1, &laps).unwrap();
        let is_split = |tokens: &str| {
            let sentences = [sentence(tokens)];
            let paragraph = &Paragraph::of(&sentences)[0];
            model.rule(paragraph.form(1), &paragraph.facts(), 1, &mut Vec::new()).is_some()
        };
        assert!(is_split("rue des oies"));
        assert!(!is_split("prends des oies"));
    }

    /// `-ydik` was seen behind `evde` only; it is a copula as `-dir`, which was seen behind nouns.
    #[test]
    fn rests_of_one_lemma_are_of_one_class() {
        let treebank = ["o/PRON ev+dir/NOUN", "kız+dır/NOUN", "ev+li/NOUN yol", "evde+ydik/NOUN"]
            .map(sentence);
        let paragraphs = Paragraph::of(&treebank);
        let laps = PassCounter::new(8, &unobserved);
        let model = Multiword::train(&paragraphs, 2, 1, &laps).unwrap();
        let classes = [("dir", 1), ("li", 2), ("ydig", 1)];
        assert_eq!(model.classes, classes.map(|(rest, class)| (rest.to_owned(), class)).into());
        let class = |rest: &str| {
            model.class(token_attributes::ending(&rest.chars().collect::<Vec<_>>(), 4))
        };
        assert_eq!(["dir", "li", "ydig", "da"].map(class), [1, 2, 1, 0]);
    }
}
