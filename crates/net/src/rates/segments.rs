use super::model::{Generator, RateModel};
use super::series::{RateSeries, Step};
use des::Random;
use std::sync::Arc;
use units::{BitRate, Instant};

/// A rate that changes with time, from one segment in which it is constant to the next.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    source: Source,
    rate: BitRate,
    end: Instant,
}

#[derive(Clone, Debug)]
enum Source {
    Series(Arc<RateSeries>, Step),
    Model(Box<Generator>),
}

impl Segments {
    pub fn of_series(series: Arc<RateSeries>) -> Self {
        let step = Step::default();
        Segments { rate: series.rate(step), end: series.end(step), source: Source::Series(series, step) }
    }

    pub fn of_model(model: &RateModel, random: Random) -> Self {
        let mut generator = Box::new(Generator::new(model, random));
        let (lasts, rate) = generator.next();
        Segments { rate, end: Instant::ZERO + lasts, source: Source::Model(generator) }
    }

    /// The rate now.
    pub fn rate(&self) -> BitRate {
        self.rate
    }

    /// Until when it lasts.
    pub fn end(&self) -> Instant {
        self.end
    }

    /// Goes on to the next segment.
    pub fn advance(&mut self) {
        match &mut self.source {
            Source::Series(series, step) => {
                *step = series.after(*step);
                (self.rate, self.end) = (series.rate(*step), series.end(*step));
            }
            Source::Model(generator) => {
                let (lasts, rate) = generator.next();
                (self.rate, self.end) = (rate, self.end + lasts);
            }
        }
    }

    /// Goes on to the segment at `now`, which must not be before the current one.
    pub fn advance_to(&mut self, now: Instant) {
        if let Source::Series(series, step) = &mut self.source {
            *step = series.at(now);
            (self.rate, self.end) = (series.rate(*step), series.end(*step));
        }
        while self.end <= now && now < Instant::FAR {
            self.advance();
        }
    }
}
