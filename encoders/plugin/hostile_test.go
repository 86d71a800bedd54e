package plugin

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"wirelab/encoders"
)

// The timeout also ends endless loops in _initialize, wl_abi, wl_describe and wl_alloc.
func TestEndlessLoopOutsideOfCalls(t *testing.T) {
	s, _ := demoFrames(t, 1)
	for loop, call := range map[int]string{1: "wl_abi", 2: "wl_alloc", 3: "wl_describe", 4: "_initialize"} {
		p, err := Load(t.Context(), fmt.Sprintf("testdata/loops%d.wasm", loop), Options{Timeout: time.Minute,
			timeouts: map[string]time.Duration{call: 150 * time.Millisecond}})
		if err == nil {
			_, _, err = p.Codecs[0].New(s, nil)
			p.Close()
		}
		if err == nil || !strings.Contains(err.Error(), call+": took longer than 150ms") {
			t.Errorf("%s: %v", call, err)
		}
	}
}

// Load gives up a module that takes too long to compile.
func TestSlowCompilation(t *testing.T) {
	_, err := Load(t.Context(), "testdata/delta.wasm", Options{compileTime: -time.Nanosecond}) // has passed already
	if !errors.Is(err, errContract) || !strings.Contains(err.Error(), "compiling the module took longer than") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Load(ctx, "testdata/delta.wasm", Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// After maxLateCalls late calls a plugin is no longer called, so that the session continues.
func TestLateCallsAreLimited(t *testing.T) {
	p := load(t, "testdata/evil.wasm", Options{timeouts: map[string]time.Duration{"wl_encode": 20 * time.Millisecond}})
	s, frames := demoFrames(t, 2)
	loops := p.Codecs[0].Defaults()
	if err := encoders.SetParam(loops, "evil", 2); err != nil {
		t.Fatal(err)
	}
	enc, _, err := p.Codecs[0].New(s, loops)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		_, _, err := enc.Encode(nil, frames[1], []encoders.Ref{{Frame: frames[0]}}, nil, nil)
		if !errors.Is(err, encoders.ErrBroken) || strings.Contains(err.Error(), "no further calls") != (i >= maxLateCalls) {
			t.Fatalf("call %d: %v", i, err)
		}
	}
}

// The memory of instances that were closed after an error is freed.
func TestBrokenInstancesAreFreed(t *testing.T) {
	p := load(t, "testdata/evil.wasm", Options{Memory: 64 << 20})
	s, frames := demoFrames(t, 2)
	traps := p.Codecs[0].Defaults()
	if err := encoders.SetParam(traps, "evil", 15); err != nil { // in the decoder
		t.Fatal(err)
	}
	_, dec, err := p.Codecs[0].New(s, traps)
	if err != nil {
		t.Fatal(err)
	}
	heapSize := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	packet := deltaEncode(frames[1].Table, frames[0].Table)
	before := heapSize()
	for range 200 { // an instance has some 300 kB
		if _, err := dec.Decode(s.NewFrame(), packet, []encoders.Ref{{Frame: frames[0]}}, nil); !errors.Is(err, encoders.ErrCorrupt) {
			t.Fatal(err)
		}
	}
	if after := heapSize(); after > before+16<<20 {
		t.Errorf("%d MB are not freed", (after-before)>>20)
	}
	runtime.KeepAlive(dec)
}

// Several goroutines can use encoders of one plugin at once, as shadows and sweeps do.
func TestConcurrentSessions(t *testing.T) {
	p := load(t, "testdata/delta.wasm", Options{})
	s, frames := demoFrames(t, 20)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			enc, dec, err := p.Codecs[0].New(s, nil)
			if err != nil {
				t.Error(err)
				return
			}
			got := s.NewFrame()
			var memos [2]encoders.Memo
			for i := 1; i < len(frames); i++ {
				var packet []byte
				if packet, memos[0], err = enc.Encode(nil, frames[i], []encoders.Ref{{Frame: frames[i-1], Memo: memos[0]}}, nil, nil); err != nil {
					t.Error(err)
					return
				}
				if string(packet) != string(deltaEncode(frames[i].Table, frames[i-1].Table)) {
					t.Errorf("frame %d: unexpected packet", i)
				}
				if memos[1], err = dec.Decode(got, packet, []encoders.Ref{{Frame: frames[i-1], Memo: memos[1]}}, nil); err != nil || !got.Equal(frames[i]) {
					t.Errorf("frame %d: %v", i, err)
					return
				}
			}
		})
	}
	all.Wait()
}

