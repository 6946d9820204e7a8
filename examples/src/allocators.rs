//! The same tree built in memory from two allocators: a box for every node from the global one, and a bump arena that hands out
//! places one after another and frees them all at once.
//!
//! Both trees have the same shape, the same values and nodes of the same size, so that what differs is where nodes come from, where
//! they lie, and how they are given back.

use std::num::NonZeroUsize;

use crate::random::SplitMix64;

/// Builds a tree of `size` nodes with a box for each, sums it, and frees it.
///
/// The values are the numbers from 1 to `size`; the shape is random and decided by the seed, some 2 ln `size` nodes deep on average.
#[inline(never)]
pub fn boxed_tree(seed: u64, size: u64) -> u64 {
    build_and_sum(GlobalAllocator, seed, size)
}

/// Builds, sums and frees the tree of [`boxed_tree`], with its nodes in an [`Arena`].
#[inline(never)]
pub fn arena_tree(seed: u64, size: u64) -> u64 {
    build_and_sum(Arena::new(), seed, size)
}

/// A bump arena: values lie one behind another in chunks, never move, and are freed together.
#[derive(Debug)]
pub struct Arena<T> {
    /// Full but for the last.
    chunks: Vec<Vec<T>>,
}

/// Where a value lies in the [`Arena`] that handed out the place, counted from 1: an `Option` of it needs no more room than an
/// `Option` of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place(NonZeroUsize);

impl<T> Arena<T> {
    /// Values in a chunk. Chunks spare a growing arena from moving all it holds, and a power of two makes finding one a shift.
    const CHUNK: usize = 1_024;

    /// An empty arena, which has allocated nothing.
    pub fn new() -> Self {
        Self { chunks: Vec::new() }
    }

    /// Puts a value behind those that are there.
    pub fn put(&mut self, value: T) -> Place {
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < Self::CHUNK => chunk.push(value),
            _ => {
                let mut chunk = Vec::with_capacity(Self::CHUNK);
                chunk.push(value);
                self.chunks.push(chunk);
            }
        }
        let last = self.chunks.last().map_or(0, Vec::len);
        // Place of the newest value, counted from 1.
        let count = self.chunks.len().saturating_sub(1) * Self::CHUNK + last;
        Place(NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN))
    }

    /// The value at a place.
    ///
    /// # Panics
    ///
    /// If the place was handed out by another arena, and there is no such place in this one.
    pub fn get(&self, place: Place) -> &T {
        let index = place.0.get() - 1;
        &self.chunks[index / Self::CHUNK][index % Self::CHUNK]
    }
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// A node, and how it knows its children.
struct Node<Link> {
    value: u64,
    left: Option<Link>,
    right: Option<Link>,
}

/// Whatever nodes can live in.
trait Nodes {
    type Link;

    fn put(&mut self, node: Node<Self::Link>) -> Self::Link;

    fn get<'a>(&'a self, link: &'a Self::Link) -> &'a Node<Self::Link>;
}

/// A box for every node.
struct GlobalAllocator;

struct Boxed(Box<Node<Boxed>>);

impl Nodes for GlobalAllocator {
    type Link = Boxed;

    fn put(&mut self, node: Node<Boxed>) -> Boxed {
        Boxed(Box::new(node))
    }

    fn get<'a>(&'a self, link: &'a Boxed) -> &'a Node<Boxed> {
        &link.0
    }
}

impl Nodes for Arena<Node<Place>> {
    type Link = Place;

    fn put(&mut self, node: Node<Place>) -> Place {
        self.put(node)
    }

    fn get<'a>(&'a self, link: &'a Place) -> &'a Node<Place> {
        self.get(*link)
    }
}

fn build_and_sum<N: Nodes>(mut nodes: N, seed: u64, size: u64) -> u64 {
    let root = build(&mut nodes, &mut SplitMix64::new(seed), 1, size);
    root.map_or(0, |root| sum(&nodes, &root))
}

/// A tree of the values `first`, `first` + 1 and so on, `size` of them, in order from left to right. Its root is any of them with equal
/// chance, as if they had been inserted in random order.
fn build<N: Nodes>(
    nodes: &mut N,
    random: &mut SplitMix64,
    first: u64,
    size: u64,
) -> Option<N::Link> {
    if size == 0 {
        return None;
    }
    let before = random.below(size);
    let value = first + before;
    let left = build(nodes, random, first, before);
    let right = build(nodes, random, value + 1, size - before - 1);
    Some(nodes.put(Node { value, left, right }))
}

fn sum<N: Nodes>(nodes: &N, link: &N::Link) -> u64 {
    let node = nodes.get(link);
    let below = |child: &Option<N::Link>| child.as_ref().map_or(0, |child| sum(nodes, child));
    node.value + below(&node.left) + below(&node.right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_trees_sum_the_numbers_from_one_to_their_size() {
        for size in [0, 1, 2, 3, 10, 1_023, 1_024, 1_025, 20_000] {
            for seed in 0..3 {
                assert_eq!(boxed_tree(seed, size), size * (size + 1) / 2);
                assert_eq!(arena_tree(seed, size), size * (size + 1) / 2);
            }
        }
    }

    /// The values of a tree from left to right, each with its depth.
    fn walk<N: Nodes>(
        nodes: &N,
        link: Option<&N::Link>,
        depth: usize,
        seen: &mut Vec<(u64, usize)>,
    ) {
        if let Some(link) = link {
            let node = nodes.get(link);
            walk(nodes, node.left.as_ref(), depth + 1, seen);
            seen.push((node.value, depth));
            walk(nodes, node.right.as_ref(), depth + 1, seen);
        }
    }

    fn values_and_depths<N: Nodes>(mut nodes: N, seed: u64, size: u64) -> Vec<(u64, usize)> {
        let root = build(&mut nodes, &mut SplitMix64::new(seed), 1, size);
        let mut seen = Vec::new();
        walk(&nodes, root.as_ref(), 1, &mut seen);
        seen
    }

    #[test]
    fn both_trees_have_the_same_values_in_the_same_shape() {
        let boxed = values_and_depths(GlobalAllocator, 31, 3_000);
        assert_eq!(boxed, values_and_depths(Arena::new(), 31, 3_000));
        assert!(boxed.iter().map(|seen| seen.0).eq(1..=3_000));
        assert_ne!(boxed, values_and_depths(GlobalAllocator, 32, 3_000));
    }

    #[test]
    fn trees_are_shallow_enough_for_recursion() {
        for seed in 0..20 {
            let seen = values_and_depths(Arena::new(), seed, 10_000);
            let deepest = seen.iter().map(|seen| seen.1).max();
            assert!(deepest.is_some_and(|depth| depth < 60), "{deepest:?}");
        }
    }

    #[test]
    fn nodes_are_of_the_same_size_in_both() {
        assert_eq!(size_of::<Node<Boxed>>(), size_of::<Node<Place>>());
    }

    #[test]
    fn an_arena_finds_every_value_again_across_chunks() {
        let mut arena = Arena::new();
        let places: Vec<Place> = (0..5_000_u32).map(|value| arena.put(value)).collect();
        assert_eq!(arena.chunks.len(), 5);
        for (value, place) in (0..).zip(places) {
            assert_eq!(*arena.get(place), value);
        }
    }
}
