package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/internal/testkit"
)

// schemaOf returns the schema of rows of one quantity, with a rate.
func schemaOf(name string, rows, hz int, delivery frame.Delivery) *frame.Schema {
	s := &frame.Schema{Name: name, Item: "row", Rows: rows, TickHz: hz, Delivery: delivery}
	if rows > 0 {
		s.Fields = []frame.Field{{Name: "x", Max: 100}}
	}
	return s
}

// Rate, budget and encoder are adapted to the data unless they were set; impossible rates are refused.
func TestFitTo(t *testing.T) {
	values := schemaOf("values", 3, 20, frame.Latest)
	timed := schemaOf("values", 3, 20, frame.Latest)
	timed.Timed = true
	fast, files := schemaOf("values", 3, 1000, frame.Latest), schemaOf("file", 0, 1000, frame.Reliable)
	for _, x := range []struct {
		schema *frame.Schema
		set    string // "KEY=VALUE ..."
		want   string // rate, budget, encoder and number of shadows, or the error
	}{
		{values, "", "20 Hz, 0 kbps, delta-adaptive, 0 shadows"},
		{values, "sender.rate_hz=10", "10 Hz, 0 kbps, delta-adaptive, 0 shadows"},
		{values, "sender.rate_hz=60", "sender.rate_hz: 60 is more than the rate of the source; expected 1 to 20"},
		{values, "sender.rate_hz=20", "20 Hz, 0 kbps, delta-adaptive, 0 shadows"},
		{values, "budget_line=64", "20 Hz, 64 kbps, delta-adaptive, 0 shadows"},
		{values, "encoder.name=relative-orientation", "20 Hz, 0 kbps, relative-orientation, 0 shadows"},
		{values, "encoder.name=raw", "20 Hz, 0 kbps, raw, 0 shadows"},
		{values, "encoder.params.small=5", "20 Hz, 0 kbps, relative-orientation, 0 shadows"},
		{timed, "", "20 Hz, 0 kbps, delta-adaptive, 0 shadows"},
		{timed, "sender.rate_hz=10", "sender.rate_hz: 10 cannot be set: the data have their own times"},
		{files, "", "60 Hz, 0 kbps, patch, 1 shadows"},
		{files, "shadow[0].name=raw", "60 Hz, 0 kbps, patch, 1 shadows"},
		{files, "encoder.name=whole-zstd", "60 Hz, 0 kbps, whole-zstd, 0 shadows"},
		{fast, "receiver.history=30", "receiver.playout_delay: 85ms exceeds the receiver's history"},
		{fast, "receiver.history=30 sender.rate_hz=60 receiver.playout_delay=499ms", "60 Hz, 0 kbps, delta-adaptive, 0 shadows"},
	} {
		c := Default()
		for _, pair := range strings.Fields(x.set) {
			key, value, _ := strings.Cut(pair, "=")
			testkit.Set(t, c, key, value)
		}
		err := c.FitTo(x.schema)
		adopted := Default()
		adopted.AdoptFit(c)
		got := fmt.Sprintf("%d Hz, %g kbps, %s, %d shadows", adopted.Sender.RateHz, adopted.BudgetKbps, adopted.Encoder.Name, len(adopted.Shadows))
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, x.want) {
			t.Errorf("%s, %s: %s, want %s", x.schema.Name, x.set, got, x.want)
		}
		codec, err := table.ByName("relative-orientation")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.CheckSuits("encoder", codec, x.schema); err == nil || !strings.Contains(err.Error(), "encoder.name: relative-orientation cannot encode the data of demo, rows; expected one of "+table.Default(x.schema)) {
			t.Errorf("%s: %v", x.set, err)
		}
	}
	zstd, _ := table.ByName("zstd")
	if err := Default().CheckSuits("encoder", zstd, values); err != nil {
		t.Error(err)
	}
}

