//! Dissects captures with the program tshark.

use std::path::Path;
use std::process::Command;

/// A filter for packets whose checksum is wrong or was not verified.
pub const BAD_CHECKSUM: &str = "sctp && sctp.checksum.status != 1";
/// A filter for packets that tshark reports as malformed or erroneous. A wrong checksum does not count.
pub const MALFORMED: &str = "_ws.malformed || (_ws.expert.severity >= 0x800000 && sctp.checksum.status == 1)";

/// A command that reads a capture with tshark. tshark verifies checksums but does not analyse TSNs: this
/// would take longer than the rest of its work.
pub fn tshark(file: &Path) -> Command {
    let mut command = Command::new("tshark");
    command.args(["-n", "-o", "sctp.checksum:CRC-32C", "-o", "sctp.tsn_analysis:FALSE", "-r"]).arg(file);
    command
}

/// Counts the frames and bytes that pass each filter, for each interval of `interval` seconds. An `interval`
/// of 0 means one interval for the whole file.
///
/// # Panics
/// If tshark cannot be run or fails.
pub fn count(file: &Path, interval: f64, filters: &[String]) -> Vec<Vec<[u64; 2]>> {
    let mut command = tshark(file);
    command.args(["-q", "-z", &format!("io,stat,{interval},{}", filters.join(","))]);
    let output = command.output().expect("tshark runs");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    parse(&String::from_utf8_lossy(&output.stdout))
}

/// Parses the table that `tshark -z io,stat` prints.
fn parse(table: &str) -> Vec<Vec<[u64; 2]>> {
    let row = |line: &str| {
        let cells = line.split('|').map(str::trim).filter(|cell| !cell.is_empty()).skip(1);
        let numbers: Vec<u64> = cells.map(|cell| cell.parse().expect("a number")).collect();
        let (pairs, rest) = numbers.as_chunks();
        assert!(rest.is_empty(), "columns of frames and bytes, not {line}");
        pairs.to_vec()
    };
    table.lines().filter(|line| line.contains("<>")).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_and_bytes_are_read_from_each_row_of_the_table() {
        let table = "\
            | Col 1: sctp                                      |\n\
            | Interval   | Frames |  Bytes  | Frames | Bytes |\n\
            | 0.0 <> 0.1 |     10 |    9000 |      1 |    60 |\n\
            | 0.1 <> 0.2 |      5 |    4000 |      0 |     0 |\n";
        assert_eq!(parse(table), [[[10, 9000], [1, 60]], [[5, 4000], [0, 0]]]);
    }
}
