package playout

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/meters"
)

// fixture is a display without a session: the test puts snapshots into the receiver's history.
type fixture struct {
	t        *testing.T
	schema   *frame.Schema
	next     func(f *frame.Frame) // fills in the source's next frame
	cadence  endpoint.Cadence
	history  *frame.History
	pool     *frame.Pool
	truths   Truths
	source   []*frame.Frame // all frames of the source, by tick
	coming   []delivery     // snapshots that will arrive, by time
	arrived  map[uint64]*frame.Frame
	inexact  map[uint64]bool
	restarts map[uint64]bool // ticks before which the source restarts
	ticked   tick            // result of the newest display tick
	display  *Display
	measured meters.DisplayErrors
	sent     uint64
}

// delivery is a snapshot that will arrive.
type delivery struct {
	at      time.Duration
	seq     uint64
	changed bool // it differs from the source's frame
}

func newFixture(t *testing.T, s *frame.Schema, rateHz int, next func(f *frame.Frame)) *fixture {
	r := &fixture{t: t, schema: s, next: next, cadence: endpoint.Cadence{TickHz: 60, RateHz: rateHz},
		history: frame.NewHistory(64), pool: frame.NewPool(s), truths: NewTruths(s),
		arrived: map[uint64]*frame.Frame{}, inexact: map[uint64]bool{}}
	r.display = New(s, r.cadence, r.history, r)
	return r
}

func (r *fixture) Exact(seq uint64) bool { return !r.inexact[seq] }

// tick runs one tick of the source and of the display. send is called with the number and the time
// of a snapshot that is due, and adds the snapshot to r.coming.
func (r *fixture) tick(send func(seq uint64, now time.Duration)) {
	n := uint64(len(r.source))
	now := endpoint.TickTime(n, r.cadence.TickHz)
	for len(r.coming) > 0 && r.coming[0].at <= now {
		d := r.coming[0]
		r.coming = r.coming[1:]
		e := r.history.Put(d.seq)
		e.Frame.CopyFrom(r.source[r.cadence.Tick(d.seq)])
		if d.changed {
			e.Frame.Table[int(d.seq)%r.schema.Rows*frame.CubeFields+frame.CubeX] += 40
		}
		e.Frame.Residual = nil
		r.arrived[d.seq] = &frame.Frame{Table: slices.Clone(e.Frame.Table)}
		want, c := time.Duration(0), &r.display.clock
		if c.running {
			source := endpoint.TickTime(r.cadence.Tick(d.seq), r.cadence.TickHz)
			want = max(0, c.moment+d.at-c.tickedAt-source)
		}
		if late := r.display.Arrive(d.at, d.seq); late != want {
			r.t.Fatalf("snapshot %d arrived %v late, expected %v", d.seq, late, want)
		}
	}
	f := r.pool.Get()
	r.next(&f.Frame)
	f.Changed = frame.NewRows(r.schema.Rows)
	if n > 0 {
		f.Changed.SetDiffering(f.Table, r.source[n-1].Table, len(r.schema.Fields))
	}
	kept := r.schema.NewFrame()
	kept.CopyFrom(&f.Frame)
	r.source = append(r.source, kept)
	oldest := endpoint.TickAt(r.display.Moment(), r.cadence.TickHz)
	r.truths.Add(f, r.restarts[n], max(oldest, 1)-1)
	f.Release()
	if r.cadence.Tick(r.sent) == n {
		send(r.sent, now)
		slices.SortStableFunc(r.coming, func(a, b delivery) int { return cmp.Compare(a.at, b.at) })
		r.sent++
	}
	r.ticked, _ = r.display.Tick(now, &r.truths, &r.measured)
}
