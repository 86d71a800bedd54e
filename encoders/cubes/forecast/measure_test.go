package forecast

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
	"wirelab/encoders/internal/recording"
	"wirelab/internal/testkit"
)

// measurement is a configuration of forecasts to be measured.
type measurement struct {
	iterations int
	rounds     int // of Refine
	gap        int // ticks between a second, earlier snapshot and the baseline; 0 if none
}

// errorSum sums log2(1+|error|) over the coordinates of cubes that changed, which is about the number of bits that
// the errors cost.
type errorSum struct {
	pos, rot  float64
	n, moving int
	durations []time.Duration // of Run
}

// means returns the mean per coordinate of positions and of orientations.
func (s *errorSum) means() (pos, rot float64) {
	return s.pos / float64(3*s.n), s.rot / float64(3*s.n)
}

func (s *errorSum) String() string {
	pos, rot := s.means()
	slices.Sort(s.durations)
	q := func(p float64) time.Duration { return s.durations[int(p*float64(len(s.durations)-1))] }
	return fmt.Sprintf("position %.3f rotation %.3f of %d changed, %d live a frame; median %v, p90 %v, p99 %v",
		pos, rot, s.n, s.moving/len(s.durations), q(0.5), q(0.9), q(0.99))
}

func rowOf(f *frame.Frame, i int) []int32 {
	return f.Table[i*frame.CubeFields : (i+1)*frame.CubeFields]
}

// predictionChain is the state that a codec keeps from one snapshot of a chain to the next.
type predictionChain struct {
	sim     *Simulator
	awake   []Awake
	results []Result
}

// takeResult returns the result of cube i, nil if none, and removes all before it. Calls must be in ascending
// order of i.
func takeResult(results *[]Result, i int) *Result {
	for len(*results) > 0 && int((*results)[0].Cube) < i {
		*results = (*results)[1:]
	}
	if len(*results) > 0 && int((*results)[0].Cube) == i {
		return &(*results)[0]
	}
	return nil
}

// correct sets c.awake to the cubes that move at base, with the speeds of the run that ended there, corrected.
func (c *predictionChain) correct(before, base *frame.Frame) {
	c.awake = c.awake[:0]
	results := c.results
	for i := 1; i < frame.WalkoffCubes; i++ {
		old, row := rowOf(before, i), rowOf(base, i)
		if slices.Equal(old[:frame.CubeInteracting], row[:frame.CubeInteracting]) {
			continue
		}
		a := Awake{Cube: int32(i)}
		if r := takeResult(&results, i); r != nil {
			a.Body = r.correctRow(row, recording.BaselineAge, 1)
		} else {
			rest := Result{Pos: Position(old), Rot: Orientation(old), Body: Body{Still: restSeconds}}
			a.Body = rest.correctRow(row, recording.BaselineAge, 1)
		}
		c.awake = append(c.awake, a)
	}
}

// add adds the errors of a forecast from base to now.
func (s *errorSum) add(base, now *frame.Frame, results []Result) {
	s.moving += len(results)
	for i := 1; i < frame.WalkoffCubes; i++ {
		old, row := rowOf(base, i), rowOf(now, i)
		if slices.Equal(old[:frame.CubeInteracting], row[:frame.CubeInteracting]) {
			continue
		}
		pos, rot := Position(old), Orientation(old)
		if r := takeResult(&results, i); r != nil {
			pos, rot = r.Pos, r.Rot
		}
		e := Position(row).Sub(pos)
		w := Log(Mul(Orientation(row), Conj(rot))).Scale(turnSteps)
		for k := range 3 {
			s.pos += math.Log2(1 + math.Abs([3]float64{e.X, e.Y, e.Z}[k]))
			s.rot += math.Log2(1 + math.Abs([3]float64{w.X, w.Y, w.Z}[k]))
		}
		s.n++
	}
}

