package lossmodel

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirelab/internal/words"
	"wirelab/lossmodel/loss"
	"wirelab/lossmodel/tracefile"
)

// File names of any characters survive conversion to text and back.
func TestFileText(t *testing.T) {
	for _, path := range []string{"a.csv", "off", "my trace.csv", `C:\net\"x".csv`, "a=b", "\tx\n", "5", "sha256=00",
		"naïve.csv", "\xff", "a\"b"} {
		for _, f := range []tracefile.File{{Path: path}, {Path: path, ByTime: true, SHA256: "0123456789abcdef"}} {
			s := DefaultSpec()
			s.Loss, s.Delay.Trace, s.Duplicate.Trace = loss.Trace{File: f}, f, f
			f.ByTime = false
			s.Rate.Trace, s.Delay.Table = f, Table{File: f}
			if err := s.Validate(); err != nil {
				t.Errorf("%q: %v", path, err)
			}
			checkRoundTrip(t, s)
		}
	}
}

// A spec with a file's hash refuses the file after a change.
func TestChangedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my line.trace")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("1\n2\n")
	spec := DefaultSpec()
	if err := spec.Set("rate_trace", words.Quote(path)); err != nil {
		t.Fatal(err)
	}
	link, err := NewLink(spec, 1, "down")
	if err != nil {
		t.Fatal(err)
	}
	pinned, err := spec.Pin(nil)
	if err != nil || pinned != link.Spec() || pinned == spec || len(pinned.Rate.Trace.SHA256) != 16 {
		t.Fatalf("pinned as %+v, %v", pinned.Rate.Trace, err)
	}
	checkRoundTrip(t, pinned)
	write("1\n3\n")
	for _, s := range []Spec{spec, pinned} { // the link has read the file before
		if err := link.Reshape(s); err != nil || link.Spec() != pinned {
			t.Errorf("reshape: %v, %v", err, link.Spec().Rate.Trace)
		}
	}
	if _, err := NewLink(pinned, 1, "down"); !errors.Is(err, tracefile.ErrChanged) || !errors.Is(err, tracefile.ErrFile) {
		t.Errorf("a changed file: %v", err)
	}
	if again, err := spec.Pin(nil); err != nil || again == pinned {
		t.Errorf("another content has the same hash: %v", err)
	}
}

// Invalid files are refused with a reason.
func TestBadFiles(t *testing.T) {
	content := map[string]string{
		"empty": "", "nothing.csv": "seq,send_us,recv_us\n",
		"back.trace": "1\n5\n4\n", "zero.trace": "0\n0\n", "words.trace": "1\ntwo\n", "minus.trace": "-1\n2\n",
		"huge.trace": "99999999999999999999\n", "blank.trace": "\n\n",
		"early.csv": "seq,send_us,recv_us\n0,100,50\n", "slow.csv": "delay_us\n4000000000\n", "noway.csv": "a,b\n1,2\n",
		"losses.csv": "lost\n1\n0\n", "once.csv": "seq,send_us,recv_us\n0,5,9\n1,5,9\n",
		"word.dist": "1 2 x\n", "void.dist": "# nothing\n", "big.dist": "99999999\n", "bits.txt": "01012\n",
	}
	load := func(path string) ([]byte, error) {
		if text, ok := content[path]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}
	for _, c := range []struct{ key, value, says string }{
		{"rate_trace", "missing", "does not exist"},
		{"rate_trace", "empty", "the trace is empty"},
		{"rate_trace", "blank.trace", "the trace is empty"},
		{"rate_trace", "back.trace", "line 3 decreases from 5 ms to 4 ms"},
		{"rate_trace", "zero.trace", "ends at 0 ms"},
		{"rate_trace", "words.trace", "line 2"},
		{"rate_trace", "minus.trace", "line 1"},
		{"rate_trace", "huge.trace", "line 1"},
		{"delay_trace", "nothing.csv", "no packets"},
		{"delay_trace", "empty", "no packets"},
		{"delay_trace", "early.csv", "packet 0 arrives 50µs before it is sent"},
		{"delay_trace", "slow.csv", "packet 0 has a delay of 1h6m40s"},
		{"delay_trace", "noway.csv", "recv_us, delay_us or lost"},
		{"delay_trace", "losses.csv", "delays need a column"},
		{"delay_trace", "once.csv by=time", "by=time needs"},
		{"loss", "trace file=losses.csv by=time", "by=time needs"},
		{"loss", "trace file=missing", "does not exist"},
		{"loss", "pattern file=bits.txt", "byte 5"},
		{"loss", "pattern file=empty", "pattern is empty"},
		{"duplicate_trace", "noway.csv", "missing columns"},
		{"delay_table", "word.dist", "line 1"},
		{"delay_table", "void.dist", "table is empty"},
		{"delay_table", "big.dist", "line 1"},
	} {
		s := DefaultSpec()
		if err := s.Set(c.key, c.value); err != nil {
			t.Errorf("%s = %s: %v", c.key, c.value, err)
			continue
		}
		_, err := NewLinkWith(load, s, 1, "down")
		if !errors.Is(err, tracefile.ErrFile) || !strings.Contains(fmt.Sprint(err), c.says) || !strings.Contains(fmt.Sprint(err), c.key) {
			t.Errorf("%s = %s: error %v does not contain %q", c.key, c.value, err, c.says)
		}
		l, err := NewLinkWith(load, newSpec(t, "loss", "5%"), 1, "down")
		if err != nil {
			t.Fatal(err)
		}
		before := l.Spec()
		if err := l.Reshape(s); err == nil || l.Spec() != before {
			t.Errorf("%s = %s: accepted by Reshape: %v", c.key, c.value, err)
		}
	}
	if _, err := tracefile.ReadFile(t.TempDir()); err == nil {
		t.Error("no error for a directory")
	}
	large := filepath.Join(t.TempDir(), "large.csv")
	if err := errors.Join(os.WriteFile(large, nil, 0o600), os.Truncate(large, tracefile.MaxFile+1)); err != nil {
		t.Fatal(err)
	}
	if _, err := tracefile.ReadFile(large); err == nil || err.Error() != "expected at most 268435456 bytes" {
		t.Errorf("a file that is too large: %v", err)
	}
}

// No file makes a parser panic, and every accepted file gives a working link.
func FuzzFiles(f *testing.F) {
	for _, path := range []string{"capture.csv", "losses.csv", "line.trace", "table.dist", "pattern.txt"} {
		data, err := testFiles(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("0\n0\n4294967295\n"))
	f.Add([]byte("send_us,delay_us\n-5,3600000000\n9,0\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, set := range [][]string{{"trace", "x"}, {"trace", "x by=time"}, {"rate_trace", "x"}, {"loss", "pattern file=x"},
			{"loss", "trace file=x"},
			{"delay_table", "x", "distribution", "table", "jitter", "1h"}} {
			l, err := NewLinkWith(func(string) ([]byte, error) { return bytes.Clone(data), nil }, newSpec(t, set...), 1, "down")
			if err != nil {
				if !errors.Is(err, tracefile.ErrFile) {
					t.Fatal(err)
				}
				continue
			}
			for i := range 20 {
				now := time.Duration(i) * 777 * ms
				if v := l.Send(now, make([]byte, 3000), uint64(i)); v.Lost == None && v.Due < now {
					t.Fatalf("sent at %v, due at %v", now, v.Due)
				}
			}
			drain(l, func(Delivery) {})
		}
	})
}
