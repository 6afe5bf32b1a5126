//! What a rule asks of a word.

use regex::Regex;
use tutte_treebank::Token;

/// A question about a word: whether one of the alternatives holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Test {
    /// Never empty.
    pub alternatives: Vec<Alternative>,
}

/// Conditions that must all hold; `*`, any word, has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Alternative {
    /// The conditions.
    pub conditions: Vec<Condition>,
}

/// A condition on one column or feature of a word.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    /// What is looked at.
    pub attribute: Attribute,
    /// What it should be.
    pub value: Value,
}

/// What a condition looks at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// The universal part of speech; in CoNLL-X, the coarse tag.
    Upos,
    /// The language's own tag; in CoNLL-X, the fine one.
    Xpos,
    /// The dictionary form.
    Lemma,
    /// The word as written.
    Form,
    /// A morphological feature, by its name.
    Feature(String),
}

/// What a column or feature should be.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// Equal to this.
    Is(String),
    /// Matched, somewhere, by this regular expression.
    Like(String),
}

impl Test {
    /// Any word: `*`.
    pub fn any() -> Self {
        Self { alternatives: vec![Alternative::default()] }
    }

    /// Words with a universal part of speech.
    pub fn upos(tag: &str) -> Self {
        Self::is(Attribute::Upos, tag)
    }

    /// Words with a tag of the language.
    pub fn xpos(tag: &str) -> Self {
        Self::is(Attribute::Xpos, tag)
    }

    /// Words of which one thing is asked.
    pub fn is(attribute: Attribute, value: &str) -> Self {
        let condition = Condition { attribute, value: Value::Is(value.to_owned()) };
        Self { alternatives: vec![Alternative { conditions: vec![condition] }] }
    }

    /// Whether it holds of a word.
    ///
    /// Compiles regular expressions at every call: [`Rules`](super::Rules) does so once.
    ///
    /// # Errors
    /// Those of regular expressions that are none.
    pub fn holds(&self, word: Token<'_>) -> Result<bool, regex::Error> {
        Ok(CompiledTest::new(self)?.holds(word))
    }
}

/// A test whose regular expressions are compiled.
#[derive(Clone, Debug)]
pub(super) struct CompiledTest {
    alternatives: Vec<Vec<(Attribute, CompiledValue)>>,
}

#[derive(Clone, Debug)]
enum CompiledValue {
    Is(String),
    Like(Regex),
}

impl CompiledTest {
    pub(super) fn new(test: &Test) -> Result<Self, regex::Error> {
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

    pub(super) fn holds(&self, word: Token<'_>) -> bool {
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
