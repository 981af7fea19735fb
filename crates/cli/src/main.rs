//! The command `anabranch`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    // All exit codes of this command fit a byte.
    ExitCode::from(anabranch_cli::main(std::env::args().skip(1).collect(), None, &[]) as u8)
}
