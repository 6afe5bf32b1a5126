//! Tokenizers in files: a document of all that is no weights, and tables of weights.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tutte_linear::{Compact, Weights};

use super::multiword::{Lexicon, Multiword, Rule};
use super::scripts::Scripts;
use super::sentence_boundaries::Breaks;
use super::token_boundaries::Gaps;
use super::tokenizer::{Learnt, Tokenizer};
use crate::DocumentProblem;

/// What a tokenizer is besides its weights, for a model file.
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
    /// Without, Unicode decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    learnt: Option<LearntDocument>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LearntDocument {
    /// The number of weights of each table, a power of two, or 0.
    tokens: usize,
    sentences: usize,
    multiword: usize,
    forms: usize,
    kinds: usize,
    spaces_in_tokens: bool,
    temperature: f32,
    price: f32,
    rules: Vec<Rule>,
    /// The rules for forms with an ending.
    endings: BTreeMap<String, Vec<u16>>,
    /// The classes of what rules leave of forms.
    classes: BTreeMap<String, u16>,
    /// The scripts of the treebank (ISO 15924); without, all are taken for known.
    #[serde(default)]
    scripts: Vec<String>,
}

/// The names of the tables.
const TOKENS: &str = "tokens";
const SENTENCES: &str = "sentences";
const MULTIWORD: &str = "multiword";
const FORMS: &str = "forms";
const KINDS: &str = "kinds";

impl Tokenizer<Compact> {
    /// All that is no weights.
    pub fn document(&self) -> TokenizerDocument {
        let learnt = self.learnt.as_ref().map(|Learnt { gaps, breaks, multiword, scripts }| {
            LearntDocument {
                tokens: gaps.weights.cells().len(),
                sentences: breaks.weights.cells().len(),
                multiword: multiword.weights.cells().len(),
                forms: multiword.lexicon.forms.cells().len(),
                kinds: multiword.lexicon.kinds.cells().len(),
                spaces_in_tokens: gaps.spaces,
                temperature: breaks.temperature,
                price: breaks.price,
                rules: multiword.rules.clone(),
                endings: multiword.endings.clone(),
                classes: multiword.classes.clone(),
                scripts: scripts.names(),
            }
        });
        TokenizerDocument { learnt }
    }

    /// The weights, by the names with which [`TokenizerDocument::tokenizer`] asks for them.
    pub fn tables(&self) -> Vec<(&'static str, &Compact)> {
        let Some(Learnt { gaps, breaks, multiword, .. }) = &self.learnt else { return Vec::new() };
        let tables = [
            (TOKENS, &gaps.weights),
            (SENTENCES, &breaks.weights),
            (MULTIWORD, &multiword.weights),
            (FORMS, &multiword.lexicon.forms),
            (KINDS, &multiword.lexicon.kinds),
        ];
        tables.into_iter().filter(|(_, table)| !table.cells().is_empty()).collect()
    }
}

impl TokenizerDocument {
    /// The tokenizer, with its weights: `table` is asked for each table by its name and the number of
    /// its cells.
    ///
    /// # Errors
    /// Those of `table`, and [`DocumentProblem::Altered`] if this is not what [`Tokenizer::document`] gives.
    pub fn tokenizer<E: From<DocumentProblem>>(
        self,
        mut table: impl FnMut(&'static str, usize) -> Result<Compact, E>,
    ) -> Result<Tokenizer<Compact>, E> {
        let Some(learnt) = self.learnt else { return Ok(Tokenizer::fallback()) };
        learnt.check()?;
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
        let gaps =
            Gaps { weights: weights(TOKENS, learnt.tokens)?, spaces: learnt.spaces_in_tokens };
        let breaks = Breaks {
            weights: weights(SENTENCES, learnt.sentences)?,
            temperature: learnt.temperature,
            price: learnt.price,
        };
        let multiword = Multiword::new(
            weights(MULTIWORD, learnt.multiword)?,
            Lexicon { forms: weights(FORMS, learnt.forms)?, kinds: weights(KINDS, learnt.kinds)? },
            learnt.rules,
            learnt.endings,
            learnt.classes,
        );
        let scripts =
            Scripts::from_names(&learnt.scripts).ok_or_else(|| DocumentProblem::Altered {
                what: format!(
                    "its tokenizer has learnt a script that is none, of {:?}",
                    learnt.scripts
                ),
            })?;
        Ok(Tokenizer { learnt: Some(Learnt { gaps, breaks, multiword, scripts }) })
    }
}

impl LearntDocument {
    fn check(&self) -> Result<(), DocumentProblem> {
        let bad = |what: String| {
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
                return bad(format!(
                    "{cells} weights for {name}, which is no power of two up to 2^28"
                ));
            }
        }
        if !(self.temperature.is_finite() && self.temperature > 0.0) {
            return bad(format!("the temperature {}", self.temperature));
        }
        if !(0.0..=1.0).contains(&self.price) {
            return bad(format!("the price {} for a sentence", self.price));
        }
        if let Some(rule) = self.rules.iter().position(|rule| !rule.is_sound()) {
            return bad(format!("a rule for multiword tokens, number {rule}, that makes no words"));
        }
        let known = |rule: &u16| usize::from(*rule) < self.rules.len();
        match self.endings.iter().find(|(_, rules)| !rules.iter().all(known)) {
            Some((ending, _)) => {
                bad(format!("rules for the ending {ending:?} that it does not list"))
            }
            None => Ok(()),
        }
    }
}
