package generic

import (
	_ "embed" // for cubes.zdict
	"fmt"
	"math/bits"

	"github.com/klauspost/compress/zstd"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/internal/boundedio"
)

// zstdParams are the parameters of zstd and zstd-baseline.
type zstdParams struct {
	Level int `toml:"level" help:"compression level: 1 is fastest, 4 smallest" min:"1" max:"4"`
}

// Zstd returns the codec zstd, which compresses every frame alone.
func Zstd() encoders.Codec {
	return encoders.Codec{
		ID: 66, Name: "zstd", Refs: 1, Standalone: true, Suits: suits,
		Summary: "every frame alone, compressed with Zstandard",
		Source:  "RFC 8878, Yann Collet, 2021; library klauspost/compress",
		Params:  &zstdParams{Level: 3},
		New:     newCodec("zstd", func(maxSize int, params any) compressor { return newZstd(maxSize, params) }),
	}
}

// ZstdBaseline returns the codec zstd-baseline, which compresses every frame with the baseline as
// the dictionary, as zstd --patch-from does with files.
func ZstdBaseline() encoders.Codec {
	return encoders.Codec{
		ID: 68, Name: "zstd-baseline", Refs: 1, Suits: suits,
		Summary: "Zstandard with the baseline frame as its dictionary, as for patches of files",
		Source:  "RFC 8878, Yann Collet, 2021; library klauspost/compress",
		Params:  &zstdParams{Level: 2},
		New: newCodec("zstd", func(maxSize int, params any) compressor {
			z := newZstd(maxSize, params)
			z.baseline = true
			return z
		}),
	}
}

// A zstandard is a compressor for Zstandard. The library's encoder and decoder are created on first
// use. The decoder never allocates more memory than the largest frame needs, whatever window or
// content size a packet declares.
type zstandard struct {
	level      zstd.EncoderLevel
	window     int    // a power of two that holds the dictionary and the frame
	dictionary []byte // dictionary in the library's format; nil if none
	baseline   bool   // use the baseline as a raw dictionary
	omitMagic  bool   // packets omit the magic number
	buffer     []byte // a packet with the magic number
	encoder    *zstd.Encoder
	decoder    *zstd.Decoder
}

// newZstd returns a compressor for inputs of up to maxSize bytes. params is a *zstdParams.
func newZstd(maxSize int, params any) *zstandard {
	return &zstandard{
		level:  zstd.EncoderLevel(params.(*zstdParams).Level),
		window: 1 << bits.Len(uint(2*maxSize)), // room for a baseline and a frame, rounded up to a power of two
	}
}

// magic is the magic number of every Zstandard frame (RFC 8878, section 3.1.1).
const magic = "\x28\xb5\x2f\xfd"

// baselineDictID is the dictionary id of the baseline. The library requires an id of at least 1.
const baselineDictID = 1

// compress implements compressor. It uses base, as the dictionary, only if z.baseline is set. The first call creates
// the library's encoder.
func (z *zstandard) compress(dst, src, base []byte) ([]byte, error) {
	if z.encoder == nil {
		options := []zstd.EOption{zstd.WithEncoderLevel(z.level), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(z.window), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true)}
		if z.dictionary != nil {
			options = append(options, zstd.WithEncoderDict(z.dictionary))
		}
		enc, err := zstd.NewWriter(nil, options...)
		if err != nil {
			return dst, err
		}
		z.encoder = enc
	}
	if z.baseline {
		if err := z.encoder.ResetWithOptions(nil, zstd.WithEncoderDictRaw(baselineDictID, base)); err != nil {
			return dst, err
		}
	}
	if z.omitMagic {
		z.buffer = z.encoder.EncodeAll(src, z.buffer[:0])
		return append(dst, z.buffer[min(len(magic), len(z.buffer)):]...), nil
	}
	return z.encoder.EncodeAll(src, dst), nil
}

