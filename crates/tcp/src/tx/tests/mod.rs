mod flight;
mod pacing;
