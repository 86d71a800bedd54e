package quake3

import (
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/dataset/quake3/netcode"
	"wirelab/internal/testkit"
)

// rows iterates over the lines of a CSV file.
type rows struct {
	pull  func() ([]string, bool)
	cells []string // of the next line; nil at the end
}

func openRows(t testing.TB, name string) *rows {
	t.Helper()
	pull, stop := iter.Pull(testkit.CSVRows(t, "games/"+name))
	t.Cleanup(stop)
	r := &rows{pull: pull}
	r.next()
	return r
}

func (r *rows) next() (cells []string) {
	cells = r.cells
	r.cells, _ = r.pull()
	return cells
}

// value parses a cell by the kind of its field and returns its 32 bits.
func value(t testing.TB, cell string, f *frame.Field) int32 {
	if hex, ok := strings.CutPrefix(cell, "x"); ok {
		v, err := strconv.ParseUint(hex, 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		return int32(uint32(v))
	}
	if f.Kind == frame.Float32 {
		return int32(math.Float32bits(float32(testkit.ParseInt(t, cell))))
	}
	return int32(testkit.ParseInt(t, cell))
}

// Every value of every snapshot, and the size of each, equals the reference from the engine's own code.
func TestSnapshotsMatchReference(t *testing.T) {
	for _, name := range []string{"oa-ctf", "oa-dm4"} {
		src, err := openFile(t.Context(), testkit.DataFile(t, "games/"+name+".dm_71"), 0, false)
		if err != nil {
			t.Fatal(err)
		}
		snapshots, entities, players := openRows(t, name+".snapshots.csv.zst"), openRows(t, name+".entities.csv.zst"), openRows(t, name+".player.csv.zst")
		s, l := src.Schema(), src.layout
		f, last, want := s.NewFrame(), s.NewFrame(), s.NewFrame()
		src.Initial(last)
		changed := frame.NewRows(s.Rows)
		at := map[string]int{} // which frame a message holds
		n := 0
		for ; snapshots.cells != nil && (n < 300 || testkit.Thorough()); n++ {
			if err := src.Next(f); err != nil {
				t.Fatalf("%s, frame %d: %v", name, n, err)
			}
			snap := snapshots.next()
			at[snap[0]] = n
			base := 0
			if snap[2] != "-1" {
				base = n - at[snap[2]]
			}
			if got := src.Price(); got.Base != base || got.Bits != testkit.ParseInt(t, snap[8])+testkit.ParseInt(t, snap[9]) {
				t.Fatalf("%s, message %s: %+v, expected base %d and %s + %s bits", name, snap[0], got, base, snap[8], snap[9])
			}
			clear(want.Table)
			for ; entities.cells != nil && entities.cells[0] == snap[0]; entities.next() {
				row := want.Table[testkit.ParseInt(t, entities.cells[2])*l.Columns:]
				row[netcode.PresentColumn] = 1
				for i, cell := range entities.cells[3:] {
					row[netcode.FirstFieldColumn+i] = value(t, cell, &s.Fields[netcode.FirstFieldColumn+i])
				}
			}
			row := want.Table[l.Rows*l.Columns:]
			row[l.Time] = int32(testkit.ParseInt(t, snap[1]))
			for i, cell := range players.next()[2:] {
				row[l.Player+i] = value(t, cell, &s.Fields[l.Player+i])
			}
			if !f.Equal(want) {
				i := 0
				for f.Table[i] == want.Table[i] {
					i++
				}
				t.Fatalf("%s, message %s, row %d, %s: %d, expected %d", name, snap[0], i/l.Columns, s.Fields[i%l.Columns].Name, f.Table[i], want.Table[i])
			}
			if err := s.Check(f); err != nil {
				t.Fatal(err)
			}
			if changed.SetDiffering(f.Table, last.Table, l.Columns); !slices.Equal(changed, src.Changed()) {
				t.Fatalf("%s, frame %d: %d rows differ, changed are %d", name, n, changed.Count(), src.Changed().Count())
			}
			last.CopyFrom(f)
		}
		if err := src.Next(f); testkit.Thorough() && (err != io.EOF || entities.cells != nil || n != src.Frames()) {
			t.Errorf("%s: after %d frames of %d: %v", name, n, src.Frames(), err)
		}
	}
}

// BenchmarkMatch measures opening and playing a whole match, which decodes it twice.
func BenchmarkMatch(b *testing.B) {
	path := testkit.DataFile(b, "games/oa-ctf.dm_71")
	for b.Loop() {
		src, err := openFile(b.Context(), path, 0, false)
		if err != nil {
			b.Fatal(err)
		}
		f := src.Schema().NewFrame()
		for src.Next(f) == nil {
		}
	}
}
