// Package patch makes and applies binary patches: the data that a player with the old version of a file
// must download to get the new version.
//
// The new file is coded in blocks, each in the smallest of three modes. A raw block contains the bytes. A
// clone is the address of equal bytes in the source. A patch block consists of copies of similar bytes
// with differences, which package align finds and package delta codes. The source is the old file and
// the part of the new file that is already coded.
//
// Memory does not grow with the sizes of the files. Applying reads the old file a few kilobytes at a time,
// writes the new file from start to end, and takes less than 10 MB of heap. Making takes an index of at
// most 32 MB, less than 64 MB of other memory, and maps both files. README.md has the measurements.
//
// Make writes to an io.Writer, MakeFile and ApplyFile work on files, and ApplyBytes works in memory. A new
// file appears complete or not at all.
//
// # Format
//
// A number is an unsigned varint of encoding/binary. A signed number is zigzag-coded first.
//
//	magic     4 bytes   "WLPT"
//	version   1 byte    1
//	profile   1 byte    0
//	old size  number
//	new size  number
//	old hash  32 bytes  SHA-256
//	new hash  32 bytes  SHA-256
//	blocks    until the new size is reached; nothing follows
//
// A block begins with a number: four times the number of bytes that it makes, plus its mode. Then follows,
// by mode:
//
//	0 raw     the bytes, at most 256 KB
//	1 clone   a signed number: the change of the diagonal since the last clone; a diagonal is the address
//	          minus the position in the new file, and starts at 0
//	2 patch   the size of a packet of package delta, and the packet; it makes at most 256 KB
//
// Addresses count the bytes of the old file and, after it, those of the new file.
package patch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Errors of patches. All are found before the new file appears.
var (
	// ErrFormat means that the data is no patch, or one of an unknown version or profile.
	ErrFormat = errors.New("not a patch")
	// ErrCorrupt means that the patch is damaged: it is truncated, has bytes after its end, or contains
	// something that Make does not write.
	ErrCorrupt = errors.New("corrupt patch")
	// ErrWrongOld means that the patch is for another old file.
	ErrWrongOld = errors.New("the patch is for another old file")
	// ErrWrongNew means that the result has another hash than the new file.
	ErrWrongNew = errors.New("the patch did not make the new file")
)

const (
	magic   = "WLPT"
	version = 1

	profile = 0 // the only profile

	modeRaw   = 0
	modeClone = 1
	modePatch = 2

	maxSize = 1 << 46 // maximum size of a file, so that addresses fit the numbers of package delta
)

// Hash is a SHA-256.
type Hash [32]byte

// Header is the header of a patch.
type Header struct {
	OldSize, NewSize int64
	OldHash, NewHash Hash
}

func (h *Header) append(dst []byte) []byte {
	dst = append(append(dst, magic...), version, profile)
	dst = binary.AppendUvarint(dst, uint64(h.OldSize))
	dst = binary.AppendUvarint(dst, uint64(h.NewSize))
	return append(append(dst, h.OldHash[:]...), h.NewHash[:]...)
}

// byteReader is the reader of a patch.
type byteReader interface {
	io.Reader
	io.ByteReader
}

// readHeader reads and checks the header of a patch: magic, version and profile, then the
// sizes and hashes of both files. A wrong magic, version or profile is an ErrFormat.
func readHeader(r byteReader) (h Header, err error) {
	var fixed [len(magic) + 2]byte
	if _, err := io.ReadFull(r, fixed[:]); errors.Is(truncatedError(err), ErrCorrupt) {
		return h, fmt.Errorf("%w: fewer than %d bytes", ErrFormat, len(fixed))
	} else if err != nil {
		return h, err
	}
	if got := string(fixed[:len(magic)]); got != magic {
		return h, fmt.Errorf("%w: begins with %q, expected %q", ErrFormat, got, magic)
	}
	if v := fixed[len(magic)]; v != version {
		return h, fmt.Errorf("%w of a known version: %d, expected %d", ErrFormat, v, version)
	}
	if p := fixed[len(magic)+1]; p != profile {
		return h, fmt.Errorf("%w of a known profile: %d, expected %d", ErrFormat, p, profile)
	}
	for _, size := range []*int64{&h.OldSize, &h.NewSize} {
		if *size, err = readNumber(r); err != nil {
			return h, fmt.Errorf("header: %w", err)
		}
		if *size > maxSize {
			return h, fmt.Errorf("header: %w: file of %d bytes, expected at most %d", ErrCorrupt, *size, int64(maxSize))
		}
	}
	for _, hash := range []*Hash{&h.OldHash, &h.NewHash} {
		if _, err := io.ReadFull(r, hash[:]); err != nil {
			return h, fmt.Errorf("header: %w", truncatedError(err))
		}
	}
	return h, nil
}

// readNumber reads a number below 1<<62 in the format of binary.Uvarint.
func readNumber(r io.ByteReader) (int64, error) {
	v, err := binary.ReadUvarint(r)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return 0, truncatedError(err)
	case err != nil:
		return 0, fmt.Errorf("%w: %w", ErrCorrupt, err)
	case v >= 1<<62:
		return 0, fmt.Errorf("%w: number %d, expected less than 1<<62", ErrCorrupt, v)
	}
	return int64(v), nil
}

// truncatedError replaces an end of file by an error that wraps ErrCorrupt. Other errors are unchanged.
func truncatedError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: truncated", ErrCorrupt)
	}
	return err
}

// unzigzag returns the signed number that zigzag coding maps to u.
func unzigzag(u int64) int64 { return int64(uint64(u)>>1) ^ -(u & 1) }
