//! Tests associations between this stack and the SCTP of the Linux kernel, which runs in a virtual machine.
//! They make the table of Linux in docs/interop.md.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

#[expect(dead_code, reason = "the virtual machine has the namespaces")]
#[path = "../../io/tests/common/namespace.rs"]
mod namespace;
mod preloaded;

use namespace::skip;
use preloaded::{build_library, root, which};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use testkit::Interop;

/// Where `.ci/run` unpacks Debian's kernel.
const KERNEL: &str = "target/tools/kernel";

/// Kernel modules, each after those that it needs.
const MODULES: [&str; 21] = [
    "netfs",
    "fscache",
    "9pnet",
    "9p",
    "virtio_ring",
    "virtio",
    "9pnet_virtio",
    "virtio_pci_modern_dev",
    "virtio_pci_legacy_dev",
    "virtio_pci",
    "overlay",
    "crc32c_generic",
    "libcrc32c",
    "udp_tunnel",
    "ip6_udp_tunnel",
    "sctp",
    "veth",
    "nfnetlink",
    "nf_tables",
    "sch_netem",
    "crc32c-intel",
];

/// What an association is about, the chunk that both ends must send, and the row of the table.
const MEETINGS: [(&str, u8, &str); 6] = [
    ("none", 0, "messages both ways, ours over two paths"),
    ("I-DATA", 64, "messages of one fragment"),
    ("AUTH", 15, "both sides authenticate all DATA"),
    ("RE-CONFIG", 130, "each side resets a stream and adds streams"),
    ("ASCONF", 193, "each side adds an address and deletes the first one"),
    ("PR-SCTP", 192, "each side gives up messages at their first loss"),
];

/// A file of the kernel, wherever it is below its folder.
fn find(folder: &Path, matches: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
    let mut entries: Vec<_> = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    entries.into_iter().find_map(|path| match path.is_dir() {
        true => find(&path, matches),
        false => path.file_name()?.to_str().filter(|name| matches(name)).is_some().then_some(path.clone()),
    })
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}: {told}{}", String::from_utf8_lossy(&output.stderr));
    told
}

/// Packs busybox, `kernel/init` and the modules into the first file system of the machine.
fn first_files(kernel: &Path, to: &Path) {
    let folder = to.with_extension("files");
    for part in ["bin", "proc", "dev", "modules"] {
        std::fs::create_dir_all(folder.join(part)).expect("a folder");
    }
    let copy = |from: &Path, name: &str| {
        std::fs::copy(from, folder.join(name)).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    };
    copy(&which("busybox").expect("checked before"), "bin/busybox");
    copy(&root().join("crates/cli/tests/kernel/init"), "init");
    for module in MODULES {
        let file = format!("{module}.ko");
        let from = find(kernel, &|name| name == file).unwrap_or_else(|| panic!("no {file}"));
        copy(&from, &format!("modules/{file}"));
    }
    std::fs::write(folder.join("modules/order"), MODULES.join("\n")).expect("written");
    let pack = "chmod +x init && find . | busybox cpio -o -H newc > \"$0\"";
    run(Command::new("sh").args(["-c", pack]).arg(to).current_dir(&folder));
}

/// Starts the machine, which runs a script of the folder `kernel` and ends. `out` is its folder `/out`.
/// Returns what it tells.
fn machine(kernel: &Path, out: &Path, script: &str) -> String {
    // Two machines at a time would be too slow for their time limits.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let image = find(kernel, &|name| name.starts_with("vmlinuz")).expect("checked before");
    let files = out.join("first.cpio");
    first_files(kernel, &files);
    std::fs::copy(root().join("crates/cli/tests/kernel").join(script), out.join(script)).expect("copied");
    let command = env!("CARGO_BIN_EXE_anabranch");
    let start = format!("PATH=/usr/sbin:/usr/bin:/sbin:/bin; A={command}; uname -r; . /out/{script}\n");
    std::fs::write(out.join("run.sh"), start).expect("written");
    let share = |id: &str, path: &Path, more: &str| {
        let share = format!("local,id={id},path={},security_model=none{more}", path.display());
        ["-fsdev".to_owned(), share, "-device".to_owned(), format!("virtio-9p-pci,fsdev={id},mount_tag={id}")]
    };
    let mut qemu = Command::new("timeout");
    qemu.args(["300", "qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2"])
        .args(["-m", "2048", "-nographic", "-no-reboot", "-nic", "none", "-append", "console=ttyS0 panic=-1"])
        .arg("-kernel")
        .arg(image)
        .arg("-initrd")
        .arg(&files)
        .args(share("host", Path::new("/"), ",readonly=on,multidevs=remap"))
        .args(share("out", out, ""))
        .stdin(std::process::Stdio::null());
    let console = run(&mut qemu);
    std::fs::read_to_string(out.join("log"))
        .unwrap_or_else(|_| panic!("the machine tells nothing:\n{console}"))
}

