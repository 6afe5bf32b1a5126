//! Tokenizers in model files: a document of everything but the weights, and tables of weights.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tutte_linear::{Compact, Weights};

use crate::DocumentProblem;
use crate::multiword::{Lexicon, Multiword, Rule};
use crate::scripts::Scripts;
use crate::sentence_boundaries::SentenceBoundaries;
use crate::token_boundaries::{GapTemplates, TokenBoundaries};
use crate::tokenizer::{Models, Tokenizer};

/// A tokenizer without its weights, for a model file.
///
/// ```
/// use tutte_text::{Tokenizer, TokenizerDocument};
///
/// let json = serde_json::to_string(&Tokenizer::fallback().document())?;
/// let document: TokenizerDocument = serde_json::from_str(&json)?;
/// let no_table = |name, cells| -> Result<_, tutte_text::DocumentProblem> {
///     panic!("no table {name} of {cells} cells is needed")
/// };
/// document.tokenizer(no_table)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenizerDocument {
    /// `None` for a tokenizer that follows Unicode's rules alone.
    #[serde(default, rename = "learnt", skip_serializing_if = "Option::is_none")]
    models: Option<ModelsDocument>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelsDocument {
    /// Number of weights of the table [`TOKENS`]; of each table, a power of two or 0.
    tokens: usize,
    sentences: usize,
    multiword: usize,
    forms: usize,
    kinds: usize,
    spaces_in_tokens: bool,
    /// `true` if features of tokens include shapes. The first models have none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    shapes: bool,
    /// `true` if features of tokens include frequencies, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    frequencies: bool,
    temperature: f32,
    #[serde(rename = "price")]
    sentence_penalty: f32,
    rules: Vec<Rule>,
    /// Indices of the rules for forms with an ending.
    endings: BTreeMap<String, Vec<u16>>,
    /// Class of each remainder of a form, see [`Multiword::classes`].
    classes: BTreeMap<String, u16>,
    /// Indices of the rules of forms that are always divided, see [`Multiword::listed`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    listed: BTreeMap<String, u16>,
    /// Tokens of lists, see [`TokenBoundaries::listed`].
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    listed_tokens: BTreeSet<String>,
    /// Scripts of the treebank (ISO 15924). Without them, no script is foreign.
    #[serde(default)]
    scripts: Vec<String>,
}

// Names of the tables.
const TOKENS: &str = "tokens";
const SENTENCES: &str = "sentences";
const MULTIWORD: &str = "multiword";
const FORMS: &str = "forms";
const KINDS: &str = "kinds";

impl Tokenizer<Compact> {
    /// Returns everything but the weights.
    pub fn document(&self) -> TokenizerDocument {
        let models = self.models.as_ref().map(|models| {
            let Models { token_boundaries, sentence_boundaries, multiword, scripts } = models;
            ModelsDocument {
                tokens: token_boundaries.weights.cells().len(),
                sentences: sentence_boundaries.weights.cells().len(),
                multiword: multiword.weights.cells().len(),
                forms: multiword.lexicon.frequencies.cells().len(),
                kinds: multiword.lexicon.parts_of_speech.cells().len(),
                spaces_in_tokens: token_boundaries.has_spaces_in_tokens,
                shapes: token_boundaries.templates >= GapTemplates::WithShapes,
                frequencies: token_boundaries.templates >= GapTemplates::WithFrequencies,
                temperature: sentence_boundaries.temperature,
                sentence_penalty: sentence_boundaries.penalty,
                rules: multiword.rules.clone(),
                endings: multiword.endings.clone(),
                classes: multiword.classes.clone(),
                listed: multiword.listed.clone(),
                listed_tokens: token_boundaries.listed.clone(),
                scripts: scripts.names(),
            }
        });
        TokenizerDocument { models }
    }

    /// Returns the tables of weights, by the names with which [`TokenizerDocument::tokenizer`] asks for them.
    pub fn tables(&self) -> Vec<(&'static str, &Compact)> {
        let Some(models) = &self.models else { return Vec::new() };
        let tables = [
            (TOKENS, &models.token_boundaries.weights),
            (SENTENCES, &models.sentence_boundaries.weights),
            (MULTIWORD, &models.multiword.weights),
            (FORMS, &models.multiword.lexicon.frequencies),
            (KINDS, &models.multiword.lexicon.parts_of_speech),
        ];
        tables.into_iter().filter(|(_, table)| !table.cells().is_empty()).collect()
    }
}

