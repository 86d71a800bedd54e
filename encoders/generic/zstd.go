package generic

import (
	_ "embed" // the trained dictionary
	"fmt"
	"math/bits"

	"github.com/klauspost/compress/zstd"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/internal/boundedio"
)

// zstdParams are the parameters of zstd and zstd-baseline.
type zstdParams struct {
	Level int `toml:"level" help:"effort, from fastest to smallest" min:"1" max:"4"`
}

// Zstd compresses every frame by itself.
func Zstd() encoders.Codec {
	return encoders.Codec{
		ID: 66, Name: "zstd", Refs: 1, Standalone: true, Suits: anySchema,
		Summary: "every frame by itself through Zstandard",
		Source:  "RFC 8878, Yann Collet, 2021; library klauspost/compress",
		Params:  &zstdParams{Level: 3},
		New:     with("zstd", func(most int, params any) compressor { return newZstd(most, params) }),
	}
}

// ZstdBaseline compresses every frame with the baseline as the dictionary, as
// zstd --patch-from does with files.
func ZstdBaseline() encoders.Codec {
	return encoders.Codec{
		ID: 68, Name: "zstd-baseline", Refs: 1, Suits: anySchema,
		Summary: "Zstandard with the baseline frame as its dictionary, as for patches of files",
		Source:  "RFC 8878, Yann Collet, 2021; library klauspost/compress",
		Params:  &zstdParams{Level: 2},
		New: with("zstd", func(most int, params any) compressor {
			z := newZstd(most, params)
			z.baseline = true
			return z
		}),
	}
}

// zstandard wraps the library's two ends, which are made when first used. The
// decoder never gets more memory than the largest frame needs, whatever a packet
// claims of window or content.
type zstandard struct {
	level    zstd.EncoderLevel
	window   int    // a power of two that holds the dictionary and the frame
	trained  []byte // a dictionary in the library's format, nil for none
	baseline bool   // the baseline is the dictionary
	bare     bool   // packets leave out the magic number
	framed   []byte // a packet with it
	enc      *zstd.Encoder
	dec      *zstd.Decoder
}

func newZstd(most int, params any) *zstandard {
	return &zstandard{
		level:  zstd.EncoderLevel(params.(*zstdParams).Level),
		window: 1 << bits.Len(uint(2*most)),
	}
}

// magic begins every frame of Zstandard.
const magic = "\x28\xb5\x2f\xfd"

// dictionary is the number of the baseline as a dictionary; the library allows
// none below 1.
const dictionary = 1

func (z *zstandard) compress(dst, src, base []byte) ([]byte, error) {
	if z.enc == nil {
		options := []zstd.EOption{zstd.WithEncoderLevel(z.level), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(z.window), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true)}
		if z.trained != nil {
			options = append(options, zstd.WithEncoderDict(z.trained))
		}
		enc, err := zstd.NewWriter(nil, options...)
		if err != nil {
			return dst, err
		}
		z.enc = enc
	}
	if z.baseline {
		if err := z.enc.ResetWithOptions(nil, zstd.WithEncoderDictRaw(dictionary, base)); err != nil {
			return dst, err
		}
	}
	if z.bare {
		z.framed = z.enc.EncodeAll(src, z.framed[:0])
		return append(dst, z.framed[min(len(magic), len(z.framed)):]...), nil
	}
	return z.enc.EncodeAll(src, dst), nil
}

func (z *zstandard) expand(dst, src, base []byte) ([]byte, error) {
	if z.dec == nil {
		options := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(uint64(z.window)), zstd.WithDecoderMaxMemory(uint64(cap(dst))), zstd.WithDecodeAllCapLimit(true)}
		if z.trained != nil {
			options = append(options, zstd.WithDecoderDicts(z.trained))
		}
		dec, err := zstd.NewReader(nil, options...)
		if err != nil {
			return dst, err
		}
		z.dec = dec
	}
	if z.baseline {
		if err := z.dec.ResetWithOptions(nil, zstd.WithDecoderDictRaw(dictionary, base)); err != nil {
			return dst, err
		}
	}
	if z.bare && len(src) > 0 { // the library decodes no bytes to no bytes
		z.framed = append(append(z.framed[:0], magic...), src...)
		src = z.framed
	}
	return z.dec.DecodeAll(src, dst)
}

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
		ID: 67, Name: "zstd-dict", Refs: 1, Standalone: true,
		Suits:   func(s *frame.Schema) bool { return frame.IsCubes(s) || packetsSuit(s) },
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

// packetsSuit reports whether frames are datagrams of a program, which have only a body.
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
