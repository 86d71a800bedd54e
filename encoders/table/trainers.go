package table

import (
	"wirelab/encoders/cubes/entropy"
	"wirelab/encoders/cubes/kinetic"
	"wirelab/encoders/train"
)

// Trainers returns how each encoder that learns is trained, in the order of All.
// The slice is the caller's.
func Trainers() []train.Trainer {
	return append(entropy.Trainers(), kinetic.Trainers()...)
}
