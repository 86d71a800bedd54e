// Package kinetic implements kinetic-lite and kinetic, the two trained encoders of cubes.
// Encoder and decoder make the same prediction of the frame, and the packet holds what differs:
//
//   - Motion prediction. kinetic simulates the physics from the baseline to the frame
//     (package forecast), with the player's motion, which is coded first. kinetic-lite
//     extrapolates the last motion of every cube.
//   - Mixture-density nets (Bishop, 1994). A small net maps features of the cube, its
//     history, the player and the neighbours already coded to a mixture of five logistic
//     distributions of the position. A second net does the same for the orientation.
//   - Range coding. Each value is binarised around the median of its mixture. The
//     probabilities of the binary decisions come from the mixture, corrected by trained
//     weights, as in a logistic regression.
//
// A packet is one range-coded stream without a header. It holds the cubes, the player (cube 0)
// first and then by distance from the player at the baseline, so that what causes a motion is
// decoded before the motion. For each cube it holds, in this order:
//
//  1. whether position or orientation changed since the baseline
//  2. if so x, y and z, as differences from the baseline
//  3. if so which component of the orientation is the largest, then the other three
//  4. whether the cube interacts with the player
//
// Nets and weights are trained offline (train.go) and fixed. The few weights that adapt are part
// of the frame's memo (memo.go). A memo is a function of the frame and of its baseline's memo
// alone, so the memos of encoder and decoder agree whatever packets are lost.
//
// Reading order: coder.go traverses the cubes, scene.go and features.go compute the inputs of the
// nets, decision.go and mixture.go code a number, flags.go codes the other decisions.
package kinetic

import (
	"embed"
	"fmt"
	"sync"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/train"
)

// Lite returns the codec kinetic-lite, which predicts every cube from its own motion and its
// neighbours', without a simulation.
func Lite() encoders.Codec {
	return encoders.Codec{
		ID: 19, Name: "kinetic-lite", Refs: 1, Suits: frame.IsCubes,
		Summary: "small nets predict the distribution of every position and orientation; no simulation",
		Source:  "Mixture Density Networks, Christopher Bishop, 1994; own",
		New: func(s *frame.Schema, _ any) (encoders.Encoder, encoders.Decoder, error) {
			return newCoders(s, liteModel, nil) // nil: no simulation
		},
	}
}

// params are the constants of the simulated physics. The defaults are those with which the
// recordings of the walk-off were made.
type params struct {
	Rounds     int     `toml:"rounds" help:"maximum number of repeated simulations that correct the speeds" unit:"times" min:"0" max:"8"`
	Iterations int     `toml:"iterations" help:"sweeps of the contact solver in each simulation step" unit:"times" min:"1" max:"200"`
	Gravity    float64 `toml:"gravity" help:"acceleration of falling cubes" unit:"m/s2" min:"0" max:"100"`
	Friction   float64 `toml:"grip" help:"largest force of friction" unit:"N" min:"0" max:"10000"`
	Damping    float64 `toml:"damping" help:"fraction of speed and spin lost in each step" min:"0" max:"1"`
}

// Kinetic returns the codec kinetic: encoder and decoder simulate the physics, and the packet
// holds the residuals.
func Kinetic() encoders.Codec {
	defaults := defaultSimulation()
	return encoders.Codec{
		ID: 20, Name: "kinetic", Refs: 2, Suits: frame.IsCubes,
		Summary: "sender and receiver simulate the physics from the baseline; nets predict the residuals",
		Source:  "own; physics of Glenn Fiedler's Networked Physics, 2014",
		Params: &params{Rounds: defaults.rounds, Iterations: defaults.Iterations, Gravity: defaults.Gravity,
			Friction: defaults.MaxFriction, Damping: defaults.Damping},
		New: func(s *frame.Schema, set any) (encoders.Encoder, encoders.Decoder, error) {
			if err := encoders.Validate(set); err != nil {
				return nil, nil, err
			}
			p := set.(*params)
			simulation := defaultSimulation() // keeps the constants of physics that are no parameters
			simulation.rounds, simulation.Iterations, simulation.Gravity = p.Rounds, p.Iterations, p.Gravity
			simulation.MaxFriction, simulation.Damping = p.Friction, p.Damping
			return newCoders(s, kineticModel, simulation)
		},
	}
}

// newCoders returns an encoder and a decoder with the model that load returns. simulation is nil
// for kinetic-lite. The model must have been trained with the same number of features.
func newCoders(s *frame.Schema, load func() (*model, error), simulation *simulationConfig) (
	encoders.Encoder, encoders.Decoder, error) {
	if err := cube.CheckSchema(s); err != nil {
		return nil, nil, err
	}
	m, err := load()
	if err != nil {
		return nil, nil, err
	}
	if features := featureCount(simulation != nil); m.positionNet.In() != features {
		return nil, nil, fmt.Errorf("%w: position net with %d inputs, expected %d", errModel, m.positionNet.In(), features)
	}
	return newCoder(m, s.Rows, simulation), newCoder(m, s.Rows, simulation), nil
}

// newCoder returns an encoder or a decoder for the given number of cubes. simulation is nil for
// kinetic-lite.
func newCoder(m *model, rows int, simulation *simulationConfig) *coder {
	prepareTables()
	return &coder{model: m, rows: rows, simulation: simulation}
}

// files holds the trained models, compressed by package train. README.md describes how they
// were trained.
//
//go:embed *.zst
var files embed.FS

// The models are read on first use and shared by all encoders and decoders.
var (
	liteModel    = sync.OnceValues(func() (*model, error) { return openModel("lite") })
	kineticModel = sync.OnceValues(func() (*model, error) { return openModel("kinetic") })
)

// openModel reads an embedded model from its three files: the net of positions (place), the net of
// orientations (pose) and the weights of decisions. name is the prefix of their names.
func openModel(name string) (*model, error) {
	var data [3][]byte
	for k, part := range [...]string{".place.net.zst", ".pose.net.zst", ".tables.zst"} {
		packed, err := files.ReadFile(name + part)
		if err == nil {
			data[k], err = train.Open(packed)
		}
		if err != nil {
			return nil, err
		}
	}
	return readModel(data[0], data[1], data[2])
}
