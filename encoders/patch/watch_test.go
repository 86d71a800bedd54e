package patch

import (
	"bytes"
	"io"
	"testing"

	"wirelab/internal/testkit"
)

// TestWatch checks that Watch reports every byte once and in order, that the reported sizes add up to the patch,
// and that the score of a block is highest in the cells that it was copied from.
func TestWatch(t *testing.T) {
	if !testkit.Thorough() {
		t.Skip("takes files of 3 MB; set WIRELAB_THOROUGH=1")
	}
	old := randomBytes(3<<20, 1)
	swapped := append(bytes.Clone(old[2<<20:]), old[:2<<20]...)
	for i := 0; i < len(swapped); i += 3000 {
		swapped[i]++
	}
	var at, size int64
	rows, right := 0, 0
	stats, err := Make(io.Discard, old, swapped, Options{Fast: true, Watch: Watch{
		Correlated: func(c Correlation) {
			from := (c.Start + 2<<20) % (3 << 20)
			cell, best := from/c.Cell, 0
			for i, score := range c.Score {
				if score > c.Score[best] {
					best = i
				}
			}
			rows++
			if int64(best) >= cell && int64(best) <= cell+(c.End-c.Start)/c.Cell {
				right++
			}
		},
		Coded: func(part Segment) {
			if part.Start != at || part.End <= at || part.Mode != Patched {
				t.Errorf("%v of %d to %d; expected patch from %d", part.Mode, part.Start, part.End, at)
			}
			for _, c := range part.Copies {
				if want := (c.At + 2<<20) % (3 << 20); c.From != want {
					t.Errorf("byte %d is reported as a copy from %d, expected %d", c.At, c.From, want)
				}
			}
			at, size = part.End, size+part.Size
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	header := int64(4 + 1 + 1 + 4 + 4 + 32 + 32)
	if at != int64(len(swapped)) || size+header != stats.Size {
		t.Errorf("reported %d bytes in %d, without the header, expected %d in %d", at, size, len(swapped), stats.Size)
	}
	if rows < 8 || right != rows {
		t.Errorf("%d of %d rows have the highest score where the block comes from", right, rows)
	}
}

// TestApplyBytes checks the limit of ApplyBytes.
func TestApplyBytes(t *testing.T) {
	old, new := text(1000), text(5000)
	patch := mustMake(t, old, new, false)
	if got, err := ApplyBytes(old, patch, 5000); err != nil || !bytes.Equal(got, new) {
		t.Errorf("%d bytes, %v; expected %d", len(got), err, len(new))
	}
	if _, err := ApplyBytes(old, patch, 4999); err == nil {
		t.Error("no error for 5000 bytes with a limit of 4999")
	}
	if h, err := readHeader(bytes.NewReader(patch)); err != nil || h.NewSize != 5000 || h.OldSize != 1000 {
		t.Errorf("%+v, %v", h, err)
	}
}
