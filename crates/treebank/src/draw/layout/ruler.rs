//! Widths of words and gaps along the sentence, and line breaks.

use std::ops::Range;

use super::Metrics;
use crate::draw::scene::{Arc, Scene};

/// The sentence on one endless line, in reading order.
pub(super) struct Ruler {
    pub(super) widths: Vec<i32>,
    /// Distance from the centre of a node to its outermost attachment point.
    pub(super) reach: Vec<i32>,
    /// Width of the name of a node in the margin.
    pub(super) names: Vec<i32>,
    /// `gaps[i]` is the gap between nodes i and i + 1.
    pub(super) gaps: Vec<i32>,
    /// `cuts[i]` is the cost of a break before node i.
    pub(super) cuts: Vec<u64>,
    /// `edges[i]` is the maximum room for cut arcs and names on each side of a break before node i.
    pub(super) edges: Vec<Edge>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Edge {
    /// Distance from the last word to the end of cut arcs.
    pub(super) arcs: i32,
    /// Distance from the end of cut arcs to the margin.
    pub(super) names: i32,
}

impl Edge {
    pub(super) fn widen(&mut self, arcs: i32, names: i32) {
        self.arcs = self.arcs.max(arcs);
        self.names = self.names.max(names);
    }
}

impl Ruler {
    pub(super) fn new(scene: &Scene, metrics: &Metrics) -> Self {
        let nodes = scene.nodes.len();
        let slots_above = slots(&scene.above, nodes);
        let slots_below = slots(&scene.below, nodes);
        let slots = slots_above.iter().zip(&slots_below).map(|(&above, &below)| above.max(below));
        let reach: Vec<i32> = slots.map(|slots| (slots - 1).max(0) * metrics.slot / 2).collect();

        let mut widths = Vec::with_capacity(nodes);
        for (place, node) in scene.nodes.iter().enumerate() {
            let tags = node.tags.iter().map(|tag| (metrics.small)(&tag.text)).max().unwrap_or(0);
            let frame = if node.is_empty_node() { metrics.frame } else { 0 };
            let form = (metrics.form)(&node.form) + frame;
            widths.push(form.max(tags).max(2 * reach[place] + 1));
        }
        for arc in scene.above.iter().chain(&scene.below).filter(|arc| arc.head.is_none()) {
            let width = &mut widths[arc.dependent];
            *width = (*width).max((metrics.label)(&arc.label));
        }

        let mut gaps = vec![metrics.gap; nodes.saturating_sub(1)];
        let mut widen = |low: usize, high: usize, needed: i32, inside: i32| {
            let between: i32 = widths[low + 1..high].iter().sum();
            let space: i32 = gaps[low..high].iter().sum();
            let missing = needed - (inside + between + space);
            if missing > 0 {
                let count = (high - low) as i32;
                gaps[low..high].iter_mut().for_each(|gap| *gap += missing / count);
                gaps[low..low + (missing % count) as usize].iter_mut().for_each(|gap| *gap += 1);
            }
        };
        let mut arcs: Vec<(usize, usize, i32)> = Vec::new();
        for arc in scene.above.iter().chain(&scene.below) {
            if let Some((low, high)) = arc.span() {
                arcs.push((low, high, (metrics.label)(&arc.label) + metrics.label_room));
            }
        }
        arcs.sort_by_key(|&(low, high, _)| (high - low, low));
        for &(low, high, needed) in &arcs {
            widen(low, high, needed + reach[low] + reach[high], (widths[low] + widths[high]) / 2);
        }
        for group in scene.groups.iter().filter(|group| group.first < group.last) {
            let outer = widths[group.first] + widths[group.last];
            widen(group.first, group.last, (metrics.small)(&group.form), outer);
        }

        let mut cuts = vec![0; nodes + 1];
        let mut edges = vec![Edge::default(); nodes + 1];
        let names: Vec<i32> = scene
            .nodes
            .iter()
            .map(|node| (metrics.small)(&node.name()).min(metrics.margin))
            .collect();
        for &(low, high, needed) in &arcs {
            for at in low + 1..=high {
                cuts[at] += 1;
                edges[at].widen(needed, names[low].max(names[high]));
            }
        }
        for group in &scene.groups {
            cuts[group.first + 1..=group.last].iter_mut().for_each(|cut| *cut += 2);
        }
        Self { widths, reach, names, gaps, cuts, edges }
    }

    /// Returns the nodes of every line.
    pub(super) fn break_lines(&self, width: i32) -> Vec<Range<usize>> {
        let nodes = self.widths.len();
        let inner: i64 = self.widths.iter().chain(&self.gaps).map(|&w| i64::from(w)).sum();
        if inner <= i64::from(width) {
            return std::iter::once(0..nodes).collect();
        }
        let edge = |at: usize| i64::from(self.edges[at].arcs) + i64::from(self.edges[at].names);
        // Minimum (cost, squared slack) of all lines before a break, and the start of the last
        // line.
        let mut best: Vec<((u64, u64), usize)> = vec![((0, 0), 0)];
        for end in 1..=nodes {
            let mut used = edge(end);
            let mut least = ((u64::MAX, u64::MAX), end - 1);
            for start in (0..end).rev() {
                used += i64::from(self.widths[start]);
                if start + 1 < end {
                    used += i64::from(self.gaps[start]);
                }
                // An earlier break may need less room for cut arcs, so longer lines may still fit.
                let slack = i64::from(width) - used - edge(start);
                if used > i64::from(width) && start + 1 < end {
                    break;
                }
                if slack < 0 && start + 1 < end {
                    continue;
                }
                let ((cost, unevenness), _) = best[start];
                let squared = slack.unsigned_abs().saturating_pow(2);
                let cost = (cost + 4 + self.cuts[start], unevenness.saturating_add(squared));
                if cost < least.0 {
                    least = (cost, start);
                }
            }
            best.push(least);
        }
        let mut ranges = Vec::new();
        let mut end = nodes;
        while end > 0 {
            ranges.push(best[end].1..end);
            end = best[end].1;
        }
        ranges.reverse();
        ranges
    }
}

/// Returns the number of arcs that touch each node.
fn slots(arcs: &[Arc], nodes: usize) -> Vec<i32> {
    let mut slots = vec![0; nodes];
    for arc in arcs {
        slots[arc.dependent] += 1;
        if let Some(head) = arc.head {
            slots[head] += 1;
        }
    }
    slots
}
