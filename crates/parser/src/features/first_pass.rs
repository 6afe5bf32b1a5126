//! Output of the first pass, as input of the templates of the second.
//!
//! An arc-factored model cannot see two arcs at once. A second model that sees the tree of the first
//! can: the modifier's sisters, the head's head and the attached words are then part of the input.
//! Inference stays exact and O(n³) (guided or stacked parsing: Nivre & McDonald 2008; Martins, Das,
//! Smith & Xing 2008).

use std::io;

use tutte_linear::{Checkpointed, Codec, invalid};
use tutte_trees::{ArcMatrix, arcs};

/// Number of steps up a tree after which a head counts as not above a word.
const NOT_ABOVE: u64 = 12;

/// The result of a [`TransitionParser`](crate::TransitionParser): a tree, and the number of each arc's
/// label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransitionParse {
    /// The head of each word.
    pub(crate) heads: Vec<usize>,
    /// The label of each word.
    pub(crate) labels: Vec<usize>,
    /// The head of each word in the tree found backwards; empty if the parser reads forwards only.
    pub(crate) backwards: Vec<usize>,
}

/// The tree and the arc marginals of the first pass, and the tree of the
/// [transition parser](crate::TransitionParser), if there is one.
#[derive(Clone, Debug)]
pub struct FirstPassOutput {
    heads: Vec<usize>,
    marginals: ArcMatrix,
    transition_parse: Option<TransitionParse>,
    /// The modifiers of each place, in order.
    modifiers: Vec<Vec<usize>>,
    /// The first and the last place of each word's subtree.
    spans: Vec<(usize, usize)>,
}

impl FirstPassOutput {
    /// Makes the output from a tree and the marginals of arcs.
    pub fn new(heads: Vec<usize>, marginals: ArcMatrix) -> Self {
        let mut modifiers = vec![Vec::new(); heads.len() + 1];
        for (modifier, &head) in (1..).zip(&heads) {
            modifiers[head].push(modifier);
        }
        let spans = spans(&heads);
        Self { heads, marginals, transition_parse: None, modifiers, spans }
    }

    /// Adds the result of the transition parser.
    pub(crate) fn with_transition_parse(self, transition_parse: TransitionParse) -> Self {
        Self { transition_parse: Some(transition_parse), ..self }
    }

    /// Returns the result of the transition parser.
    #[cfg(test)]
    pub(crate) fn transition_parse(&self) -> Option<&TransitionParse> {
        self.transition_parse.as_ref()
    }

    /// Returns the heads of the tree.
    pub fn heads(&self) -> &[usize] {
        &self.heads
    }

    /// Returns the marginals of all arcs.
    pub(crate) fn marginals(&self) -> &ArcMatrix {
        &self.marginals
    }

    /// Returns the marginal of an arc.
    pub fn marginal(&self, head: usize, modifier: usize) -> f64 {
        self.marginals[(head, modifier)]
    }

    /// Returns the head of a word; `None` for the root.
    pub(super) fn head(&self, place: usize) -> Option<usize> {
        self.heads.get(place.checked_sub(1)?).copied()
    }

    /// Returns the outermost modifiers of a word: to its left, to its right.
    pub(super) fn outermost(&self, place: usize) -> (Option<usize>, Option<usize>) {
        let modifiers = &self.modifiers[place];
        let left = modifiers.first().copied().filter(|&modifier| modifier < place);
        let right = modifiers.last().copied().filter(|&modifier| modifier > place);
        (left, right)
    }

    /// Returns the numbers of modifiers to the left (at most 3) and to the right (at most 4) of a word.
    pub(super) fn valency(&self, place: usize) -> (usize, usize) {
        let modifiers = &self.modifiers[place];
        let left = modifiers.partition_point(|&modifier| modifier < place);
        (left.min(3), (modifiers.len() - left).min(4))
    }

    /// Returns twice the bin of an arc's marginal, plus 1 if the tree has the arc.
    pub(super) fn confidence(&self, head: usize, modifier: usize) -> u64 {
        let probability = self.marginal(head, modifier);
        // Eight equal bins; the outer two are divided again.
        let bin = (8.0 * probability).ceil() as u64
            + u64::from(probability > 0.02)
            + u64::from(probability > 0.98);
        2 * bin + u64::from(self.heads[modifier - 1] == head)
    }

