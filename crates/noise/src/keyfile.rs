//! Files that hold a private key, and lists of peers.

use crate::keys::{KeyError, PrivateKey, PublicKey, Secret};
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::str::FromStr;

/// Error: a file of keys cannot be used. The text names the file, the line if there are several, and what is
/// wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct KeyFileError {
    text: String,
    /// The number of the system's error; `None` for errors in the text of a file.
    system: Option<i32>,
}

impl KeyFileError {
    fn new(file: &Path, what: impl std::fmt::Display) -> KeyFileError {
        KeyFileError::text(format!("{}: {what}", file.display()))
    }

    fn text(text: String) -> KeyFileError {
        KeyFileError { text, system: None }
    }

    fn system(file: &Path, error: &io::Error) -> KeyFileError {
        KeyFileError { system: error.raw_os_error(), ..KeyFileError::new(file, error) }
    }

    /// The number of the system's error if the file could not be opened, read or written.
    pub fn raw_os_error(&self) -> Option<i32> {
        self.system
    }
}

impl PrivateKey {
    /// Reads a private key from a file.
    ///
    /// # Errors
    /// The file cannot be read, holds no key, or is readable by other users.
    pub fn read(file: &Path) -> Result<PrivateKey, KeyFileError> {
        read_one(file)
    }

    /// Reads a private key from a file, or creates the file with a new key if it does not exist.
    ///
    /// # Errors
    /// As [`Self::read`]; or the file cannot be written.
    pub fn read_or_create(file: &Path) -> Result<PrivateKey, KeyFileError> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        options.mode(0o600);
        match options.open(file) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => PrivateKey::read(file),
            opened => opened.and_then(write_new).map_err(|error| KeyFileError::system(file, &error)),
        }
    }
}

impl Secret {
    /// Reads a secret from a file.
    ///
    /// # Errors
    /// The file cannot be read, holds no secret, or is readable by other users.
    pub fn read(file: &Path) -> Result<Secret, KeyFileError> {
        read_one(file)
    }
}

/// Reads a file that holds one key or secret and nothing else.
fn read_one<T: FromStr<Err = KeyError>>(file: &Path) -> Result<T, KeyFileError> {
    check_mode(file)?;
    let text = fs::read_to_string(file).map_err(|error| KeyFileError::system(file, &error))?;
    text.parse().map_err(|error| KeyFileError::new(file, error))
}

/// A peer in a list of peers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPeer {
    /// Its public key.
    pub key: PublicKey,
    /// Its name for people; may be empty.
    pub name: String,
    /// The secret that this peer and this end share in addition to the keys.
    pub psk: Option<Secret>,
}

/// Reads a list of peers: a line for each, `KEY [NAME] [psk=SECRET]`. Text after `#` is a comment.
///
/// # Errors
/// The file cannot be read; a line has another form, or the key of an earlier line; or the file has secrets
/// and other users may read it.
pub fn read_peers(file: &Path) -> Result<Vec<ListedPeer>, KeyFileError> {
    let text = fs::read_to_string(file).map_err(|error| KeyFileError::system(file, &error))?;
    let mut peers: Vec<ListedPeer> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let at = |what: String| KeyFileError::text(format!("{}:{number}: {what}", file.display()));
        let line = line.split('#').next().unwrap_or_default();
        if line.trim().is_empty() {
            continue;
        }
        let peer = listed(line).map_err(at)?;
        if peers.iter().any(|other| other.key == peer.key) {
            return Err(at(format!("{} is the key of an earlier line", peer.key)));
        }
        peers.push(peer);
    }
    if peers.iter().any(|peer| peer.psk.is_some()) {
        check_mode(file)?;
    }
    Ok(peers)
}

/// Reads the peers that a user named: public keys, and names of files with lists of peers ([`read_peers`]).
///
/// # Errors
/// A word is neither a key nor the name of a file; or as [`read_peers`].
pub fn parse_peers<T: AsRef<str>>(
    words: impl IntoIterator<Item = T>,
) -> Result<Vec<ListedPeer>, KeyFileError> {
    let mut peers = Vec::new();
    for word in words {
        let word = word.as_ref();
        match word.parse() {
            Ok(key) => peers.push(ListedPeer { key, name: String::new(), psk: None }),
            Err(_) if Path::new(word).exists() => peers.extend(read_peers(Path::new(word))?),
            Err(error) => {
                return Err(KeyFileError::text(format!(
                    "{word}: {error}, and there is no file of this name"
                )));
            }
        }
    }
    Ok(peers)
}

