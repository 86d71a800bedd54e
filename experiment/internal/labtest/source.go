// Package labtest provides data sources and files for the tests of the lab.
package labtest

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
)

// Crowd is a source of cubes for tests. In each frame Moving random cubes take a random step, sometimes
// a large one.
type Crowd struct {
	schema *frame.Schema
	rng    *rand.Rand
	cur    *frame.Frame
	Moving int
	left   int    // frames until the source ends; negative if it never ends
	Tick   uint32 // tick of the next frame
}

// NewCrowd returns a crowd of the given number of cubes, of which moving take a step in each frame. It
// ends after left frames, or never if left is negative.
func NewCrowd(cubes, moving, left int, seed uint64) *Crowd {
	c := &Crowd{schema: frame.Cubes(cubes), rng: rand.New(rand.NewPCG(seed, 1)), Moving: moving, left: left}
	c.cur = c.schema.NewFrame()
	c.Initial(c.cur)
	return c
}

// Schema implements dataset.Source.
func (c *Crowd) Schema() *frame.Schema { return c.schema }

// Initial implements dataset.Source. The cubes lie upright on the floor, in rows of 30 that are 512
// position units apart.
func (c *Crowd) Initial(f *frame.Frame) {
	*f = *c.schema.NewFrame()
	for i := range c.schema.Rows {
		row := f.Table[i*frame.CubeFields:][:frame.CubeFields]
		// No rotation: component 3 (w) is the largest, and 256 is a component of 0.
		row[frame.CubeLargest], row[frame.CubeA], row[frame.CubeB], row[frame.CubeC] = 3, 256, 256, 256
		row[frame.CubeX], row[frame.CubeY], row[frame.CubeZ] = int32(i%30)*512, int32(i/30)*512, 103
	}
}

// Next implements dataset.Source.
func (c *Crowd) Next(f *frame.Frame) error {
	if c.left == 0 {
		return io.EOF
	}
	c.left-- // a negative value never reaches 0
	for range c.Moving {
		row := c.cur.Table[c.rng.IntN(c.schema.Rows)*frame.CubeFields:][:frame.CubeFields]
		for col, fd := range c.schema.Fields {
			step := int32(c.rng.IntN(9)) - 4 // -4 to 4
			if c.rng.IntN(50) == 0 {         // a large step of up to 2000, for one value in 50
				step = int32(c.rng.IntN(4001)) - 2000
			}
			row[col] = max(fd.Min, min(fd.Max, row[col]+step))
		}
	}
	f.CopyFrom(c.cur)
	f.Tick = c.Tick
	c.Tick++
	return nil
}

// Finite is a Crowd that implements dataset.Sized, so that sessions read it one frame ahead like a
// recording.
type Finite struct{ *Crowd }

// Frames implements dataset.Sized.
func (f Finite) Frames() int { return f.left }

// Failing is a Crowd whose Next returns an error instead of frame 5.
type Failing struct{ *Crowd }

// Next implements dataset.Source.
func (f Failing) Next(dst *frame.Frame) error {
	if f.Tick == 5 {
		return errors.New("frame 5 is bad")
	}
	return f.Crowd.Next(dst)
}

// Recorded writes a walk-off recording of a Crowd, of which 8 cubes move in each frame, and returns its path.
func Recorded(t *testing.T, cubes, frames int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "crowd.bin")
	w, err := dataset.Create(nil, path, cubes)
	if err != nil {
		t.Fatal(err)
	}
	c := NewCrowd(cubes, 8, -1, 42) // -1: the number of frames is not limited
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

// Write creates a file with the given text in a temporary folder and returns the file's path.
func Write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	Overwrite(t, path, text)
	return path
}

// Overwrite writes text to the file at path.
func Overwrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Parcel is a source that consists of two small files: the old file, and the new file to deliver.
type Parcel struct{ Old, New []byte }

// NewParcel returns a parcel of two similar, compressible files of n bytes each.
func NewParcel(n int, seed uint64) *Parcel {
	rng := rand.New(rand.NewPCG(seed, 5))
	p := &Parcel{}
	for range n {
		p.Old = append(p.Old, "the quick brown fox jumps"[rng.IntN(25)])
	}
	p.New = bytes.Clone(p.Old)
	for i := 0; i < n; i += 50 { // every 50th byte differs
		p.New[i]++
	}
	return p
}

// Schema implements dataset.Source.
func (p *Parcel) Schema() *frame.Schema {
	return &frame.Schema{Name: "files", Item: "byte", Delivery: frame.Every, TickHz: 1000}
}

// Initial implements dataset.Source: it fills f with the old file.
func (p *Parcel) Initial(f *frame.Frame) { f.Body = append(f.Body[:0], p.Old...) }

// Next implements dataset.Source: it fills f with the new file.
func (p *Parcel) Next(f *frame.Frame) error { f.Body = append(f.Body[:0], p.New...); return nil }

// ParcelFiles writes a parcel to two files and returns the data specification "files:OLD,NEW".
func ParcelFiles(t *testing.T, p *Parcel) string {
	t.Helper()
	dir := t.TempDir()
	old, new := filepath.Join(dir, "old"), filepath.Join(dir, "new")
	Overwrite(t, old, string(p.Old))
	Overwrite(t, new, string(p.New))
	return "files:" + old + "," + new
}

// OfCubes returns the codecs that can encode snapshots of cubes, for tests that swap encoders at random.
func OfCubes() []encoders.Codec {
	s := frame.Cubes(frame.WalkoffCubes)
	return slices.DeleteFunc(table.All(), func(c encoders.Codec) bool { return !c.Suits(s) })
}
