// Command train builds the embedded dictionary of zstd-dict again; see ../README.md.
package main

import (
	"wirelab/encoders/generic"
	"wirelab/encoders/internal/retrain"
)

func main() { retrain.Main("encoders/generic", generic.CubesTrainer()) }
