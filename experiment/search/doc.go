// Package search finds the settings that minimise a figure, with much fewer runs than a sweep over the
// whole grid.
//
// Settings are compared by successive halving (Jamieson and Talwalkar, 2016): each is run with one seed,
// and those that may be better than the best so far get twice as many seeds, until they have all or are
// worse. Two settings are always compared on the same seeds, so that random effects they share cancel
// out.
//
// The search begins with settings drawn at random, spread evenly over every range. Then it tries
// settings around the best one, as long as these improve it.
//
// The cost of a search is its number of runs; it never exceeds the limit in the configuration. All
// random numbers are derived from the configuration's seed.
package search
