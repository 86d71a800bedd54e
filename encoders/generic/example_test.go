package generic

import (
	"encoding/binary"
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// Delta sends every value as its difference from the baseline, as a varint.
func Delta() encoders.Codec {
	return encoders.Codec{
		ID: 99, Name: "delta", Summary: "every value as its difference from the baseline, a varint", Source: "own",
		Refs: 1, Suits: func(s *frame.Schema) bool { return s.Rows > 0 },
		New: func(s *frame.Schema, _ any) (encoders.Encoder, encoders.Decoder, error) {
			return delta{s}, delta{s}, nil
		},
	}
}

type delta struct{ schema *frame.Schema }

func (d delta) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, _ encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	start, base := len(dst), encoders.Base(refs, d.schema.Cells())
	for i, v := range cur.Table {
		dst = binary.AppendVarint(dst, int64(v-base.Table[i]))
	}
	b.Bits(encoders.SlotTable, 8*(len(dst)-start)) // charge every bit to what it was spent on
	start = len(dst)
	dst = append(binary.AppendVarint(dst, int64(len(cur.Body))), cur.Body...)
	b.Bits(encoders.SlotBody, 8*(len(dst)-start))
	return dst, nil, nil
}

func (d delta) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	base := encoders.Base(refs, d.schema.Cells())
	for i, old := range base.Table {
		v, n := binary.Varint(src)
		if n <= 0 {
			return nil, fmt.Errorf("value %d: %w", i, encoders.ErrTruncated)
		}
		dst.Table[i], src = old+int32(v), src[n:]
	}
	size, n := binary.Varint(src)
	if n <= 0 || size > int64(len(src)-n) {
		return nil, fmt.Errorf("body: %w", encoders.ErrTruncated)
	}
	if err := d.schema.Check(dst); err != nil || size != int64(len(src)-n) {
		return nil, fmt.Errorf("%w: %v, body of %d bytes", encoders.ErrCorrupt, err, size)
	}
	dst.Body = append(dst.Body[:0], src[n:]...)
	return nil, nil
}
