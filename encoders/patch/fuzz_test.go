package patch

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"wirelab/encoders/patch/delta"
	"wirelab/internal/testkit"
)

// smallModels returns a function that returns untrained models with small tables. It reuses two models,
// because new models of the usual size would take 40 MB for each input of the fuzzer.
func smallModels() func() *delta.Model {
	untrained := delta.NewSmall()
	used := [2]*delta.Model{delta.NewSmall(), delta.NewSmall()}
	next := 0
	return func() *delta.Model {
		next = 1 - next
		used[next].CopyFrom(untrained)
		return used[next]
	}
}

// oldFile returns a file of segments that the choices of a fuzzer select: bytes, text, a program, numbers that
// change slowly, or repetitions.
func oldFile(c *testkit.Choices) (out []byte) {
	for !c.Empty() && len(out) < 4096 && c.IntN(8) > 0 {
		switch c.IntN(5) {
		case 0:
			out = append(out, c.Bytes(c.IntN(64))...)
		case 1:
			out = append(out, text(1+c.IntN(600))...)
		case 2:
			out = append(out, callProgram(2+c.IntN(4), c.IntN(64))...)
		case 3:
			out = append(out, parabolaTable(c.IntN(256), c.IntN(256))...)
		case 4:
			size := testkit.Pick(c, 100, 700, 33_000) // more than a window of the old file
			out = append(out, bytes.Repeat(append(c.Bytes(c.IntN(9)), byte(len(out))), 1+size/9)...)
		}
	}
	return out
}

// newFile returns a file of parts of old, some of which are changed, parts of itself, new bytes and noise.
func newFile(c *testkit.Choices, old []byte) (out []byte) {
	for !c.Empty() && len(out) < 2048 {
		n, at := c.IntN(3000), c.IntN(1<<16)
		switch source := [][]byte{old, out}[c.IntN(2)]; c.IntN(4) {
		case 0:
			out = append(out, c.Bytes(n%64)...)
		case 1:
			out = append(out, randomBytes(n, uint64(at))...)
		default:
			at %= len(source) + 1
			part := bytes.Clone(source[at:min(at+n, len(source))])
			if step := c.IntN(256); step > 0 {
				for i := 0; i < len(part); i += step {
					part[i] += byte(c.Uint64(1))
				}
			}
			out = append(out, part...)
		}
	}
	return out
}

// patchBlock is a block of a patch, as the package comment describes it.
type patchBlock struct {
	size, mode uint64
	diagonal   uint64 // of a clone: zigzag-coded change
	data       []byte // of a raw block or a patch block
	dataSize   uint64 // of a patch block: the size that the block states
}

