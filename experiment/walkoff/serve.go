package walkoff

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/drive"
)

// The protocol of an audit process over its standard input and output, encoded by package gob. Input:
// a task, then packets to decode or tables to encode, as byte slices. Output: an answer for each; the
// first with a problem is the last.

// A task is what an audit process has to do. Its names are part of the protocol.
type task struct {
	Codec   string
	Params  []byte // canonical text of the codec's parameters
	Schema  *frame.Schema
	Initial []byte // the table of the initial state
	First   int    // index of the first frame
	Stride  int    // distance between consecutive frames: 6 within a class, 1 for all
	Encode  bool   // encode tables; otherwise decode packets
}

// An answer is the result for one message. Its names are part of the protocol.
type answer struct {
	Sum     []byte // SHA-256 of the packet or table; nil if there is a problem
	Problem string
}

// appendTable appends a frame's table as walk-off records: 32-bit little-endian integers, row by row.
func appendTable(dst []byte, f *frame.Frame) []byte {
	for _, v := range f.Table {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(v))
	}
	return dst
}

// readTable reads what appendTable wrote into f, and checks it against schema s.
func readTable(s *frame.Schema, f *frame.Frame, src []byte) error {
	if len(src) != 4*len(f.Table) {
		return fmt.Errorf("table of %d bytes, expected %d", len(src), 4*len(f.Table))
	}
	for i := range f.Table {
		f.Table[i] = int32(binary.LittleEndian.Uint32(src[4*i:]))
	}
	return s.Check(f)
}

// Serve runs an audit process. It reads one task and its messages from in, to which only the program that
// started the process writes, and writes the answers to out. lookup returns the codec with a name. Serve
// returns errors of the protocol; errors of the codec are answers.
func Serve(in io.Reader, out io.Writer, lookup func(name string) (*encoders.Codec, error)) error {
	r, w := gob.NewDecoder(bufio.NewReaderSize(in, 1<<16)), bufio.NewWriter(out)
	j, err := newJob(r, lookup)
	if err == nil {
		err = j.run(r, gob.NewEncoder(w))
	}
	if err != nil {
		return fmt.Errorf("audit process: %w", err)
	}
	return w.Flush()
}

// A job is a task in execution.
type job struct {
	task
	pair *drive.Pair
	src  *frame.Frame // the frame to encode
	out  []byte       // result of step: the bytes whose hash is the answer
}

// newJob reads a task, checks it and prepares its codec.
func newJob(r *gob.Decoder, lookup func(string) (*encoders.Codec, error)) (*job, error) {
	j := &job{}
	if err := r.Decode(&j.task); err != nil {
		return nil, err
	}
	s := j.Schema
	codec, err := lookup(j.Codec)
	if err != nil {
		return nil, err
	}
	params, err := codec.ParseCanonical(j.Params)
	if err != nil {
		return nil, err
	}
	initial := s.NewFrame()
	if err := readTable(s, initial, j.Initial); err != nil {
		return nil, err
	}
	j.src = s.NewFrame()
	j.pair, err = newPair(codec, params, s, initial, Delay)
	return j, err
}

// run answers messages until the input ends or the codec fails. The failure of the codec is an answer, not an
// error.
func (j *job) run(r *gob.Decoder, w *gob.Encoder) error {
	var in []byte
	for n := j.First; ; n += j.Stride {
		if err := r.Decode(&in); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := j.step(n, in); err != nil {
			return w.Encode(answer{Problem: fmt.Sprintf("frame %d: %v", n, err)})
		}
		sum := sha256.Sum256(j.out)
		if err := w.Encode(answer{Sum: sum[:]}); err != nil {
			return err
		}
	}
}

// step sets j.out to the bytes to compare for message in, which is about frame n: the packet of a table if
// the task is to encode, otherwise the table of a packet.
func (j *job) step(n int, in []byte) error {
	if !j.Encode {
		f, err := j.pair.Decode(n, in, refsFor(&j.pair.Receiver, n, Delay))
		if err != nil {
			return err
		}
		j.out = appendTable(j.out[:0], f)
		return nil
	}
	if err := readTable(j.Schema, j.src, in); err != nil {
		return err
	}
	var err error
	j.out, _, err = j.pair.Encode(j.out[:0], n, j.src, refsFor(&j.pair.Sender, n, Delay),
		nil) // nil: no bit budget is kept
	return err
}
