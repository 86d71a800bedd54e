package experiment

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"wirelab/dataset"
	"wirelab/dataset/frame"
)

// crowd is a source for tests: cubes of which a few take a random step each
// frame, now and then one that jumps far. It ends after left frames, never if
// left is negative.
type crowd struct {
	schema *frame.Schema
	rng    *rand.Rand
	cur    *frame.Frame
	moving int
	left   int
	tick   uint32
}

func newCrowd(cubes, moving, left int, seed uint64) *crowd {
	c := &crowd{schema: frame.Cubes(cubes), rng: rand.New(rand.NewPCG(seed, 1)), moving: moving, left: left}
	c.cur = c.schema.NewFrame()
	c.Initial(c.cur)
	return c
}

func (c *crowd) Schema() *frame.Schema { return c.schema }

func (c *crowd) Initial(f *frame.Frame) {
	*f = *c.schema.NewFrame()
	for i := range c.schema.Rows {
		row := f.Table[i*frame.CubeFields:][:frame.CubeFields]
		row[frame.CubeLargest], row[frame.CubeA], row[frame.CubeB], row[frame.CubeC] = 3, 256, 256, 256
		row[frame.CubeX], row[frame.CubeY], row[frame.CubeZ] = int32(i%30)*512, int32(i/30)*512, 103
	}
}

func (c *crowd) Next(f *frame.Frame) error {
	if c.left == 0 {
		return io.EOF
	}
	c.left--
	for range c.moving {
		row := c.cur.Table[c.rng.IntN(c.schema.Rows)*frame.CubeFields:][:frame.CubeFields]
		for col, fd := range c.schema.Fields {
			step := int32(c.rng.IntN(9)) - 4
			if c.rng.IntN(50) == 0 {
				step = int32(c.rng.IntN(4001)) - 2000
			}
			row[col] = max(fd.Min, min(fd.Max, row[col]+step))
		}
	}
	f.CopyFrom(c.cur)
	f.Tick = c.tick
	c.tick++
	return nil
}

// finite makes the session read one frame ahead, as it does for recordings.
type finite struct{ *crowd }

func (f finite) Frames() int { return f.left }

// failing is a source that breaks after a while.
type failing struct{ *crowd }

func (f failing) Next(dst *frame.Frame) error {
	if f.tick == 5 {
		return errors.New("frame 5 is bad")
	}
	return f.crowd.Next(dst)
}

// recorded writes a walk-off recording of a crowd and returns its path.
func recorded(t *testing.T, cubes, frames int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "crowd.bin")
	w, err := dataset.Create(path, cubes)
	if err != nil {
		t.Fatal(err)
	}
	c := newCrowd(cubes, 8, -1, 42)
	f := c.schema.NewFrame()
	c.Initial(f)
	if err := w.Initial(f); err != nil {
		t.Fatal(err)
	}
	for range frames {
		if err := c.Next(f); err != nil {
			t.Fatal(err)
		}
		if err := w.Write(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// write makes a file with a text in a folder of the test's own.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	overwrite(t, path, text)
	return path
}

func overwrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
