package view

import (
	"slices"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// Chains of view frames, the two simpler protocols of the package documentation, leave a row wrong; this package does
// not. There are two rows, a packet has room for one, and a packet's ack arrives five ticks after it was sent. Row 0
// changes once and returns to its old value; row 1 changes all the time, so that it fills the packets that do not
// contain row 0. One packet is lost, the one that would have contained the old value of row 0 again.
func TestChainsLeaveRowsWrong(t *testing.T) {
	const ticks, back, rtt, lost = 60, 4, 5, 7
	truth := func(tick int) [2]int32 {
		values := [2]int32{0, int32(min(tick, 30))}
		if tick >= 2 && tick < back {
			values[0] = 1
		}
		return values
	}
	for _, tracked := range []bool{false, true} { // way 1: sent while it differs from the reference; way 2: from what was sent
		var views [ticks + 1][2]int32
		var display, sent [2]int32
		for tick := 1; tick <= ticks; tick++ {
			acked := max(0, tick-rtt)
			if acked == lost {
				acked--
			}
			cur, ref := truth(tick), views[acked]
			compare := ref
			if tracked {
				compare = sent
			}
			view := ref
			for _, row := range []int{tick % 2, 1 - tick%2} { // in turn
				if cur[row] != compare[row] && cur[row] != ref[row] {
					view[row], sent[row] = cur[row], cur[row]
					if tick != lost {
						display[row] = cur[row]
					}
					break
				}
			}
			views[tick] = view
		}
		if want := [2]int32{1, 30}; display != want {
			t.Errorf("tracked %v: the display has %v, want %v: a wrong row 0", tracked, display, want)
		}
	}

	schema := &frame.Schema{Name: "two", Rows: 2, Fields: []frame.Field{{Name: "value", Max: 100}}}
	filler, client := NewFiller(schema), NewClient(schema, schema.NewFrame())
	server := NewServer(filler, schema.NewFrame())
	filler.SetPolicy(Policies.Default("round-robin"))
	var acks [ticks + 1][]byte
	contained := false // a packet contained the changed value of row 0
	for tick := 1; tick <= ticks; tick++ {
		if tick > rtt && tick-rtt != lost {
			if _, err := server.HandleAck(acks[tick-rtt]); err != nil {
				t.Fatal(err)
			}
		}
		cur := schema.NewFrame()
		cur.Tick = uint32(tick)
		values := truth(tick)
		copy(cur.Table, values[:])
		filler.Advance(cur, frame.Rows{3})
		codec := checked{schema: schema}
		acked, _ := server.Acked()
		coding := Coding{Encoder: codec, Tick: cur.Tick, RefTick: uint32(acked)}
		p, err := filler.Fill(server, uint64(tick), coding, 4+2, nil) // one row of two bytes
		if err != nil {
			t.Fatal(err)
		}
		contained = contained || p.View.Table[0] == 1
		if tick == lost {
			continue
		}
		ref, _ := client.Reference(p.Ack, 0, 0)
		got := schema.NewFrame()
		got.Tick = cur.Tick
		memo, err := codec.Decode(got, p.Payload, []encoders.Ref{ref}, nil)
		if err != nil {
			t.Fatal(err)
		}
		client.Apply(uint64(tick), p.Ack, got, memo, 0)
		acks[tick] = client.AppendAck(nil, 0)
	}
	if want := []int32{0, 30}; !slices.Equal(client.Display(), want) || !contained {
		t.Errorf("the display has %v, want %v; the changed value was sent: %v", client.Display(), want, contained)
	}
}
