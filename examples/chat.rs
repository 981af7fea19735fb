//! A chat whose rooms are streams: a loss in one room does not delay the others.
//!
//! ```text
//! chat server [LOCAL...]
//! chat client NAME SERVER[,SERVER...]     then lines such as `3 hello` on the standard input
//! ```
//!
//! The server uses UDP port 9899 and SCTP port 5022; a client uses any free ports. Stream 0 carries notices
//! about guests who come and go; the other streams are rooms.

use anabranch_tokio::{Connection, Endpoint, Listener, Message, Received, StreamId};
use std::collections::BTreeMap;
use std::error::Error;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncBufReadExt, BufReader};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const PORT: u16 = 5022;
/// The stream of notices.
const LOBBY: StreamId = StreamId(0);

/// The present guests, by name.
#[derive(Clone, Default)]
struct Guests(Arc<Mutex<BTreeMap<String, Connection>>>);

impl Guests {
    fn with<T>(&self, change: impl FnOnce(&mut BTreeMap<String, Connection>) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sends a text to all other guests. A guest who reads too slowly misses the text,
    /// and does not delay the others.
    fn tell(&self, from: &str, stream: StreamId, text: &str) {
        self.with(|guests| {
            for (_, guest) in guests.iter().filter(|(name, _)| *name != from) {
                let _ = guest.try_send(Message::from(format!("{from}: {text}")).stream(stream));
            }
        });
    }
}

/// Accepts guests until the endpoint is closed.
async fn serve(listener: Listener) {
    let guests = Guests::default();
    while let Ok(connection) = listener.accept().await {
        tokio::spawn(host(guests.clone(), connection));
    }
}

/// Serves a guest, whose first message is the guest's name.
async fn host(guests: Guests, connection: Connection) {
    let Ok(Some(first)) = connection.recv().await else { return };
    let name = String::from_utf8_lossy(&first.data).into_owned();
    if guests.with(|guests| guests.contains_key(&name)) {
        connection.abort("this name is taken");
        return;
    }
    let others = guests.with(|guests| {
        guests.insert(name.clone(), connection.clone());
        guests.len() - 1
    });
    let welcome = Message::from(format!("{others} others are here"));
    let _ = connection.try_send(welcome.stream(LOBBY));
    guests.tell(&name, LOBBY, "is here");
    while let Ok(Some(Received { stream, data, .. })) = connection.recv().await {
        guests.tell(&name, stream, &String::from_utf8_lossy(&data));
    }
    guests.with(|guests| guests.remove(&name));
    guests.tell(&name, LOBBY, "is gone");
}

/// Sends the name of a guest as the first message.
async fn enter(connection: &Connection, name: &str) -> Result<()> {
    Ok(connection.send(Message::from(name.to_owned()).stream(LOBBY)).await?)
}

/// Sends a line `room text` to its room.
async fn say(connection: &Connection, line: &str) -> Result<()> {
    let (room, text) = line.split_once(' ').ok_or("a line is a number and a text")?;
    Ok(connection.send(Message::from(text.to_owned()).stream(StreamId(room.parse()?))).await?)
}

async fn chat(connection: Connection) -> Result<()> {
    // `lobby` reads the notices only; `connection.recv` reads the messages of all rooms.
    let mut lobby = connection.read_stream(LOBBY);
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    loop {
        tokio::select! {
            notice = lobby.recv() => match notice? {
                Some(notice) => println!("* {}", String::from_utf8_lossy(&notice.data)),
                None => return Err("the server has ended the chat".into()),
            },
            Ok(Some(message)) = connection.recv() => {
                println!("[{}] {}", message.stream.0, String::from_utf8_lossy(&message.data));
            }
            line = lines.next_line() => match line? {
                Some(line) => say(&connection, &line).await.unwrap_or_else(|error| eprintln!("{error}")),
                None => return Ok(connection.shutdown().await?),
            },
        }
    }
}

fn addresses<'a>(list: impl IntoIterator<Item = &'a str>) -> Result<Vec<IpAddr>> {
    Ok(list.into_iter().map(str::parse).collect::<std::result::Result<_, _>>()?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["server", ref locals @ ..] => {
            let locals = addresses(locals.iter().copied())?;
            let endpoint = Endpoint::builder().locals(locals).port(PORT).bind()?;
            serve(endpoint.listen(16)).await;
            Ok(())
        }
        ["client", name, servers] => {
            let endpoint = Endpoint::builder().udp_port(0).bind()?;
            let connection = endpoint.connect((addresses(servers.split(','))?, PORT)).await?;
            enter(&connection, name).await?;
            chat(connection).await
        }
        _ => Err("usage: chat server [LOCAL...] | chat client NAME SERVER[,SERVER...]".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_tokio::Peer;
    use std::net::Ipv4Addr;
    use std::time::Duration;
    use tokio::time::timeout;

    async fn heard(connection: &Connection) -> Result<(u16, String)> {
        let message = timeout(Duration::from_secs(10), connection.recv()).await??.ok_or("it ended")?;
        Ok((message.stream.0, String::from_utf8(message.data.into())?))
    }

    #[tokio::test]
    async fn what_is_said_in_a_room_is_heard_by_all_others() -> Result<()> {
        let bind = || Endpoint::builder().local(Ipv4Addr::LOCALHOST).udp_port(0).bind();
        let server = bind()?;
        tokio::spawn(serve(server.listen(16)));
        let peer = Peer::from((IpAddr::from(Ipv4Addr::LOCALHOST), server.port())).udp_port(server.udp_port());
        let join = async |name: &str| {
            let connection = bind()?.connect(peer.clone()).await?;
            enter(&connection, name).await?;
            let welcome = heard(&connection).await?;
            Result::Ok((connection, welcome))
        };
        let notice = |text: &str| (0, text.to_owned());
        let (ann, welcome) = join("Ann").await?;
        assert_eq!(welcome, notice("0 others are here"));
        let (bob, _) = join("Bob").await?;
        assert_eq!(heard(&ann).await?, notice("Bob: is here"));
        let (eve, welcome) = join("Eve").await?;
        assert_eq!(welcome, notice("2 others are here"));
        assert_eq!(heard(&bob).await?, notice("Eve: is here"));
        say(&ann, "3 hello").await?;
        assert_eq!(heard(&bob).await?, (3, "Ann: hello".into()));
        assert_eq!(heard(&eve).await?, (3, "Ann: hello".into()));
        eve.shutdown().await?;
        assert_eq!(heard(&bob).await?, notice("Eve: is gone"));
        assert!(say(&bob, "nonsense").await.is_err());
        Ok(())
    }
}
