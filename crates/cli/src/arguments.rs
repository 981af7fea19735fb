#[cfg(target_os = "linux")]
mod emulate;
pub mod measure;
#[cfg(target_os = "linux")]
mod preload;
#[cfg(target_os = "linux")]
mod tunnel;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use io::Carrier;

/// The command line.
pub fn command() -> Command {
    let command = portable();
    #[cfg(target_os = "linux")]
    let command = command.subcommand(tunnel::command()).subcommand(emulate::command());
    #[cfg(target_os = "linux")]
    let command = command.subcommand(preload::command()).subcommand(preload::host_command());
    command.help_template(HELP).max_term_width(100).mut_subcommands(|command| command.help_template(HELP))
}

/// The order of the parts of a help text. python/anabranch/parser.py uses the same order for the subcommands
/// in Python.
const HELP: &str = "{usage-heading} {usage}\n\n{about}.\n\n{all-args}{after-help}";

/// The subcommands that exist on all operating systems.
fn portable() -> Command {
    Command::new("anabranch")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Simulates, measures and compares multipath transport")
        .after_help(examples(&["anabranch run two-paths", "anabranch explain two-paths", "anabranch help run"], "Exit codes: 0 success, 1 a run failed, 2 wrong arguments or scenario, 3 `reproduce` missed a number or, except \
             with --demo, left one OPEN without a reason, 130 stopped by Ctrl-C."))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("new")
                .about("Writes a commented scenario to start from")
                .after_help(examples(&["anabranch new mine.toml"], "`anabranch run mine.toml` runs it."))
                .arg(file("SCENARIO", "The file to write, which must not exist")),
        )
        .subcommand(run())
        .subcommand(sweep())
        .subcommand(merge())
        .subcommand(explain())
        .subcommand(measure::command())
        .subcommand(key())
        .subcommand(
            Command::new("validate")
                .about("Checks scenario files")
                .after_help(examples(&["anabranch validate mine.toml", "anabranch validate *.toml --json"], ""))
                .arg(file("SCENARIO", "Scenario files (TOML), or names of shipped scenarios").num_args(1..))
                .arg(flag("json", "Print the errors as JSON")),
        )
        .subcommand(Command::new("schema")
                .about("Prints the JSON Schema of scenario files")
                .after_help(examples(&["anabranch schema > scenario.schema.json"], "")))
        .subcommand(
            Command::new("completions")
                .about("Prints the script that completes this command in a shell")
                .after_help(examples(
                    &["anabranch completions bash > ~/.local/share/bash-completion/completions/anabranch"],
                    "",
                ))
                .arg(
                    Arg::new("shell")
                        .value_name("SHELL")
                        .help("The shell")
                        .required(true)
                        .value_parser(value_parser!(Shell)),
                ),
        )
        .subcommand(
            Command::new("man")
                .about("Writes manual pages")
                .after_help(examples(&["anabranch man ~/.local/share/man/man1"], ""))
                .arg(Arg::new("dir").value_name("DIR").required(true).help("Folder to write them to, which is made if it does not exist")),
        )
        .subcommand(handed_over("reproduce", "Runs figures of papers and compares the numbers that the papers state"))
        .subcommand(handed_over("papers", "Lists the papers and their figures"))
        .subcommand(handed_over("fairness", "Measures which congestion controls keep the design rules of multipath transport"))
        .subcommand(handed_over("bbr-cases", "Runs the example cases of draft-ietf-ccwg-bbr, with a verdict on each"))
        .subcommand(handed_over("evaluate", "Measures a congestion control against the criteria of RFC 9743"))
        .subcommand(handed_over("report", "Writes one HTML file about a run, a sweep or reproduced papers"))
        .subcommand(handed_over("overlay", "Compares real runs with simulated ones, with a verdict for each quantity"))
        .subcommand(handed_over("bonding", "Measures whether several paths together are faster than the best one"))
}

const SCENARIO: &str = "Scenario file (TOML), or the name of a shipped scenario such as two-paths";

