package dataset

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	path, second := file(t, "odd:name.bin", made(901, 8)), file(t, "second", []byte("something else"))
	for spec, first := range map[string]uint32{"demo": 6, "world": 6, "world:katamari": 6, "rpc": 0, "text": 0,
		"text:" + path: 0, "files": 0, "files:" + path + "," + second: 0, path: 6, "file:" + path: 6} {
		src, err := Open(t.Context(), spec, Options{Script: "idle"})
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		f := src.Schema().NewFrame()
		src.Initial(f)
		if err := src.Schema().Check(f); err != nil {
			t.Errorf("%s: initial state: %v", spec, err)
		}
		if err := src.Next(f); err != nil || f.Tick != first {
			t.Errorf("%s: first frame has tick %d, error %v; expected tick %d", spec, f.Tick, err, first)
		}
		if err := src.Schema().Check(f); err != nil {
			t.Errorf("%s: first frame: %v", spec, err)
		}
		if c, ok := src.(io.Closer); ok {
			c.Close()
		}
	}
	for spec, want := range map[string]error{
		"file:": ErrSpec, "text:": ErrSpec, "files:": ErrSpec,
		"files:" + path: ErrSpec, "files:" + path + "," + path: ErrSpec, "demo:": ErrSpec, "world:": ErrSpec, "world:x": ErrSpec,
		"no/such/file.bin": fs.ErrNotExist, "missing.zst": fs.ErrNotExist, "file:missing": fs.ErrNotExist,
	} {
		src, err := Open(t.Context(), spec, Options{})
		if src != nil || !errors.Is(err, want) || !strings.Contains(err.Error(), strings.TrimPrefix(spec, "file:")) {
			t.Errorf("%s: %v, %v; expected an error that wraps %q and names it", spec, src, err, want)
		}
	}
	for spec, opt := range map[string]Options{"demo": {Cubes: 5}, "world": {Cubes: 900}, path: {Cubes: -1},
		"file:" + path: {Cubes: MaxCubes + 1}} {
		if src, err := Open(t.Context(), spec, opt); src != nil || !errors.Is(err, ErrSpec) {
			t.Errorf("%s with %d cubes: %v, expected %v", spec, opt.Cubes, err, ErrSpec)
		}
	}
	if _, err := Open(t.Context(), t.TempDir(), Options{}); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("a folder: %v", err)
	}
}

// An unknown kind before a file that exists is named, unless no kind reads the file.
func TestUnknownKindOfFile(t *testing.T) {
	for content, want := range map[string]string{
		"TWDEMO\x00\x04":   "a demo: is a demo of Teeworlds or DDNet; expected a table of its items",
		string(made(3, 8)): "no such kind and no such file; expected demo, world",
	} {
		path := file(t, "a demo", []byte(content))
		_, err := Open(t.Context(), "teeworlds:"+path, Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.6q: %v; want %q", content, err, want)
		}
	}
}

func TestUnknownKind(t *testing.T) {
	for spec, name := range map[string]string{"dmeo": "dmeo", "wrld": "wrld", "rpcc:x": "rpcc", "": ""} {
		_, err := Open(t.Context(), spec, Options{})
		var unknown interface{ Unknown() (string, []string) }
		if !errors.As(err, &unknown) {
			t.Errorf("%q: %v, expected an error that knows near names", spec, err)
			continue
		}
		got, known := unknown.Unknown()
		if got != name || len(known) != len(Kinds()) {
			t.Errorf("%q: unknown %q of %v", spec, got, known)
		}
	}
	if _, err := Open(t.Context(), "world", Options{Script: "hoover"}); err == nil || !strings.Contains(err.Error(), "hover") {
		t.Errorf("an unknown script: %v", err)
	}
}
