package table

import (
	"fmt"
	"math"
	"slices"

	"wirelab/dataset/frame"
)

// Rescaled returns a copy of l in which field i has the scale scales[i]. The ranges in units stay, to the nearest step.
// The scale of an angle is lowered so that a turn is a whole number of steps. Fields must be quantities or angles.
func (l *Layout) Rescaled(scales map[int]float64) (*Layout, error) {
	x, s := *l, *l.Schema
	s.Fields = slices.Clone(s.Fields)
	x.Schema = &s
	for i, scale := range scales {
		f := &s.Fields[i]
		steps := float64(f.Max) - float64(f.Min) + 1 // of an angle: in a turn
		lowest, highest := float64(f.Min)*f.Scale, float64(f.Max)*f.Scale
		if f.Kind == frame.Angle {
			scale = scaleWithin(f.Kind, scale/2, steps*f.Scale)
			lowest = math.Round(lowest / scale)
			highest = lowest + math.Round(steps*f.Scale/scale) - 1
		} else { // values up to half an old step outside of the range are valid too
			lowest, highest = math.Round((lowest-f.Scale/2)/scale), math.Round((highest+f.Scale/2)/scale)
		}
		if highest-lowest < 1 || lowest < math.MinInt32 || highest > math.MaxInt32 {
			return nil, fmt.Errorf("field %s cannot have steps of %g", f.Name, scale)
		}
		f.Scale, f.Min, f.Max, f.Tolerance = scale, int32(lowest), int32(highest), 0
	}
	return &x, nil
}
