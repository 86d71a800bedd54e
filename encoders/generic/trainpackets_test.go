package generic

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/train"
)

var packetsSchema = &frame.Schema{Name: "packets", Item: "byte", Delivery: frame.Unreliable, TickHz: 30}

// gameDatagrams returns datagrams of an imaginary game: repeated headers, names, random numbers.
func gameDatagrams(seed uint64, n int) (list [][]byte) {
	rng := rand.New(rand.NewPCG(seed, 9))
	for i := range n {
		b := binary.BigEndian.AppendUint16([]byte("ps\x00\x1b"), uint16(i))
		for range 1 + rng.IntN(3) {
			b = append(b, []string{"player one is here", "position of a tank", "shot fired, heading"}[rng.IntN(3)]...)
			b = binary.LittleEndian.AppendUint16(b, uint16(rng.Uint32()))
		}
		list = append(list, b)
	}
	return list
}

func newFlowClip(name string, list [][]byte) train.Clip {
	return train.Clip{Name: name, Schema: packetsSchema, Frames: func(yield func(*frame.Frame) error) error {
		f := packetsSchema.NewFrame()
		for i, b := range list {
			f.Tick, f.Body = uint32(i), append(f.Body[:0], b...)
			if err := yield(f); err != nil {
				return err
			}
		}
		return nil
	}}
}

// trainGameDictionary writes a dictionary trained on gameDatagrams and returns its path.
func trainGameDictionary(t *testing.T, size int) string {
	t.Helper()
	held := newFlowClip("held", gameDatagrams(2, 300))
	var points []train.Point
	files, err := trainPackets(context.Background(), train.Job{Clips: []train.Clip{newFlowClip("a game", gameDatagrams(1, 900))}, Held: &held, Size: size},
		train.Log{Point: func(p train.Point) { points = append(points, p) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(points) != 2 || points[1].Held > points[0].Held*0.7 {
		t.Errorf("the curve is %+v: expected a dictionary that helps", points)
	}
	path := filepath.Join(t.TempDir(), "game.zdict")
	if err := os.WriteFile(path, files[0].Data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// With a user's own dictionary, every datagram is decoded exactly, damage gives errors, datagrams
// of the game take less than half, and the same capture gives the same file.
func TestDictionaryOfDatagrams(t *testing.T) {
	path := trainGameDictionary(t, 16<<10)
	info, err := os.Stat(path)
	if err != nil || info.Size() > 16<<10 {
		t.Errorf("%v: %d bytes, want at most 16 KB", err, info.Size())
	}
	again, _ := os.ReadFile(trainGameDictionary(t, 16<<10))
	if first, _ := os.ReadFile(path); !bytes.Equal(first, again) {
		t.Error("the same capture gave a different dictionary")
	}
	enc, dec, err := ZstdDict().New(packetsSchema, &dictParams{Level: 3, Dictionary: path})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(4, 4))
	list := gameDatagrams(3, 200)
	seen := len(list)
	for n := range 40 {
		list = append(list, make([]byte, n*n*40))
		for i := range list[len(list)-1] {
			list[len(list)-1][i] = byte(rng.IntN(1 + n))
		}
	}
	raw, spent := 0, 0
	refs := []encoders.Ref{{Frame: packetsSchema.NewFrame()}}
	for i, b := range list {
		out, _, err := enc.Encode(nil, &frame.Frame{Body: b}, refs, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if i < seen {
			raw, spent = raw+len(b), spent+len(out)
		}
		if bytes.HasPrefix(out, []byte(magic)) {
			t.Errorf("datagram %d begins with the magic number", i)
		}
		var got frame.Frame
		if _, err := dec.Decode(&got, out, refs, nil); err != nil || !bytes.Equal(got.Body, b) {
			t.Fatalf("datagram %d of %d bytes: %v", i, len(b), err)
		}
		for range 20 {
			bad := bytes.Clone(out[:rng.IntN(len(out)+1)])
			if len(bad) > 0 && rng.IntN(2) == 0 {
				bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
			}
			if _, err := dec.Decode(&got, bad, refs, nil); err != nil && !errors.Is(err, encoders.ErrCorrupt) && !errors.Is(err, encoders.ErrTruncated) {
				t.Fatalf("datagram %d, damaged: %v", i, err)
			}
		}
	}
	if 2*spent > raw {
		t.Errorf("%d bytes of %d: expected less than half", spent, raw)
	}
}

// Files that are not dictionaries are refused without delay.
func TestBadDictionaries(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, err := os.ReadFile(trainGameDictionary(t, 0))
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Clone(good)
	binary.LittleEndian.PutUint32(other[4:], 70_000)
	for want, path := range map[string]string{
		"no such file": filepath.Join(dir, "none"), "is not a regular file": dir, "is not a Zstandard dictionary": write("text", []byte("It was a dark night.")),
		"with an id from 1 to 255": write("other", other), "expected at most 131072": write("large", append(good, make([]byte, maxDictionarySize)...)),
		"cut is not a Zstandard dictionary": write("cut", good[:60]),
	} {
		_, _, err := ZstdDict().New(packetsSchema, &dictParams{Level: 3, Dictionary: path})
		if !errors.Is(err, encoders.ErrParam) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "expected a file written by tui train") {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 60 { // damaged files are dictionaries or give an error
		bad := bytes.Clone(good)
		for range 1 + rng.IntN(4) {
			bad[rng.IntN(min(len(bad), 300))] = byte(rng.Uint32())
		}
		enc, dec, err := ZstdDict().New(packetsSchema, &dictParams{Level: 3, Dictionary: write("bad", bad)})
		if err != nil {
			continue
		}
		refs := []encoders.Ref{{Frame: packetsSchema.NewFrame()}}
		if out, _, err := enc.Encode(nil, &frame.Frame{Body: gameDatagrams(5, 1)[0]}, refs, nil, nil); err == nil {
			_, _ = dec.Decode(&frame.Frame{}, out, refs, nil)
		}
	}
	if _, err := trainPackets(context.Background(), train.Job{Clips: []train.Clip{newFlowClip("a few", gameDatagrams(1, 1))}}, train.Log{}); err == nil ||
		!strings.Contains(err.Error(), "expected more datagrams") {
		t.Errorf("trained on one datagram: %v", err)
	}
}
