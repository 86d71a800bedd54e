// Package states codes tables of things that have a state, such as players and missiles. It is
// delta-adaptive for schemas with floats, parts or hints, and delta-trained.
//
// It codes which rows changed, which of their fields, and the distance of their values from
// predictions: the old value, the same step again, the velocity (which is coded before the
// place), drag and a push. Each predictor has a distribution of its own past errors, which
// predicts every binary decision on the way to a value. An adaptive mixer combines these with the
// predictions of counters in several contexts (Mahoney's PAQ). The class of a float comes before
// its value: whole, eighth, multiple of the schema's step, or other. A new row is made from one
// that is there.
//
// All adaptive state is part of the frame's memo (Giesen's gaffer_net), which has a fixed size,
// so loss cannot desynchronise the two ends. Everything is integer arithmetic but single
// operations on floats, which every machine rounds alike.
package states
