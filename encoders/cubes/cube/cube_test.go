package cube

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"wirelab/dataset/frame"
)

// TestRanges checks InRange and Bounds at the limits of every field of the schema.
func TestRanges(t *testing.T) {
	s := frame.Cubes(1)
	for i, f := range s.Fields {
		for v, want := range map[int32]bool{f.Min - 1: false, f.Min: true, f.Max: true, f.Max + 1: false} {
			q := Row{}
			if q[i] = v; InRange(&q) != want {
				t.Errorf("%s = %d is in range: %v", f.Name, v, !want)
			}
		}
		if low, high := Bounds(i - frame.CubeX); i >= frame.CubeX && i <= frame.CubeZ && (low != f.Min || high != f.Max) {
			t.Errorf("%s is bounded by %d and %d, want %d and %d", f.Name, low, high, f.Min, f.Max)
		}
	}
}

// TestComparisons changes one field at a time and checks which comparisons notice, and packs and unpacks
// an orientation.
func TestComparisons(t *testing.T) {
	q := Row{2, 511, 0, 300, -5, 6, 7, 1}
	for i := range q {
		p := q
		p[i]--
		orientation, position := i < frame.CubeX, i >= frame.CubeX && i <= frame.CubeZ
		if SameOrientation(&p, &q) == orientation || SamePosition(&p, &q) == position || SamePose(&p, &q) != (i == frame.CubeInteracting) {
			t.Errorf("wrong result of a comparison for a change of field %d", i)
		}
	}
	var p Row
	if UnpackOrientation(&p, PackOrientation(&q)); !SameOrientation(&p, &q) || PackOrientation(&q)>>OrientationBits != 0 {
		t.Errorf("%v is unpacked as %v", q, p)
	}
	if d := Distance2(&q, &Row{frame.CubeX: -2, frame.CubeY: 2, frame.CubeZ: 7}); d != 25 {
		t.Errorf("a squared distance of %d, want 25", d)
	}
}

func TestErrors(t *testing.T) {
	if err := ChangedError(3, &Row{}); !errors.Is(err, ErrUnchanged) {
		t.Errorf("a cube in range: %v", err)
	}
	if err := ChangedError(3, &Row{frame.CubeZ: -1}); !errors.Is(err, frame.ErrRange) {
		t.Errorf("a cube out of range: %v", err)
	}
	if err := CheckSchema(&frame.Schema{Name: "other"}); !errors.Is(err, errSchema) {
		t.Errorf("another schema: %v", err)
	}
	if CheckSchema(frame.Cubes(3)) != nil || CheckFrame(frame.Cubes(3).NewFrame(), 3) != nil ||
		CheckFrame(frame.Cubes(2).NewFrame(), 3) == nil {
		t.Error("CheckSchema or CheckFrame returns a wrong result")
	}
}

// TestChanges compares Find, which compares blocks of rows, with the changed rows.
func TestChanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var changes Changes
	for _, n := range []int{1, 7, 8, 9, 16, 100, 901} {
		s := frame.Cubes(n)
		for range 50 {
			base, cur := s.NewFrame(), s.NewFrame()
			var want []int
			for i := range n {
				if rng.IntN(20) == 0 {
					cur.Table[i*frame.CubeFields+rng.IntN(frame.CubeFields)] = 1
					want = append(want, i)
				}
			}
			changes.Find(cur.Table, base.Table, nil)
			if got := slices.Collect(changes.All()); !slices.Equal(got, want) {
				t.Fatalf("of %d rows %v are found, want %v", n, got, want)
			}
		}
	}
}
