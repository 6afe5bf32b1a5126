//! Counts of correct items, and the scores computed from them.

/// Counts for precision, recall, and their harmonic mean.
///
/// ```
/// use tutte_treebank::eval::Score;
///
/// let score = Score { gold: 10, system: 8, correct: 6, aligned: Some(7) };
/// assert_eq!((score.precision(), score.recall()), (6.0 / 8.0, 6.0 / 10.0));
/// assert_eq!(score.f1(), 2.0 * 6.0 / (10.0 + 8.0));
/// assert_eq!(score.aligned_accuracy(), Some(6.0 / 7.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Number of items in the gold standard.
    pub gold: usize,
    /// Number of items in the system's analysis.
    pub system: usize,
    /// Number of correct items.
    pub correct: usize,
    /// Number of aligned items of the gold standard, where that is defined.
    pub aligned: Option<usize>,
}

impl Score {
    /// `correct / system`; 0 if the system has no items.
    pub fn precision(&self) -> f64 {
        ratio(self.correct, self.system)
    }

    /// `correct / gold`; 0 if the gold standard has no items.
    pub fn recall(&self) -> f64 {
        ratio(self.correct, self.gold)
    }

    /// `2 · correct / (gold + system)`, the harmonic mean of precision and recall.
    pub fn f1(&self) -> f64 {
        ratio(2 * self.correct, self.gold + self.system)
    }

    /// `correct / aligned`: accuracy on aligned words.
    pub fn aligned_accuracy(&self) -> Option<f64> {
        self.aligned.map(|aligned| ratio(self.correct, aligned))
    }
}

/// Returns `part / whole`, or 0 if `whole` is 0.
pub(super) fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Counts of sentences that are completely correct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompleteMatch {
    /// Number of sentences of the gold standard.
    pub sentences: usize,
    /// Number of sentences in which all heads are correct.
    pub unlabelled: usize,
    /// Number of sentences in which all heads and labels are correct.
    pub labelled: usize,
}

impl CompleteMatch {
    /// `unlabelled / sentences`.
    pub fn unlabelled_share(&self) -> f64 {
        ratio(self.unlabelled, self.sentences)
    }

    /// `labelled / sentences`.
    pub fn labelled_share(&self) -> f64 {
        ratio(self.labelled, self.sentences)
    }
}

/// Serialises the counts together with the scores, so that readers do not need the formulas.
#[cfg(feature = "serde")]
mod serialise {
    use serde::ser::{Serialize, SerializeStruct as _, Serializer};

    use super::{CompleteMatch, Score};

    impl Serialize for Score {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut fields = serializer.serialize_struct("Score", 8)?;
            fields.serialize_field("precision", &self.precision())?;
            fields.serialize_field("recall", &self.recall())?;
            fields.serialize_field("f1", &self.f1())?;
            fields.serialize_field("aligned_accuracy", &self.aligned_accuracy())?;
            fields.serialize_field("gold", &self.gold)?;
            fields.serialize_field("system", &self.system)?;
            fields.serialize_field("correct", &self.correct)?;
            fields.serialize_field("aligned", &self.aligned)?;
            fields.end()
        }
    }

    impl Serialize for CompleteMatch {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut fields = serializer.serialize_struct("CompleteMatch", 5)?;
            fields.serialize_field("sentences", &self.sentences)?;
            fields.serialize_field("unlabelled", &self.unlabelled)?;
            fields.serialize_field("labelled", &self.labelled)?;
            fields.serialize_field("unlabelled_share", &self.unlabelled_share())?;
            fields.serialize_field("labelled_share", &self.labelled_share())?;
            fields.end()
        }
    }
}
