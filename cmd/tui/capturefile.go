package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/klauspost/compress/zstd"

	"wirelab/lossmodel/capture"
)

// maxCapture is how many bytes a capture may unpack to.
const maxCapture = 1 << 29

// readCapture reads a capture; - is standard input. Its errors are usage errors that
// name the file and, where one is at fault, the line.
func (a *app) readCapture(path string) (*capture.Capture, error) {
	in, name := a.stdin, "standard input"
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, usage(readable(err))
		}
		defer file.Close()
		in, name = file, path
	}
	in, err := unpack(in)
	if err == nil {
		limited := &io.LimitedReader{R: in, N: maxCapture}
		var c *capture.Capture
		c, err = capture.Read(limited)
		switch {
		case limited.N <= 0:
			err = fmt.Errorf("is larger than %d MB, expected a capture", maxCapture>>20)
		case err == nil:
			return c, nil
		}
	}
	return nil, usage(placed(name, err))
}

// unpack tells by the first bytes whether in is compressed.
func unpack(in io.Reader) (io.Reader, error) {
	buffered := bufio.NewReaderSize(in, 1<<16)
	magic, err := buffered.Peek(4)
	if err != nil && err != io.EOF { // too short is for the reader of rows to say
		return nil, err
	}
	switch {
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(1<<27))
		if err != nil {
			return nil, err
		}
		return z, nil
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		return gzip.NewReader(buffered)
	}
	return buffered, nil
}

// placed begins an error about a capture with name:line, if a line is at fault.
func placed(name string, err error) error {
	var syntax *csv.ParseError
	var path *fs.PathError
	var row *capture.RowError
	switch {
	case errors.As(err, &path):
		return fmt.Errorf("%s: %w", name, path.Err)
	case errors.As(err, &syntax):
		return fmt.Errorf("%s:%d: %w", name, syntax.Line, syntax.Err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: is cut short: what it is compressed with expects more", name)
	case errors.Is(err, capture.ErrColumns):
		return fmt.Errorf("%s:1: %w", name, err)
	case errors.As(err, &row):
		return fmt.Errorf("%s:%d: %w", name, row.Line, row.Err)
	}
	return fmt.Errorf("%s: %w", name, err)
}
