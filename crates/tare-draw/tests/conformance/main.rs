//! Every generator against the distribution that its code states, by Pearson's chi-square test.
//!
//! 10^7 draws each (10^6 without optimisation). Bins that expect fewer than 10 draws are joined with
//! their neighbours. Seeds are fixed, so that a test always gives the same answer; a distribution is refused
//! when its statistic has a probability under 10^-4.

mod chi_square;
mod fields;
mod records;
mod stress;
