//! The TUN device.

use crate::config::TunnelConfig;
use std::io;
use std::net::IpAddr;
use tun_rs::{DeviceBuilder, SyncDevice};

/// Makes the device with its addresses and MTU, and brings it up.
pub(crate) fn open(config: &TunnelConfig) -> io::Result<SyncDevice> {
    let mut builder = DeviceBuilder::new().name(&config.interface).mtu(config.mtu);
    for &(address, prefix) in &config.addresses {
        builder = match address {
            IpAddr::V4(address) => builder.ipv4(address, prefix, None),
            IpAddr::V6(address) => builder.ipv6(address, prefix),
        };
    }
    builder.build_sync()
}
