package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
)

// writeFiles writes files with their names as contents into a new folder, and returns their paths.
func writeFiles(t *testing.T, names ...string) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		paths = append(paths, filepath.Join(dir, name))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// The receiver opens only the files that it was given, whatever path a packet names.
func TestOnlyFiles(t *testing.T) {
	paths := writeFiles(t, "a.zdict", "secret")
	find, err := FindOnly(paths[:1])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := FindOnly([]string{paths[0], "other/a.zdict"}); err == nil {
		t.Error("no error for two files with the same base name")
	}
	codec := &encoders.Codec{}
	for _, c := range find.restrictedCodecs() {
		if c.Name == "zstd-dict" {
			codec = &c
		}
	}
	s := labtest.NewCubeSource(4, 1, -1, 4).Schema()
	for name, refused := range map[string]bool{paths[0]: false, `C:\games\a.zdict`: false, paths[1]: true, "/etc/passwd": true, "a.zdict/": true, "": false} {
		params := codec.Defaults()
		if err := encoders.SetParam(params, "dictionary", name); err != nil {
			t.Fatal(err)
		}
		if _, _, err := codec.New(s, params); errors.Is(err, errRefused) != refused {
			t.Errorf("%q: error %v, expected refusal: %v", name, err, refused)
		}
	}
}

// A session whose encoder needs a file requires the same file at the receiver, whatever its path.
func TestSessionNeedsFile(t *testing.T) {
	paths := writeFiles(t, "a.zdict", "other")
	c := config.Default()
	c.Encoder = config.Encoder{Name: "zstd-dict", Params: map[string]any{"dictionary": paths[0]}}
	list, err := requiredFiles(c)
	sum := sha256.Sum256([]byte("a.zdict"))
	if err != nil || len(list) != 1 || list[0] != (setupFile{"a.zdict", hex.EncodeToString(sum[:])}) {
		t.Fatalf("%v, %v", list, err)
	}
	for want, path := range map[string]string{"": paths[0], "was not given": "", "differs at the receiver": paths[1], "cannot read": "missing"} {
		err := FileFinder(func(string) string { return path }).check(list)
		if want == "" && err != nil || want != "" && (!errors.Is(err, errRefused) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}

// noFiles is a FileFinder without files.
func noFiles(string) string { return "" }
