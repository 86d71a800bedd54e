// Command train counts the embedded table of receiver-adaptive again; see ../README.md.
package main

import (
	"wirelab/encoders/adaptive"
	"wirelab/encoders/internal/retrain"
)

func main() { retrain.Main("encoders/adaptive", adaptive.Trainer()) }
