package engine

import (
	"testing"

	"wirelab/dataset/frame"
	"wirelab/experiment/engine/packetlog"
)

// The digest covers the content of a frame that differs from the source's, has another sequence
// number or is quantised; otherwise it covers the sequence number.
func TestDigestOfFrames(t *testing.T) {
	f, got := &flight{unquantised: true, rec: packetlog.Record{Seq: 7}}, &frame.Frame{Table: []int32{1, 2, 3}}
	sum := func(exact, same bool, seq uint64, v int32) string {
		d := newDigest()
		f.unquantised, f.rec.Seq, got.Table[1] = exact, seq, v
		d.addDecoded(f, got, same)
		return d.sum()
	}
	for name, x := range map[string]struct {
		exact, same bool
		content     bool
	}{
		"the source's": {true, true, false},
		"wrong":        {true, false, true},
		"quantised":    {false, true, true},
	} {
		content := sum(x.exact, x.same, 7, 2) != sum(x.exact, x.same, 7, -2)
		number := sum(x.exact, x.same, 7, 2) != sum(x.exact, x.same, 8, 2)
		if content != x.content || number == x.content {
			t.Errorf("%s: content changes the digest %v, the packet's number %v", name, content, number)
		}
	}
}