// Parameters that violate the contract are rejected.
func TestParamCheck(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		q  param
		ok bool
	}{
		{param{name: "a", kind: paramInt, initial: 1, min: 0, max: 2}, true},
		{param{name: "a", kind: paramInt, initial: 0, min: -1 << 31, max: 1<<31 - 1}, true},
		{param{name: "a", kind: paramInt, initial: 0, min: 0, max: 1 << 31}, false},
		{param{name: "a", kind: paramInt, initial: 0, min: 0, max: .5}, false},
		{param{name: "a", kind: paramInt, initial: 3, min: 0, max: 2}, false},
		{param{name: "a", kind: paramNumber, initial: .5, min: 0, max: 1e15}, true},
		{param{name: "a", kind: paramNumber, initial: .5, min: 0, max: 1e16}, false},
		{param{name: "a", kind: paramNumber, initial: nan, min: 0, max: 1}, false},
		{param{name: "a", kind: paramNumber, initial: 0, min: nan, max: nan}, false},
		{param{name: "a", kind: paramNumber, initial: 0, min: -inf, max: inf}, false},
		{param{name: "a", kind: paramNumber, initial: 0, min: 1, max: -1}, false},
		{param{name: "a", kind: paramBool, initial: 1}, true},
		{param{name: "a", kind: paramBool, initial: 2}, false},
		{param{name: "a", kind: 7, initial: 0, max: 1}, false},
		{param{name: "A", kind: paramBool}, false},
		{param{name: "a\x1b[2J", kind: paramBool}, false},
	} {
		if err := c.q.check(); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.q, err)
		}
	}
	if _, err := newParamStruct([]param{{name: "a", kind: paramBool}, {name: "a", kind: paramBool}}); err == nil {
		t.Error("two parameters with one name are accepted")
	}
	quotes := param{name: "a", kind: paramNumber, help: "a `\"quoted\" \\word:\"x\"` \x1b[2J\n", unit: `"`, max: 1}
	if err := quotes.check(); err != nil {
		t.Fatal(err)
	}
	params, err := newParamStruct([]param{quotes})
	if err != nil {
		t.Fatal(err)
	}
	info := (&encoders.Codec{Params: params}).ParamInfo()
	if info[0].Help != "a `\"quoted\" \\word:\"x\"` [2J" || info[0].Unit != `"` {
		t.Errorf("%q %q", info[0].Help, info[0].Unit)
	}
}

// Load rejects a file that is too large.
func TestLoadTooLargeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.wasm")
	if err := os.WriteFile(path, []byte("\x00asm\x01\x00\x00\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, maxFile+1); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(t.Context(), path, Options{}); err == nil || !strings.Contains(err.Error(), "expected at most 67108864") {
		t.Error(err)
	}
}

// pruneCache removes the oldest files.
func TestPruneCache(t *testing.T) {
	dir := t.TempDir()
	for i := range 5 {
		path := filepath.Join(dir, "sub", fmt.Sprint(i))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, maxCacheSize/2-1); err != nil {
			t.Fatal(err)
		}
		then := time.Unix(int64(1_000_000+i), 0)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
	}
	pruneCache(dir)
	left, err := os.ReadDir(filepath.Join(dir, "sub"))
	if err != nil || len(left) != 2 || left[0].Name() != "3" {
		t.Errorf("%v %v", left, err)
	}
	pruneCache(filepath.Join(dir, "none"))
}
