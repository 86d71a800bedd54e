// Package patch makes and applies binary deltas of files: what a player who has
// the old file must download to have the new one.
//
// The new file is coded in blocks, each in the cheapest of three modes: raw, which
// is the bytes themselves; clone, which is a place in the source where the very
// same bytes lie; and patch, which is copies of what is like it, with differences
// (see align, which finds them, and delta, which codes them). The source is the
// old file and the part of the new one that was coded.
//
// Neither side needs memory in proportion to the files. The receiver reads the old file
// a few kilobytes at a time, writes the new one from front to back, and holds less
// than 10 MB of heap; the maker holds an index of at most 32 MB and less than 64 MB of
// other memory, and maps both files. README.md has the measurements.
//
// Make streams; MakeFile and ApplyFile work on files; a new one appears
// complete or not at all; ApplyBytes works in memory. Options.Watch
// shows what the maker finds out.
//
// # Format
//
// Numbers are unsigned varints as of encoding/binary, signed ones zigzag.
//
//	magic     4 bytes   "WLPT"
//	version   1 byte    1
//	profile   1 byte    0 mixing, 1 fast
//	old size  number
//	new size  number
//	old hash  32 bytes  SHA-256
//	new hash  32 bytes  SHA-256
//	blocks    until the new size is reached; nothing follows
//
// A block begins with a number, the bytes that it makes times four plus its mode:
//
//	0 raw     the bytes; at most 256 KB
//	1 clone   signed: the address, less where the last clone ended or would go on
//	2 patch   the size of a packet of delta, and the packet; at most 256 KB are made
//
// Addresses count the bytes of the old file, and then those of the new one.
package patch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Errors of patches, all found before the new file appears.
var (
	// ErrFormat: this is no patch, or one of a version or profile that is unknown.
	ErrFormat = errors.New("not a patch")
	// ErrCorrupt: the patch is damaged: it has what no maker writes, ends early or
	// goes on behind its end.
	ErrCorrupt = errors.New("corrupt patch")
	// ErrWrongOld: the patch is for another old file.
	ErrWrongOld = errors.New("the patch is for another old file")
	// ErrWrongNew: what came out is not the new file.
	ErrWrongNew = errors.New("the patch did not make the new file")
)

const (
	magic   = "WLPT"
	version = 1

	profileMixing = 0
	profileFast   = 1

	modeRaw   = 0
	modeClone = 1
	modePatch = 2

	maxSize = 1 << 46 // of files: addresses must fit the numbers of delta
)

// Hash is a SHA-256.
type Hash [32]byte

// Header is what a patch says of its files.
type Header struct {
	Fast             bool // the profile that is quick to apply
	OldSize, NewSize int64
	OldHash, NewHash Hash
}

// append appends the header to a patch.
func (h *Header) append(dst []byte) []byte {
	profile := byte(profileMixing)
	if h.Fast {
		profile = profileFast
	}
	dst = append(append(dst, magic...), version, profile)
	dst = binary.AppendUvarint(dst, uint64(h.OldSize))
	dst = binary.AppendUvarint(dst, uint64(h.NewSize))
	return append(append(dst, h.OldHash[:]...), h.NewHash[:]...)
}

// byteReader is what a patch is read from.
type byteReader interface {
	io.Reader
	io.ByteReader
}

// readHeader reads the header of a patch.
func readHeader(r byteReader) (h Header, err error) {
	var fixed [len(magic) + 2]byte
	if _, err := io.ReadFull(r, fixed[:]); errors.Is(early(err), ErrCorrupt) {
		return h, fmt.Errorf("%w: it ends within its first %d bytes", ErrFormat, len(fixed))
	} else if err != nil {
		return h, err
	}
	if got := string(fixed[:len(magic)]); got != magic {
		return h, fmt.Errorf("%w: it begins with %q; expected %q", ErrFormat, got, magic)
	}
	if v := fixed[len(magic)]; v != version {
		return h, fmt.Errorf("%w of version %d, but of %d", ErrFormat, version, v)
	}
	switch profile := fixed[len(magic)+1]; profile {
	case profileMixing:
	case profileFast:
		h.Fast = true
	default:
		return h, fmt.Errorf("%w of a profile that is known: %d; expected %d or %d", ErrFormat, profile, profileMixing, profileFast)
	}
	for _, size := range []*int64{&h.OldSize, &h.NewSize} {
		if *size, err = readNumber(r); err != nil {
			return h, fmt.Errorf("header: %w", err)
		}
		if *size > maxSize {
			return h, fmt.Errorf("header: %w: a file of %d bytes; expected at most %d", ErrCorrupt, *size, int64(maxSize))
		}
	}
	for _, hash := range []*Hash{&h.OldHash, &h.NewHash} {
		if _, err := io.ReadFull(r, hash[:]); err != nil {
			return h, fmt.Errorf("header: %w", early(err))
		}
	}
	return h, nil
}

// readNumber reads a number below 1<<62.
func readNumber(r io.ByteReader) (int64, error) {
	v, err := binary.ReadUvarint(r)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return 0, early(err)
	case err != nil:
		return 0, fmt.Errorf("%w: %w", ErrCorrupt, err)
	case v >= 1<<62:
		return 0, fmt.Errorf("%w: the number %d; expected less than 1<<62", ErrCorrupt, v)
	}
	return int64(v), nil
}

// early words the end of a patch that came too soon; other errors stay.
func early(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends early", ErrCorrupt)
	}
	return err
}

// unzigzag returns the signed number that zigzag coding maps to u.
func unzigzag(u int64) int64 { return int64(uint64(u)>>1) ^ -(u & 1) }