/// Parses a line of a list of peers.
fn listed(line: &str) -> Result<ListedPeer, String> {
    let mut words = line.split_whitespace();
    let key = words.next().unwrap_or_default();
    let key = key.parse().map_err(|error| format!("{key}: {error}"))?;
    let mut peer = ListedPeer { key, name: String::new(), psk: None };
    for word in words {
        match word.strip_prefix("psk=") {
            Some(psk) if peer.psk.is_none() => {
                peer.psk = Some(psk.parse().map_err(|error| format!("psk: {error}"))?);
            }
            None if peer.name.is_empty() => word.clone_into(&mut peer.name),
            _ => return Err("expected KEY [NAME] [psk=SECRET]".to_owned()),
        }
    }
    Ok(peer)
}

/// Refuses a file with secrets that other users may read.
fn check_mode(file: &Path) -> Result<(), KeyFileError> {
    #[cfg(unix)]
    {
        let mode = fs::metadata(file).map_err(|error| KeyFileError::system(file, &error))?.mode();
        if mode & 0o077 != 0 {
            return Err(KeyFileError::new(file, "other users may read this secret: chmod 600"));
        }
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

fn write_new(mut file: fs::File) -> io::Result<PrivateKey> {
    let key = PrivateKey::generate()?;
    writeln!(file, "{}", key.to_hex())?;
    file.sync_all()?;
    Ok(key)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::keys::{ALICE, BOB};
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    /// A folder of one test, removed at its end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let folder = std::env::temp_dir().join(format!("anabranch-{name}-{}", std::process::id()));
            fs::create_dir_all(&folder).expect("can be made");
            Folder(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).expect("is ours");
        }
    }

    #[test]
    fn a_key_file_is_made_once_and_read_only_if_nobody_else_may() {
        let folder = Folder::new("key");
        let file = folder.0.join("key");
        let made = PrivateKey::read_or_create(&file).expect("is written");
        assert_eq!(fs::metadata(&file).expect("exists").mode() & 0o777, 0o600);
        assert!(PrivateKey::read_or_create(&file) == Ok(made));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("is ours");
        assert!(PrivateKey::read(&file).expect_err("others may read").to_string().contains("chmod 600"));
    }

    #[test]
    fn a_list_of_peers_is_read_and_its_errors_name_file_and_line() {
        let folder = Folder::new("peers");
        let file = folder.0.join("peers");
        let read = |text: String| {
            fs::write(&file, text).expect("can be written");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("is ours");
            read_peers(&file)
        };
        let peers =
            read(format!("# clients\n\n{BOB} bob psk={ALICE} # laptop\n{ALICE}\n")).expect("is right");
        assert_eq!(peers.len(), 2);
        assert_eq!((peers[0].name.as_str(), &peers[0].psk), ("bob", &ALICE.parse().ok()));
        assert_eq!((peers[1].name.as_str(), &peers[1].psk), ("", &None));
        for (text, expected) in [
            ("123 bob".to_owned(), "peers:1: 123: a key has 64"),
            (format!("{BOB}\n{BOB}"), "peers:2: de9e"),
            (format!("{BOB} psk=1"), "peers:1: psk: a key has"),
            (format!("{BOB} bob marley"), "peers:1: expected KEY [NAME] [psk=SECRET]"),
        ] {
            let error = read(text).expect_err("is wrong").to_string();
            assert!(error.contains(expected), "{error}");
        }
        fs::write(&file, format!("{BOB} psk={ALICE}")).expect("can be written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("is ours");
        assert!(read_peers(&file).expect_err("others may read").to_string().contains("chmod 600"));
    }

    #[test]
    fn peers_are_named_by_keys_and_by_files() {
        let folder = Folder::new("named");
        let file = folder.0.join("peers");
        fs::write(&file, format!("{ALICE} alice\n")).expect("can be written");
        let file = file.to_str().expect("is text");
        let peers = parse_peers([BOB, file]).expect("are right");
        assert_eq!(peers.iter().map(|peer| peer.name.as_str()).collect::<Vec<_>>(), ["", "alice"]);
        let error = parse_peers([BOB, "de9e"]).expect_err("is wrong");
        assert!(error.to_string().starts_with("de9e: a key has 64"), "{error}");
        assert_eq!(error.raw_os_error(), None);
    }

    #[test]
    fn a_file_that_cannot_be_opened_has_the_error_of_the_system() {
        let folder = Folder::new("missing");
        let error = PrivateKey::read_or_create(&folder.0.join("no/key")).expect_err("no folder");
        assert_eq!(error.raw_os_error(), Some(2));
    }
}
