// Package lossmodel emulates a bad network: a Link takes datagrams and delivers them
// late, twice, damaged, out of order or not at all.
//
// A Link is one direction. Send decides a datagram's whole fate at once and puts it
// into a heap by due time; Receive returns what is due. Time is a number that the
// caller passes in, so a minute of a bad link runs in
// milliseconds, and the same Spec, seed and calls give the same fates on every
// machine.
//
//	spec := lossmodel.DefaultSpec()
//	err := spec.Set("loss", "5%")            // also "latency", "50ms±10ms" and so on: see Keys
//	link, err := lossmodel.NewLink(spec, 7, "down")
//	link.Watch()                             // only for Trail: what each stage did to the packet
//	verdict := link.Send(now, datagram, tag)
//	for d, ok := link.Receive(now); ok; d, ok = link.Receive(now) { ... }
//
// A packet goes through the stages in this order:
//
//	fragments -> duplicate -> loss -> corrupt -> rate and queue -> delay -> reorder
//
// A line of tc's netem, Spec.Netem, replaces all of these: see package
// wirelab/lossmodel/netem. There all decisions come from one generator, as in the
// kernel, so the first property below holds for the line as a whole only.
//
// The bottleneck stands before the delay. With a constant delay the order of
// the two makes no difference. With jitter, a queue behind the delay would have to
// serve either in order of sending, so that one late packet holds up all that follow,
// or in order of arrival, which packets yet to be sent still change: then Send could
// not know which packets find room, nor when they are due. The price: a burst of
// arrivals that jitter makes never meets the queue.
//
// A spec may name files: a capture of a real network to replay, a recorded line, a
// table of delays. See File for how they are read, and how a change of one is
// noticed. Package capture reads what networks did; package measure computes
// statistics of it, compares links with their closed forms, and fits a link to a
// capture. Loss models are in package loss.
//
// Three properties hold, and are tested:
//   - A stage that needs chance (delay does only with jitter, rate never) draws
//     one 64-bit word from its own stream for each datagram while it is switched
//     on, lost or not; whatever more it needs, for the copies too, is derived
//     from that word. So a change to one stage alters no random decision of
//     another, and two encoders under one seed meet the same losses.
//   - Reshape changes parameters and nothing else: no state is reset, nothing in
//     flight is re-timed.
//   - Decisions compare integers with integers. Where a float is needed, it goes
//     through one rounding at a time, so nothing depends on how a machine fuses
//     them.
package lossmodel
