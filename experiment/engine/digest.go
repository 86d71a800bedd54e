package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"wirelab/dataset/frame"
)

// digest is a SHA-256 over every datagram sent and every frame decoded, in order. Two runs with
// equal digests sent the same bytes and decoded the same frames.
//
// The hashed stream consists of records: one byte for the kind, the length of the content as a
// little-endian uint32, and the content. The kinds are
//
//	D  a datagram
//	F  a decoded frame: its values as little-endian int32, then its body
//	S  a decoded frame that equals the source's: the packet's sequence number as uint64
//	M  a delivered message
//	R  a frame decoded by a remote receiver: its Fingerprint
//
// S suffices for a frame that equals the source's, since the initial state and the datagrams
// determine its content. Frames of codecs that quantise have other values, and these may differ
// between machines whose floating-point results differ, so they are hashed in full.
type digest struct {
	h   hash.Hash
	buf []byte // the record being built, reused
}

// newDigest returns an empty digest.
func newDigest() digest { return digest{h: sha256.New()} }

// addDecoded adds got, the frame that was decoded for flight f: only the sequence number if the frame
// equals the source's, otherwise all its values. same means that it equals the frame that the sender
// stored and has its sequence number.
func (d *digest) addDecoded(f *flight, got *frame.Frame, same bool) {
	if !same || !f.unquantised {
		d.addFrame(got)
		return
	}
	d.beginRecord('S', 8)
	d.buf = binary.LittleEndian.AppendUint64(d.buf, f.rec.Seq)
	d.h.Write(d.buf)
}

// add adds a record of the given kind, such as a sent datagram.
func (d *digest) add(kind byte, content []byte) {
	d.beginRecord(kind, len(content))
	d.h.Write(d.buf)
	d.h.Write(content)
}

// addFrame adds all values of a decoded frame.
func (d *digest) addFrame(f *frame.Frame) {
	d.encodeFrame(f)
	d.h.Write(d.buf)
}

// frameSum returns the SHA-256 of the F record of one frame. It does not change the digest.
func (d *digest) frameSum(f *frame.Frame) [sha256.Size]byte {
	d.encodeFrame(f)
	return sha256.Sum256(d.buf)
}

// fingerprint returns the fingerprint of a frame. It does not change the digest.
func (d *digest) fingerprint(f *frame.Frame) Fingerprint {
	sum := d.frameSum(f)
	return Fingerprint(sum[:len(Fingerprint{})])
}

// Fingerprint identifies a frame: the first 8 bytes of the SHA-256 of its values and its body.
type Fingerprint [8]byte

// Fingerprinter computes fingerprints of frames. The zero value is ready to use.
type Fingerprinter struct{ d digest }

// Of returns the fingerprint of a frame's values and body.
func (p *Fingerprinter) Of(f *frame.Frame) Fingerprint { return p.d.fingerprint(f) }

// encodeFrame sets d.buf to the F record of a frame.
func (d *digest) encodeFrame(f *frame.Frame) {
	d.beginRecord('F', 4*len(f.Table)+len(f.Body))
	at := len(d.buf)
	d.buf = append(d.buf, make([]byte, 4*len(f.Table))...)
	for i, v := range f.Table {
		binary.LittleEndian.PutUint32(d.buf[at+4*i:], uint32(v))
	}
	d.buf = append(d.buf, f.Body...)
}

// beginRecord sets d.buf to the head of a record whose content is n bytes long.
func (d *digest) beginRecord(tag byte, n int) {
	d.buf = binary.LittleEndian.AppendUint32(append(d.buf[:0], tag), uint32(n))
}

// sum returns the digest of all records so far, in hexadecimal.
func (d *digest) sum() string { return hex.EncodeToString(d.h.Sum(nil)) }
