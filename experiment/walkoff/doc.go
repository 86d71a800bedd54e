// Package walkoff scores encoders of cube snapshots by the rules of Glenn
// Fiedler's delta compression walk-off (2015), so that our figures can stand
// beside the published ones.
//
// The rules: frames 0..5 are the initial state repeated. Frame n (n >= 6) is
// encoded relative to frame n-6, as if every packet took a tenth of a second to
// be acknowledged. What counts is the payload rounded up to bytes; kbps = mean
// bytes x 60 x 8 / 1000. The encoder must be lossless, bit for bit.
//
// One rule is easily broken by accident: the receiver may have lost every
// packet in between, so an encoder may use nothing of frames n-1 .. n-5. The
// audit proves it. Each residue class n mod 6 is decoded by a process of its own
// that is given the initial state and the packets of its class, and nothing
// else; a seventh process encodes everything again from the frames alone and
// must arrive at the same bytes. An encoder that leans on frame n-1, or that
// carries anything from packet to packet beside the memo of n-6, fails.
//
// Separate processes, and not just fresh encoders, because package-level state
// would pass unseen from one to the other within a process.
package walkoff
