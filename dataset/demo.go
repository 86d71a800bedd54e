package dataset

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
)

var demoKind = Kind{Name: "demo", Spec: "demo", Source: "Glenn Fiedler, Networked Physics, 2014-15",
	Summary: "an embedded recording of the cube world, 48 s: hovering, katamari and rolling, with pauses",
	Open:    func(_ context.Context, _ string, opt Options) (Source, error) { return source.AsSource(openDemo(opt)) }}

// demoRecording is a recording of the cube world with the script "demo" and seed demoSeed, one round of
// it. TestDemo checks that, and records it again with -update.
//
//go:embed demo.bin.zst
var demoRecording string

const (
	demoSeed   = 4
	demoFrames = 48 * 60 // number of frames without the preamble
)

// openDemo opens the embedded recording. Its number of cubes is fixed; another number is an error.
func openDemo(opt Options) (*Recording, error) {
	if opt.Cubes != 0 && opt.Cubes != frame.WalkoffCubes {
		return nil, fmt.Errorf("%w: the demo has %d cubes, not %d", ErrSpec, frame.WalkoffCubes, opt.Cubes)
	}
	r := newRecording("demo", frame.Cubes(frame.WalkoffCubes), opt.Loop)
	const unknownSize = -1 // the size is unknown until the recording is decompressed
	if err := r.start(strings.NewReader(demoRecording), unknownSize); err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	r.Total = preamble + demoFrames
	return r, nil
}
