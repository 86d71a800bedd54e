package rpc

import (
	"context"
	"math"
	"math/rand/v2"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/internal/seed"
)

// Kind describes generated calls to dataset.Open.
var Kind = source.Kind{Name: "rpc", Spec: "rpc", Source: "High-frequency upstream RPC, 2023",
	Summary: "a player's movement calls, 540 bits each, 60 per second, generated without end",
	Open: func(_ context.Context, _ string, opt source.Options) (source.Source, error) {
		return open(opt.Seed), nil
	}}

// callSource is an endless source of calls. It implements source.Source.
type callSource struct {
	schema *frame.Schema
	player player
	tick   uint32
}

// open returns the calls of a player whose behaviour follows from a seed.
func open(number uint64) *callSource {
	rng := rand.New(seed.Tagged(number, "rpc"))
	return &callSource{schema: newSchema(), player: newPlayer(rng)}
}

// Schema describes the calls.
func (s *callSource) Schema() *frame.Schema { return s.schema }

// Initial fills f with a call whose fields are all zero.
func (s *callSource) Initial(f *frame.Frame) {
	clear(f.Table)
	f.Tick, f.Body = 0, f.Body[:0]
}

// Next simulates a frame and fills f with its call. It never fails.
func (s *callSource) Next(f *frame.Frame) error {
	s.player.step()
	s.player.fillCall(f.Table)
	f.Tick, f.Body = s.tick, f.Body[:0]
	s.tick++
	return nil
}

// fillCall fills row with the call for the player's current state.
func (p *player) fillCall(row []int32) {
	row[colTime] = int32(uint32(p.time))
	putVec := func(at int, v vec) {
		for c := range v {
			row[at+c] = int32(math.Float32bits(float32(v[c])))
		}
	}
	putVec(colPosition, p.position)
	putVec(colVelocity, p.velocity)
	putVec(colAcceleration, p.acceleration)
	putVec(colRotation, p.rotation)
	putVec(colSpin, p.spin)
	row[colMode] = p.mode
	for b := range int32(colBase - colButtons) {
		row[colButtons+b] = int32(p.buttons >> b & 1)
	}
	row[colBase] = p.base
}
