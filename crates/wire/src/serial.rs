use transport::serial_number;

serial_number! {
    /// Transmission sequence number of a DATA chunk. It wraps and has no `Ord`: compare with
    /// [`Tsn::precedes`] (rfc9260#section-1.6).
    Tsn, u32, i32
}

serial_number! {
    /// Stream sequence number of a message within its stream. It wraps and has no `Ord`: compare with
    /// [`Ssn::precedes`] (rfc9260#section-1.6).
    Ssn, u16, i16
}

serial_number! {
    /// Message identifier of an I-DATA chunk. The ordered and the unordered messages of a stream are numbered
    /// separately. It wraps and has no `Ord`: compare with [`Mid::precedes`] (rfc8260#section-2.1).
    Mid, u32, i32
}

/// Number of a stream in one direction of an association.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u16);

/// Payload protocol identifier. SCTP passes it to the application and does not interpret it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ppid(pub u32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparison_works_across_the_wrap() {
        assert!(Tsn(u32::MAX).precedes(Tsn(0)));
        assert!(!Tsn(0).precedes(Tsn(u32::MAX)));
        assert!(!Tsn(7).precedes(Tsn(7)));
        assert!(Ssn(65_530).precedes(Ssn(3)));
        assert_eq!(Tsn(3).distance_from(Tsn(u32::MAX - 1)), 5);
        assert_eq!(Ssn(u16::MAX).next(), Ssn(0));
        assert_eq!(Tsn(0).previous(), Tsn(u32::MAX));
        assert_eq!(Tsn(u32::MAX).add(3), Tsn(2));
    }

    #[test]
    fn numbers_half_a_circle_apart_do_not_precede_each_other() {
        let (a, b) = (Tsn(0), Tsn(1 << 31));
        assert!(!a.precedes(b) && !b.precedes(a));
        assert!(a.precedes(b.previous()));
        assert!(b.next().precedes(a));
    }
}
