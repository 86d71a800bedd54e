package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"wirelab/dataset/frame"
)

// digest computes the digest of a recording: the SHA-256 of its uncompressed walk-off records, frames
// 0 to 5 included. It does not depend on the compression, and equals `sha256sum` of the raw file.
type digest struct {
	hash hash.Hash
	buf  []byte
}

// NewDigest returns a digest to which the preamble of a recording has been added: the initial state, six
// times. initial is nil for data that is not a recording and has no preamble.
func NewDigest(initial *frame.Frame) *digest {
	d := &digest{hash: sha256.New()}
	for n := 0; n < preamble && initial != nil; n++ {
		d.Add(initial)
	}
	return d
}

// Add adds a frame: its table as records, then its body.
func (d *digest) Add(f *frame.Frame) {
	d.buf = append(appendRecords(d.buf[:0], f), f.Body...)
	d.hash.Write(d.buf)
}

// Sum returns the digest of the frames so far in hexadecimal.
func (d *digest) Sum() string { return hex.EncodeToString(d.hash.Sum(nil)) }
