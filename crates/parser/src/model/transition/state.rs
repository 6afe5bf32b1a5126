//! The state of a shift-reduce parser, its possible steps, and their costs.

/// A step of the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Moves the first word of the queue onto the stack.
    Shift,
    /// Makes the word on top of the stack a modifier of the first word of the queue.
    Left,
    /// Makes the word on top of the stack a modifier of the word below it.
    Right,
}

/// Number of steps.
pub(crate) const STEPS: usize = 3;

impl Step {
    pub(crate) const ALL: [Self; STEPS] = [Step::Shift, Step::Left, Step::Right];
}

/// The order in which words are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From the first word to the last.
    #[default]
    Forwards,
    /// From the last word to the first.
    Backwards,
}

impl Direction {
    /// Converts a place in the order of reading to a place in the sentence, and back. The root stays
    /// place 0.
    pub(crate) fn turn(self, place: usize, words: usize) -> usize {
        match self {
            Direction::Backwards if place > 0 => words + 1 - place,
            _ => place,
        }
    }

    /// Reorders a list with one element per word.
    pub(crate) fn turn_list<T: Clone>(self, list: &[T]) -> Vec<T> {
        match self {
            Direction::Forwards => list.to_vec(),
            Direction::Backwards => list.iter().rev().cloned().collect(),
        }
    }

    /// Reorders and renumbers the heads of all words.
    pub(crate) fn turn_heads(self, heads: &[usize]) -> Vec<usize> {
        let mut turned = self.turn_list(heads);
        turned.iter_mut().for_each(|head| *head = self.turn(*head, heads.len()));
        turned
    }
}

/// Modifiers that have been attached to a place. Places of words start at 1, so 0 stands for none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Modifiers {
    /// The leftmost modifier.
    pub(crate) left: usize,
    /// The nearest modifier to the left.
    pub(crate) near: usize,
    /// The rightmost modifier.
    pub(crate) right: usize,
    /// Number of modifiers to the left.
    pub(crate) lefts: usize,
    /// Number of modifiers to the right.
    pub(crate) rights: usize,
    /// Set of the modifiers' labels: a bit for each label, modulo 64.
    pub(crate) labels: u64,
}

/// A stack, a queue, and the arcs built so far (a *configuration* in the literature).
#[derive(Clone, Debug, Default)]
pub(crate) struct ParserState {
    words: usize,
    is_single_root: bool,
    /// The order in which words are read; all places are in this order.
    direction: Direction,
    stack: Vec<usize>,
    /// The first word of the queue; the root is behind the last word.
    next: usize,
    heads: Vec<usize>,
    labels: Vec<usize>,
    /// Attached modifiers by place, the root first.
    modifiers: Vec<Modifiers>,
}

impl ParserState {
    /// Puts all words into the queue.
    pub(crate) fn start(&mut self, words: usize, is_single_root: bool, direction: Direction) {
        self.words = words;
        self.is_single_root = is_single_root;
        self.next = 1;
        self.direction = direction;
        self.stack.clear();
        for list in [&mut self.heads, &mut self.labels] {
            list.clear();
            list.resize(words, 0);
        }
        self.modifiers.clear();
        self.modifiers.resize(words + 1, Modifiers::default());
    }

    /// Returns the order in which words are read.
    pub(crate) fn direction(&self) -> Direction {
        self.direction
    }

    /// Returns the place at this depth of the stack: 0 is its top.
    pub(crate) fn stacked(&self, depth: usize) -> Option<usize> {
        self.stack.len().checked_sub(depth + 1).map(|at| self.stack[at])
    }

    /// Number of words on the stack.
    pub(crate) fn depth(&self) -> usize {
        self.stack.len()
    }

    /// Returns the place at this position of the queue: 0 is its first.
    pub(crate) fn queued(&self, behind: usize) -> Option<usize> {
        match self.next + behind {
            place if place <= self.words => Some(place),
            place => (place == self.words + 1).then_some(0),
        }
    }

