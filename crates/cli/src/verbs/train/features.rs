//! Feature templates and feature indices on the command line.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use tutte::Support;
use tutte::features::{FactorSet, FeatureSet};
use tutte::learn::FactorOptions;

use crate::failure::{advise, usage};

/// Value of `--features`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Index {
    Hashed,
    Dictionary(Support),
}

impl Index {
    /// Returns the features of the dictionary, if there is one.
    pub(super) fn support(self) -> Option<Support> {
        match self {
            Index::Hashed => None,
            Index::Dictionary(support) => Some(support),
        }
    }
}

/// Reads `hashed`, `dictionary:supported` or `dictionary:10`.
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

/// Returns the file of templates, unless it is the name of a set.
pub(crate) fn template_file(typed: &str) -> Option<&Path> {
    FeatureSet::named(typed).is_none().then(|| Path::new(typed))
}

/// Returns a set of templates by its name, or reads it from a file.
pub(crate) fn templates(typed: &str) -> Result<FeatureSet> {
    if let Some(set) = FeatureSet::named(typed) {
        return Ok(set);
    }
    let path = Path::new(typed);
    if !path.exists() {
        let names = FeatureSet::NAMES.join(", ");
        return Err(usage(format!(
            "{typed}: neither a file nor a set of templates; name a file, or one of {names}"
        )));
    }
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {typed}"))?;
    let features = FeatureSet::parse(&text).with_context(|| typed.to_owned())?;
    if features.templates().is_empty() {
        let error = anyhow::anyhow!("{typed}: the file has no templates");
        return Err(advise(error, "write one template per line, such as h.form m.tag"));
    }
    Ok(features)
}

/// Name of no factors.
const NO_FACTORS: &str = "none";

/// Returns the file of templates of factors, unless it is a name.
pub(super) fn factor_file(typed: &str) -> Option<&Path> {
    let is_name = typed == NO_FACTORS || FactorSet::NAMES.contains(&typed);
    (!is_name).then(|| Path::new(typed))
}

/// Returns the options of factors by a name, or of the templates in a file.
pub(super) fn factors(typed: &str) -> Result<Option<FactorOptions>> {
    let options = FactorOptions::default();
    if let Some(templates) = FactorSet::named(typed) {
        return Ok(Some(options.with_templates(templates)));
    }
    match factor_file(typed) {
        None => Ok(None),
        Some(path) if !path.exists() => {
            let names = FactorSet::NAMES.join(", ");
            Err(usage(format!(
                "{typed}: neither a file nor factors by name; name a file, or one of {names}, {NO_FACTORS}"
            )))
        }
        Some(path) => {
            let text = fs::read_to_string(path).with_context(|| format!("cannot read {typed}"))?;
            let templates = FactorSet::parse(&text).with_context(|| typed.to_owned())?;
            if templates.is_empty() {
                let error = anyhow::anyhow!("{typed}: the file has no templates");
                return Err(advise(
                    error,
                    "write one per line, such as: grandparent g.upos m.lemma",
                ));
            }
            Ok(Some(options.with_templates(templates)))
        }
    }
}
