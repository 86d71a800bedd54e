package kinetic

import (
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/recording"
	"wirelab/internal/testkit"
)

// bytesPerPacket encodes frames, each against the one six before and a second reference that is gap
// frames older (none if gap is 0), and returns the mean packet size.
func bytesPerPacket(t *testing.T, list []*frame.Frame, gap int, withMemos bool) float64 {
	t.Helper()
	codec := Kinetic()
	enc, _, err := codec.New(frame.Cubes(frame.WalkoffCubes), codec.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	memos := make([]encoders.Memo, len(list))
	bytes, packets := 0, 0
	const from = 48 // from here on the start of the chain no longer matters
	for n := recording.BaselineAge; n < len(list); n++ {
		base := n - recording.BaselineAge
		refs := []encoders.Ref{{Frame: list[base]}}
		if withMemos {
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

// TestSecondReferenceSize measures packets with second references of several ages. None may cost
// more than 0.5 %, one a tick older than the baseline must save 2 %, and without memos any up to
// maxSecondAge must save 10 %.
func TestSecondReferenceSize(t *testing.T) {
	list := recording.Load(t, "bravo", 920)[800:]
	alone, unaided := bytesPerPacket(t, list, 0, true), bytesPerPacket(t, list, 0, false)
	t.Logf("no second reference: %.2f bytes per packet, %.2f without memos", alone, unaided)
	for _, gap := range testkit.ChooseLong([]int{1, 2, 3, 6, 12, 18}, []int{1, 3, 12}, []int{1}) {
		known, blank := bytesPerPacket(t, list, gap, true), bytesPerPacket(t, list, gap, false)
		t.Logf("%d frames older: %.2f, %.2f", gap, known, blank)
		if known > 1.005*alone || gap == 1 && known > 0.98*alone {
			t.Errorf("second reference %d frames older: %.2f bytes per packet, without it %.2f", gap, known, alone)
		}
		if gap <= maxSecondAge && blank > 0.9*unaided {
			t.Errorf("second reference %d frames older, no memos: %.2f bytes per packet, without it %.2f", gap,
				blank, unaided)
		}
	}
}
