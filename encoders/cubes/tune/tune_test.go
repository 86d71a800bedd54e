package tune

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes"
	"wirelab/encoders/internal/recording"
	"wirelab/internal/testkit"
)

// changedValue is the change of a position or an orientation.
type changedValue struct {
	d       [3]int
	largest bool // the largest component changed; there are no differences
}

func changedValues(f Field, pairs [][2]*frame.Frame) []changedValue {
	var list []changedValue
	for _, pair := range pairs {
		for i := range len(pair[0].Table) / frame.CubeFields {
			q, p := pair[0].Table[i*frame.CubeFields:], pair[1].Table[i*frame.CubeFields:]
			from := map[Field]int{Position: frame.CubeX, Orientation: frame.CubeA}[f]
			var v changedValue
			for k := range 3 {
				v.d[k] = int(q[from+k]) - int(p[from+k])
			}
			v.largest = f == Orientation && q[frame.CubeLargest] != p[frame.CubeLargest]
			if v.largest || v.d != [3]int{} {
				list = append(list, v)
			}
		}
	}
	return list
}

// componentBits returns the bits of a difference by the definition of the article, 1000 if it does not fit.
// A small difference is in [-2^(s-1), 2^(s-1)-1]; the large range begins on both sides where the small one
// ends.
func componentBits(d int, w widths) int {
	lo, hi := -(1 << (w.Small - 1)), 1<<(w.Small-1)-1
	if d >= lo && d <= hi {
		return 1 + w.Small
	}
	if d > hi {
		d -= hi + 1
	} else {
		d -= lo
	}
	if d >= -(1<<(w.Large-1)) && d <= 1<<(w.Large-1)-1 {
		return 1 + w.Large
	}
	return 1000
}

// bruteForce returns the bits of all values, evaluated one by one.
func bruteForce(values []changedValue, xy, z widths, absolute int) int64 {
	var sum int64
	for _, v := range values {
		bits := absolute
		if !v.largest {
			bits = min(bits, 1+componentBits(v.d[0], xy)+componentBits(v.d[1], xy)+componentBits(v.d[2], z))
		}
		sum += int64(bits)
	}
	return sum
}

// syntheticPairs returns pairs of frames with differences of every size.
func syntheticPairs() [][2]*frame.Frame {
	rng := rand.New(rand.NewPCG(1, 2))
	s := frame.Cubes(200)
	var pairs [][2]*frame.Frame
	for range 5 {
		cur, base := s.NewFrame(), s.NewFrame()
		for i := range s.Rows {
			for k := range frame.CubeFields {
				at := i*frame.CubeFields + k
				base.Table[at] = rng.Int32N(300)
				if size := int32(1) << rng.IntN(14); rng.IntN(3) > 0 {
					cur.Table[at] = rng.Int32N(size) - size/2
				}
				cur.Table[at] += base.Table[at]
			}
			cur.Table[i*frame.CubeFields+frame.CubeLargest] = rng.Int32N(2)
			base.Table[i*frame.CubeFields+frame.CubeLargest] = rng.Int32N(2)
		}
		pairs = append(pairs, [2]*frame.Frame{cur, base})
	}
	return pairs
}

func search(f Field, pairs [][2]*frame.Frame) []Result {
	s := New(f)
	for _, pair := range pairs {
		s.Add(pair[0], pair[1])
	}
	return s.Results()
}

// compare compares the bits of every setting with bruteForce, and checks the order.
func compare(t *testing.T, f Field, pairs [][2]*frame.Frame) {
	t.Helper()
	values := changedValues(f, pairs)
	results := search(f, pairs)
	for i, r := range results {
		if r.Samples != int64(len(values)) {
			t.Fatalf("%s: %d samples, want %d", r, r.Samples, len(values))
		}
		if i > 0 && r.Bits < results[i-1].Bits {
			t.Fatalf("result %d, %s, has fewer bits than %s before it", i, r, results[i-1])
		}
		if want := bruteForce(values, r.XY, r.Z, r.Absolute); r.Bits != want {
			t.Errorf("%s: %d bits, by brute force %d", r, r.Bits, want)
		}
	}
}

func TestBruteForce(t *testing.T) {
	for _, f := range []Field{Position, Orientation} {
		compare(t, f, syntheticPairs())
	}
}

// framePairs returns pairs of a frame and its baseline by the rules of the walk-off, for every step-th frame
// of a recording.
func framePairs(t *testing.T, name string, frames, step int) [][2]*frame.Frame {
	list := recording.Load(t, name, frames)
	var pairs [][2]*frame.Frame
	for n := recording.BaselineAge; n < len(list); n += step {
		pairs = append(pairs, [2]*frame.Frame{list[n], list[n-recording.BaselineAge]})
	}
	return pairs
}

