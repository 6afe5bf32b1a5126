//! Where a shift–reduce parser stands, the steps it may take from there, and what they cost.

/// What a parser does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The first word of the queue goes onto the stack.
    Shift,
    /// The word on top of the stack becomes a modifier of the first in the queue.
    Left,
    /// The word on top of the stack becomes a modifier of the one below.
    Right,
}

/// How many steps there are.
pub(crate) const STEPS: usize = 3;

impl Step {
    pub(crate) const ALL: [Self; STEPS] = [Step::Shift, Step::Left, Step::Right];
}

/// In which order words are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Direction {
    /// As they stand.
    #[default]
    Forwards,
    /// From the last to the first.
    Backwards,
}

impl Direction {
    /// The place in the sentence of what is at a place in the order of reading, and the other way round. The
    /// root is where it is.
    pub(crate) fn turn(self, place: usize, words: usize) -> usize {
        match self {
            Direction::Backwards if place > 0 => words + 1 - place,
            _ => place,
        }
    }

    /// Turns a list that has something for each word.
    pub(crate) fn turn_list<T: Clone>(self, list: &[T]) -> Vec<T> {
        match self {
            Direction::Forwards => list.to_vec(),
            Direction::Backwards => list.iter().rev().cloned().collect(),
        }
    }

    /// Turns the heads of all words.
    pub(crate) fn turn_heads(self, heads: &[usize]) -> Vec<usize> {
        let mut turned = self.turn_list(heads);
        turned.iter_mut().for_each(|head| *head = self.turn(*head, heads.len()));
        turned
    }
}

/// What has been built below a place. Places of words are numbers from 1, so 0 stands for none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Below {
    /// The leftmost modifier, and the nearest to the left.
    pub(crate) left: usize,
    pub(crate) near: usize,
    /// The rightmost modifier.
    pub(crate) right: usize,
    /// How many modifiers there are to the left and to the right.
    pub(crate) lefts: usize,
    pub(crate) rights: usize,
    /// A bit for each label that a modifier has, as far as there are bits.
    pub(crate) labels: u64,
}

/// A stack, a queue, and what has been built.
#[derive(Clone, Debug, Default)]
pub(crate) struct Configuration {
    words: usize,
    is_single_root: bool,
    /// Places are in the order in which words are read.
    direction: Direction,
    stack: Vec<usize>,
    /// The first word of the queue; behind the last word, the root stands.
    next: usize,
    heads: Vec<usize>,
    labels: Vec<usize>,
    /// By place, the root's first.
    below: Vec<Below>,
}

impl Configuration {
    /// All words wait.
    pub(crate) fn start(&mut self, words: usize, is_single_root: bool, direction: Direction) {
        (self.words, self.is_single_root, self.next) = (words, is_single_root, 1);
        self.direction = direction;
        self.stack.clear();
        for list in [&mut self.heads, &mut self.labels] {
            list.clear();
            list.resize(words, 0);
        }
        self.below.clear();
        self.below.resize(words + 1, Below::default());
    }

    /// In which order words are read.
    pub(crate) fn direction(&self) -> Direction {
        self.direction
    }

    /// The place that is so deep in the stack: 0 is its top.
    pub(crate) fn stacked(&self, depth: usize) -> Option<usize> {
        self.stack.len().checked_sub(depth + 1).map(|at| self.stack[at])
    }

    /// How many words the stack has.
    pub(crate) fn depth(&self) -> usize {
        self.stack.len()
    }

    /// The place that is so far behind in the queue.
    pub(crate) fn queued(&self, behind: usize) -> Option<usize> {
        match self.next + behind {
            place if place <= self.words => Some(place),
            place => (place == self.words + 1).then_some(0),
        }
    }

    pub(crate) fn below(&self, place: usize) -> &Below {
        &self.below[place]
    }

    /// The label that a word was given.
    pub(crate) fn label(&self, word: usize) -> usize {
        self.labels[word - 1]
    }

    /// Which steps are possible, in their order; none at the end.
    pub(crate) fn possible(&self) -> [bool; STEPS] {
        let (stacked, has_words) = (self.stack.len(), self.next <= self.words);
        // The root takes one word, or as many as there are.
        let may_be_taken = has_words || stacked == 1 || !self.is_single_root;
        [has_words, stacked > 0 && may_be_taken, stacked > 1]
    }

    /// The arc that a step makes, if it is possible: head and modifier.
    pub(crate) fn arc(&self, step: Step) -> Option<(usize, usize)> {
        let modifier = self.stacked(0)?;
        match step {
            Step::Shift => None,
            Step::Left => Some((self.queued(0)?, modifier)),
            Step::Right => Some((self.stacked(1)?, modifier)),
        }
    }

    /// Takes a step that is possible; the arc that it makes has a label.
    pub(crate) fn take(&mut self, step: Step, label: usize) {
        let Some((head, modifier)) = self.arc(step) else {
            self.stack.push(self.next);
            self.next += 1;
            return;
        };
        self.stack.pop();
        self.heads[modifier - 1] = head;
        self.labels[modifier - 1] = label;
        let below = &mut self.below[head];
        below.labels |= 1 << (label % u64::BITS as usize);
        if step == Step::Right {
            below.right = modifier.max(below.right);
            below.rights += 1;
        } else {
            below.left = if below.lefts == 0 { modifier } else { modifier.min(below.left) };
            below.near = modifier.max(below.near);
            below.lefts += 1;
        }
    }

    /// The head of each word that was built, in the order of the sentence.
    pub(crate) fn heads(&self) -> Vec<usize> {
        self.direction.turn_heads(&self.heads)
    }

    /// The labels of the same.
    pub(crate) fn labels(&self) -> Vec<usize> {
        self.direction.turn_list(&self.labels)
    }

    /// How many arcs of a tree each step puts out of reach; none if it is not possible. If trees may have
    /// several root words, the best tree in reach then has just so many wrong heads more (Goldberg &
    /// Nivre 2013): arcs that can be reached one by one, can be reached together.
    ///
    /// - shift: the next word can get no modifier from the stack, and no head but its top;
    /// - left, right: the word that gets its head gets no other, and no modifier from the queue.
    pub(crate) fn costs(&self, gold: &[usize]) -> [Option<usize>; STEPS] {
        let [can_shift, can_left, can_right] = self.possible();
        let shift = || {
            let (head, below) = (gold[self.next - 1], self.stack.split_last());
            let lost_head = below.is_some_and(|(_, below)| below.contains(&head));
            let lost = self.stack.iter().filter(|word| gold[**word - 1] == self.next).count();
            lost + usize::from(lost_head)
        };
        let (top, next) = (self.stacked(0).unwrap_or(0), self.queued(0).unwrap_or(0));
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
