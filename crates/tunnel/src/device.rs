//! The TUN device.

use crate::config::TunnelConfig;
use std::io;
use std::net::IpAddr;
use tun_rs::{DeviceBuilder, SyncDevice};

/// Creates the device with its addresses and MTU, and brings it up. An existing device keeps its addresses
/// and routes, and stays when the tunnel ends.
///
/// # Errors
/// The system's error; or the device exists with another IPv4 address, which ours would replace together with
/// its routes.
pub(crate) fn open(config: &TunnelConfig) -> io::Result<SyncDevice> {
    let present: Vec<IpAddr> = if_addrs::get_if_addrs()?
        .into_iter()
        .filter(|interface| interface.name == config.interface)
        .map(|interface| interface.ip())
        .collect();
    let mut builder = DeviceBuilder::new().name(&config.interface).mtu(config.mtu);
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
