package walkoff

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"wirelab/dataset/frame"
)

// The protocol of an audit process, over its standard input and output. Input: a task
// as JSON, the table of the initial state, then packets to decode or tables to
// encode, each prefixed by its length in 32 bits. Output: the digest of each result,
// or a problem, which ends the output.

// task is the job of an audit process.
type task struct {
	Codec  string        `json:"codec"`
	Schema *frame.Schema `json:"schema"`
	First  int           `json:"first"`  // index of the first frame
	Stride int           `json:"stride"` // distance of successive frames: 6 within a class, 1 for all
	Encode bool          `json:"encode"`
}

// The kinds of answer.
const (
	answerSum     = 's' // followed by a digest
	answerProblem = 'p' // followed by text until the end of the output
)

// digest identifies a packet or a frame.
type digest [sha256.Size]byte

// maxMessage is the largest message in bytes. The table of the largest snapshot of a
// dataset takes 2 MB, and a badly encoded packet somewhat more.
const maxMessage = 1 << 23

// writeMessage writes one length-prefixed message.
func writeMessage(w *bufio.Writer, body []byte) error {
	var head [4]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(body)))
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	_, err := w.Write(body)
	return err
}

// readMessage reads one message into buf, which may be reallocated. At the end of the
// input it returns io.EOF.
func readMessage(r io.Reader, buf []byte) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > maxMessage {
		return nil, fmt.Errorf("message of %d bytes, expected at most %d", n, maxMessage)
	}
	if int(n) > cap(buf) {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	_, err := io.ReadFull(r, buf)
	return buf, err
}

// writeTask sends the task and the initial state.
func writeTask(w *bufio.Writer, t task, initial []byte) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if err := writeMessage(w, text); err != nil {
		return err
	}
	return writeMessage(w, initial)
}

// appendTable appends a frame's table as walk-off records: 32-bit little-endian
// integers, row by row.
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
