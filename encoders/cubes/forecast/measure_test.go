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
)

// chain is what a codec keeps per snapshot: the cubes that move and how.
type chain struct {
	sim     *Simulator
	awake   []Awake
	results []Result
}

// score sums up errors as the prototype did: the mean of log2(1+|error|) over
// coordinates of changed cubes.
type score struct {
	pos, rot float64
	n        int
	took     []time.Duration
	live     int
}

func rowOf(f *frame.Frame, i int) []int32 {
	return f.Table[i*frame.CubeFields : (i+1)*frame.CubeFields]
}

func changed(a, b *frame.Frame, i int) bool {
	return !slices.Equal(rowOf(a, i)[:frame.CubeInteracting], rowOf(b, i)[:frame.CubeInteracting])
}

// correct derives who moves at base from the run that ended there.
func (c *chain) correct(before, base *frame.Frame) {
	c.awake = c.awake[:0]
	r := c.results
	for i := 1; i < frame.WalkoffCubes; i++ {
		for len(r) > 0 && int(r[0].Cube) < i {
			r = r[1:]
		}
		if !changed(before, base, i) {
			continue
		}
		row := rowOf(base, i)
		a := Awake{Cube: int32(i)}
		if len(r) > 0 && int(r[0].Cube) == i {
			a.Body = r[0].Correct(PositionOf(row), RotationOf(row), recording.Age)
		} else {
			old := rowOf(before, i)
			a.Body = First(PositionOf(old), PositionOf(row), RotationOf(old), RotationOf(row), recording.Age)
		}
		c.awake = append(c.awake, a)
	}
}

func (s *score) add(base, now *frame.Frame, results []Result) {
	r := results
	for i := 1; i < frame.WalkoffCubes; i++ {
		for len(r) > 0 && int(r[0].Cube) < i {
			r = r[1:]
		}
		if !changed(base, now, i) {
			continue
		}
		row, old := rowOf(now, i), rowOf(base, i)
		pos, rot := PositionOf(old), RotationOf(old)
		if len(r) > 0 && int(r[0].Cube) == i {
			pos, rot = r[0].Pos, r[0].Rot
		}
		e := PositionOf(row).Sub(pos)
		w := Log(Mul(RotationOf(row), Conj(rot))).Scale(180.66)
		for _, x := range []float64{e.X, e.Y, e.Z} {
			s.pos += math.Log2(1 + math.Abs(x))
		}
		for _, x := range []float64{w.X, w.Y, w.Z} {
			s.rot += math.Log2(1 + math.Abs(x))
		}
		s.n++
	}
}

// follow runs forecasts along a recording.
func walk(frames []*frame.Frame, law physics.Rigid, rounds, gap int) (s score) {
	var chains [recording.Age]chain
	for i := range chains {
		chains[i].sim = New(frame.WalkoffCubes, law)
	}
	for n := recording.Age; n < len(frames); n++ {
		c := &chains[n%recording.Age]
		base, now := frames[n-recording.Age], frames[n]
		path := Path{From: rowOf(base, 0), To: rowOf(now, 0), Lead: recording.Age, Ticks: recording.Age}
		if n >= 2*recording.Age {
			before := frames[n-2*recording.Age]
			path.Before = rowOf(before, 0)
			c.correct(before, base)
			if gap > 0 {
				for k := range c.awake {
					a := &c.awake[k]
					a.Body = a.Body.Blend(rowOf(frames[n-recording.Age-gap], int(a.Cube)), rowOf(base, int(a.Cube)), gap)
				}
			}
		}
		start := time.Now()
		c.results = c.sim.Run(base, c.awake, &path)
		s.took = append(s.took, time.Since(start))
		s.live += len(c.results)
		s.add(base, now, c.results)
		c.results = c.sim.Refine(now, rounds)
	}
	return s
}

func (s *score) String() string {
	slices.Sort(s.took)
	q := func(p float64) time.Duration { return s.took[int(p*float64(len(s.took)-1))] }
	return fmt.Sprintf("position %.3f rotation %.3f, %d changed, %.0f live a frame; median %v, p90 %v, p99 %v, max %v", s.pos/float64(s.n)/3, s.rot/float64(s.n)/3,
		s.n, float64(s.live)/float64(len(s.took)), q(0.5), q(0.9), q(0.99), q(1))
}

func TestAccuracy(t *testing.T) {
	names := strings.Fields(os.Getenv("RECORDINGS"))
	if len(names) == 0 {
		names = []string{"bravo"}
	}
	for _, name := range names {
		frames := recording.Load(t, name, 0)
		law := physics.Recorder()
		if os.Getenv("IT") != "" {
			fmt.Sscan(os.Getenv("IT"), &law.Iterations)
		}
		rounds, gap := 0, 0
		fmt.Sscan(os.Getenv("GAP"), &gap)
		s := walk(frames, law, rounds, gap)
		t.Logf("%s: %v", name, &s)
	}
}
