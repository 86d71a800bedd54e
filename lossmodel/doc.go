// Package lossmodel is a bad network in a box: a Link takes datagrams in and
// gives them back late, twice, damaged, out of order or not at all.
//
// A Link is one direction. Send decides a datagram's whole fate at once and
// files it in a heap by due time; Receive hands out what is due. Time is a
// number that the caller passes in, so a minute of a bad link runs in
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
// A line of tc's netem, Spec.Netem, stands in for all of these: see package
// wirelab/lossmodel/netem. There all decisions come from one generator, as in the
// kernel, so the first law below holds for the line as a whole only.
//
// The bottleneck stands before the delay. With a constant delay the order of
// the two makes no difference. With jitter a queue that comes behind it has
// only bad choices: serve in order of sending, so that one late packet holds up
// all that follow (reordering becomes stalling, and keep_order no choice any
// more), or serve in order of arrival, which packets yet to be sent still
// change: then Send could not say who finds room, nor when anything is due. The
// price: a burst that jitter makes never meets the queue.
//
// A spec may name files: a capture of a real network to replay, a recorded line, a
// table of delays. See File for how they are read, and how a change of one is
// noticed. Package capture reads what networks did; package measure puts figures
// to it, holds links to their closed forms, and fits a link to a capture.
//
// Three laws hold, and are tested:
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
