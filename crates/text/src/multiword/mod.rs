//! Multiword tokens: finds tokens that are several words (`don't`, French `du`), and makes their words.
//!
//! A [`Rule`] makes words out of a form: each is a piece of the form, counted from its end, between two literal pieces.
//! So `do|n't`, `ca|n't` and `Does|n't` are one rule, Turkish `evde|ki` is another; `du` is `d`+`e` and `le`. The rules
//! are those of the treebank's multiword tokens. The candidates for a form are the rules that were seen with its last
//! two characters, or with characters of the same [`skeleton`]. A candidate r has the probability
//!
//! > p(r) = exp(w·f(form, neighbours, r)) / (1 + Σ_r' exp(w·f(form, neighbours, r'))),
//!
//! where the 1 stands for no rule at all. The most probable candidate is taken. Unknown forms are decided
//! by their endings and by the entry of their first word in the [`lexicon`], ambiguous ones (French `des`) by their
//! neighbours ([`features`]).
//!
//! The model is the mean over four orders of the treebank, since the weights of rare features depend much on the order.
//! Cost: a look-up of the ending, and some 110 look-ups for each candidate.

mod features;
mod harmony;
mod lexicon;
mod rule;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use tutte_linear::{BinaryLearner, Compact, KeyedMap, Order, Weights, score};

use self::features::{NEIGHBOURS, TokenContext};
use self::lexicon::Counts;
pub(crate) use self::lexicon::Lexicon;
pub(crate) use self::rule::Rule;
use self::rule::lower;
use crate::Error;
use crate::characters::skeleton;
use crate::listed_tokens::{ListedMultiword, ListedTokens};
use crate::progress::PassCounter;
use crate::token_attributes::{TokenAttributes, ending_hash, form_hash};
use crate::training_text::{GoldMultiword, GoldParagraph};

/// A model of multiword tokens.
#[derive(Clone, Debug)]
pub(crate) struct Multiword<W> {
    pub(crate) weights: W,
    pub(crate) lexicon: Lexicon<W>,
    pub(crate) rules: Vec<Rule>,
    /// Indices of the rules seen with each ending, frequent ones first.
    pub(crate) endings: BTreeMap<String, Vec<u16>>,
    /// Class of each rest, from 1. A rest is the skeleton of what follows the first word in a form. Rests whose second
    /// words have the same lemma are in the same class.
    pub(crate) classes: BTreeMap<String, u16>,
    /// Indices of the rules of forms that are always multiword tokens, in lower case: those of
    /// [lists](crate::listed_tokens).
    pub(crate) listed: BTreeMap<String, u16>,
    /// [`endings`](Self::endings), by the hash of the ending.
    rules_by_hash: HashMap<u64, Vec<u16>>,
    /// [`classes`](Self::classes), by the hash of the rest.
    class_by_hash: KeyedMap<u16>,
    /// [`listed`](Self::listed), by the hash of the form.
    listed_by_hash: KeyedMap<u16>,
}

impl<W: Weights> Multiword<W> {
    /// Creates a model. Rules must be [sound](Rule::is_sound), and endings and forms may only have rules that exist.
    pub(crate) fn new(
        weights: W,
        lexicon: Lexicon<W>,
        rules: Vec<Rule>,
        endings: BTreeMap<String, Vec<u16>>,
        classes: BTreeMap<String, u16>,
        listed: BTreeMap<String, u16>,
    ) -> Self {
        let hash = |text: &str, count| ending_hash(&text.chars().collect::<Vec<char>>(), count);
        let rules_by_hash =
            endings.iter().map(|(ending, rules)| (hash(ending, 2), rules.clone())).collect();
        let class_by_hash =
            classes.iter().map(|(rest, class)| (hash(rest, rest.len()), *class)).collect();
        let listed_by_hash =
            listed.iter().map(|(form, rule)| (form_hash(form.chars()), *rule)).collect();
        Self {
            weights,
            lexicon,
            rules,
            endings,
            classes,
            listed,
            rules_by_hash,
            class_by_hash,
            listed_by_hash,
        }
    }

    /// Returns the class of a rest, by the hash of its skeleton; 0 for an unknown rest.
    fn class(&self, rest: u64) -> u64 {
        self.class_by_hash.get(&rest).copied().unwrap_or(0).into()
    }

