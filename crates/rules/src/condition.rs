//! Tests of single words: tags, lemmas, forms and features.

use regex::Regex;
use tutte_treebank::Token;

/// A test of a word. It holds if at least one alternative holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Test {
    /// The alternatives; never empty.
    pub alternatives: Vec<Alternative>,
}

/// Conditions that must all hold. `*` (any word) has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Alternative {
    /// The conditions.
    pub conditions: Vec<Condition>,
}

/// A condition on one column or feature of a word.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    /// The column or feature.
    pub attribute: Attribute,
    /// The required value.
    pub value: Value,
}

/// The column or feature that a condition tests.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// The universal part of speech; in CoNLL-X, the coarse tag.
    Upos,
    /// The language-specific tag; in CoNLL-X, the fine tag.
    Xpos,
    /// The lemma.
    Lemma,
    /// The word form.
    Form,
    /// A morphological feature, by its name.
    Feature(String),
}

/// The value that a condition requires.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// Exactly this value.
    Is(String),
    /// Any value in which this regular expression has a match.
    Like(String),
}

impl Test {
    /// Returns the test that every word passes: `*`.
    pub fn any() -> Self {
        Self { alternatives: vec![Alternative::default()] }
    }

    /// Returns the test for a UPOS.
    pub fn upos(tag: &str) -> Self {
        Self::is(Attribute::Upos, tag)
    }

    /// Returns the test for an XPOS.
    pub fn xpos(tag: &str) -> Self {
        Self::is(Attribute::Xpos, tag)
    }

    /// Returns the test with one condition: `attribute` is `value`.
    pub fn is(attribute: Attribute, value: &str) -> Self {
        let condition = Condition { attribute, value: Value::Is(value.to_owned()) };
        Self { alternatives: vec![Alternative { conditions: vec![condition] }] }
    }

    /// Returns true if the test holds of a word.
    ///
    /// Compiles the regular expressions at every call. [`RuleSet`](crate::RuleSet) compiles them once.
    ///
    /// # Errors
    /// [`regex::Error`] if a regular expression is invalid or too large.
    pub fn holds(&self, word: Token<'_>) -> Result<bool, regex::Error> {
        Ok(CompiledTest::new(self)?.holds(word))
    }
}

/// A test with compiled regular expressions.
#[derive(Clone, Debug)]
pub(crate) struct CompiledTest {
    alternatives: Vec<Vec<(Attribute, CompiledValue)>>,
}

#[derive(Clone, Debug)]
enum CompiledValue {
    Is(String),
    Like(Regex),
}

impl CompiledTest {
    pub(crate) fn new(test: &Test) -> Result<Self, regex::Error> {
        let condition = |Condition { attribute, value }: &Condition| {
            let value = match value {
                Value::Is(value) => CompiledValue::Is(value.clone()),
                Value::Like(pattern) => CompiledValue::Like(Regex::new(pattern)?),
            };
            Ok((attribute.clone(), value))
        };
        let alternative =
            |alternative: &Alternative| alternative.conditions.iter().map(condition).collect();
        Ok(Self {
            alternatives: test.alternatives.iter().map(alternative).collect::<Result<_, _>>()?,
        })
    }

    pub(crate) fn holds(&self, word: Token<'_>) -> bool {
        let condition = |(attribute, value): &(Attribute, CompiledValue)| match attribute {
            Attribute::Upos => value.holds(word.upos()),
            Attribute::Xpos => value.holds(word.xpos()),
            Attribute::Lemma => value.holds(word.lemma()),
            Attribute::Form => value.holds(word.form()),
            Attribute::Feature(name) => word.features().any(|(found, values)| {
                found == name
                    && (value.holds(values) || values.split(',').any(|one| value.holds(one)))
            }),
        };
        self.alternatives.iter().any(|conditions| conditions.iter().all(condition))
    }
}

impl CompiledValue {
    fn holds(&self, found: &str) -> bool {
        match self {
            CompiledValue::Is(value) => value == found,
            CompiledValue::Like(pattern) => pattern.is_match(found),
        }
    }
}

/// Returns the reason why a regular expression is invalid: the last line of the error. The lines before it show the
/// expression.
pub(crate) fn regex_reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}