// measureForecasts forecasts every frame of a recording from the frame six before it.
func measureForecasts(frames []*frame.Frame, how measurement) (s errorSum) {
	var chains [recording.BaselineAge]predictionChain
	law := physics.RecorderParams()
	law.Iterations = how.iterations
	for i := range chains {
		chains[i].sim = New(frame.WalkoffCubes, law)
	}
	for n := 2 * recording.BaselineAge; n < len(frames); n++ {
		c := &chains[n%recording.BaselineAge]
		before, base, now := frames[n-2*recording.BaselineAge], frames[n-recording.BaselineAge], frames[n]
		path := Path{Before: rowOf(before, 0), From: rowOf(base, 0), To: rowOf(now, 0),
			BeforeTicks: recording.BaselineAge, Ticks: recording.BaselineAge}
		c.correct(before, base)
		for k := range c.awake {
			if a := &c.awake[k]; how.gap > 0 {
				earlier := frames[n-recording.BaselineAge-how.gap]
				a.Body = a.Blend(rowOf(earlier, int(a.Cube)), rowOf(base, int(a.Cube)), how.gap)
			}
		}
		start := time.Now()
		c.results = c.sim.Run(base, c.awake, &path)
		s.durations = append(s.durations, time.Since(start))
		s.add(base, now, c.results)
		c.results = c.sim.Refine(now, c.sim.moved(now), how.rounds)
	}
	return s
}

// TestMeasure logs the errors and the times of forecasts of the recordings that the environment variable RECORDINGS
// names. SETUP may select one configuration: iterations, rounds and gap, such as "64 1 0".
func TestMeasure(t *testing.T) {
	names := strings.Fields(os.Getenv("RECORDINGS"))
	if len(names) == 0 {
		t.Skip("takes a minute; set RECORDINGS to the names of recordings to measure them")
	}
	setups := []measurement{{64, 0, 0}, {32, 0, 0}, {20, 0, 0}, {64, 1, 0}, {64, 2, 0}, {32, 1, 0}, {64, 0, 1},
		{64, 1, 1}}
	if os.Getenv("SETUP") != "" {
		var s measurement
		fmt.Sscan(os.Getenv("SETUP"), &s.iterations, &s.rounds, &s.gap)
		setups = []measurement{s}
	}
	for _, name := range names {
		frames := recording.Load(t, name, 0)
		for _, how := range setups {
			s := measureForecasts(frames, how)
			t.Logf("%s, %+v: %v", name, how, &s)
		}
	}
}

// TestAccuracy checks that forecasts of a part of a recording are about as accurate as with the Open Dynamics
// Engine itself, with the recorder's parameters: its errors are 1.083 and 1.346 bits, and 1.081 and 1.280 with one
// round of Refine.
func TestAccuracy(t *testing.T) {
	frames := recording.Load(t, "bravo", 700)
	cases := []struct {
		how      measurement
		pos, rot float64
	}{
		{measurement{64, 0, 1}, 0.94, 1.08}, // as encoders with a second reference
		{measurement{64, 0, 0}, 1.09, 1.37},
		{measurement{64, 1, 0}, 1.04, 1.24},
	}
	for _, c := range testkit.Choose(cases, cases[:1]) {
		s := measureForecasts(frames, c.how)
		if pos, rot := s.means(); pos > c.pos || rot > c.rot {
			t.Errorf("%+v: errors of %.3f and %.3f bits, want at most %.3f and %.3f", c.how, pos, rot, c.pos, c.rot)
		}
	}
}

// BenchmarkRun forecasts the frames of a part of a recording in which the player hovers, with 80 awake cubes on
// average.
func BenchmarkRun(b *testing.B) {
	frames := recording.Load(b, "bravo", 1500)[1200:]
	for _, iterations := range []int{20, 32, 64} {
		b.Run(fmt.Sprint(iterations), func(b *testing.B) {
			law := physics.RecorderParams()
			law.Iterations = iterations
			c, n := predictionChain{sim: New(frame.WalkoffCubes, law)}, 12
			for b.Loop() {
				if n += recording.BaselineAge; n >= len(frames) {
					n = 12
				}
				before, base, now := frames[n-12], frames[n-6], frames[n]
				path := Path{Before: rowOf(before, 0), From: rowOf(base, 0), To: rowOf(now, 0),
					BeforeTicks: recording.BaselineAge, Ticks: recording.BaselineAge}
				c.correct(before, base)
				c.results = c.sim.Run(base, c.awake, &path)
			}
		})
	}
}
