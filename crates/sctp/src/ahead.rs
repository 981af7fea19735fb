use prefetch_index::prefetch_index;

/// Asks the cache for the line where a value begins, and does not wait for it.
#[inline]
pub(crate) fn fetch<T>(value: &T) {
    prefetch_index(std::slice::from_ref(value), 0);
}
