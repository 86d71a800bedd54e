//go:build unix

package plugin

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"wirelab/encoders"
	"wirelab/internal/panics"
	"wirelab/internal/testkit"
)

// TestMain is also the process that the tests start.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "process" {
		serve(os.Args[2])
		return
	}
	os.Exit(m.Run())
}

// self is the command of a process that behaves as its mode says.
func self(t testing.TB, mode string) string {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return `exec:"` + path + `" process ` + mode
}

// serve is an encoder without ideas, which sends whole tables, and breaks the contract as its
// mode says.
func serve(mode string) {
	in := bufio.NewReader(os.Stdin)
	cells, fields := 0, 0
	var slots [numSlots][]int32
	references := func(r *reader) (into uint32) {
		into = r.u32()
		for range r.u32() {
			slot := r.u32()
			r.u32()
			if r.u32() == 1 {
				slots[slot] = make([]int32, cells)
				fromBytes(slots[slot], r.take(4*len(slots[slot])))
				r.bytes(1 << 20)
				r.bytes(1 << 20)
			} else if slots[slot] == nil {
				panic("a reference that never came")
			}
		}
		return into
	}
	if mode == "flood" {
		for {
			_, _ = os.Stdout.WriteString(strings.Repeat("hello ", 10_000))
		}
	}
	for {
		var head [headerSize]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			if mode == "stays" {
				time.Sleep(time.Hour)
			}
			return
		}
		body := make([]byte, binary.LittleEndian.Uint32(head[:])-8)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		r := &reader{left: body}
		var w writer
		code, kind, number := int32(0), binary.LittleEndian.Uint32(head[8:]), binary.LittleEndian.Uint32(head[4:])
		if kind == askDescribe && mode == "refuses" {
			code, w = -3, writer("no, \x1b[2Jnever")
		} else if kind == askDescribe {
			w.u32(ABI + uint32(len(mode)-len(strings.TrimSuffix(mode, "-version"))))
			w.u32(1)
			for _, text := range []string{"whole", "whole tables", "a test"} {
				if mode == "long-name" {
					text = strings.Repeat("x", 2000)
				}
				w.bytes([]byte(text))
			}
			for _, v := range []uint32{2, suitsTables | suitsCubes, 0, 64, 0} {
				w.u32(v)
			}
		} else if kind == askCreate {
			r.u32()
			r.text()
			rows := int(r.u32())
			r.u32()
			fields = int(r.u32())
			cells = rows * fields
			if mode == "no-create" {
				code, w = -3, writer("too many rows")
			}
		} else {
			into := references(r)
			tick := r.u32()
			table := make([]int32, cells)
			if kind == askEncode {
				fromBytes(table, r.take(4*len(table)))
				var packet writer
				packet.table(table[:min(10, cells)]) // a table of more does not fit into a packet: the tests have few values
				w.bytes(packet)
				w.bytes([]byte{byte(tick)})
				w.u32(uint32(fields + 1))
				for range fields + 1 {
					w.u32(1 << 30) // more than there is
				}
			} else {
				packet := &reader{left: r.bytes(packetRoom)}
				fromBytes(table[:min(10, cells)], packet.take(4*min(10, cells)))
				if packet.bad {
					code = -1
				} else {
					w.table(table)
					w.bytes(nil)
					w.bytes([]byte{byte(tick)})
				}
			}
			slots[into] = table
			switch mode {
			case "hangs":
				time.Sleep(time.Hour)
			case "dies":
				fmt.Fprintf(os.Stderr, "out of\nideas \x1b[2J")
				os.Exit(3)
			case "stderr":
				for range 100 {
					_, _ = os.Stderr.WriteString(strings.Repeat("noise ", 10_000))
				}
			case "family": // a child that holds its pipes
				cmd := exec.Command("sleep", "3600")
				cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
				_ = cmd.Start()
				fmt.Fprintf(os.Stderr, "child %d;", cmd.Process.Pid)
				os.Exit(4)
			case "closes":
				_ = os.Stdout.Close()
				time.Sleep(time.Hour)
			case "huge":
				binary.LittleEndian.PutUint32(head[:], 1<<32-1)
				_, _ = os.Stdout.Write(head[:])
			case "tiny":
				_, _ = os.Stdout.Write(make([]byte, headerSize))
			case "other":
				number++
			case "short":
				w = w[:len(w)-1]
			case "more":
				w = append(w, 0)
			case "long-packet":
				w = nil
				w.bytes(make([]byte, packetRoom+1))
			case "long-memo":
				w = nil
				w.bytes(nil)
				w.bytes(make([]byte, 65))
			case "code":
				code, w = 77, writer("no")
			case "out-of-range":
				if kind == askDecode {
					binary.LittleEndian.PutUint32(w, 1<<30)
				}
			}
		}
		binary.LittleEndian.PutUint32(head[:], uint32(len(w)+8))
		binary.LittleEndian.PutUint32(head[4:], number)
		binary.LittleEndian.PutUint32(head[8:], uint32(code))
		_, _ = os.Stdout.Write(append(head[:], w...))
	}
}

