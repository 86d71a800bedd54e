// Package kinetic holds the two learnt encoders of cubes. What both ends can predict
// is not sent:
//
//   - The motion is predicted. kinetic simulates the physics from the baseline to the
//     frame (package forecast), with the player's motion, which is coded first.
//     kinetic-lite extrapolates every cube.
//   - A small net turns features of the cube, its history, the player and the coded
//     neighbours into a mixture of five distributions of the position, a second net
//     into one of the orientation.
//   - Each value is binarised around the median of its mixture. A range coder codes
//     the decisions with the mixture's probabilities, corrected by trained weights.
//
// The player is coded first, then the cubes by distance from it, so that the causes
// of a motion are known before it.
//
// Nets and weights are trained (train.go) and fixed. The few weights that adapt are
// part of the frame's memo (memo.go), a pure function of the frame and its baseline's
// memo, so lost packets do no harm.
//
// Reading order: coder.go is the traversal, scene.go and features.go the features,
// decision.go and mixture.go the coding of a number, flags.go the other decisions.
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

// Lite predicts every cube from its own motion and its neighbours'.
func Lite() encoders.Codec {
	return encoders.Codec{
		ID: 19, Name: "kinetic-lite", Refs: 1, Suits: frame.IsCubes,
		Summary: "small nets say how likely every position and orientation is; no simulation",
		Source:  "Mixture Density Networks, Christopher Bishop, 1994; own",
		New: func(s *frame.Schema, _ any) (encoders.Encoder, encoders.Decoder, error) {
			return ends(s, liteModel, nil)
		},
	}
}

// params are the physical laws that kinetic simulates. The defaults are those of the
// walk-off's recordings.
type params struct {
	Rounds     int     `toml:"rounds" help:"how often a simulation is repeated to correct the speeds" unit:"times" min:"0" max:"8"`
	Iterations int     `toml:"iterations" help:"how often the simulation's solver goes over all contacts" unit:"times" min:"1" max:"200"`
	Gravity    float64 `toml:"gravity" help:"how fast things fall" unit:"m/s2" min:"0" max:"100"`
	Friction   float64 `toml:"grip" help:"what friction holds at most" unit:"N" min:"0" max:"10000"`
	Damping    float64 `toml:"damping" help:"share of speed and spin lost in each step" min:"0" max:"1"`
}

// Kinetic simulates the physics at both ends and codes the residual.
func Kinetic() encoders.Codec {
	law := defaultLaw()
	return encoders.Codec{
		ID: 20, Name: "kinetic", Refs: 2, Suits: frame.IsCubes,
		Summary: "both ends simulate the physics from the baseline; nets say how likely every miss is",
		Source:  "own; physics of Glenn Fiedler's Networked Physics, 2014",
		Params:  &params{Rounds: law.rounds, Iterations: law.Iterations, Gravity: law.Gravity, Friction: law.MaxFriction, Damping: law.Damping},
		New: func(s *frame.Schema, set any) (encoders.Encoder, encoders.Decoder, error) {
			if err := encoders.Validate(set); err != nil {
				return nil, nil, err
			}
			p := set.(*params)
			law := defaultLaw()
			law.rounds, law.Iterations, law.Gravity, law.MaxFriction, law.Damping = p.Rounds, p.Iterations, p.Gravity, p.Friction, p.Damping
			return ends(s, kineticModel, law)
		},
	}
}

// ends returns encoder and decoder of a model; law is nil for a model without
// simulation.
func ends(s *frame.Schema, load func() (*model, error), law *law) (encoders.Encoder, encoders.Decoder, error) {
	if err := cube.CheckSchema(s); err != nil {
		return nil, nil, err
	}
	m, err := load()
	if err != nil {
		return nil, nil, err
	}
	if n := featureCount(law != nil); m.place.In() != n {
		return nil, nil, fmt.Errorf("%w: nets of %d inputs, expected %d", errModel, m.place.In(), n)
	}
	return newCoder(m, s.Rows, law), newCoder(m, s.Rows, law), nil
}

func newCoder(m *model, rows int, law *law) *coder {
	prepareTables()
	return &coder{model: m, rows: rows, law: law}
}

// Trained models, see README.md; package train packed them.
//
//go:embed *.zst
var files embed.FS

// The models are read on first use, and shared by all ends.
var (
	liteModel    = sync.OnceValues(func() (*model, error) { return openModel("lite") })
	kineticModel = sync.OnceValues(func() (*model, error) { return openModel("kinetic") })
)

// openModel reads a model from its three packed files.
func openModel(name string) (*model, error) {
	var data [3][]byte
	for k, part := range [...]string{".place.net.zst", ".pose.net.zst", ".tables.zst"} {
		packed, err := files.ReadFile(name + part)
		if err == nil {
			data[k], err = train.Open(packed, train.MaxEmbedded)
		}
		if err != nil {
			return nil, err
		}
	}
	return readModel(data[0], data[1], data[2])
}
