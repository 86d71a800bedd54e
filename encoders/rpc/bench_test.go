package rpc

import (
	"context"
	"testing"

	"wirelab/dataset/frame"
	workload "wirelab/dataset/rpc"
	data "wirelab/dataset/source"
	"wirelab/encoders"
)

// Columns of a call, see package workload. Vectors take three.
const (
	colTime         = 0
	colPosition     = 1
	colVelocity     = 4
	colAcceleration = 7
	colRotation     = 10
	colSpin         = 13
	colMode         = 16
)

// openCalls returns generated calls.
func openCalls(seed uint64) data.Source {
	src, err := workload.Kind.Open(context.Background(), "", data.Options{Seed: seed})
	if err != nil {
		panic(err)
	}
	return src
}

func schema() *frame.Schema { return openCalls(1).Schema() }

// allCodecs returns the codecs, the largest packets first.
func allCodecs() []encoders.Codec { return []encoders.Codec{Full(), Delta(), Adaptive()} }

// readCalls returns the first n calls.
func readCalls(seed uint64, n int) []*frame.Frame {
	src := openCalls(seed)
	list := make([]*frame.Frame, n)
	for i := range list {
		list[i] = src.Schema().NewFrame()
		_ = src.Next(list[i])
	}
	return list
}

// BenchmarkCall measures encoding and decoding of calls, separately, with baselines six calls old,
// as at a round trip of 100 ms.
func BenchmarkCall(b *testing.B) {
	const age = 6
	s := schema()
	for _, c := range allCodecs() {
		for _, decode := range []bool{false, true} {
			b.Run(c.Name+map[bool]string{false: "/encode", true: "/decode"}[decode], func(b *testing.B) {
				run(b, c, s, readCalls(7, 1200), age, decode)
			})
		}
	}
}

func run(b *testing.B, c encoders.Codec, s *frame.Schema, frames []*frame.Frame, age int, decode bool) {
	enc, dec, err := c.New(s, nil)
	if err != nil {
		b.Fatal(err)
	}
	payloads, memos := make([][]byte, len(frames)), make([]encoders.Memo, len(frames))
	refs := func(i int) []encoders.Ref { return []encoders.Ref{{Frame: frames[i-age], Memo: memos[i-age]}} }
	for i := age; i < len(frames); i++ {
		if payloads[i], memos[i], err = enc.Encode(nil, frames[i], refs(i), nil, nil); err != nil {
			b.Fatal(err)
		}
	}
	got, spare, buf, n := s.NewFrame(), encoders.Memo(nil), []byte(nil), 0
	all := make([][]encoders.Ref, len(frames))
	for i := age; i < len(frames); i++ {
		all[i] = refs(i)
	}
	b.ReportAllocs()
	for b.Loop() {
		i := age + n%(len(frames)-age)
		got.Tick = frames[i].Tick
		if decode {
			spare, err = dec.Decode(got, payloads[i], all[i], spare)
		} else {
			buf, spare, err = enc.Encode(buf[:0], frames[i], all[i], spare, nil)
		}
		if err != nil {
			b.Fatal(err)
		}
		n++
	}
}
