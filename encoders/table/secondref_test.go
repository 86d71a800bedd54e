package table_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/hostile"
	"wirelab/encoders/table"
	"wirelab/internal/testkit"
)

// TestSecondReference encodes with two references, any two and with or without memos. The decoded frame must be equal,
// the budget must add up, a new encoder must write the same bytes, and no memo of a reference may be returned. Invalid
// bytes must be refused or decode to a frame, and valid packets must decode afterwards.
func TestSecondReference(t *testing.T) {
	for _, c := range table.All() {
		for _, n := range []int{1, 2, 33} {
			s := frame.Cubes(n)
			if c.Refs == 2 && c.Suits(s) {
				t.Run(fmt.Sprintf("%s/%d", c.Name, n), func(t *testing.T) { twoReferences(t, c, s) })
			}
		}
	}
}

func twoReferences(t *testing.T, c encoders.Codec, s *frame.Schema) {
	enc, dec, err := c.New(s, defaults(c))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(41, uint64(s.Rows)))
	frames := randomFrames(s, 12, testkit.Choose(24, 12))
	sent, got := make([]encoders.Memo, len(frames)), make([]encoders.Memo, len(frames))
	for i, cur := range frames[1:] {
		// Honest ends name the newer one first; bytes that are no packet may not.
		first, second := rng.IntN(i+1), rng.IntN(i+1)
		both := func(memos []encoders.Memo) []encoders.Ref {
			refs := []encoders.Ref{{Frame: frames[first], Memo: memos[first]}, {Frame: frames[second], Memo: memos[second]}}
			if i%5 == 4 { // of another epoch
				refs[1].Memo = nil
			}
			return refs
		}
		var budget encoders.Budget
		payload, memo, err := enc.Encode(nil, cur, both(sent), nil, &budget)
		if err != nil {
			t.Fatalf("frame %d against %d and %d: encode: %v", i+1, first, second, err)
		}
		if want := int64(len(payload)) * 8 * encoders.BitUnit; budget.Total() != want {
			t.Fatalf("frame %d: the budget sums to %d units, want %d", i+1, budget.Total(), want)
		}
		fresh, _, err := c.New(s, defaults(c))
		if err != nil {
			t.Fatal(err)
		}
		if again, _, err := fresh.Encode(nil, cur, both(sent), nil, nil); err != nil || !bytes.Equal(again, payload) {
			t.Fatalf("frame %d: a new encoder writes different bytes, error %v", i+1, err)
		}
		dst := s.NewFrame()
		for _, bad := range invalidPackets(rng, payload) {
			dst.Tick = cur.Tick
			_, err := dec.Decode(dst, bad, both(got), nil)
			if err := hostile.CheckDecode(s, dst, err); err != nil {
				t.Fatalf("frame %d: bad bytes: %v", i+1, err)
			}
		}
		dst.Tick = cur.Tick
		read, err := dec.Decode(dst, payload, both(got), nil)
		if err != nil || !dst.Equal(cur) {
			t.Fatalf("frame %d against %d and %d: the decoded frame differs, error %v", i+1, first, second, err)
		}
		for _, j := range []int{first, second} {
			if memo != nil && (memo == sent[j] || read == got[j]) {
				t.Fatalf("frame %d: the memo of frame %d was returned", i+1, j)
			}
		}
		sent[i+1], got[i+1] = memo, read
	}
}
