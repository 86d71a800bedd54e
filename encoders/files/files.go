// Package files implements encoders of whole files. A frame is a new file, and its reference is the old
// file. A packet is larger than a datagram; the sender splits it and retransmits the pieces until all have
// arrived.
//
// patch codes the difference between the files (package encoders/patch). whole-zstd and
// whole-raw do not use the old file and are for comparison.
package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/patch"
)

// maxFile is the largest size of a file in bytes. A decoder stops there, whatever size a packet claims.
const maxFile = 64 << 20

// Gradual is implemented by encoders that may take seconds for a file.
type Gradual interface {
	// Follow sets the callback for the files that are encoded from now on. Its error stops the work,
	// and Encode returns it. progress may be nil.
	Follow(progress patch.Progress)
}

// suits reports whether frames of a schema are files: bytes without a table, all of which must arrive.
func suits(s *frame.Schema) bool { return s.Rows == 0 && s.Delivery == frame.Reliable }

// oldFile returns the old file: the body of the only reference. It panics without references.
func oldFile(refs []encoders.Ref) []byte {
	if len(refs) == 0 {
		panic("files: no reference, expected the old file")
	}
	return refs[0].Frame.Body
}

// checkSize returns an error if a file is too large for the decoders.
func checkSize(file []byte) error {
	if len(file) > maxFile {
		return fmt.Errorf("files: file of %d bytes, expected at most %d", len(file), maxFile)
	}
	return nil
}

// WholeZstd returns the codec whole-zstd, which compresses the new file without the old one.
func WholeZstd() encoders.Codec {
	return encoders.Codec{
		ID: 50, Name: "whole-zstd", Refs: 1, Standalone: true, Suits: suits,
		Summary: "the whole new file, compressed with Zstandard, for receivers without the old one",
		Source:  "RFC 8878, Yann Collet, 2021; library klauspost/compress",
		Params:  &zstdParams{Level: int(zstd.SpeedBestCompression)},
		New: func(_ *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
			if err := encoders.Validate(params); err != nil {
				return nil, nil, err
			}
			w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevel(params.(*zstdParams).Level)),
				zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
			if err != nil {
				return nil, nil, fmt.Errorf("files: zstd: %w", err)
			}
			return wholeFile{pack: func(dst, file []byte) []byte { return w.EncodeAll(file, dst) }}, wholeFile{unpack: unpackZstd}, nil
		},
	}
}

// zstdParams are the parameters of whole-zstd.
type zstdParams struct {
	Level int `toml:"level" help:"compression level: 1 is fastest, 4 smallest" min:"1" max:"4"`
}

// maxZstdWindow is the largest window of the packets that whole-zstd writes.
const maxZstdWindow = 16 << 20

// unpackZstd appends the contents of a packet to dst. Memory grows with the contents, whatever size the packet
// claims.
func unpackZstd(dst, packet []byte) ([]byte, error) {
	r, err := zstd.NewReader(bytes.NewReader(packet), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxZstdWindow))
	if err != nil {
		return nil, fmt.Errorf("files: zstd: %w", err)
	}
	defer r.Close()
	out := bytes.NewBuffer(dst)
	n, err := io.Copy(out, io.LimitReader(r, maxFile+1))
	switch {
	case len(packet) == 0 || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("files: zstd: %w", encoders.ErrTruncated)
	case err != nil:
		return nil, fmt.Errorf("files: zstd: %w: %w", encoders.ErrCorrupt, err)
	case n > maxFile:
		return nil, fmt.Errorf("files: zstd: %w: more than %d bytes", encoders.ErrCorrupt, maxFile)
	}
	return out.Bytes(), nil
}

// WholeRaw returns the codec whole-raw, which sends the new file uncompressed.
func WholeRaw() encoders.Codec {
	return encoders.Codec{
		ID: 51, Name: "whole-raw", Refs: 1, Standalone: true, Suits: suits,
		Summary: "the whole new file, uncompressed",
		Source:  "ours",
		New: func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) {
			pack := func(dst, file []byte) []byte { return append(dst, file...) }
			return wholeFile{pack: pack}, wholeFile{unpack: func(dst, packet []byte) ([]byte, error) {
				if len(packet) > maxFile {
					return nil, fmt.Errorf("files: %w: packet of %d bytes, expected at most %d", encoders.ErrCorrupt, len(packet), maxFile)
				}
				return append(dst, packet...), nil
			}}, nil
		},
	}
}

// wholeFile is the encoder or the decoder of a codec that uses only the new file; the function for the other
// direction is nil. Both functions append to dst.
type wholeFile struct {
	pack   func(dst, file []byte) []byte
	unpack func(dst, packet []byte) ([]byte, error)
}

func (w wholeFile) Encode(dst []byte, cur *frame.Frame, _ []encoders.Ref, _ encoders.Memo, b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if err := checkSize(cur.Body); err != nil {
		return dst, nil, err
	}
	out := w.pack(dst, cur.Body)
	b.Bits(encoders.SlotBody, 8*(len(out)-len(dst)))
	return out, nil, nil
}

func (w wholeFile) Decode(dst *frame.Frame, src []byte, _ []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	body, err := w.unpack(dst.Body[:0], src)
	if err == nil {
		dst.Body = body
	}
	return nil, err
}

// Patch returns the codec patch, which codes the difference from the old file in the fewest bytes.
func Patch() encoders.Codec {
	return encoders.Codec{
		ID: 48, Name: "patch", Refs: 1, Suits: suits,
		Summary: "the difference between two files: similar parts are copied with corrections, coded by context mixing",
		Source:  "Rich Geldreich, Mobile-friendly binary delta compression, 2015",
		New: func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) {
			return &patcher{}, unpatcher{}, nil
		},
	}
}

// patcher is the encoder of patch.
type patcher struct{ progress patch.Progress }

func (p *patcher) Follow(progress patch.Progress) { p.progress = progress }

// Encode implements encoders.Encoder. It charges clones to SlotIndex, raw blocks and patch packets to
// SlotBody, and headers to SlotModel.
func (p *patcher) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, _ encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if err := checkSize(cur.Body); err != nil {
		return dst, nil, err
	}
	out := bytes.NewBuffer(dst)
	stats, err := patch.Make(out, oldFile(refs), cur.Body, patch.Options{Progress: p.progress})
	if err != nil {
		return dst, nil, fmt.Errorf("files: %w", err)
	}
	literal := stats.RawSize + stats.PatchSize // the rest are the patch's header and the heads of blocks
	b.Bits(encoders.SlotIndex, int(8*stats.CloneSize))
	b.Bits(encoders.SlotBody, int(8*literal))
	b.Bits(encoders.SlotModel, int(8*(stats.Size-stats.CloneSize-literal)))
	return out.Bytes(), nil, nil
}

// unpatcher is the decoder of patch.
type unpatcher struct{}

func (unpatcher) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	newFile, err := patch.ApplyBytes(oldFile(refs), src, maxFile)
	if err != nil {
		return nil, fmt.Errorf("files: %w: %w", encoders.ErrCorrupt, err)
	}
	dst.Body = newFile
	return nil, nil
}
