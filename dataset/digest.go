package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"wirelab/dataset/frame"
)

// Digest names a recording by its content: the SHA-256 of its uncompressed
// walk-off records, frames 0..5 included. It is the same for the raw file and
// for any compression of it, and equals `sha256sum` of the raw file.
type Digest struct {
	hash hash.Hash
	buf  []byte
}

// NewDigest begins a digest with the initial state, which counts six times.
func NewDigest(initial *frame.Frame) *Digest {
	d := &Digest{hash: sha256.New()}
	for range preamble {
		d.Add(initial)
	}
	return d
}

// Add adds one further frame.
func (d *Digest) Add(f *frame.Frame) {
	d.buf = appendRecords(d.buf[:0], f)
	d.hash.Write(d.buf)
}

// Sum returns the digest so far in hex.
func (d *Digest) Sum() string { return hex.EncodeToString(d.hash.Sum(nil)) }

// Info describes data as a whole.
type Info struct {
	Frames int    // frames 0..5 of a recording included
	Cubes  int    // in each
	SHA256 string // of all records: see Digest
}

// Describe reads what spec names to its end, or for at most the given number of
// frames, seven or more, 0 for all, and describes that. It finds whatever is
// wrong with a recording, frames 1..5 that do not repeat frame 0 included. No command
// needs it: it is for programs and tests that check data as a whole before they use it.
func Describe(spec string, opt Options, frames int) (info Info, err error) {
	opt.Loop = false
	if frames > 0 && frames < leastFrames {
		return Info{}, fmt.Errorf("data %q: %w: %d frames, expected at least %d", spec, ErrSpec, frames, leastFrames)
	}
	src, err := Open(spec, opt)
	if err != nil {
		return Info{}, err
	}
	if r, ok := src.(*Recording); ok {
		defer r.Close()
		if err := r.Preamble(); err != nil {
			return Info{}, err
		}
	}
	if _, ends := src.(Sized); !ends && frames <= 0 {
		return Info{}, fmt.Errorf("data %q: %w: it never ends, say how many frames", spec, ErrSpec)
	}
	f := src.Schema().NewFrame()
	src.Initial(f)
	d := NewDigest(f)
	info = Info{Frames: preamble, Cubes: src.Schema().Rows}
	for frames <= 0 || info.Frames < frames {
		if err := src.Next(f); err == io.EOF {
			break
		} else if err != nil {
			return Info{}, err
		}
		d.Add(f)
		info.Frames++
	}
	info.SHA256 = d.Sum()
	return info, nil
}
