use super::{Column, Table, TableError};
use std::io::Write;

/// Writes tables that have the same columns as CSV (RFC 4180), with the column names in the first line.
/// Missing values are empty.
pub struct CsvWriter<W> {
    sink: W,
    begun: bool,
}

impl<W: Write> CsvWriter<W> {
    /// Writes to `sink`, which should be buffered.
    pub fn new(sink: W) -> Self {
        CsvWriter { sink, begun: false }
    }

    /// Writes the rows of a table.
    ///
    /// # Errors
    /// Errors of the sink.
    pub fn append(&mut self, table: &Table) -> Result<(), TableError> {
        if !self.begun {
            let names: Vec<_> = table.columns().iter().map(|(name, _)| quoted(name)).collect();
            writeln!(self.sink, "{}", names.join(","))?;
            self.begun = true;
        }
        let cells: Vec<Vec<String>> = table.columns().iter().map(|(_, column)| cells(column)).collect();
        for row in 0..table.rows() {
            for (i, column) in cells.iter().enumerate() {
                let end = if i + 1 == cells.len() { "\n" } else { "," };
                write!(self.sink, "{}{end}", column[row])?;
            }
        }
        Ok(())
    }

    /// Writes the buffered data and returns the sink.
    ///
    /// # Errors
    /// Errors of the sink.
    pub fn finish(mut self) -> Result<W, TableError> {
        self.sink.flush()?;
        Ok(self.sink)
    }
}

fn cells(column: &Column) -> Vec<String> {
    match column {
        Column::Text(words) => words.iter().map(quoted).collect(),
        Column::Whole(rows) => rows.iter().map(ToString::to_string).collect(),
        Column::OptionalWhole(rows) => {
            rows.iter().map(|row| row.map_or(String::new(), |n| n.to_string())).collect()
        }
        // Adding zero turns -0 into 0.
        Column::Real(rows) => rows.iter().map(|value| (value + 0.0).to_string()).collect(),
        Column::Flag(rows) => rows.iter().map(ToString::to_string).collect(),
    }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::Words;
    use super::*;

    #[test]
    fn what_would_break_a_line_is_quoted() {
        let mut words = Words::default();
        ["plain", "a,b", "say \"x\""].iter().for_each(|word| words.push(word));
        let table = Table::new(vec![
            ("word, odd".into(), Column::Text(words)),
            ("path".into(), Column::OptionalWhole(vec![None, Some(0), Some(1)])),
            ("value".into(), Column::Real(vec![-0.0, 0.1, 1e300])),
        ]);
        let mut csv = CsvWriter::new(Vec::new());
        csv.append(&table).unwrap();
        let text = String::from_utf8(csv.finish().unwrap()).unwrap();
        let large = format!("1{}", "0".repeat(300));
        assert_eq!(
            text,
            format!("\"word, odd\",path,value\nplain,,0\n\"a,b\",0,0.1\n\"say \"\"x\"\"\",1,{large}\n")
        );
    }
}