// Files of links are found through ResolvePath, pinned with their hash, and an error names the key with
// which the user set the file.
func TestPinFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"x.csv": "seq,send_us,recv_us,copy\n0,0,100,0\n", "bad.csv": "nonsense"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := Default()
	testkit.Set(t, c, "link.trace", "x.csv")
	c.ResolvePath = func(name string) string { return filepath.Join(dir, name) }
	if err := c.PinFiles(); err != nil || !strings.Contains(LinkValue(c, DownOnly, "delay_trace"), "sha256=") || c.Up != c.Down {
		t.Errorf("pinned: %v, %s", err, LinkValue(c, DownOnly, "delay_trace"))
	}
	for _, key := range []string{"link.trace", "up.trace", "down.delay_trace", "link.rate_trace"} {
		set := Default()
		testkit.Set(t, set, key, "missing")
		fromFile, err := Parse("f", []byte(key+" = \"missing\"\n"))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []*Config{set, fromFile} {
			if got := errorText(c.PinFiles()); !strings.HasPrefix(got, key+": ") || !strings.Contains(got, "expected the path of a file") {
				t.Errorf("%s: %s", key, got)
			}
		}
	}
	testkit.Set(t, c, "up.trace", "bad.csv")
	if got := errorText(c.PinFiles()); !strings.HasPrefix(got, "up.trace: ") || strings.Contains(got, "expected the path of a file") {
		t.Errorf("a bad file: %s", got)
	}
	for path, want := range map[string]string{dir: "is a folder", filepath.Join(dir, "none"): "cannot be read: no such file"} {
		if _, err := ReadFile(path, 10, "a file"); !strings.Contains(errorText(err), want) || strings.Count(errorText(err), dir) != 1 {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// errorText returns the text of an error; "" for nil.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// An error at a point of a sweep stays nil if it is nil, and unchanged without a sweep.
func TestNoErrorAtPoint(t *testing.T) {
	swept, plain, problem := Config{Sweep: make([]Axis, 1)}, Config{}, errors.New("x")
	if err := swept.AtPoint(&Point{}, nil); err != nil {
		t.Errorf("nil becomes %v", err)
	}
	if err := plain.AtPoint(&Point{}, problem); err != problem {
		t.Errorf("without a sweep: %v", err)
	}
}

// The list of plugins is bounded.
func TestManyPlugins(t *testing.T) {
	var c Config
	for i, ok := range map[int]bool{0: true, maxPlugins - 1: true, maxPlugins: false} {
		if err := c.setPlugin(i, "k", "path", "x"); (err == nil) != ok {
			t.Errorf("plugin %d of %d: %v", i, maxPlugins, err)
		}
	}
}

// A parameter that is given as text gets the type of its codec, also in a shadow and in a change.
func TestNormalised(t *testing.T) {
	c, err := Parse("f", []byte("[[shadow]]\nname = \"kinetic\"\nparams.damping = \"0.5\"\n"))
	if err != nil || c.Shadows[0].Params["damping"] != 0.5 {
		t.Errorf("the parameter of a shadow given as text is %#v, %v", c.Shadows, err)
	}
	ch := NewChange("params.damping", "0.5", "encoder", "kinetic")
	with, err := c.WithChange(ch)
	if err != nil || ch.Normalised(with).Params()["damping"] != 0.5 || (Change{}).Normalised(with).Params() != nil {
		t.Errorf("normalised to %v, %v", ch.Normalised(with), err)
	}
	if _, err := c.WithChange(NewChange("encoder", "bogus")); err == nil {
		t.Error("an unknown encoder is accepted")
	}
	defer func() {
		if recover() == nil {
			t.Error("NewChange accepts a wrong value")
		}
	}()
	NewChange("every", 0)
}

// A configuration may have codecs of its own, and names among them are suggested. Text must be UTF-8.
func TestOwnCodecs(t *testing.T) {
	c := Default()
	if list := c.CodecTable(); len(list) != len(table.All()) {
		t.Errorf("%d codecs", len(list))
	}
	c.Codecs = []encoders.Codec{{Name: "only"}}
	if _, err := findCodec("onyl", c.Codecs); len(c.CodecTable()) != 1 || !strings.Contains(errorText(err), "did you mean only?") {
		t.Errorf("a misspelt codec of one: %v", err)
	}
	if err := c.Set("down.latency", "\xff"); !strings.Contains(errorText(err), "is not UTF-8") {
		t.Errorf("invalid UTF-8: %v", err)
	}
}