    /// Returns how far up the tree an arc attaches.
    ///
    /// The level is the number of steps up the tree to the head. The steps start at the word next to the
    /// modifier's subtree, on the side of the head. More than 3 steps count as 4. The level is 5 if the
    /// head is not above that word, so that the arc would cross another. The result is twice the level,
    /// plus 1 if the head's subtree reaches over the modifier.
    ///
    /// This is for punctuation: a comma belongs to the phrase that ends before it, a full stop to the
    /// top of the tree.
    pub(super) fn level(&self, head: usize, modifier: usize) -> u64 {
        let (first, last) = self.spans[modifier];
        let (mut place, reaches_over) = if head < modifier {
            (first - 1, self.spans[head].1 > last)
        } else {
            (last + 1, self.spans[head].0 < first)
        };
        let mut steps = 0;
        while place != head && steps < NOT_ABOVE {
            steps += 1;
            match self.head(place) {
                Some(above) if place != modifier => place = above,
                _ => steps = NOT_ABOVE,
            }
        }
        let level = match steps {
            0..=3 => steps,
            4..NOT_ABOVE => 4,
            _ => 5,
        };
        2 * level + u64::from(reaches_over)
    }

    /// Returns where the head's own head is, as seen from a possible arc:
    ///
    /// - 0: nowhere, because the head is the root;
    /// - 1: at the root;
    /// - 2: at the modifier;
    /// - 3: beyond the modifier;
    /// - 4: beyond the head;
    /// - 5: between the two.
    pub(super) fn above(&self, head: usize, modifier: usize) -> u64 {
        match self.head(head) {
            None => 0,
            Some(0) => 1,
            Some(above) if above == modifier => 2,
            Some(above) if (above < modifier) != (head < modifier) => 3,
            Some(above) if (above < head) == (head < modifier) => 4,
            Some(_) => 5,
        }
    }

    /// Returns 1 if the transition parse has an arc, 2 if it has the reversed arc, otherwise 0; plus 4
    /// times the same for the tree found backwards.
    pub(super) fn transition_agreement(&self, head: usize, modifier: usize) -> u64 {
        let Some(TransitionParse { heads, backwards, .. }) = &self.transition_parse else {
            return 0;
        };
        let agreement = |tree: &[usize]| {
            let is_chosen = |head, modifier: usize| tree.get(modifier - 1) == Some(&head);
            let is_reverse = head != 0 && is_chosen(modifier, head);
            u64::from(is_chosen(head, modifier)) + 2 * u64::from(is_reverse)
        };
        agreement(heads) + 4 * agreement(backwards)
    }

    /// Returns the number of the label that the transition parser gave a word.
    pub(super) fn function(&self, place: usize) -> Option<usize> {
        self.transition_parse.as_ref()?.labels.get(place.checked_sub(1)?).copied()
    }

    /// Returns the modifiers of a head next to a possible modifier, on the same side: towards the head,
    /// away from the head.
    pub(super) fn sisters(&self, head: usize, modifier: usize) -> (Option<usize>, Option<usize>) {
        let modifiers = &self.modifiers[head];
        let before = modifiers.partition_point(|&other| other < modifier);
        let behind = modifiers.partition_point(|&other| other <= modifier);
        let left = before.checked_sub(1).map(|at| modifiers[at]);
        let right = modifiers.get(behind).copied();
        let same_side = |other: &usize| (*other < head) == (modifier < head);
        if modifier < head {
            (right.filter(same_side), left)
        } else {
            (left.filter(same_side), right)
        }
    }
}

/// Returns the first and the last place of each word's subtree; of the root, its own place.
fn spans(heads: &[usize]) -> Vec<(usize, usize)> {
    let mut spans: Vec<(usize, usize)> = (0..=heads.len()).map(|place| (place, place)).collect();
    for place in 1..=heads.len() {
        let mut above = heads[place - 1];
        // If a span contains the place already, so do the spans above it.
        while above != 0 && !(spans[above].0..=spans[above].1).contains(&place) {
            let (first, last) = spans[above];
            spans[above] = (first.min(place), last.max(place));
            above = heads[above - 1];
        }
    }
    spans
}

