//! Attachment scores on development data.

use std::fmt;

use serde::Serialize;
use tutte::{DevScores, Labelling, ParserModel};

/// Attachment scores; models without labels have no LAS.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Scores {
    words: usize,
    uas: f64,
    las: Option<f64>,
}

impl Scores {
    pub(super) fn new(dev: &DevScores, labelling: Labelling) -> Self {
        let las = (labelling != Labelling::None).then(|| dev.las());
        Self { words: dev.words, uas: dev.uas(), las }
    }

    /// Returns the scores of a model.
    pub(crate) fn of<W>(model: &ParserModel<W>, dev: &DevScores) -> Self {
        Self::new(dev, model.labels.labelling())
    }

    /// Returns the number of scored words.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// Returns the header of [`columns`](Self::columns).
    pub(super) fn header(labelling: Labelling) -> &'static str {
        if labelling == Labelling::None { "     UAS" } else { "     UAS     LAS" }
    }

    /// Returns the columns of a table of passes.
    pub(super) fn columns(&self) -> String {
        self.all().map(|(_, share)| format!("  {:6.2}", 100.0 * share)).collect()
    }

    fn all(&self) -> impl Iterator<Item = (&'static str, f64)> {
        [("UAS", self.uas)].into_iter().chain(self.las.map(|las| ("LAS", las)))
    }
}

impl fmt::Display for Scores {
    /// Writes `UAS 88.69, LAS 86.99`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> =
            self.all().map(|(name, share)| format!("{name} {:.2}", 100.0 * share)).collect();
        f.write_str(&all.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_without_labels_have_no_las() {
        let dev = DevScores { pass: 1, words: 8, heads: 6, both: 5 };
        let labelled = Scores::new(&dev, Labelling::Joint);
        assert_eq!(labelled.to_string(), "UAS 75.00, LAS 62.50");
        assert_eq!(labelled.columns().len(), Scores::header(Labelling::Joint).len());
        let bare = Scores::new(&dev, Labelling::None);
        assert_eq!(bare.to_string(), "UAS 75.00");
        assert_eq!(bare.columns().len(), Scores::header(Labelling::None).len());
    }
}
