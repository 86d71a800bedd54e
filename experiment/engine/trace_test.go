package engine

import (
	"testing"
	"time"

	"wirelab/dataset"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
)

// newTracedSession returns a session of cubes with the given encoder that keeps what traces need, unless
// keep is false. The link loses packets and acks.
func newTracedSession(t *testing.T, encoder string, keep bool) *Session {
	t.Helper()
	c := config.Default()
	for _, kv := range [][2]string{{"encoder", encoder}, {"link.loss", "5%"}, {"link.latency", "40ms"}, {"link.jitter", "15ms"}} {
		if err := c.Set(kv[0], kv[1]); err != nil {
			t.Fatal(err)
		}
	}
	var src dataset.Source = labtest.NewCubeSource(100, 10, -1, 9)
	s := mustOpen(t, c, src, Options{Inspect: keep, KeepSent: keep, Endless: true, KeepPackets: 4096})
	return s
}

// withoutRows lists the encoders of cubes whose traces have no rows.
var withoutRows = map[string]bool{"deflate": true, "zstd": true, "zstd-dict": true, "zstd-baseline": true}

// Every packet of the last two seconds can be described: the bytes are those that were sent, header and
// payload add up, and the frames are those of both ends. Describing them changes no later packet.
func TestTraceDescribesEveryPacket(t *testing.T) {
	whole := testkit.Choose(5*time.Second, 2*time.Second)
	for _, c := range table.All() {
		s := newTracedSession(t, "raw", true)
		if !c.Suits(s.Schema()) || c.Plugin != nil {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			s, plain := newTracedSession(t, c.Name, true), newTracedSession(t, c.Name, false)
			for at := time.Second; at <= whole; at += time.Second {
				mustRun(t, s, at)
				for _, r := range s.View(1 << 14).Lanes[0].Packets {
					if r.Copy == 0 && r.Sent > s.Now()-2*time.Second {
						checkTraced(t, s, r.Seq, r.Payload, withoutRows[c.Name])
					}
				}
			}
			mustRun(t, plain, whole)
			if s.lanes[0].digest.sum() != plain.lanes[0].digest.sum() {
				t.Error("traces changed the packets")
			}
		})
	}
}

// checkTraced checks the description of packet seq, whose payload has the given size.
func checkTraced(t *testing.T, s *Session, seq uint64, payload int, onlyBody bool) {
	t.Helper()
	traced := s.Trace(seq)
	p := traced.Packet
	if p == nil {
		t.Fatalf("packet %d at %v cannot be described", seq, s.Now())
	}
	if (p.Limit != "") != onlyBody {
		t.Fatalf("packet %d: limit %q", seq, p.Limit)
	}
	if len(p.Datagram) != p.HeaderBytes()+payload || p.Payload.Total() != int64(payload)*8*encoders.BitUnit {
		t.Fatalf("packet %d of %d bytes has a header of %d, a payload of %d and a trace of %d units", seq, len(p.Datagram),
			p.HeaderBytes(), payload, p.Payload.Total())
	}
	ackBits := 0
	for _, f := range traced.AckOf {
		ackBits += f.Bits
	}
	if ackBits != 8*len(traced.Ack) {
		t.Fatalf("packet %d: ack of %d bytes, described %d bits", seq, len(traced.Ack), ackBits)
	}
}

// The costs of rows sum to the payload of the packets, and equal the sums over their traces.
func TestRowCostsAreExact(t *testing.T) {
	for _, name := range []string{"relative-orientation", "kinetic", "quantized", "zstd"} {
		t.Run(name, func(t *testing.T) {
			s := newTracedSession(t, name, true)
			for _, at := range []time.Duration{time.Second, 2700 * time.Millisecond, 3 * time.Second, testkit.Choose(6*time.Second, 4*time.Second)} {
				mustRun(t, s, at)
				checkRowCosts(t, s, s.RowCosts(s.Now()))
			}
		})
	}
}

// checkRowCosts compares the costs of rows with sums over the records and traces of the packets.
func checkRowCosts(t *testing.T, s *Session, costs *RowCosts) {
	t.Helper()
	rows, want, packets := make([]int64, s.Schema().Rows), int64(0), 0
	for _, r := range s.View(1 << 14).Lanes[0].Packets {
		if r.Copy > 0 || r.Sent < s.Now()-2*time.Second {
			continue
		}
		packets++
		want += int64(r.Payload) * 8 * encoders.BitUnit
		for _, span := range s.Trace(r.Seq).Packet.Payload.Spans {
			if span.Row >= 0 {
				rows[span.Row] += span.Units
			}
		}
	}
	sum := costs.Shared
	for r, units := range costs.Rows {
		if units != rows[r] {
			t.Fatalf("row %d costs %d units, its spans %d", r, units, rows[r])
		}
		sum += units
		bySlot := int64(0)
		for k := range costs.Slots {
			bySlot += costs.OfSlot(r, k)
		}
		if bySlot != units {
			t.Fatalf("row %d costs %d units, by slot %d", r, units, bySlot)
		}
	}
	if sum != want || costs.Total != want || costs.Packets != packets || costs.Omitted != 0 {
		t.Fatalf("costs of %d packets sum to %d, total %d; want %d packets and %d units (%d omitted)", costs.Packets, sum, costs.Total,
			packets, want, costs.Omitted)
	}
}
