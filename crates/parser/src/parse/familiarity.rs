//! Text unlike the training data of a model: another script, or words of another language.
//!
//! The tokenizer of a model stores the scripts of its treebank, and the tagger stores the words. A text is unfamiliar
//! if a tenth of its sentences is in other scripts. It also is if most of its words are not in the tagger's lexicon.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use tutte_treebank::Sentence;

use crate::{Model, Weights};

/// Counts of what a model does not know in a text. The counts of sentences add up.
///
/// ```
/// # let text = "1\tTea\ttea\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\tcool\tVERB\t_\t_\t0\troot\t_\t_\n";
/// # let treebank: Vec<tutte_treebank::Sentence> = vec![text.parse()?, text.parse()?];
/// # use tutte::learn::{Preset, Recipe, train_pipeline};
/// # let recipe = Recipe::new().with_preset(Preset::Fast);
/// # let model = train_pipeline(treebank, Vec::new(), &recipe, &mut ())?.model;
/// use tutte::{Familiarity, Unfamiliar};
///
/// let sentence = "1\tЧай\t_\t_\t_\t_\t_\t_\t_\t_\n".parse()?;
/// let familiarity = Familiarity::of(&model, &sentence);
/// let Some(Unfamiliar::Script { script, known, .. }) = familiarity.unfamiliar() else { panic!() };
/// assert_eq!((script, &known[..]), ("Cyrillic", &["Latin"][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Familiarity {
    sentences: usize,
    /// Number of sentences in each foreign script.
    foreign: BTreeMap<&'static str, usize>,
    /// Scripts of the treebank.
    known_scripts: Vec<&'static str>,
    /// Number of words with letters, if the model has a large lexicon.
    words: usize,
    /// Number of these that are not in the lexicon.
    unknown: usize,
}

/// A way in which a text is unlike the training data of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfamiliar {
    /// Sentences in a script that the treebank does not have.
    Script {
        /// The most frequent such script.
        script: &'static str,
        /// Number of sentences in it.
        foreign: usize,
        /// Number of all sentences.
        sentences: usize,
        /// Scripts of the treebank.
        known: Vec<&'static str>,
    },
    /// Words that the treebank does not have.
    Words {
        /// Number of such words.
        unknown: usize,
        /// Number of all words.
        words: usize,
    },
}

impl Familiarity {
    /// A smaller lexicon says little about a language.
    const LEAST_LEXICON: usize = 2000;
    /// Fewer words say little about a text.
    const LEAST_WORDS: usize = 20;

    /// Counts what a model does not know in a sentence.
    pub fn of<W: Weights>(model: &Model<W>, sentence: &Sentence) -> Self {
        let mut found = Self { sentences: 1, ..Self::default() };
        if let Some(tokenizer) = &model.tokenizer {
            let letters = sentence.words().flat_map(|word| word.form().chars());
            if let Some(script) = tokenizer.foreign_script(letters) {
                found.foreign.insert(script, 1);
                found.known_scripts = tokenizer.scripts();
            }
        }
        let large = |size: usize| size >= Self::LEAST_LEXICON;
        if let Some(tagger) = model.tagger.as_ref().filter(|tagger| large(tagger.lexicon_size())) {
            let has_letters = |form: &&str| form.chars().any(char::is_alphabetic);
            for form in sentence.words().map(|word| word.form()).filter(has_letters) {
                found.words += 1;
                found.unknown += usize::from(!tagger.has_seen(form));
            }
        }
        found
    }

    /// Returns how the text is unlike the training data, or `None` if it is not.
    pub fn unfamiliar(&self) -> Option<Unfamiliar> {
        let Self { sentences, words, unknown, .. } = *self;
        let most = self.foreign.iter().max_by_key(|(_, count)| **count);
        if let Some((&script, &foreign)) = most.filter(|(_, count)| **count * 10 >= sentences) {
            let known = self.known_scripts.clone();
            return Some(Unfamiliar::Script { script, foreign, sentences, known });
        }
        let is_foreign = words >= Self::LEAST_WORDS && 2 * unknown >= words;
        is_foreign.then_some(Unfamiliar::Words { unknown, words })
    }
}

impl AddAssign for Familiarity {
    fn add_assign(&mut self, other: Self) {
        self.sentences += other.sentences;
        self.words += other.words;
        self.unknown += other.unknown;
        for (script, count) in other.foreign {
            *self.foreign.entry(script).or_default() += count;
        }
        if self.known_scripts.is_empty() {
            self.known_scripts = other.known_scripts;
        }
    }
}
