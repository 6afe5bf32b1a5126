//! What models look at, as it is typed.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use tutte::Support;
use tutte::features::FeatureSet;

use crate::failure::{advise, usage};

/// How features find their weights.
#[derive(Clone, Copy, Debug)]
pub(super) enum Index {
    Hashed,
    Dictionary(Support),
}

impl Index {
    /// Which features a dictionary has, if there is to be one.
    pub(super) fn support(self) -> Option<Support> {
        match self {
            Index::Hashed => None,
            Index::Dictionary(support) => Some(support),
        }
    }
}

/// `hashed`, `dictionary:supported`, `dictionary:10`.
pub(super) fn index(typed: &str) -> Result<Index, String> {
    match typed.split_once(':') {
        None if typed == "hashed" => Ok(Index::Hashed),
        None if typed == "dictionary" => Ok(Index::Dictionary(Support::Gold)),
        Some(("dictionary", support)) => {
            support.parse().map(Index::Dictionary).map_err(|error: tutte::Error| error.to_string())
        }
        _ => Err("expected hashed, dictionary:supported or dictionary:10".to_owned()),
    }
}

/// Templates by the name of their set, or in a file.
pub(crate) fn templates(typed: &str) -> Result<FeatureSet> {
    if let Some(set) = FeatureSet::named(typed) {
        return Ok(set);
    }
    let path = Path::new(typed);
    if !path.exists() {
        let names = FeatureSet::NAMES.join(", ");
        return Err(usage(format!(
            "{typed}: there is no such file, and no set of templates of this name (but {names})"
        )));
    }
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {typed}"))?;
    let features = FeatureSet::parse(&text).with_context(|| typed.to_owned())?;
    if features.templates().is_empty() {
        let error = anyhow::anyhow!("{typed}: there are no templates in it");
        return Err(advise(error, "a template is a line such as h.form m.tag"));
    }
    Ok(features)
}
