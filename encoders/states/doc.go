// Package states is under way.
package states

import (
	"errors"
	"os"
	"strconv"

	"wirelab/dataset/frame"
)

const fieldFloat = frame.Float32

var errRange = errors.New("out of range")

var debugFresh bool

func env(name string, d int) int {
	if v, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return v
	}
	return d
}

var tuneHaste = env("HASTE", 1310)
var tunePlayer = env("PLAYER", 0)
