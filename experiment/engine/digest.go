package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"wirelab/dataset/frame"
)

// digest is a SHA-256 over every datagram sent and every frame decoded, in order,
// each preceded by a tag and its length. Two runs with equal digests did the same, to
// the bit.
//
// Of a decoded frame that equals the source's, bit for bit, it takes the number of the packet
// instead of its content: the initial state and the datagrams, which are in the digest,
// determine that content. A codec that quantises decodes to other values, which may differ
// between machines with other floats: those frames are taken in full.
type digest struct {
	h     hash.Hash
	buf   []byte
	whole bool // every frame is taken in full, as before version 3
}

func newDigest(whole bool) digest { return digest{h: sha256.New(), whole: whole} }

// decoded adds the frame that was decoded of flight f. same: it is the frame that the sender
// stored, under its number.
func (d *digest) decoded(f *flight, got *frame.Frame, same bool) {
	if !same || !f.exact || d.whole {
		d.frame(got)
		return
	}
	d.begin('S', 8)
	d.buf = binary.LittleEndian.AppendUint64(d.buf, f.rec.Seq)
	d.h.Write(d.buf)
}

func (d *digest) datagram(b []byte) {
	d.begin('D', len(b))
	d.h.Write(d.buf)
	d.h.Write(b)
}

func (d *digest) frame(f *frame.Frame) {
	d.fill(f)
	d.h.Write(d.buf)
}

// of returns the SHA-256 of one frame. It does not change the digest.
func (d *digest) of(f *frame.Frame) [sha256.Size]byte {
	d.fill(f)
	return sha256.Sum256(d.buf)
}

// reported adds the fingerprint of a frame that was decoded at the far end of a network, and
// differs from the one decoded here.
func (d *digest) reported(p Fingerprint) {
	d.begin('R', len(p))
	d.h.Write(d.buf)
	d.h.Write(p[:])
}

func (d *digest) fingerprint(f *frame.Frame) Fingerprint {
	sum := d.of(f)
	return Fingerprint(sum[:len(Fingerprint{})])
}

// Fingerprint is the beginning of the SHA-256 of a frame, which identifies it.
type Fingerprint [8]byte

// Fingerprinter takes fingerprints of frames. The zero value is ready.
type Fingerprinter struct{ d digest }

// Of returns the fingerprint of a frame's values and body.
func (p *Fingerprinter) Of(f *frame.Frame) Fingerprint { return p.d.fingerprint(f) }

// fill puts a frame's bytes into the buffer.
func (d *digest) fill(f *frame.Frame) {
	d.begin('F', 4*len(f.Table)+len(f.Body))
	at := len(d.buf)
	d.buf = append(d.buf, make([]byte, 4*len(f.Table))...)
	for i, v := range f.Table {
		binary.LittleEndian.PutUint32(d.buf[at+4*i:], uint32(v))
	}
	d.buf = append(d.buf, f.Body...)
}

func (d *digest) begin(tag byte, n int) {
	d.buf = binary.LittleEndian.AppendUint32(append(d.buf[:0], tag), uint32(n))
}

// sum returns the digest so far; more may follow.
func (d *digest) sum() string { return hex.EncodeToString(d.h.Sum(nil)) }
