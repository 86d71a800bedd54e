package dataset

import (
	"context"
	"fmt"
	"io"
)

// info summarizes a source.
type info struct {
	Frames int    // frames 0..5 of a recording included
	Cubes  int    // in each
	SHA256 string // of all records: see Digest
}

// describe reads the source that spec describes, at most the given number of frames (at least seven; 0
// means all), and summarizes it. It reports all errors in a recording, including a bad preamble.
func describe(spec string, opt Options, frames int) (about info, err error) {
	opt.Loop = false
	if frames > 0 && frames < minFrames {
		return info{}, fmt.Errorf("data %q: %w: %d frames, expected at least %d", spec, ErrSpec, frames, minFrames)
	}
	src, err := Open(context.Background(), spec, opt)
	if err != nil {
		return info{}, err
	}
	if r, ok := src.(*Recording); ok {
		defer r.Close()
		if err := r.Preamble(); err != nil {
			return info{}, err
		}
	}
	if _, ends := src.(Sized); !ends && frames <= 0 {
		return info{}, fmt.Errorf("data %q: %w: it never ends, say how many frames", spec, ErrSpec)
	}
	f := src.Schema().NewFrame()
	src.Initial(f)
	d := NewDigest(f)
	about = info{Frames: preamble, Cubes: src.Schema().Rows}
	for frames <= 0 || about.Frames < frames {
		if err := src.Next(f); err == io.EOF {
			break
		} else if err != nil {
			return info{}, err
		}
		d.Add(f)
		about.Frames++
	}
	about.SHA256 = d.Sum()
	return about, nil
}
