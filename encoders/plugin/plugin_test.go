package plugin

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/hostile"
	"wirelab/encoders/internal/recording"
)

// load loads a plugin and closes it after the test.
func load(t testing.TB, path string, opt Options) *Plugin {
	t.Helper()
	opt.Timeout = cmp.Or(opt.Timeout, time.Minute) // only a call that hangs reaches it
	p, err := Load(context.Background(), path, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// demoFrames returns n frames from the middle of the demo.
func demoFrames(t testing.TB, n int) (*frame.Schema, []*frame.Frame) {
	t.Helper()
	const first = recording.BaselineAge + 300
	return frame.Cubes(frame.WalkoffCubes), recording.Demo(t, first, first+n)
}

// smallTable returns two frames of a small table.
func smallTable(t testing.TB) (*frame.Schema, []*frame.Frame) {
	t.Helper()
	s := &frame.Schema{Name: "rows", Item: "row", Rows: 5, TickHz: 60, Fields: []frame.Field{{Name: "x", Max: 1000}, {Name: "y", Max: 1000}}}
	return s, syntheticFrames(s, 2)
}

// deltaEncode returns the packet that templates/c/encoder.c writes.
func deltaEncode(cur, base []int32) (out []byte) {
	last := -1
	for i, v := range cur {
		if v != base[i] {
			out = binary.AppendUvarint(out, uint64(i-last-1))
			d := v - base[i]
			out = binary.AppendUvarint(out, uint64(uint32(d<<1^d>>31)))
			last = i
		}
	}
	return out
}

// The example in C writes the same packets as deltaEncode, whether the reference is still in a slot of the
// module or has to be sent again.
func TestExampleModule(t *testing.T) {
	p := load(t, "testdata/delta.wasm", Options{})
	if len(p.Codecs) != 1 || p.Codecs[0].Name != "delta-c" || p.Codecs[0].Refs != 1 || p.Codecs[0].Runtime() == "" {
		t.Fatalf("%+v", p.Codecs)
	}
	s, frames := demoFrames(t, 40)
	enc, dec, err := p.Codecs[0].New(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := s.NewFrame()
	memos := make([][2]encoders.Memo, len(frames))
	for i := 1; i < len(frames); i++ {
		at := max(i-6, 0)
		if i > 30 {
			at = i - 25 // no longer in a slot
		}
		var b encoders.Budget
		packet, m, err := enc.Encode(nil, frames[i], []encoders.Ref{{Frame: frames[at], Memo: memos[at][0]}}, nil, &b)
		if err != nil {
			t.Fatal(err)
		}
		if want := deltaEncode(frames[i].Table, frames[at].Table); string(packet) != string(want) {
			t.Fatalf("frame %d: %d bytes, expected %d", i, len(packet), len(want))
		}
		if b.Total() != int64(len(packet))*8*encoders.BitUnit {
			t.Errorf("frame %d: %d bits are charged, the packet has %d", i, b.Total()/encoders.BitUnit, 8*len(packet))
		}
		got.Tick = frames[i].Tick
		m2, err := dec.Decode(got, packet, []encoders.Ref{{Frame: frames[at], Memo: memos[at][1]}}, nil)
		if err != nil || !got.Equal(frames[i]) {
			t.Fatalf("frame %d: %v", i, err)
		}
		memos[i] = [2]encoders.Memo{m, m2}
	}
}

// Each violation of the contract is an error that names plugin and call, in limited time and memory. The next
// call works again.
func TestContractViolations(t *testing.T) {
	patient := load(t, "testdata/evil.wasm", Options{Memory: 16 << 20})
	const short = 400 * time.Millisecond
	limited := load(t, "testdata/evil.wasm", Options{Memory: 16 << 20,
		timeouts: map[string]time.Duration{"wl_encode": short, "wl_decode": short}})
	s, frames := demoFrames(t, 2)
	refs := []encoders.Ref{{Frame: frames[0]}}
	want := deltaEncode(frames[1].Table, frames[0].Table)
	for evil, c := range map[int]struct {
		text string
		call string // new, encode or decode; empty if nothing fails
	}{
		0: {}, 10: {}, // 10 allocates as much memory as possible
		1: {"wl_encode: wasm error: unreachable", "encode"}, 2: {"wl_encode: took longer than 400ms", "encode"},
		3: {"65537 bytes, expected at most 65536", "encode"}, 4: {"4294967295 bytes", "encode"},
		5: {"memo has 65 bytes, expected at most 64", "encode"}, 6: {"body has 1048576 bytes", "decode"},
		7: {"wl_alloc: returned 0", "encode"}, 8: {"wl_alloc: returned 4294963200", "encode"}, 9: {"aligned to 8", "encode"},
		11: {"WL_REFUSED: I will [2Jnot", "encode"}, 12: {"wl_encode: wasm error: ", "encode"}, 13: {"out of range", "decode"},
		14: {"out of bounds memory access", "encode"}, 15: {"wl_decode: wasm error: unreachable", "decode"},
		16: {"wl_decode: took longer", "decode"}, 17: {"WL_REFUSED", "encode"},
		19: {"wl_encode: wasm error: unreachable; standard error: panic: no [2Jmore ideas / for frames", "encode"},
	} {
		p := patient
		if strings.Contains(c.text, "took longer") {
			p = limited
		}
		params := p.Codecs[0].Defaults()
		if err := encoders.SetParam(params, "evil", evil); err != nil {
			t.Fatal(err)
		}
		enc, dec, err := p.Codecs[0].New(s, params)
		failed := "new"
		var packet []byte
		if err == nil {
			failed = "encode"
			packet, _, err = enc.Encode([]byte("head"), frames[1], refs, nil, nil)
		}
		if err == nil {
			failed = "decode"
			if string(packet) != "head"+string(want) {
				t.Errorf("%d: unexpected packet", evil)
			}
			for range 2 { // the second time in a new instance
				_, err = dec.Decode(s.NewFrame(), want, refs, nil)
			}
		}
		if err == nil {
			failed = ""
		}
		if failed != c.call || err != nil && (!strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "goroutine") || !strings.Contains(err.Error(), "plugin evil")) {
			t.Errorf("%d: %s fails: %v; expected %s: %s", evil, failed, err, c.call, c.text)
		}
		if failed == "encode" && !errors.Is(err, encoders.ErrBroken) || failed == "decode" && !errors.Is(err, encoders.ErrCorrupt) {
			t.Errorf("%d: %v", evil, err)
		}
	}
}

// Damaged packets are rejected or decoded to some frame.
func FuzzDecode(f *testing.F) {
	p := load(f, "testdata/delta.wasm", Options{})
	s, frames := demoFrames(f, 2)
	_, dec, err := p.Codecs[0].New(s, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(deltaEncode(frames[1].Table, frames[0].Table))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x7f, 1})
	got := s.NewFrame()
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := dec.Decode(got, data, []encoders.Ref{{Frame: frames[0]}}, nil)
		if err := hostile.CheckDecode(s, got, err); err != nil {
			t.Error(err)
		}
	})
}

// BenchmarkBothEnds measures an encoder that does nothing: encode and decode of a frame of 901 cubes.
func BenchmarkBothEnds(b *testing.B) {
	for name, timeout := range map[string]time.Duration{"timeout": time.Second, "trusted": -1} {
		b.Run(name, func(b *testing.B) {
			p := load(b, "testdata/evil.wasm", Options{Timeout: timeout})
			s, frames := demoFrames(b, 1)
			idle := p.Codecs[0].Defaults()
			if err := encoders.SetParam(idle, "evil", 18); err != nil {
				b.Fatal(err)
			}
			enc, dec, err := p.Codecs[0].New(s, idle)
			if err != nil {
				b.Fatal(err)
			}
			got := s.NewFrame()
			refs := [2][]encoders.Ref{{{Frame: frames[0]}}, {{Frame: frames[0]}}}
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				var m encoders.Memo
				if buf, m, err = enc.Encode(buf[:0], frames[0], refs[0], nil, nil); err != nil {
					b.Fatal(err)
				}
				refs[0][0].Memo = m
				if m, err = dec.Decode(got, buf, refs[1], nil); err != nil {
					b.Fatal(err)
				}
				refs[1][0].Memo = m
			}
		})
	}
}
