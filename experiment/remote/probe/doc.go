// Package probe measures a path between two machines: both ends send datagrams of the
// sizes and at the rate of a game, stamp when they left and when they came, and what
// happened to them becomes a capture for each direction, from which lossmodel/measure
// fits a link.
//
//	err := probe.Serve(ctx, there)             // the far end of a channel
//	path, err := probe.Measure(ctx, here, plan) // the near one, which asks
//	up, down := path.Up, path.Down              // captures
//
// The near end says what it wants in a Plan. The far end refuses what exceeds its limits,
// sends no more than the plan says, and afterwards hands over, block by block and as often
// as it is asked, when each datagram came. Neither keeps more than two rows for each
// datagram of the plan, whatever comes.
//
// # Delays
//
// Two machines have two clocks, and nothing that is sent between them tells how far they
// are apart: what one direction takes longer, the other may take less. Delays are therefore
// relative to the fastest hundredth of their direction, and those of both are taken to have
// needed the same: half of their sum, in which the clocks' difference cancels. Slack says
// how far chance may have moved that. Round trips are measured with one clock: every
// datagram says which one came before it was sent, and how long that was ago.
package probe
