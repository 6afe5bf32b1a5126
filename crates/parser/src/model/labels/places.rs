//! Which labels may be where.

/// Which labels arcs of the root may have, and which those of words: those that were seen there. If
/// none was, all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// Of the root, of words: for each label, whether it was seen.
    pub(super) seen: [Vec<bool>; 2],
    /// What is added to scores: 0 or −∞.
    pub(super) masks: [Vec<f32>; 2],
}

impl Places {
    /// Nothing seen yet.
    pub(crate) fn new(labels: usize) -> Self {
        let mut places =
            Self { seen: [vec![false; labels], vec![false; labels]], ..Self::default() };
        places.settle();
        places
    }

    /// From the labels seen with the root and with words; `None` if there are no such labels.
    pub(crate) fn from_lists(labels: usize, lists: [&[usize]; 2]) -> Option<Self> {
        let mut places = Self::new(labels);
        for (seen, list) in places.seen.iter_mut().zip(lists) {
            for &label in list {
                *seen.get_mut(label)? = true;
            }
        }
        places.settle();
        Some(places)
    }

    /// The labels seen with the root and with words.
    pub(crate) fn lists(&self) -> [Vec<usize>; 2] {
        [0, 1].map(|place| {
            let seen = self.seen[place].iter().enumerate().filter(|(_, seen)| **seen);
            seen.map(|(label, _)| label).collect()
        })
    }

    pub(super) fn settle(&mut self) {
        for (mask, seen) in self.masks.iter_mut().zip(&self.seen) {
            let none = !seen.contains(&true);
            let of = |seen: &bool| if *seen || none { 0.0 } else { f32::NEG_INFINITY };
            *mask = seen.iter().map(of).collect();
        }
    }
}
