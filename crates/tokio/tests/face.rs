//! Tests of the parts that this crate adds, over loopback.

use anabranch_tokio::sctp::AllowReset;
use anabranch_tokio::{
    AddressChange, Config, Connection, ConnectionError, Endpoint, Event, Events, MessageWriter, Received,
    ResetDirection, ResetResult, StreamId, resolve,
};
use std::future::poll_fn;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

/// Two endpoints, and the two ends of a connection between them.
async fn pair() -> ([Endpoint; 2], Connection, Connection) {
    pair_with(Config::recommended()).await
}

async fn pair_with(config: Config) -> ([Endpoint; 2], Connection, Connection) {
    let endpoint = || {
        let builder = Endpoint::builder().local(Ipv4Addr::LOCALHOST).udp_port(0).config(config.clone());
        builder.bind().expect("loopback can be bound")
    };
    let (server, client) = (endpoint(), endpoint());
    let listener = server.listen(1);
    let peer = resolve("127.0.0.1", server.port()).await.expect("an address").udp_port(server.udp_port());
    let connection = client.connect(peer).await.expect("connects");
    let accepted = listener.accept().await.expect("accepts");
    ([server, client], connection, accepted)
}

/// Reads a message that may arrive in parts.
async fn whole(connection: &Connection) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let Received { data, end_of_record, .. } = connection.recv().await.expect("is open")?;
        bytes.extend_from_slice(&data);
        if end_of_record {
            return Some(bytes);
        }
    }
}

#[tokio::test]
async fn a_message_longer_than_all_buffers_is_written_and_read_as_one() {
    const LENGTH: usize = 30_000_000;
    let (_endpoints, sender, receiver) = pair().await;
    let bytes: Vec<u8> = (0..LENGTH).map(|n| (n % 251) as u8).collect();
    let reading = tokio::spawn(async move { (whole(&receiver).await, whole(&receiver).await) });
    let mut writer = MessageWriter::from(sender.writer(StreamId(1)));
    writer.write_all(&bytes).await.expect("is taken");
    writer.shutdown().await.expect("is taken");
    drop(writer);
    sender.send("next").await.expect("the message before it has ended");
    let (message, next) = reading.await.expect("reads");
    assert!(message.expect("arrives") == bytes);
    assert_eq!(next.expect("arrives"), b"next");
}

#[tokio::test]
async fn other_senders_wait_until_a_message_is_complete() {
    let (_endpoints, sender, receiver) = pair().await;
    let mut writer = sender.writer(StreamId(1));
    writer.write_all(&[1; 200_000]).await.expect("is taken");
    let mut other = Box::pin(sender.send("other"));
    assert!(timeout(Duration::from_millis(50), &mut other).await.is_err());
    assert!(sender.try_send("other").is_err());
    writer.finish().await.expect("is taken");
    timeout(Duration::from_secs(5), other).await.expect("has room").expect("is taken");
    assert_eq!(whole(&receiver).await.expect("arrives").len(), 200_000);
    assert_eq!(whole(&receiver).await.expect("arrives"), b"other");
}

#[tokio::test]
async fn a_message_that_was_begun_is_completed_before_a_shutdown() {
    let (_endpoints, sender, receiver) = pair().await;
    let mut writer = sender.writer(StreamId(1));
    writer.write_all(&[1; 100_000]).await.expect("is taken");
    let shutdown = tokio::spawn({
        let sender = sender.clone();
        async move { sender.shutdown().await }
    });
    tokio::task::yield_now().await;
    writer.write_all(&[1; 100_000]).await.expect("is taken");
    assert!(sender.send("too late").await.is_err());
    writer.finish().await.expect("is taken");
    assert_eq!(whole(&receiver).await.expect("arrives").len(), 200_000);
    shutdown.await.expect("runs").expect("ends gracefully");
}

#[tokio::test]
async fn dropping_a_writer_within_a_message_aborts_the_connection() {
    let (_endpoints, sender, receiver) = pair().await;
    let mut writer = sender.writer(StreamId(1));
    writer.write_all(&[1; 200_000]).await.expect("is taken");
    drop(writer);
    assert!(
        matches!(sender.closed().await, ConnectionError::Closed(reason) if reason == io::CloseReason::LocalAbort)
    );
    assert!(!receiver.closed().await.is_graceful());
}

#[tokio::test]
async fn dropping_a_writer_of_which_nothing_was_taken_does_no_harm() {
    let (_endpoints, sender, receiver) = pair().await;
    let mut writer = MessageWriter::from(sender.writer(StreamId(1)));
    writer.write_all(&[1; 60_000]).await.expect("is kept");
    drop(writer);
    let mut empty = MessageWriter::from(sender.writer(StreamId(1)));
    assert_eq!(empty.shutdown().await.expect_err("is empty").kind(), ErrorKind::InvalidInput);
    drop(empty);
    sender.send("whole").await.expect("is taken");
    assert_eq!(whole(&receiver).await.expect("arrives"), b"whole");
}

#[tokio::test]
async fn listeners_and_messages_are_streams_that_end() {
    use futures_core::Stream;
    async fn next<S: Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
        poll_fn(|cx| Pin::new(&mut *stream).poll_next(cx)).await
    }
    let endpoint = || Endpoint::builder().local(Ipv4Addr::LOCALHOST).udp_port(0).bind().expect("binds");
    let (server, client) = (endpoint(), endpoint());
    let mut listener = server.listen(1);
    let peer = (IpAddr::from(Ipv4Addr::LOCALHOST), server.port());
    let connection =
        client.connect(io::Peer::from(peer).udp_port(server.udp_port())).await.expect("connects");
    let accepted = next(&mut listener).await.expect("a connection");
    connection.send("one").await.expect("is taken");
    let mut messages = accepted.messages();
    assert_eq!(next(&mut messages).await.expect("arrives").expect("is open").data, "one");
    connection.shutdown().await.expect("ends gracefully");
    assert_eq!(next(&mut messages).await, None);
    server.close().await;
    assert!(next(&mut listener).await.is_none());
}

#[tokio::test]
async fn a_name_without_addresses_is_an_error() {
    assert!(resolve("nothing.invalid", 9).await.is_err());
}

/// Waits for the next event that satisfies `wanted`.
async fn until(events: &mut Events, wanted: impl Fn(&Event) -> bool) {
    while !wanted(&events.next().await.expect("is open").expect("none is lost")) {}
}

#[tokio::test]
#[cfg(target_os = "linux")] // Other systems have one loopback address only.
async fn streams_are_reset_and_an_uplink_joins_within_a_time_limit() {
    let allow_reset = AllowReset::Streams;
    let config =
        Config { stream_reset: true, allow_reset, auth: true, asconf: true, ..Config::recommended() };
    let ([_, client], near, far) = pair_with(config).await;
    let mut events = near.events();
    let work = async {
        near.reset_streams(ResetDirection::Outgoing, &[StreamId(1)]).await.expect("begins");
        let performed =
            |event: &Event| matches!(event, Event::StreamsReset { result: ResetResult::Performed, .. });
        until(&mut events, performed).await;
        let second = IpAddr::from([127, 0, 3, 2]);
        client.add_local_address(second).await.expect("is free");
        let added = Event::AddressChange { change: AddressChange::Add, address: second, accepted: true };
        until(&mut events, |event| *event == added).await;
        near.send("goes on").await.expect("is taken");
        assert_eq!(whole(&far).await.expect("arrives"), b"goes on");
    };
    timeout(Duration::from_secs(20), work).await.expect("takes no time");
}
