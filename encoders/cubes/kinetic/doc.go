// Package kinetic holds the two learnt encoders of cubes. What both ends can predict
// is not sent:
//
//   - The motion is predicted. kinetic simulates the physics from the baseline to the
//     frame (package forecast), with the player's motion, which is coded first.
//     kinetic-lite extrapolates every cube.
//   - A small net turns features of the cube, its history, the player and the coded
//     neighbours into a mixture of five distributions of the position, a second net
//     into one of the orientation.
//   - Each value is binarised around the median of its mixture. A range coder codes
//     the decisions with the mixture's probabilities, corrected by trained weights.
//
// The player is coded first, then the cubes by distance from it, so that the causes
// of a motion are known before it.
//
// Nets and weights are trained (train.go) and fixed. The few weights that adapt are
// part of the frame's memo (memo.go), a pure function of the frame and its baseline's
// memo, so lost packets do no harm.
//
// Reading order: coder.go is the traversal, scene.go and features.go the features,
// mixture.go and value.go the coding of a number, flags.go the other decisions,
// decision.go the probability of a decision.
package kinetic
