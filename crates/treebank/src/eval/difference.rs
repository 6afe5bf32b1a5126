//! Where two files stop being analyses of the same text, and what may have happened.

use std::collections::HashMap;
use std::fmt;
use std::iter;

use super::spans::{is_surface, push_without_spaces};
use crate::{Place, Sentence, Token};

/// The first place where two files differ that should hold the same text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The place in the gold standard, `None` if it has ended.
    pub gold: Option<Spot>,
    /// The place in the system's analysis, `None` if it has ended.
    pub system: Option<Spot>,
    /// The file that has ended, if one has.
    pub ended: Option<String>,
    /// What may have happened, and what to do.
    pub hint: String,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// File, line and `sent_id`.
    pub place: Place,
    /// The number of the sentence in its file, from 1.
    pub sentence: usize,
    /// The form on the line.
    pub form: String,
    /// The whole line.
    pub line: String,
}

impl Difference {
    /// The first characters that differ, spaces aside.
    pub(super) fn of_characters(gold: &[Sentence], system: &[Sentence]) -> Self {
        let characters = |sentences| {
            surface(sentences).flat_map(|(sentence, token)| {
                let mut characters = String::new();
                push_without_spaces(&mut characters, token.form());
                let characters: Vec<char> = characters.chars().collect();
                characters.into_iter().map(move |character| (character, (sentence, token)))
            })
        };
        let (gold_at, system_at) = first_difference(characters(gold), characters(system));
        let hint = hint(gold, system, gold_at, system_at).unwrap_or_else(|| {
            "every character of the text must be kept, spaces aside: look for quotes, dots or \
             accents that were replaced, or words left out"
                .to_owned()
        });
        Difference::new((gold, gold_at), (system, system_at), hint)
    }

    /// The first words that differ. A sentence that ends early differs from one that goes on.
    pub(super) fn of_words(gold: &[Sentence], system: &[Sentence]) -> Self {
        // Words are compared together with what makes them comparable: their place.
        let words = |sentences| {
            all_words(sentences).map(|(sentence, token): (usize, Token<'_>)| {
                ((sentence, token.id(), token.form()), (sentence, token))
            })
        };
        let (gold_at, system_at) = first_difference(words(gold), words(system));
        let same_text = surface_text(gold) == surface_text(system);
        let hint = if same_text {
            "the text is the same, but divided in another way; without --conllx, words are \
             aligned by their characters"
                .to_owned()
        } else {
            hint(gold, system, gold_at, system_at).unwrap_or_else(|| {
                "both files must hold the same sentences, divided into the same words".to_owned()
            })
        };
        Difference::new((gold, gold_at), (system, system_at), hint)
    }

