package rpc

import (
	"context"
	"math"
	"math/rand/v2"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/internal/seed"
)

// Kind is this data for dataset.Open.
var Kind = source.Kind{Name: "rpc", Spec: "rpc", Source: "High-frequency upstream RPC, 2023",
	Summary: "a player's movement calls, 540 bits each, 60 a second, generated, never ends",
	Open: func(_ context.Context, _ string, opt source.Options) (source.Source, error) {
		return open(opt.Seed), nil
	}}

// calls makes calls for ever. It implements dataset.Source.
type calls struct {
	schema *frame.Schema
	player player
	tick   uint32
}

// open starts a player with a seed.
func open(number uint64) *calls {
	rng := rand.New(seed.Tagged(number, "rpc"))
	return &calls{schema: newSchema(), player: newPlayer(rng)}
}

// newSchema describes the calls.
func (s *calls) Schema() *frame.Schema { return s.schema }

// Initial fills f with the call that both ends are configured with: all zeros.
func (s *calls) Initial(f *frame.Frame) {
	clear(f.Table)
	f.Tick, f.Body = 0, f.Body[:0]
}

// Next moves the player and fills f with its call. It never fails.
func (s *calls) Next(f *frame.Frame) error {
	s.player.step()
	s.player.call(f.Table)
	f.Tick, f.Body = s.tick, f.Body[:0]
	s.tick++
	return nil
}

// call writes what the client tells the server of its player.
func (p *player) call(row []int32) {
	row[colTime] = int32(uint32(p.time))
	put := func(at int, v vec) {
		for c := range v {
			row[at+c] = int32(math.Float32bits(float32(v[c])))
		}
	}
	put(colPosition, p.at)
	put(colVelocity, p.speed)
	put(colAcceleration, p.push)
	put(colRotation, p.turn)
	put(colSpin, p.spin)
	row[colMode] = p.mode
	for b := range int32(colBase - colButtons) {
		row[colButtons+b] = int32(p.buttons >> b & 1)
	}
	row[colBase] = p.base
}
