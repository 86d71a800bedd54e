package generic

import (
	"errors"
	"fmt"
	"io"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// compressor is a general-purpose compressor of a library, made to be used for
// one packet after another.
type compressor interface {
	// compress appends src, compressed, to dst. base is what both ends hold.
	compress(dst, src, base []byte) ([]byte, error)
	// expand is the inverse; it fills dst up to its capacity and no further. Any
	// bytes may come; io.ErrUnexpectedEOF means that they end early.
	expand(dst, src, base []byte) ([]byte, error)
}

// library is the encoder and the decoder around a compressor. Such codecs
// allocate what their library does.
type library struct {
	name        string // begins the texts of errors
	layout      *layout
	compressor  compressor
	plain, base []byte // memory that is reused
}

// with returns the New of a codec around the compressors that build makes for
// inputs of up to most bytes.
func with(name string, build func(most int, params any) compressor) func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) {
	return func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
		if err := encoders.Validate(params); err != nil {
			return nil, nil, err
		}
		end := func() *library {
			l := newLayout(s)
			return &library{name: "generic: " + name, layout: l, compressor: build(l.size+encoders.MaxBody, params)}
		}
		return end(), end(), nil
	}
}

// Encode implements encoders.Encoder.
func (l *library) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, _ encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	var err error
	if l.plain, err = l.layout.pack(l.plain[:0], cur); err != nil {
		return dst, nil, err
	}
	l.base = l.layout.base(l.base, refs)
	out, err := l.compressor.compress(dst, l.plain, l.base)
	if err != nil {
		return dst, nil, fmt.Errorf("%s: %w", l.name, err)
	}
	slot := encoders.SlotTable
	if l.layout.size == 0 {
		slot = encoders.SlotBody
	}
	b.Bits(slot, 8*(len(out)-len(dst)))
	return out, nil, nil
}

// Decode implements encoders.Decoder.
func (l *library) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	if most := l.layout.size + encoders.MaxBody; cap(l.plain) < most {
		l.plain = make([]byte, 0, most)
	}
	l.base = l.layout.base(l.base, refs)
	plain, err := l.compressor.expand(l.plain[:0], src, l.base)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%s: %w", l.name, encoders.ErrTruncated)
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %v", l.name, encoders.ErrCorrupt, err)
	}
	return nil, l.layout.unpack(dst, plain)
}
