//! Strongly connected components of the graph without its root (Tarjan 1972), O(nodes + edges).

use super::edges::Edges;

/// A partition of the nodes 1..=n into components, parents' components first.
#[derive(Clone, Debug, Default)]
pub(super) struct Components {
    /// The nodes of each component, increasing.
    pub(super) nodes: Vec<Vec<usize>>,
    /// The component of a node; `usize::MAX` for the root.
    pub(super) of: Vec<usize>,
    /// The place of a node in its component's list.
    pub(super) place: Vec<usize>,
}

const UNSEEN: usize = usize::MAX;

impl Components {
    /// Finds the components. Edges are followed from child to parent, so that a component is finished
    /// only after all components from which it can be reached.
    pub(super) fn new(edges: &Edges) -> Self {
        let n = edges.nodes();
        let mut components =
            Components { nodes: Vec::new(), of: vec![UNSEEN; n + 1], place: vec![0; n + 1] };
        let mut seen_at = vec![UNSEEN; n + 1];
        let mut low = vec![0; n + 1];
        let mut clock = 0;
        let mut open = Vec::new(); // seen, component not yet known
        let mut walk: Vec<(usize, usize)> = Vec::new(); // (node, next edge to follow)
        for start in 1..=n {
            if seen_at[start] != UNSEEN {
                continue;
            }
            walk.push((start, edges.entering(start).start));
            while let Some(&mut (node, ref mut next)) = walk.last_mut() {
                if seen_at[node] == UNSEEN {
                    seen_at[node] = clock;
                    low[node] = clock;
                    clock += 1;
                    open.push(node);
                }
                if *next < edges.entering(node).end {
                    let parent = edges.parent[*next];
                    *next += 1;
                    if parent == 0 {
                        continue;
                    }
                    if seen_at[parent] == UNSEEN {
                        walk.push((parent, edges.entering(parent).start));
                    } else if components.of[parent] == UNSEEN {
                        low[node] = low[node].min(seen_at[parent]);
                    }
                    continue;
                }
                walk.pop();
                if let Some(&(below, _)) = walk.last() {
                    low[below] = low[below].min(low[node]);
                }
                if low[node] == seen_at[node] {
                    components.close(node, &mut open);
                }
            }
        }
        components
    }

    /// Makes a component of all open nodes down to `first`.
    fn close(&mut self, first: usize, open: &mut Vec<usize>) {
        let at = open.iter().rposition(|&node| node == first).unwrap_or(0);
        let mut nodes = open.split_off(at);
        nodes.sort_unstable();
        for (place, &node) in nodes.iter().enumerate() {
            self.of[node] = self.nodes.len();
            self.place[node] = place;
        }
        self.nodes.push(nodes);
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// True if the parent is in the child's own component.
    pub(super) fn inside(&self, parent: usize, child: usize) -> bool {
        self.of[parent] == self.of[child] // the root is in no component
    }

    /// The nodes that no path from the root reaches.
    pub(super) fn unreachable(&self, edges: &Edges) -> Vec<usize> {
        let mut reached = vec![false; self.len()];
        for (component, nodes) in self.nodes.iter().enumerate() {
            reached[component] = nodes.iter().flat_map(|&node| edges.entering(node)).any(|edge| {
                let parent = edges.parent[edge];
                parent == 0 || self.of[parent] != component && reached[self.of[parent]]
            });
        }
        (1..=edges.nodes()).filter(|&node| !reached[self.of[node]]).collect()
    }

    /// The components that can be entered from the root only.
    pub(super) fn sources(&self, edges: &Edges) -> Vec<usize> {
        let entered = |component: usize| {
            self.nodes[component].iter().flat_map(|&node| edges.entering(node)).any(|edge| {
                let parent = edges.parent[edge];
                parent != 0 && self.of[parent] != component
            })
        };
        (0..self.len()).filter(|&component| !entered(component)).collect()
    }
}