// expand implements compressor. It uses base only if z.baseline is set. The capacity of dst, which is
// the same in all calls, bounds the output.
func (z *zstandard) expand(dst, src, base []byte) ([]byte, error) {
	if z.decoder == nil {
		options := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(uint64(z.window)), zstd.WithDecoderMaxMemory(uint64(cap(dst))), zstd.WithDecodeAllCapLimit(true)}
		if z.dictionary != nil {
			options = append(options, zstd.WithDecoderDicts(z.dictionary))
		}
		dec, err := zstd.NewReader(nil, options...)
		if err != nil {
			return dst, err
		}
		z.decoder = dec
	}
	if z.baseline {
		if err := z.decoder.ResetWithOptions(nil, zstd.WithDecoderDictRaw(baselineDictID, base)); err != nil {
			return dst, err
		}
	}
	if z.omitMagic && len(src) > 0 { // the library decodes empty input to empty output
		z.buffer = append(append(z.buffer[:0], magic...), src...)
		src = z.buffer
	}
	return z.decoder.DecodeAll(src, dst)
}

// embeddedDictionary is a dictionary of cubes, trained on one recording: its first frame, and
// entropy tables (see README.md).
//
//go:embed cubes.zdict
var embeddedDictionary []byte

// trainedDictID is the id of trained dictionaries. Every packet contains it; an id above 255 would
// take more than one byte.
const trainedDictID = 67

// dictParams are the parameters of zstd-dict.
type dictParams struct {
	Level      int    `toml:"level" help:"compression level: 1 is fastest, 4 smallest" min:"1" max:"4"`
	Dictionary string `toml:"dictionary" help:"file of a dictionary, written by tui train; both endpoints need it" file:"true"`
}

// maxDictionarySize bounds the file of a dictionary, in bytes. The window of a packet must hold the
// dictionary.
const maxDictionarySize = 1 << 17

// ZstdDict returns the codec zstd-dict, which compresses every frame alone with a dictionary that
// both endpoints have: for cubes an embedded one, for captures a user's own. Packets of captures
// omit Zstandard's magic number, four bytes.
func ZstdDict() encoders.Codec {
	return encoders.Codec{
		ID: 67, Name: "zstd-dict", Refs: 1, Standalone: true,
		Suits:   func(s *frame.Schema) bool { return frame.IsCubes(s) || isCapture(s) },
		Summary: "every frame alone, compressed with Zstandard and a dictionary trained on other recordings or captures",
		Source:  "RFC 8878, Yann Collet, 2021; library klauspost/compress",
		Params:  &dictParams{Level: 3},
		New: func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
			p := params.(*dictParams)
			dictionary, err := p.read()
			if err != nil {
				return nil, nil, err
			}
			omitMagic := !frame.IsCubes(s)
			if dictionary == nil && !omitMagic {
				dictionary = embeddedDictionary
			}
			return newCodec("zstd", func(maxSize int, _ any) compressor {
				z := newZstd(maxSize, &zstdParams{p.Level})
				z.dictionary, z.omitMagic = dictionary, omitMagic
				return z
			})(s, params)
		},
	}
}

// isCapture reports whether frames are datagrams of a capture, which have only a body.
func isCapture(s *frame.Schema) bool { return s.Rows == 0 && s.Name == "packets" }

// read reads the dictionary from the file that the parameters name, nil if they name none. The id of a dictionary
// must fit into one byte, because every packet contains it.
func (p *dictParams) read() ([]byte, error) {
	if p.Dictionary == "" {
		return nil, nil
	}
	data, err := boundedio.ReadFile(p.Dictionary, maxDictionarySize)
	if err == nil {
		if d, bad := zstd.InspectDictionary(data); bad != nil || d.ID() == 0 || d.ID() > 255 {
			err = fmt.Errorf("%s is not a Zstandard dictionary with an id from 1 to 255", p.Dictionary)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w dictionary: %w; expected a file written by tui train --encoder zstd-dict", encoders.ErrParam, err)
	}
	return data, nil
}
