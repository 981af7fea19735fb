//! Compares the stack with its rivals: user bytes per second of CPU time, both ends together, over loopback.
//!
//! `make bench-net`, or `anabranch-bench-net --rivals sctp-64k,tcp --rounds 3`.
#![forbid(unsafe_code)]

mod child;
mod cpu;
mod link;
mod links;
mod memory;
mod report;
mod rivals;

use clap::{Parser, Subcommand};
use rivals::Rival;
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

/// Compares user bytes per CPU-second of both ends over loopback.
#[derive(Parser)]
#[command(name = "anabranch-bench-net")]
struct Arguments {
    #[command(subcommand)]
    role: Option<Role>,
    /// Rounds; in each every rival runs once, in turn.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Seconds of each run.
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// The rivals to run, all of them unless given.
    #[arg(long, value_delimiter = ',')]
    rivals: Vec<Rival>,
}

#[derive(Subcommand)]
enum Role {
    /// Measures goodput over two emulated links.
    Links {
        /// Runs of each case.
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
    /// Measures the protocol alone, in memory.
    Memory,
    /// Measures the memory and the wake-ups of idle associations.
    Idle {
        /// Number of associations.
        #[arg(long, default_value_t = 10_000)]
        associations: u16,
    },
    /// Receives, and prints bytes and CPU time when done; for the bench itself.
    #[command(hide = true)]
    Receive { rival: Rival },
    /// Sends to a receiver's address; for the bench itself.
    #[command(hide = true)]
    Send { rival: Rival, address: String, seconds: f64 },
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("anabranch-bench-net: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    match arguments.role {
        Some(Role::Links { rounds }) => links::measure(rounds),
        Some(Role::Memory) => memory::measure(arguments.seconds),
        Some(Role::Idle { associations }) => memory::idle(associations),
        Some(Role::Receive { rival }) => child::receive(rival),
        Some(Role::Send { rival, address, seconds }) => {
            child::send(rival, &address, Duration::from_secs_f64(seconds))
        }
        None => {
            let rivals = if arguments.rivals.is_empty() { Rival::ALL.to_vec() } else { arguments.rivals };
            report::compare(&rivals, arguments.rounds, arguments.seconds)
        }
    }
}
