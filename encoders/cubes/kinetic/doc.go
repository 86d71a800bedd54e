// Package kinetic holds the two encoders of cubes that know what the cubes are
// about to do. Nobody sends what both ends can foresee, so they
//
//   - foresee: kinetic simulates the physics from the baseline to now (package
//     forecast), with the player on the way that the packet tells of first;
//     kinetic-lite lets every cube go on as it went;
//   - say how sure they are: a small net, which is shown the cube, its past, the
//     player and the neighbours already known, gives a mixture of five
//     distributions of the position, another one of the orientation;
//   - ask: is it the middle? above? beyond? and a range coder makes bytes of the
//     answers, each at the price that the mixture sets, corrected by what training
//     has seen of such prices.
//
// The player comes first, then the cubes by distance from it: what it touches is
// what moves, and what is known of a cube tells about the next.
//
// Most of it is learnt (train.go) and does not change while coding. What does is
// attached to frames as their memo (memo.go): a pure function of the frame and
// its baseline's memo, so that lost packets are nobody's concern.
//
// Reading order: end.go is the traversal, scene.go and features.go what is known,
// mixture.go and value.go how a number becomes questions, flags.go the other
// questions, choice.go what an answer costs.
package kinetic