// A panic in a goroutine beside a process is the error of the next call, and Close passes it on.
func TestPanicBesideAProcess(t *testing.T) {
	s, frames := rows(t)
	p, err := Load(t.Context(), self(t, "good"), Options{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	enc, _, err := p.Codecs[0].New(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	panics.Guard(enc.(*end).host.(*processHost).fail, func() { panic("boom") })()
	var b encoders.Budget
	_, _, err = enc.Encode(nil, frames[1], []encoders.Ref{{Frame: frames[0]}}, nil, &b)
	if !errors.Is(err, encoders.ErrBroken) || !errors.As(err, new(*panics.Error)) {
		t.Errorf("encoded with %v", err)
	}
	if err := panics.Call(func() error { p.Close(); return nil }); !errors.As(err, new(*panics.Error)) {
		t.Errorf("closed with %v", err)
	}
}

// Every way of a process to break the contract is an error that names plugin and call, in
// bounded time; what it left behind is ended, and nothing of it stays.
func TestHostileProcesses(t *testing.T) {
	before := runtime.NumGoroutine()
	s, frames := rows(t)
	t.Run("modes", func(t *testing.T) {
		for mode, c := range map[string]struct{ call, says string }{
			"good": {}, "stderr": {}, "stays": {},
			"flood":        {"load", `"hello hello hello hello hello hello hello hello hello hello " stands where an answer is expected`},
			"refuses":      {"load", "WL_REFUSED: no, [2Jnever"},
			"long-name":    {"load", "too short or too long"},
			"bad-version":  {"load", "it is for version 9 of it, expected 1"},
			"no-create":    {"new", "whole does not take rows: too many rows"},
			"hangs":        {"encode", "encode: took longer than 1s"},
			"dies":         {"encode", "encode: it ended: exit status 3; it said: out of / ideas [2J"},
			"family":       {"encode", "exit status 4"},
			"closes":       {"encode", "it closed its input or its output"},
			"huge":         {"encode", "a message of 4294967295 bytes"},
			"tiny":         {"encode", "a message of 0 bytes"},
			"other":        {"encode", "to message 3, expected 2"},
			"short":        {"encode", "too short or too long"},
			"more":         {"encode", "too short or too long"},
			"long-packet":  {"encode", "too long"},
			"long-memo":    {"encode", "too long"},
			"code":         {"encode", "encode: it answers 77: no"},
			"out-of-range": {"decode", "out of range"},
		} {
			t.Run(mode, func(t *testing.T) {
				t.Parallel()
				failed, err := "load", error(nil)
				p, err := Load(t.Context(), self(t, mode), Options{Timeout: time.Second})
				var enc encoders.Encoder
				var dec encoders.Decoder
				if err == nil {
					defer p.Close()
					failed = "new"
					enc, dec, err = p.Codecs[0].New(s, nil)
				}
				refs := []encoders.Ref{{Frame: frames[0]}}
				var packet []byte
				if err == nil {
					failed = "encode"
					var b encoders.Budget
					packet, _, err = enc.Encode([]byte("head"), frames[1], refs, nil, &b)
					if err == nil && b.Total() != int64(len(packet)-4)*8*encoders.BitUnit {
						t.Errorf("an account of %d bits for %d bytes", b.Total()/encoders.BitUnit, len(packet)-4)
					}
				}
				if err == nil {
					failed = "decode"
					for range 2 { // the second time in a new process
						_, err = dec.Decode(s.NewFrame(), packet[4:], refs, nil)
					}
				}
				if err == nil {
					failed = ""
				}
				if failed != c.call || err != nil && (!strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "plugin ")) {
					t.Errorf("%s fails: %v; expected %s: %s", failed, err, c.call, c.says)
				}
				if failed == "encode" && !errors.Is(err, encoders.ErrBroken) || failed == "decode" && !errors.Is(err, encoders.ErrCorrupt) {
					t.Error(err)
				}
				if p != nil {
					p.Close()
					p.alive.mu.Lock() // the host of a collected end may still be removing its process
					n := len(p.alive.list)
					p.alive.mu.Unlock()
					if n > 0 {
						t.Errorf("%d processes are still there", n)
					}
				}
				var child int
				if _, after, ok := strings.Cut(fmt.Sprint(err), "child "); ok && err != nil {
					if _, err := fmt.Sscanf(after, "%d", &child); err != nil {
						t.Fatal(err)
					}
					for i := 0; syscall.Kill(child, 0) == nil && !isZombie(child); i++ {
						if i == 500 {
							t.Fatal("what it started is still there")
						}
						time.Sleep(10 * time.Millisecond)
					}
				} else if mode == "family" {
					t.Error(err)
				}
			})
		}
	})
	for i := 0; runtime.NumGoroutine() > before+2; i++ {
		if i == 500 {
			t.Fatalf("%d goroutines, before there were %d", runtime.NumGoroutine(), before)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// isZombie reports whether a process ended and only waits for whoever took it over.
func isZombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(text), ") Z ")
}

// An interrupt ends processes that do not answer, and what waits for them.
func TestProcessInterrupted(t *testing.T) {
	s, frames := rows(t)
	ctx, cancel := context.WithCancel(t.Context())
	p, err := Load(ctx, self(t, "hangs"), Options{Timeout: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	enc, _, err := p.Codecs[0].New(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, _, err := enc.Encode(nil, frames[1], []encoders.Ref{{Frame: frames[0]}}, nil, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, _, err := p.Codecs[0].New(s, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// More ends than there may be processes take turns, and code as if each had its own.
func TestManyProcesses(t *testing.T) {
	s, frames := rows(t)
	p := load(t, self(t, "good"), Options{})
	const n = maxProcesses/2 + 5
	for range 2 {
		var encs []encoders.Encoder
		for range n {
			enc, _, err := p.Codecs[0].New(s, nil)
			if err != nil {
				t.Fatal(err)
			}
			encs = append(encs, enc)
		}
		for _, enc := range encs {
			if _, _, err := enc.Encode(nil, frames[1], []encoders.Ref{{Frame: frames[0]}}, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := 0; ; i++ {
		p.alive.mu.Lock()
		alive := len(p.alive.list)
		p.alive.mu.Unlock()
		if alive <= maxProcesses {
			break
		}
		if i == 500 {
			t.Fatalf("%d processes", alive)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// A command is cut into words.
func TestSplit(t *testing.T) {
	for text, want := range map[string]string{
		"./a": "./a", "  a  b ": "a|b", `"a b" 'c "d' e"f g"h`: `a b|c "d|ef gh`, `a ""`: "a|", "": "", `"a`: "", `"" a`: "", "  ": "",
	} {
		got, err := split(text)
		if strings.Join(got, "|") != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q %v, expected %q", text, got, err, want)
		}
	}
}

// The programs of the templates keep the contract and code as the one in C does.
func TestProcessTemplates(t *testing.T) {
	for lang, how := range map[string]struct {
		build   []string
		command string
	}{
		"go":     {[]string{"./build", "process"}, "exec:%[1]s/mine"},
		"python": {[]string{"python3", "-c", "import sys; print(sys.executable, end='')"}, "exec:%[2]s %[1]s/mine.py"},
	} {
		t.Run(lang, func(t *testing.T) {
			dir := write(t, lang)
			words := how.build
			if _, err := exec.LookPath(words[0]); lang == "python" && err != nil {
				t.Skipf("NOT RUN: %v", err)
			}
			cmd := exec.Command(words[0], words[1:]...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			p := load(t, fmt.Sprintf(how.command, filepath.ToSlash(dir), out), Options{Timeout: 10 * time.Second})
			keeps(t, p, lang == "go" || testkit.Thorough()) // one in Python takes its time
		})
	}
}

// Both ends of a frame of 901 cubes, with a process that does nothing but hold frames.
func BenchmarkProcess(b *testing.B) {
	p := load(b, self(b, "good"), Options{})
	s, frames := demo(b, 300, 1)
	enc, dec, err := p.Codecs[0].New(s, nil)
	if err != nil {
		b.Fatal(err)
	}
	got := s.NewFrame()
	refs := [2][]encoders.Ref{{{Frame: frames[0]}}, {{Frame: frames[0]}}}
	var buf []byte
	for b.Loop() {
		var m encoders.Memo
		if buf, m, err = enc.Encode(buf[:0], frames[0], refs[0], nil, nil); err != nil {
			b.Fatal(err)
		}
		refs[0][0].Memo = m
		if m, err = dec.Decode(got, buf, refs[1], nil); err != nil && !errors.Is(err, encoders.ErrCorrupt) {
			b.Fatal(err)
		}
		if m != nil {
			refs[1][0].Memo = m
		}
	}
}
