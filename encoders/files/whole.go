package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

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
			return zstdWriter{w}, zstdReader{}, nil
		},
	}
}

// zstdParams are the parameters of whole-zstd.
type zstdParams struct {
	Level int `toml:"level" help:"effort, from fastest to smallest" min:"1" max:"4"`
}

type zstdWriter struct{ w *zstd.Encoder }

// Encode implements encoders.Encoder.
func (z zstdWriter) Encode(dst []byte, cur *frame.Frame, _ []encoders.Ref, _ encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if err := checkSize(cur.Body); err != nil {
		return dst, nil, err
	}
	out := z.w.EncodeAll(cur.Body, dst)
	b.Bits(encoders.SlotBody, 8*(len(out)-len(dst)))
	return out, nil, nil
}

// maxWindow is the most that our own writer looks back.
const maxWindow = 16 << 20

type zstdReader struct{}

// Decode implements encoders.Decoder. It takes memory as the file grows, and not as
// the packet says that it will.
func (zstdReader) Decode(dst *frame.Frame, src []byte, _ []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	r, err := zstd.NewReader(bytes.NewReader(src), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, fmt.Errorf("files: zstd: %w", err)
	}
	defer r.Close()
	out := bytes.NewBuffer(dst.Body[:0])
	n, err := io.Copy(out, io.LimitReader(r, maxFile+1))
	switch {
	case len(src) == 0 || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("files: zstd: %w", encoders.ErrTruncated)
	case err != nil:
		return nil, fmt.Errorf("files: zstd: %w: %w", encoders.ErrCorrupt, err)
	case n > maxFile:
		return nil, fmt.Errorf("files: zstd: %w: more than %d bytes", encoders.ErrCorrupt, maxFile)
	}
	dst.Body = out.Bytes()
	return nil, nil
}

// WholeRaw is the new file as it is.
func WholeRaw() encoders.Codec {
	return encoders.Codec{
		ID: 51, Name: "whole-raw", Refs: 1, Standalone: true, Suits: suits,
		Summary: "the whole new file as it is",
		Source:  "ours",
		New: func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) {
			return raw{}, raw{}, nil
		},
	}
}

type raw struct{}

// Encode implements encoders.Encoder.
func (raw) Encode(dst []byte, cur *frame.Frame, _ []encoders.Ref, _ encoders.Memo, b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if err := checkSize(cur.Body); err != nil {
		return dst, nil, err
	}
	b.Bits(encoders.SlotBody, 8*len(cur.Body))
	return append(dst, cur.Body...), nil, nil
}

// Decode implements encoders.Decoder.
func (raw) Decode(dst *frame.Frame, src []byte, _ []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	if len(src) > maxFile {
		return nil, fmt.Errorf("files: %w: %d bytes, expected at most %d", encoders.ErrCorrupt, len(src), maxFile)
	}
	dst.Body = append(dst.Body[:0], src...)
	return nil, nil
}
