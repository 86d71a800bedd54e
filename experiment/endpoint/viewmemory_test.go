package endpoint_test

import (
	"runtime"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/rows"
	"wirelab/experiment/endpoint"
	"wirelab/internal/testkit"
)

// TestViewMemory checks that datagrams with view frames cannot let a receiver grow. Each begins an epoch of its own with
// parameters of its own, which no sender does, and contains no rows.
func TestViewMemory(t *testing.T) {
	schema := &frame.Schema{Name: "tanks", Item: "tank", Rows: 40, TickHz: 60, Fields: []frame.Field{{Name: "x", Max: 1000}}}
	codec, options := rows.DeltaAdaptive(), endpoint.Options{History: 16}
	encoding, err := endpoint.NewEncoding(schema, &codec, codec.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	receiver := endpoint.NewReceiver(schema, schema.NewFrame(), []encoders.Codec{codec}, options)
	before := int64(0)
	for i := range 500 {
		if i == 100 {
			before = testkit.HeapBytes()
		}
		sender := endpoint.NewSender(schema, schema.NewFrame(), encoding, options)
		sender.StartAt(uint64(i), 0)
		sender.SetBudget(endpoint.Budget{Bps: 1_000_000, Burst: 1000}, time.Second/60)
		packet, err := sender.Send(0, schema.NewFrame(), nil)
		if err != nil {
			t.Fatal(err)
		}
		packet.Datagram[4] = byte(i) // the epoch
		if rx := receiver.Receive(packet.Datagram); rx.Outcome != endpoint.Decoded || !rx.HasView || !rx.Fresh {
			t.Fatalf("packet %d: %+v", i, rx)
		}
	}
	if grown := testkit.HeapBytes() - before; grown > 1<<20 {
		t.Errorf("400 datagrams let the heap grow by %d bytes", grown)
	}
	runtime.KeepAlive(receiver)
}
