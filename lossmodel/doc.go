// Package lossmodel emulates a bad network. A Link delays, drops, duplicates, damages and
// reorders datagrams.
//
// A Link is one direction of a network. Send decides the complete fate of a datagram and stores
// it by due time; Receive returns the datagrams that are due. Time is virtual and passed in by
// the caller: a minute of a bad link runs in milliseconds, and the same Spec, seed and calls
// give the same result on every machine.
//
//	spec := lossmodel.DefaultSpec()
//	err := spec.Set("loss", "5%")            // Keys lists all keys
//	link, err := lossmodel.NewLink(spec, 7, "down")
//	verdict := link.Send(now, datagram, tag)
//	for d, ok := link.Receive(now); ok; d, ok = link.Receive(now) { ... }
//
// A packet passes the stages in this order:
//
//	fragments -> duplicate -> loss -> corrupt -> rate and queue -> delay -> reorder
//
// A netem line, Spec.Netem, replaces all of these stages: see package wirelab/lossmodel/netem.
// It draws all random numbers from one generator, as the kernel does. The first property below
// therefore holds only for the line as a whole.
//
// The rate stage comes before the delay stage. With a constant delay their order makes no
// difference. With jitter, a queue after the delay would serve packets in order of arrival,
// which depends on packets that are sent later. Send could then not decide which packets are
// dropped or when they are due. As a consequence, bursts of arrivals caused by jitter do not
// fill the queue.
//
// Send does not decide about a packet in the queue if that depends on what happens later: with a
// queue discipline such as CoDel, with other traffic, and after a change of the rate. Then
// Verdict.Waiting is set, Due is an estimate, and Receive returns a packet that was dropped with Delivery.Lost.
//
// A spec may name files: a capture to replay, a recorded line, or a table of delays. See
// tracefile.File for how files are read and how changes are detected. Package capture reads and
// writes captures; package measure computes their statistics, tests links against closed forms,
// and fits links to captures. Loss models are in package loss.
//
// Three properties are guaranteed and tested:
//   - A stage that is on and needs random numbers draws one 64-bit word from its own stream for
//     each datagram, lost or not. (The delay stage draws only with jitter, the rate stage never.)
//     All further random numbers, also those for copies, are derived from that word. A change of
//     one stage therefore does not affect random decisions of another, and two encoders with the
//     same seed have the same losses.
//   - Reshape changes parameters only. It resets no state. Of the packets in flight it changes only
//     those in the queue, which leave at the new rate.
//   - Decisions compare integers. Where floats are needed, every operation is rounded separately
//     (no fused multiply-add), so that all machines give the same result.
package lossmodel
