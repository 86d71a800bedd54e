package walkoff

import (
	"bufio"
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// processCommand returns the command of one audit process: a program that passes its standard input and
// output to Serve. It must be killed when ctx ends.
type processCommand func(ctx context.Context) *exec.Cmd

// An auditProcess is the parent's side of an audit process.
type auditProcess struct {
	cancel   context.CancelFunc
	command  *exec.Cmd
	stdin    io.WriteCloser
	buffered *bufio.Writer // to stdin
	encoder  *gob.Encoder  // to buffered
	closed   bool          // the process no longer reads input: it found a problem, or ended
	finished bool          // the answers were read and the process has ended
	stdout   bytes.Buffer
	stderr   bytes.Buffer
}

// startAuditProcess starts a process and sends it the task t.
func startAuditProcess(ctx context.Context, start processCommand, t task) (*auditProcess, error) {
	ctx, cancel := context.WithCancel(ctx)
	w := &auditProcess{cancel: cancel, command: start(ctx)}
	w.command.Stdout = &w.stdout
	w.command.Stderr = &w.stderr
	var err error
	w.stdin, err = w.command.StdinPipe()
	if err == nil {
		err = w.command.Start()
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("cannot start an audit process: %w", err)
	}
	w.buffered = bufio.NewWriterSize(w.stdin, 1<<16)
	w.encoder = gob.NewEncoder(w.buffered)
	w.send(t)
	return w, nil
}

// send sends one message. It ignores errors: if the process has ended, compare reports that.
func (w *auditProcess) send(message any) {
	if !w.closed {
		w.closed = w.encoder.Encode(message) != nil
	}
}

// compare waits for the end of the process and compares the digests of its answers with want. It returns a
// description of the first problem; "" if none. differs returns the description of a difference at index i.
func (w *auditProcess) compare(want [][]byte, differs func(i int) string) string {
	list, err := w.finish()
	for i, a := range list { // even if err is not nil: the problem in an answer explains more
		switch {
		case a.Problem != "":
			return a.Problem
		case i >= len(want) || !bytes.Equal(a.Sum, want[i]):
			return differs(i)
		}
	}
	switch {
	case err != nil:
		firstLine, _, _ := strings.Cut(strings.TrimSpace(w.stderr.String()), "\n")
		return fmt.Sprintf("the audit process failed (%v): %s", err, firstLine)
	case len(list) < len(want):
		return fmt.Sprintf("the audit process answered %d of %d messages", len(list), len(want))
	}
	return ""
}

// finish closes the input of the process, waits for its end and returns its answers.
func (w *auditProcess) finish() ([]answer, error) {
	if !w.closed {
		_ = w.buffered.Flush() // after a failure, answers are missing
	}
	_ = w.stdin.Close()
	err := w.command.Wait()
	w.cancel()
	w.finished = true
	list, readErr := readAnswers(&w.stdout)
	return list, errors.Join(err, readErr)
}

// stop kills the process. It does nothing if finish has been called.
func (w *auditProcess) stop() {
	w.cancel()
	if !w.finished {
		w.closed = true
		_, _ = w.finish() // the answers of a killed process are incomplete
	}
}

// readAnswers decodes the output of a process to its end.
func readAnswers(r io.Reader) (list []answer, err error) {
	in := gob.NewDecoder(r)
	for {
		var next answer
		err := in.Decode(&next)
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		list = append(list, next)
	}
}