    /// Returns the modifiers that have been attached to a place.
    pub(crate) fn modifiers(&self, place: usize) -> &Modifiers {
        &self.modifiers[place]
    }

    /// Returns the label of a word that has been attached.
    pub(crate) fn label(&self, word: usize) -> usize {
        self.labels[word - 1]
    }

    /// Returns which steps are possible, in the order of [`Step::ALL`]; at the end, none is.
    pub(crate) fn possible(&self) -> [bool; STEPS] {
        let stacked = self.stack.len();
        let has_words = self.next <= self.words;
        // With a single root word, the root takes a word only if the stack has no other.
        let may_attach_left = has_words || stacked == 1 || !self.is_single_root;
        [has_words, stacked > 0 && may_attach_left, stacked > 1]
    }

    /// Returns the arc that a step makes, if it makes one: head and modifier.
    pub(crate) fn arc(&self, step: Step) -> Option<(usize, usize)> {
        let modifier = self.stacked(0)?;
        match step {
            Step::Shift => None,
            Step::Left => Some((self.queued(0)?, modifier)),
            Step::Right => Some((self.stacked(1)?, modifier)),
        }
    }

    /// Takes a possible step; the arc that it makes gets the label.
    pub(crate) fn take(&mut self, step: Step, label: usize) {
        let Some((head, modifier)) = self.arc(step) else {
            self.stack.push(self.next);
            self.next += 1;
            return;
        };
        self.stack.pop();
        self.heads[modifier - 1] = head;
        self.labels[modifier - 1] = label;
        let modifiers = &mut self.modifiers[head];
        modifiers.labels |= 1 << (label % u64::BITS as usize);
        if step == Step::Right {
            modifiers.right = modifier.max(modifiers.right);
            modifiers.rights += 1;
        } else {
            let is_first = modifiers.lefts == 0;
            modifiers.left = if is_first { modifier } else { modifier.min(modifiers.left) };
            modifiers.near = modifier.max(modifiers.near);
            modifiers.lefts += 1;
        }
    }

    /// Returns the head of each word, in the order of the sentence.
    pub(crate) fn heads(&self) -> Vec<usize> {
        self.direction.turn_heads(&self.heads)
    }

    /// Returns the label of each word, in the order of the sentence.
    pub(crate) fn labels(&self) -> Vec<usize> {
        self.direction.turn_list(&self.labels)
    }

    /// Returns the cost of each step: the number of gold arcs that it puts out of reach. Impossible steps have no cost.
    /// If trees may have several root words, the best reachable tree has exactly this many more wrong heads. The reason
    /// is that arcs that are reachable one by one are reachable together (Goldberg & Nivre 2013).
    ///
    /// - shift: the next word can get no modifier from the stack, and no head from it except its top;
    /// - left, right: the word on top of the stack can get no other head, and no modifier from the
    ///   queue.
    pub(crate) fn costs(&self, gold: &[usize]) -> [Option<usize>; STEPS] {
        let [can_shift, can_left, can_right] = self.possible();
        let shift = || {
            let head = gold[self.next - 1];
            let lost_head = self.stack.split_last().is_some_and(|(_, rest)| rest.contains(&head));
            let lost = self.stack.iter().filter(|word| gold[**word - 1] == self.next).count();
            lost + usize::from(lost_head)
        };
        let top = self.stacked(0).unwrap_or(0);
        let next = self.queued(0).unwrap_or(0);
        let lost_modifiers = || gold[self.next - 1..].iter().filter(|head| **head == top).count();
        let is_queued = |place: usize| place == 0 || place >= self.next;
        let left = || {
            let head = gold[top - 1];
            let lost_head = head != next && (is_queued(head) || self.stacked(1) == Some(head));
            lost_modifiers() + usize::from(lost_head)
        };
        let right = || lost_modifiers() + usize::from(is_queued(gold[top - 1]));
        [can_shift.then(shift), can_left.then(left), can_right.then(right)]
    }
}
