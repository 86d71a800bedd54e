package generic

import (
	_ "embed" // the trained dictionary
	"fmt"

	"github.com/klauspost/compress/zstd"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/internal/boundedio"
)

// trainedDictionary is what cubes are like, as learnt from one recording (see
// README.md): the state that it begins with, and how often what is coded.
//
//go:embed cubes.zdict
var trainedDictionary []byte

// trainedNumber is the number of the trained dictionary. Every packet names it, and
// numbers above 255 would take more than a byte of each.
const trainedNumber = 67

// dictParams are the parameters of zstd-dict.
type dictParams struct {
	Level      int    `toml:"level" help:"effort, from fastest to smallest" min:"1" max:"4"`
	Dictionary string `toml:"dictionary" help:"file of a dictionary that both ends have, as tui train writes it" file:"true"`
}

// maxDictionary bounds the file of a dictionary, in bytes: windows of packets hold it.
const maxDictionary = 1 << 17

// ZstdDict compresses every frame by itself with a dictionary that both ends have had
// from the start: of cubes an embedded one, of datagrams a user's own. Datagrams travel
// without the four bytes that every frame of Zstandard begins with.
func ZstdDict() encoders.Codec {
	return encoders.Codec{
		ID: 67, Name: "zstd-dict", Refs: 1, Standalone: true, Suits: dictSuits,
		Summary: "every frame by itself through Zstandard, with a dictionary trained on other recordings, or captures",
		Source:  "RFC 8878, Yann Collet, 2021; library klauspost/compress",
		Params:  &dictParams{Level: 3},
		New: func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
			p := params.(*dictParams)
			trained, err := p.read()
			if err != nil {
				return nil, nil, err
			}
			bare := !frame.IsCubes(s)
			if trained == nil && !bare {
				trained = trainedDictionary
			}
			return with("zstd", func(most int, _ any) compressor {
				z := newZstd(most, &zstdParams{p.Level})
				z.trained, z.bare = trained, bare
				return z
			})(s, params)
		},
	}
}

// dictSuits is about what dictionaries are made of.
func dictSuits(s *frame.Schema) bool {
	return frame.IsCubes(s) || packetsSuit(s)
}

// packetsSuit is about datagrams of a program: nothing but a body.
func packetsSuit(s *frame.Schema) bool { return s.Rows == 0 && s.Name == "packets" }

// read reads the dictionary, nil if none is named.
func (p *dictParams) read() ([]byte, error) {
	if p.Dictionary == "" {
		return nil, nil
	}
	data, err := boundedio.ReadFile(p.Dictionary, maxDictionary)
	if err == nil {
		if d, bad := zstd.InspectDictionary(data); bad != nil || d.ID() == 0 || d.ID() > 255 {
			err = fmt.Errorf("%s is no dictionary of Zstandard, or its number is not 1 to 255", p.Dictionary)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w dictionary: %w; expected a file that tui train --encoder zstd-dict made", encoders.ErrParam, err)
	}
	return data, nil
}
