//! The programs of `examples/c`, compiled with the installed library, shared and static, and run.
#![cfg(target_os = "linux")]

mod tools;

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

const C: &[&str] = &["cc", "-std=c99"];
const CPP: &[&str] = &["c++", "-std=c++11"];

/// Installs the library as `make install` does, with another folder in place of `/`. Returns that folder.
fn installed() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = tools::scratch("installed");
        let script = tools::here().join("install.sh");
        tools::run(Command::new(script).arg(tools::built()).arg("/usr/local").arg(&folder));
        folder
    })
}

/// The flags that `pkg-config` gives for the installed library; `None` without `pkg-config`.
fn flags(more: &[&str]) -> Option<Vec<String>> {
    let folder = installed();
    let told = tools::has("pkg-config").then(|| {
        tools::run(
            Command::new("pkg-config")
                .env("PKG_CONFIG_PATH", folder.join("usr/local/lib/pkgconfig"))
                .env("PKG_CONFIG_SYSROOT_DIR", folder)
                .args(["--cflags", "--libs", "anabranch"])
                .args(more),
        )
    })?;
    Some(told.split_whitespace().map(str::to_owned).collect())
}

/// Compiles an example with the shared library and with the static one. Returns the two programs.
fn programs(compiler: &[&str], source: &str) -> Vec<Command> {
    let Some((shared, all)) = flags(&[]).zip(flags(&["--static"])).filter(|_| tools::has(compiler[0])) else {
        return Vec::new();
    };
    let lib = installed().join("usr/local/lib");
    let folder = tools::scratch(&format!("example-{source}"));
    let compile = |to: &Path, libraries: &[String]| {
        tools::run(
            Command::new(compiler[0])
                .args(&compiler[1..])
                .args(["-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-o"])
                .arg(to)
                .arg(tools::here().join("../../examples/c").join(source))
                .args(libraries),
        );
    };
    let with_shared = folder.join("shared");
    compile(&with_shared, &shared);
    let with_static = folder.join("static");
    let archive = lib.join("libanabranch.a").to_string_lossy().into_owned();
    let replace = |flag: String| if flag == "-lanabranch" { archive.clone() } else { flag };
    compile(&with_static, &all.into_iter().map(replace).collect::<Vec<_>>());
    let mut first = Command::new(with_shared);
    first.env("LD_LIBRARY_PATH", lib);
    vec![first, Command::new(with_static)]
}

#[test]
fn two_endpoints_send_the_same_packets_in_each_run_and_use_memory_properly() {
    let mut told: Vec<String> = Vec::new();
    for mut program in programs(C, "sansio.c") {
        told.push(tools::run(&mut program));
        told.push(tools::run(&mut program));
        if tools::has("valgrind") {
            // Optimised code compares uninitialised bytes of values that are `None`, and ignores the result:
            // valgrind must not report that.
            let mut checked = Command::new("valgrind");
            checked.args(["--quiet", "--undef-value-errors=no", "--error-exitcode=9"]);
            checked.args(["--leak-check=full", "--errors-for-leak-kinds=definite"]);
            checked.arg(program.get_program()).envs(program.get_envs().filter_map(|(k, v)| Some((k, v?))));
            told.push(tools::run(&mut checked));
        }
    }
    for text in &told {
        assert!(text.contains("1048576 bytes"), "{text}");
        assert_eq!(text, &told[0]);
    }
}

#[test]
fn both_paths_carry_data() {
    for mut program in programs(CPP, "paths.cc") {
        let told = tools::run(&mut program);
        assert!(told.contains("path 0 to 10.1.0.2") && told.contains("path 1 to 10.2.0.2"), "{told}");
    }
}

#[test]
fn a_simulator_of_another_project_runs_the_protocol_on_its_clock() {
    let told: Vec<_> = programs(CPP, "virtual_clock.cc").iter_mut().map(tools::run).collect();
    for text in &told {
        assert!(text.contains("in 10 s of virtual time"), "{text}");
        assert_eq!(text, &told[0]);
    }
}

#[test]
fn messages_come_back_to_a_client_of_sockets() {
    for mut server in programs(C, "echo.c") {
        let mut client = Command::new(server.get_program());
        client.env("LD_LIBRARY_PATH", installed().join("usr/local/lib"));
        let free = std::net::UdpSocket::bind("0.0.0.0:0").and_then(|socket| socket.local_addr());
        let port = free.expect("a free port").port().to_string();
        let mut serving = server.args(["server", &port]).stdout(Stdio::piped()).spawn().expect("a server");
        let mut told = BufReader::new(serving.stdout.take().expect("its output"));
        let mut first = String::new();
        told.read_line(&mut first).expect("a line");
        assert_eq!(first, "serving\n");
        let text = tools::run(client.args(["client", "127.0.0.1", &port]));
        assert!(text.contains("1000 messages, ") && text.contains("association up"), "{text}");
        let mut rest = String::new();
        told.read_to_string(&mut rest).expect("text");
        assert!(serving.wait().expect("it ends").success());
        assert!(rest.contains("1000 messages sent back"), "{rest}");
    }
}

#[test]
fn code_of_the_page_is_that_of_the_examples() {
    let root = tools::here().join("../..");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).expect(name);
    let examples = ["sansio.c", "paths.cc", "virtual_clock.cc", "echo.c"]
        .map(|name| read(&format!("examples/c/{name}")));
    let lines: Vec<&str> = examples.iter().flat_map(|text| text.lines()).collect();
    let page = read("docs/c.md");
    let mut quoted = page.split("\n```").skip(1).step_by(2).filter_map(|block| {
        let (language, code) = block.split_once('\n')?;
        ["c", "cpp"].contains(&language).then_some(code)
    });
    assert!(quoted.clone().count() >= 3, "code was found");
    let wrong = quoted.by_ref().flat_map(str::lines).find(|line| !lines.contains(line));
    assert_eq!(wrong, None, "no example has this line");
    assert!(page.lines().count() <= 150);
}
