package unpack_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"wirelab/internal/unpack"
)

// Each compression gives the same bytes, also after Rewind. A truncated file is an error that wraps
// the caller's.
func TestReader(t *testing.T) {
	plain := bytes.Repeat([]byte("to be or not to be, "), 5000)
	zw, _ := zstd.NewWriter(nil)
	var gz bytes.Buffer
	gw := gzip.NewWriter(&gz)
	_, _ = gw.Write(plain)
	_ = gw.Close()
	format, truncated := errors.New("no such file"), errors.New("cut")
	for name, file := range map[string][]byte{"a": plain, "a.zst": zw.EncodeAll(plain, nil), "a.gz": gz.Bytes()} {
		r, err := unpack.New(bytes.NewReader(file), name, unpack.Errors{format, truncated})
		if err != nil {
			t.Fatal(err)
		}
		if r.Packing() != unpack.FromPath(name) || unpack.Detect(file) != unpack.FromPath(name) {
			t.Errorf("%s: packed as %v", name, r.Packing())
		}
		for range 2 {
			if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, plain) {
				t.Errorf("%s: %d bytes, %v, want %d", name, len(got), err, len(plain))
			}
			if err := r.Rewind(); err != nil {
				t.Error(err)
			}
		}
		r.Close()
		if name == "a" {
			continue
		}
		if r, err = unpack.New(bytes.NewReader(file[:len(file)-9]), name, unpack.Errors{format, truncated}); err == nil {
			_, err = io.ReadAll(r)
		}
		if !errors.Is(err, truncated) {
			t.Errorf("%s, cut short: %v", name, err)
		}
	}
	if _, err := unpack.New(bytes.NewReader(nil), "a", unpack.Errors{format, truncated}); !errors.Is(err, format) {
		t.Errorf("an empty file: %v", err)
	}
}
