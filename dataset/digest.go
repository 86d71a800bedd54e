package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"wirelab/dataset/frame"
)

// digest names a recording by its content: the SHA-256 of its uncompressed
// walk-off records, frames 0..5 included. It is the same for the raw file and
// for any compression of it, and equals `sha256sum` of the raw file.
type digest struct {
	hash hash.Hash
	buf  []byte
}

// NewDigest begins a digest with the initial state, which counts six times; nil for none, as for
// data that are not recordings.
func NewDigest(initial *frame.Frame) *digest {
	d := &digest{hash: sha256.New()}
	for n := 0; n < preamble && initial != nil; n++ {
		d.Add(initial)
	}
	return d
}

// Add adds one further frame: its table as records, then its bytes.
func (d *digest) Add(f *frame.Frame) {
	d.buf = append(appendRecords(d.buf[:0], f), f.Body...)
	d.hash.Write(d.buf)
}

// Sum returns the digest so far in hex.
func (d *digest) Sum() string { return hex.EncodeToString(d.hash.Sum(nil)) }
