package view

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/internal/words"
)

// The distance of two cubes is that of their positions, and of their quaternions or the opposite ones.
// Bits are those of the binary digits of the differences.
func TestMetricOfCubes(t *testing.T) {
	rng := rand.New(rand.NewPCG(42, 1))
	m := NewMetric(frame.Cubes(1))
	for range 20_000 {
		a, b := make([]int32, frame.CubeFields), make([]int32, frame.CubeFields)
		for i := range a {
			a[i], b[i] = 256+rng.Int32N(250)-125, 256+rng.Int32N(250)-125
			if i >= frame.CubeX {
				a[i], b[i] = rng.Int32N(40_000)-20_000, rng.Int32N(40_000)-20_000
			}
			if rng.IntN(3) == 0 {
				b[i] = a[i] + rng.Int32N(9) - 4
			}
		}
		a[frame.CubeLargest], b[frame.CubeLargest] = rng.Int32N(4), rng.Int32N(2)
		p, q := cubeRotations.DecodeUnit(a[0], a[1:4]), cubeRotations.DecodeUnit(b[0], b[1:4])
		var minus, plus, way float64
		for i := range p {
			minus, plus = minus+(p[i]-q[i])*(p[i]-q[i]), plus+(p[i]+q[i])*(p[i]+q[i])
		}
		for i := frame.CubeX; i <= frame.CubeZ; i++ {
			way += math.Pow(float64(a[i]-b[i])/frame.UnitsPerMetre, 2)
		}
		turn := 2 * math.Sqrt(min(minus, plus))
		got := m.Turn(a, b)
		// Of near orientations only three components are compared, which hides at most half of the turn.
		isNear := a[0] == b[0] && turn < 0.2 && got <= turn*1.01+1e-9 && got >= turn/2.1
		if !isNear && math.Abs(got-turn) > 1e-6 {
			t.Fatalf("turn from %v to %v: %v radians, expected %v", a, b, got, turn)
		}
		if got := m.Error(a, nil, b); math.Abs(float64(got)-ErrorUnit*1000*math.Sqrt(way)) > 2 {
			t.Fatalf("error from %v to %v: %d, expected %v", a, b, got, ErrorUnit*1000*math.Sqrt(way))
		}
		want := ErrorUnit * (1000*math.Sqrt(way) + turnMillimetres*got)
		if math.Abs(float64(m.Distance(a, b))-max(want, 1)) > 2 {
			t.Fatalf("distance from %v to %v: %d, expected %v", a, b, m.Distance(a, b), want)
		}
		bits := 11 + 2*max(digits(a, b, frame.CubeX), digits(a, b, frame.CubeY)) + digits(a, b, frame.CubeZ)
		if a[0] != b[0] {
			bits += 29
		} else {
			bits += 3 + 3*max(digits(a, b, frame.CubeA), digits(a, b, frame.CubeB), digits(a, b, frame.CubeC))
		}
		if got := m.bits(a, b); got != bits {
			t.Fatalf("%v to %v: %d bits, expected %d", a, b, got, bits)
		}
	}
}

// digits returns the number of binary digits of the difference of a column; 0 without a difference.
func digits(a, b []int32, i int) int {
	text := strconv.FormatInt(int64(a[i])-int64(b[i]), 2)
	return len(strings.TrimLeft(text, "-0"))
}

// The distance of other rows is the sum of the steps between their fields, of angles the shorter way around.
func TestMetricOfTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(42, 2))
	m := NewMetric(&frame.Schema{Rows: 1, Fields: []frame.Field{{Max: 1000}, {Kind: frame.Angle, Min: -50, Max: 49},
		{Kind: frame.Enum, Max: 9}, {Kind: frame.Float32}, {Kind: frame.Flag, Max: 1}}})
	for range 2000 {
		a := []int32{rng.Int32N(1001), rng.Int32N(100) - 50, rng.Int32N(10), rng.Int32(), rng.Int32N(2)}
		b := []int32{rng.Int32N(1001), rng.Int32N(100) - 50, rng.Int32N(10), a[3] ^ 1<<rng.IntN(31), rng.Int32N(2)}
		around := math.Abs(float64(a[1] - b[1]))
		floats := float64(digits([]int32{a[3] ^ b[3]}, []int32{0}, 0))
		steps := [5]float64{math.Abs(float64(a[0] - b[0])), min(around, 100-around), 1, floats, 1}
		var residual []float32
		errorSteps := steps
		if rng.IntN(2) == 0 {
			residual = []float32{rng.Float32() - 0.5, rng.Float32() - 0.5, 0, 0, 0}
			errorSteps[0] = math.Abs(float64(a[0]-b[0]) + float64(residual[0]))
			around = math.Abs(float64(a[1]-b[1]) + float64(residual[1]))
			errorSteps[1] = min(around, math.Abs(100-around))
		}
		sum, bits, total := 0.0, 8, errorSteps[0]+errorSteps[1]
		for i, n := range steps {
			if a[i] != b[i] {
				sum += n
				if i > 1 {
					total += n
				}
				bits += 2 + digits([]int32{int32(n)}, []int32{0}, 0)
			}
		}
		if got := m.Error(a, residual, b); math.Abs(float64(got)-ErrorUnit*total) > 1 {
			t.Fatalf("error from %v and %v to %v: %d, expected %v steps", a, residual, b, got, total)
		}
		if got := m.Distance(a, b); float64(got) != 1+ErrorUnit*sum {
			t.Fatalf("distance from %v to %v: %d, expected 1 and %v steps", a, b, got, sum)
		}
		if got := m.bits(a, b); got != bits {
			t.Fatalf("%v to %v: %d bits, expected %d", a, b, got, bits)
		}
	}
}

