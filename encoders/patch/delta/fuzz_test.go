package delta

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"wirelab/internal/testkit"
)

// fuzzSource returns the source of a fuzzer: text, calls, addresses, a table of numbers and a run.
func fuzzSource() (out fileSource) {
	out = append(out, bytes.Repeat([]byte("\x48\x8d\x05\x10\x20\x00\x00 some of the old file; "), 40)...)
	out = append(out, callProgram(40, 8)...)
	for i := range 300 {
		out = binary.LittleEndian.AppendUint64(out, uint64(0x400000+i*24))
	}
	for i := range 300 {
		out = binary.LittleEndian.AppendUint16(out, uint16(i*i/7))
	}
	return append(out, make([]byte, 500)...)
}

// buildBlock returns a block of operations that the choices of a fuzzer select: copies of the source, in some of
// which single bytes or the numbers in words differ, and literals.
func buildBlock(c *testkit.Choices, source fileSource) (block []byte, ops []Op) {
	for !c.Empty() && len(block) < 3000 {
		var op Op
		if c.IntN(4) > 0 {
			op.From = int64(c.IntN(len(source)))
			op.Copy = min(c.IntN(1200), len(source)-int(op.From))
			part := bytes.Clone(source[op.From:][:op.Copy])
			switch step := 1 + c.IntN(64); c.IntN(3) {
			case 1:
				for i := 0; i < len(part); i += step {
					part[i] += byte(c.Uint64(1))
				}
			case 2: // moved pointers
				shift := uint32(c.Uint64(2))
				for i := 0; i+4 <= len(part); i += step + 3 {
					binary.LittleEndian.PutUint32(part[i:], binary.LittleEndian.Uint32(part[i:])+shift)
				}
			}
			block = append(block, part...)
		}
		if c.IntN(2) == 1 || op.Copy == 0 {
			literals := bytes.Repeat(append(c.Bytes(c.IntN(40)), 'x'), 1+c.IntN(12))
			op.Literal = len(literals)
			block = append(block, literals...)
		}
		ops = append(ops, op)
	}
	return block, ops
}

// FuzzBlocks codes blocks that it builds, one after another with the same models, and damages the packet of the
// last: then Decode must return an error or a block of the right size with bounded work.
func FuzzBlocks(f *testing.F) {
	source := fuzzSource()
	f.Add([]byte{1, 9, 0, 200, 1, 9, 1, 7, 1, 3, 1, 2, 3, 4}, []byte{2, 200, 4, 100, 2, 1, 2, 8, 0, 0, 1, 30, 'a', 'b'}, []byte{}, uint16(0))
	f.Add([]byte{0, 30, 1, 2, 3, 4, 5, 6}, []byte{1, 0, 1, 255, 4, 9, 0, 1, 0, 9, 9}, []byte{3, 0, 255, 9, 0, 1, 40, 1}, uint16(3))
	untrained, encoder, decoder := NewSmall(), NewSmall(), NewSmall()
	f.Fuzz(func(t *testing.T, first, second, damage []byte, sizeChange uint16) {
		encoder.CopyFrom(untrained)
		decoder.CopyFrom(untrained)
		block, ops := buildBlock(testkit.NewChoices(first), source)
		packet, err := encoder.Encode(nil, block, ops, source)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decoder.Decode(packet, len(block), source); err != nil || !bytes.Equal(got, block) {
			t.Fatalf("%+v: %x, %v, expected %x", ops, got, err, block)
		}
		block, ops = buildBlock(testkit.NewChoices(second), source)
		if packet, err = encoder.Encode(nil, block, ops, source); err != nil {
			t.Fatal(err)
		}
		size := len(block) ^ int(sizeChange)%4096
		damaged := damagePacket(testkit.NewChoices(damage), packet)
		got, err := decoder.Decode(damaged, size, source)
		switch {
		case bytes.Equal(damaged, packet) && size == len(block) && (err != nil || !bytes.Equal(got, block)):
			t.Fatalf("%+v: %x, %v, expected %x", ops, got, err, block)
		case err == nil && len(got) != size, err != nil && !errors.Is(err, ErrCorrupt):
			t.Fatalf("%d bytes of %d: %v", len(got), size, err)
		}
	})
}

// damagePacket changes, removes and inserts bytes of a packet.
func damagePacket(c *testkit.Choices, packet []byte) []byte {
	p := bytes.Clone(packet)
	for !c.Empty() {
		at := c.IntN(1<<16) % (len(p) + 1)
		switch n := 1 + c.IntN(8); c.IntN(4) {
		case 0:
			p = p[:at]
		case 1:
			p = slices.Delete(p, at, min(at+n, len(p)))
		case 2:
			p = slices.Insert(p, at, c.Bytes(n)...)
		case 3:
			copy(p[at:], c.Bytes(n))
		}
	}
	return p
}
