package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"wirelab/dataset/frame"
)

// rows returns the table of a few cubes at rest, far from each other.
func resting(n int) *frame.Frame {
	f := frame.Cubes(n).NewFrame()
	for i := range n {
		copy(f.Table[i*frame.CubeFields:], []int32{3, 256, 256, 256, int32(512 * i), 0, 102, 0})
	}
	return f
}

// Statistics of four cubes in eight frames, against values counted by hand. Cube 1 moves by 10 in x
// in the first frame and stays there, so that it differs from six frames before in the first six
// frames. Cube 2 turns in frame 2 by 3 in a, and in frame 3 another component becomes its largest.
// Cube 3 is touched in the last frame.
func TestCountedByHand(t *testing.T) {
	f := resting(4)
	c := New(frame.Cubes(4), f)
	row := func(i int) []int32 { return f.Table[i*frame.CubeFields:] }
	for n := range 8 {
		switch n {
		case 0:
			row(1)[frame.CubeX] += 10
		case 2:
			row(2)[frame.CubeA] -= 3
		case 3:
			row(2)[frame.CubeLargest] = 0
		case 7:
			row(3)[frame.CubeInteracting] = 1
		}
		c.Add(f)
	}
	got := c.Summary()
	// changedCubes cubes in frames 0..7: 1; 1; 1 2; 1 2; 1 2; 1 2; 2; 2 3: thirteen.
	want := Summary{
		Frames: 8, Cubes: 4,
		Changed:     changedCubes{Mean: 13.0 / 8, P5: 1, P50: 2, P95: 2},
		Unchanged:   unchangedShares{Cube: 19.0 / 32, Position: 26.0 / 32, Orientation: 26.0 / 32, Interacting: 31.0 / 32},
		Interacting: 1.0 / 32,
		OnlyTurned:  6.0 / 13, OnlyMoved: 6.0 / 13, OnlyFlagged: 1.0 / 13,
		SameLargest: 1.0 / 6, // of the turned ones, frame 2 alone
		Deltas: []deltaStats{
			{"x", rankQuantiles{10, 10, 10}}, {"y", rankQuantiles{}}, {"z", rankQuantiles{}},
			{"a", rankQuantiles{3, 3, 3}}, {"b", rankQuantiles{}}, {"c", rankQuantiles{}},
		},
		// Cube 1 changes for 6 frames, cube 2 for 6, cube 3 for 1.
		RunFrames: runStats{13.0 / 3, rankQuantiles{6, 6, 6}},
		// Alone in four frames, two in a row in four and then 2 3 in the last.
		RunCubes: runStats{13.0 / 8, rankQuantiles{2, 2, 2}},
	}
	// Frames 0, 1 and 6 have one changed cube, the other five have two.
	if !reflect.DeepEqual(got, want) {
		t.Errorf("counted\n%+v, expected\n%+v", got, want)
	}
}

// stumble changes random cubes in random ways, with a rate that varies over time.
func stumble(rng *rand.Rand, f *frame.Frame, n int) {
	rows := len(f.Table) / frame.CubeFields
	for range rng.IntN(1 + rows*(n/20%3)/2) {
		row := f.Table[rng.IntN(rows)*frame.CubeFields:][:frame.CubeFields]
		switch rng.IntN(6) {
		case 0:
			row[frame.CubeLargest] = int32(rng.IntN(4))
		case 1, 2:
			row[frame.CubeA+rng.IntN(3)] = int32(rng.IntN(512))
		case 3, 4:
			row[frame.CubeX+rng.IntN(3)] += int32(rng.IntN(400)) - 200
			row[frame.CubeZ] = max(row[frame.CubeZ], 0)
		default:
			row[frame.CubeInteracting] ^= 1
		}
	}
}

// The statistics agree with those of askEach, a simple implementation.
func TestAgainstIndependentCount(t *testing.T) {
	for _, rows := range []int{1, 7, 40} {
		rng := rand.New(rand.NewPCG(5, uint64(rows)))
		f := resting(rows)
		c := New(frame.Cubes(rows), f)
		var all []*frame.Frame
		for range age {
			all = append(all, &frame.Frame{Table: slices.Clone(f.Table)})
		}
		for n := range 200 {
			stumble(rng, f, n)
			c.Add(f)
			all = append(all, &frame.Frame{Table: slices.Clone(f.Table)})
		}
		got, want := fmt.Sprintf("%+v", c.Summary()), fmt.Sprintf("%+v", askEach(all, rows))
		if got != want {
			t.Errorf("%d cubes: counted\n%s, expected\n%s", rows, got, want)
		}
	}
}

