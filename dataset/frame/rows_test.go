package frame_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"wirelab/dataset/frame"
)

// Rows behaves like a map of row indices.
func TestRowsAreASet(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for _, n := range []int{1, 63, 64, 65, 901} {
		r, s, want := frame.NewRows(n), frame.NewRows(n), map[int]bool{}
		for range n / 2 {
			i, j := rng.IntN(n), rng.IntN(n)
			r.Add(i)
			s.Add(j)
			want[i], want[j] = true, true
		}
		r.Union(s)
		var list []int
		for i := range n {
			if r.Has(i) != want[i] {
				t.Errorf("%d rows: row %d is in the set: %v", n, i, r.Has(i))
			}
			if want[i] {
				list = append(list, i)
			}
		}
		if got := slices.Collect(r.All()); !slices.Equal(got, list) || r.Count() != len(list) {
			t.Errorf("%d rows: %d of them, %v, want %v", n, r.Count(), got, list)
		}
		for i := range r.All() {
			if i != list[0] {
				t.Errorf("%d rows: the first is %d, want %d", n, i, list[0])
			}
			break
		}
		if r.Clear(); r.Count() != 0 {
			t.Errorf("%d rows: %d are left", n, r.Count())
		}
	}
}

// SetDiffering and RemoveEqual find the rows in which any cell differs, for any number of fields.
func TestRowsThatDiffer(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for _, n := range []int{1, 3, 8, 64, 100} {
		for range 200 {
			rows := 1 + rng.IntN(300)
			a := &frame.Frame{Table: make([]int32, rows*n)}
			b := &frame.Frame{Table: make([]int32, rows*n)}
			want := frame.NewRows(rows)
			for range rng.IntN(20) {
				at := rng.IntN(len(a.Table))
				b.Table[at] = 1
				want.Add(at / n)
			}
			got := frame.NewRows(rows)
			got.Add(rng.IntN(rows))
			got.SetDiffering(a.Table, b.Table, n)
			if !slices.Equal(got, want) || a.ChangedRows(b, n) != want.Count() {
				t.Fatalf("%d rows of %d: %v differ, counted %d, want %v", rows, n, got, a.ChangedRows(b, n), want)
			}
			for range 10 {
				got.Add(rng.IntN(rows))
			}
			if got.RemoveEqual(a.Table, b.Table, n); !slices.Equal(got, want) {
				t.Fatalf("%d rows of %d: among those that may, %v differ, want %v", rows, n, got, want)
			}
		}
	}
}

// EqualCubes compares all cells.
func TestSameCube(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 3))
	for range 1000 {
		var a [frame.CubeFields]int32
		for i := range a {
			a[i] = int32(rng.Uint32())
		}
		b := a
		if !frame.EqualCubes(&a, &b) {
			t.Fatalf("%v differs from itself", a)
		}
		for i := range b {
			b = a
			if b[i] ^= 1 << rng.IntN(32); frame.EqualCubes(&a, &b) {
				t.Fatalf("%v is the same as %v", a, b)
			}
		}
	}
}
