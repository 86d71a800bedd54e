package dataset

import (
	"encoding/binary"
	"fmt"

	"wirelab/dataset/frame"
)

// A walk-off record: one cube of one frame, eight little-endian int32 in the
// order of the schema's columns. A recording is frame after frame of them,
// without header; frames 0..5 repeat the initial state, so that frame 6 already
// has the frame six before it to be coded against.
const (
	recordBytes = frame.CubeFields * 4
	preamble    = 6            // frames that repeat the initial state
	leastFrames = preamble + 1 // of a recording
)

// MaxCubes is the most cubes a frame may hold: it bounds what a reader
// allocates.
const MaxCubes = 1 << 16

// cubeSchema checks a number of cubes, 0 meaning 901, and returns its schema.
func cubeSchema(cubes int) (*frame.Schema, error) {
	if cubes == 0 {
		cubes = frame.WalkoffCubes
	}
	if cubes < 1 || cubes > MaxCubes {
		return nil, fmt.Errorf("%w: %d cubes, expected 1..%d", ErrSpec, cubes, MaxCubes)
	}
	return frame.Cubes(cubes), nil
}

// ranges are the limits of the eight columns, laid out for a check without
// branches: v is within its range exactly if uint32(v-low) <= span.
type ranges struct {
	low  [frame.CubeFields]int32
	span [frame.CubeFields]uint64
}

func rangesOf(s *frame.Schema) (r ranges) {
	for i, f := range s.Fields {
		r.low[i], r.span[i] = f.Min, uint64(f.Max-f.Min)
	}
	return r
}

// decode reads the records in src into table, which has room for all of them,
// and reports whether all values are within their ranges.
func (r *ranges) decode(table []int32, src []byte) bool {
	var beyond uint64 // its top bit is set once span - distance went below zero
	for len(src) >= recordBytes && len(table) >= frame.CubeFields {
		rec := (*[recordBytes]byte)(src)
		row := (*[frame.CubeFields]int32)(table)
		for k := range row {
			v := int32(binary.LittleEndian.Uint32(rec[k*4:]))
			row[k] = v
			beyond |= r.span[k] - uint64(uint32(v-r.low[k]))
		}
		src, table = src[recordBytes:], table[frame.CubeFields:]
	}
	return beyond>>63 == 0
}

// appendRecords appends f's table as records.
func appendRecords(dst []byte, f *frame.Frame) []byte {
	for _, v := range f.Table {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(v))
	}
	return dst
}