fn run() -> Command {
    Command::new("run")
        .about("Runs a scenario once and prints the throughput of its flows")
        .after_help(examples(
            &[
                "anabranch run two-paths",
                "anabranch run mine.toml --set link.slow.rate='5 Mbit/s' --set 'link.*.loss'='1 %'",
                "anabranch run mine.toml --out results --csv",
            ],
            "",
        ))
        .arg(file("SCENARIO", SCENARIO))
        .arg(number("replica", "N", "Replica: each draws other random numbers").default_value("0"))
        .arg(value("out", "DIR", "Write tables, manifest and captures to this folder"))
        .arg(value("qlog", "DIR", "Write a log of each SCTP association in the format qlog to this folder"))
        .args(choice())
        .arg(flag("csv", "Write tables as CSV, too"))
        .args(shown())
}

fn sweep() -> Command {
    Command::new("sweep")
        .about("Runs every combination of a scenario's variations, many times each")
        .after_help(examples(
            &[
                "anabranch sweep mine.toml --replicas 30 --out results",
                "anabranch sweep mine.toml --until 'throughput_bps ± 2 %'",
                "anabranch sweep mine.toml --set loss='1 %' -j 4",
            ],
            "The same command after an interruption reuses the finished runs.",
        ))
        .arg(file("SCENARIO", SCENARIO))
        .arg(positive(
            "replicas",
            "N",
            "Runs of each combination (default: 30; with --until: 5, and more where needed)",
        ))
        .arg(value(
            "until",
            "QUANTITY ± P %",
            "Add runs where the 95 % interval of a quantity is wider, such as \"throughput_bps ± 2 %\"",
        ))
        .arg(
            positive("most", "N", "With --until: most runs of a combination (default: 1000)")
                .requires("until"),
        )
        .arg(positive("jobs", "J", "Threads (default: all cores)").short('j'))
        .arg(value("out", "DIR", "Folder of results (default: out/ and the name of the scenario)"))
        .arg(flag("captures", "Write the scenario's captures, a file of all packets for each run"))
        .arg(
            value("cluster", "ADDRESS", "Do the runs on a Dask cluster: tcp://SCHEDULER:8786, or local")
                .conflicts_with("jobs"),
        )
        .arg(
            value("part", "I/N", "Do one of N parts of the runs only, and write no tables")
                .conflicts_with_all(["until", "cluster", "json"]),
        )
        .arg(
            value("export", "SYSTEM", "Run nothing: write a job array for slurm, and the list of its runs")
                .value_parser(["slurm"])
                .conflicts_with_all(["part", "cluster", "json"]),
        )
        .arg(
            positive(
                "tasks",
                "N",
                "With --export: tasks of the job array (default: one for each run, at most 1000)",
            )
            .requires("export"),
        )
        .args(choice())
        .arg(flag("csv", "Write tables as CSV, too"))
        .args(shown())
}

fn merge() -> Command {
    Command::new("merge")
        .about("Copies the runs of sweeps to the folder of another one, and writes the tables of all")
        .after_help(examples(
            &["anabranch merge all part-1 part-2", "anabranch merge results copied-from-elsewhere -q"],
            "Fails, before anything is copied, if two folders have different results for the same inputs.",
        ))
        .arg(
            Arg::new("folders")
                .value_name("FOLDER")
                .help("The folder that gets the runs (it need not exist), and the folders of sweeps that have them")
                .num_args(2..)
                .required(true),
        )
        .arg(flag("quiet", "Print errors only").short('q'))
}

fn explain() -> Command {
    Command::new("explain")
        .about("Says why a transfer is not faster, and runs what would change it")
        .after_help(examples(
            &["anabranch explain mine.toml", "anabranch explain results --flow transfer", "anabranch explain capture.pcapng"],
            "The flow is the first one of the scenario, in the direction in which it sends. Each change is run, not guessed: \
             changes are tried for scenarios only.",
        ))
        .arg(file(
            "SCENARIO|RUN|CAPTURE",
            "Scenario (file or name), folder of results, or capture of SCTP (pcapng or pcap)",
        ))
        .arg(value("flow", "NAME", "Another flow than the first one"))
        .arg(number("replica", "N", "Replica: each draws other random numbers").default_value("0"))
        .arg(flag("quick", "Do not run changed scenarios"))
        .args(choice())
        .args(shown())
}

