package dataset

import (
	"context"
	"errors"
	"io"

	"wirelab/dataset/frame"
)

// Read reads frames of src, one after the other into f, and calls visit with the number of each, from 0, until src ends,
// limit frames are read, or visit returns an error. A limit of 0 means no limit. It returns how many frames were read
// and visited without an error.
func Read(ctx context.Context, src Source, f *frame.Frame, limit int, visit func(number int) error) (n int, err error) {
	for ; limit == 0 || n < limit; n++ {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		if err := src.Next(f); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return n, err
		}
		if err := visit(n); err != nil {
			return n, err
		}
	}
	return n, nil
}
