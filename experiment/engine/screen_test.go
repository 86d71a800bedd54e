package engine

import (
	"math"
	"testing"
	"time"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/playout"
	"wirelab/experiment/figures"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
	"wirelab/lossmodel"
)

// pathCubes is a source of cubes on given paths: path returns the position of cube i at tick n, in
// units of 1/512 m. It never ends. Every round frames it resets all cubes and reports a loop point.
type pathCubes struct {
	schema *frame.Schema
	path   func(i, n int) [3]int32
	n      int
	round  int // 0: never
	seam   bool
}

func newPathCubes(cubes int, path func(i, n int) [3]int32) *pathCubes {
	return &pathCubes{schema: frame.Cubes(cubes), path: path, n: 0}
}

func (k *pathCubes) Schema() *frame.Schema { return k.schema }
func (k *pathCubes) Initial(f *frame.Frame) {
	*f = *k.schema.NewFrame()
	k.fill(f, 0)
}
func (k *pathCubes) AtLoopPoint() bool { return k.seam }

func (k *pathCubes) fill(f *frame.Frame, n int) {
	for i := range k.schema.Rows {
		at := k.path(i, n)
		copy(f.Table[i*frame.CubeFields:], []int32{3, 256, 256, 256, at[0], at[1], at[2], 0})
	}
}

func (k *pathCubes) Next(f *frame.Frame) error {
	n := k.n
	if k.seam = false; k.round > 0 {
		n %= k.round
		k.seam = n == 0 && k.n > 0
	}
	k.fill(f, n)
	k.n++
	return nil
}

// runPlayout runs a session at 10 snapshots a second and returns the figures of its display.
// settings are pairs of key and value.
func runPlayout(t *testing.T, src *pathCubes, length time.Duration, settings ...string) figures.Playout {
	t.Helper()
	s, got := displaySource(t, src, "relative-position", length, settings...)
	if s.lanes[0].meter.Display.Errors.Count() == 0 {
		t.Fatal("nothing was measured")
	}
	return got
}

// displaySource runs a session of an encoder and a source for length, at 10 snapshots a second, and
// returns the session and the figures of its display.
func displaySource(t *testing.T, src dataset.Source, encoder string, length time.Duration, settings ...string) (*Session, figures.Playout) {
	t.Helper()
	c := config.Default()
	c.Encoder.Name = encoder
	settings = append([]string{"sender.rate_hz", "10", "link.latency", "50ms", "receiver.playout_delay", "350ms"}, settings...)
	testkit.Set(t, c, settings...)
	s := mustOpen(t, c, src, Options{})
	mustRun(t, s, length)
	got := s.lanes[0].totals(s.Now())
	if got.Wrong != 0 || got.Decoded == 0 {
		t.Fatalf("%+v: nothing was displayed", got)
	}
	return s, got.Playout
}

// uniformPath moves cubes 7, 8, 9 ... units a tick, each in another direction.
func uniformPath(i, n int) [3]int32 {
	v := int32(7 + i)
	at := [3]int32{-100_000 + int32(i), 100_000 - int32(i), 50 + int32(i)}
	if at[0] += v * int32(n); i%2 == 1 {
		at[1] -= v * int32(n)
	}
	return at
}

// acceleratedPath moves cubes n*n units by tick n.
func acceleratedPath(i, n int) [3]int32 {
	return [3]int32{int32(n*n) - 100_000, int32(i) * 600, 102}
}

// A cube in uniform motion is displayed exactly, at any snapshot rate and any loss,
// as long as the display is not starved.
func TestUniformMotionHasNoError(t *testing.T) {
	for _, settings := range [][]string{
		{},
		{"down.jitter", "16ms"},
		{"down.jitter", "16ms", "down.loss", "20%", "receiver.playout_delay", "1200ms"},
		{"down.jitter", "16ms", "receiver.interpolation", "hermite"},
		{"down.loss", "20%", "receiver.playout_delay", "1200ms", "receiver.interpolation", "hermite"},
		{"sender.rate_hz", "60", "down.loss", "5%"},
		{"sender.rate_hz", "23", "down.loss", "5%"},
	} {
		p := runPlayout(t, newPathCubes(5, uniformPath), 30*time.Second, settings...)
		if p.PositionErrorMM.Max != 0 || p.OrientationErrorDeg.Max != 0 || p.StarvedRatio.Or(-1) != 0 {
			t.Errorf("%v: off by %g mm and %g degrees, %g starved", settings, p.PositionErrorMM.Max, p.OrientationErrorDeg.Max,
				p.StarvedRatio)
		}
	}
}

