package datagram

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// tanks returns n datagrams of a synthetic game, computed with integers only: a head with a clock, and a
// list of eight tanks, each with a position, a velocity that turns, and the speed at which it turns.
func tanks(n int) (out [][]byte) {
	rng := rand.New(rand.NewPCG(21, 22))
	type tank struct {
		x, y, vx, vy int64
		health       byte
		turns        int
	}
	var list [8]tank
	for i := range list {
		list[i] = tank{x: rng.Int64N(1 << 24), y: rng.Int64N(1 << 24), vx: 3000, vy: int64(i) * 500, health: 100}
	}
	for tick := range n {
		b := binary.BigEndian.AppendUint32([]byte{'t', 'a', 'n', 'k'}, uint32(tick*25+rng.IntN(2)))
		for i := range list {
			t := &list[i]
			switch rng.IntN(12) {
			case 0:
				t.turns = rng.IntN(3) - 1
			case 1:
				t.health--
			}
			t.vx, t.vy = (t.vx*4095-t.vy*int64(t.turns)*90)>>12, (t.vy*4095+t.vx*int64(t.turns)*90)>>12
			if t.vx*t.vx+t.vy*t.vy < 1<<20 {
				t.vx, t.vy = 3000+int64(i), -100
			}
			t.x, t.y = (t.x+t.vx)&(1<<24-1), (t.y+t.vy)&(1<<24-1)
			b = append(b, byte(i), t.health)
			for _, v := range []int64{t.x >> 8, t.y >> 8, t.vx, t.vy, int64(t.turns) * 90} {
				b = binary.LittleEndian.AppendUint16(b, uint16(v))
			}
		}
		out = append(out, b)
	}
	return out
}

// Models that are trained on synthetic datagrams, and packets coded with them, have the same checksums on
// every machine.
func TestGoldenChecksums(t *testing.T) {
	list := tanks(500)
	for i, want := range [2][2]uint32{{0xbefa8616, 0xe0581518}, {0xcd0235d, 0x9ece8250}} {
		acked := i == 1
		m := trainModel(t, acked, list[:300])
		file := m.Bytes()
		model, packets := crc32.ChecksumIEEE(file[:len(file)-4]), uint32(0) // without the file's own checksum
		enc, dec := newCodec(m, false), newCodec(m, true)
		frames, sent, got := make([]*frame.Frame, len(list)), make([]encoders.Memo, len(list)), make([]encoders.Memo, len(list))
		bytes := 0
		for n, d := range list[300:] {
			frames[n] = &frame.Frame{Tick: uint32(n + 1), Body: d}
			a, b := max(n-3, 0), max(n-4, 0)
			refs, back := []encoders.Ref{{Frame: frames[a], Memo: sent[a]}, {Frame: frames[b], Memo: sent[b]}}, &frame.Frame{Tick: uint32(n + 1)}
			if n == 0 {
				refs[0].Frame, refs[1].Frame = &frame.Frame{}, &frame.Frame{}
			}
			packet, memo, err := enc.Encode(nil, frames[n], refs, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			refs[0].Memo, refs[1].Memo = got[a], got[b]
			other, err := dec.Decode(back, packet, refs, nil)
			if err != nil || !back.Equal(frames[n]) {
				t.Fatalf("datagram %d: decoded differently, error %v", n, err)
			}
			sent[n], got[n] = memo, other
			packets, bytes = crc32.Update(packets, crc32.IEEETable, packet), bytes+len(packet)
		}
		if model != want[0] || packets != want[1] {
			t.Errorf("acked %v: model %#x, %d bytes of packets %#x, want %#x and %#x", acked, model, bytes, packets, want[0], want[1])
		}
	}
}
