//! The TUN device.

use crate::config::TunnelConfig;
use std::io;
use std::net::IpAddr;
use tun_rs::{DeviceBuilder, GROTable, IDEAL_BATCH_SIZE, SyncDevice, VIRTIO_NET_HDR_LEN};

/// Length of the longest packet of a TUN device.
pub(crate) const LONGEST: usize = 65_535;
/// Length of the longest read of a TUN device.
pub(crate) const LONGEST_READ: usize = VIRTIO_NET_HDR_LEN + LONGEST;
/// Largest number of packets of one read. The kernel passes 64 KiB of a flow as one packet, which the
/// reader segments (TSO, USO). If its segments are shorter than 128 bytes, there may be more of them than
/// this number. Then the whole packet is lost.
pub(crate) const SEGMENTS: usize = 512;

/// Creates the TUN device with its addresses and MTU, and brings it up. An existing device keeps its
/// addresses and routes, and stays when the tunnel ends. If the kernel supports this, it passes several
/// packets of a flow as one packet.
///
/// # Errors
/// The system's error; or the device exists with another IPv4 address, which this call would replace together
/// with its routes.
pub(crate) fn open(config: &TunnelConfig) -> io::Result<SyncDevice> {
    open_with(config, true).or_else(|_| open_with(config, false))
}

fn open_with(config: &TunnelConfig, offload: bool) -> io::Result<SyncDevice> {
    let present: Vec<IpAddr> = if_addrs::get_if_addrs()?
        .into_iter()
        .filter(|interface| interface.name == config.interface)
        .map(|interface| interface.ip())
        .collect();
    let mut builder = DeviceBuilder::new().name(&config.interface).mtu(config.mtu).offload(offload);
    for &(address, prefix) in config.addresses.iter().filter(|(address, _)| !present.contains(address)) {
        builder = match address {
            IpAddr::V4(address) => {
                if let Some(other) = present.iter().find(|other| other.is_ipv4()) {
                    let what = format!(
                        "it exists with the address {other}, but `addresses` has {address}: give both the same one"
                    );
                    return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
                }
                builder.ipv4(address, prefix, None)
            }
            IpAddr::V6(address) => builder.ipv6(address, prefix),
        };
    }
    builder.build_sync()
}

/// Packets that are written to the TUN device together, so that successive ones of a flow become one (GRO).
#[derive(Default)]
pub(crate) struct Batch {
    table: GROTable,
    /// The first [`Self::packets`] buffers hold packets, each after room for the header of the TUN device.
    buffers: Vec<Vec<u8>>,
    packets: usize,
    bytes: usize,
}

impl Batch {
    /// Adds a packet, and returns its copy, which may be changed.
    pub(crate) fn add(&mut self, packet: &[u8]) -> &mut [u8] {
        if self.buffers.len() == self.packets {
            // With this capacity, the write can append later packets of the flow (GRO).
            self.buffers.push(Vec::with_capacity(LONGEST));
        }
        let buffer = &mut self.buffers[self.packets];
        buffer.clear();
        buffer.resize(VIRTIO_NET_HDR_LEN, 0);
        buffer.extend_from_slice(packet);
        self.packets += 1;
        self.bytes += packet.len();
        &mut buffer[VIRTIO_NET_HDR_LEN..]
    }

    pub(crate) fn is_full(&self) -> bool {
        self.packets == IDEAL_BATCH_SIZE
    }

    /// Writes and removes all packets. Returns their number and bytes, and the error if
    /// the TUN device refused one of them.
    pub(crate) fn write(&mut self, device: &SyncDevice) -> (usize, usize, io::Result<()>) {
        let packets = &mut self.buffers[..std::mem::take(&mut self.packets)];
        let written = device.send_multiple(&mut self.table, packets, VIRTIO_NET_HDR_LEN);
        (packets.len(), std::mem::take(&mut self.bytes), written.map(drop))
    }
}
