//! The first difference between two files that should have the same text, and its likely cause.

use std::collections::HashMap;
use std::fmt;
use std::iter;

use super::spans::{is_surface, push_without_spaces};
use crate::{Place, Sentence, Token};

/// The first place where the texts of two files differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Place in the gold standard; `None` at its end.
    pub gold: Option<Spot>,
    /// Place in the system's analysis; `None` at its end.
    pub system: Option<Spot>,
    /// Name of the file that is shorter, if one is.
    pub ended: Option<String>,
    /// The likely cause, and what to do.
    pub hint: String,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// File, line and `sent_id`.
    pub place: Place,
    /// Number of the sentence in its file, from 1.
    pub sentence: usize,
    /// The form on the line.
    pub form: String,
    /// The whole line.
    pub line: String,
}

impl Difference {
    /// Finds the first characters that differ, ignoring spaces.
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
            "the characters of the text must be the same, except for spaces: look for replaced quotes, \
             dots or accents, and for missing words"
                .to_owned()
        });
        Difference::new((gold, gold_at), (system, system_at), hint)
    }

    /// Finds the first words that differ. A sentence differs from a longer one.
    pub(super) fn of_words(gold: &[Sentence], system: &[Sentence]) -> Self {
        // Words are compared together with their positions.
        let words = |sentences| {
            all_words(sentences).map(|(sentence, token): (usize, Token<'_>)| {
                ((sentence, token.id(), token.form()), (sentence, token))
            })
        };
        let (gold_at, system_at) = first_difference(words(gold), words(system));
        let same_text = surface_text(gold) == surface_text(system);
        let hint = if same_text {
            "the text is the same, but divided differently; leave out --conllx to align words by \
             their characters"
                .to_owned()
        } else {
            hint(gold, system, gold_at, system_at).unwrap_or_else(|| {
                "both files must have the same sentences, divided into the same words".to_owned()
            })
        };
        Difference::new((gold, gold_at), (system, system_at), hint)
    }

    fn new(
        (gold, gold_at): (&[Sentence], Option<At<'_>>),
        (system, system_at): (&[Sentence], Option<At<'_>>),
        hint: String,
    ) -> Self {
        let gold_spot = spot(gold, gold_at);
        let system_spot = spot(system, system_at);
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
                "the texts of the files differ from sentence {} on: {}, but {}",
                gold.sentence,
                has(gold),
                has(system),
            ),
            (Some(spot), None, Some(ended)) | (None, Some(spot), Some(ended)) => write!(
                f,
                "{ended} ends before sentence {} of the other file: {}",
                spot.sentence,
                has(spot)
            ),
            _ => write!(f, "the texts of the files differ"),
        }
    }
}

/// A token and the number of its sentence, from 0.
type At<'a> = (usize, Token<'a>);

/// Returns the tokens of the first items that differ.
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

/// Returns the surface tokens, with the index of their sentence.
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

/// Guesses the cause of a difference from the rest of the files.
fn hint(
    gold: &[Sentence],
    system: &[Sentence],
    gold_at: Option<At<'_>>,
    system_at: Option<At<'_>>,
) -> Option<String> {
    let (Some((g, gold_token)), Some((s, system_token))) = (gold_at, system_at) else {
        return Some("is one of the files truncated, or a part of the text?".to_owned());
    };
    let text = |sentence: &Sentence| surface_text(std::slice::from_ref(sentence));
    let index = |sentences: &[Sentence]| {
        // The first of equal sentences counts, so the list is inserted in reverse.
        let numbered = sentences.iter().enumerate().rev();
        numbered.map(|(number, sentence)| (text(sentence), number)).collect::<HashMap<_, _>>()
    };
    let in_gold = index(gold);
    let in_system = index(system);
    let common = system.iter().filter(|sentence| in_gold.contains_key(&text(sentence))).count();
    // Similar texts share a few sentences; analyses of one text share most of them.
    if 5 * common < system.len() {
        return Some(format!(
            "only {common} of {} sentences of the system are also in the gold standard: are these \
             analyses of the same text?",
            system.len()
        ));
    }
    let elsewhere = |found: Option<&usize>, here: usize| found.copied().filter(|&at| at != here);
    if let Some(at) = elsewhere(in_gold.get(&text(&system[s])), g) {
        return Some(format!(
            "sentence {} of the system is sentence {} of the gold standard ({}): sentences are \
             missing or in another order",
            s + 1,
            at + 1,
            gold[at].place(),
        ));
    }
    if let Some(at) = elsewhere(in_system.get(&text(&gold[g])), s) {
        return Some(format!(
            "sentence {} of the gold standard is sentence {} of the system ({}): the system has \
             extra sentences or another order",
            g + 1,
            at + 1,
            system[at].place(),
        ));
    }
    let lower = |token: Token<'_>| token.form().to_lowercase();
    (lower(gold_token) == lower(system_token))
        .then(|| "only the case differs: was the text lower-cased before parsing?".to_owned())
}
