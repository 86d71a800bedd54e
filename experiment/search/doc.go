// Package search finds the settings that minimise one or two figures, with much fewer runs than a sweep
// over the whole grid.
//
// A search has three phases:
//
//   - Draw: settings are drawn at random, spread evenly over every range, and run for 1/8 of the
//     duration. The better half is run for 1/4, and so on (successive halving: Jamieson and
//     Talwalkar, 2016).
//   - Walk: from the best of these the search moves to better neighbours, as long as there are any.
//     Settings are compared on the same seeds, so that random effects they share cancel out (racing by
//     paired differences: Maron and Moore, 1997).
//   - Race: the best settings are run with all seeds. Settings that are significantly worse than the
//     leader are dropped.
//
// The cost of a search is counted in runs of the whole duration; it never exceeds the limit in the
// configuration. All random numbers are derived from the configuration's seed.
package search
