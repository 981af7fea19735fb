//! Captures of both paths, and their analysis by tshark.

use crate::network::Network;
use crate::process::{Running, run};
use std::path::{Path, PathBuf};
use std::time::Duration;
use testkit::dissect::{BAD_CHECKSUM, MALFORMED, count, tshark};

/// Time within which the kernel passes packets to dumpcap, which requests 250 ms.
const HAND_OUT: Duration = Duration::from_millis(350);

/// Length of the intervals of [`Verdict::data`], in seconds.
const INTERVAL: f64 = 0.1;

/// Required content of a capture.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expected<'a> {
    /// Packets that the test damaged; queues may have dropped some of them.
    pub damaged: u64,
    /// Types of chunks; the capture must contain chunks of each type.
    pub chunks: &'a [u8],
}

/// A capture that is being written.
pub struct Capture {
    dumpcap: Running,
    file: PathBuf,
}

impl Capture {
    /// Starts captures at the interfaces of the other side.
    pub fn start(network: &Network, file: &Path) -> Capture {
        let mut command = network.there("dumpcap");
        for interface in Network::interfaces_there() {
            command.args(["-i", interface]);
        }
        let mut dumpcap = Running::start(command.args(["-q", "-B", "32", "-w"]).arg(file));
        dumpcap.await_stderr("File:");
        Capture { dumpcap, file: file.to_owned() }
    }

    /// Ends the capture and checks it. If the check fails, the file is kept.
    pub fn finish(self, expected: Expected<'_>) -> Verdict {
        // When dumpcap is interrupted, it loses the packets that the kernel has not passed yet.
        std::thread::sleep(HAND_OUT);
        self.dumpcap.interrupt();
        self.dumpcap.finish();
        let data = |path| format!("frame.interface_id == {path} && sctp.chunk_type == 0");
        let mut filters = vec!["sctp".into(), BAD_CHECKSUM.into(), MALFORMED.into(), data(0), data(1)];
        filters.extend(expected.chunks.iter().map(|kind| format!("sctp.chunk_type == {kind}")));
        let verdict = Verdict::of(&count(&self.file, INTERVAL, &filters));
        if verdict.bad_checksums > expected.damaged || verdict.malformed > 0 || verdict.chunks.contains(&0) {
            let bad = run(tshark(&self.file).args(["-Y", &format!("({BAD_CHECKSUM}) || {MALFORMED}"), "-V"]));
            let bad = bad.chars().take(4000).collect::<String>();
            panic!("{verdict:?}, expected {expected:?} in {}: {bad}", self.file.display());
        }
        std::fs::remove_file(&self.file).expect("it was there");
        verdict
    }
}

/// Content of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// SCTP packets.
    pub packets: u64,
    /// Number of SCTP packets whose checksum is wrong.
    pub bad_checksums: u64,
    /// Number of SCTP packets that tshark calls malformed, or in which it finds an error.
    pub malformed: u64,
    /// Bytes of packets with DATA chunks, by path and interval.
    pub data: [Vec<u64>; 2],
    /// Packets with chunks of the expected types.
    pub chunks: Vec<u64>,
}

impl Verdict {
    /// Adds up the packets of each filter over all intervals.
    /// The bytes of data are kept separately for each interval.
    fn of(rows: &[Vec<[u64; 2]>]) -> Verdict {
        let mut verdict = Verdict::default();
        for row in rows {
            let [[packets, _], [bad, _], [malformed, _], [_, first], [_, second], ref chunks @ ..] = row[..]
            else {
                panic!("five columns or more, not {row:?}");
            };
            verdict.packets += packets;
            verdict.bad_checksums += bad;
            verdict.malformed += malformed;
            verdict.data[0].push(first);
            verdict.data[1].push(second);
            verdict.chunks.resize(chunks.len(), 0);
            verdict.chunks.iter_mut().zip(chunks).for_each(|(sum, [packets, _])| *sum += packets);
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

#[test]
fn verdict_counts_bad_packets_and_finds_gaps_in_the_data_of_a_path() {
    let rows = [
        vec![[10, 9000], [1, 60], [0, 0], [2, 300], [1, 150], [2, 90]],
        vec![[5, 4000], [0, 0], [2, 60], [0, 0], [1, 150], [1, 45]],
        vec![[5, 4000], [0, 0], [0, 0], [0, 0], [1, 150], [0, 0]],
        vec![[5, 4000], [0, 0], [0, 0], [1, 150], [0, 0], [0, 0]],
    ];
    let verdict = Verdict::of(&rows);
    let data = [vec![300, 0, 0, 150], vec![150, 150, 150, 0]];
    assert_eq!(verdict, Verdict { packets: 25, bad_checksums: 1, malformed: 2, data, chunks: vec![3] });
    assert_eq!([0, 1].map(|path| verdict.longest_gap(path)), [0.2, 0.1]);
    assert_eq!(verdict.share(0), 0.5);
}
