package rpc

import (
	"math"
	"math/rand/v2"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/internal/seed"
)

// Kind is this data for dataset.Open.
var Kind = source.Kind{Name: "rpc", Spec: "rpc", Source: "High-frequency upstream RPC, 2023",
	Summary: "a player's movement calls, 540 bits each, 60 a second, generated, never ends",
	Open:    func(_ string, opt source.Options) (source.Source, error) { return Open(opt.Seed), nil }}

// Source makes calls for ever. It implements dataset.Source.
type Source struct {
	schema *frame.Schema
	player player
	tick   uint32
}

// Open starts a player with a seed.
func Open(number uint64) *Source {
	rng := rand.New(seed.Tagged(number, "rpc"))
	return &Source{schema: Schema(), player: newPlayer(rng)}
}

// Schema describes the calls.
func (s *Source) Schema() *frame.Schema { return s.schema }

// Initial fills f with the call that both ends are configured with: all zeros.
func (s *Source) Initial(f *frame.Frame) {
	clear(f.Table)
	f.Tick, f.Body = 0, f.Body[:0]
}

// Next moves the player and fills f with its call. It never fails.
func (s *Source) Next(f *frame.Frame) error {
	s.player.step()
	s.player.call(f.Table)
	f.Tick, f.Body = s.tick, f.Body[:0]
	s.tick++
	return nil
}

// call writes what the client tells the server of its player.
func (p *player) call(row []int32) {
	row[Time] = int32(uint32(p.time))
	put := func(at int, v vec) {
		for c := range v {
			row[at+c] = int32(math.Float32bits(float32(v[c])))
		}
	}
	put(Position, p.at)
	put(Velocity, p.speed)
	put(Acceleration, p.push)
	put(Rotation, p.turn)
	put(Spin, p.spin)
	row[Mode] = p.mode
	for b := range int32(Base - Buttons) {
		row[Buttons+b] = int32(p.buttons >> b & 1)
	}
	row[Base] = p.base
}
