package cubes

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

// Quantized sends every cube as integers of just enough bits: smallest three
// 2+9+9+9, position 18+18+14, interacting 1. Velocity is not sent: receivers
// interpolate.
func Quantized() encoders.Codec {
	return encoders.Codec{
		ID: 3, Name: "quantized", Refs: 1, Standalone: true, Suits: frame.IsCubes,
		Summary: "every cube as integers: smallest three in 29 bits, position in 50, no velocity",
		Source:  "Snapshot Compression, Glenn Fiedler, 2015",
		New:     newCodec(func(int, any) rung { return everyRow(absolute) }),
	}
}

// everyRow is a rung that sends every cube, changed or not.
type everyRow func(c *coder, q, base *cube.Row)

func (one everyRow) code(c *coder, cur, base *frame.Frame) {
	for i := range len(cur.Table) / frame.CubeFields {
		q := cube.At(cur.Table, i)
		if !c.admit(i, q) {
			return
		}
		one(c, q, cube.At(base.Table, i))
	}
}