    fn new(
        (gold, gold_at): (&[Sentence], Option<At<'_>>),
        (system, system_at): (&[Sentence], Option<At<'_>>),
        hint: String,
    ) -> Self {
        let (gold_spot, system_spot) = (spot(gold, gold_at), spot(system, system_at));
        let name = |sentences: &[Sentence], unread: &str| {
            sentences.last().map_or(unread.to_owned(), |last| last.source.to_string())
        };
        let ended = match (&gold_spot, &system_spot) {
            (None, Some(_)) => Some(name(gold, "the gold standard")),
            (Some(_), None) => Some(name(system, "the system's analysis")),
            _ => None,
        };
        Difference { gold: gold_spot, system: system_spot, ended, hint }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has = |spot: &Spot| match &spot.place.sent_id {
            Some(id) => format!("{} (sent_id = {id}) has {:?}", spot.place, spot.form),
            None => format!("{} has {:?}", spot.place, spot.form),
        };
        match (&self.gold, &self.system, &self.ended) {
            (Some(gold), Some(system), _) => write!(
                f,
                "the files hold different text from sentence {} on: {}, but {}",
                gold.sentence,
                has(gold),
                has(system),
            ),
            (Some(spot), None, Some(ended)) | (None, Some(spot), Some(ended)) => write!(
                f,
                "{ended} ends before sentence {} of the other file does: {}",
                spot.sentence,
                has(spot)
            ),
            _ => write!(f, "the files hold different text"),
        }
    }
}

/// A token and the number of its sentence, from 0.
type At<'a> = (usize, Token<'a>);

/// What the first items that differ belong to.
fn first_difference<'a, Item: PartialEq>(
    mut gold: impl Iterator<Item = (Item, At<'a>)>,
    mut system: impl Iterator<Item = (Item, At<'a>)>,
) -> (Option<At<'a>>, Option<At<'a>>) {
    loop {
        match (gold.next(), system.next()) {
            (Some((g, _)), Some((s, _))) if g == s => {}
            (g, s) => return (g.map(|(_, at)| at), s.map(|(_, at)| at)),
        }
    }
}

/// The tokens that stand for the text, with the number of their sentence.
fn surface(sentences: &[Sentence]) -> impl Iterator<Item = At<'_>> {
    sentences.iter().enumerate().flat_map(|(number, sentence)| {
        let mut covered = 0;
        let on_surface = move |token: &Token<'_>| is_surface(*token, &mut covered);
        iter::zip(iter::repeat(number), sentence.tokens().filter(on_surface))
    })
}

fn all_words(sentences: &[Sentence]) -> impl Iterator<Item = At<'_>> {
    sentences
        .iter()
        .enumerate()
        .flat_map(|(number, sentence)| iter::zip(iter::repeat(number), sentence.words()))
}

fn surface_text(sentences: &[Sentence]) -> String {
    let mut text = String::new();
    for (_, token) in surface(sentences) {
        push_without_spaces(&mut text, token.form());
    }
    text
}

fn spot(sentences: &[Sentence], at: Option<At<'_>>) -> Option<Spot> {
    let (number, token) = at?;
    let sentence = sentences.get(number)?;
    Some(Spot {
        place: Place { line: token.line(), ..sentence.place() },
        sentence: number + 1,
        form: token.form().to_owned(),
        line: token.as_str().to_owned(),
    })
}

/// What the rest of the files says about the difference.
fn hint(
    gold: &[Sentence],
    system: &[Sentence],
    gold_at: Option<At<'_>>,
    system_at: Option<At<'_>>,
) -> Option<String> {
    let (Some((g, gold_token)), Some((s, system_token))) = (gold_at, system_at) else {
        return Some("is one of the files cut off, or only a part of the text?".to_owned());
    };
    let text = |sentence: &Sentence| surface_text(std::slice::from_ref(sentence));
    let index = |sentences: &[Sentence]| {
        // Of equal sentences the first counts, so they are put in from behind.
        let numbered = sentences.iter().enumerate().rev();
        numbered.map(|(number, sentence)| (text(sentence), number)).collect::<HashMap<_, _>>()
    };
    let (in_gold, in_system) = (index(gold), index(system));
    let common = system.iter().filter(|sentence| in_gold.contains_key(&text(sentence))).count();
    // Texts of one kind share a greeting or two, analyses of one text most of their sentences.
    if 5 * common < system.len() {
        return Some(format!(
            "only {common} of {} sentences of the system are in the gold standard, too: are these \
             analyses of the same text?",
            system.len()
        ));
    }
    let elsewhere = |found: Option<&usize>, here: usize| found.copied().filter(|&at| at != here);
    if let Some(at) = elsewhere(in_gold.get(&text(&system[s])), g) {
        return Some(format!(
            "sentence {} of the system is sentence {} of the gold standard ({}): sentences are \
             missing, or in another order",
            s + 1,
            at + 1,
            gold[at].place(),
        ));
    }
    if let Some(at) = elsewhere(in_system.get(&text(&gold[g])), s) {
        return Some(format!(
            "sentence {} of the gold standard is sentence {} of the system ({}): there are \
             sentences too many, or in another order",
            g + 1,
            at + 1,
            system[at].place(),
        ));
    }
    let lower = |token: Token<'_>| token.form().to_lowercase();
    (lower(gold_token) == lower(system_token))
        .then(|| "only the case differs: was the text lower-cased before parsing?".to_owned())
}
