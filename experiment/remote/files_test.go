package remote

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/internal/labtest"
)

// The receiver opens only the files that it was given, whatever path a packet names.
func TestOnlyFiles(t *testing.T) {
	dir := t.TempDir()
	mine, theirs := filepath.Join(dir, "a.zdict"), filepath.Join(dir, "secret")
	for _, name := range []string{mine, theirs} {
		if err := os.WriteFile(name, []byte("a dictionary of some bytes"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	find, err := FindOnly([]string{mine})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := FindOnly([]string{mine, "other/a.zdict"}); err == nil {
		t.Error("no error for two files with the same base name")
	}
	codec := &encoders.Codec{}
	for _, c := range find.restrictedCodecs() {
		if c.Name == "zstd-dict" {
			codec = &c
		}
	}
	s := labtest.NewCubeSource(4, 1, -1, 4).Schema()
	for name, refused := range map[string]bool{mine: false, `C:\games\a.zdict`: false, theirs: true, "/etc/passwd": true, "a.zdict/": true, "": false} {
		params := codec.Defaults()
		if err := encoders.SetParam(params, "dictionary", name); err != nil {
			t.Fatal(err)
		}
		if _, _, err := codec.New(s, params); errors.Is(err, errRefused) != refused {
			t.Errorf("%q: error %v, expected refusal: %v", name, err, refused)
		}
	}
}

// A session whose encoder needs a file starts only if the receiver has the same file.
func TestSessionNeedsFile(t *testing.T) {
	dir := t.TempDir()
	mine, other := filepath.Join(dir, "a.zdict"), filepath.Join(dir, "there", "a.zdict")
	if err := os.Mkdir(filepath.Dir(other), 0o700); err != nil {
		t.Fatal(err)
	}
	codec, err := table.ByName("zstd-dict")
	if err != nil || len(codec.UnsetFiles(codec.Defaults())) != 1 {
		t.Fatal(err)
	}
	for name, text := range map[string]string{mine: "one", other: "two"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := sha256OfFile(mine)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		find FileFinder
		want string
	}{{allFiles, ""}, {noFiles, "was not given"}, {func(string) string { return other }, "differs at the receiver"}} {
		near, end := newPipe(t, 0)
		go func() { _, _ = Serve(context.Background(), end, c.find) }()
		link := NewLink(near, "there")
		request := validSetup()
		request.Files = []setupFile{{mine, sum}}
		link.reset()
		var gone *engine.NetworkError
		if err := link.sendSetup(t.Context(), request); c.want == "" && err != nil || c.want != "" && (!errors.As(err, &gone) || !strings.Contains(gone.Problem, c.want)) {
			t.Errorf("%v, expected %q", err, c.want)
		}
		_ = near.Close()
	}
	cfg := config.Default()
	cfg.Encoder = config.Encoder{Name: "zstd-dict", Params: map[string]any{"dictionary": mine}}
	if list, err := requiredFiles(cfg); err != nil || len(list) != 1 || list[0] != (setupFile{"a.zdict", sum}) {
		t.Errorf("%v, %v", list, err)
	}
}

// Files of the receivers in tests.
func allFiles(name string) string { return name }
func noFiles(string) string       { return "" }