// The error of linear interpolation of an accelerated cube is at most a * (h/2)^2 / 2: at 10 Hz,
// with n*n units and 6 ticks, 9 units or 17.578 mm. The spline reproduces the parabola exactly,
// also with losses, where snapshots are not equally spaced. The display is in phase with the
// source's ticks, because between them the true position is interpolated linearly.
func TestErrorUnderAcceleration(t *testing.T) {
	const units = 1000.0 / frame.UnitsPerMetre // in mm
	p := runPlayout(t, newPathCubes(3, acceleratedPath), 7*time.Second)
	if got := p.PositionErrorMM.Max; math.Abs(got-9*units) > 0.001 {
		t.Errorf("linear: off by %g mm at most, want %g", got, 9*units)
	}
	if got := p.PositionErrorMM.P50; math.Abs(got-8*units) > 0.5 { // median of 0 5 8 9 8 5, the errors of six equally frequent ticks
		t.Errorf("linear: off by %g mm at the median, want %g", got, 8*units)
	}
	for _, loss := range []string{"0%", "20%"} {
		p = runPlayout(t, newPathCubes(3, acceleratedPath), 7*time.Second, "receiver.interpolation", "hermite", "down.loss", loss,
			"receiver.playout_delay", "1s")
		if p.PositionErrorMM.Max != 0 || p.StarvedRatio.Or(-1) != 0 {
			t.Errorf("hermite at %s loss: off by %g mm, %g starved", loss, p.PositionErrorMM.Max, p.StarvedRatio)
		}
	}
}

// A starved display shows the newest snapshot. The error of a cube that moves v units
// a tick is v times the ticks since the display froze.
func TestErrorOfFrozenDisplay(t *testing.T) {
	const lost = 5 // consecutive packets are lost, so 6 intervals of 6 ticks pass without a snapshot
	p := runPlayout(t, newPathCubes(1, uniformPath), 20*time.Second, "down.loss", "pattern bits=0000000000000000000011111",
		"receiver.playout_delay", "100ms")
	ticks := lost * 6
	if want := float64(ticks) * 1000 / 60; math.Abs(p.LongestFreezeMS.Or(-1)-want) > 1000.0/60+0.001 {
		t.Errorf("frozen for %g ms, want %g", p.LongestFreezeMS, want)
	}
	stood := p.LongestFreezeMS.Or(-1) * 60 / 1000
	if want := 7 * stood * 1000 / frame.UnitsPerMetre; math.Abs(p.PositionErrorMM.Max-want) > 7*1000.0/frame.UnitsPerMetre {
		t.Errorf("off by %g mm after %g ticks at 7 units a tick, want %g", p.PositionErrorMM.Max, stood, want)
	}
}

// Interpolation across a loop point of the source does not count as an error.
func TestNoErrorAcrossLoopPoints(t *testing.T) {
	src := newPathCubes(3, uniformPath)
	src.round = 95
	p := runPlayout(t, src, 20*time.Second, "down.jitter", "10ms", "receiver.interpolation", "hermite")
	if p.PositionErrorMM.Max != 0 {
		t.Errorf("off by %g mm", p.PositionErrorMM.Max)
	}
}

// farReceiver is a receiver with the display of another machine. It gets the datagrams that arrive on a path.
type farReceiver struct {
	Path
	rcv     *endpoint.Receiver
	counter *playout.Counter
	ticks   uint64
}

func (p *farReceiver) Receive(now time.Duration) (lossmodel.Delivery, bool) {
	d, ok := p.Path.Receive(now)
	if ok && d.Flipped == 0 {
		p.tickUntil(now)
		rx := p.rcv.Receive(d.Data)
		if rx.Frame != nil {
			p.counter.Arrive(now, rx.Seq)
		}
	}
	return d, ok
}

// tickUntil runs the ticks of a display of 60 Hz up to now.
func (p *farReceiver) tickUntil(now time.Duration) {
	for ; endpoint.TickTime(p.ticks, 60) <= now; p.ticks++ {
		p.counter.Tick(endpoint.TickTime(p.ticks, 60))
	}
}

// The modelled display shows what the display of a receiver on another machine shows.
func TestDisplayShowsWhatTheReceiverDecoded(t *testing.T) {
	for seed := range uint64(20) {
		c := config.Default()
		c.Seed = seed
		c.Encoder.Name = []string{"relative-orientation", "quantized", "adaptive"}[seed%3]
		testkit.Set(t, c, "down.corrupt", "10%", "link.latency", "31300us", "down.jitter", "9ms")
		s := mustOpen(t, c, labtest.NewCubeSource(20, 5, -1, seed), Options{Endless: true})
		l := s.lanes[0]
		far := &farReceiver{Path: l.paths.down, rcv: endpoint.NewReceiver(s.schema, s.initial, c.CodecTable(),
			endpoint.Options{Cadence: s.cadence, History: c.Receiver.History})}
		far.counter = playout.NewCounter(s.cadence, far.rcv.History())
		far.counter.Set(c.Playout(), c.PlayoutRhythm(60))
		l.paths.down = far
		mustRun(t, s, 10*time.Second)
		far.tickUntil(s.Now())
		if got, want := l.meter.Display.DisplayCounts, far.counter.Counts(); got != want {
			t.Errorf("seed %d: the modelled display counts %+v, the far one %+v", seed, got, want)
		}
	}
}