// askEach computes the statistics from all frames in memory, each separately.
func askEach(all []*frame.Frame, rows int) Summary {
	const n = frame.CubeFields
	differ := func(f, i, from, to int) bool {
		return !slices.Equal(all[f].Table[i*n+from:i*n+to], all[f-age].Table[i*n+from:i*n+to])
	}
	count := func(yes func(f, i int) bool) (k float64) {
		for f := age; f < len(all); f++ {
			for i := range rows {
				if yes(f, i) {
					k++
				}
			}
		}
		return k
	}
	some := func(f, i int) bool { return differ(f, i, 0, n) }
	turned := func(f, i int) bool { return differ(f, i, frame.CubeLargest, frame.CubeX) }
	moved := func(f, i int) bool { return differ(f, i, frame.CubeX, frame.CubeInteracting) }
	flagged := func(f, i int) bool { return differ(f, i, frame.CubeInteracting, n) }
	kept := func(f, i int) bool { return turned(f, i) && !differ(f, i, frame.CubeLargest, frame.CubeA) }

	total, changed := float64((len(all)-age)*rows), count(some)
	s := Summary{Frames: len(all) - age, Cubes: rows}
	s.Unchanged = unchangedShares{(total - changed) / total, (total - count(moved)) / total, (total - count(turned)) / total,
		(total - count(flagged)) / total}
	s.Interacting = count(func(f, i int) bool { return all[f].Table[i*n+frame.CubeInteracting] == 1 }) / total
	s.OnlyTurned = count(func(f, i int) bool { return turned(f, i) && !moved(f, i) }) / changed
	s.OnlyMoved = count(func(f, i int) bool { return moved(f, i) && !turned(f, i) }) / changed
	s.OnlyFlagged = count(func(f, i int) bool { return some(f, i) && !moved(f, i) && !turned(f, i) }) / changed
	s.SameLargest = count(kept) / count(turned)

	var perFrame, active, inOrder, inTime []int
	for f := age; f < len(all); f++ {
		k, run := 0, 0
		for i := range rows {
			if some(f, i) {
				k, run = k+1, run+1
			}
			if run > 0 && (i == rows-1 || !some(f, i)) {
				inOrder, run = append(inOrder, run), 0
			}
		}
		perFrame = append(perFrame, k)
		if k >= ActiveCubes {
			active = append(active, k)
		}
	}
	for i := range rows {
		run := 0
		for f := age; f < len(all); f++ {
			if some(f, i) {
				run++
			}
			if run > 0 && (f == len(all)-1 || !some(f, i)) {
				inTime, run = append(inTime, run), 0
			}
		}
	}
	s.Changed = changedCubes{mean(perFrame), mean(active), float64(len(active)) / float64(len(perFrame)), rank(perFrame, .05),
		rank(perFrame, .5), rank(perFrame, .95)}
	s.RunFrames, s.RunCubes = runStats{mean(inTime), three(inTime)}, runStats{mean(inOrder), three(inOrder)}
	for _, k := range []int{frame.CubeX, frame.CubeY, frame.CubeZ, frame.CubeA, frame.CubeB, frame.CubeC} {
		var list []int
		count(func(f, i int) bool {
			if k >= frame.CubeX && moved(f, i) || k < frame.CubeX && kept(f, i) {
				list = append(list, int(math.Abs(float64(all[f].Table[i*n+k]-all[f-age].Table[i*n+k]))))
			}
			return false
		})
		s.Deltas = append(s.Deltas, deltaStats{frame.Cubes(1).Fields[k].Name, three(list)})
	}
	return s
}

func mean(list []int) float64 {
	sum := 0
	for _, v := range list {
		sum += v
	}
	return float64(sum) / float64(max(len(list), 1))
}

// rank returns a quantile of a sorted list by the nearest-rank method.
func rank(list []int, p float64) int64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return int64(list[max(int(math.Ceil(p*float64(len(list))))-1, 0)])
}

func three(list []int) rankQuantiles {
	return rankQuantiles{rank(list, .5), rank(list, .9), rank(list, .99)}
}

// Statistics without frames do not divide by zero.
func TestNoFrames(t *testing.T) {
	s := New(frame.Cubes(2), resting(2)).Summary()
	if s.Changed.Mean != 0 || s.Unchanged.Cube != 0 || s.SameLargest != 0 || s.RunFrames.Mean != 0 || s.Deltas[0].P99 != 0 {
		t.Errorf("of no frames: %+v", s)
	}
}

func TestAddAllocatesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	f := resting(40)
	c := New(frame.Cubes(40), f)
	n := 0
	add := func() { stumble(rng, f, n); c.Add(f); n++ }
	for range 2000 {
		add()
	}
	if got := testing.AllocsPerRun(500, add); got > 0 {
		t.Errorf("%v allocations a frame, expected none", got)
	}
}
