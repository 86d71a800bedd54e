package boundedio_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"wirelab/internal/boundedio"
)

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int64{5, 6, 1 << 20} {
		if data, err := boundedio.ReadFile(path, limit); err != nil || string(data) != "12345" {
			t.Errorf("limit %d: %q, %v", limit, data, err)
		}
	}
	for says, try := range map[string]string{path + " has 5 bytes, expected at most 4": path, "is not a regular file": filepath.Dir(path), "no such file": path + "x"} {
		if _, err := boundedio.ReadFile(try, 4); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", try, err, says)
		}
	}
}

// A file whose size the system does not report, such as one that grows while it is read, is not
// truncated.
func TestReadFileOfUnknownSize(t *testing.T) {
	const path = "/proc/self/status"
	if info, err := os.Stat(path); err != nil || info.Size() > 0 {
		t.Skip("no file of unknown size")
	}
	var tooLarge *boundedio.SizeError
	if data, err := boundedio.ReadFile(path, 10); !errors.As(err, &tooLarge) || err.Error() != path+" has more than 10 bytes" {
		t.Errorf("%q, %v", data, err)
	}
	if data, err := boundedio.ReadFile(path, 1<<20); err != nil || len(data) < 11 {
		t.Errorf("%q, %v", data, err)
	}
}

func TestReadAll(t *testing.T) {
	for _, r := range []io.Reader{strings.NewReader("12345"), iotest.OneByteReader(strings.NewReader("12345")), iotest.DataErrReader(strings.NewReader("12345"))} {
		if data, err := boundedio.ReadAll(r, "it", 5); err != nil || string(data) != "12345" {
			t.Errorf("%q, %v", data, err)
		}
	}
	for _, r := range []io.Reader{strings.NewReader("12345"), iotest.OneByteReader(strings.NewReader("12345")), iotest.DataErrReader(strings.NewReader("12345"))} {
		if data, err := boundedio.ReadAll(r, "it", 4); err == nil || err.Error() != "it has more than 4 bytes" {
			t.Errorf("%q, %v", data, err)
		}
	}
	if data, err := boundedio.ReadAll(strings.NewReader(""), "it", 0); err != nil || len(data) > 0 {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := boundedio.ReadAll(iotest.TimeoutReader(strings.NewReader("12")), "it", 4); !errors.Is(err, iotest.ErrTimeout) {
		t.Error(err)
	}
}

// A reader returns all bytes up to the limit before it fails.
func TestReader(t *testing.T) {
	r := boundedio.NewReader(strings.NewReader("12345"), "it", 3)
	var got [8]byte
	n, err := r.Read(got[:])
	var tooLarge *boundedio.SizeError
	if string(got[:n]) != "123" || !errors.As(err, &tooLarge) {
		t.Errorf("%q, %v", got[:n], err)
	}
	if n, err := r.Read(got[:]); n != 0 || !errors.As(err, &tooLarge) {
		t.Errorf("%d bytes more, %v", n, err)
	}
}