/// Counts the packets of a capture that a filter of tshark lets through.
fn packets(capture: &Path, filter: &str) -> usize {
    let mut tshark = Command::new("tshark");
    tshark.args(["-n", "-d", "udp.port==9899,sctp", "-o", "sctp.checksum:CRC-32C", "-Y", filter, "-r"]);
    run(tshark.arg(capture)).lines().count()
}

/// Checks that a capture has no damaged packets, and the chunk from both ends.
fn check(capture: &Path, chunk: u8, connects: &str) {
    let bad = packets(capture, "sctp && sctp.checksum.status != 1 || _ws.malformed");
    // The server has the addresses that end with 1.
    let (ours, theirs) = if connects == "ours" { (2, 1) } else { (1, 2) };
    let from = |end: u8| packets(capture, &format!("sctp.chunk_type == {chunk} && ip.src[3] == {end}"));
    assert!(bad == 0 && from(ours) > 0 && from(theirs) > 0, "{}: {bad} bad packets", capture.display());
    if chunk == 0 {
        for net in [1, 2] {
            let sent = packets(capture, &format!("sctp.chunk_type == 0 && ip.src == 10.{net}.0.{ours}"));
            assert!(sent > 0, "{}: no packet with data over path {net}", capture.display());
        }
    }
}

/// The kernel, and a new folder; `None` if something is missing.
fn prepared(test: &str) -> Option<(PathBuf, PathBuf)> {
    let kernel = root().join(KERNEL).canonicalize().unwrap_or_default();
    let missing: Vec<&str> = ["qemu-system-x86_64", "busybox", "gcc", "ethtool", "nft", "tshark"]
        .into_iter()
        .filter(|tool| which(tool).is_none())
        .chain((!kernel.is_dir()).then_some(KERNEL))
        .collect();
    if !missing.is_empty() {
        skip(test, &missing.join(", "));
        return None;
    }
    let out = std::env::temp_dir().join(format!("anabranch-kernel-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&out).expect("a folder");
    Some((kernel, out))
}

/// Compiles a program of this folder.
fn compile(source: &str, program: &Path) {
    let options = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-o"];
    run(Command::new("gcc").args(options).args([program, &root().join("crates/cli/tests").join(source)]));
}

#[test]
fn associations_with_the_linux_kernel_work() {
    let Some((kernel, out)) = prepared("associations") else { return };
    build_library();
    compile("kernel/peer.c", &out.join("peer"));
    let told = machine(&kernel, &out, "meet.sh");
    let release = told.lines().next().unwrap_or_default().to_owned();
    let ended: BTreeMap<&str, &str> = told.lines().filter_map(|line| line.split_once(": ")).collect();
    let mut table = Interop::new("Linux", release);
    let mut port = 5001;
    let mut meet = |what: &str, carrier: &str, chunk: u8| {
        for connects in ["ours", "kernel"] {
            let name = format!("{what} {carrier} {connects}");
            assert_eq!(
                ended.get(name.as_str()).map(|statuses| statuses.trim()),
                Some("0 0"),
                "{name}\n{told}"
            );
            check(&out.join(format!("{port}.pcapng")), chunk, connects);
            port += 1;
        }
    };
    for (what, chunk, row) in MEETINGS {
        meet(what, "udp", chunk);
        table.works(what, row, "each");
    }
    meet("none", "ip", 0);
    table.works("none, directly in IP", "messages both ways, ours over two paths", "each");
    let why =
        "it numbers the second fragment of a message 0, where RFC 8260 says 1 (`sctp_chunk_assign_mid`)";
    table.hole("I-DATA", "messages of several fragments", why);
    table.check();
    // A folder that cannot be removed does no harm.
    let _ = std::fs::remove_dir_all(&out);
}

/// What the tests of `sockets.rs` demand of this stack holds for Linux.
#[test]
fn the_checks_of_sockets_pass_with_the_linux_kernel() {
    let Some((kernel, out)) = prepared("checks") else { return };
    std::fs::create_dir_all(out.join("checks")).expect("a folder");
    for name in ["sockets", "many", "calls", "options", "notifications"] {
        compile(&format!("{name}.c"), &out.join("checks").join(name));
    }
    let told = machine(&kernel, &out, "checks.sh");
    assert!(told.ends_with("\n0 failed\n"), "{told}");
    // A folder that cannot be removed does no harm.
    let _ = std::fs::remove_dir_all(&out);
}
