package dataset

import (
	"encoding/binary"
	"fmt"

	"wirelab/dataset/frame"
)

// A walk-off record is one cube of one frame: eight little-endian int32 in the order of the schema's
// columns. A recording is a sequence of frames without a header. Its first six frames repeat the
// initial state, so that frame 6 has a baseline six frames before it, as the walk-off's rules require.
const (
	recordBytes = frame.CubeFields * 4
	preamble    = 6            // number of frames that repeat the initial state
	minFrames   = preamble + 1 // minimum number of frames of a recording
)

// MaxCubes is the maximum number of cubes in a frame. It bounds the memory of a reader.
const MaxCubes = 1 << 16

// cubeSchema returns the schema for a number of cubes; 0 means 901.
func cubeSchema(cubes int) (*frame.Schema, error) {
	if cubes == 0 {
		cubes = frame.WalkoffCubes
	}
	if cubes < 1 || cubes > MaxCubes {
		return nil, fmt.Errorf("%w: %d cubes, expected 1..%d", ErrSpec, cubes, MaxCubes)
	}
	return frame.Cubes(cubes), nil
}

// ranges are the limits of the eight columns, for a check without branches: v is in its range
// exactly if uint32(v-low) <= span.
type ranges struct {
	low  [frame.CubeFields]int32
	span [frame.CubeFields]uint64 // highest value minus lowest value
}

// newRanges returns the ranges of a schema of cubes.
func newRanges(s *frame.Schema) (r ranges) {
	for i, f := range s.Fields {
		r.low[i], r.span[i] = f.Min, uint64(f.Max-f.Min)
	}
	return r
}

// decode decodes the records in src into table, which must be long enough, and reports whether all
// values are in their ranges.
func (r *ranges) decode(table []int32, src []byte) bool {
	var outOfRange uint64 // the top bit is set if span - (v-low) was negative for any value
	for len(src) >= recordBytes && len(table) >= frame.CubeFields {
		rec := (*[recordBytes]byte)(src)
		row := (*[frame.CubeFields]int32)(table)
		for k := range row {
			v := int32(binary.LittleEndian.Uint32(rec[k*4:]))
			row[k] = v
			outOfRange |= r.span[k] - uint64(uint32(v-r.low[k]))
		}
		src, table = src[recordBytes:], table[frame.CubeFields:]
	}
	return outOfRange>>63 == 0
}

// appendRecords appends the table of f as records.
func appendRecords(dst []byte, f *frame.Frame) []byte {
	for _, v := range f.Table {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(v))
	}
	return dst
}
