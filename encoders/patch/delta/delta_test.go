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

// TestModel encodes and decodes a block several times with both kinds of models, and checks that nothing is
// allocated.
func TestModel(t *testing.T) {
	old, new, ops := testBlock()
	for name, fast := range map[string]bool{"mixing": false, "fast": true} {
		fresh := func() *Model { return New(fast) }
		in, out := fresh(), fresh()
		packet := make([]byte, 0, 1<<16)
		code := func() {
			packet, _ = in.Encode(packet[:0], new, ops, fileSource(old))
			got, err := out.Decode(packet, len(new), fileSource(old))
			if err != nil || !bytes.Equal(got, new) {
				t.Fatalf("%s: the decoded block differs: %v", name, err)
			}
		}
		if n := testing.AllocsPerRun(3, code); n > 2 { // the conversions to Source
			t.Errorf("%s: %g allocations for a block", name, n)
		}
	}
}

// TestPacketChecksums compares packets with checksums that must be the same on every machine.
func TestPacketChecksums(t *testing.T) {
	old, new, ops := testBlock()
	oldCalls, newCalls := callProgram(1000, 0), callProgram(1000, 48)
	for _, c := range []struct {
		name string
		*Model
		want uint32
	}{{"mixing", New(false), 0x3a505c31}, {"fast", New(true), 0x35a5f5b1}} {
		sum := uint32(0)
		for range 2 {
			for _, b := range []struct {
				old, new []byte
				ops      []Op
			}{{old, new, ops}, {oldCalls, newCalls, []Op{{Copy: 20_000, Literal: 48}, {From: 20_000, Copy: 20_000}}},
				{old, new[:900], []Op{{Literal: 900}}}} {
				packet, err := c.Encode(nil, b.new, b.ops, fileSource(b.old))
				if err != nil {
					t.Fatal(err)
				}
				sum = crc32.Update(sum, crc32.IEEETable, packet)
			}
		}
		if sum != c.want {
			t.Errorf("%s: checksum of packets %#x, want %#x", c.name, sum, c.want)
		}
	}
}

// TestCopyFrom checks that a copied model writes the same packets as the original.
func TestCopyFrom(t *testing.T) {
	old, new, ops := testBlock()
	for name, fast := range map[string]bool{"mixing": false, "fast": true} {
		fresh := func() *Model { return New(fast) }
		a, b := fresh(), fresh()
		for range 2 {
			if _, err := a.Encode(nil, new, ops, fileSource(old)); err != nil {
				t.Fatal(err)
			}
		}
		b.CopyFrom(a)
		x, _ := a.Encode(nil, new[:20_000], []Op{{From: 100, Copy: 20_000}}, fileSource(old))
		y, _ := b.Encode(nil, new[:20_000], []Op{{From: 100, Copy: 20_000}}, fileSource(old))
		if !bytes.Equal(x, y) {
			t.Errorf("%s: the copy writes a different packet", name)
		}
	}
}

// TestCorrupt checks that truncated packets, packets for a shorter source and blocks that are too large are
// refused.
func TestCorrupt(t *testing.T) {
	old, new, ops := testBlock()
	packet, err := New(false).Encode(nil, new, ops, fileSource(old))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(false).Decode(packet[:len(packet)-1], len(new), fileSource(old)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("cut: %v", err)
	}
	if _, err := New(false).Decode(packet, len(new), fileSource(old[:20_000])); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a copy from nowhere: %v", err)
	}
	if _, err := New(false).Decode(packet, MaxBlock+1, fileSource(old)); !errors.Is(err, ErrCorrupt) {
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
	for name, fast := range map[string]bool{"mixing": false, "fast": true} {
		fresh := func() *Model { return New(fast) }
		packet, err := fresh().Encode(nil, new, ops, fileSource(old))
		if err != nil {
			t.Fatal(err)
		}
		if changed := 2 * n; len(packet) > changed/2 {
			t.Errorf("%s: %d bytes for %d changed calls to %d functions; expected at most half a byte each", name, len(packet), changed, n)
		}
		if got, err := fresh().Decode(packet, len(new), fileSource(old)); err != nil || !bytes.Equal(got, new) {
			t.Errorf("%s: the decoded block differs: %v", name, err)
		}
	}
}

// TestStoredLiterals checks that separately stored literals are refused if they are truncated, not zstd, or
// more or fewer than the block uses.
func TestStoredLiterals(t *testing.T) {
	text := bytes.Repeat([]byte("something that is all new, and much of it; "), 100)
	packet, err := New(true).Encode(nil, text, []Op{{Literal: len(text)}}, fileSource(nil))
	if err != nil || len(packet) > 200 {
		t.Fatalf("%d bytes, %v", len(packet), err)
	}
	if got, err := New(true).Decode(packet, len(text), fileSource(nil)); err != nil || !bytes.Equal(got, text) {
		t.Fatal(err)
	}
	head, n := binary.Uvarint(packet)
	size := n + int(head>>1)
	for name, bad := range map[string][]byte{
		"empty":     {},
		"cut":       packet[:size-1],
		"too large": binary.AppendUvarint(nil, 1<<40),
		"not zstd":  append(append(binary.AppendUvarint(nil, 9), "abcd"...), packet[size:]...),
		"too few":   append(append(binary.AppendUvarint(nil, 8), "abcd"...), packet[size:]...),
		"too many":  append(append(binary.AppendUvarint(nil, uint64(2*len(text)+2)), append(text, 'x')...), packet[size:]...),
	} {
		if _, err := New(true).Decode(bad, len(text), fileSource(nil)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOpcodeEnds compares opcodeEnds with endsOpcode.
func TestOpcodeEnds(t *testing.T) {
	for a := range 256 {
		want := false
		for b := range 256 {
			want = want || endsOpcode(byte(b), byte(a))
		}
		if got := opcodeEnds[a>>6]>>(a&63)&1 == 1; got != want {
			t.Errorf("byte %#x: %v, want %v", a, got, want)
		}
	}
}
