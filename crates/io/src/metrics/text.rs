use std::fmt::Write;

/// Kind of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A value that begins at 0 and only grows; the name ends in `_total`.
    Counter,
    /// Any value.
    Gauge,
}

/// Metrics in the text format of Prometheus.
#[derive(Clone, Debug, Default)]
pub struct MetricText {
    text: String,
    /// Name of the metric whose samples follow.
    name: String,
}

impl MetricText {
    /// Begins a metric; its samples follow.
    pub fn family(&mut self, kind: Kind, name: &str, help: &str) -> &mut Self {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        };
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        name.clone_into(&mut self.name);
        self
    }

    /// Adds a sample. Each label is a name and a value; the value may be any text.
    pub fn sample(&mut self, labels: &[(&str, &str)], value: f64) -> &mut Self {
        self.text.push_str(&self.name);
        for (n, (label, text)) in labels.iter().enumerate() {
            let begin = if n == 0 { '{' } else { ',' };
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.text, "{begin}{label}=\"{text}\"");
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.text, "{end} {value}");
        self
    }

    /// The text so far.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}
