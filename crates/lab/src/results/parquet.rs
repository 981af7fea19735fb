use super::table::Words;
use super::{Column, Kind, Table, TableError};
use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::column::reader::{ColumnReader, get_typed_column_reader};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::{Type, TypePtr};
use std::io::Write;
use std::sync::Arc;

/// Writes tables of one shape into one Parquet file, which depends on their rows only.
pub struct ParquetWriter<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    pending: Table,
}

/// Rows of a row group: large enough to compress well, small enough to keep in memory.
const GROUP_ROWS: usize = 1 << 17;

impl<W: Write + Send> ParquetWriter<W> {
    /// Starts a file.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn new(sink: W, shape: &[(String, Kind)]) -> Result<Self, TableError> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("anabranch {}", env!("CARGO_PKG_VERSION")))
            .build();
        let writer = SerializedFileWriter::new(sink, schema(shape)?, Arc::new(properties))?;
        Ok(ParquetWriter { writer, pending: Table::empty(shape) })
    }

    /// Writes the rows of a table.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn append(&mut self, table: &Table) -> Result<(), TableError> {
        self.pending.append(table);
        if self.pending.rows() >= GROUP_ROWS { self.write_group() } else { Ok(()) }
    }

    /// Ends the file and returns the sink.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn finish(mut self) -> Result<W, TableError> {
        if self.pending.rows() > 0 {
            self.write_group()?;
        }
        Ok(self.writer.into_inner()?)
    }

    fn write_group(&mut self) -> Result<(), TableError> {
        let mut group = self.writer.next_row_group()?;
        for (_, column) in self.pending.columns() {
            write_column(&mut group, column)?;
        }
        group.close()?;
        self.pending = Table::empty(&self.pending.shape());
        Ok(())
    }
}

/// A table as a Parquet file in memory.
///
/// # Errors
/// Those of the Parquet library.
pub fn to_parquet_bytes(table: &Table) -> Result<Vec<u8>, TableError> {
    let mut writer = ParquetWriter::new(Vec::new(), &table.shape())?;
    writer.append(table)?;
    writer.finish()
}

fn schema(shape: &[(String, Kind)]) -> Result<TypePtr, TableError> {
    let field = |(name, kind): &(String, Kind)| {
        let (physical, repetition) = match kind {
            Kind::Text => (Physical::BYTE_ARRAY, Repetition::REQUIRED),
            Kind::Whole => (Physical::INT32, Repetition::REQUIRED),
            Kind::OptionalWhole => (Physical::INT32, Repetition::OPTIONAL),
            Kind::Real => (Physical::DOUBLE, Repetition::REQUIRED),
            Kind::Flag => (Physical::BOOLEAN, Repetition::REQUIRED),
        };
        let logical = (*kind == Kind::Text).then_some(LogicalType::String);
        Type::primitive_type_builder(name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    };
    let fields = shape.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(Type::group_type_builder("results").with_fields(fields).build()?))
}

fn write_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: &Column,
) -> Result<(), TableError> {
    match column {
        Column::Text(words) => {
            let rows: Vec<ByteArray> = words.iter().map(ByteArray::from).collect();
            write_values::<ByteArrayType, W>(group, &rows, None)
        }
        Column::Whole(rows) => write_values::<Int32Type, W>(group, rows, None),
        Column::OptionalWhole(rows) => {
            let values: Vec<i32> = rows.iter().flatten().copied().collect();
            let levels: Vec<i16> = rows.iter().map(|row| row.is_some().into()).collect();
            write_values::<Int32Type, W>(group, &values, Some(&levels))
        }
        Column::Real(rows) => write_values::<DoubleType, W>(group, rows, None),
        Column::Flag(rows) => write_values::<BoolType, W>(group, rows, None),
    }
}

fn write_values<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), TableError> {
    if let Some(mut writer) = group.next_column()? {
        writer.typed::<T>().write_batch(values, levels, None)?;
        writer.close()?;
    }
    Ok(())
}

