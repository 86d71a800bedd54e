// Package netem is Linux's network emulator without Linux: it reads the line
// that one gives to tc, and then decides packet by packet as the kernel does with
// that seed. What `tc qdisc add dev eth0 root netem loss 1% seed 1` drops on a
// wire, a Qdisc drops here.
//
//	p, err := netem.Parse("delay 50ms 10ms loss gemodel 1% 20% seed 1")
//	q := netem.New(p, 0)
//	d := q.Enqueue(now, wire) // lost, doubled, damaged, late?
//
// Parse follows tc of iproute2 6.15, its units, its short forms and its errors.
// Qdisc follows sch_netem of kernel 6.12: the same generator, the same order of
// draws, the same thresholds, the same integer arithmetic, its faults included.
// Params.Warnings names the faults that a line runs into.
//
// What the kernel itself takes from no seed cannot be the same: the first value of
// a correlation, which bit is damaged, the times of slots. These come from a
// stream of their own, so that a session repeats here too.
package netem
