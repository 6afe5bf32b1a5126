//! Attachment scores from heads and labels alone, without files; for example during training.

use std::ops::AddAssign;

use super::CompleteMatch;
use super::score::ratio;

/// Numbers of words with the correct head, the correct label, or both.
///
/// ```
/// use tutte_treebank::eval::Attachment;
///
/// let mut total = Attachment::default();
/// total += Attachment::of(&[2, 0], &["nsubj", "root"], &[2, 0], &["obj", "root"]);
/// total += Attachment::of(&[0, 1, 2], &["root", "obj", "amod"], &[0, 1, 1], &["root", "obj", "amod"]);
/// assert_eq!((total.uas(), total.las(), total.label_accuracy()), (0.8, 0.6, 0.8));
/// assert_eq!(total.complete.unlabelled_share(), 0.5);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attachment {
    /// Number of scored words.
    pub words: usize,
    /// Number of words with the correct head.
    pub heads: usize,
    /// Number of words with the correct label. Their heads do not matter.
    pub labels: usize,
    /// Number of words with the correct head and label.
    pub both: usize,
    /// Sentences in which all scored words are correct.
    pub complete: CompleteMatch,
}

impl Attachment {
    /// Scores one sentence. Heads are numbers of words from 1, 0 for the root; `heads[0]` is the
    /// head of word 1. If the lengths differ, the words beyond the shortest are not scored.
    pub fn of<G: PartialEq<S>, S>(
        gold_heads: &[usize],
        gold_labels: &[G],
        heads: &[usize],
        labels: &[S],
    ) -> Self {
        let heads = gold_heads.iter().zip(heads).map(|(gold, system)| gold == system);
        let labels = gold_labels.iter().zip(labels).map(|(gold, system)| gold == system);
        Self::of_words(heads.zip(labels))
    }

    /// Scores one sentence from `(is_head_correct, is_label_correct)` of its words. A sentence
    /// without words is not counted.
    pub fn of_words(words: impl IntoIterator<Item = (bool, bool)>) -> Self {
        let mut sum = Attachment::default();
        for (head, label) in words {
            sum.words += 1;
            sum.heads += usize::from(head);
            sum.labels += usize::from(label);
            sum.both += usize::from(head && label);
        }
        sum.complete = CompleteMatch {
            sentences: usize::from(sum.words > 0),
            unlabelled: usize::from(sum.words > 0 && sum.heads == sum.words),
            labelled: usize::from(sum.words > 0 && sum.both == sum.words),
        };
        sum
    }

    /// Unlabelled attachment score: share of words with the correct head.
    pub fn uas(&self) -> f64 {
        ratio(self.heads, self.words)
    }

    /// Labelled attachment score: share of words with the correct head and label.
    pub fn las(&self) -> f64 {
        ratio(self.both, self.words)
    }

    /// Label accuracy: share of words with the correct label.
    pub fn label_accuracy(&self) -> f64 {
        ratio(self.labels, self.words)
    }
}

impl AddAssign for Attachment {
    fn add_assign(&mut self, other: Self) {
        self.words += other.words;
        self.heads += other.heads;
        self.labels += other.labels;
        self.both += other.both;
        self.complete.sentences += other.complete.sentences;
        self.complete.unlabelled += other.complete.unlabelled;
        self.complete.labelled += other.complete.labelled;
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Attachment {
    /// Serialises the counts together with the scores.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        let mut fields = serializer.serialize_struct("Attachment", 8)?;
        fields.serialize_field("uas", &self.uas())?;
        fields.serialize_field("las", &self.las())?;
        fields.serialize_field("label_accuracy", &self.label_accuracy())?;
        fields.serialize_field("words", &self.words)?;
        fields.serialize_field("heads", &self.heads)?;
        fields.serialize_field("labels", &self.labels)?;
        fields.serialize_field("both", &self.both)?;
        fields.serialize_field("complete", &self.complete)?;
        fields.end()
    }
}
