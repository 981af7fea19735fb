//! Sends a file over all paths at the same time. The transfer survives as long as one path works.
//!
//! ```text
//! file_transfer receive FOLDER [LOCAL...]
//! file_transfer send FILE SERVER[,SERVER...] [LOCAL...]
//! ```
//!
//! The receiver uses UDP port 9899 and SCTP port 5021; the sender uses any free ports. A file is sent as one
//! message, `length name`, and a second message of any length with the content. The receiver answers with the
//! number of bytes written.

use anabranch_tokio::{Connection, Endpoint, MessageWriter, StreamId};
use std::error::Error;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncWriteExt};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const PORT: u16 = 5021;

/// Sends a file with this name and `length` bytes.
async fn send(
    connection: &Connection,
    name: &str,
    length: u64,
    mut content: impl AsyncRead + Unpin,
) -> Result<()> {
    connection.send(format!("{length} {name}")).await?;
    if length > 0 {
        let mut writer = MessageWriter::from(connection.writer(StreamId(0)));
        tokio::io::copy(&mut content, &mut writer).await?;
        // Without this call the message has no end, and dropping the writer aborts the connection.
        writer.shutdown().await?;
    }
    let answer = connection.recv().await?.ok_or("the receiver ended the connection")?;
    if answer.data != length.to_string() {
        return Err(format!("of {length} bytes the receiver has written {:?}", answer.data).into());
    }
    Ok(())
}

/// Receives a file into a folder; `None` if the sender has ended the connection.
async fn receive(connection: &Connection, folder: &Path) -> Result<Option<PathBuf>> {
    let Some(header) = connection.recv().await? else { return Ok(None) };
    let (length, name) = std::str::from_utf8(&header.data)?.split_once(' ').ok_or("no file name")?;
    let length: u64 = length.parse()?;
    // Only the last part of a path is used: a sender must not choose the folder.
    let path = folder.join(Path::new(name).file_name().ok_or("no file name")?);
    let mut file = File::create(&path).await?;
    let mut written = 0;
    while written < length {
        // A message that is larger than the receive buffer arrives in parts.
        let part = connection.recv().await?.ok_or("the sender ended the connection within a file")?;
        file.write_all(&part.data).await?;
        written += part.data.len() as u64;
    }
    file.flush().await?;
    connection.send(written.to_string()).await?;
    Ok(Some(path))
}

fn addresses<'a>(list: impl IntoIterator<Item = &'a str>) -> Result<Vec<IpAddr>> {
    Ok(list.into_iter().map(str::parse).collect::<std::result::Result<_, _>>()?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["receive", folder, ref locals @ ..] => {
            let locals = addresses(locals.iter().copied())?;
            let endpoint = Endpoint::builder().locals(locals).port(PORT).bind()?;
            let listener = endpoint.listen(16);
            loop {
                let connection = listener.accept().await?;
                while let Some(path) = receive(&connection, Path::new(folder)).await? {
                    println!("{}", path.display());
                }
            }
        }
        ["send", file, servers, ref locals @ ..] => {
            let locals = addresses(locals.iter().copied())?;
            let endpoint = Endpoint::builder().locals(locals).udp_port(0).bind()?;
            let connection = endpoint.connect((addresses(servers.split(','))?, PORT)).await?;
            let content = File::open(file).await?;
            let length = content.metadata().await?.len();
            let name = Path::new(file).file_name().ok_or("no file name")?.to_string_lossy();
            send(&connection, &name, length, content).await?;
            for path in connection.paths().await? {
                println!("{path}");
            }
            connection.shutdown().await?;
            Ok(())
        }
        _ => {
            Err("usage: file_transfer receive FOLDER [LOCAL...] | send FILE SERVER[,SERVER...] [LOCAL...]"
                .into())
        }
    }
}

#[cfg(all(test, target_os = "linux"))] // Only Linux has more than one loopback address.
mod tests {
    use super::*;
    use anabranch_tokio::Peer;
    use std::time::Duration;
    use testkit::{Faults, Relay};
    use tokio::time::timeout;

    #[tokio::test]
    async fn a_file_arrives_although_one_of_two_paths_is_cut_on_the_way() -> Result<()> {
        const LENGTH: usize = 12_000_000;
        let (ours, theirs) = (addresses(["127.0.0.1", "127.0.0.3"])?, addresses(["127.0.0.2", "127.0.0.4"])?);
        let bind = |locals: &[IpAddr]| Endpoint::builder().locals(locals.to_vec()).udp_port(0).bind();
        let (client, server) = (bind(&ours)?, bind(&theirs)?);
        let relay = Relay::start(&ours, &theirs, server.udp_port(), Faults::default(), 1)?;
        let peer = Peer::from((theirs, server.port())).udp_port(relay.port()?);
        let folder = std::env::temp_dir().join(format!("file-transfer-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;

        let listener = server.listen(1);
        let receiving = tokio::spawn({
            let folder = folder.clone();
            async move {
                let connection = listener.accept().await?;
                let path = receive(&connection, &folder).await?;
                Result::Ok((path, connection))
            }
        });
        let content: Vec<u8> = (0..LENGTH).map(|n| (n % 251) as u8).collect();
        let (mut pipe, reader) = tokio::io::duplex(65_536);
        let connection = client.connect(peer).await?;
        let feeding = async {
            pipe.write_all(&content[..LENGTH / 2]).await?;
            relay.cut(ours[0]);
            pipe.write_all(&content[LENGTH / 2..]).await?;
            drop(pipe);
            Ok::<(), std::io::Error>(())
        };
        let sending = send(&connection, "../content", LENGTH as u64, reader);
        let (fed, sent) = timeout(Duration::from_secs(30), async { tokio::join!(feeding, sending) }).await?;
        fed?;
        sent?;
        let (path, _open) = receiving.await??;
        let path = path.ok_or("nothing came")?;
        assert_eq!(path, folder.join("content"));
        let paths = connection.paths().await?;
        assert!(paths.iter().all(|path| path.stats.data_packets > 0), "both paths carried data");
        assert!(std::fs::read(&path)? == content);
        std::fs::remove_dir_all(&folder)?;
        Ok(())
    }
}
