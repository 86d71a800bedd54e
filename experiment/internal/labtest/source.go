// Package labtest provides data sources and files for the tests of the lab.
package labtest

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/experiment/config"
	"wirelab/internal/wallclock"
)

// WallClock returns the real clock.
func WallClock() wallclock.Clock {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}

// QuickConfig returns a short configuration that uses many features.
func QuickConfig(t *testing.T) *config.Config {
	t.Helper()
	c, err := config.Parse("quick", []byte(`
seed = 3
duration = "4s"
[link]
loss = "5%"
latency = "40ms"
jitter = "10ms"
[down]
duplicate = "2%"
corrupt = "1%"
[[at]]
t = "1s"
encoder = "quantized"
[[at]]
t = "2s"
down.loss = "20%"
[assert]
wrong = "== 0"
`))
	if err != nil {
		t.Fatal(err)
	}
	c.Data.Source, c.Data.Cubes = WriteRecording(t, 60, 200), 60
	return c
}

// CubeSource is a source of cubes for tests. In each frame Moving random cubes take a random step, sometimes
// a large one.
type CubeSource struct {
	schema *frame.Schema
	rng    *rand.Rand
	cur    *frame.Frame
	Moving int
	left   int    // frames until the source ends; negative if it never ends
	Tick   uint32 // tick of the next frame
}

// NewCubeSource returns a crowd of the given number of cubes, of which moving take a step in each frame. It
// ends after left frames, or never if left is negative.
func NewCubeSource(cubes, moving, left int, seed uint64) *CubeSource {
	c := &CubeSource{schema: frame.Cubes(cubes), rng: rand.New(rand.NewPCG(seed, 1)), Moving: moving, left: left}
	c.cur = c.schema.NewFrame()
	c.Initial(c.cur)
	return c
}

func (c *CubeSource) Schema() *frame.Schema { return c.schema }

// Initial implements dataset.Source. The cubes lie upright on the floor, in rows of 30 that are 512
// position units apart.
func (c *CubeSource) Initial(f *frame.Frame) {
	*f = *c.schema.NewFrame()
	for i := range c.schema.Rows {
		row := f.Table[i*frame.CubeFields:][:frame.CubeFields]
		// No rotation: component 3 (w) is the largest, and 256 is a component of 0.
		row[frame.CubeLargest], row[frame.CubeA], row[frame.CubeB], row[frame.CubeC] = 3, 256, 256, 256
		row[frame.CubeX], row[frame.CubeY], row[frame.CubeZ] = int32(i%30)*512, int32(i/30)*512, 103
	}
}

func (c *CubeSource) Next(f *frame.Frame) error {
	if c.left == 0 {
		return io.EOF
	}
	c.left-- // left starts below 0 for an endless source, and then never reaches 0
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

// FiniteCubes is a CubeSource that implements dataset.Sized, so that sessions read it one frame ahead like a
// recording.
type FiniteCubes struct{ *CubeSource }

func (f FiniteCubes) Frames() int { return f.left }

// WriteRecording writes a walk-off recording of a CubeSource, of which 8 cubes move in each frame, and
// returns its path.
func WriteRecording(t *testing.T, cubes, frames int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "crowd.bin")
	w, err := dataset.Create(nil, path, cubes)
	if err != nil {
		t.Fatal(err)
	}
	c := NewCubeSource(cubes, 8, -1, 42) // -1: the number of frames is not limited
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

// FileSource is a source that consists of two small files: the old file, and the new file to deliver.
type FileSource struct{ Old, New []byte }

// NewFileSource returns a source of two similar, compressible files of n bytes each. seed selects their
// contents.
func NewFileSource(n int, seed uint64) *FileSource {
	rng := rand.New(rand.NewPCG(seed, 5))
	p := &FileSource{}
	for range n {
		p.Old = append(p.Old, "the quick brown fox jumps"[rng.IntN(25)])
	}
	p.New = bytes.Clone(p.Old)
	for i := 0; i < n; i += 50 { // every 50th byte differs
		p.New[i]++
	}
	return p
}

func (p *FileSource) Schema() *frame.Schema {
	return &frame.Schema{Name: "files", Item: "byte", Delivery: frame.Reliable, TickHz: 1000}
}

// Initial implements dataset.Source: it fills f with the old file.
func (p *FileSource) Initial(f *frame.Frame) { f.Body = append(f.Body[:0], p.Old...) }

// Next implements dataset.Source: it fills f with the new file.
func (p *FileSource) Next(f *frame.Frame) error { f.Body = append(f.Body[:0], p.New...); return nil }

// WriteFiles writes the old and the new file of p to a temporary folder and returns the data specification
// "files:OLD,NEW".
func WriteFiles(t *testing.T, p *FileSource) string {
	t.Helper()
	dir := t.TempDir()
	old, new := filepath.Join(dir, "old"), filepath.Join(dir, "new")
	for path, data := range map[string][]byte{old: p.Old, new: p.New} {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return "files:" + old + "," + new
}

// CubeCodecs returns the codecs that can encode snapshots of cubes, for tests that swap encoders at random.
func CubeCodecs() []encoders.Codec {
	s := frame.Cubes(frame.WalkoffCubes)
	return slices.DeleteFunc(table.All(), func(c encoders.Codec) bool { return !c.Suits(s) })
}
