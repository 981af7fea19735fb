//! Captures of both paths, and what tshark says about them.

use crate::network::Network;
use crate::process::{Running, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What no packet may be: a bad checksum (or one that was not checked), and malformed.
const BAD_CHECKSUM: &str = "sctp && sctp.checksum.status != 1";
const MALFORMED: &str = "_ws.malformed || _ws.expert.severity >= 0x800000";

/// Seconds of an interval of [`Verdict::data`].
const INTERVAL: f64 = 0.1;

/// A capture that is being written.
pub struct Capture {
    dumpcap: Running,
    file: PathBuf,
}

impl Capture {
    /// Captures at the other side's interfaces.
    pub fn start(network: &Network, file: &Path) -> Capture {
        let mut command = network.there("dumpcap");
        for interface in Network::interfaces_there() {
            command.args(["-i", interface]);
        }
        let mut dumpcap = Running::start(command.args(["-q", "-B", "32", "-w"]).arg(file));
        dumpcap.await_stderr("File:");
        Capture { dumpcap, file: file.to_owned() }
    }

    /// Ends the capture and has it checked. The file stays if something is wrong in it.
    pub fn finish(self) -> Verdict {
        self.dumpcap.interrupt();
        self.dumpcap.finish();
        let data = |path| format!("frame.interface_id == {path} && sctp.chunk_type == 0");
        let columns = ["sctp", BAD_CHECKSUM, MALFORMED, &data(0), &data(1)].join(",");
        let table = run(tshark(&self.file).args(["-q", "-z", &format!("io,stat,{INTERVAL},{columns}")]));
        let verdict = Verdict::parse(&table);
        if verdict.bad_checksums + verdict.malformed > 0 {
            let bad = run(tshark(&self.file).args(["-Y", &format!("({BAD_CHECKSUM}) || {MALFORMED}"), "-V"]));
            panic!("{verdict:?} in {}: {}", self.file.display(), bad.chars().take(4000).collect::<String>());
        }
        std::fs::remove_file(&self.file).expect("it was there");
        verdict
    }
}

/// tshark reading a file, with checksums verified. The analysis of TSNs is off: it takes longer than all the rest.
fn tshark(file: &Path) -> Command {
    let mut command = Command::new("tshark");
    command.args(["-n", "-o", "sctp.checksum:CRC-32C", "-o", "sctp.tsn_analysis:FALSE", "-r"]).arg(file);
    command
}

/// What is in a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// SCTP packets.
    pub packets: u64,
    /// Those whose checksum is wrong.
    pub bad_checksums: u64,
    /// Those that tshark calls malformed, or in which it sees an error.
    pub malformed: u64,
    /// Bytes of packets with DATA chunks, by path and interval.
    pub data: [Vec<u64>; 2],
}

impl Verdict {
    /// Reads the table of `tshark -z io,stat`.
    fn parse(table: &str) -> Verdict {
        let mut verdict = Verdict::default();
        for line in table.lines().filter(|line| line.contains("<>")) {
            let cells = line.split('|').map(str::trim).filter(|cell| !cell.is_empty()).skip(1);
            let numbers: Vec<u64> = cells.map(|cell| cell.parse().expect("a number")).collect();
            let [packets, _, bad, _, malformed, _, _, first, _, second] = numbers[..] else {
                panic!("five columns of frames and bytes, not {line}");
            };
            verdict.packets += packets;
            verdict.bad_checksums += bad;
            verdict.malformed += malformed;
            verdict.data[0].push(first);
            verdict.data[1].push(second);
        }
        verdict
    }

    /// Share of a path in the bytes of all packets with data.
    pub fn share(&self, path: usize) -> f64 {
        let [first, second] = self.data.each_ref().map(|data| data.iter().sum::<u64>());
        [first, second][path] as f64 / (first + second) as f64
    }

    /// Longest time without data on a path, from its first data to the last data on any path, in seconds.
    pub fn longest_gap(&self, path: usize) -> f64 {
        let mut all = self.data[0].iter().zip(&self.data[1]);
        let end = all.rposition(|(first, second)| first + second > 0).map_or(0, |last| last + 1);
        let used = self.data[path][..end].iter().skip_while(|&&bytes| bytes == 0);
        let (mut gap, mut longest) = (0, 0);
        for &bytes in used {
            gap = if bytes > 0 { 0 } else { gap + 1 };
            longest = longest.max(gap);
        }
        f64::from(longest) * INTERVAL
    }
}

/// tshark's table, as it prints it, makes a verdict.
#[test]
fn verdict_counts_bad_packets_and_finds_gaps_in_the_data_of_a_path() {
    let table = "\
        | Col 1: sctp                                                            |\n\
        | Interval   | Frames |  Bytes  | Frames | Bytes | Frames | Bytes | Frames |\n\
        | 0.0 <> 0.1 |     10 |    9000 |      1 |    60 |      0 |     0 |      2 | 300 | 1 | 150 |\n\
        | 0.1 <> 0.2 |      5 |    4000 |      0 |     0 |      2 |    60 |      0 |   0 | 1 | 150 |\n\
        | 0.2 <> 0.3 |      5 |    4000 |      0 |     0 |      0 |     0 |      0 |   0 | 1 | 150 |\n\
        | 0.3 <> 0.3 |      5 |    4000 |      0 |     0 |      0 |     0 |      1 | 150 | 0 |   0 |\n";
    let verdict = Verdict::parse(table);
    let data = [vec![300, 0, 0, 150], vec![150, 150, 150, 0]];
    assert_eq!(verdict, Verdict { packets: 25, bad_checksums: 1, malformed: 2, data });
    assert_eq!([0, 1].map(|path| verdict.longest_gap(path)), [0.2, 0.1]);
    assert_eq!(verdict.share(0), 0.5);
}
