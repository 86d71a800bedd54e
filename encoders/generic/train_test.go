package generic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/recording"
	"wirelab/encoders/train"
)

// randomHeap returns n frames of cubes. The first frame is the same for all seeds; each further
// frame moves one cube.
func randomHeap(seed uint64, rows, n int) []*frame.Frame {
	place, throw := rand.New(rand.NewPCG(1, 1)), rand.New(rand.NewPCG(seed, 2))
	cur := frame.Cubes(rows).NewFrame()
	toss := func(cube int, rng *rand.Rand) {
		copy(cur.Table[cube*frame.CubeFields:], []int32{3, 256, 256, 256, rng.Int32N(1 << 16), rng.Int32N(1 << 16), rng.Int32N(1 << 13), 0})
	}
	for i := range rows {
		toss(i, place)
	}
	var frames []*frame.Frame
	for range n {
		f := &frame.Frame{}
		f.CopyFrom(cur)
		frames = append(frames, f)
		toss(throw.IntN(rows), throw)
	}
	return frames
}

// The same clips give the same dictionary; the held-out clip does not affect it; and the dictionary
// helps if recordings begin alike.
func TestTrainer(t *testing.T) {
	held := recording.Clip("held", frame.Cubes(200), randomHeap(3, 200, 60))
	job := train.Job{Clips: []train.Clip{recording.Clip("a", frame.Cubes(200), randomHeap(1, 200, 200)), recording.Clip("b", frame.Cubes(200), randomHeap(2, 200, 100))}}
	var points []train.Point
	learn := CubesTrainer().Train
	alone, err := learn(t.Context(), job, train.Log{})
	if err != nil {
		t.Fatal(err)
	}
	job.Held = &held
	files, err := learn(t.Context(), job, train.Log{Point: func(p train.Point) { points = append(points, p) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 || files[0].Name != "cubes.zdict" || !bytes.Equal(files[0].Data, alone[0].Data) {
		t.Error("a held-out clip changed the dictionary")
	}
	if len(points) != 2 || points[1].Held > 0.6*points[0].Held || points[1].Train > 0.8*points[0].Train {
		t.Errorf("the dictionary does not help: %+v", points)
	}
	job.Held = nil
	_, err = learn(t.Context(), job, train.Log{Point: func(p train.Point) {
		if !math.IsNaN(p.Held) {
			t.Errorf("measured without a held-out clip: %+v", p)
		}
	}})
	if err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := learn(ctx, job, train.Log{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancel, it returns %v", err)
	}
	if _, err := learn(t.Context(), train.Job{}, train.Log{}); err == nil {
		t.Error("trained without clips")
	}
}

// Training on bravo reproduces the embedded dictionary.
func TestEmbeddedDictionaryIsReproducible(t *testing.T) {
	clip := recording.Clip("bravo", frame.Cubes(frame.WalkoffCubes), recording.Load(t, "bravo", 0))
	files, err := CubesTrainer().Train(t.Context(), train.Job{Clips: []train.Clip{clip}}, train.Log{})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(files[0].Data, embeddedDictionary) {
		t.Errorf("%d bytes, not the %d that are embedded: train it again", len(files[0].Data), len(embeddedDictionary))
	}
}

// The dictionary contains only the state with which every recording begins, also those that it was
// not trained on.
func TestDictionaryIsFirstFrame(t *testing.T) {
	dictionary, err := zstd.InspectDictionary(embeddedDictionary)
	if err != nil {
		t.Fatal(err)
	}
	if dictionary.ID() != trainedDictID {
		t.Errorf("its number is %d, want %d", dictionary.ID(), trainedDictID)
	}
	l := newLayout(frame.Cubes(frame.WalkoffCubes))
	for _, name := range recording.Names() {
		first, err := l.pack(nil, recording.Load(t, name, 1)[0])
		if err != nil || !bytes.Equal(first, dictionary.Content()) {
			t.Errorf("%s does not begin with the initial state: %v", name, err)
		}
	}
}

// The zstd program, if installed, decodes our packets with our dictionary, and we decode its
// output.
func TestZstdProgramReadsPackets(t *testing.T) {
	program, err := exec.LookPath("zstd")
	if err != nil {
		t.Skipf("the program zstd is not there: %v", err)
	}
	s, cur := frame.Cubes(50), randomHeap(7, 50, 20)[19]
	codec := ZstdDict()
	enc, dec, err := codec.New(s, codec.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	refs := []encoders.Ref{{Frame: s.NewFrame()}}
	packet, _, err := enc.Encode(nil, cur, refs, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "dictionary")
	if err := os.WriteFile(path, embeddedDictionary, 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(in []byte, flags ...string) []byte {
		cmd := exec.CommandContext(t.Context(), program, append(flags, "-q", "-c", "-D", path)...)
		cmd.Stdin = bytes.NewReader(in)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("zstd %v: %v", flags, err)
		}
		return out
	}
	plain, err := newLayout(s).pack(nil, cur)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(run(packet, "-d"), plain) {
		t.Error("zstd decoded a different frame")
	}
	got := s.NewFrame()
	theirs := run(plain, "--no-check", fmt.Sprintf("--stream-size=%d", len(plain))) // else the window is the largest there is
	if _, err := dec.Decode(got, theirs, refs, nil); err != nil || !got.Equal(cur) {
		t.Errorf("the output of zstd decodes to a different frame, error %v", err)
	}
}

// A packet that names an unknown dictionary is refused.
func TestUnknownDictionary(t *testing.T) {
	s := frame.Cubes(50)
	codec := ZstdDict()
	enc, dec, err := codec.New(s, codec.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	refs := []encoders.Ref{{Frame: s.NewFrame()}}
	packet, _, err := enc.Encode(nil, randomHeap(7, 50, 1)[0], refs, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.IndexByte(packet, trainedDictID)
	if at != 5 && at != 6 { // after four bytes of magic, one of flags, perhaps one of window
		t.Fatalf("the dictionary id is at byte %d of %x", at, packet)
	}
	packet[at]++
	if _, err := dec.Decode(s.NewFrame(), packet, refs, nil); !errors.Is(err, encoders.ErrCorrupt) {
		t.Errorf("error %v, want ErrCorrupt", err)
	}
}
