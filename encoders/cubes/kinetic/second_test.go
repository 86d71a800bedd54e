package kinetic

import (
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/recording"
	"wirelab/internal/testkit"
)

// secondBytes sends frames against the one six before, and a second one that is
// gap frames older unless gap is 0, and returns the bytes a packet.
func secondBytes(t *testing.T, list []*frame.Frame, gap int, remember bool) float64 {
	t.Helper()
	codec := Kinetic()
	enc, _, err := codec.New(frame.Cubes(frame.WalkoffCubes), codec.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	memos := make([]encoders.Memo, len(list))
	bytes, packets := 0, 0
	const from = 48 // by when there are memos, and how a chain began is forgotten
	for n := recording.BaselineAge; n < len(list); n++ {
		base := n - recording.BaselineAge
		refs := []encoders.Ref{{Frame: list[base]}}
		if remember {
			refs[0].Memo = memos[base]
		}
		if gap > 0 && base >= gap {
			refs = append(refs, encoders.Ref{Frame: list[base-gap]})
		}
		out, m, err := enc.Encode(nil, list[n], refs, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if memos[n] = m; n >= from {
			bytes += len(out)
			packets++
		}
	}
	return float64(bytes) / float64(packets)
}

// Whatever second snapshot the acks allow, it does no harm to speak of; one that is a tick
// older than the baseline helps, and any helps where nothing is remembered.
func TestSecondSnapshotHelps(t *testing.T) {
	list := recording.Load(t, "bravo", 920)[800:]
	alone, unaided := secondBytes(t, list, 0, true), secondBytes(t, list, 0, false)
	t.Logf("no second: %.2f bytes a packet, %.2f without memos", alone, unaided)
	for _, gap := range testkit.ChooseLong([]int{1, 2, 3, 6, 12, 18}, []int{1, 3, 12}, []int{1}) {
		known, blank := secondBytes(t, list, gap, true), secondBytes(t, list, gap, false)
		t.Logf("%d frames older: %.2f, %.2f", gap, known, blank)
		if known > 1.005*alone || gap == 1 && known > 0.98*alone {
			t.Errorf("a second snapshot %d frames older: %.2f bytes a packet, without it %.2f", gap, known, alone)
		}
		if gap <= maxSecondAge && blank > 0.9*unaided {
			t.Errorf("a second snapshot %d frames older, no memos: %.2f bytes a packet, without it %.2f", gap, blank, unaided)
		}
	}
}
