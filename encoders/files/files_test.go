package files

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"wirelab/dataset"
	"wirelab/dataset/files"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/patch"
)

func codecs() []encoders.Codec {
	return []encoders.Codec{Patch(), WholeZstd(), WholeRaw()}
}

func schema() *frame.Schema {
	return &frame.Schema{Name: "files", Item: "byte", Delivery: frame.Reliable}
}

// example returns the embedded example as frames.
func example() (old, new *frame.Frame) {
	src, err := dataset.Open(context.Background(), "files", dataset.Options{Seed: 3})
	if err != nil {
		panic(err)
	}
	old, new = &frame.Frame{}, &frame.Frame{}
	src.Initial(old)
	if err := src.Next(new); err != nil {
		panic(err)
	}
	return old, new
}

// encode returns the packet of new against old.
func encode(t testing.TB, c encoders.Codec, old, new *frame.Frame) []byte {
	t.Helper()
	enc, _, err := c.New(schema(), c.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := enc.Encode(nil, new, []encoders.Ref{{Frame: old}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestExample encodes and decodes the embedded example, and compares the packet sizes of the codecs.
func TestExample(t *testing.T) {
	if maxFile != files.MaxFile {
		t.Errorf("encoders take files of %d bytes, the data hold up to %d", maxFile, files.MaxFile)
	}
	old, new := example()
	size := map[string]int{}
	for _, c := range codecs() {
		packet := encode(t, c, old, new)
		_, dec, err := c.New(schema(), c.Defaults())
		if err != nil {
			t.Fatal(err)
		}
		var got frame.Frame
		if _, err := dec.Decode(&got, packet, []encoders.Ref{{Frame: old}}, nil); err != nil || !bytes.Equal(got.Body, new.Body) {
			t.Errorf("%s: the decoded file differs, error %v", c.Name, err)
		}
		size[c.Name] = len(packet)
	}
	if a, b, c := size["patch"], size["whole-zstd"], size["whole-raw"]; 4*a >= b || b >= c {
		t.Errorf("patch %d bytes, whole-zstd %d, whole-raw %d: "+
			"expected each larger, and much larger without the old file", a, b, c)
	}
}

// TestRefused checks that truncated packets, packets with trailing bytes and packets for another old file are
// refused.
func TestRefused(t *testing.T) {
	old, new := &frame.Frame{Body: bytes.Repeat([]byte("the old file. "), 100)},
		&frame.Frame{Body: bytes.Repeat([]byte("the new file. "), 120)}
	for _, c := range []encoders.Codec{Patch(), WholeZstd()} {
		packet := encode(t, c, old, new)
		_, dec, _ := c.New(schema(), c.Defaults())
		for _, bad := range [][]byte{nil, packet[:len(packet)-1], packet[:len(packet)/2], append(bytes.Clone(packet), 1)} {
			_, err := dec.Decode(&frame.Frame{}, bad, []encoders.Ref{{Frame: old}}, nil)
			if !errors.Is(err, encoders.ErrCorrupt) && !errors.Is(err, encoders.ErrTruncated) {
				t.Errorf("%s: %d of %d bytes: %v", c.Name, len(bad), len(packet), err)
			}
		}
	}
	packet := encode(t, Patch(), old, new)
	if _, err := (unpatcher{}).Decode(&frame.Frame{}, packet, []encoders.Ref{{Frame: new}}, nil); !errors.Is(err, patch.ErrWrongOld) {
		t.Errorf("with another old file: %v", err)
	}
}

// TestBomb checks that a small packet of a very large file is refused.
func TestBomb(t *testing.T) {
	huge := &frame.Frame{Body: make([]byte, maxFile)}
	packet := encode(t, WholeZstd(), &frame.Frame{}, huge)
	bomb := append(bytes.Clone(packet), packet...) // frames follow each other, says RFC 8878
	if _, err := (wholeFile{unpack: unpackZstd}).Decode(&frame.Frame{}, bomb, nil, nil); !errors.Is(err, encoders.ErrCorrupt) {
		t.Errorf("packet of %d bytes that makes two times %d: %v", len(bomb), maxFile, err)
	}
	huge.Body = append(huge.Body, 0)
	for _, c := range codecs() {
		enc, _, _ := c.New(schema(), c.Defaults())
		if _, _, err := enc.Encode(nil, huge, []encoders.Ref{{Frame: &frame.Frame{}}}, nil, nil); err == nil {
			t.Errorf("%s: no error for a file of %d bytes", c.Name, len(huge.Body))
		}
	}
}

// TestFollow checks that the callback of Follow receives all progress and can stop the work.
func TestFollow(t *testing.T) {
	old, new := example()
	old.Body, new.Body = old.Body[:100_000], new.Body[:120_000]
	c := Patch()
	enc, _, _ := c.New(schema(), nil)
	var done int64
	enc.(Gradual).Follow(func(at, total int64) error {
		done = at
		return nil
	})
	if _, _, err := enc.Encode(nil, new, []encoders.Ref{{Frame: old}}, nil, nil); err != nil || done != int64(len(new.Body)) {
		t.Errorf("progress of %d bytes of %d; error %v", done, len(new.Body), err)
	}
	stop := errors.New("stop")
	enc.(Gradual).Follow(func(int64, int64) error { return stop })
	if _, _, err := enc.Encode(nil, new, []encoders.Ref{{Frame: old}}, nil, nil); !errors.Is(err, stop) {
		t.Errorf("stopped with %v", err)
	}
}
