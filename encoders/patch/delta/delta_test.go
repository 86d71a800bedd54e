package delta

import (
	"bytes"
	"errors"
	"testing"
)

// whole is a source of one file in memory.
type whole []byte

func (s whole) Locate(at int64) (place, left int64) {
	if at < 0 || at > int64(len(s)) {
		return 0, 0
	}
	return at, int64(len(s)) - at
}

func (s whole) View(at int64, _ int) ([]byte, int, error) { return s, int(at), nil }

// block is a block that is mostly like old, and how it is told.
func block() (old, new []byte, ops []Op) {
	old = bytes.Repeat([]byte("\x48\x8d\x05\x10\x20\x00\x00 some of the old file; "), 2000)
	new = append(bytes.Clone(old[100:40_100]), "and something that is new"...)
	for i := 0; i < 40_000; i += 97 {
		new[i] += byte(i)
	}
	return old, new, []Op{{From: 100, Copy: 30_000}, {From: 30_100, Copy: 10_000, Literal: 25}}
}

// Blocks come out as they went in, block after block, of both kinds of models, and
// nothing is allocated for them.
func TestModel(t *testing.T) {
	old, new, ops := block()
	for name, fresh := range map[string]func() *Model{"mixing": New, "fast": NewFast} {
		in, out := fresh(), fresh()
		packet := make([]byte, 0, 1<<16)
		code := func() {
			packet, _ = in.Encode(packet[:0], new, ops, whole(old))
			got, err := out.Decode(packet, len(new), whole(old))
			if err != nil || !bytes.Equal(got, new) {
				t.Fatalf("%s: something else came out: %v", name, err)
			}
		}
		if n := testing.AllocsPerRun(3, code); n > 2 { // the source, as an interface, at both ends
			t.Errorf("%s: %g allocations for a block", name, n)
		}
	}
}

// A model that was copied goes on as the one that it was copied from.
func TestCopyFrom(t *testing.T) {
	old, new, ops := block()
	for name, fresh := range map[string]func() *Model{"mixing": New, "fast": NewFast} {
		a, b := fresh(), fresh()
		for range 2 {
			if _, err := a.Encode(nil, new, ops, whole(old)); err != nil {
				t.Fatal(err)
			}
		}
		b.CopyFrom(a)
		x, _ := a.Encode(nil, new[:20_000], []Op{{From: 100, Copy: 20_000}}, whole(old))
		y, _ := b.Encode(nil, new[:20_000], []Op{{From: 100, Copy: 20_000}}, whole(old))
		if !bytes.Equal(x, y) {
			t.Errorf("%s: the copy says something else", name)
		}
	}
}

// A packet for another source or that is cut is refused, or is something else, but
// never more than was asked for.
func TestCorrupt(t *testing.T) {
	old, new, ops := block()
	packet, err := New().Encode(nil, new, ops, whole(old))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New().Decode(packet[:len(packet)-1], len(new), whole(old)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("cut: %v", err)
	}
	if _, err := New().Decode(packet, len(new), whole(old[:20_000])); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a copy from nowhere: %v", err)
	}
	if _, err := New().Decode(packet, MaxBlock+1, whole(old)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a block too large: %v", err)
	}
}