impl TokenizerDocument {
    /// Returns the tokenizer. `table` is called with the name of each table and the number of its cells, and returns
    /// its weights.
    ///
    /// # Errors
    /// Those of `table`, and [`DocumentProblem`] if this is not a document of [`Tokenizer::document`].
    pub fn tokenizer<E: From<DocumentProblem>>(
        self,
        mut table: impl FnMut(&'static str, usize) -> Result<Compact, E>,
    ) -> Result<Tokenizer<Compact>, E> {
        let Some(document) = self.models else { return Ok(Tokenizer::fallback()) };
        document.check()?;
        let mut weights = |name: &'static str, cells: usize| -> Result<Compact, E> {
            if cells == 0 {
                return Ok(Compact::new(&[]));
            }
            let table = table(name, cells)?;
            let found = table.cells().len();
            if found != cells || !table.scale().is_finite() {
                let problem = DocumentProblem::Table {
                    name,
                    found: format!("{found} cells of scale {}", table.scale()),
                    expected: format!("{cells} cells"),
                };
                return Err(problem.into());
            }
            Ok(table)
        };
        let token_boundaries = TokenBoundaries {
            weights: weights(TOKENS, document.tokens)?,
            has_spaces_in_tokens: document.spaces_in_tokens,
            templates: match (document.shapes, document.frequencies) {
                (_, true) => GapTemplates::WithFrequencies,
                (true, false) => GapTemplates::WithShapes,
                (false, false) => GapTemplates::First,
            },
            listed: document.listed_tokens,
        };
        let sentence_boundaries = SentenceBoundaries {
            weights: weights(SENTENCES, document.sentences)?,
            temperature: document.temperature,
            penalty: document.sentence_penalty,
        };
        let multiword = Multiword::new(
            weights(MULTIWORD, document.multiword)?,
            Lexicon {
                frequencies: weights(FORMS, document.forms)?,
                parts_of_speech: weights(KINDS, document.kinds)?,
            },
            document.rules,
            document.endings,
            document.classes,
            document.listed,
        );
        let scripts =
            Scripts::from_names(&document.scripts).ok_or_else(|| DocumentProblem::Altered {
                what: format!(
                    "its tokenizer names a script that is not in ISO 15924, among {:?}",
                    document.scripts
                ),
            })?;
        let models = Models { token_boundaries, sentence_boundaries, multiword, scripts };
        Ok(Tokenizer { models: Some(models) })
    }
}

impl ModelsDocument {
    fn check(&self) -> Result<(), DocumentProblem> {
        let altered = |what: String| {
            Err(DocumentProblem::Altered { what: format!("its tokenizer has {what}") })
        };
        let tables = [
            (TOKENS, self.tokens),
            (SENTENCES, self.sentences),
            (MULTIWORD, self.multiword),
            (FORMS, self.forms),
            (KINDS, self.kinds),
        ];
        for (name, cells) in tables {
            if cells != 0 && (!cells.is_power_of_two() || cells > 1 << 28) {
                return altered(format!(
                    "{cells} weights for {name}, which is not a power of two up to 2^28"
                ));
            }
        }
        if !(self.temperature.is_finite() && self.temperature > 0.0) {
            return altered(format!(
                "the temperature {}, which is not a positive number",
                self.temperature
            ));
        }
        if !(0.0..=1.0).contains(&self.sentence_penalty) {
            return altered(format!(
                "the penalty {} for a sentence, which is not between 0 and 1",
                self.sentence_penalty
            ));
        }
        if let Some(rule) = self.rules.iter().position(|rule| !rule.is_sound()) {
            return altered(format!("an invalid rule for multiword tokens, number {rule}"));
        }
        let is_listed = |rule: &u16| usize::from(*rule) < self.rules.len();
        if let Some((form, _)) = self.listed.iter().find(|(_, rule)| !is_listed(rule)) {
            return altered(format!("a rule for the form {form:?} that it does not list"));
        }
        match self.endings.iter().find(|(_, rules)| !rules.iter().all(is_listed)) {
            Some((ending, _)) => {
                altered(format!("rules for the ending {ending:?} that it does not list"))
            }
            None => Ok(()),
        }
    }
}
