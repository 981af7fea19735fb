mod flight;
mod pacing;
mod undo;
