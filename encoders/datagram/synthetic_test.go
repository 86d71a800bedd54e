package datagram

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// formats are the formats of the synthetic game with eight players: little-endian floats, 16-bit numbers in
// both byte orders, 16-bit numbers of two thirds of the players, and bit-packed numbers of 3 to 14 bits.
var formats = []string{"f32le", "i16le", "i16be", "subset", "bits"}

// synthesize returns n datagrams of the synthetic game in one of the formats.
func synthesize(_ testing.TB, format string, seed uint64, n int) (out [][]byte) {
	rng := rand.New(rand.NewPCG(seed, 77))
	g := game{rng: rng, now: rng.Float64() * 1000}
	for i := range g.players {
		g.players[i].spawn(rng)
	}
	for tick := range n {
		g.move(0.05 * float64(1+rng.IntN(20)/19))
		var order binary.AppendByteOrder = binary.BigEndian
		if format == "f32le" || format == "i16le" {
			order = binary.LittleEndian
		}
		b := order.AppendUint16(nil, 0x5a01)
		b = order.AppendUint32(b, uint32(tick))
		b = order.AppendUint32(b, uint32(g.now*1000))
		for i := range g.players {
			b = g.players[i].appendTo(b, i, format, order, rng)
		}
		out = append(out, b)
	}
	return out
}

type game struct {
	rng     *rand.Rand
	players [8]player
	now     float64
}

type player struct {
	x, y, z, speed, yaw, turn, health float64
	shots                             int
}

func (p *player) spawn(rng *rand.Rand) {
	*p = player{rng.Float64() * 800, rng.Float64() * 800, 0, 5, rng.Float64() * 6, 0, 100, p.shots}
}

func (g *game) move(dt float64) {
	g.now += dt
	for i := range g.players {
		p := &g.players[i]
		if g.rng.Float64() < 0.1 {
			p.turn = []float64{0, 0, -2, 2, g.rng.NormFloat64()}[g.rng.IntN(5)]
		}
		p.yaw = math.Mod(p.yaw+p.turn*dt+20, 2*math.Pi)
		p.speed = min(max(p.speed+g.rng.NormFloat64()*0.2, 0), 10)
		p.x = min(max(p.x+p.speed*math.Cos(p.yaw)*dt, 0), 800)
		p.y = min(max(p.y+p.speed*math.Sin(p.yaw)*dt, 0), 800)
		if g.rng.Float64() < 0.02 {
			p.health = max(p.health-10, 0)
			p.shots++
		}
		if p.health == 0 {
			p.spawn(g.rng)
		}
	}
}

// appendTo appends player i to a datagram in the given format.
func (p *player) appendTo(b []byte, i int, format string, order binary.AppendByteOrder, rng *rand.Rand) []byte {
	vx, vy := p.speed*math.Cos(p.yaw), p.speed*math.Sin(p.yaw)
	switch format {
	case "bits":
		var packed [2]uint64
		at := 0
		for _, f := range []struct {
			v     float64
			width int
		}{{float64(i), 3}, {p.health, 7}, {p.x * 20, 14}, {p.y * 20, 14}, {vx * 50, 10}, {vy * 50, 10}, {p.yaw * 81, 9}, {float64(p.shots), 5}} {
			for j := range f.width {
				packed[at>>6] |= uint64(int64(f.v)) >> j & 1 << (at & 63)
				at++
			}
		}
		return append(binary.LittleEndian.AppendUint64(b, packed[0]), byte(packed[1]))
	case "f32le":
		b = append(b, byte(i), byte(p.health))
		for _, v := range []float64{p.x, p.y, p.z, vx, vy, p.yaw} {
			b = order.AppendUint32(b, math.Float32bits(float32(v)))
		}
		return b
	case "subset":
		if rng.IntN(3) == 0 {
			return b
		}
	}
	b = append(b, byte(i), byte(p.health))
	for _, v := range []float64{p.x * 40, p.y * 40, p.z, vx * 1000, vy * 1000, p.yaw * 5000, float64(p.shots)} {
		b = order.AppendUint16(b, uint16(int(v)))
	}
	return b
}