// TestCharlie compares the results for charlie with figures of a brute-force evaluation.
func TestCharlie(t *testing.T) {
	if !testkit.Thorough() {
		t.Skip("evaluates a whole recording; set WIRELAB_THOROUGH=1")
	}
	pairs := framePairs(t, "charlie", 0, 1)
	position, orientation := search(Position, pairs), search(Orientation, pairs)
	if p, o := position[0].Samples, orientation[0].Samples; p != 209148 || o != 209799 {
		t.Errorf("%d positions and %d orientations, want 209148 and 209799", p, o)
	}
	for _, test := range []struct {
		results []Result
		setting string
		want    string
	}{
		{position, "6-10-6-10", "29.05"}, {position, "5-9-5-9", "31.66"},
		{orientation, "3-7", "24.99"}, {orientation, "5-8", "25.23"},
	} {
		i := slices.IndexFunc(test.results, func(r Result) bool { return r.String() == test.setting })
		if got := fmt.Sprintf("%.2f", test.results[i].Mean()); got != test.want {
			t.Errorf("%s takes %s bits, want %s", test.setting, got, test.want)
		}
	}
	if best := orientation[0].String(); best != "3-7" {
		t.Errorf("the best for orientation is %s, want 3-7", best)
	}
	// With equal widths for xy and z, and large widths of up to 10 bits as in the article.
	tied := slices.IndexFunc(position, func(r Result) bool { return r.XY == r.Z && r.XY.Large <= 10 })
	if best := position[tied].String(); best != "6-10-6-10" {
		t.Errorf("the best for position with one pair of widths is %s, want 6-10-6-10", best)
	}
	// Brute force finds the same best setting.
	values := changedValues(Position, pairs)
	best := position[0]
	if got := bruteForce(values, best.XY, best.Z, best.Absolute); got != best.Bits {
		t.Errorf("%s takes %d bits, by brute force %d", best, best.Bits, got)
	}
	for _, r := range position[1:20] {
		if got := bruteForce(values, r.XY, r.Z, r.Absolute); got < best.Bits {
			t.Errorf("by brute force %s takes %d bits, fewer than the best, %d", r, got, best.Bits)
		}
	}
	compare(t, Orientation, pairs)
}

// TestEncoderBits checks that the bits of a setting are exactly those that relative-orientation charges with
// gear_bits = 0.
func TestEncoderBits(t *testing.T) {
	pairs := append(framePairs(t, "bravo", 400, 9), framePairs(t, "india", 400, 9)...)
	for _, w := range [][3]widths{
		{{5, 9}, {5, 9}, {5, 8}}, {{6, 11}, {4, 8}, {3, 7}}, {{2, 12}, {8, 8}, {7, 10}}, {{8, 9}, {2, 12}, {2, 10}},
	} {
		c := cubes.Ladder()[7] // relative-orientation
		params := c.Defaults()
		for name, bits := range map[string]int{"xy_small": w[0].Small, "xy_large": w[0].Large, "z_small": w[1].Small, "z_large": w[1].Large,
			"orientation_small": w[2].Small, "orientation_large": w[2].Large, "gear_bits": 0} {
			if err := encoders.SetParam(params, name, bits); err != nil {
				t.Fatal(err)
			}
		}
		enc, _, err := c.New(frame.Cubes(frame.WalkoffCubes), params)
		if err != nil {
			t.Fatal(err)
		}
		var b encoders.Budget
		for _, pair := range pairs {
			if _, _, err := enc.Encode(nil, pair[0], []encoders.Ref{{Frame: pair[1]}}, nil, &b); err != nil {
				t.Fatal(err)
			}
		}
		for _, test := range []struct {
			field Field
			xy, z widths
			slot  encoders.Slot
		}{{Position, w[0], w[1], encoders.SlotPosition}, {Orientation, w[2], w[2], encoders.SlotOrientation}} {
			results := search(test.field, pairs)
			i := slices.IndexFunc(results, func(r Result) bool { return r.XY == test.xy && r.Z == test.z })
			if got := b.Units[test.slot]; got != results[i].Bits*encoders.BitUnit {
				t.Errorf("%v %s: %d bits, the encoder charged %g", test.field, results[i], results[i].Bits,
					float64(got)/encoders.BitUnit)
			}
		}
	}
}

// TestTies checks that settings with equal bits are sorted by their widths.
func TestTies(t *testing.T) {
	for _, f := range []Field{Position, Orientation} {
		results := New(f).Results() // without values all settings take 0 bits
		for i, r := range results[1:] {
			a, b := results[i], r
			if slices.Compare([]int{a.XY.Small, a.XY.Large, a.Z.Small, a.Z.Large},
				[]int{b.XY.Small, b.XY.Large, b.Z.Small, b.Z.Large}) >= 0 {
				t.Fatalf("%s comes before %s", a, b)
			}
			if r.Mean() != 0 {
				t.Fatalf("%s takes %g bits without values", r, r.Mean())
			}
		}
	}
	if p, o := len(New(Position).Results()), len(New(Orientation).Results()); p != 1225 || o != 30 {
		t.Errorf("%d and %d settings, want 35 x 35 and 6 x 5", p, o)
	}
}

func TestParseField(t *testing.T) {
	for _, f := range []Field{Position, Orientation} {
		if got, err := ParseField(f.String()); got != f || err != nil {
			t.Errorf("ParseField(%q) = %v, %v", f, got, err)
		}
	}
	if _, err := ParseField("velocity"); err == nil {
		t.Error("ParseField(\"velocity\") returns no error")
	}
}

func BenchmarkResults(b *testing.B) {
	s := New(Position)
	for _, pair := range syntheticPairs() {
		s.Add(pair[0], pair[1])
	}
	for b.Loop() {
		s.Results()
	}
}
