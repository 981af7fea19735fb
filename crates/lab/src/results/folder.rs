//! Folders of results: tables and a `manifest.json` with the SHA-256 of each table and of itself, so that
//! changed values are detected.

use super::{Kind, Table, read_parquet};
use crate::scenario::hexadecimal;
use bytes::Bytes;
use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file that describes the run.
pub const MANIFEST: &str = "manifest.json";

/// The key in the manifest under which it has the SHA-256 of each other file of the folder.
pub const OUTPUTS: &str = "outputs_sha256";

/// The key of the SHA-256 of the manifest. The sum is computed
/// over the text with an empty string as the value of this key.
const SEAL: &str = "manifest_sha256";

/// Error: why a folder of results cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// The manifest has no checksum of itself.
    #[error(
        "{} has no checksums: it is damaged, or of an older version of this program; run the scenario again",
        path.display()
    )]
    Unsealed {
        /// The manifest.
        path: PathBuf,
    },
    /// A file was changed after it was written.
    #[error("{} is damaged: its SHA-256 is not the one that the manifest has", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
}

/// The text of a manifest, with its SHA-256.
pub fn sealed(manifest: &Json) -> String {
    let mut manifest = manifest.clone();
    manifest[SEAL] = json!("");
    let blank = format!("{manifest:#}\n");
    manifest[SEAL] = json!(hexadecimal(&Sha256::digest(&blank)));
    format!("{manifest:#}\n")
}

/// Parses a manifest; `None` if its SHA-256 is wrong.
pub fn unsealed(text: &str) -> Option<Json> {
    let mut manifest: Json = serde_json::from_str(text).ok()?;
    let sum = manifest.as_object_mut()?.remove(SEAL)?;
    let blank = text.replacen(sum.as_str().filter(|sum| sum.len() == 64)?, "", 1);
    (sum == hexadecimal(&Sha256::digest(blank))).then_some(manifest)
}

/// The SHA-256 of files, by their names.
///
/// # Errors
/// Errors of reading the files.
pub fn sums(files: &[PathBuf]) -> io::Result<Map<String, Json>> {
    let sum = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, json!(hexadecimal(&Sha256::digest(fs::read(path)?)))))
    };
    files.iter().map(sum).collect()
}

/// A folder of results, whose manifest is undamaged.
#[derive(Debug)]
pub struct ResultFolder {
    folder: PathBuf,
    manifest: Json,
}

impl ResultFolder {
    /// Reads the manifest.
    ///
    /// # Errors
    /// If the manifest is missing, damaged, or has no SHA-256.
    pub fn open(folder: &Path) -> Result<Self, FolderError> {
        let path = folder.join(MANIFEST);
        let text =
            String::from_utf8(read(&path)?).map_err(|_| FolderError::Damaged { path: path.clone() })?;
        match unsealed(&text) {
            Some(manifest) => Ok(ResultFolder { folder: folder.to_owned(), manifest }),
            None if text.contains(SEAL) => Err(FolderError::Damaged { path }),
            None => Err(FolderError::Unsealed { path }),
        }
    }

    /// The contents of the manifest.
    pub fn manifest(&self) -> &Json {
        &self.manifest
    }

    /// Reads a table of the folder, with the columns of `shape`.
    ///
    /// # Errors
    /// If the table is missing, changed, or has other columns.
    pub fn table(&self, name: &str, shape: &[(String, Kind)]) -> Result<Table, FolderError> {
        let path = self.folder.join(name);
        let bytes = read(&path)?;
        let whole = self.manifest[OUTPUTS][name] == hexadecimal(&Sha256::digest(&bytes));
        let table = if whole { read_parquet(Bytes::from(bytes), shape).ok() } else { None };
        table.ok_or(FolderError::Damaged { path })
    }
}

fn read(path: &Path) -> Result<Vec<u8>, FolderError> {
    fs::read(path).map_err(|source| FolderError::Unreadable { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::super::{scalars_of, to_parquet_bytes};
    use super::*;

    #[test]
    fn a_changed_byte_of_a_manifest_or_of_a_file_is_found() {
        let folder = std::env::temp_dir().join(format!("anabranch-folder-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path_of_table = folder.join("scalars.parquet");
        let rows = scalars_of(&[]);
        let bytes = to_parquet_bytes(&rows).unwrap();
        fs::write(&path_of_table, &bytes).unwrap();
        let manifest = json!({ "title": "a \"title\"", "wall_s": 0.1, OUTPUTS: sums(std::slice::from_ref(&path_of_table)).unwrap() });
        let text = sealed(&manifest);
        let path = folder.join(MANIFEST);
        fs::write(&path, &text).unwrap();
        let opened = ResultFolder::open(&folder).unwrap();
        let read = |name| opened.table(name, &rows.shape());
        assert_eq!(opened.manifest(), &manifest);
        assert_eq!(read("scalars.parquet").unwrap().rows(), 0);
        for at in 0..text.len() {
            for bit in 0..8 {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                fs::write(&path, bytes).unwrap();
                assert!(ResultFolder::open(&folder).is_err(), "bit {bit} of byte {at}");
            }
        }
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&path_of_table, bytes).unwrap();
            let error = read("scalars.parquet").expect_err("a changed bit");
            assert!(matches!(error, FolderError::Damaged { path } if path == path_of_table), "byte {at}");
        }
        assert!(matches!(read("other"), Err(FolderError::Unreadable { .. })));
        fs::remove_dir_all(&folder).unwrap();
    }
}