/// Reads a file that [`ParquetWriter`] wrote.
///
/// # Errors
/// If the file is damaged or has other columns.
pub fn read_parquet<R: ChunkReader + 'static>(
    source: R,
    shape: &[(String, Kind)],
) -> Result<Table, TableError> {
    let reader = SerializedFileReader::new(source)?;
    let stored = reader.metadata().file_metadata().schema_descr_ptr();
    if *stored.root_schema().get_fields() != *schema(shape)?.get_fields() {
        let names: Vec<_> = shape.iter().map(|(name, _)| name.as_str()).collect();
        return Err(TableError::Shape(names.join(", ")));
    }
    let mut table = Table::empty(shape);
    for number in 0..reader.num_row_groups() {
        let group = reader.get_row_group(number)?;
        let rows = group.metadata().num_rows() as usize;
        let mut columns = Vec::new();
        for (i, (name, kind)) in shape.iter().enumerate() {
            columns.push((name.clone(), read_column(group.get_column_reader(i)?, *kind, rows)?));
        }
        table.append(&Table::new(columns));
    }
    Ok(table)
}

fn read_column(reader: ColumnReader, kind: Kind, rows: usize) -> Result<Column, TableError> {
    Ok(match kind {
        Kind::Text => {
            let mut words = Words::default();
            for value in read_values::<ByteArrayType>(reader, rows)?.0 {
                words.push(value.as_utf8()?);
            }
            Column::Text(words)
        }
        Kind::Whole => Column::Whole(read_values::<Int32Type>(reader, rows)?.0),
        Kind::OptionalWhole => {
            let (values, levels) = read_values::<Int32Type>(reader, rows)?;
            let mut values = values.into_iter();
            Column::OptionalWhole(
                levels.into_iter().map(|level| if level == 0 { None } else { values.next() }).collect(),
            )
        }
        Kind::Real => Column::Real(read_values::<DoubleType>(reader, rows)?.0),
        Kind::Flag => Column::Flag(read_values::<BoolType>(reader, rows)?.0),
    })
}

fn read_values<T: DataType>(reader: ColumnReader, rows: usize) -> Result<(Vec<T::T>, Vec<i16>), TableError> {
    let mut reader = get_typed_column_reader::<T>(reader);
    let (mut values, mut levels, mut read) = (Vec::new(), Vec::new(), 0);
    while read < rows {
        let (records, ..) = reader.read_records(rows - read, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            return Err(TableError::Shape(format!("{rows} rows")));
        }
        read += records;
    }
    Ok((values, levels))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::bytes::Bytes;

    fn sample(rows: usize) -> Table {
        let mut words = Words::default();
        (0..rows).for_each(|i| words.push(["throughput_bps", "timeouts", "größe"][i % 3]));
        Table::new(vec![
            ("quantity".into(), Column::Text(words)),
            ("run".into(), Column::Whole((0..rows as i32).collect())),
            (
                "path".into(),
                Column::OptionalWhole((0..rows as i32).map(|i| (i % 2 == 0).then_some(i)).collect()),
            ),
            ("value".into(), Column::Real((0..rows).map(|i| 1.0 / (i as f64 + 1.0)).collect())),
            ("sfr".into(), Column::Flag((0..rows).map(|i| i % 5 == 0).collect())),
        ])
    }

    #[test]
    fn what_is_written_is_read_back() {
        for rows in [0, 1, 1000] {
            let table = sample(rows);
            let bytes = to_parquet_bytes(&table).unwrap();
            assert_eq!(read_parquet(Bytes::from(bytes), &table.shape()).unwrap(), table, "{rows}");
        }
    }

    #[test]
    fn many_rows_make_several_groups_that_read_back_as_one_table() {
        let table = sample(GROUP_ROWS / 2 + 1);
        let mut writer = ParquetWriter::new(Vec::new(), &table.shape()).unwrap();
        let mut whole = Table::empty(&table.shape());
        for _ in 0..5 {
            writer.append(&table).unwrap();
            whole.append(&table);
        }
        let bytes = Bytes::from(writer.finish().unwrap());
        assert_eq!(SerializedFileReader::new(bytes.clone()).unwrap().num_row_groups(), 3);
        assert_eq!(read_parquet(bytes, &table.shape()).unwrap(), whole);
    }

    #[test]
    fn a_table_of_another_shape_is_refused() {
        let table = sample(3);
        let bytes = Bytes::from(to_parquet_bytes(&table).unwrap());
        let other = [("quantity".to_owned(), Kind::Text)];
        let error = read_parquet(bytes, &other).unwrap_err();
        assert_eq!(error.to_string(), "expected a table with the columns quantity");
    }
}
