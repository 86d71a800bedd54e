package patch

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"wirelab/internal/testkit"
)

// bsdiff has the size of bsdiff 4's patch for each pair (../shared/spec/patch.md).
var bsdiff = map[string]int64{
	"deb-tzdata-2025b-2026b": 96_929, "deb-php82-32-35": 461_937, "elf-fzf-60-61": 174_652,
	"wasm-jolt-33-34": 397_848, "npm-three-163-164": 30_363, "vid-parallax": 24_473,
	"bin-rollup-linux-4.17.0-1": 153, "go-xtools-20-21": 21_044, "pe-flappy-2.8.0-6": 162_573,
}

// readPair unpacks the files old and new of an archive into a directory.
func readPair(t testing.TB, archive, dir string) {
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			b, err := io.ReadAll(r)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, path.Base(h.Name)), b, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestPairs makes and applies patches for pairs of real files. A patch may be at most 1.05 times as large as
// that of bsdiff for each pair and 0.65 times for all, and applying may take at most 10 MB. The thorough test
// level 1 uses only pairs of up to 2.1 MB compressed, one of them an executable.
func TestPairs(t *testing.T) {
	if !testkit.Thorough() {
		t.Skip("takes 77 MB of files; set WIRELAB_THOROUGH=1")
	}
	archives, _ := filepath.Glob("../../../shared/data/pairs/*.tar.zst")
	if len(archives) == 0 {
		t.Skip("no pairs of files in ../shared/data/pairs")
	}
	var total, theirs int64
	for _, archive := range archives {
		name := strings.TrimSuffix(filepath.Base(archive), ".tar.zst")
		info, err := os.Stat(archive)
		if err != nil {
			t.Fatal(err)
		}
		if bsdiff[name] == 0 || info.Size() > 2_100_000 && !testkit.Long() {
			continue
		}
		dir := t.TempDir()
		readPair(t, archive, dir)
		old, new, patch, out := filepath.Join(dir, "old"), filepath.Join(dir, "new"), filepath.Join(dir, "patch"), filepath.Join(dir, "out")
		stats, err := MakeFile(old, new, patch, Options{})
		if err != nil {
			t.Fatal(err)
		}
		peak := measurePeak(func() { _, err = ApplyFile(nil, old, patch, out, nil) })
		if err != nil {
			t.Fatal(err)
		}
		want, _ := os.ReadFile(new)
		if got, _ := os.ReadFile(out); !bytes.Equal(got, want) {
			t.Fatalf("%s: the result differs from the new file", name)
		}
		t.Logf("%-26s %8d bytes, %.3f of bsdiff, applied in %.1f MB", name, stats.Size,
			float64(stats.Size)/float64(bsdiff[name]), float64(peak)/1e6)
		if stats.Size*100 > bsdiff[name]*105 {
			t.Errorf("%s: %d bytes; bsdiff needs %d", name, stats.Size, bsdiff[name])
		}
		if peak > applyLimit {
			t.Errorf("%s: %d bytes of memory to apply; expected at most %d", name, peak, applyLimit)
		}
		total, theirs = total+stats.Size, theirs+bsdiff[name]
	}
	t.Logf("all %d bytes, %.3f of bsdiff", total, float64(total)/float64(theirs))
	if total*100 > theirs*65 {
		t.Errorf("%d bytes in all; bsdiff needs %d", total, theirs)
	}
}
