package probe

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"wirelab/experiment/remote/channel"
	"wirelab/lossmodel/capture"
)

// Path is what was measured.
type Path struct {
	Plan     Plan
	Up, Down capture.Capture
	Trips    []time.Duration // round trips, from the shortest to the longest
	Base     time.Duration   // what the fastest hundredth of each direction is taken to have needed at most
	Slack    time.Duration   // by how much Base may be off for either, in 95 cases of 100, if directions are alike
	Beyond   int             // arrivals that were more than are kept, of copies
}

// Errors of Measure.
var (
	errNoPlan    = errors.New("the far end did not agree to the measurement")
	errNoResults = errors.New("the far end did not say what reached it")
	errNothing   = errors.New("nothing came through in one of the directions")
)

// Measure asks the far end of a session to measure the path with it. It takes the plan's
// duration and some seconds. progress is told the share that is done; nil will do.
func Measure(ctx context.Context, s *channel.Session, plan Plan, progress func(share float64)) (*Path, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	near := &nearEnd{end: newEnd(s, plan, plan.Up), progress: progress}
	if err := near.agree(ctx); err != nil {
		return nil, err
	}
	near.begun = time.Now()
	near.next = near.begun
	if err := near.pump(ctx, near.begun.Add(plan.Duration), true, near.receive, near.tell); err != nil {
		return nil, err
	}
	if err := near.pump(ctx, time.Now().Add(near.drain()), false, near.receive, nil); err != nil {
		return nil, err
	}
	if err := near.collect(ctx); err != nil {
		return nil, err
	}
	return near.path()
}

// nearEnd asks.
type nearEnd struct {
	*end
	progress func(float64)
	begun    time.Time
	agreed   bool

	got     [][]row // blocks of what reached the far end
	missing int
	farSent int
}

// resend is how long to wait for an answer before asking again.
const resend = 200 * time.Millisecond

// agree says the plan until the far end says it too, or begins.
func (n *nearEnd) agree(ctx context.Context) error {
	for range 50 {
		if err := n.session.Send(streamPlan, n.plan.append(nil)); err != nil {
			return err
		}
		done := func() bool { return n.agreed || n.any }
		if err := n.pump(ctx, time.Now().Add(resend), false, n.receive, done); err != nil {
			return err
		}
		if done() {
			return nil
		}
	}
	return errNoPlan
}

func (n *nearEnd) tell() bool {
	if n.progress != nil {
		n.progress(float64(time.Since(n.begun)) / float64(n.plan.Duration))
	}
	return false
}

// drain is how long to wait for what is under way.
func (n *nearEnd) drain() time.Duration {
	wait := time.Second
	for _, t := range n.trips {
		wait = max(wait, 2*t)
	}
	return min(wait, 5*time.Second)
}

func (n *nearEnd) receive(d *channel.Datagram) {
	switch d.Stream {
	case streamPlan:
		n.agreed = n.agreed || string(d.Data) == string(n.plan.append(nil))
	case streamResult:
		k, ok := parseBlock(d.Data, n.plan.Packets())
		if !ok || n.got != nil && len(n.got) != k.blocks {
			return
		}
		if n.got == nil {
			n.got, n.missing, n.farSent = make([][]row, k.blocks), k.blocks, int(k.sent)
		}
		if n.got[k.number] == nil {
			n.got[k.number] = append([]row{}, k.rows...)
			n.missing--
		}
	}
}

// collect asks for what reached the far end until it has all.
func (n *nearEnd) collect(ctx context.Context) error {
	const batch, patience = 32, 50 // blocks asked for at once; rounds without any
	for idle := 0; idle < patience; idle++ {
		before, asked := n.missing, 0
		for number := range max(1, len(n.got)) {
			if asked < batch && (n.got == nil || n.got[number] == nil) {
				asked++
				if err := n.session.Send(streamResult, binary.BigEndian.AppendUint16(nil, uint16(number))); err != nil {
					return err
				}
			}
		}
		until := time.Now().Add(resend)
		if err := n.pump(ctx, until, false, n.receive, func() bool { return n.got != nil && n.missing <= max(0, before-asked) }); err != nil {
			return err
		}
		if n.got != nil && n.missing == 0 {
			return nil
		}
		if n.got != nil && n.missing != before {
			idle = 0
		}
	}
	return errNoResults
}

// path puts both directions in the order of their numbers.
func (n *nearEnd) path() (*Path, error) {
	up := slices.Concat(n.got...)
	if len(up) == 0 || len(n.rows) == 0 || len(n.trips) == 0 {
		return nil, errNothing
	}
	slices.Sort(n.trips)
	theirs := times(n.theirs[:n.farSent], n.plan.Interval)
	p := &Path{Plan: n.plan, Trips: n.trips, Beyond: n.over}
	p.Base, p.Slack = baseOf(up, n.rows)
	p.Up, p.Down = captureOf(up, p.Base, n.sent), captureOf(n.rows, p.Base, theirs)
	return p, nil
}

// baseOf returns what the fastest hundredth of both directions needed, if it was the same:
// half of the sum, in which the clocks' difference cancels. slack is how far chance may
// have moved it for either. The single fastest would be moved by more.
func baseOf(up, down []row) (base, slack time.Duration) {
	u, offU := fastest(up)
	d, offD := fastest(down)
	return max(0, (u+d)/2), time.Duration(math.Hypot(float64(offU), float64(offD)) / 2)
}

// fastest returns the time within which a hundredth came, and half of its 95 % interval,
// which is that of any distribution: so many more or fewer may be below it by chance.
func fastest(rows []row) (least, off time.Duration) {
	took := make([]time.Duration, len(rows))
	for i, r := range rows {
		took[i] = r.took
	}
	slices.Sort(took)
	n := float64(len(took))
	at := func(k float64) time.Duration { return took[min(max(int(k), 0), len(took)-1)] }
	reach := 1.96 * math.Sqrt(n*0.01*0.99)
	return at(n / 100), (at(n/100+reach) - at(n/100-reach)) / 2
}

// times gives what did not come a time of sending.
func times(known []time.Duration, interval time.Duration) []time.Duration {
	first := max(0, slices.IndexFunc(known, func(t time.Duration) bool { return t > 0 }))
	for seq := range known {
		if known[seq] == 0 {
			known[seq] = known[max(first, seq-1)] + time.Duration(seq-max(first, seq-1))*interval
		}
	}
	return known
}

// captureOf makes a capture of what came of the datagrams that were sent at these times.
// The fastest hundredth took base.
func captureOf(rows []row, base time.Duration, sent []time.Duration) capture.Capture {
	c := capture.Capture{HasSent: true, HasDelay: true}
	least, _ := fastest(rows)
	came := make([]bool, len(sent))
	for _, r := range rows {
		if int(r.seq) >= len(sent) {
			continue // the far end denies that it sent it
		}
		came[r.seq] = came[r.seq] || r.copy == 0
		c.Packets = append(c.Packets, capture.Packet{Seq: uint64(r.seq), Copy: int(r.copy), Sent: sent[r.seq], Took: r.took - least + base})
	}
	for seq, ok := range came {
		if !ok {
			c.Packets = append(c.Packets, capture.Packet{Seq: uint64(seq), Sent: sent[seq], Lost: true})
		}
	}
	slices.SortStableFunc(c.Packets, func(a, b capture.Packet) int { return cmp.Compare(a.Seq, b.Seq) })
	return c
}
