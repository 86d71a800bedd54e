package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"wirelab/dataset/frame"
	"wirelab/internal/unpack"
)

// ErrClosed means that the source has been closed.
var ErrClosed = errors.New("already closed")

// Playback is the file of a source that reads it during playback, with the position in it. The file may
// be compressed. A type that embeds Playback implements Sized, Looping and io.Closer; it maintains
// Count, Total and Restart.
type Playback struct {
	Path    string
	Loop    bool           // whether to start again at the end of the file
	Lead    int            // length of the preamble: frames at the start of the file that repeat the initial state
	In      *unpack.Reader // the uncompressed file; nil after Close
	Count   int            // number of frames read in this round, including the preamble
	Total   int            // number of frames in the file; 0 if not known yet
	Restart bool           // the newest frame is at the loop point: the first of a further round

	file *inputFile // nil if the source is in memory
	tick uint32     // tick of the next frame; not reset at the loop point
	err  error      // the first error; all later calls of Fill return it
}

// Open opens the file at Path, which may also be a folder, and returns its FileInfo.
func (p *Playback) Open(ctx context.Context) (os.FileInfo, error) {
	file, err := OpenFile(ctx, p.Path, "", nil) // nil: a folder is not an error
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	p.file = file
	return info, nil
}

// Unpack prepares to read and decompress the file that Open opened, or in if Open was not called, and sets
// p.In. errs are the errors for a file of another format and for a truncated one.
func (p *Playback) Unpack(in io.Reader, errs unpack.Errors) (err error) {
	if p.file != nil {
		in = p.file
	}
	p.In, err = unpack.New(in, p.Path, errs)
	p.tick = uint32(p.Lead)
	return err
}

// Fill calls next to fill f with the next frame, and sets the tick of f. After an error, all calls
// return that error.
func (p *Playback) Fill(f *frame.Frame, next func(*frame.Frame) error) error {
	if p.err == nil {
		p.err = next(f)
	}
	if p.err == nil {
		f.Tick = p.tick
		p.tick++
	}
	return p.err
}

// AtLoopPoint reports whether the newest frame is at the loop point: the first of a further round.
func (p *Playback) AtLoopPoint() bool { return p.Restart }

// Frames returns the number of frames in one round, without the preamble. It returns 0 while the number
// is not known: unless the size of the file shows it, the file has to be read to its end once.
func (p *Playback) Frames() int { return max(0, p.Total-p.Lead) }

// Close closes the file. Later calls of Fill return ErrClosed, wrapped.
func (p *Playback) Close() error {
	if p.In != nil {
		p.In.Close()
		p.In = nil
	}
	if p.err == nil || errors.Is(p.err, io.EOF) {
		p.err = fmt.Errorf("%s: %w", p.Path, ErrClosed)
	}
	if p.file == nil {
		return nil
	}
	file := p.file
	p.file = nil
	return file.Close()
}

// Rounds is the position in a source with a known number of frames. A type that embeds it implements
// Sized.
type Rounds struct {
	Total       int    // number of frames in a round
	Loop        bool   // whether to start another round at the end
	nextIndex   int    // index of the next frame in its round
	tick        uint32 // tick of the next frame; not reset at the loop point
	startsRound bool   // the newest frame is the first of the second or a later round
}

// Frames returns the number of frames in a round.
func (r *Rounds) Frames() int { return r.Total }

// StartsRound reports whether the newest frame is the first of the second or a later round.
func (r *Rounds) StartsRound() bool { return r.startsRound }

// Advance moves to the next frame and returns its index in the round and its tick. At the end of the
// last round it returns io.EOF.
func (r *Rounds) Advance() (n int, tick uint32, err error) {
	r.startsRound = r.nextIndex == r.Total && r.Loop
	if r.startsRound {
		r.nextIndex = 0
	}
	if r.nextIndex == r.Total {
		return 0, 0, io.EOF
	}
	r.nextIndex++
	r.tick++
	return r.nextIndex - 1, r.tick - 1, nil
}
