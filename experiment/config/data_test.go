package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

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
		{values, "budget=64", "20 Hz, 64 kbps, delta-adaptive, 0 shadows"},
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

// Files of links are found through ResolvePath, pinned with their hash, and an error names the key with which the user set the file.
func TestPinFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.csv"), []byte("seq,send_us,recv_us,copy\n0,0,100,0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := Default()
	if err := c.Set("link.trace", "x.csv"); err != nil {
		t.Fatal(err)
	}
	c.ResolvePath = func(name string) string { return filepath.Join(dir, name) }
	before := c.Down
	if err := c.PinFiles(); err != nil || c.Down == before || c.Up != c.Down {
		t.Errorf("pinned: %v", err)
	}
	if text, _ := c.Down.Get("delay_trace"); !strings.Contains(text, "sha256=") {
		t.Errorf("no hash in %q", text)
	}
	if data, err := c.ReadTrace("x.csv"); err != nil || len(data) == 0 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	for _, x := range []struct {
		key, value, want string
	}{{"link.trace", "missing", "link.trace: "}, {"up.trace", "missing", "up.trace: "}, {"down.delay_trace", "missing", "down.delay_trace: "}, {"link.rate_trace", "missing", "link.rate_trace: "}} {
		c := Default()
		if err := c.Set(x.key, x.value); err != nil {
			t.Fatal(err)
		}
		err := c.PinFiles()
		if err == nil || !strings.HasPrefix(err.Error(), x.want) || !strings.Contains(err.Error(), "expected the path of a file") {
			t.Errorf("%s: %v", x.key, err)
		}
		fromFile, err := Parse("x.toml", []byte(x.key+" = \"missing\"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if err := fromFile.PinFiles(); err == nil || !strings.HasPrefix(err.Error(), x.want) {
			t.Errorf("%s of a file: %v", x.key, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "bad.csv"), []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Set("up.trace", "bad.csv"); err != nil {
		t.Fatal(err)
	}
	if err := c.PinFiles(); err == nil || !strings.HasPrefix(err.Error(), "up.trace: ") || strings.Contains(err.Error(), "expected the path of a file") {
		t.Errorf("a bad file: %v", err)
	}
	if got := WithoutPath(&fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}); got != fs.ErrNotExist.Error() {
		t.Error(got)
	}
	if _, err := ReadFile(dir, 10, "a file"); err == nil || !strings.Contains(err.Error(), "directory") && !strings.Contains(err.Error(), "folder") {
		t.Errorf("a folder is read: %v", err)
	}
	if _, err := ReadFile(filepath.Join(dir, "none"), 10, "a file"); err == nil || !strings.Contains(err.Error(), "cannot be read: ") || strings.Count(err.Error(), dir) != 1 {
		t.Errorf("a missing file: %v", err)
	}
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

// A range with values keeps them, and one without values and bounds stays empty.
func TestSearchRangeKeepsValues(t *testing.T) {
	one := 1.0
	for _, r := range []Range{{}, {Values: []any{int64(3)}}, {Values: []any{int64(3)}, from: &one, to: &one}, {Values: []any{int64(3)}, step: &one}} {
		before := slices.Clone(r.Values)
		if err := r.fillValues(); err != nil || !slices.Equal(r.Values, before) || r.Ordered {
			t.Errorf("%v: %v, %v", before, r, err)
		}
	}
}

// Entries of [[plugin]] have a path, and limits that are written as they are read; a list of them is bounded.
func TestPluginKeys(t *testing.T) {
	hash := strings.Repeat("0a", 32)
	for text, want := range map[string]string{ // what is written; "" if the value is refused
		"memory 1MB": "1000000B", "memory 999999B": "", "memory 4GiB": "4096MiB", "memory 4294967297B": "", "memory 64": "", "memory 1048577B": "1048577B",
		"timeout 1h": "1h0m0s", "timeout 1h1ns": "", "timeout 0s": "0s", "timeout -1s": "", "timeout 5": "",
		"sha256 " + hash: hash, "sha256 " + hash[1:]: "", "sha256 " + hash + "0": "", "sha256 " + strings.ToUpper(hash): "", "path ": "", "pth x": "",
	} {
		key, value, _ := strings.Cut(text, " ")
		var c Config
		if err := c.setPlugin(0, "plugin[0].path", "path", "/x.wasm"); err != nil {
			t.Fatal(err)
		}
		if err := c.setPlugin(0, "plugin[0]."+key, key, value); (err != nil) != (want == "") {
			t.Errorf("%s: %v", text, err)
		}
		entry := c.pluginValues(Values{})[0].(map[string]any)
		path, ok := Values{"plugin": []any{entry}}.Plugin()
		if want != "" && entry[key] != want || !ok || path != "/x.wasm" || (len(entry) == 2) != (want != "") {
			t.Errorf("%s is written as %v", text, entry)
		}
	}
	var c Config
	for i, ok := range map[int]bool{0: true, maxPlugins - 1: true, maxPlugins: false} {
		if err := c.setPlugin(i, "k", "path", "x"); (err == nil) != ok {
			t.Errorf("plugin %d of %d: %v", i, maxPlugins, err)
		}
	}
	for _, key := range []string{"plugin", "plugin.path", "plugin[0].path"} {
		if err := Default().Set(key, "x"); err == nil || !strings.Contains(err.Error(), "loaded first") {
			t.Errorf("%s by a flag: %v", key, err)
		}
	}
	for want, v := range map[string]Values{"<nil>": {}, "plugin: is not a list": {"plugin": 3}, "plugin[0].x: unknown key": {"plugin": []any{map[string]any{"x": 1}}},
		"plugin[0].path: ": {"plugin": []any{map[string]any{"path": "/missing.wasm"}}}} {
		if err := v.LoadPlugins(); !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("%v: %v", v, err)
		}
	}
	nested := map[string]any{"a": []any{"x", map[string]any{"b": []string{"y", "z"}}}, "n": 3}
	for name, want := range map[string]bool{"x": true, "z": true, "b": false, "3": false, "": false} {
		if containsText(nested, name) != want {
			t.Errorf("%q is contained: want %v", name, want)
		}
	}
}

// Rules that single keys rely on.
func TestSmallRules(t *testing.T) {
	for _, x := range []struct {
		list    []any
		ordered bool
	}{{[]any{int64(2), int64(2)}, false}, {[]any{int64(2), int64(3)}, true}, {[]any{"1ms", "1ms"}, false}, {[]any{int64(5)}, true}, {[]any{"off", "1mbit"}, false}} {
		if got := isOrdered(x.list); got != x.ordered {
			t.Errorf("%v is ordered: %v", x.list, got)
		}
	}
	if _, has := Default().Values()["search"]; has {
		t.Error("a configuration without a search has one in its values")
	}
	c, err := Parse("x.toml", []byte("[[shadow]]\nname = \"kinetic\"\nparams.damping = \"0.5\"\n"))
	if err != nil || c.Shadows[0].Params["damping"] != 0.5 {
		t.Errorf("the parameter of a shadow given as text is %#v, %v", c.Shadows, err)
	}
	if got := shadowTable([]Encoder{{Name: "a"}, {Name: "b"}}); !reflect.DeepEqual(got, []string{"a", "b"}) {
		t.Errorf("shadows without parameters are %#v", got)
	}
	before := Default()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("NewChange accepts a wrong value")
			}
		}()
		NewChange("every", 0)
	}()
	if _, err := before.WithChange(NewChange("encoder", "bogus")); err == nil {
		t.Error("an unknown encoder is accepted")
	}
	normal := NewChange("params.damping", "0.5", "encoder", "kinetic")
	with, err := before.WithChange(normal)
	if err != nil || normal.Normalised(with).Params()["damping"] != 0.5 || (Change{}).Normalised(with).Params() != nil {
		t.Errorf("normalised to %v, %v", normal.Normalised(with), err)
	}
	if err := before.Set("down.latency", "\xff"); err == nil || !strings.Contains(err.Error(), "is not UTF-8") {
		t.Errorf("invalid UTF-8: %v", err)
	}
	if list := before.CodecTable(); len(list) != len(table.All()) {
		t.Errorf("%d codecs", len(list))
	}
	before.Codecs = []encoders.Codec{{Name: "only"}}
	if list := before.CodecTable(); len(list) != 1 {
		t.Errorf("%d codecs of one", len(list))
	}
	if _, err := findCodec("onyl", before.Codecs); err == nil || !strings.Contains(err.Error(), "did you mean only?") {
		t.Errorf("a misspelt codec: %v", err)
	}
	if Stamp(1500*time.Millisecond, Change{}).TS != 1.5 {
		t.Error("a time in seconds is wrong")
	}
}
