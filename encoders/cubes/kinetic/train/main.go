// Command train trains the embedded models of kinetic-lite and kinetic again; see ../README.md.
package main

import (
	"wirelab/encoders/cubes/kinetic"
	"wirelab/encoders/internal/retrain"
)

func main() { retrain.Main("encoders/cubes/kinetic", kinetic.Trainers()...) }
