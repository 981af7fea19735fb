use crate::output::Scalar;

/// Writes the rows of one flow, link or group of flows in one window.
pub(super) struct RowWriter<'a> {
    pub(super) window: &'a str,
    pub(super) flow: &'a str,
    pub(super) out: &'a mut Vec<Scalar>,
}

impl RowWriter<'_> {
    pub(super) fn write(&mut self, quantity: &'static str, value: f64) {
        self.write_path(quantity, None, value);
    }

    pub(super) fn write_path(&mut self, quantity: &'static str, path: Option<usize>, value: f64) {
        self.out.push(Scalar {
            flow: self.flow.to_owned(),
            window: self.window.to_owned(),
            path: path.map(|path| path as u8),
            quantity,
            // The empty sum is -0; adding zero makes it 0.
            value: value + 0.0,
        });
    }
}
