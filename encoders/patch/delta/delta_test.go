package delta

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// fileSource is a Source of one file in memory.
type fileSource []byte

func (s fileSource) Locate(at int64) (offset, left int64) {
	if at < 0 || at > int64(len(s)) {
		return 0, 0
	}
	return at, int64(len(s)) - at
}

func (s fileSource) View(at int64, _ int) ([]byte, int, error) { return s, int(at), nil }

// testBlock returns an old file, a block that is similar to a part of it, and the operations of the block.
func testBlock() (old, new []byte, ops []Op) {
	old = bytes.Repeat([]byte("\x48\x8d\x05\x10\x20\x00\x00 some of the old file; "), 2000)
	new = append(bytes.Clone(old[100:40_100]), "and something that is new"...)
	for i := 0; i < 40_000; i += 97 {
		new[i] += byte(i)
	}
	return old, new, []Op{{From: 100, Copy: 30_000}, {From: 30_100, Copy: 10_000, Literal: 25}}
}

// TestModel encodes and decodes a block several times, and checks that nothing is allocated.
func TestModel(t *testing.T) {
	old, new, ops := testBlock()
	in, out := New(), New()
	packet := make([]byte, 0, 1<<16)
	code := func() {
		packet, _ = in.Encode(packet[:0], new, ops, fileSource(old))
		got, err := out.Decode(packet, len(new), fileSource(old))
		if err != nil || !bytes.Equal(got, new) {
			t.Fatalf("the decoded block differs: %v", err)
		}
	}
	if n := testing.AllocsPerRun(3, code); n > 2 { // the conversions to Source
		t.Errorf("%g allocations for a block", n)
	}
}

// TestPacketChecksums compares packets with a checksum that must be the same on every machine.
func TestPacketChecksums(t *testing.T) {
	old, new, ops := testBlock()
	oldCalls, newCalls := callProgram(1000, 0), callProgram(1000, 48)
	m := New()
	sum := uint32(0)
	for range 2 {
		for _, b := range []struct {
			old, new []byte
			ops      []Op
		}{{old, new, ops}, {oldCalls, newCalls, []Op{{Copy: 20_000, Literal: 48}, {From: 20_000, Copy: 20_000}}},
			{old, new[:900], []Op{{Literal: 900}}}} {
			packet, err := m.Encode(nil, b.new, b.ops, fileSource(b.old))
			if err != nil {
				t.Fatal(err)
			}
			sum = crc32.Update(sum, crc32.IEEETable, packet)
		}
	}
	if want := uint32(0x3a505c31); sum != want {
		t.Errorf("checksum of packets %#x, want %#x", sum, want)
	}
}

// TestCopyFrom checks that a copied model writes the same packets as the original.
func TestCopyFrom(t *testing.T) {
	old, new, ops := testBlock()
	a, b := New(), New()
	for range 2 {
		if _, err := a.Encode(nil, new, ops, fileSource(old)); err != nil {
			t.Fatal(err)
		}
	}
	b.CopyFrom(a)
	x, _ := a.Encode(nil, new[:20_000], []Op{{From: 100, Copy: 20_000}}, fileSource(old))
	y, _ := b.Encode(nil, new[:20_000], []Op{{From: 100, Copy: 20_000}}, fileSource(old))
	if !bytes.Equal(x, y) {
		t.Error("the copy writes a different packet")
	}
}

// TestCorrupt checks that truncated packets, packets for a shorter source and blocks that are too large are
// refused.
func TestCorrupt(t *testing.T) {
	old, new, ops := testBlock()
	packet, err := New().Encode(nil, new, ops, fileSource(old))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New().Decode(packet[:len(packet)-1], len(new), fileSource(old)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("cut: %v", err)
	}
	if _, err := New().Decode(packet, len(new), fileSource(old[:20_000])); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a copy from nowhere: %v", err)
	}
	if _, err := New().Decode(packet, MaxBlock+1, fileSource(old)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a block too large: %v", err)
	}
}

// callProgram returns code with calls among n functions of 40 bytes; the upper half of the functions is
// shifted by shift bytes.
func callProgram(n, shift int) []byte {
	r := rand.New(rand.NewPCG(1, 1))
	address := func(f int) int {
		if f >= n/2 {
			return f*40 + shift
		}
		return f * 40
	}
	out := make([]byte, n*40+shift)
	for f := range n {
		body := out[address(f):][:40]
		for i := range body {
			body[i] = byte(r.IntN(100)) // no opcode of a call
		}
		for i := 0; i < 40; i += 10 {
			body[i] = 0xE8
			binary.LittleEndian.PutUint32(body[i+1:], uint32(address(r.IntN(n))-(address(f)+i+5)))
		}
	}
	return out
}

// TestMovedPointers checks that calls to moved code cost little: only the first call to each target costs bytes,
// because the model predicts the others. Half of the calls change.
func TestMovedPointers(t *testing.T) {
	const n, shift = 3000, 48
	old, new := callProgram(n, 0), callProgram(n, shift)
	half := n / 2 * 40
	ops := []Op{{Copy: half, Literal: shift}, {From: int64(half), Copy: half}}
	packet, err := New().Encode(nil, new, ops, fileSource(old))
	if err != nil {
		t.Fatal(err)
	}
	if changed := 2 * n; len(packet) > changed/2 {
		t.Errorf("%d bytes for %d changed calls to %d functions; expected at most half a byte each", len(packet), changed, n)
	}
	if got, err := New().Decode(packet, len(new), fileSource(old)); err != nil || !bytes.Equal(got, new) {
		t.Errorf("the decoded block differs: %v", err)
	}
}
