package dataset

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/dataset/table"
	"wirelab/internal/testkit"
)

// alike compares a recording with the same file read as a table with a schema: initial state,
// frames, ticks and ends must be equal. So must be those of the same frames in CSV.
func alike(t *testing.T, path string, cubes, most int) {
	t.Helper()
	schema := file(t, "cubes.toml", table.Describe(frame.Cubes(cubes), preamble))
	own, err := Open(t.Context(), "file:"+path, Options{Cubes: cubes})
	if err != nil {
		t.Fatal(err)
	}
	defer own.(io.Closer).Close()
	described, err := Open(t.Context(), "table:"+schema+","+path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer described.(io.Closer).Close()
	if !frame.IsCubes(described.Schema()) || described.Schema().Rows != cubes || described.Schema().TickHz != 60 {
		t.Errorf("described as %+v", described.Schema())
	}
	a, b := own.Schema().NewFrame(), described.Schema().NewFrame()
	own.Initial(a)
	described.Initial(b)
	for n := preamble; n < most; n++ {
		if !a.Equal(b) || n > preamble && a.Tick != b.Tick {
			t.Fatalf("frame %d differs, or its tick: %d and %d", n-1, a.Tick, b.Tick)
		}
		errA, errB := own.Next(a), described.Next(b)
		if !errors.Is(errB, errA) {
			t.Fatalf("frame %d: %v, described %v", n, errA, errB)
		}
		if errA != nil {
			return
		}
	}
}

func TestRecordingAsTable(t *testing.T) {
	const cubes = 17
	raw := made(cubes, 40)
	for name, content := range map[string][]byte{"made.bin": raw, "made.bin.zst": zstded(raw), "made.gz": zipped(raw)} {
		alike(t, file(t, name, content), cubes, 100)
	}
	for _, name := range []string{"charlie", "golf"} {
		t.Run(name, func(t *testing.T) {
			alike(t, testkit.DataFile(t, "cubes/"+name+".bin.zst"), frame.WalkoffCubes, 300)
		})
	}
}

// The same records in CSV, in units, give the same frames.
func TestRecordingAsCSV(t *testing.T) {
	const cubes = 5
	recording := file(t, "made.bin", made(cubes, 30))
	own, err := Open(t.Context(), recording, Options{Cubes: cubes})
	if err != nil {
		t.Fatal(err)
	}
	defer own.(io.Closer).Close()
	s := own.Schema()
	var text strings.Builder
	text.WriteString("tick,largest,a,b,c,x,y,z,interacting\n")
	f := s.NewFrame()
	own.Initial(f)
	for n := 0; ; n++ {
		for i, v := range f.Table {
			if i%len(s.Fields) == 0 {
				fmt.Fprint(&text, n)
			}
			scale := 1.0
			if s.Fields[i%len(s.Fields)].Unit == "m" {
				scale = 1.0 / frame.UnitsPerMetre
			} else if s.Fields[i%len(s.Fields)].Name <= "c" {
				scale = s.Fields[i%len(s.Fields)].Scale
			}
			fmt.Fprintf(&text, ",%g", float64(v)*scale)
			if i%len(s.Fields) == len(s.Fields)-1 {
				text.WriteString("\n")
			}
		}
		if own.Next(f) != nil {
			break
		}
	}
	schema := file(t, "cubes.toml", append([]byte("frame = \"tick\"\n"), table.Describe(s, 1)...))
	played, err := Open(t.Context(), "table:"+schema+","+file(t, "made.csv", []byte(text.String())), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer played.(io.Closer).Close()
	again, err := Open(t.Context(), recording, Options{Cubes: cubes})
	if err != nil {
		t.Fatal(err)
	}
	defer again.(io.Closer).Close()
	g := s.NewFrame()
	for n := preamble; ; n++ {
		errA, errB := again.Next(f), played.Next(g)
		if !errors.Is(errB, errA) || errA == nil && !f.Equal(g) {
			t.Fatalf("frame %d: %v, as CSV %v, or another frame", n, errA, errB)
		}
		if errA != nil {
			return
		}
	}
}

// Errors for data that is not a table have what was expected.
func TestTableSpecs(t *testing.T) {
	for spec, wantText := range map[string]string{
		"table": "expected table:SCHEMA.toml,PATH", "table:": "expected table:SCHEMA.toml,PATH",
		"table:a.toml": "expected table:SCHEMA.toml,PATH", "table:,a.csv": "expected table:SCHEMA.toml,PATH",
		"table:a.toml,": "expected table:SCHEMA.toml,PATH", "table:none.toml,none.csv": "none.toml: no such file",
	} {
		if _, err := Open(t.Context(), spec, Options{}); err == nil || !strings.Contains(err.Error(), wantText) {
			t.Errorf("%s: %v, want ...%s", spec, err, wantText)
		}
	}
}
