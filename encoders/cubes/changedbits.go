package cubes

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// ChangedBits sends one bit a cube, "not the same as in the baseline", and then
// only the cubes that changed.
func ChangedBits() encoders.Codec {
	return encoders.Codec{
		ID: 4, Name: "changed-bits", Refs: 1, Suits: frame.IsCubes,
		Summary: "only the cubes that differ from the baseline, named by one bit for every cube",
		Source:  "Snapshot Compression, Glenn Fiedler, 2015",
		New: newCodec(func(int, any) rung {
			return &delta{indices: bitmap{}, rows: absolutes{}}
		}),
	}
}
