// Package netem models Linux's network emulator. It parses the line that is given to tc and
// decides packet by packet as the kernel does with that seed: packets that `tc qdisc add dev eth0
// root netem loss 1% seed 1` drops are dropped by a Qdisc too.
//
//	p, err := netem.Parse("delay 50ms 10ms loss gemodel 1% 20% seed 1")
//	q := netem.New(p, 0)
//	d := q.Enqueue(now, wireBytes) // lost, duplicated, damaged, delayed?
//
// Parse follows tc of iproute2 6.15: its units, abbreviations and errors. Qdisc follows sch_netem
// of kernel 6.12: the same generator, order of draws, thresholds and integer arithmetic,
// including its bugs. Params.Warnings lists the bugs that affect a line.
//
// Values that the kernel draws without a seed cannot be reproduced: the first value of a
// correlation, the position of a damaged bit, and the times of slots. Here they come from a
// separate stream, so that sessions are reproducible.
package netem
