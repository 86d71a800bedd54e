package generic

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"

	"wirelab/encoders"
)

// deflateParams are the parameters of deflate.
type deflateParams struct {
	Level int `toml:"level" help:"effort, from fastest to smallest" min:"1" max:"9"`
}

// Deflate compresses every frame by itself, as a web server would.
func Deflate() encoders.Codec {
	return encoders.Codec{
		ID: 65, Name: "deflate", Refs: 1, Standalone: true, Suits: anySchema,
		Summary: "every frame by itself through DEFLATE, as a web server would",
		Source:  "RFC 1951, Peter Deutsch, 1996; library klauspost/compress",
		Params:  &deflateParams{Level: 6},
		New: with("deflate", func(_ int, params any) compressor {
			return &deflate{level: params.(*deflateParams).Level}
		}),
	}
}

// deflate is not the standard library's, so that its bytes, which digests of
// runs depend on, change with go.mod only.
type deflate struct {
	level int
	w     *flate.Writer
	r     io.ReadCloser
	out   bytes.Buffer
	in    bytes.Reader
}

func (d *deflate) compress(dst, src, _ []byte) ([]byte, error) {
	d.out.Reset()
	if d.w == nil {
		w, err := flate.NewWriter(&d.out, d.level)
		if err != nil {
			return dst, err
		}
		d.w = w
	} else {
		d.w.Reset(&d.out)
	}
	_, err := d.w.Write(src)
	err = cmp.Or(err, d.w.Close())
	return append(dst, d.out.Bytes()...), err
}

func (d *deflate) expand(dst, src, _ []byte) ([]byte, error) {
	d.in.Reset(src)
	if d.r == nil {
		d.r = flate.NewReader(&d.in)
	} else if err := d.r.(flate.Resetter).Reset(&d.in, nil); err != nil {
		return dst, err
	}
	dst, err := fill(d.r, dst)
	if err == nil && d.in.Len() > 0 {
		err = fmt.Errorf("%d bytes left over", d.in.Len())
	}
	return dst, err
}

var errFull = errors.New("expands to more than a frame can hold")

// fill appends all of r to dst, which must not exceed its capacity.
func fill(r io.Reader, dst []byte) ([]byte, error) {
	for {
		room := dst[len(dst):cap(dst)]
		var more [1]byte
		if len(room) == 0 {
			room = more[:]
		}
		n, err := r.Read(room)
		if len(dst) == cap(dst) && n > 0 {
			return dst, errFull
		}
		dst = dst[:len(dst)+n]
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return dst, err
		}
	}
}
