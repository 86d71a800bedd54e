// Package rows encodes tables of any schema: many rows of a few fields, most of which do
// not change. It is for users' own data, so it uses only the schema and learns the rest.
// Tables with floats, hints or parts are coded by package states instead.
//
// It codes which rows changed, which of their fields, and the residuals of the predicted
// values. Several predictors extrapolate from the row's last step and compete. Three
// things are derived from the schema: two or three quantities of one unit are a
// position, so rows can be neighbours; an enum of four values before three quantities of
// one range is a rotation; and fields of the same kind, range and unit share statistics.
// Where the fields mean something else, packets are only larger.
//
// Each decision is coded by logistic mixing of several contexts (Mahoney's PAQ). All
// adaptive state is part of the frame's memo (Giesen's gaffer_net), so loss cannot
// desynchronise the two ends.
package rows
