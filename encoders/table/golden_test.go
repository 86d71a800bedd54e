package table_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
)

var update = flag.Bool("update", false, "write the golden packets anew")

// cubeTale returns frames of cubes that rest, slide, roll, jump and interact. They are computed by simple arithmetic,
// so that they never change.
func cubeTale() (*frame.Schema, []*frame.Frame) {
	s := frame.Cubes(40)
	frames := []*frame.Frame{s.NewFrame()}
	for i := range s.Rows {
		copy(frames[0].Table[i*frame.CubeFields:], []int32{3, 256, 256, 256, int32(i) * 300, -int32(i) * 200, 102, 0})
	}
	for tick := range int32(6) {
		f := &frame.Frame{}
		f.CopyFrom(frames[len(frames)-1])
		f.Tick = uint32(tick + 1)
		for i := range int32(s.Rows) {
			q := f.Table[i*frame.CubeFields:]
			switch {
			case tick == 1: // nothing moves
			case i < 3: // slides
				q[frame.CubeX] += 4 + 11*i
			case i < 6: // rolls
				q[frame.CubeX] += 20
				q[frame.CubeY] -= 9
				q[frame.CubeA] += 5 * i
				q[frame.CubeB] += 13
			case i == 6: // falls and tumbles
				q[frame.CubeZ] = 4000 - 700*tick
				q[frame.CubeLargest] = tick % 4
				q[frame.CubeC] = 200 + 31*tick
			case i == 7: // leaves at once
				q[frame.CubeX], q[frame.CubeY] = -131072+tick, 131071-tick
			case i == 8: // is touched
				q[frame.CubeInteracting] = tick & 1
			}
		}
		frames = append(frames, f)
	}
	return s, frames
}

// taleFor returns frames for a codec: those of cubeTale if it suits cubes, otherwise frames of the first schema
// that it suits. The frames are copies, because a codec that quantises rewrites them.
func taleFor(c encoders.Codec) (*frame.Schema, []*frame.Frame) {
	s, frames := cubeTale()
	if c.Suits(s) {
		return s, frames
	}
	for _, s := range schemas() {
		if c.Suits(s) {
			return s, randomFrames(s, 30, 8)
		}
	}
	panic(c.Name + " suits no schema")
}

// packets encodes the frames of taleFor, each against the frame two before it.
func packets(t *testing.T, c encoders.Codec, s *frame.Schema, frames []*frame.Frame) []byte {
	t.Helper()
	p := newPair(t, c, s)
	var text bytes.Buffer
	for i := 1; i < len(frames); i++ {
		fmt.Fprintf(&text, "%x\n", p.send(t, frames[i], frames[max(0, i-2)]))
	}
	return text.Bytes()
}

// TestGolden compares packets with golden files, of which there is one for each codec, and decodes the golden
// packets. Packets must not change unless the version of their codec does.
func TestGolden(t *testing.T) {
	others, err := filepath.Glob(filepath.Join("testdata", "*.hex"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range table.All() {
		s, frames := taleFor(c)
		path := filepath.Join("testdata", c.Name+".hex")
		others = slices.DeleteFunc(others, func(file string) bool { return file == path })
		now := packets(t, c, s, frames)
		if *update {
			if err := os.WriteFile(path, now, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		golden, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("%s: %v (run with -update to write it)", c.Name, err)
			continue
		}
		if !bytes.Equal(now, golden) {
			t.Errorf("%s writes\n%sthe golden packets are\n%s", c.Name, now, golden)
		}
		readGolden(t, c, s, frames, string(golden))
	}
	if len(others) > 0 {
		t.Errorf("golden packets of no codec: %v", others)
	}
}

func readGolden(t *testing.T, c encoders.Codec, s *frame.Schema, frames []*frame.Frame, golden string) {
	t.Helper()
	_, dec, err := c.New(s, defaults(c))
	if err != nil {
		t.Fatal(err)
	}
	memos := make([]encoders.Memo, len(frames))
	for i, line := range strings.Split(strings.TrimSuffix(golden, "\n"), "\n") {
		payload, err := hex.DecodeString(line)
		if err != nil {
			t.Fatalf("%s, line %d: %v", c.Name, i+1, err)
		}
		got, base := s.NewFrame(), max(0, i-1)
		got.Tick = frames[i+1].Tick
		memos[i+1], err = dec.Decode(got, payload, []encoders.Ref{{Frame: frames[base], Memo: memos[base]}}, nil)
		if err != nil || !got.Equal(frames[i+1]) {
			t.Errorf("%s: golden packet %d decodes to a different frame, error %v", c.Name, i+1, err)
		}
	}
}
