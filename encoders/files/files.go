// Package files holds the encoders of whole files: the frame is the new file, its
// reference the old one, and the packet makes the new one from the old one. It is too
// large for a datagram: the sender cuts it and resends pieces until all have arrived.
//
// patch and patch-fast code the difference between the files (package encoders/patch);
// whole-zstd and whole-raw, for comparison, do not use the old one.
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

// maxFile bounds a file, and what a decoder makes of a packet whatever that claims.
const maxFile = 64 << 20

// Gradual is implemented by encoders that may take seconds for a file.
type Gradual interface {
	// Follow reports the work on the files that are encoded from now
	// on. An error of his Progress ends the work, and Encode returns it.
	Follow(progress patch.Progress, watch patch.Watch)
}

// suits is about frames that must arrive, all of them bytes.
func suits(s *frame.Schema) bool { return s.Rows == 0 && s.Delivery == frame.Every }

// old returns the old file.
func old(refs []encoders.Ref) []byte {
	if len(refs) == 0 {
		panic("files: the endpoints must hand over the old file")
	}
	return refs[0].Frame.Body
}

// checkSize refuses what decoders would.
func checkSize(file []byte) error {
	if len(file) > maxFile {
		return fmt.Errorf("files: %d bytes, expected at most %d", len(file), maxFile)
	}
	return nil
}

// WholeZstd compresses the new file by itself.
func WholeZstd() encoders.Codec {
	return encoders.Codec{
		ID: 50, Name: "whole-zstd", Refs: 1, Standalone: true, Suits: suits,
		Summary: "the whole new file through Zstandard: what must be sent to those who have nothing",
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
			return whole{pack: func(dst, file []byte) []byte { return w.EncodeAll(file, dst) }}, whole{unpack: unpackZstd}, nil
		},
	}
}

// zstdParams are the parameters of whole-zstd.
type zstdParams struct {
	Level int `toml:"level" help:"effort, from fastest to smallest" min:"1" max:"4"`
}

// maxWindow is the most that our own writer looks back.
const maxWindow = 16 << 20

// unpackZstd decompresses a packet. It takes memory as the file grows, whatever size the packet claims.
func unpackZstd(dst, packet []byte) ([]byte, error) {
	r, err := zstd.NewReader(bytes.NewReader(packet), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
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

// WholeRaw is the new file, uncompressed.
func WholeRaw() encoders.Codec {
	return encoders.Codec{
		ID: 51, Name: "whole-raw", Refs: 1, Standalone: true, Suits: suits,
		Summary: "the whole new file as it is",
		Source:  "ours",
		New: func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) {
			pack := func(dst, file []byte) []byte { return append(dst, file...) }
			return whole{pack: pack}, whole{unpack: func(dst, packet []byte) ([]byte, error) {
				if len(packet) > maxFile {
					return nil, fmt.Errorf("files: %w: %d bytes, expected at most %d", encoders.ErrCorrupt, len(packet), maxFile)
				}
				return append(dst, packet...), nil
			}}, nil
		},
	}
}

// whole is either end of an encoder that uses only the new file. Both functions append to dst.
type whole struct {
	pack   func(dst, file []byte) []byte
	unpack func(dst, packet []byte) ([]byte, error)
}

// Encode implements encoders.Encoder.
func (w whole) Encode(dst []byte, cur *frame.Frame, _ []encoders.Ref, _ encoders.Memo, b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if err := checkSize(cur.Body); err != nil {
		return dst, nil, err
	}
	out := w.pack(dst, cur.Body)
	b.Bits(encoders.SlotBody, 8*(len(out)-len(dst)))
	return out, nil, nil
}

// Decode implements encoders.Decoder.
func (w whole) Decode(dst *frame.Frame, src []byte, _ []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	body, err := w.unpack(dst.Body[:0], src)
	if err == nil {
		dst.Body = body
	}
	return nil, err
}

const source = "Rich Geldreich, Mobile-friendly binary delta compression, 2015"

// Patch codes the difference to the old file in the fewest bytes.
func Patch() encoders.Codec {
	return encoders.Codec{
		ID: 48, Name: "patch", Refs: 1, Suits: suits, Source: source,
		Summary: "the difference between two files: what is alike is copied, with corrections, by models that mix",
		New:     newPatcher(false),
	}
}

// PatchFast is Patch with a coder that is quicker to apply.
func PatchFast() encoders.Codec {
	return encoders.Codec{
		ID: 49, Name: "patch-fast", Refs: 1, Suits: suits, Source: source,
		Summary: "the same with a coder that is quick to apply, and larger",
		New:     newPatcher(true),
	}
}

func newPatcher(fast bool) func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) {
	return func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) {
		return &patcher{opt: patch.Options{Fast: fast}}, unpatcher{}, nil
	}
}

type patcher struct{ opt patch.Options }

// Follow implements Gradual.
func (p *patcher) Follow(progress patch.Progress, watch patch.Watch) {
	p.opt.Progress, p.opt.Watch = progress, watch
}

// Encode implements encoders.Encoder. Addresses of copies are charged as index, bytes as
// body, and the header as model.
func (p *patcher) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, _ encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if err := checkSize(cur.Body); err != nil {
		return dst, nil, err
	}
	out := bytes.NewBuffer(dst)
	stats, err := patch.Make(out, old(refs), cur.Body, p.opt)
	if err != nil {
		return dst, nil, fmt.Errorf("files: %w", err)
	}
	literal := stats.RawSize + stats.PatchSize
	b.Bits(encoders.SlotIndex, int(8*stats.CloneSize))
	b.Bits(encoders.SlotBody, int(8*literal))
	b.Bits(encoders.SlotModel, int(8*(stats.Size-stats.CloneSize-literal)))
	return out.Bytes(), nil, nil
}

type unpatcher struct{}

// Decode implements encoders.Decoder.
func (unpatcher) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	made, err := patch.ApplyBytes(old(refs), src, maxFile)
	if err != nil {
		return nil, fmt.Errorf("files: %w: %w", encoders.ErrCorrupt, err)
	}
	dst.Body = made
	return nil, nil
}
