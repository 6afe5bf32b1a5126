//! One word per line, with branches on the left, as in Udapi (Popel, Žabokrtský & Vojtek 2017).
//!
//! Heads are drawn before their dependents. A head draws a vertical line from its first to its last
//! dependent, in the first column that is free on all those lines. Lines of other words in between
//! are crossed and continue on the right. Cost: the sum over all heads of the distance from their
//! first to their last dependent.
//!
//! Words with an unknown head start with `?`. The first word of a cycle starts with `↻` and names
//! its head. If branches leave no room for their word, they are cut with `…`, and the word names
//! its head.

use super::{form, push_isolated, push_line};
use crate::draw::measure::cells;
use crate::draw::scene::{Arc, Node, Scene};

/// The next thing to draw on a line of branches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The branch from its head.
    Free,
    /// The word.
    Attached,
    /// The word, whose dependents are already attached.
    Branched,
}

struct Branch {
    drawn: String,
    length: usize,
    state: State,
}

impl Branch {
    fn push(&mut self, character: char) {
        self.drawn.push(character);
        self.length += 1;
    }

    /// Extends the line to a column.
    fn reach(&mut self, column: usize) {
        while self.length < column {
            self.push(self.along());
        }
    }

    fn along(&self) -> char {
        match self.state {
            State::Free => ' ',
            State::Attached => '─',
            State::Branched => '━',
        }
    }
}

pub(super) fn write(scene: &Scene, width: i32, out: &mut String) {
    let nodes = scene.nodes.len();
    let mut arcs: Vec<Option<&Arc>> = vec![None; nodes];
    for arc in &scene.above {
        arcs[arc.dependent] = Some(arc);
    }
    let starts = starts(&arcs);
    let mut dependents: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for (node, arc) in arcs.iter().enumerate() {
        if let (Start::Attached, Some(head)) = (starts[node], arc.and_then(|arc| arc.head)) {
            dependents[head].push(node);
        }
    }

    let mut branches: Vec<Branch> = Vec::with_capacity(nodes);
    for (node, start) in scene.nodes.iter().zip(&starts) {
        let (mark, state) = match start {
            Start::Attached => (' ', State::Free),
            Start::Root => ('─', State::Attached),
            Start::Cycle => ('↻', State::Attached),
            Start::Unknown if node.is_empty_node() => (' ', State::Free),
            Start::Unknown => ('?', State::Attached),
        };
        branches.push(Branch { drawn: mark.to_string(), length: 1, state });
    }
    let mut waiting: Vec<usize> =
        (0..nodes).rev().filter(|&node| starts[node] != Start::Attached).collect();
    while let Some(node) = waiting.pop() {
        attach(node, &dependents[node], &mut branches);
        waiting.extend(dependents[node].iter().rev());
    }

    let mut notes = notes(scene);
    for (node, mut branch) in branches.into_iter().enumerate() {
        match branch.state {
            State::Attached => branch.push('╼'),
            // A line that crossed last must not seem to end at the word.
            State::Branched if branch.drawn.ends_with('│') => branch.push('━'),
            State::Branched | State::Free => {}
        }
        let form = form(&scene.nodes[node]);
        let room = i64::from(width) - branch.length as i64 - 1;
        let is_cut = room < i64::from(cells(&form).min(width / 2));
        let mut line = if is_cut {
            let kept = (width / 2 - 1).max(0) as usize;
            branch.drawn.chars().take(kept).chain(['…']).collect()
        } else {
            branch.drawn
        };
        let Node { tags, .. } = &scene.nodes[node];
        line.push(' ');
        push_isolated(&mut line, &form);
        for tag in tags.iter().filter(|tag| !tag.text.is_empty()) {
            line.push(' ');
            push_isolated(&mut line, &tag.text);
        }
        if let Some(arc) = arcs[node] {
            line.push_str("  ");
            push_isolated(&mut line, &arc.label);
            let is_hanging = !is_cut && starts[node] != Start::Cycle;
            if let Some(head) = arc.head.filter(|_| !is_hanging) {
                line.push_str(" of ");
                push_isolated(&mut line, &scene.nodes[head].name());
            }
        }
        line.push_str(&std::mem::take(&mut notes[node]));
        push_line(out, &line, width);
    }
}

/// Draws the line from a head to its dependents.
fn attach(node: usize, dependents: &[usize], branches: &mut [Branch]) {
    let (Some(&first), Some(&last)) = (dependents.first(), dependents.last()) else { return };
    let first = first.min(node);
    let last = last.max(node);
    let column = branches[first..=last].iter().map(|branch| branch.length).max().unwrap_or(0);
    let mut next = dependents.iter().copied().peekable();
    for (at, branch) in branches.iter_mut().enumerate().take(last + 1).skip(first) {
        branch.reach(column);
        if at == node {
            branch.push(match (first < node, node < last) {
                (true, true) => '┾',
                (true, false) => '┶',
                _ => '┮',
            });
            branch.state = State::Branched;
        } else if next.next_if_eq(&at).is_some() {
            branch.push(if at == first {
                '╭'
            } else if at == last {
                '╰'
            } else {
                '├'
            });
            branch.push('─');
            branch.state = State::Attached;
        } else {
            branch.push('│');
        }
    }
}

/// Returns further notes on every node: enhanced dependencies and multiword tokens.
fn notes(scene: &Scene) -> Vec<String> {
    let mut notes = vec![String::new(); scene.nodes.len()];
    for arc in &scene.below {
        let note = &mut notes[arc.dependent];
        note.push_str(if note.is_empty() { "  + " } else { "|" });
        let head = arc.head.map_or_else(|| "0".to_owned(), |head| scene.nodes[head].id.to_string());
        note.push_str(&head);
        note.push(':');
        push_isolated(note, &arc.label);
    }
    for group in &scene.groups {
        let (first, last) = (scene.nodes[group.first].id, scene.nodes[group.last].id);
        notes[group.first].push_str(&format!("  {first}-{last} "));
        push_isolated(&mut notes[group.first], &group.form);
    }
    notes
}

/// Start of the line of a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Attached,
    Root,
    Unknown,
    /// The first word of a cycle; the others depend on it.
    Cycle,
}

fn starts(arcs: &[Option<&Arc>]) -> Vec<Start> {
    let mut starts: Vec<Start> = Vec::with_capacity(arcs.len());
    starts.extend(arcs.iter().map(|arc| match arc {
        None => Start::Unknown,
        Some(Arc { head: None, .. }) => Start::Root,
        Some(_) => Start::Attached,
    }));
    // Start a walk at every word, from left to right, and follow heads up to a word that was visited
    // before. If this same walk visited it, the word is on a cycle. It need not be the first word of
    // the cycle.
    let head = |node: usize| arcs[node].and_then(|arc| arc.head);
    let mut walks = vec![usize::MAX; arcs.len()];
    for walk in 0..arcs.len() {
        let mut at = Some(walk);
        while let Some(node) = at
            && walks[node] == usize::MAX
        {
            walks[node] = walk;
            at = head(node);
        }
        if let Some(entry) = at
            && walks[entry] == walk
        {
            let around = std::iter::successors(head(entry), |&node| head(node));
            let first = around.take_while(|&node| node != entry).fold(entry, usize::min);
            starts[first] = Start::Cycle;
        }
    }
    starts
}
