/// Declares a sequence number that wraps: a newtype with circular comparison (`rfc1982#section-3.2`) and no
/// `Ord`.
#[macro_export]
macro_rules! serial_number {
    ($(#[$doc:meta])* $name:ident, $int:ty, $signed:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name(pub $int);

        impl $name {
            /// True if `self` comes before `other` on the circle. Of two numbers half a circle apart, neither
            /// precedes the other (RFC 1982 section 3.2 leaves that case undefined).
            #[inline]
            pub const fn precedes(self, other: Self) -> bool {
                (other.0.wrapping_sub(self.0) as $signed) > 0
            }

            /// The number after this one.
            #[inline]
            #[must_use]
            pub const fn next(self) -> Self {
                $name(self.0.wrapping_add(1))
            }

            /// The number before this one.
            #[inline]
            #[must_use]
            pub const fn previous(self) -> Self {
                $name(self.0.wrapping_sub(1))
            }

            /// The number `n` steps after this one.
            #[inline]
            #[must_use]
            pub const fn add(self, n: $int) -> Self {
                $name(self.0.wrapping_add(n))
            }

            /// Number of steps from `earlier` forward to this number, around the circle.
            #[inline]
            pub const fn distance_from(self, earlier: Self) -> $int {
                self.0.wrapping_sub(earlier.0)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}
