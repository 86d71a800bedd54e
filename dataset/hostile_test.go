package dataset

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/internal/testkit"
	"wirelab/internal/unpack"
)

// Errors in recordings have the place and what was expected.
func TestBadRecordings(t *testing.T) {
	raw := made(3, 12)
	zst := zstded(raw)
	wide := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 18 << 3, 1, 0, 0} // claims a window of 256 MB
	for _, c := range []struct {
		name     string
		content  []byte
		want     error
		wantText string
	}{
		{"empty.bin", nil, ErrFormat, "empty"},
		{"short.bin", raw[:6*96], ErrFormat, "6 frames of 3 cubes, expected at least 7"},
		{"short.zst", zstded(raw[:2*96]), ErrFormat, "2 frames of 3 cubes, expected at least 7"},
		{"left.bin", raw[:8*96+5], ErrTruncated, "5 bytes after 8 frames of 3 cubes (96 bytes each)"},
		{"left.gz", zipped(raw[:8*96+5]), ErrTruncated, "5 bytes after 8 frames"},
		{"five.bin", made(5, 8), ErrTruncated, "the size fits 5 cubes"},
		{"five.zst", zstded(made(5, 8)), ErrTruncated, "the size fits 5 cubes"},
		{"range.bin", with(raw, 3, 9, 2, frame.CubeB, 512), frame.ErrRange,
			"frame 9, cube 2, field b: value out of range: 512, expected 0..511"},
		{"range.zst", zstded(with(raw, 3, 7, 0, frame.CubeZ, -1)), frame.ErrRange,
			"frame 7, cube 0, field z: value out of range: -1, expected 0..16383"},
		{"first.bin", with(raw, 3, 0, 1, frame.CubeLargest, 4), frame.ErrRange,
			"frame 0, cube 1, field largest: value out of range: 4, expected 0..3"},
		{"flag.gz", zipped(with(raw, 3, 11, 2, frame.CubeInteracting, 2)), frame.ErrRange, "frame 11, cube 2, field interacting"},
		{"far.bin", with(raw, 3, 6, 0, frame.CubeX, 1<<17), frame.ErrRange, "frame 6, cube 0, field x"},
		{"min.bin", with(raw, 3, 6, 0, frame.CubeY, -1<<31), frame.ErrRange, "frame 6, cube 0, field y"},
		{"cut.zst", zst[:len(zst)-7], ErrTruncated, "compressed data are truncated"},
		{"cut.gz", zipped(raw)[:40], ErrTruncated, "compressed data are truncated"},
		{"magic.zst", raw, ErrFormat, "promises zstd, but it begins with 03 00 00 00"},
		{"magic.gz", zst, ErrFormat, "promises gzip, but it begins with 28 b5 2f fd"},
		{"tiny.zst", []byte{0x28}, ErrFormat, "promises zstd, but it begins with 28"},
		{"wide.zst", wide, ErrFormat, "128 MB"},
		{"text.bin", bytes.Repeat([]byte("It was a dark and stormy night. "), 3*12), frame.ErrRange, "frame 0, cube 0, field largest"},
	} {
		path := file(t, c.name, c.content)
		r, err := openRecording(t.Context(), path, Options{Cubes: 3})
		if err == nil {
			_, err = drain(r)
			r.Close()
		}
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.wantText) || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%s: got %q\nexpected it to wrap %q, to begin with the path and to contain %q", c.name, err, c.want, c.wantText)
		}
	}
}

// Damaged bytes anywhere in a compressed recording give an error, or frames within their ranges.
func TestDamagedBytes(t *testing.T) {
	raw := made(3, 40)
	for name, content := range map[string][]byte{"a.gz": zipped(raw), "a.zst": zstded(raw)} {
		for i := 0; i < len(content); i += testkit.Choose(1, 3) {
			bad := bytes.Clone(content)
			bad[i] ^= 0x55
			r, err := openRecording(t.Context(), file(t, name, bad), Options{Cubes: 3})
			if err == nil {
				_, err = drain(r)
				r.Close()
			}
			if err != io.EOF && !ours(err) {
				t.Errorf("%s with byte %d damaged: %v is no error of this package", name, i, err)
			}
		}
	}
}

// ours reports whether err is an error that a reader may return for damaged bytes.
func ours(err error) bool {
	return errors.Is(err, ErrFormat) || errors.Is(err, ErrTruncated) || errors.Is(err, frame.ErrRange)
}

// A file of nine bytes that claims the largest window uses no more memory than that, and reading on
// uses none.
func TestMemoryIsBounded(t *testing.T) {
	claim := file(t, "claim.zst", []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 17 << 3, 1, 0, 0})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if r, err := openRecording(t.Context(), claim, Options{}); err == nil {
		r.Close()
		t.Fatal("opened a recording without frames")
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > unpack.MaxWindow+2<<20 {
		t.Errorf("took %d bytes, expected at most the window of %d and 2 MB", took, unpack.MaxWindow)
	}
}

func TestNextAllocatesNothing(t *testing.T) {
	raw := made(901, 200)
	for name, content := range map[string][]byte{"a.bin": raw, "a.zst": zstded(raw)} {
		r, err := openRecording(t.Context(), file(t, name, content), Options{Loop: true})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var f frame.Frame
		next := func() {
			if err := r.Next(&f); err != nil {
				t.Fatal(err)
			}
		}
		for range 200 {
			next()
		}
		if n := testing.AllocsPerRun(100, next); n != 0 {
			t.Errorf("%s: %v allocations a frame, expected none", name, n)
		}
	}
}

func FuzzRecording(f *testing.F) {
	raw := made(2, 12)
	for _, seed := range [][]byte{raw, raw[:500], zipped(raw), zstded(raw), with(raw, 2, 8, 1, 3, 9999),
		{0x28, 0xb5, 0x2f, 0xfd}, {0x1f, 0x8b}} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newRecording("fuzz", frame.Cubes(2), false)
		var out frame.Frame
		err := r.start(bytes.NewReader(data), -1)
		frames := preamble
		for ; err == nil && frames < 5000; frames++ {
			if err = r.Next(&out); err != nil {
				break
			}
			if bad := r.schema.Check(&out); bad != nil {
				t.Fatalf("frame %d is not valid: %v", frames, bad)
			}
		}
		if err != nil && err != io.EOF && !ours(err) {
			t.Fatalf("%v is no error of this package", err)
		}
		if unpack.Detect(data) == unpack.None && err == io.EOF && frames*64 != len(data) {
			t.Fatalf("%d raw bytes gave %d frames of 64", len(data), frames)
		}
	})
}
