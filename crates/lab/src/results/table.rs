use std::collections::BTreeMap;

/// Type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words, most of which occur many times.
    Text,
    /// Whole numbers.
    Whole,
    /// Whole numbers, some of them missing.
    OptionalWhole,
    /// Real numbers.
    Real,
    /// True or false.
    Flag,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Words.
    Text(Words),
    /// Whole numbers.
    Whole(Vec<i32>),
    /// Whole numbers, some of them missing.
    OptionalWhole(Vec<Option<i32>>),
    /// Real numbers.
    Real(Vec<f64>),
    /// True or false.
    Flag(Vec<bool>),
}

/// A column of texts that stores each distinct text once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    words: Vec<String>,
    index: BTreeMap<String, u32>,
    rows: Vec<u32>,
}

impl Words {
    /// Adds a row.
    pub fn push(&mut self, word: &str) {
        let number = self.number(word);
        self.rows.push(number);
    }

    /// The number of a word, which is added if it is new.
    fn number(&mut self, word: &str) -> u32 {
        match self.index.get(word) {
            Some(number) => *number,
            None => {
                let number = self.words.len() as u32;
                self.words.push(word.to_owned());
                self.index.insert(word.to_owned(), number);
                number
            }
        }
    }

    /// A column of one word.
    pub fn repeated(word: &str, rows: usize) -> Self {
        let mut words = Words::default();
        if rows > 0 {
            words.push(word);
            words.rows.resize(rows, 0);
        }
        words
    }

    /// Adds the rows of another column.
    fn append(&mut self, other: &Words) {
        // New words are numbered in the order of their first rows, as if the rows were added one by one.
        let numbers: Vec<u32> = other.words.iter().map(|word| self.number(word)).collect();
        self.rows.extend(other.rows.iter().map(|row| numbers[*row as usize]));
    }

    /// All rows, each as a value that `make` creates once per word.
    pub fn rows_as<'w, T: Clone>(&'w self, make: impl Fn(&'w str) -> T) -> Vec<T> {
        let made: Vec<T> = self.words.iter().map(|word| make(word)).collect();
        self.rows.iter().map(|number| made[*number as usize].clone()).collect()
    }

    /// Every row.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|number| self.words[*number as usize].as_str())
    }
}

impl Column {
    /// A column without rows.
    pub fn new(kind: Kind) -> Self {
        match kind {
            Kind::Text => Column::Text(Words::default()),
            Kind::Whole => Column::Whole(Vec::new()),
            Kind::OptionalWhole => Column::OptionalWhole(Vec::new()),
            Kind::Real => Column::Real(Vec::new()),
            Kind::Flag => Column::Flag(Vec::new()),
        }
    }

    /// Type of the values.
    pub fn kind(&self) -> Kind {
        match self {
            Column::Text(_) => Kind::Text,
            Column::Whole(_) => Kind::Whole,
            Column::OptionalWhole(_) => Kind::OptionalWhole,
            Column::Real(_) => Kind::Real,
            Column::Flag(_) => Kind::Flag,
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Column::Text(words) => words.rows.len(),
            Column::Whole(rows) => rows.len(),
            Column::OptionalWhole(rows) => rows.len(),
            Column::Real(rows) => rows.len(),
            Column::Flag(rows) => rows.len(),
        }
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn append(&mut self, other: &Column) {
        match (self, other) {
            (Column::Text(words), Column::Text(more)) => words.append(more),
            (Column::Whole(rows), Column::Whole(more)) => rows.extend(more),
            (Column::OptionalWhole(rows), Column::OptionalWhole(more)) => rows.extend(more),
            (Column::Real(rows), Column::Real(more)) => rows.extend(more),
            (Column::Flag(rows), Column::Flag(more)) => rows.extend(more),
            (column, other) => unreachable!("{:?} appended to {:?}", other.kind(), column.kind()),
        }
    }
}

/// Named columns of equal length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    columns: Vec<(String, Column)>,
}

impl Table {
    /// A table of these columns, which must have the same length.
    pub fn new(columns: Vec<(String, Column)>) -> Self {
        debug_assert!(columns.iter().all(|(_, column)| column.len() == columns[0].1.len()));
        Table { columns }
    }

    /// A table with these columns and no rows.
    pub fn empty(shape: &[(String, Kind)]) -> Self {
        Table { columns: shape.iter().map(|(name, kind)| (name.clone(), Column::new(*kind))).collect() }
    }

    /// Names and kinds of the columns.
    pub fn shape(&self) -> Vec<(String, Kind)> {
        self.columns.iter().map(|(name, column)| (name.clone(), column.kind())).collect()
    }

    /// The columns with their names.
    pub fn columns(&self) -> &[(String, Column)] {
        &self.columns
    }

    /// The column with this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|(other, _)| other == name).map(|(_, column)| column)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// Adds the rows of a table of the same shape.
    pub fn append(&mut self, other: &Table) {
        debug_assert_eq!(self.shape(), other.shape());
        for ((_, column), (_, more)) in self.columns.iter_mut().zip(&other.columns) {
            column.append(more);
        }
    }
}
