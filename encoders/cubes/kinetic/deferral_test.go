package kinetic

import (
	"bytes"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/recording"
)

// TestDeferred checks that Defer changes neither packets nor memos, whether Finish is called or the
// next call finishes the memo.
func TestDeferred(t *testing.T) {
	testBoth(t, func(t *testing.T, codec encoders.Codec) {
		list := recording.Demo(t, 400, 424)
		now, later := newConnection(t, codec, frame.WalkoffCubes), newConnection(t, codec, frame.WalkoffCubes)
		enc, dec := later.enc.(*coder), later.dec.(*coder)
		enc.Defer()
		dec.Defer()
		for n := recording.BaselineAge; n < len(list); n++ {
			cur, base := list[n], list[n-recording.BaselineAge]
			want := now.send(t, cur, base)
			got, m, err := enc.Encode(nil, cur, []encoders.Ref{{Frame: base, Memo: later.sent[base.Tick]}}, nil, nil)
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("frame %d: the packet differs, error %v", n, err)
			}
			if equalMemos(m.(*memo), now.sent[cur.Tick].(*memo)) {
				t.Fatalf("frame %d: nothing was deferred", n)
			}
			if n%2 == 0 {
				enc.Finish()
				enc.Finish()
			}
			arrived := later.schema.NewFrame()
			arrived.Tick = cur.Tick
			mGot, err := dec.Decode(arrived, got, []encoders.Ref{{Frame: base, Memo: later.received[base.Tick]}}, nil)
			if err != nil || !arrived.Equal(cur) {
				t.Fatalf("frame %d: the decoded frame differs, error %v", n, err)
			}
			if n%3 == 0 {
				dec.Finish()
			}
			later.sent[cur.Tick], later.received[cur.Tick] = m, mGot
			if _, err := dec.Decode(later.schema.NewFrame(), got[:1], []encoders.Ref{{Frame: base}}, nil); err == nil {
				t.Fatal("a truncated packet was decoded without an error")
			}
			if !equalMemos(mGot.(*memo), now.received[cur.Tick].(*memo)) {
				t.Fatalf("frame %d: the memo differs", n)
			}
		}
	})
}
