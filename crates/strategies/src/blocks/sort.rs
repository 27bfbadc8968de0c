//! The unstable sorting algorithm of the GNU C++ library (`std::sort`): quicksort with the median of three, followed by insertion
//! sort. It treats ties as the library does.

use super::heap_sort;

/// Maximum length of a range that quicksort does not divide further; insertion sort sorts it afterwards.
const MAX_INSERTION_LENGTH: usize = 16;

pub(crate) fn sort_counting_comparisons<T: Copy>(
    items: &mut [T],
    less: impl Fn(&T, &T) -> bool,
) -> u64 {
    let comparisons = std::cell::Cell::new(0);
    let less = |a: &T, b: &T| {
        comparisons.set(comparisons.get() + 1);
        less(a, b)
    };
    let depth = 2 * items.len().checked_ilog2().unwrap_or(0);
    quicksort(items, depth, &less);
    let first = items.len().min(MAX_INSERTION_LENGTH);
    let rest = MAX_INSERTION_LENGTH..items.len();
    insertion_sort(&mut items[..first], &less);
    for at in rest {
        insert_unguarded(items, at, &less);
    }
    comparisons.get()
}

/// Returns the numbers from 0 to `keys.len() - 1` in decreasing order of their keys, and the number of comparisons. Numbers with
/// equal keys are in the order in which [`sort_counting_comparisons`] leaves them.
pub(crate) fn descending_order_and_comparisons<R: Copy + PartialOrd>(
    keys: &[R],
) -> (Vec<usize>, u64) {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    let comparisons = sort_counting_comparisons(&mut order, |&a, &b| keys[a] > keys[b]);
    (order, comparisons)
}

/// Partitions the items until each range is short enough for insertion sort: the right part by recursion, the left part in a
/// loop. A range at which the recursion would exceed `depth` is sorted by heap sort instead.
fn quicksort<T: Copy>(mut items: &mut [T], mut depth: u32, less: &impl Fn(&T, &T) -> bool) {
    while items.len() > MAX_INSERTION_LENGTH {
        if depth == 0 {
            heap_sort(items, less);
            return;
        }
        depth -= 1;
        let cut = partition(items, less);
        let (left, right) = std::mem::take(&mut items).split_at_mut(cut);
        quicksort(right, depth, less);
        items = left;
    }
}

fn partition<T: Copy>(items: &mut [T], less: &impl Fn(&T, &T) -> bool) -> usize {
    let middle = items.len() / 2;
    let last = items.len() - 1;
    let median = median_position([1, middle, last], |a, b| less(&items[a], &items[b]));
    items.swap(0, median);
    let pivot = items[0];
    let mut left = 1;
    let mut right = items.len();
    loop {
        while less(&items[left], &pivot) {
            left += 1;
        }
        right -= 1;
        while less(&pivot, &items[right]) {
            right -= 1;
        }
        if left >= right {
            return left;
        }
        items.swap(left, right);
        left += 1;
    }
}

fn median_position([a, b, c]: [usize; 3], less: impl Fn(usize, usize) -> bool) -> usize {
    if less(a, b) {
        if less(b, c) {
            b
        } else if less(a, c) {
            c
        } else {
            a
        }
    } else if less(a, c) {
        a
    } else if less(b, c) {
        c
    } else {
        b
    }
}

fn insertion_sort<T: Copy>(items: &mut [T], less: &impl Fn(&T, &T) -> bool) {
    for at in 1..items.len() {
        if less(&items[at], &items[0]) {
            items[..=at].rotate_right(1);
        } else {
            insert_unguarded(items, at, less);
        }
    }
}

/// Moves the item at the position `at` to the left, past all greater items, without a test for the start of the list. The first
/// item must not be greater.
fn insert_unguarded<T: Copy>(items: &mut [T], at: usize, less: &impl Fn(&T, &T) -> bool) {
    let mut to = at;
    while less(&items[at], &items[to - 1]) {
        to -= 1;
    }
    items[to..=at].rotate_right(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_40_items_with_five_keys_the_order_is_that_of_the_library() {
        // g++ 12, std::sort of 0 to 39 by decreasing 7·i mod 5.
        let keys: Vec<usize> = (0..40).map(|item| item * 7 % 5).collect();
        let (order, _) = descending_order_and_comparisons(&keys);
        let expected = [
            17, 2, 37, 22, 7, 32, 27, 12, 9, 24, 14, 29, 19, 34, 4, 39, 21, 1, 26, 31, 36, 16, 11,
            6, 18, 23, 38, 13, 28, 3, 8, 33, 0, 20, 5, 35, 10, 30, 15, 25,
        ];
        assert_eq!(order, expected);
    }

    #[test]
    fn any_list_is_sorted_even_one_that_defeats_the_pivot() {
        let mut state = 7_u64;
        for length in [0, 1, 2, 15, 16, 17, 100, 1000] {
            for modulus in [1, 3, 1 << 20] {
                let mut items: Vec<u64> = (0..length)
                    .map(|_| {
                        state = state
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1);
                        (state >> 33) % modulus
                    })
                    .collect();
                let mut expected = items.clone();
                expected.sort_unstable();
                sort_counting_comparisons(&mut items, |a, b| a < b);
                assert_eq!(items, expected);
            }
        }
        // With depth 0 the heap sorts everything.
        let mut items: Vec<u32> = (0..100).map(|n| n * 37 % 101).collect();
        quicksort(&mut items, 0, &|a, b| a < b);
        assert!(items.is_sorted());
    }
}
