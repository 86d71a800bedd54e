package kinetic

import (
	"bytes"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/recording"
)

// Ends that leave the memo for later send the same packets and come to the same memos,
// whether they are told when to finish or do so at the next call.
func TestDeferred(t *testing.T) {
	both(t, func(t *testing.T, codec encoders.Codec) {
		list := recording.Demo(t, 400, 424)
		now, later := newChains(t, codec, frame.WalkoffCubes), newChains(t, codec, frame.WalkoffCubes)
		enc, dec := later.enc.(*coder), later.dec.(*coder)
		enc.Defer()
		dec.Defer()
		for n := recording.BaselineAge; n < len(list); n++ {
			cur, base := list[n], list[n-recording.BaselineAge]
			want := now.send(t, cur, base)
			got, m, err := enc.Encode(nil, cur, []encoders.Ref{{Frame: base, Memo: later.sent[base.Tick]}}, nil, nil)
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("frame %d: another packet, error %v", n, err)
			}
			if alike(m.(*memo), now.sent[cur.Tick].(*memo)) {
				t.Fatalf("frame %d: nothing was deferred", n)
			}
			if n%2 == 0 {
				enc.Finish()
				enc.Finish()
			}
			arrived := later.schema.NewFrame()
			arrived.Tick = cur.Tick
			mGot, err := dec.Decode(arrived, got, []encoders.Ref{{Frame: base, Memo: later.got[base.Tick]}}, nil)
			if err != nil || !arrived.Equal(cur) {
				t.Fatalf("frame %d: decoded to another frame, error %v", n, err)
			}
			if n%3 == 0 {
				dec.Finish()
			}
			later.sent[cur.Tick], later.got[cur.Tick] = m, mGot
			if _, err := dec.Decode(later.schema.NewFrame(), got[:1], []encoders.Ref{{Frame: base}}, nil); err == nil {
				t.Fatal("a packet cut short is a frame")
			}
			if !alike(mGot.(*memo), now.got[cur.Tick].(*memo)) {
				t.Fatalf("frame %d: another memo", n)
			}
		}
	})
}
