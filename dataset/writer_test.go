package dataset

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/internal/unpack"
)

// record writes the frames of src to path.
func record(t *testing.T, path string, cubes int, raw []byte) {
	t.Helper()
	src, err := openRecording(t.Context(), file(t, "src.bin", raw), Options{Cubes: cubes})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	w, err := Create(nil, path, cubes)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	f := src.Schema().NewFrame()
	src.Initial(f)
	if err := w.Initial(f); err != nil {
		t.Fatal(err)
	}
	for src.Next(f) == nil {
		if err := w.Write(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// A written recording equals one built by hand, with every compression, and no other file is left
// in the folder.
func TestWriter(t *testing.T) {
	raw := made(3, 25)
	dir := t.TempDir()
	for _, name := range []string{"a.bin", "a.gz", "a.zst"} {
		path := filepath.Join(dir, name)
		record(t, path, 3, raw)
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if name == "a.bin" && !bytes.Equal(got, raw) {
			t.Errorf("%s: other bytes than expected", name)
		}
		if want := unpack.FromPath(name); unpack.Detect(got) != want {
			t.Errorf("%s: packed as %d, expected %d", name, unpack.Detect(got), want)
		}
		a, errA := describe(path, Options{Cubes: 3}, 0)
		b, errB := describe(filepath.Join(dir, "a.bin"), Options{Cubes: 3}, 0)
		if errA != nil || errB != nil || a != b {
			t.Errorf("%s: %+v %v, expected %+v %v", name, a, errA, b, errB)
		}
	}
	if list, _ := os.ReadDir(dir); len(list) != 3 {
		t.Errorf("the folder holds %v, expected three recordings", list)
	}
}

// An incomplete recording changes no file.
func TestIncompleteRecording(t *testing.T) {
	f := frame.Cubes(2).NewFrame()
	bad := frame.Cubes(2).NewFrame()
	bad.Table[frame.CubeFields+frame.CubeB] = 600
	for name, use := range map[string]func(w *recordingWriter) error{
		"aborted":   func(w *recordingWriter) error { w.Initial(f); w.Write(f); w.Abort(); return source.ErrClosed },
		"too short": func(w *recordingWriter) error { w.Initial(f); return w.Close() },
		"empty":     func(w *recordingWriter) error { return w.Close() },
		"bad value": func(w *recordingWriter) error { w.Initial(f); defer w.Abort(); return w.Write(bad) },
		"bad start": func(w *recordingWriter) error { defer w.Abort(); return w.Initial(bad) },
		"bad value that nobody heeds": func(w *recordingWriter) error {
			w.Initial(f)
			w.Write(f)
			w.Write(bad)
			w.Write(f)
			return w.Close()
		},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "old.zst")
		if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
		w, err := Create(nil, path, 2)
		if err != nil {
			t.Fatal(err)
		}
		err = use(w)
		if !errors.Is(err, source.ErrClosed) && !errors.Is(err, ErrFormat) && !errors.Is(err, frame.ErrRange) {
			t.Errorf("%s: %v", name, err)
		}
		if strings.HasPrefix(name, "bad") && !strings.Contains(err.Error(), "cube 1, field b: value out of range: 600, expected 0..511") {
			t.Errorf("%s: %v", name, err)
		}
		if err := w.Close(); !errors.Is(err, source.ErrClosed) {
			t.Errorf("%s: Close once more: %v, expected %v", name, err, source.ErrClosed)
		}
		if old, _ := os.ReadFile(path); string(old) != "old" {
			t.Errorf("%s: what was there is now %q", name, old)
		}
		if list, _ := os.ReadDir(dir); len(list) != 1 {
			t.Errorf("%s: the folder holds %v, expected the old file alone", name, list)
		}
	}
}

func TestCreateFailsEarly(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"", dir, filepath.Join(dir, "no", "such", "folder.bin")} {
		if w, err := Create(nil, path, 0); err == nil {
			w.Abort()
			t.Errorf("%q can be created, expected an error", path)
		}
	}
	if w, err := Create(nil, filepath.Join(dir, "x.bin"), MaxCubes+1); !errors.Is(err, ErrSpec) {
		w.Abort()
		t.Errorf("too many cubes: %v, expected %v", err, ErrSpec)
	}
}

// A recording never replaces something that is not a regular file: as root, --out /dev/null would
// replace the device.
func TestCreateRefusesDevices(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "socket")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Skipf("no sockets among files here: %v", err)
	}
	defer l.Close()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(socket, link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	for _, path := range []string{socket, link} {
		if _, err := Create(nil, path, 0); !errors.Is(err, ErrSpec) {
			t.Errorf("%s: %v, expected %v", path, err, ErrSpec)
		}
	}
	if list, _ := os.ReadDir(dir); len(list) != 2 {
		t.Errorf("the folder holds %v, expected the socket and the link", list)
	}
}

// A recording is written to the target of a link. The name of the link determines the compression.
// A link without a target is refused.
func TestCreateFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.Mkdir(path("folder"), 0o700), os.WriteFile(path("folder/file"), []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink("folder/file", path("link.zst")), os.Symlink("none", path("nothing"))); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if _, err := Create(nil, path("nothing"), 0); !errors.Is(err, ErrSpec) {
		t.Errorf("a link to nothing: %v, expected %v", err, ErrSpec)
	}
	w, err := Create(nil, path("link.zst"), 1)
	if err != nil {
		t.Fatal(err)
	}
	f := w.schema.NewFrame()
	if err := errors.Join(w.Initial(f), w.Write(f), w.Close()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path("link.zst")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is one no more: %v, %v", info.Mode(), err)
	}
	if b, err := os.ReadFile(path("folder/file")); err != nil || len(b) < 4 || string(b[:4]) != "\x28\xb5\x2f\xfd" {
		t.Errorf("the file begins with %x, %v, expected a zstd frame", b[:min(4, len(b))], err)
	}
}

func TestWriteFailsWhenTheDiskIsFull(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /dev/full")
	}
	w, err := Create(nil, filepath.Join(t.TempDir(), "a.bin"), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("needs /dev/full")
	}
	defer full.Close()
	w.buf.Reset(full)
	f := frame.Cubes(901).NewFrame()
	for range 20 {
		if err = w.write(f); err != nil {
			break
		}
	}
	if err == nil {
		t.Fatal("wrote to a full disk without an error")
	}
	if again := w.Close(); again == nil || again.Error() != err.Error() {
		t.Errorf("Close returns %v, expected the first error, %v", again, err)
	}
}
