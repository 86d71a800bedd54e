// Package states codes tables of things that have a state: players, missiles, whatever a game
// has. It is what package rows makes delta-adaptive of where a schema has floats, parts or hints.
//
// It codes which rows changed, which of their fields, and how far those are from what several
// experts foretell: as it was, as it went on, by the velocity (which comes before the place),
// with drag and a push. Each expert is a distribution of its own past errors, which answers
// every decision on the way to a value; a mixer that learns weighs their answers with those of
// counters under contexts (Mahoney's PAQ). A float's class, whole, eighths, steps of the schema
// or a fraction, comes before its value. A row that was not there is made from one that is.
//
// All adaptive state is part of the frame's memo (Giesen's gaffer_net), which has a fixed size,
// so loss cannot desynchronise the two ends. Everything is integer arithmetic but single
// operations on floats, which every machine rounds alike.
package states
