//! Mistakes on the command line and in files, each with the whole message that the user gets, for review.
//! python/tests/test_mistakes.py tests the subcommands in Python.

use crate::scratch::Scratch;
use std::fs;

const SCENARIO: &str = r#"title = "mistakes"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "slow"
between = ["a", "b"]
rate = "10 Mbit/s"
delay = "10 ms"
[sctp.mine]
congestion_control = "cubic"
[[flow]]
name = "transfer"
client = "a"
server = "b"
sctp = "mine"
reset_time = "1 s"
stop_time = "2 s"
"#;

fn scratch() -> Scratch {
    let with = |from: &str, to: &str| {
        assert!(SCENARIO.contains(from), "{from}");
        SCENARIO.replacen(from, to, 1)
    };
    let rate = |text: &str| with("\"10 Mbit/s\"", text);
    let delay = |text: &str| with("\"10 ms\"", text);
    let files = [
        ("m.toml", SCENARIO.to_owned()),
        ("my dir/my file.toml", SCENARIO.to_owned()),
        ("shipped/two-paths.toml", SCENARIO.to_owned()),
        ("shipped/narrow-return.toml", SCENARIO.to_owned()),
        ("rate-30.toml", rate("30")),
        ("megabytes.toml", rate("\"30 MB/s\"")),
        ("comma.toml", rate("\"10,5 Mbit/s\"")),
        ("bare-comma.toml", rate("10,5")),
        ("rate-as-delay.toml", delay("\"40 Mbit/s\"")),
        ("negative.toml", delay("\"-5ms\"")),
        ("loss-5.toml", with("delay =", "loss = 5\ndelay =")),
        ("loss-120.toml", with("delay =", "loss = \"120 %\"\ndelay =")),
        ("percent.toml", with("delay =", "loss = \"5 %\"\ndelay =")),
        ("words.toml", with("server =", "serwer =")),
        ("escape.toml", "title\u{1b}]0;owned\u{7}\u{1b}[31m = 3\n".to_owned()),
        ("escape-key.toml", "\"\\u001b[31m\" = 3\n".to_owned()),
        ("empty.toml", String::new()),
        ("varied.toml", with("\"10 ms\"", "{ name = \"wait\", vary = [\"1 ms\", \"2 ms\"] }")),
    ];
    let scratch = Scratch::with("mistakes", &[]);
    for (name, text) in files {
        let path = scratch.0.join(name);
        fs::create_dir_all(path.parent().expect("in the folder")).expect("can be made");
        fs::write(path, text).expect("can be written");
    }
    let utf_16: Vec<u8> = format!("\u{feff}{SCENARIO}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(scratch.0.join("utf-16.toml"), utf_16).expect("can be written");
    fs::write(scratch.0.join("latin-1.toml"), b"title = \"\xe9t\xe9\"\n").expect("can be written");
    scratch
}

/// The words of a command line. A space between single quotes does not end a word.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().expect("never empty").push(letter),
        }
    }
    words
}

/// Each case is a command line after `$`, followed by its exit code and its output. `ANABRANCH_UPDATE=1 cargo
/// test -p anabranch-cli mistakes` rewrites exit codes and outputs; review them.
#[test]
fn each_mistake_gets_its_message() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mistakes.txt");
    let text = fs::read_to_string(file).expect("the cases are there");
    let scratch = scratch();
    let mut now = String::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("$ anabranch ")) {
        let words = words(line);
        let mut command = scratch.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let output =
            command.env("ANABRANCH_SCENARIOS", scratch.0.join("shipped")).output().expect("it starts");
        let code = output.status.code().expect("it ends by itself");
        let shown =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("text")).concat();
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n' && c != '\t'), "{line}: {shown:?}");
        now += &format!("$ anabranch {line}\nexit code {code}\n{}\n\n", shown.trim_end());
    }
    if std::env::var_os("ANABRANCH_UPDATE").is_some() {
        return fs::write(file, now.trim_end().to_owned() + "\n").expect("the cases can be written");
    }
    let cases =
        |text: &str| text.trim_end().split("\n$ ").map(|case| case.trim_end().to_owned()).collect::<Vec<_>>();
    let (before, now) = (cases(&text), cases(&now));
    assert!(now.len() >= 50, "only {} cases were found", now.len());
    for (now, before) in now.iter().zip(&before) {
        assert_eq!(now, before);
    }
}
