package engine

import (
	"testing"
	"time"

	"wirelab/encoders/table"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
)

// Packets whose baseline is in the future, or before the first packet, have the outcome no_baseline
// whatever they contain. Valid packets are not affected.
func TestMissingBaselines(t *testing.T) {
	for _, name := range []string{"rpc-delta", "rpc-adaptive"} {
		c := config.Default()
		c.Data.Source, c.Encoder.Name = "rpc", name
		s, err := NewSession(t.Context(), c, Options{})
		if err != nil {
			t.Fatal(err)
		}
		mustRun(t, s, 2*time.Second)
		rcv := s.lanes[0].rcv
		top, _ := rcv.History().Newest()
		codec, err := table.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, forged := range []struct {
			seq      uint64
			baseline byte
		}{
			{top + 2, 1},   // the packet between has not arrived
			{top + 40, 7},  // neither have these
			{top + 9, 200}, // before the first
		} {
			header := []byte{byte(forged.seq), byte(forged.seq >> 8), forged.baseline, codec.ID, byte(s.lanes[0].snd.Epoch())}
			if got := rcv.Receive(append(header, make([]byte, 30)...)); got.Outcome != endpoint.NoBaseline || got.Frame != nil {
				t.Errorf("%s: packet %d on the one %d before it: %v", name, forged.seq, forged.baseline, got.Outcome)
			}
		}
		mustRun(t, s, 6*time.Second)
		if got := s.lanes[0].totals(s.Now()); got.Wrong != 0 || got.DecodeRefused != 0 || got.Failures.NoBaseline != 0 ||
			got.Decoded < 350 {
			t.Errorf("%s: %d decoded, %d wrong, %+v", name, got.Decoded, got.Wrong, got.Failures)
		}
	}
}
