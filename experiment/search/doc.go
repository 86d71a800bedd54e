// Package search looks for the settings that make a figure smallest, or two, at a fraction
// of what the whole grid would cost.
//
// It begins with settings drawn at random, spread evenly over every range, and runs them
// for an eighth of the duration; the better half goes on for a quarter, and so on
// (successive halving: Jamieson and Talwalkar 2016). From the best of those it walks to
// better neighbours, each compared on the same seeds, so that the luck they share falls out
// (racing by paired differences: Maron and Moore 1997). The best are then run with all
// seeds. All that is random is drawn from the configuration's seed.
package search
