package playout

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/testkit"
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
	r.display.ShowPicture()
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

// fullRedraw returns the poses of a new display whose only tick shows the current displayed time.
func (r *fixture) fullRedraw() *screen {
	d := New(r.schema, r.cadence, r.history, r)
	d.ShowPicture()
	d.Set(Timing{}, Rhythm{}, r.display.screen.hermite)
	d.Arrive(0, 0)
	d.Tick(r.display.Moment(), &r.truths, &meters.DisplayErrors{})
	return &d.screen
}

// A picture for which only changed cubes are computed equals one that is computed completely, bit
// for bit, at every tick and with any arrivals.
func TestPictureEqualsFullRedraw(t *testing.T) {
	for seed := range testkit.Choose[uint64](30, 12) {
		rng := rand.New(rand.NewPCG(seed, 97))
		r := newFixture(t, frame.Cubes(100), []int{60, 60, 20}[rng.IntN(3)], randomCubes(rng, 100, false))
		loss, jitter := 0, 1
		spared, checked := 0, 0
		for n := range 1000 {
			if n%100 == 0 {
				loss, jitter = rng.IntN(40), 1+rng.IntN(90)
				r.display.Set(Fixed(time.Duration(50+rng.IntN(200))*time.Millisecond), Rhythm{}, seed%2 == 0)
			}
			r.tick(func(seq uint64, now time.Duration) {
				r.inexact[seq] = rng.IntN(20) == 0
				if rng.IntN(100) >= loss {
					r.coming = append(r.coming, delivery{now + time.Duration(20+rng.IntN(jitter))*time.Millisecond, seq, !r.Exact(seq)})
				}
			})
			x := &r.display.screen
			if !r.display.clock.running {
				continue
			}
			if x.exact && x.wasExact && x.moving.Count() < 100 {
				spared++
			}
			full := r.fullRedraw()
			if x.truthKnown != full.truthKnown || !slices.Equal(x.poses, full.poses) ||
				x.truthKnown && !slices.Equal(x.errorUM, full.errorUM) {
				t.Fatalf("seed %d: display tick %d differs from a full redraw", seed, n)
			}
			if x.truthKnown {
				checked++
			}
		}
		if spared < 100 || checked < 500 {
			t.Errorf("seed %d: %d pictures were not drawn in full, the errors of %d are known, so little was tested", seed, spared, checked)
		}
	}
}
