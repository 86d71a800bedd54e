// Package rows encodes tables of any schema: many rows of a few fields, most of which
// stay as they are. It is for people who bring data of their own, so it knows nothing
// but what their schema says, and learns the rest on the way.
//
// Of every row it says whether it changed; of a row that did, which fields; of a field
// that did, by how much its value misses a prediction. Predictions go on from how the
// row came to be at its baseline, and several ways of doing so compete. Three things are
// read off the schema: two or three quantities of one unit are a place, so that rows can
// be near each other; an enum of four values before three quantities of one range is a
// rotation; and fields that are alike learn from each other.
//
// Each decision is seen in several contexts at once, whose probabilities are mixed
// (Mahoney's PAQ), and all that is learnt travels along the chain of baselines as the
// frame's memo (Giesen's gaffer_net). So no loss can drive two ends apart.
package rows
