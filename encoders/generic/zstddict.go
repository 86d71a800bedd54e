package generic

import (
	_ "embed" // the trained dictionary

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// trainedDictionary is what cubes are like, as learnt from one recording (see
// README.md): the state that it begins with, and how often what is coded.
//
//go:embed cubes.zdict
var trainedDictionary []byte

// trainedNumber is the number of the trained dictionary. Every packet names it, and
// numbers above 255 would take more than a byte of each.
const trainedNumber = 67

// ZstdDict compresses every frame by itself with a dictionary that both ends have had
// from the start. It suits cubes only, any number of them, since cubes are all that
// the dictionary has seen.
func ZstdDict() encoders.Codec {
	return encoders.Codec{
		ID: 67, Name: "zstd-dict", Refs: 1, Standalone: true, Suits: frame.IsCubes,
		Summary: "every frame by itself through Zstandard, with a dictionary trained on another recording",
		Source:  "RFC 8878, Yann Collet, 2021; library klauspost/compress",
		Params:  &ZstdParams{Level: 3},
		New: with(func(most int, params any) compressor {
			z := newZstd(most, params)
			z.trained = trainedDictionary
			return z
		}),
	}
}
