package endpoint_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/rows"
	"wirelab/experiment/endpoint"
)

// TestLateViewFrame checks that a view frame that arrives after the first whole frame, because the budget was removed, leaves
// the whole frame as it is: later packets refer to it.
func TestLateViewFrame(t *testing.T) {
	schema := &frame.Schema{Name: "tanks", Item: "tank", Rows: 40, TickHz: 60, Fields: []frame.Field{{Name: "x", Max: 1000}}}
	codec, options := rows.DeltaAdaptive(), endpoint.Options{History: 16}
	encoding, err := endpoint.NewEncoding(schema, &codec, codec.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	sender := endpoint.NewSender(schema, schema.NewFrame(), encoding, options)
	receiver := endpoint.NewReceiver(schema, schema.NewFrame(), []encoders.Codec{codec}, options)
	sender.SetBudget(endpoint.Budget{Bps: 16000, Burst: 1000}, time.Second/60)
	rng, cur := rand.New(rand.NewPCG(1, 2)), schema.NewFrame()
	var late []byte // a datagram with a view frame that is under way
	whole := 0
	for i := range 60 {
		for row := range cur.Table {
			cur.Table[row] = rng.Int32N(1001)
		}
		if i == 30 {
			sender.SetBudget(endpoint.Budget{}, time.Second/60)
		}
		now := time.Duration(i) * time.Second / 60
		if !sender.Due(now) {
			sender.Skip()
			continue
		}
		packet, err := sender.Send(now, cur, nil)
		if err != nil {
			t.Fatal(err)
		}
		if packet.View != nil && i >= 25 {
			late = bytes.Clone(packet.Datagram)
			continue
		}
		rx := receiver.Receive(packet.Datagram)
		if rx.Outcome != endpoint.Decoded || rx.HasView != (packet.View != nil) || !rx.HasView && !slices.Equal(rx.Frame.Table, cur.Table) {
			t.Fatalf("packet %d: %v, %v", i, rx.Outcome, rx.Err)
		}
		if err := sender.HandleAck(receiver.AppendAck(nil)); err != nil {
			t.Fatal(err)
		}
		if rx.HasView {
			continue
		}
		whole++
		if whole == 1 {
			if rx := receiver.Receive(late); rx.Outcome != endpoint.Stale || !rx.HasView {
				t.Fatalf("late packet: %v, %v", rx.Outcome, rx.Err)
			}
		}
	}
	if whole < 10 {
		t.Errorf("%d whole frames", whole)
	}
}