    /// Returns the index of the rule for a token, or `None` if the token is a single word. `form` is lower-cased.
    pub(crate) fn rule(
        &self,
        form: &[char],
        attributes: &TokenAttributes,
        at: usize,
        features: &mut Vec<u32>,
    ) -> Option<u16> {
        let token = attributes.near(at, 0);
        if let Some(&rule) = self.listed_by_hash.get(&token.form) {
            return Some(rule);
        }
        let rules = self.rules_by_hash.get(&token.ending2)?;
        let entry = |word| self.lexicon.entry(word);
        let whole = entry(token.form);
        let class = |rest| self.class(rest);
        let neighbour_pos = NEIGHBOURS.map(|k| entry(attributes.near(at, k).form).form_pos);
        let context = TokenContext::new(form, attributes, at, whole, neighbour_pos, &entry, &class);
        let mut best = (0.0, None);
        for &number in rules {
            let rule = &self.rules[usize::from(number)];
            context.features(number, rule, features);
            let score = score(&self.weights, features);
            if score > best.0 {
                best = (score, Some(number));
            }
        }
        best.1
    }
}

impl Multiword<Vec<f32>> {
    /// Returns this model with weights of 8 bits.
    pub(crate) fn compact(&self) -> Multiword<Compact> {
        Multiword {
            weights: Compact::new(&self.weights),
            lexicon: self.lexicon.compact(),
            rules: self.rules.clone(),
            endings: self.endings.clone(),
            classes: self.classes.clone(),
            listed: self.listed.clone(),
            rules_by_hash: self.rules_by_hash.clone(),
            class_by_hash: self.class_by_hash.clone(),
            listed_by_hash: self.listed_by_hash.clone(),
        }
    }

    /// Number of orders in which the treebank is read; each takes half the passes.
    const ORDERS: usize = 4;
    const RATE: f32 = 0.5;
    /// Examples with a smaller gradient move no weights.
    const MIN_GRADIENT: f32 = 1e-3;
    /// Maximal number of rules for one ending.
    const CANDIDATES: usize = 12;
    /// Binary logarithm of the maximal size of the table. Up to it, there are eight cells for each candidate of each
    /// token: the features of unknown stems are rare, and must not share their cells.
    const MAX_BITS: u32 = 20;

    /// Returns the total number of passes over the treebank; `passes` is that of the other models.
    pub(crate) fn passes(passes: usize) -> usize {
        Self::ORDERS * passes.div_ceil(2)
    }