impl Checkpointed for FirstPassOutput {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        let Self { heads, marginals, transition_parse, .. } = self;
        codec.table(heads)?;
        let words = heads.len();
        let mut has_transition_parse = transition_parse.is_some();
        codec.flag(&mut has_transition_parse)?;
        let mut transition_parse =
            has_transition_parse.then(|| transition_parse.take().unwrap_or_default());
        if let Some(TransitionParse { heads, labels, backwards }) = &mut transition_parse {
            codec.list(heads)?;
            codec.list(labels)?;
            codec.list(backwards)?;
            let is_whole = |list: &[usize]| list.len() == words;
            if !(is_whole(heads) && is_whole(labels))
                || !backwards.is_empty() && !is_whole(backwards)
            {
                return Err(invalid("the transition parse of another sentence"));
            }
        }
        if heads.iter().any(|head| *head > words) {
            return Err(invalid(format!("a head outside a sentence of {words} words")));
        }
        for arc in arcs(words) {
            codec.value(&mut marginals[arc])?;
            if !(0.0..=1.0 + 1e-6).contains(&marginals[arc]) {
                return Err(invalid(format!("a marginal of {}", marginals[arc])));
            }
        }
        let first_pass_output = Self::new(std::mem::take(heads), std::mem::take(marginals));
        *self = Self { transition_parse, ..first_pass_output };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Word 3 is the root word; 1, 2, 5 and 6 depend on it, 4 on 5.
    fn first_pass_output() -> FirstPassOutput {
        let mut marginals = ArcMatrix::zeros(6);
        marginals[(3, 1)] = 0.99;
        marginals[(2, 1)] = 0.01;
        marginals[(5, 4)] = 0.5;
        FirstPassOutput::new(vec![3, 3, 0, 5, 3, 3], marginals)
    }

    #[test]
    fn sisters_are_the_next_modifiers_on_the_same_side() {
        let first_pass_output = first_pass_output();
        assert_eq!(first_pass_output.sisters(3, 1), (Some(2), None));
        assert_eq!(first_pass_output.sisters(3, 2), (None, Some(1)));
        assert_eq!(first_pass_output.sisters(3, 4), (None, Some(5)));
        assert_eq!(first_pass_output.sisters(3, 6), (Some(5), None));
        assert_eq!(first_pass_output.sisters(4, 1), (None, None));
    }

    #[test]
    fn words_have_heads_outermost_modifiers_and_valencies() {
        let first_pass_output = first_pass_output();
        assert_eq!(
            (first_pass_output.head(0), first_pass_output.head(3), first_pass_output.head(4)),
            (None, Some(0), Some(5))
        );
        assert_eq!(first_pass_output.outermost(3), (Some(1), Some(6)));
        assert_eq!(first_pass_output.outermost(5), (Some(4), None));
        assert_eq!((first_pass_output.valency(3), first_pass_output.valency(1)), ((2, 2), (0, 0)));
    }

    #[test]
    fn confidence_bins_marginals_and_marks_arcs_of_the_tree() {
        let first_pass_output = first_pass_output();
        let all = [(3, 1), (2, 1), (5, 4), (4, 1)].map(|(h, m)| first_pass_output.confidence(h, m));
        assert_eq!(all, [2 * 10 + 1, 2, 2 * 5 + 1, 0]);
    }

