//! Numbers and tables as text.

/// A table with aligned columns; the first row contains the column titles. If the terminal is narrower than
/// the table (environment variable `COLUMNS`), each cell has a line of its own.
pub fn table(rows: &[Vec<String>]) -> String {
    let wide = wide(rows);
    let widest = wide.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse::<usize>().ok());
    if columns.is_some_and(|columns| widest > columns) { narrow(rows) } else { wide }
}

/// A block for each row, with one line for each cell.
fn narrow(rows: &[Vec<String>]) -> String {
    let [head, rows @ ..] = rows else { return String::new() };
    let width = head.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let line = |(name, cell): (&String, &String)| {
        (!cell.is_empty()).then(|| format!("{}\n", format!("{name:<width$}  {cell}").trim()))
    };
    let blocks: Vec<String> =
        rows.iter().map(|row| head.iter().zip(row).filter_map(line).collect()).collect();
    blocks.join("\n")
}

fn wide(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |i: usize| {
        rows.iter().filter_map(|row| row.get(i)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let line: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(
                |(i, (cell, width))| {
                    if i == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                },
            )
            .collect();
        text += line.join("  ").trim_end();
        text.push('\n');
    }
    text
}

/// A number with `digits` decimal places. Zero has no sign.
fn fixed(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    match text.strip_prefix('-') {
        Some(zero) if zero.bytes().all(|byte| byte == b'0' || byte == b'.') => zero.to_owned(),
        _ => text,
    }
}

/// A rate in bit/s, kbit/s, Mbit/s or Gbit/s.
pub fn rate(bps: f64) -> String {
    match bps.abs() {
        n if n >= 1e9 => fixed(bps / 1e9, 3) + " Gbit/s",
        n if n >= 1e6 => fixed(bps / 1e6, 2) + " Mbit/s",
        n if n >= 1e3 => fixed(bps / 1e3, 2) + " kbit/s",
        _ => fixed(bps, 0) + " bit/s",
    }
}

/// A rate and the half width of its interval, both in the same unit.
pub fn rate_interval(bps: f64, half: f64) -> String {
    if half.is_nan() {
        return rate(bps);
    }
    let (scale, unit) = match bps.abs() {
        n if n >= 1e9 => (1e9, "Gbit/s"),
        n if n >= 1e6 => (1e6, "Mbit/s"),
        n if n >= 1e3 => (1e3, "kbit/s"),
        _ => (1.0, "bit/s"),
    };
    format!("{} ± {} {unit}", fixed(bps / scale, 3), fixed(half / scale, 3))
}

/// A time in s, ms or us.
pub fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => fixed(s, 2) + " s",
        s if s >= 1e-3 => fixed(s * 1e3, 2) + " ms",
        s => fixed(s * 1e6, 0) + " us",
    }
}

/// The latency that a load adds; infinite if no probe was answered.
pub fn added(seconds: f64) -> String {
    if seconds.is_finite() { time(seconds) } else { "no answer".to_owned() }
}

/// The latency that a load adds, and the half width of its interval.
pub fn added_interval(seconds: f64, half: f64) -> String {
    let half = if half.is_finite() { format!(" ± {}", time(half)) } else { String::new() };
    added(seconds) + &half
}

/// A number; without decimal places if it is whole.
pub fn count(value: f64) -> String {
    fixed(value, if value.fract() == 0.0 && value.abs() < 1e15 { 0 } else { 3 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_characters() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let text = table(&[row(["flow", "rate", ""]), row(["ä", "1.5", "x"]), row(["long name", "±2", ""])]);
        assert_eq!(text, "flow       rate\nä           1.5  x\nlong name    ±2\n");
    }

    #[test]
    fn a_narrow_table_has_a_line_for_each_cell() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [row(["flow", "throughput", "lost"]), row(["f", "1 Mbit/s", ""]), row(["g", "2", "3"])];
        assert_eq!(
            narrow(&rows),
            "flow        f\nthroughput  1 Mbit/s\n\nflow        g\nthroughput  2\nlost        3\n"
        );
    }

    #[test]
    fn no_zero_has_a_sign() {
        let shown =
            [rate(-0.0), rate(-0.4), rate_interval(-0.0, -0.0), time(-0.0), count(-0.0), count(-1e-9)];
        assert_eq!(
            shown,
            ["0 bit/s", "0 bit/s", "0.000 ± 0.000 bit/s", "0 us", "0", "0.000"].map(str::to_owned)
        );
        assert_eq!((rate(-5.0), count(-0.5)), ("-5 bit/s".into(), "-0.500".into()));
    }

    #[test]
    fn numbers_have_a_unit_of_their_magnitude() {
        assert_eq!(rate(189_912_345.0), "189.91 Mbit/s");
        assert_eq!(rate(0.0), "0 bit/s");
        assert_eq!(rate_interval(2_500.0, 10.0), "2.500 ± 0.010 kbit/s");
        assert_eq!(
            (time(0.0123), time(3.0), count(3.0), count(0.5)),
            ("12.30 ms".into(), "3.00 s".into(), "3".into(), "0.500".into())
        );
    }
}
