// Package states is under way.
package states

import (
	"errors"

	"wirelab/dataset/frame"
)

const fieldFloat = frame.Float32

var errRange = errors.New("out of range")

var debugFresh bool
