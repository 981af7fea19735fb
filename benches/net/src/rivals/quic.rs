//! quinn: QUIC in user space, with encryption.

use super::{Receiver, Result, Sender, Stopwatch, random_bytes};
use bytes::Bytes;
use quinn::{ClientConfig, Connection, Endpoint, SendStream, ServerConfig};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::{Builder, Runtime};

fn runtime() -> Result<Runtime> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}

pub struct Bound {
    runtime: Runtime,
    endpoint: Endpoint,
    certificate: CertificateDer<'static>,
}

impl Bound {
    pub fn bind() -> Result<Self> {
        let runtime = runtime()?;
        let identity = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
        let certificate = CertificateDer::from(identity.cert);
        let key = PrivatePkcs8KeyDer::from(identity.signing_key.serialize_der());
        let config = ServerConfig::with_single_cert(vec![certificate.clone()], key.into())?;
        let endpoint = runtime.block_on(async {
            Endpoint::server(config, "127.0.0.1:0".parse()?).map_err(Box::<dyn std::error::Error>::from)
        })?;
        Ok(Bound { runtime, endpoint, certificate })
    }
}

impl Receiver for Bound {
    /// The address, and the certificate in hexadecimal digits.
    fn address(&self) -> Result<String> {
        let digits: String = self.certificate.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(format!("{} {digits}", self.endpoint.local_addr()?))
    }

    fn run(self: Box<Self>) -> Result<(u64, f64)> {
        self.runtime.block_on(async {
            let connection = self.endpoint.accept().await.ok_or("closed")?.await?;
            let mut stream = connection.accept_uni().await?;
            let (mut bytes, mut watch) = (0, Stopwatch::default());
            while let Some(chunk) = stream.read_chunk(65_536, true).await? {
                watch.start();
                bytes += chunk.bytes.len() as u64;
            }
            let seconds = watch.seconds();
            connection.close(0u32.into(), b"");
            self.endpoint.wait_idle().await;
            Ok((bytes, seconds))
        })
    }
}

pub struct Connected {
    runtime: Runtime,
    connection: Connection,
    stream: SendStream,
    message: Bytes,
}

impl Connected {
    pub fn to(address: &str) -> Result<Self> {
        let (address, digits) = address.split_once(' ').ok_or("no certificate")?;
        let bytes: std::result::Result<Vec<u8>, _> =
            (0..digits.len()).step_by(2).map(|n| u8::from_str_radix(&digits[n..n + 2], 16)).collect();
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(bytes?))?;
        let runtime = runtime()?;
        let config = ClientConfig::with_root_certificates(Arc::new(roots))?;
        let (connection, stream) = runtime.block_on(async {
            let mut endpoint = Endpoint::client("127.0.0.1:0".parse()?)?;
            endpoint.set_default_client_config(config);
            let connection = endpoint.connect(address.parse()?, "localhost")?.await?;
            let stream = connection.open_uni().await?;
            Ok::<_, Box<dyn std::error::Error>>((connection, stream))
        })?;
        Ok(Connected { runtime, connection, stream, message: random_bytes(65_536).into() })
    }
}

impl Sender for Connected {
    fn send_until(&mut self, end: Instant) -> Result<()> {
        let Connected { runtime, stream, message, .. } = self;
        runtime.block_on(async {
            while Instant::now() < end {
                stream.write_chunk(message.clone()).await?;
            }
            Ok(())
        })
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.stream.finish()?;
        self.runtime.block_on(self.connection.closed());
        Ok(())
    }
}