fn key() -> Command {
    Command::new("key")
        .about("Makes a private key, unless the file exists, and prints its public key")
        .after_help(examples(
            &[
                "anabranch key server.key",
                "sudo anabranch key /etc/anabranch/ana0.key",
                "anabranch key --psk",
            ],
            "docs/encryption.md says who needs which key.",
        ))
        .arg(file("FILE", "File of the private key").required(false).required_unless_present("psk"))
        .arg(
            flag("psk", "Print a new secret instead, for two ends to share beside their keys")
                .conflicts_with("file"),
        )
}

/// Arguments that choose one scenario of a file.
fn choice() -> [Arg; 2] {
    [
        number("seed", "S", "Root seed instead of the scenario's").value_parser(whole(0, u64::MAX)),
        value(
            "set",
            "KEY=VALUE",
            "Another value for a key, such as link.a-b.rate='5 Mbit/s' or 'link.*.loss'=0.01, or one value of an axis of \
             variation; may be repeated",
        )
        .action(ArgAction::Append),
    ]
}

/// Arguments that set the output.
fn shown() -> [Arg; 2] {
    [flag("json", "Print results as JSON"), flag("quiet", "Print errors only").short('q')]
}

/// The argument that sets how many events of connections are printed.
fn verbose() -> Arg {
    events(
        "Print associations, states of paths and handshakes to standard error; -vv: losses and path MTUs, too",
    )
}

/// The argument that sets how many events are printed. `help` says which.
fn events(help: &'static str) -> Arg {
    Arg::new("verbose").short('v').action(ArgAction::Count).help(help)
}

/// The argument that chooses the carrier of SCTP: UDP or IP.
fn carrier() -> Arg {
    let carriers = PossibleValuesParser::new(["udp", "ip"])
        .map(|name| if name == "ip" { Carrier::Ip } else { Carrier::Udp });
    value(
        "carrier",
        "NAME",
        "Send SCTP in UDP (udp) or directly in IP (ip), which NATs drop and which needs CAP_NET_RAW",
    )
    .value_parser(carriers)
    .default_value("udp")
}

/// The carrier of SCTP that the user chose.
pub fn chosen_carrier(matches: &ArgMatches) -> Carrier {
    matches.get_one("carrier").copied().unwrap_or_default()
}

/// A subcommand that the Python package runs. The package parses the arguments of the subcommand.
fn handed_over(name: &'static str, about: &'static str) -> Command {
    Command::new(name)
        .about(about)
        .disable_help_flag(true)
        .arg(Arg::new("arguments").num_args(0..).trailing_var_arg(true).allow_hyphen_values(true).hide(true))
}

fn file(name: &'static str, help: &'static str) -> Arg {
    Arg::new("file").value_name(name).help(help).required(true)
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
}

fn value(name: &'static str, placeholder: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(placeholder).help(help)
}

fn number(name: &'static str, placeholder: &'static str, help: &'static str) -> Arg {
    value(name, placeholder, help).value_parser(whole(0, u32::MAX)).allow_negative_numbers(true)
}

fn positive(name: &'static str, placeholder: &'static str, help: &'static str) -> Arg {
    value(name, placeholder, help).value_parser(whole(1, u32::MAX)).allow_negative_numbers(true)
}

/// Reads a whole number within a range.
fn whole<T>(least: T, most: T) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: std::str::FromStr + std::fmt::Display + PartialOrd + Copy + Send + Sync + 'static,
{
    move |text: &str| {
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| format!("expected a whole number from {least} to {most}"))
    }
}

/// The end of a help text: examples, then a text.
fn examples(lines: &[&str], text: &str) -> String {
    format!("Examples:\n  {}\n\n{text}", lines.join("\n  ")).trim_end().to_owned()
}

/// The text of a required argument.
pub fn text<'m>(matches: &'m ArgMatches, name: &str) -> &'m str {
    matches.get_one::<String>(name).map_or("", String::as_str)
}