// splitPatch splits a patch into its header and its blocks.
func splitPatch(t *testing.T, patch []byte) (h Header, blocks []patchBlock) {
	r := bytes.NewReader(patch)
	h, err := readHeader(r)
	if err != nil {
		t.Fatal(err)
	}
	number := func() uint64 {
		v, err := binary.ReadUvarint(r)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for r.Len() > 0 {
		head := number()
		b := patchBlock{size: head >> 2, mode: head & 3}
		switch b.mode {
		case modeRaw:
			b.data = make([]byte, b.size)
		case modeClone:
			b.diagonal = number()
		case modePatch:
			b.dataSize = number()
			b.data = make([]byte, b.dataSize)
		}
		if n, _ := r.Read(b.data); n < len(b.data) {
			t.Fatalf("a block has %d bytes, expected %d", n, len(b.data))
		}
		blocks = append(blocks, b)
	}
	return h, blocks
}

// joinPatch is the reverse of splitPatch.
func joinPatch(h *Header, blocks []patchBlock) []byte {
	out := h.append(nil)
	for _, b := range blocks {
		out = binary.AppendUvarint(out, b.size<<2|b.mode&3)
		switch b.mode {
		case modeClone:
			out = binary.AppendUvarint(out, b.diagonal)
			continue
		case modePatch:
			out = binary.AppendUvarint(out, b.dataSize)
		}
		out = append(out, b.data...)
	}
	return out
}

// simulate returns the file that blocks without packets make. ok is false if one of them is invalid or a packet.
func simulate(old []byte, blocks []patchBlock) (out []byte, ok bool) {
	at := int64(0) // diagonal of the last clone
	for _, b := range blocks {
		switch {
		case b.mode == modeRaw && b.size == uint64(len(b.data)) && b.size > 0:
			out = append(out, b.data...)
		case b.mode == modeClone && b.size > 0:
			at += int64(b.diagonal>>1) ^ -int64(b.diagonal&1)
			from, file := int64(len(out))+at, old
			if from >= int64(len(old)) {
				from, file = from-int64(len(old)), out
			}
			if b.diagonal >= 1<<62 || from < 0 || from > int64(len(file)) || b.size > uint64(int64(len(file))-from) {
				return nil, false
			}
			out = append(out, file[from:from+int64(b.size)]...)
		default:
			return nil, false
		}
	}
	return out, true
}

// damageBlocks changes, omits, repeats, exchanges or inserts blocks, one for every few bytes of c.
func damageBlocks(c *testkit.Choices, blocks []patchBlock) []patchBlock {
	odd := func(v uint64) uint64 {
		return testkit.Pick(c, v+1, v-1, 0, 1<<18, 1<<18+1, 1<<46, 1<<62-1, 1<<62, 1<<64-1, c.Uint64(1), c.Uint64(3))
	}
	for !c.Empty() && len(blocks) < 100 {
		i := c.IntN(len(blocks) + 1)
		switch what := c.IntN(9); {
		case what == 0:
			data := c.Bytes(1 + c.IntN(16))
			blocks = slices.Insert(blocks, i, patchBlock{size: uint64(len(data)), mode: modeRaw, data: data})
		case what == 1:
			blocks = slices.Insert(blocks, i, patchBlock{size: c.Uint64(1), mode: modeClone, diagonal: c.Uint64(testkit.Pick(c, 1, 2))})
		case i == len(blocks):
		case what == 2:
			blocks = slices.Delete(blocks, i, i+1)
		case what == 3:
			blocks = slices.Insert(blocks, i, blocks[c.IntN(len(blocks))])
		case what == 4:
			j := c.IntN(len(blocks))
			blocks[i], blocks[j] = blocks[j], blocks[i]
		case what == 5:
			blocks[i].size = odd(blocks[i].size)
		case what == 6:
			blocks[i].mode = uint64(c.IntN(4))
		case what == 7:
			blocks[i].diagonal, blocks[i].dataSize = odd(blocks[i].diagonal), odd(blocks[i].dataSize)
		case len(blocks[i].data) > 0:
			blocks[i].data = bytes.Clone(blocks[i].data)
			blocks[i].data[c.IntN(1<<16)%len(blocks[i].data)] ^= byte(1 + c.IntN(255))
		}
	}
	return blocks
}

// FuzzPatch makes a patch for files that it builds, and applies it. Then it damages blocks of the patch, and rarely
// its header. The header states the size of its blocks and, if no block is a packet, the hash of what they
// make: then the patch must be applied. Otherwise it must be refused with bounded work, or make the new file.
func FuzzPatch(f *testing.F) {
	f.Add([]byte{1, 1, 200, 1, 3, 200, 200, 1, 4, 2, 1, 7, 0}, []byte{200, 9, 0, 0, 1, 0, 5, 30, 1, 0, 0, 20, 1, 2, 0, 1, 1, 7, 3}, []byte{})
	f.Add([]byte{1, 2, 3, 16, 0}, []byte{255, 9, 0, 0, 1, 0, 33, 1, 255, 0, 0, 1, 40}, []byte{0, 0, 0, 1, 1, 9, 0, 2, 0, 0, 3, 1, 2, 3})
	f.Add([]byte{1, 4, 2, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0}, []byte{9, 9, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}, []byte{255, 5, 1, 0, 2, 1, 1, 8, 0, 16, 1, 5, 9})
	f.Add([]byte{1, 4, 2, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0}, []byte{200, 5, 9, 9, 0, 1, 200, 11, 0, 0, 0, 2, 0, 200, 5, 1, 1, 1, 1}, []byte{})
	for what := range byte(9) {
		f.Add([]byte{1, 1, 200, 1, 0}, []byte{200, 9, 0, 0, 1, 0, 30, 1, 0, 0, 1, 0, 5, 30}, []byte{0, 0, 0, 0, what, 1, 2, 3, 4})
	}
	models := smallModels()
	f.Fuzz(func(t *testing.T, oldChoices, newChoices, damage []byte) {
		old := oldFile(testkit.NewChoices(oldChoices))
		new := newFile(testkit.NewChoices(newChoices), old)
		apply := func(patch []byte, limit int64) ([]byte, error) {
			out := buffer{Limit: limit}
			_, err := applyPatch(models, &out, bytes.NewReader(old), int64(len(old)), bytes.NewReader(patch), nil)
			return out.Bytes, err
		}
		var patch bytes.Buffer
		stats, err := makeWith(models(), &patch, old, new, Options{})
		if err != nil || stats.Size != int64(patch.Len()) || stats.Raw+stats.Clone+stats.Patch != int64(len(new)) {
			t.Fatalf("%+v, %v do not add up to %d bytes of patch for %d", stats, err, patch.Len(), len(new))
		}
		if out, err := apply(patch.Bytes(), 0); err != nil || !bytes.Equal(out, new) {
			t.Fatalf("%x from %x: %x, %v", new, old, out, err)
		}
		h, blocks := splitPatch(t, patch.Bytes())
		if !bytes.Equal(joinPatch(&h, blocks), patch.Bytes()) {
			t.Fatalf("%x is not in the documented format", patch.Bytes())
		}
		c := testkit.NewChoices(damage)
		damageHeader := c.Rare()
		headerByte, headerValue := c.IntN(80), byte(c.Uint64(1))
		blocks = damageBlocks(c, blocks)
		h.NewSize = 0
		for _, b := range blocks {
			h.NewSize += int64(b.size & (1<<62 - 1))
		}
		h.NewSize = min(max(h.NewSize, 0), maxSize)
		want, valid := simulate(old, blocks)
		if valid {
			h.NewHash = sha256.Sum256(want)
		} else {
			want = new
		}
		const limit = 1 << 16 // more would take too long under the fuzzer
		damaged := joinPatch(&h, blocks)
		if damageHeader && headerByte < len(damaged) {
			damaged[headerByte] = headerValue
		}
		out, err := apply(damaged, limit)
		switch {
		case err == nil && !bytes.Equal(out, want), err != nil && !isPatchError(err) && !errors.Is(err, errLimit):
			t.Errorf("%s: %x, %v, expected %x", fmt.Sprint(blocks), out, err, want)
		case valid && !damageHeader && len(want) <= limit && err != nil:
			t.Errorf("%s: %v", fmt.Sprint(blocks), err)
		}
	})
}