// The description of an ack covers all of its bits, and has the values that it was made from.
func TestDescribeAck(t *testing.T) {
	rng := rand.New(rand.NewPCG(42, 3))
	for range 500 {
		a := ack{number: uint16(rng.IntN(1 << 15)), newest: uint16(rng.Uint32())}
		a.mask, a.epoch = uint16(rng.Uint32()), uint8(rng.Uint32())
		applied := 0
		if rng.IntN(2) == 0 {
			a.gap, a.list = uint16(rng.Uint32()), make([]byte, 1+rng.IntN(maxListed))
			for i := range a.list {
				a.list[i] = 1 << rng.IntN(8)
				applied++
			}
		}
		src := append(a.append(nil), make([]byte, rng.IntN(3))...)
		values, total := map[string]string{}, 0
		for _, f := range DescribeAck(src) {
			values[f.Name] = f.Value
			total += f.Bits
		}
		want := map[string]string{"number": fmt.Sprint(a.number), "newest decoded": fmt.Sprint(a.newest),
			"epoch": fmt.Sprint(a.epoch), "extension follows": fmt.Sprint(applied > 0)}
		if applied > 0 {
			want["gap"], want["applied"] = words.Count(int(a.gap), "packet"), words.Count(applied, "packet")
		}
		for name, value := range want {
			if values[name] != value || total != 8*len(src) {
				t.Fatalf("%+v: %s is %q, expected %q; %d of %d bits are described", a,
					name, values[name], value, total, 8*len(src))
			}
		}
	}
	if _, rest, err := parseAck([]byte{1, 0x80, 2, 0, 1, 0, 0, 17, 0, 0}); err != nil || len(rest) > 0 { // its list is empty
		t.Errorf("an empty extension: %v, %d bytes left", err, len(rest))
	}
	if list := DescribeAck([]byte{1, 2}); len(list) != 1 || list[0].Bits != 16 || list[0].Value != "0102" {
		t.Errorf("bytes that are no ack: %+v", list)
	}
}

// The most urgent candidates come first.
func TestPartition(t *testing.T) {
	rng := rand.New(rand.NewPCG(42, 4))
	for range 2000 {
		list := make([]candidate, 1+rng.IntN(60))
		for i := range list {
			list[i] = candidate(rng.IntN(1 + rng.IntN(100)))
		}
		sorted := slices.Sorted(slices.Values(list))
		k := rng.IntN(len(list))
		partition(list, k)
		front := slices.Sorted(slices.Values(list[:k]))
		if !slices.Equal(front, sorted[:k]) || !slices.Equal(slices.Sorted(slices.Values(list)), sorted) {
			t.Fatalf("the first %d are %v, expected %v", k, front, sorted[:k])
		}
	}
}

// Rows wait from the first frame in which they differ from what the client shows, also without packets,
// until they are sent or have their old value again.
func TestRowsWaitWithoutPackets(t *testing.T) {
	s := &frame.Schema{Rows: 3, TickHz: 60, Fields: []frame.Field{{Name: "v", Max: 1000}}}
	l := newPerfectLink(t, s, "accumulated", "off", Interest{})
	l.step()
	l.cur.Table[1] = 7
	for n := range 5 {
		l.cur.Table[2] = int32(n) // first its old value
		l.filler.Advance(l.cur, nil)
		l.filler.Skip(l.server)
		if got := l.filler.LongestWait(l.server); got != n {
			t.Errorf("frame %d: the longest wait is %d frames", n, got)
		}
	}
	if rows := l.step(); !slices.Equal(rows, []int{1, 2}) {
		t.Errorf("rows %v are sent, expected 1 and 2", rows)
	}
	if l.filler.Advance(l.cur, nil); l.filler.LongestWait(l.server) != 0 {
		t.Errorf("nothing waits, but %d frames", l.filler.LongestWait(l.server))
	}
	if UnitOf(s) != "steps" || UnitOf(nil) != "steps" || UnitOf(frame.Cubes(1)) != "mm" {
		t.Error("another unit of errors")
	}
}
