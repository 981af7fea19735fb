use super::raw::Framing;
use quinn_udp::{EcnCodepoint, RecvMeta};
use std::io::{self, IoSliceMut};
use std::net::IpAddr;
use transport::{Datagram, Ecn, Octets};

/// Largest number of trains that one call reads. A train is several datagrams that the
/// kernel joined (UDP GRO).
const TRAINS: usize = 8;
/// Bytes of the longest train.
const TRAIN: usize = 65_536;

/// Buffers of the sockets, with the datagrams read last.
#[derive(Debug)]
pub(crate) struct Buffers {
    bytes: Vec<u8>,
    meta: [RecvMeta; TRAINS],
    /// Number of trains read.
    filled: usize,
    /// The address of the socket; `None` if each train names its own destination address.
    address: Option<IpAddr>,
    framing: Framing,
}

impl Default for Buffers {
    fn default() -> Self {
        Buffers { bytes: vec![0; TRAINS * TRAIN], ..Buffers::empty() }
    }
}

impl Buffers {
    /// A value without memory. It takes the place of the real
    /// buffers while the caller handles their datagrams.
    pub(crate) fn empty() -> Self {
        let meta = [RecvMeta::default(); TRAINS];
        Buffers { bytes: Vec::new(), meta, filled: 0, address: None, framing: Framing::Udp }
    }

    /// Reads by a system call; returns the number of datagrams and of their bytes.
    pub(super) fn fill(
        &mut self,
        address: Option<IpAddr>,
        framing: Framing,
        read: impl FnOnce(&mut [IoSliceMut<'_>], &mut [RecvMeta]) -> io::Result<usize>,
    ) -> io::Result<(usize, usize)> {
        self.filled = 0;
        (self.address, self.framing) = (address, framing);
        let mut chunks = self.bytes.chunks_exact_mut(TRAIN);
        let mut slices: [IoSliceMut<'_>; TRAINS] =
            std::array::from_fn(|_| IoSliceMut::new(chunks.next().unwrap_or_default()));
        self.filled = read(&mut slices, &mut self.meta)?;
        let trains = self.meta[..self.filled].iter();
        Ok(trains.fold((0, 0), |(datagrams, bytes), meta| {
            (datagrams + meta.len.div_ceil(meta.stride.max(1)), bytes + meta.len)
        }))
    }

    /// The datagrams that were read, in order.
    pub(crate) fn datagrams(&self) -> impl Iterator<Item = Datagram<'_>> {
        let trains = self.meta[..self.filled].iter().zip(self.bytes.chunks_exact(TRAIN));
        trains.flat_map(|(meta, bytes)| {
            let template = self.template(meta);
            let packets = bytes[..meta.len].chunks(meta.stride.max(1));
            let framing = self.framing;
            packets.filter_map(move |packet| {
                Some(Datagram { bytes: Octets::from(framing.packet(packet)?), ..template? })
            })
        })
    }

    /// The addresses, UDP port and ECN field that all datagrams of a train share; `None` if the train cannot
    /// be answered.
    fn template(&self, meta: &RecvMeta) -> Option<Datagram<'static>> {
        let port = match self.framing.is_udp() {
            // A datagram from port 0 cannot be answered, and would be mistaken for one without encapsulation.
            true => Some(meta.addr.port()).filter(|&port| port != 0)?,
            false => 0,
        };
        let dst = self.address.or(meta.dst_ip)?;
        let arrived = Datagram::new(meta.addr.ip(), dst, Octets::default());
        Some(Datagram { udp_port: port, ecn: ecn(meta.ecn), ..arrived })
    }
}

fn ecn(bits: Option<EcnCodepoint>) -> Ecn {
    match bits {
        None => Ecn::NotCapable,
        Some(EcnCodepoint::Ect1) => Ecn::Capable1,
        Some(EcnCodepoint::Ect0) => Ecn::Capable0,
        Some(EcnCodepoint::Ce) => Ecn::CongestionExperienced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    fn filled(port: u16, len: usize, stride: usize) -> Buffers {
        let mut buffers = Buffers::default();
        let read = |slices: &mut [IoSliceMut<'_>], meta: &mut [RecvMeta]| {
            for (n, byte) in slices[0][..len].iter_mut().enumerate() {
                *byte = n as u8;
            }
            meta[0].addr = SocketAddr::from(([127, 0, 0, 2], port));
            (meta[0].len, meta[0].stride) = (len, stride);
            Ok(1)
        };
        let expected = (len.div_ceil(stride.max(1)), len);
        assert_eq!(buffers.fill(Some([127, 0, 0, 1].into()), Framing::Udp, read).expect("reads"), expected);
        buffers
    }

    #[test]
    fn a_train_is_cut_into_datagrams_by_its_stride() {
        let buffers = filled(9899, 5, 2);
        let cut: Vec<_> = buffers.datagrams().map(|datagram| datagram.bytes.to_vec()).collect();
        assert_eq!(cut, [vec![0, 1], vec![2, 3], vec![4]]);
        let first = buffers.datagrams().next().expect("three");
        assert_eq!((first.udp_port, first.dst), (9899, IpAddr::from([127, 0, 0, 1])));
    }

    #[test]
    fn datagrams_of_port_0_are_dropped() {
        assert_eq!(filled(0, 5, 2).datagrams().count(), 0);
    }
}
