package datagram

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// benchModel returns a model trained on the first half of the tank game's capture, and the second half.
// The model is stored in the temporary directory for later runs.
func benchModel(b *testing.B, acked bool) (*model, [][]byte) {
	list := readCapture(b, "bz-1", 5154, true)
	half := len(list) / 2
	name := filepath.Join(os.TempDir(), "datagram-bench.model")
	if acked {
		name += "-acked"
	}
	if m, err := load(name); err == nil {
		return m, list[half:]
	}
	m := trainModel(b, acked, list[:half])
	_ = os.WriteFile(name, m.Bytes(), 0o644)
	return m, list[half:]
}

// BenchmarkDatagram reports the ns/byte of the fastest pass, which other work on the machine affects least.
func BenchmarkDatagram(b *testing.B) {
	for _, acked := range []bool{false, true} {
		name := "stateless"
		if acked {
			name = "acked"
		}
		m, list := benchModel(b, acked)
		frames := make([]frame.Frame, len(list))
		memos := make([]encoders.Memo, len(list))
		packets := make([][]byte, len(list))
		enc, dec := newCodec(m, false), newCodec(m, true)
		refs := func(i int) []encoders.Ref {
			r := make([]encoders.Ref, 2)
			r[0] = encoders.Ref{Frame: &frames[max(i-4, 0)], Memo: memos[max(i-4, 0)]}
			r[1] = encoders.Ref{Frame: &frames[max(i-5, 0)], Memo: memos[max(i-5, 0)]}
			return r
		}
		var all [][]encoders.Ref
		bytes := 0
		for i, d := range list {
			frames[i] = frame.Frame{Tick: uint32(i), Body: d}
			all = append(all, refs(i))
			packets[i], memos[i], _ = enc.Encode(nil, &frames[i], all[i], nil, nil)
			bytes += len(d)
		}
		b.Run(name+"/encode", func(b *testing.B) {
			b.SetBytes(int64(bytes))
			b.ReportAllocs()
			var out []byte
			var spare encoders.Memo
			best := time.Hour
			for b.Loop() {
				start := time.Now()
				for i := range list {
					out, spare, _ = enc.Encode(out[:0], &frames[i], all[i], spare, nil)
				}
				best = min(best, time.Since(start))
			}
			b.ReportMetric(float64(best.Nanoseconds())/float64(bytes), "ns/byte")
		})
		b.Run(name+"/decode", func(b *testing.B) {
			b.SetBytes(int64(bytes))
			b.ReportAllocs()
			var f frame.Frame
			var spare encoders.Memo
			best := time.Hour
			for b.Loop() {
				start := time.Now()
				for i := range list {
					f.Tick = frames[i].Tick
					spare, _ = dec.Decode(&f, packets[i], all[i], spare)
				}
				best = min(best, time.Since(start))
			}
			b.ReportMetric(float64(best.Nanoseconds())/float64(bytes), "ns/byte")
		})
	}
}
