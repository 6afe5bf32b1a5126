//! The ways to combine labels and arcs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;

/// The way in which labels and arcs form a distribution over labelled trees, see the documentation of
/// [`LabelModel`](crate::LabelModel).
///
/// ```
/// use tutte::Labelling;
/// assert_eq!("joint".parse::<Labelling>()?, Labelling::Joint);
/// assert_eq!(Labelling::default().to_string(), "staged");
/// # Ok::<(), tutte::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Labelling {
    /// First the arc, then its label.
    #[default]
    Staged,
    /// Arcs and labels jointly.
    Joint,
    /// No labels.
    None,
}

impl Labelling {
    const ALL: [Self; 3] = [Self::Staged, Self::Joint, Self::None];

    /// Returns the name, as in settings and model files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Staged => "staged",
            Self::Joint => "joint",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Labelling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Labelling {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|labelling| labelling.name() == text).ok_or_else(|| {
            Error::Setting(format!("labels cannot be {text:?}; expected staged, joint or none"))
        })
    }
}
