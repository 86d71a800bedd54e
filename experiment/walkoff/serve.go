package walkoff

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/dataset/table"
	"wirelab/encoders"
	"wirelab/internal/words"
)

// Serve runs an audit process. It reads one task and its messages from in, and writes
// the answers to out. lookup finds a codec by name. Errors are of the protocol;
// faults of the codec are answers.
func Serve(in io.Reader, out io.Writer, lookup func(name string) (*encoders.Codec, error)) error {
	r, w := bufio.NewReaderSize(in, 1<<16), bufio.NewWriter(out)
	job, err := readTask(r, lookup)
	if err != nil {
		return fmt.Errorf("audit process: %w", err)
	}
	if err := job.run(r, w); err != nil {
		return fmt.Errorf("audit process: %w", err)
	}
	return w.Flush()
}

// job is a task with its codec and its initial state.
type job struct {
	task
	schema *frame.Schema
	send   *sender
	recv   *receiver
}

func readTask(r io.Reader, lookup func(string) (*encoders.Codec, error)) (*job, error) {
	text, err := readMessage(r, nil)
	if err != nil {
		return nil, err
	}
	j := &job{}
	if err := json.Unmarshal(text, &j.task); err != nil {
		return nil, err
	}
	if j.Schema == nil || !sane(j.Schema) || j.First < 0 || j.Stride < 1 {
		return nil, fmt.Errorf("a task that makes no sense: %s", text)
	}
	codec, err := lookup(j.Codec)
	if err != nil {
		return nil, err
	}
	if j.schema = j.Schema; !codec.Suits(j.schema) {
		return nil, fmt.Errorf("%s cannot encode %s", j.Codec, words.Plural(j.schema.Item))
	}
	table, err := readMessage(r, nil)
	if err != nil {
		return nil, err
	}
	initial := j.schema.NewFrame()
	if err := readTable(j.schema, initial, table); err != nil {
		return nil, err
	}
	j.send, j.recv, err = newEndpoints(codec, j.schema, initial, Delay)
	return j, err
}

// sane reports whether a dataset may have schema s.
func sane(s *frame.Schema) bool {
	if s.Rows < 1 || s.Rows > dataset.MaxCubes || len(s.Fields) < 1 || len(s.Fields) > table.MaxFields {
		return false
	}
	for _, f := range s.Fields {
		if f.Min > f.Max || f.Kind > frame.Float32 {
			return false
		}
	}
	return frame.IsCubes(s) || s.Cells() <= table.MaxCells
}

// run answers messages until the input ends or the codec fails.
func (j *job) run(r io.Reader, w *bufio.Writer) error {
	var in, out []byte
	src := j.schema.NewFrame()
	for n := j.First; ; n += j.Stride {
		var err error
		if in, err = readMessage(r, in); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if out, err = j.step(out[:0], n, in, src); err != nil {
			_, err = fmt.Fprintf(w, "%cframe %d: %v", answerProblem, n, err)
			return err
		}
		sum := sha256.Sum256(out)
		if _, err := w.Write(append([]byte{answerSum}, sum[:]...)); err != nil {
			return err
		}
	}
}

// step returns the bytes to compare for one message: the packet of a table, or the
// table of a packet.
func (j *job) step(dst []byte, n int, in []byte, src *frame.Frame) ([]byte, error) {
	if j.Encode {
		if err := readTable(j.schema, src, in); err != nil {
			return dst, err
		}
		return j.send.encode(dst, n, Delay, src)
	}
	f, err := j.recv.decode(n, Delay, in)
	if err != nil {
		return dst, err
	}
	return appendTable(dst, f), nil
}
