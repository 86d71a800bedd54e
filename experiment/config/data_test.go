package config

import (
	"errors"
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
	files := schemaOf("file", 0, 1000, frame.Reliable)
	for name, x := range map[string]struct {
		set     map[string]any
		schema  *frame.Schema
		rate    int
		budget  float64
		encoder string
		shadows int
		want    string
	}{
		"defaults":             {nil, values, 20, 0, "delta-adaptive", 0, ""},
		"chosen rate":          {map[string]any{"sender.rate_hz": 10}, values, 10, 0, "delta-adaptive", 0, ""},
		"chosen default rate":  {map[string]any{"sender.rate_hz": 60}, values, 0, 0, "", 0, "60 is more than the rate of the source; expected 1 to 20"},
		"the rate of the data": {map[string]any{"sender.rate_hz": 20}, values, 20, 0, "delta-adaptive", 0, ""},
		"chosen budget":        {map[string]any{"budget": 64}, values, 20, 64, "delta-adaptive", 0, ""},
		"chosen encoder":       {map[string]any{"encoder.name": "relative-orientation"}, values, 20, 0, "relative-orientation", 0, ""},
		"suitable encoder":     {map[string]any{"encoder.name": "raw"}, values, 20, 0, "raw", 0, ""},
		"chosen parameters":    {map[string]any{"encoder.params.small": 5}, values, 20, 0, "relative-orientation", 0, ""},
		"times of the data":    {nil, timed, 20, 0, "delta-adaptive", 0, ""},
		"times and a rate":     {map[string]any{"sender.rate_hz": 10}, timed, 0, 0, "", 0, "10 cannot be set: the data have their own times"},
		"files":                {nil, files, 60, 0, "patch", 1, ""},
		"files and a shadow":   {map[string]any{"shadow[0].name": "raw"}, files, 60, 0, "patch", 1, ""},
		"whole files":          {map[string]any{"encoder.name": fullFileEncoder}, files, 60, 0, fullFileEncoder, 0, ""},
		"too short a history":  {map[string]any{"receiver.history": 30}, schemaOf("values", 3, 1000, frame.Latest), 0, 0, "", 0, "exceeds the receiver's history"},
		"a long playout delay": {map[string]any{"receiver.history": 30, "sender.rate_hz": 60, "receiver.playout_delay": "499ms"}, schemaOf("values", 3, 1000, frame.Latest), 60, 0, "delta-adaptive", 0, ""},
	} {
		c := Default()
		for key, v := range x.set {
			if err := c.Set(key, v); err != nil {
				t.Fatal(err)
			}
		}
		err := c.FitTo(x.schema)
		if x.want != "" {
			if err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%s: %v, want %s", name, err, x.want)
			}
			continue
		}
		if err != nil || c.Sender.RateHz != x.rate || c.BudgetKbps != x.budget || c.Encoder.Name != x.encoder || len(c.Shadows) != x.shadows {
			t.Errorf("%s: %d Hz, %g kbps, %s, %d shadows, %v", name, c.Sender.RateHz, c.BudgetKbps, c.Encoder.Name, len(c.Shadows), err)
		}
		adopted := Default()
		if adopted.AdoptFit(c); adopted.Sender != c.Sender || adopted.BudgetKbps != c.BudgetKbps || !adopted.Encoder.Equal(c.Encoder) || len(adopted.Shadows) != len(c.Shadows) {
			t.Errorf("%s: adopted %+v", name, adopted)
		}
		codec, err := table.ByName("relative-orientation")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.CheckSuits("encoder", codec, x.schema); err == nil || !strings.Contains(err.Error(), "encoder.name: relative-orientation cannot encode the data of demo, rows; expected one of "+table.Default(x.schema)) {
			t.Errorf("%s: %v", name, err)
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
	huge := filepath.Join(dir, "huge")
	for size, want := range map[int]string{100: "has more than 10 bytes", 101: "has 0.0 MB"} {
		if err := os.WriteFile(huge, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFile(huge, 10, "a file"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes of 10: %v", size, err)
		}
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
	for _, x := range []struct {
		key     string
		value   any
		written any // as in Values; nil if the value is refused
	}{
		{"memory", "1MB", "1000000B"}, {"memory", "999999B", nil}, {"memory", "4GiB", "4096MiB"}, {"memory", "4294967297B", nil}, {"memory", 64, nil}, {"memory", "1048577B", "1048577B"},
		{"timeout", "1h", "1h0m0s"}, {"timeout", "1h1ns", nil}, {"timeout", "0s", "0s"}, {"timeout", "-1s", nil}, {"timeout", 5, nil},
		{"sha256", hash, hash}, {"sha256", hash[1:], nil}, {"sha256", hash + "0", nil}, {"sha256", strings.ToUpper(hash), nil}, {"path", "", nil}, {"path", 3, nil}, {"pth", "x", nil},
	} {
		var c Config
		if err := c.setPlugin(0, "plugin[0].path", "path", "/x.wasm"); err != nil {
			t.Fatal(err)
		}
		err := c.setPlugin(0, "plugin[0]."+x.key, x.key, x.value)
		if (err == nil) != (x.written != nil) {
			t.Errorf("%s = %v: %v", x.key, x.value, err)
		}
		if x.written == nil {
			continue
		}
		entry := c.pluginValues(Values{})[0].(map[string]any)
		if want := map[string]any{"path": "/x.wasm", x.key: x.written}; !reflect.DeepEqual(entry, want) {
			t.Errorf("%s = %v is written as %v", x.key, x.value, entry)
		}
		path, ok := Values{"plugin": []any{entry}}.Plugin()
		if !ok || path != "/x.wasm" {
			t.Errorf("the first plugin is %q, %v", path, ok)
		}
	}
	var c Config
	for i, ok := range map[int]bool{0: true, maxPlugins - 1: true, maxPlugins: false} {
		if err := c.setPlugin(i, "k", "path", "x"); (err == nil) != ok {
			t.Errorf("plugin %d of %d: %v", i, maxPlugins, err)
		}
	}
	if err := Default().Set("plugin[0].path", "x"); err == nil || !strings.Contains(err.Error(), "loaded first") {
		t.Errorf("a plugin by a flag: %v", err)
	}
	for _, key := range []string{"plugin", "plugin.path"} {
		if Default().Set(key, "x") == nil {
			t.Errorf("%s is set", key)
		}
	}
	if err := (Values{}).LoadPlugins(); err != nil {
		t.Error(err)
	}
	for _, v := range []Values{{}, {"plugin": []any{}}} {
		if _, ok := v.Plugin(); ok {
			t.Error("a plugin in an empty list")
		}
	}
	for want, v := range map[string]Values{"is not a list": {"plugin": 3}, "unknown key": {"plugin": []any{map[string]any{"x": 1}}}, "plugin[0].path: ": {"plugin": []any{map[string]any{"path": "/missing.wasm"}}}} {
		if err := v.LoadPlugins(); err == nil || !strings.Contains(err.Error(), want) {
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
	for key, v := range map[string]any{"search.minimise": "wrong", "search.over.sender.every": []any{int64(1)}} {
		c := Default()
		if err := c.Set(key, v); err != nil || c.Values()["search"] == nil {
			t.Errorf("%s is missing in the values, %v", key, err)
		}
		if _, has := c.Values()["search"].(map[string]any)["runs"]; has {
			t.Error("a limit that was not set is in the values")
		}
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
	for _, key := range []string{"search.other.sender.every", "search"} {
		if err := before.Set(key, []any{int64(1)}); err == nil || !strings.Contains(err.Error(), "unknown key") || len(before.Search.Over) != 0 {
			t.Errorf("%s: %v", key, err)
		}
	}
	if Stamp(1500*time.Millisecond, Change{}).TS != 1.5 {
		t.Error("a time in seconds is wrong")
	}
}
