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

// ErrClosed: the source was closed before.
var ErrClosed = errors.New("already closed")

// Playback is a source's file that is read as it is played, and the place in it. Embedded, it
// implements Sized, Seamed and io.Closer. The file may be compressed.
type Playback struct {
	Path    string
	Loop    bool // begin again at the end
	Lead    int  // frames at the start of the file that repeat the initial state
	In      *unpack.Reader
	Count   int  // frames of this round that were read, those of the preamble included
	Total   int  // frames in the file; 0 if not known yet
	Restart bool // the frame read last is the first of a further round

	file *inputFile // nil if the source is in memory
	tick uint32     // of the next frame: goes on growing when the file begins again
	err  error      // sticky
}

// Open opens the file at Path and returns its description. It can be a folder.
func (p *Playback) Open(ctx context.Context) (os.FileInfo, error) {
	file, err := OpenFile(ctx, p.Path, "", nil)
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

// Unpack begins to read the file, or, if none is open, from in.
func (p *Playback) Unpack(in io.Reader, errs unpack.Errors) (err error) {
	if p.file != nil {
		in = p.file
	}
	p.In, err = unpack.New(in, p.Path, errs)
	p.tick = uint32(p.Lead)
	return err
}

// Fill calls next, which fills f with the next frame, and sets its tick. After an error it keeps
// failing with the same one.
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

// Seam reports whether the frame that Next filled last is the first once more.
func (p *Playback) Seam() bool { return p.Restart }

// Frames returns how many frames Next fills in one round, or 0 while that is not known: the file
// has to be read to its end once, unless its size tells.
func (p *Playback) Frames() int { return max(0, p.Total-p.Lead) }

// Close closes the file. Next fails from then on.
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

// Rounds counts the frames of a source that knows how many it has. Embedded, it implements Sized.
type Rounds struct {
	Total int  // frames in a round
	Loop  bool // begin again at the end
	next  int  // frame of this round
	tick  uint32
	again bool
}

// Frames returns the number of frames in a round.
func (r *Rounds) Frames() int { return r.Total }

// Again reports whether the last frame is the first of a further round.
func (r *Rounds) Again() bool { return r.again }

// Advance goes on to the next frame. It returns the number of the frame in its round, and its tick,
// or io.EOF.
func (r *Rounds) Advance() (n int, tick uint32, err error) {
	r.again = r.next == r.Total && r.Loop
	if r.again {
		r.next = 0
	}
	if r.next == r.Total {
		return 0, 0, io.EOF
	}
	r.next++
	r.tick++
	return r.next - 1, r.tick - 1, nil
}
