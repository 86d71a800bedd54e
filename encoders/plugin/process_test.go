//go:build unix

package plugin

import (
	"bufio"
	"bytes"
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

// TestMain runs the tests, or with the argument "process" the plugin process that the tests start.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "process" {
		serveProcess(os.Args[2])
		return
	}
	os.Exit(m.Run())
}

// processPath returns the plugin path of a process that runs serveProcess(mode).
func processPath(t testing.TB, mode string) string {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return `exec:"` + path + `" process ` + mode
}

// serveProcess is an encoder that sends whole tables. mode selects a violation of the contract; "good"
// selects none.
func serveProcess(mode string) {
	in := bufio.NewReader(os.Stdin)
	cells, fields := 0, 0
	var slots [numSlots][]int32
	var hints []byte // received with mode "hints", which sends them as its packets
	references := func(r *messageReader) (into uint32) {
		into = r.u32()
		for range r.u32() {
			slot := r.u32()
			r.u32()
			if r.u32() == 1 {
				slots[slot] = make([]int32, cells)
				getInt32s(slots[slot], r.next(4*len(slots[slot])))
				r.bytes(1 << 20)
				r.bytes(1 << 20)
			} else if slots[slot] == nil {
				panic("reference to an empty slot")
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
		r := &messageReader{rest: body}
		var w messageWriter
		code, kind, number := int32(0), binary.LittleEndian.Uint32(head[8:]), binary.LittleEndian.Uint32(head[4:])
		if kind == msgDescribe && mode == "refuses" {
			code, w = -3, messageWriter("no, \x1b[2Jnever")
		} else if kind == msgDescribe {
			w.u32(abiVersion + uint32(len(mode)-len(strings.TrimSuffix(mode, "-version"))))
			w.u32(1)
			for _, text := range []string{"whole", "whole tables", "a test"} {
				if mode == "long-name" {
					text = strings.Repeat("x", 2000)
				}
				w.bytes([]byte(text))
			}
			flags := uint32(0)
			if mode == "hints" {
				flags = flagHints
			}
			for _, v := range []uint32{2, suitsTables | suitsCubes, flags, 64, 0} {
				w.u32(v)
			}
		} else if kind == msgCreate {
			r.u32()
			r.text()
			rows := int(r.u32())
			r.u32()
			fields = int(r.u32())
			cells = rows * fields
			if mode == "hints" {
				for range fields {
					r.text()
					r.next(16) // kind, minimum, maximum and scale
				}
				r.u32() // no params
				hints = bytes.Clone(r.rest)
			}
			if mode == "no-create" {
				code, w = -3, messageWriter("too many rows")
			}
			if strings.HasPrefix(mode, "family") { // with a child, which inherits the pipes
				cmd := exec.Command("sleep", "3600")
				cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
				_ = cmd.Start()
				fmt.Fprintf(os.Stderr, "child %d;", cmd.Process.Pid)
			}
		} else {
			into := references(r)
			tick := r.u32()
			table := make([]int32, cells)
			if kind == msgEncode {
				getInt32s(table, r.next(4*len(table)))
				var packet messageWriter
				packet.table(table[:min(10, cells)]) // the tests have few values
				if mode == "hints" {
					packet = hints
				}
				w.bytes(packet)
				w.bytes([]byte{byte(tick)})
				w.u32(uint32(fields + 1))
				for range fields + 1 {
					w.u32(1 << 30) // more than the packet has
				}
			} else {
				packet := &messageReader{rest: r.bytes(maxPacket)}
				getInt32s(table[:min(10, cells)], packet.next(4*min(10, cells)))
				if packet.failed {
					code = -1
				} else {
					w.table(table)
					w.bytes(nil)
					w.bytes([]byte{byte(tick)})
				}
			}
			slots[into] = table
			switch mode {
			case "hangs", "family-hangs":
				fmt.Fprint(os.Stderr, "hangs;")
				time.Sleep(time.Hour)
			case "dies":
				fmt.Fprintf(os.Stderr, "out of\nideas \x1b[2J")
				os.Exit(3)
			case "stderr":
				for range 100 {
					_, _ = os.Stderr.WriteString(strings.Repeat("noise ", 10_000))
				}
			case "family-dies":
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
				w.bytes(make([]byte, maxPacket+1))
			case "long-memo":
				w = nil
				w.bytes(nil)
				w.bytes(make([]byte, 65))
			case "code":
				code, w = 77, messageWriter("no")
			case "out-of-range":
				if kind == msgDecode {
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

// A panic in a goroutine of a process is returned by the next call, and Close panics with it.
func TestPanicInProcessGoroutine(t *testing.T) {
	s, frames := smallTable(t)
	p, err := Load(t.Context(), processPath(t, "good"), Options{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	enc, _, err := p.Codecs[0].New(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	panics.Guard(enc.(*codec).host.(*processHost).fail, func() { panic("boom") })()
	var b encoders.Budget
	_, _, err = enc.Encode(nil, frames[1], []encoders.Ref{{Frame: frames[0]}}, nil, &b)
	if !errors.Is(err, encoders.ErrBroken) || !errors.As(err, new(*panics.Error)) {
		t.Errorf("encoded with %v", err)
	}
	if err := panics.Call(func() error { p.Close(); return nil }); !errors.As(err, new(*panics.Error)) {
		t.Errorf("closed with %v", err)
	}
}

// Each violation of the contract by a process is an error that names plugin and call, in limited time. No
// process, child or goroutine remains.
func TestProcessContractViolations(t *testing.T) {
	before := runtime.NumGoroutine()
	s, frames := smallTable(t)
	t.Run("modes", func(t *testing.T) {
		for mode, c := range map[string]struct{ call, text string }{
			"good": {}, "stderr": {}, "stays": {},
			"flood":        {"load", `standard output has "hello hello hello hello hello hello hello hello hello hello "`},
			"refuses":      {"load", "WL_REFUSED: no, [2Jnever"},
			"long-name":    {"load", "too short or too long"},
			"bad-version":  {"load", "version 9 of the contract, expected 1"},
			"no-create":    {"new", "whole does not accept rows: too many rows"},
			"hangs":        {"encode", "encode: took longer than 10ms"},
			"dies":         {"encode", "encode: the process ended: exit status 3; standard error: out of / ideas [2J"},
			"family-dies":  {"encode", "exit status 4"},
			"family-hangs": {"encode", "encode: took longer than 10ms"},
			"closes":       {"encode", "closed its input or output"},
			"huge":         {"encode", "size of 4294967295 bytes"},
			"tiny":         {"encode", "size of 0 bytes"},
			"other":        {"encode", "answers message 3, expected 2"},
			"short":        {"encode", "too short or too long"},
			"more":         {"encode", "too short or too long"},
			"long-packet":  {"encode", "too long"},
			"long-memo":    {"encode", "too long"},
			"code":         {"encode", "encode: returned 77: no"},
			"out-of-range": {"decode", "out of range"},
		} {
			t.Run(mode, func(t *testing.T) {
				t.Parallel()
				opt := Options{Timeout: time.Minute, exitGrace: time.Minute}
				switch mode {
				case "hangs", "family-hangs":
					opt.timeouts = map[string]time.Duration{"encode": 10 * time.Millisecond}
				case "closes", "flood", "stays":
					opt.exitGrace = 10 * time.Millisecond
				}
				failed, err := "load", error(nil)
				p, err := Load(t.Context(), processPath(t, mode), opt)
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
						t.Errorf("%d bits are charged for %d bytes", b.Total()/encoders.BitUnit, len(packet)-4)
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
				if failed != c.call || err != nil && (!strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), "plugin ")) {
					t.Errorf("%s fails: %v; expected %s: %s", failed, err, c.call, c.text)
				}
				if failed == "encode" && !errors.Is(err, encoders.ErrBroken) || failed == "decode" && !errors.Is(err, encoders.ErrCorrupt) {
					t.Error(err)
				}
				if p != nil {
					p.Close()
					p.processes.mu.Lock() // the cleanup of a collected codec may still be removing its process
					n := len(p.processes.list)
					p.processes.mu.Unlock()
					if n > 0 {
						t.Errorf("%d processes remain", n)
					}
				}
				var child int
				if _, after, ok := strings.Cut(fmt.Sprint(err), "child "); ok && err != nil {
					if _, err := fmt.Sscanf(after, "%d", &child); err != nil {
						t.Fatal(err)
					}
					waitForEnd(t, child)
				} else if strings.HasPrefix(mode, "family") {
					t.Error(err)
				}
			})
		}
	})
	testkit.WaitFor(t, "the end of all goroutines", func() bool { return runtime.NumGoroutine() <= before+2 })
}

// waitForEnd waits until a process has exited.
func waitForEnd(t *testing.T, pid int) {
	t.Helper()
	testkit.WaitFor(t, "the end of a child of the process", func() bool { return syscall.Kill(pid, 0) != nil || isZombie(pid) })
}

// isZombie reports whether a process has exited but has not been waited for.
func isZombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(text), ") Z ")
}

// Canceling the context ends running calls and the descendants of their processes, and later calls fail.
func TestProcessInterrupted(t *testing.T) {
	s, frames := smallTable(t)
	ctx, cancel := context.WithCancel(t.Context())
	p, err := Load(ctx, processPath(t, "family-hangs"), Options{Timeout: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	enc, _, err := p.Codecs[0].New(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	stderr := &enc.(*codec).host.(*processHost).stderrTail
	encoded := make(chan error)
	go func() {
		_, _, err := enc.Encode(nil, frames[1], []encoders.Ref{{Frame: frames[0]}}, nil, nil)
		encoded <- err
	}()
	testkit.WaitFor(t, "a call that hangs", func() bool { return strings.Contains(stderr.summary(), "hangs;") })
	cancel()
	if err := <-encoded; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, _, err := p.Codecs[0].New(s, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	waitForEnd(t, childOf(t, stderr))
}

// childOf returns the id of the child that a process has reported in its standard error.
func childOf(t *testing.T, stderr *tail) (child int) {
	t.Helper()
	if _, err := fmt.Sscanf(stderr.summary(), "child %d;", &child); err != nil {
		t.Fatalf("no child in %q: %v", stderr.summary(), err)
	}
	return child
}

// Each encoder and each decoder has a process of its own. After Close no process is left, nor any child of one.
func TestCloseEndsProcesses(t *testing.T) {
	s, frames := smallTable(t)
	p := load(t, processPath(t, "family"), Options{})
	const n = 10
	ids := map[int]bool{}
	var ends []*codec // encoders and decoders; one that is garbage would end its process
	for range n {
		enc, dec, err := p.Codecs[0].New(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := enc.Encode(nil, frames[1], []encoders.Ref{{Frame: frames[0]}}, nil, nil); err != nil {
			t.Fatal(err)
		}
		for _, end := range []*codec{enc.(*codec), dec.(*codec)} {
			ends = append(ends, end)
			x := end.host.(*processHost).process
			testkit.WaitFor(t, "a child of the process", func() bool { return strings.Contains(x.stderrTail.summary(), ";") })
			ids[x.cmd.Process.Pid], ids[childOf(t, &x.stderrTail)] = true, true
		}
	}
	if len(ids) != 4*n || len(p.processes.list) != 2*n {
		t.Errorf("%d processes and children, %d processes in the list, want %d and %d", len(ids), len(p.processes.list), 4*n, 2*n)
	}
	p.Close()
	for id := range ids {
		waitForEnd(t, id)
	}
	if len(p.processes.list) > 0 {
		t.Errorf("%d processes are left", len(p.processes.list))
	}
	runtime.KeepAlive(ends)
}

// splitCommand splits a command into words.
func TestSplit(t *testing.T) {
	for text, want := range map[string]string{
		"./a": "./a", "  a  b ": "a|b", `"a b" 'c "d' e"f g"h`: `a b|c "d|ef gh`, `a ""`: "a|", "": "", `"a`: "", `"" a`: "", "  ": "",
	} {
		got, err := splitCommand(text)
		if strings.Join(got, "|") != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q %v, expected %q", text, got, err, want)
		}
	}
}

// The templates for processes meet the contract and write the same packets as deltaEncode.
func TestProcessTemplates(t *testing.T) {
	for lang, how := range map[string]struct {
		build   []string
		command string
	}{
		"go":     {[]string{"./build", "process"}, "exec:%[1]s/mine"},
		"python": {[]string{"python3", "-c", "import sys; print(sys.executable, end='')"}, "exec:%[2]s %[1]s/mine.py"},
	} {
		t.Run(lang, func(t *testing.T) {
			dir := writeTemplate(t, lang)
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
			p := load(t, fmt.Sprintf(how.command, filepath.ToSlash(dir), out), Options{})
			checkExample(t, p, lang == "go" || testkit.Thorough()) // Python is slow
		})
	}
}

// BenchmarkProcess measures a process that only stores frames: encode and decode of a frame of 901 cubes.
func BenchmarkProcess(b *testing.B) {
	p := load(b, processPath(b, "good"), Options{})
	s, frames := demoFrames(b, 1)
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
