package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirelab/dataset"
	"wirelab/internal/testkit"
)

// TestExport checks that a table source plays the same frames that tui record --from has written.
func TestExport(t *testing.T) {
	const match = "../../../shared/data/games/oa-dm4.dm_71"
	specs := []string{"demo", "rpc"}
	if _, err := os.Stat(match); err == nil {
		specs = append(specs, "quake3:"+match)
	} else {
		t.Logf("%v: the matches are not part of the project", err)
	}
	for i, spec := range specs {
		dir := t.TempDir()
		name := filepath.Join(dir, []string{"x.csv", "x.csv.zst", "x.csv.gz"}[i])
		o := tui("record --from", spec, "--out", name, "--seconds", "0.5")
		checkErr(t, o, exitDone, "wrote "+name)
		want, err := dataset.Open(t.Context(), spec, dataset.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		got, err := dataset.Open(t.Context(), "table:"+filepath.Join(dir, "x.toml")+","+name, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		f, g := want.Schema().NewFrame(), got.Schema().NewFrame()
		want.Initial(f)
		got.Initial(g)
		for n := 0; ; n++ {
			if !f.Equal(g) {
				t.Fatalf("%s: frame %d is another", spec, n)
			}
			if err := got.Next(g); err == io.EOF {
				if all := max(1, want.Schema().TickHz/2); n != all {
					t.Errorf("%s: %d frames, expected %d", spec, n, all)
				}
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if err := want.Next(f); err != nil {
				t.Fatal(err)
			}
		}
		closeSource(want)
		closeSource(got)
	}
}

func TestExportUsage(t *testing.T) {
	out := filepath.Join(t.TempDir(), "x.csv")
	for _, c := range []struct{ args, wantText string }{
		{"--from demo", "expects --out"}, {"--from demo --out x.bin", ".csv"}, {"--from text --out " + out, "its frames are bytes"},
		{"--from world --script roll --out " + out, "--from world:roll"}, {"--from dmeo --out " + out, "did you mean demo?"},
		{"--from demo --seconds 0 --out " + out, "--seconds 0"}, {"--from demo --out /nowhere/x.csv", "cannot be written"},
	} {
		checkErr(t, tui("record "+c.args), exitUsage, c.wantText)
	}
}

// TestExportKeepsOtherFiles checks that a file at the path of the schema stays unchanged if it is
// not a schema, or if it is a different one and --force is not set.
func TestExportKeepsOtherFiles(t *testing.T) {
	dir := t.TempDir()
	schema := filepath.Join(dir, "x.toml")
	var same string
	for _, c := range []struct {
		text, force string
		code        int
		wantText    string
	}{
		{"duration = \"1s\"\n", "--force", exitUsage, schema + " exists and is not a schema"},
		{"[[field]]\n# edited by hand\n", "--force=false", exitUsage, schema + " exists and differs from the schema"},
		{"[[field]]\n# edited by hand\n", "--force", exitDone, "wrote"},
		{"", "--force=false", exitDone, "wrote"},
		{"same", "--force=false", exitDone, "wrote"},
	} {
		text, code := c.text, c.code
		if text == "same" {
			text = same
		}
		write(t, schema, text)
		o := tui("record --from rpc --seconds 0.1", c.force, "--out", filepath.Join(dir, "x.csv"))
		is, err := os.ReadFile(schema)
		if o.code != code || err != nil || !strings.Contains(o.stderr, c.wantText) || (string(is) == text) != (code == exitUsage || text == same) {
			t.Errorf("%q %s: exit %d, %s%v; now %.40q", text, c.force, o.code, o.stderr, err, is)
		}
		if code == exitDone {
			same = string(is)
		}
	}
}

// TestDamagedMatch checks that all commands that read a damaged match report what is missing.
func TestDamagedMatch(t *testing.T) {
	text := read(t, testkit.DataFile(t, "games/oa-dm4.dm_71"))
	cut := filepath.Join(t.TempDir(), "cut.dm_71")
	write(t, cut, string(text[:60_000]))
	for _, args := range [][]string{
		{"walkoff", "--frames", "8", "--encoder", "quake3", "--data"}, {"datasets", "stats"}, {"record", "--out", cut + ".csv", "--from"},
		{"datasets", "describe"},
	} {
		o := tui("", append(args, "quake3:"+cut)...)
		checkErr(t, o, exitDone, "warning: data: the file ends early, after message")
	}
}
