// Package probe measures a network path between two machines. Both sides send datagrams of the
// sizes and at the rate of a game, with timestamps. The result is a capture for each direction,
// from which lossmodel/measure fits a link.
//
//	report, err := probe.Serve(ctx, session)       // on one machine
//	path, err := probe.Measure(ctx, session, plan) // on the other
//	up, down := path.Up, path.Down                 // captures
//
// Measure requests a Plan. Serve refuses plans beyond its limits and sends no more than the plan
// allows. Afterwards Measure fetches the arrivals of the other side in blocks. Each side stores
// at most two arrivals for each datagram of the plan.
//
// # Delays
//
// The clocks of the two machines are not synchronised, and messages between them cannot measure
// the difference: a longer delay in one direction looks the same as a shorter one in the other.
// Delays are therefore measured relative to the 1st percentile of their direction. The 1st
// percentiles of both directions are assumed to be equal: half of their sum, in which the
// difference of the clocks cancels. The result contains the statistical error of this value. Round
// trips are measured with one clock: each datagram contains the send time of the newest datagram
// received before, and how long ago it arrived.
package probe
