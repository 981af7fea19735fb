//! The two ends of a run, each in a separate process.

use crate::cpu;
use crate::rivals::{Rival, usrsctp};
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Result of a run.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// User bytes received.
    pub bytes: u64,
    /// CPU seconds of both ends.
    pub cpu: f64,
    /// Seconds of real time at the receiver.
    pub seconds: f64,
    /// Mean number of packets in a call that sends; `None` if the rival does not report it.
    pub packets_per_send: Option<f64>,
}

impl Outcome {
    /// Megabytes per CPU-second.
    pub fn megabytes_per_cpu_second(&self) -> f64 {
        self.bytes as f64 / self.cpu / 1e6
    }
}

/// Receives until the sender has finished. Prints the address first, then bytes, CPU seconds and real
/// seconds.
pub fn receive(rival: Rival) -> Result<(), Box<dyn Error>> {
    cpu::pin(0);
    let receiver = rival.bind()?;
    println!("{}", receiver.address()?);
    std::io::stdout().flush()?;
    let begin = cpu::used();
    let (bytes, seconds) = receiver.run()?;
    println!("{bytes} {} {seconds}", cpu::used() - begin);
    Ok(())
}

/// Sends for some time. Prints CPU seconds and the mean number of packets in a call.
pub fn send(rival: Rival, address: &str, time: Duration) -> Result<(), Box<dyn Error>> {
    cpu::pin(1);
    let mut sender = rival.connect(address)?;
    let begin = cpu::used();
    let end = Instant::now() + time;
    sender.send_until(end)?;
    let packets = sender.packets_per_send().unwrap_or(f64::NAN);
    sender.finish()?;
    println!("{} {packets}", cpu::used() - begin);
    Ok(())
}

/// The program of one end: this program, or that of a rival written in C.
fn program(rival: Rival, role: &str) -> Result<Command, Box<dyn Error>> {
    let mut command = match rival {
        Rival::Usrsctp => Command::new(usrsctp::program()?),
        _ => Command::new(std::env::current_exe()?),
    };
    command.arg(role);
    if rival != Rival::Usrsctp {
        command.arg(rival.name());
    }
    Ok(command)
}

/// Runs both ends once.
pub fn run(rival: Rival, seconds: f64) -> Result<Outcome, Box<dyn Error>> {
    let name = rival.name();
    let mut receiver = program(rival, "receive")?.stdout(Stdio::piped()).spawn()?;
    let mut lines = BufReader::new(receiver.stdout.take().ok_or("no output")?).lines();
    let address = lines.next().ok_or("the receiver did not start")??;
    let sent = program(rival, "send")?
        .args([&address, &seconds.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .and_then(Child::wait_with_output);
    let sent = match sent {
        Ok(output) if output.status.success() => String::from_utf8(output.stdout)?,
        failed => {
            receiver.kill()?;
            receiver.wait()?;
            return Err(format!("{name}: the sender failed: {failed:?}").into());
        }
    };
    let received = lines.next().ok_or("the receiver printed nothing")??;
    receiver.wait()?;
    let sent: Vec<f64> = numbers(&sent)?;
    let received = numbers(&received)?;
    match (&sent[..], &received[..]) {
        (&[cpu, packets], &[bytes, receiver_cpu, seconds]) => Ok(Outcome {
            bytes: bytes as u64,
            cpu: cpu + receiver_cpu,
            seconds,
            packets_per_send: Some(packets).filter(|packets| !packets.is_nan()),
        }),
        _ => Err(format!("{name}: unexpected output").into()),
    }
}

fn numbers(line: &str) -> Result<Vec<f64>, std::num::ParseFloatError> {
    line.split_whitespace().map(str::parse).collect()
}
