package table

import (
	"slices"

	"wirelab/encoders/adaptive"
	"wirelab/encoders/cubes/entropy"
	"wirelab/encoders/cubes/kinetic"
	"wirelab/encoders/datagram"
	"wirelab/encoders/generic"
	"wirelab/encoders/states"
	"wirelab/encoders/train"
)

// Trainers returns how each encoder that learns is trained, in the order of All.
// The slice is the caller's.
func Trainers() []train.Trainer {
	return slices.Concat(entropy.Trainers(), kinetic.Trainers(), adaptive.Trainers(), datagram.Trainers(), generic.Trainers(), states.Trainers())
}
