package files

import (
	"bytes"
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/patch"
)

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
