//! Scripts of a treebank. A model trained on Latin letters cannot divide Chinese, so text in other scripts follows
//! Unicode's rules.

use std::collections::BTreeMap;

use unicode_script::{Script, UnicodeScript};

/// Scripts of the text that a model was trained on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scripts {
    /// Empty if the scripts were not recorded; then no script is foreign.
    known: Vec<Script>,
}

impl Scripts {
    /// A script is known if at least one letter in this many belongs to it.
    const ONE_IN: usize = 1000;

    /// Returns the known scripts of a text.
    pub(crate) fn of(text: impl Iterator<Item = char>) -> Self {
        let mut letters = BTreeMap::<&str, (Script, usize)>::new();
        for script in text.filter_map(script_of) {
            letters.entry(script.short_name()).or_insert((script, 0)).1 += 1;
        }
        let all: usize = letters.values().map(|(_, count)| count).sum();
        let is_known = |count: usize| count * Self::ONE_IN >= all;
        let known = letters.into_values().filter(|(_, count)| is_known(*count));
        Self { known: known.map(|(script, _)| script).collect() }
    }

    /// Reads scripts from their names in ISO 15924. Returns `None` if a name is not a script.
    pub(crate) fn from_names(names: &[String]) -> Option<Self> {
        let known =
            names.iter().map(|name| Script::from_short_name(name)).collect::<Option<_>>()?;
        Some(Self { known })
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.known.iter().map(|script| script.short_name().to_owned()).collect()
    }

    /// Returns the full names of the known scripts.
    pub(crate) fn full_names(&self) -> Vec<&'static str> {
        self.known.iter().map(|script| script.full_name()).collect()
    }

    /// Returns the most frequent script of a text, if most of its letters belong to scripts that are not known.
    pub(crate) fn foreign_script(&self, text: impl Iterator<Item = char>) -> Option<&'static str> {
        if self.known.is_empty() {
            return None;
        }
        let mut known = 0usize;
        let mut foreign = BTreeMap::<&str, usize>::new();
        for script in text.filter_map(script_of) {
            if self.known.contains(&script) {
                known += 1;
            } else {
                *foreign.entry(script.full_name()).or_default() += 1;
            }
        }
        let is_foreign = foreign.values().sum::<usize>() > known;
        let most = foreign.into_iter().max_by_key(|(_, count)| *count);
        most.filter(|_| is_foreign).map(|(script, _)| script)
    }

    /// Returns `true` if most letters of a text belong to other scripts.
    pub(crate) fn are_foreign_to(&self, text: impl Iterator<Item = char>) -> bool {
        self.foreign_script(text).is_some()
    }
}

/// Returns the script of a letter, or `None` for characters that texts of any script contain.
fn script_of(c: char) -> Option<Script> {
    match c {
        'a'..='z' | 'A'..='Z' => Some(Script::Latin),
        c if c.is_ascii() || !c.is_alphabetic() => None,
        c => {
            Some(c.script()).filter(|script| !matches!(script, Script::Common | Script::Inherited))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_known_that_are_not_rare() {
        let text = format!("{} Чай 茶。", "Tea for two, 2000 times. ".repeat(400));
        let scripts = Scripts::of(text.chars());
        assert_eq!(scripts.names(), ["Latn"]);
        assert_eq!(Scripts::from_names(&scripts.names()), Some(scripts.clone()));
        assert_eq!(Scripts::from_names(&["Nope".to_owned()]), None);
        for (text, foreign) in [
            ("Ça va, Ärger", false),
            ("我喜欢茶。", true),
            ("Чай готов (tea).", true),
            ("ten words of Latin and 茶", false),
            ("1984!", false),
            ("", false),
        ] {
            assert_eq!(scripts.are_foreign_to(text.chars()), foreign, "{text}");
        }
        let japanese = Scripts::of("茶を飲む。コーヒーも！".chars());
        assert_eq!(japanese.names(), ["Hani", "Hira", "Kana"]);
        assert!(
            !Scripts::default().are_foreign_to("茶".chars()),
            "without recorded scripts, none is foreign"
        );
    }
}
