use super::Varying;
use super::model::{Generator, Model};
use super::series::{Series, Step};
use des::Random;
use std::sync::Arc;
use units::Instant;

/// A rate or delay that changes with time: a sequence of segments, each with a constant value.
#[derive(Clone, Debug)]
pub(crate) struct Segments<V: Varying> {
    ahead: Cursor<V>,
    /// A cursor at an earlier time. After a failure of the link, `ahead` restarts from this cursor.
    past: Cursor<V>,
}

#[derive(Clone, Debug)]
struct Cursor<V: Varying> {
    source: Source<V>,
    value: V,
    end: Instant,
}

#[derive(Clone, Debug)]
enum Source<V: Varying> {
    Series(Arc<Series<V>>, Step),
    Model(Box<Generator<V>>),
}

impl<V: Varying> Segments<V> {
    pub fn of_series(series: Arc<Series<V>>) -> Self {
        let step = Step::default();
        Self::from(Cursor {
            value: series.value(step),
            end: series.end(step),
            source: Source::Series(series, step),
        })
    }

    pub fn of_model(model: &Model<V>, random: Random) -> Self {
        let mut generator = Box::new(Generator::new(model, random));
        let (lasts, value) = generator.next();
        Self::from(Cursor { value, end: Instant::ZERO + lasts, source: Source::Model(generator) })
    }

    fn from(cursor: Cursor<V>) -> Self {
        Segments { past: cursor.clone(), ahead: cursor }
    }

    /// The value of the current segment.
    pub fn value(&self) -> V {
        self.ahead.value
    }

    /// End of the current segment.
    pub fn end(&self) -> Instant {
        self.ahead.end
    }

    pub fn advance(&mut self) {
        self.ahead.advance();
    }

    /// Advances to the segment at `now`, which must not be before the current segment.
    pub fn advance_to(&mut self, now: Instant) {
        self.ahead.advance_to(now);
    }

    /// Returns to the segment at `now`, which must not be before the segment of the last reset.
    pub fn reset(&mut self, now: Instant) {
        self.past.advance_to(now);
        self.ahead = self.past.clone();
    }
}

impl<V: Varying> Cursor<V> {
    fn advance(&mut self) {
        match &mut self.source {
            Source::Series(series, step) => {
                *step = series.after(*step);
                (self.value, self.end) = (series.value(*step), series.end(*step));
            }
            Source::Model(generator) => {
                let (lasts, value) = generator.next();
                (self.value, self.end) = (value, self.end + lasts);
            }
        }
    }

    fn advance_to(&mut self, now: Instant) {
        if now < self.end {
            return;
        }
        if let Source::Series(series, step) = &mut self.source {
            *step = series.at(now);
            (self.value, self.end) = (series.value(*step), series.end(*step));
        }
        while self.end <= now && now < Instant::FAR {
            self.advance();
        }
    }
}