    /// Trains a model on paragraphs.
    pub(crate) fn train(
        paragraphs: &[GoldParagraph<'_>],
        listed: &ListedTokens,
        passes: usize,
        seed: u64,
        counter: &PassCounter<'_>,
    ) -> Result<Self, Error> {
        let mut numbers: BTreeMap<Rule, u16> = BTreeMap::new();
        let mut counts: BTreeMap<String, BTreeMap<u16, usize>> = BTreeMap::new();
        // The rule of each multiword token, by paragraph and token.
        let mut gold: HashMap<(usize, usize), u16> = HashMap::new();
        for (number, paragraph) in paragraphs.iter().enumerate() {
            for GoldMultiword { token, form, words } in &paragraph.multiword {
                let Some(rule) = Rule::new(form, words) else { continue };
                let Ok(new) = u16::try_from(numbers.len()) else { break };
                let rule = *numbers.entry(rule).or_insert(new);
                let form = lower(form);
                let ending = skeleton_of(last_two(&form));
                *counts.entry(ending).or_default().entry(rule).or_default() += 1;
                gold.insert((number, *token), rule);
            }
        }
        let most_frequent = |counts: BTreeMap<u16, usize>| {
            let mut rules: Vec<(u16, usize)> = counts.into_iter().collect();
            rules.sort_by_key(|&(rule, count)| (Reverse(count), rule));
            rules.truncate(Self::CANDIDATES);
            rules.into_iter().map(|(rule, _)| rule).collect()
        };
        let by_skeleton: BTreeMap<String, Vec<u16>> =
            counts.into_iter().map(|(skeleton, rules)| (skeleton, most_frequent(rules))).collect();
        let forms = paragraphs.iter().flat_map(GoldParagraph::forms);
        let endings: BTreeSet<&[char]> = forms.map(last_two).collect();
        let with_rules = |ending: &[char]| {
            let rules = by_skeleton.get(&skeleton_of(ending))?;
            Some((ending.iter().collect(), rules.clone()))
        };
        let endings = endings.into_iter().filter_map(with_rules).collect();
        let mut listed_rules = BTreeMap::new();
        for ListedMultiword { form, words } in &listed.multiword {
            let Some(rule) = Rule::new(form, words) else { continue };
            let Ok(new) = u16::try_from(numbers.len()) else { break };
            listed_rules.insert(form.clone(), *numbers.entry(rule).or_insert(new));
        }
        let mut rules = vec![Rule(Vec::new()); numbers.len()];
        numbers.into_iter().for_each(|(rule, number)| rules[usize::from(number)] = rule);
        let classes = classes(paragraphs, &gold, &rules);
        let mut model =
            Self::new(Vec::new(), Lexicon::default(), rules, endings, classes, listed_rules);
        let attributes: Vec<TokenAttributes> =
            paragraphs.iter().map(GoldParagraph::attributes).collect();
        let alone = attributes.iter().enumerate().flat_map(|(paragraph, attributes)| {
            let gold = &gold;
            let is_alone = move |token: &usize| !gold.contains_key(&(paragraph, *token));
            (0..attributes.len()).filter(is_alone).map(|token| attributes.near(token, 0).form)
        });
        let counts = Counts::new(paragraphs, alone);
        if model.rules.is_empty() {
            counter.finish_passes(Self::passes(passes))?;
            model.lexicon = counts.lexicon_of_forms();
            return Ok(model);
        }
        let mut order = Order::new(seed, 2);
        for _ in 0..Self::ORDERS {
            let weights = model.learn(
                paragraphs,
                &attributes,
                &gold,
                &counts,
                passes,
                &mut order,
                counter,
            )?;
            model.weights.resize(weights.len(), 0.0);
            let share = 1.0 / Self::ORDERS as f32;
            model.weights.iter_mut().zip(weights).for_each(|(mean, w)| *mean += share * w);
        }
        model.lexicon = counts.lexicon();
        Ok(model)
    }

    /// Returns weights that are learnt in one order of the treebank.
    fn learn(
        &self,
        paragraphs: &[GoldParagraph<'_>],
        attributes: &[TokenAttributes],
        gold: &HashMap<(usize, usize), u16>,
        counts: &Counts,
        passes: usize,
        order: &mut Order,
        counter: &PassCounter<'_>,
    ) -> Result<Vec<f32>, Error> {
        let candidates = |&(paragraph, token): &(usize, usize)| {
            self.rules_by_hash.get(&attributes[paragraph].near(token, 0).ending2)
        };
        let tokens = |(paragraph, attributes): (usize, &TokenAttributes)| {
            (0..attributes.len()).map(move |token| (paragraph, token))
        };
        let places: Vec<(usize, usize)> = attributes
            .iter()
            .enumerate()
            .flat_map(tokens)
            .filter(|place| candidates(place).is_some())
            .collect();
        let considered: usize = places.iter().filter_map(candidates).map(Vec::len).sum();
        let bits = (considered.max(1).ilog2() + 3).clamp(14, Self::MAX_BITS);
        let mut learner = BinaryLearner::new(bits, Self::RATE);
        let mut features = Vec::new();
        let mut scores = Vec::new();
        for _ in 0..passes.div_ceil(2) {
            for place in order.shuffled(places.len()) {
                let place = places[place];
                let Some(rules) = candidates(&place) else { continue };
                let right = gold.get(&place);
                let (paragraph, token) = place;
                let attributes = &attributes[paragraph];
                let text = &paragraphs[paragraph];
                // The token itself is left out of the counts, as if it were new.
                let own = text.words_of(token);
                let form = text.form(token);
                let entry = |word| counts.entry(word, own);
                let form_hash = attributes.near(token, 0).form;
                let mut whole = entry(form_hash);
                whole.frequency = counts.frequency(form_hash, right.is_none().into());
                let neighbour_pos = NEIGHBOURS.map(|k| {
                    let own = token.checked_add_signed(k).map_or(&[][..], |at| text.words_of(at));
                    counts.entry(attributes.near(token, k).form, own).form_pos
                });
                let class = |rest| self.class(rest);
                let context = TokenContext::new(
                    form,
                    attributes,
                    token,
                    whole,
                    neighbour_pos,
                    &entry,
                    &class,
                );
                let read = |number: u16, features: &mut Vec<u32>| {
                    context.features(number, &self.rules[usize::from(number)], features);
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
                    let target = if right == Some(&rule) { 1.0 } else { 0.0 };
                    let gradient = (score - largest).exp() / all - target;
                    if gradient.abs() > Self::MIN_GRADIENT {
                        read(rule, &mut features);
                        learner.update(&features, gradient);
                    }
                }
            }
            counter.finish_pass()?;
        }
        Ok(learner.averaged())
    }
}

/// Returns the most frequent class of each rest. A class is the lemma of the second word; classes are numbered in the
/// order in which they occur.
fn classes(
    paragraphs: &[GoldParagraph<'_>],
    gold: &HashMap<(usize, usize), u16>,
    rules: &[Rule],
) -> BTreeMap<String, u16> {
    let mut numbers: HashMap<u64, u16> = HashMap::new();
    let mut counts: BTreeMap<String, BTreeMap<u16, usize>> = BTreeMap::new();
    for (number, paragraph) in paragraphs.iter().enumerate() {
        for &GoldMultiword { token, .. } in &paragraph.multiword {
            let Some(&rule) = gold.get(&(number, token)) else { continue };
            let Some(second) = paragraph.words_of(token).get(1) else { continue };
            let Ok(new) = u16::try_from(numbers.len() + 1) else { continue };
            let class = *numbers.entry(second.lemma).or_insert(new);
            let rest = rules[usize::from(rule)].divide(paragraph.form(token)).rest;
            *counts.entry(skeleton_of(rest)).or_default().entry(class).or_default() += 1;
        }
    }
    let most_frequent = |counts: BTreeMap<u16, usize>| {
        counts
            .into_iter()
            .max_by_key(|&(class, count)| (count, Reverse(class)))
            .map(|(class, _)| class)
    };
    counts.into_iter().filter_map(|(rest, counts)| Some((rest, most_frequent(counts)?))).collect()
}

/// Returns the last two characters of a form, by which its candidate rules are found.
fn last_two(form: &[char]) -> &[char] {
    &form[form.len().saturating_sub(2)..]
}

fn skeleton_of(characters: &[char]) -> String {
    characters.iter().map(|&c| skeleton(c)).collect()
}

#[cfg(test)]
mod tests {
    use tutte_treebank::Sentence;

    use super::*;

    /// Returns a sentence of words with their parts of speech. `ev+dir` is a multiword token, with a copula unless it
    /// ends in `li`.
    fn sentence(tokens: &str) -> Sentence {
        let line = |id: String, form: &str, upos: &str| {
            let lemma = if upos == "AUX" && form != "li" { "i" } else { form };
            format!("{id}\t{form}\t{lemma}\t{upos}\t_\t_\t_\t_\t_\t_\n")
        };
        let mut lines = String::new();
        let mut id = 1;
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

    /// `-dür` is not in the treebank; it has the skeleton of `-dir`, `-dır` and `-dur`.
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
        let mut unobserved = ();
        let counter = PassCounter::new(8, &mut unobserved);
        let paragraphs = GoldParagraph::of(&treebank);
        let model =
            Multiword::train(&paragraphs, &ListedTokens::default(), 8, 1, &counter).unwrap();
        let words = |form: &str| {
            let sentences = [sentence(&format!("o {form}"))];
            let paragraph = &GoldParagraph::of(&sentences)[0];
            let rule = model.rule(paragraph.form(1), &paragraph.attributes(), 1, &mut Vec::new());
            let mut words = Vec::new();
            rule.map(|rule| model.rules[usize::from(rule)].apply(form, &mut words));
            words
        };
        assert_eq!(words("göldür"), ["göl", "dür"]);
        assert_eq!(words("yoldur"), ["yol", "dur"]);
        assert!(words("güldür").is_empty(), "it is one word in the treebank");
        assert!(words("gölde").is_empty(), "no multiword token ends like this");
    }

    /// Neither `rue` nor `prends` stands before `des` in the treebank, but other nouns and verbs do.
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
        let mut unobserved = ();
        let counter = PassCounter::new(8, &mut unobserved);
        let model = Multiword::train(
            &GoldParagraph::of(&treebank),
            &ListedTokens::default(),
            8,
            1,
            &counter,
        )
        .unwrap();
        let is_split = |tokens: &str| {
            let sentences = [sentence(tokens)];
            let paragraph = &GoldParagraph::of(&sentences)[0];
            model.rule(paragraph.form(1), &paragraph.attributes(), 1, &mut Vec::new()).is_some()
        };
        assert!(is_split("rue des oies"));
        assert!(!is_split("prends des oies"));
    }

    /// `-ydik` follows only `evde` in the treebank. It is a copula like `-dir`, which follows nouns.
    #[test]
    fn rests_of_one_lemma_are_of_one_class() {
        let treebank = ["o/PRON ev+dir/NOUN", "kız+dır/NOUN", "ev+li/NOUN yol", "evde+ydik/NOUN"]
            .map(sentence);
        let paragraphs = GoldParagraph::of(&treebank);
        let mut unobserved = ();
        let counter = PassCounter::new(8, &mut unobserved);
        let model =
            Multiword::train(&paragraphs, &ListedTokens::default(), 2, 1, &counter).unwrap();
        let classes = [("dir", 1), ("li", 2), ("ydig", 1)];
        assert_eq!(model.classes, classes.map(|(rest, class)| (rest.to_owned(), class)).into());
        let class = |rest: &str| model.class(ending_hash(&rest.chars().collect::<Vec<_>>(), 4));
        assert_eq!(["dir", "li", "ydig", "da"].map(class), [1, 2, 1, 0]);
    }
}