    #[test]
    fn levels_count_steps_up_the_tree() {
        let first_pass_output = first_pass_output();
        // 4 depends on 5, and 5 on 3. Next to 6 is 5, so 3 is one step up, and 4 is not above.
        let levels = [(5, 6), (3, 6), (4, 6), (0, 6)].map(|(h, m)| first_pass_output.level(h, m));
        assert_eq!(levels, [0, 2, 10, 4]);
        // The subtree of 3 reaches over 2 and 4; that of 2 does not reach over 1.
        assert_eq!(
            (
                first_pass_output.level(3, 2),
                first_pass_output.level(3, 4),
                first_pass_output.level(2, 1)
            ),
            (1, 1, 0)
        );
        // There is nothing before the first word or after the last; words below are not above.
        assert_eq!(
            (
                first_pass_output.level(0, 1),
                first_pass_output.level(6, 3),
                first_pass_output.level(5, 3)
            ),
            (0, 10, 10)
        );
        let chain = FirstPassOutput::new(vec![2, 3, 4, 5, 6, 7, 0], ArcMatrix::zeros(7));
        let levels = [1, 2, 3, 4, 5].map(|up| chain.level(1 + up, 1));
        assert_eq!(levels, [0, 2, 4, 6, 8], "four or more steps are one level");
        assert_eq!(chain.level(7, 1), 8);
    }

    #[test]
    fn heads_of_heads_have_a_side() {
        let first_pass_output = first_pass_output();
        let above = [(0, 1), (3, 1), (1, 3), (4, 6), (2, 5), (4, 3), (1, 2)];
        assert_eq!(above.map(|(h, m)| first_pass_output.above(h, m)), [0, 1, 2, 5, 5, 4, 3]);
        assert_eq!(first_pass_output.above(4, 1), 4, "5 is behind 4, as seen from 1");
    }

    #[test]
    fn a_transition_parse_is_compared_with_arcs_and_checkpointed() {
        assert_eq!(
            (first_pass_output().transition_agreement(3, 1), first_pass_output().function(1)),
            (0, None)
        );
        let transition_parse = TransitionParse {
            heads: vec![3, 1, 0, 5, 3, 3],
            labels: vec![4, 2, 0, 1, 1, 3],
            backwards: Vec::new(),
        };
        let arcs = [(3, 1), (1, 2), (2, 1), (0, 3), (2, 4)];
        let one_way = first_pass_output().with_transition_parse(transition_parse.clone());
        assert_eq!(arcs.map(|(h, m)| one_way.transition_agreement(h, m)), [1, 1, 2, 1, 0]);
        let transition_parse =
            TransitionParse { backwards: vec![2, 4, 0, 3, 3, 3], ..transition_parse };
        let mut first_pass_output =
            first_pass_output().with_transition_parse(transition_parse.clone());
        let agreements = arcs.map(|(h, m)| first_pass_output.transition_agreement(h, m));
        assert_eq!(agreements, [1, 1 + 8, 2 + 4, 1 + 4, 8]);
        assert_eq!((first_pass_output.function(0), first_pass_output.function(1)), (None, Some(4)));
        let mut bytes = Vec::new();
        first_pass_output.checkpoint(&mut Codec::Write(&mut bytes)).unwrap();
        let mut read = FirstPassOutput::new(vec![0; 6], ArcMatrix::zeros(6));
        read.checkpoint(&mut Codec::Read(&mut &bytes[..])).unwrap();
        assert_eq!(
            (read.transition_parse(), read.heads()),
            (Some(&transition_parse), first_pass_output.heads())
        );
        assert_eq!(read.level(3, 6), first_pass_output.level(3, 6));
    }

    mod against_the_definition {
        use proptest::prelude::*;
        use tutte_trees::Tree;

        use super::*;

        proptest! {
            #[test]
            fn spans_reach_from_the_first_word_of_a_subtree_to_the_last(
                heads in (1usize..8).prop_flat_map(|n| proptest::collection::vec(0..=n, n))
            ) {
                let spans = spans(&heads);
                prop_assume!(Tree::new(&heads).is_ok());
                for (word, span) in spans.iter().enumerate().skip(1) {
                    let is_below = |mut place: usize| loop {
                        if place == word || place == 0 {
                            return place == word;
                        }
                        place = heads[place - 1];
                    };
                    let below: Vec<usize> = (1..=heads.len()).filter(|at| is_below(*at)).collect();
                    prop_assert_eq!(Some(&span.0), below.first());
                    prop_assert_eq!(Some(&span.1), below.last());
                }
            }
        }
    }
}
