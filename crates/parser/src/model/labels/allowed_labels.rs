//! Labels that arcs may have, by whether the head is the root or a word.

/// The labels that arcs from the root may have, and those that arcs from words may have: the labels that
/// occur there. If none occurs, all are allowed.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllowedLabels {
    /// For the root and for words: `true` for each label that occurs.
    pub(super) seen: [Vec<bool>; 2],
    /// For the root and for words: 0 or −∞, added to the score of each label.
    pub(super) masks: [Vec<f32>; 2],
}

impl AllowedLabels {
    /// Allows all labels, until some are observed.
    pub(crate) fn new(labels: usize) -> Self {
        let mut allowed =
            Self { seen: [vec![false; labels], vec![false; labels]], ..Self::default() };
        allowed.update_masks();
        allowed
    }

    /// Allows the labels listed for the root and for words; `None` if a number is not that of a label.
    pub(crate) fn from_lists(labels: usize, lists: [&[usize]; 2]) -> Option<Self> {
        let mut allowed = Self::new(labels);
        for (seen, list) in allowed.seen.iter_mut().zip(lists) {
            for &label in list {
                *seen.get_mut(label)? = true;
            }
        }
        allowed.update_masks();
        Some(allowed)
    }

    /// Returns the labels that occur with the root and with words.
    pub(crate) fn lists(&self) -> [Vec<usize>; 2] {
        [0, 1].map(|place| {
            let seen = self.seen[place].iter().enumerate().filter(|(_, seen)| **seen);
            seen.map(|(label, _)| label).collect()
        })
    }

    /// Recomputes the masks from the labels that occur.
    pub(super) fn update_masks(&mut self) {
        for (mask, seen) in self.masks.iter_mut().zip(&self.seen) {
            let none = !seen.contains(&true);
            let of = |seen: &bool| if *seen || none { 0.0 } else { f32::NEG_INFINITY };
            *mask = seen.iter().map(of).collect();
        }
    }
}
