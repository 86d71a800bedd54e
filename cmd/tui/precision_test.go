package main

import (
	"path/filepath"
	"strings"
	"testing"

	"wirelab/dataset"
)

// quartersTable returns the specification of a table whose quantity v loses 0, 0.25 or 0.5 of its steps, on average
// 0.25.
func quartersTable(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var rows strings.Builder
	rows.WriteString("v,on,weight\n")
	for range 20 {
		rows.WriteString("0.00,0,1\n0.25,1,1\n0.50,1,1\n0.75,0,1\n")
	}
	schema, records := filepath.Join(dir, "x.toml"), filepath.Join(dir, "x.csv")
	text := "item = \"tank\"\nrate_hz = 20\nrows = 1\n[[field]]\nname = \"v\"\nkind = \"quantity\"\nrange = [0, 9]\nunit = \"m\"\n" +
		"tolerance = \"50 cm\"\n[[field]]\nname = \"on\"\nkind = \"flag\"\n" +
		"[[field]]\nname = \"weight\"\nkind = \"quantity\"\nrange = [0, 9]\nscale = 1\nunit = \"kg\"\n"
	for path, content := range map[string]string{schema: text, records: rows.String()} {
		write(t, path, content)
	}
	return "table:" + schema + "," + records
}

// The commands print what rounding loses as a table, and as the key precision.
func TestPrecisionInCommands(t *testing.T) {
	spec := quartersTable(t)
	for _, c := range []struct {
		args []string
		path string // of the list in the JSON
	}{
		{[]string{"run", "--data", spec}, "precision"},
		{[]string{"datasets", "stats", spec}, "precision"},
		{[]string{"walkoff", "--data", spec}, "dataset.precision"},
	} {
		if o := tui("", append(c.args, "--quiet")...); o.code != exitDone || !strings.Contains(o.stdout, "\nLost by rounding to steps:\n") {
			if c.args[0] != "run" { // run prints no text with --quiet
				t.Errorf("%s: exit %d, %s%s", c.args[0], o.code, o.stdout, o.stderr)
			}
		}
		o := tui("", append(c.args, "--json")...)
		var doc struct {
			Precision []dataset.Precision
			Dataset   struct{ Precision []dataset.Precision }
		}
		document(t, o.stdout, &doc)
		list := append(doc.Precision, doc.Dataset.Precision...)
		if len(list) != 3 {
			t.Errorf("%s: %+v, expected three fields", c.args[0], list)
			continue
		}
		v, on := list[0], list[1]
		if v.Field != "v" || v.Unit != "m" || v.Scale != 1 || *v.Max != 0.5 || *v.Mean != 0.25 || *v.P99 < 0.49 || *v.P99 > 0.5 {
			t.Errorf("%s: %s in %s steps of %v: max %v, mean %v, p99 %v", c.args[0], v.Field, v.Unit, v.Scale, *v.Max, *v.Mean, *v.P99)
		}
		if on.Scale != 0 || *on.Max != 0 || *on.Mean != 0 {
			t.Errorf("%s: a flag has the precision %+v", c.args[0], on)
		}
	}
	// The demo's integers were rounded by the game: no precision is known, and none is shown.
	if o := tui("run --data demo --set duration=1s --json"); strings.Contains(o.stdout, `"precision"`) {
		t.Error("a run of the demo has a precision")
	}
}

// tui tune finds the cheapest scale of a table's fields; its flags are checked.
func TestTuneTable(t *testing.T) {
	spec := quartersTable(t)
	o := tui("tune --data", spec, "--tolerance", "25 cm", "--json")
	var doc struct {
		Encoder string
		Kbps    float64
		Best    float64 `json:"best_kbps"`
		Groups  []struct {
			Fields []string
			Scale  float64
			Best   float64 `json:"best_scale"`
			Curve  []struct {
				Scale, Max, Kbps float64
				Within           bool
			}
		}
	}
	document(t, o.stdout, &doc)
	if !strings.Contains(o.stderr, "--tolerance 25 cm is not in the unit of these fields, which keep their scales: weight") {
		t.Errorf("a field of another unit: %s", o.stderr)
	}
	if o.code != exitDone || len(doc.Groups) != 1 || doc.Encoder != "delta-adaptive" || doc.Groups[0].Scale != 1 || len(doc.Groups[0].Curve) < 6 {
		t.Fatalf("exit %d, %s%s", o.code, o.stdout, o.stderr)
	}
	for _, p := range doc.Groups[0].Curve {
		// Multiples of a quarter are exact in steps of a quarter or less.
		want, known := map[float64]float64{0.0625: 0, 0.125: 0, 0.25: 0, 0.5: 0.25, 1: 0.5, 2: 0.75}[p.Scale]
		if known && p.Max != want || p.Within != (p.Max <= 0.25) {
			t.Errorf("%+v, expected an error of %v", p, want)
		}
	}
	checkOut(t, tui("tune --data", spec, "--quiet"), exitDone, "cheapest within the tolerance")
	for _, c := range []struct{ args, want string }{
		{"--field|w", `--field: unknown field "w"; expected one of `}, {"--field|on", "on has the kind flag, which has no scale"}, {"--tolerance|1 mol", "fits no field"},
		{"--field|v|--tolerance|1 deg", `"1 deg" has no value in the unit of the field, "m"`},
		{"--tolerance|-1 cm", `--tolerance "-1 cm" is not above 0; expected the largest rounding error`}, {"--tolerance|NaN m", "is not above 0; expected"},
		{"--tolerance|0 m", "is not above 0; expected"}, {"--tolerance|inf m", "is not above 0; expected"}, {"--tolerance|cm", "is not above 0; expected"},
	} {
		o := tui("", append([]string{"tune", "--data", spec}, strings.Split(c.args, "|")...)...)
		checkErr(t, o, exitUsage, c.want)
	}
	checkErr(t, tui("tune --data demo --field position --tolerance", "1 m"), exitUsage, "for tables")
}
