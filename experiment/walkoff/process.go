package walkoff

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// Process returns the command of one audit process: a program that passes its
// standard input and output to Serve. It must be killed when ctx ends.
type Process func(ctx context.Context) *exec.Cmd

// auditProcess is the parent's side of an audit process.
type auditProcess struct {
	cancel   context.CancelFunc
	command  *exec.Cmd
	pipe     io.WriteCloser
	in       *bufio.Writer
	closed   bool // it reads no more input: it found a problem, or died
	finished bool // its answers were read, and it has ended
	answers  chan answers
	stderr   bytes.Buffer
}

// answers is the whole output of a process.
type answers struct {
	sums    []digest
	problem string
	err     error
}

func startAuditProcess(ctx context.Context, start Process, t task, initial []byte) (*auditProcess, error) {
	ctx, cancel := context.WithCancel(ctx)
	w := &auditProcess{cancel: cancel, command: start(ctx), answers: make(chan answers, 1)}
	w.command.Stderr = &w.stderr
	var out io.Reader
	var err error
	if w.pipe, err = w.command.StdinPipe(); err == nil {
		if out, err = w.command.StdoutPipe(); err == nil {
			err = w.command.Start()
		}
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("cannot start an audit process: %w", err)
	}
	w.in = bufio.NewWriterSize(w.pipe, 1<<16)
	go func() { w.answers <- readAnswers(out) }()
	w.closed = writeTask(w.in, t, initial) != nil
	return w, nil
}

// send sends one message. If the process has died, compare will report it.
func (w *auditProcess) send(body []byte) {
	if !w.closed {
		w.closed = writeMessage(w.in, body) != nil
	}
}

// compare waits for the end of the process and compares its digests with want. It
// returns what is wrong; "" if nothing is. differs describes a difference at index i.
func (w *auditProcess) compare(want []digest, differs func(i int) string) string {
	said, err := w.finish()
	for i, sum := range said.sums {
		if i >= len(want) || sum != want[i] {
			return differs(i)
		}
	}
	switch {
	case said.problem != "":
		return said.problem
	case err != nil:
		last, _, _ := strings.Cut(strings.TrimSpace(w.stderr.String()), "\n")
		return fmt.Sprintf("its process died (%v): %s", err, last)
	case len(said.sums) < len(want):
		return fmt.Sprintf("its process answered %d of %d messages", len(said.sums), len(want))
	}
	return ""
}

// finish closes the input of the process, waits for its end and returns its answers.
func (w *auditProcess) finish() (answers, error) {
	if !w.closed {
		_ = w.in.Flush() // a failure shows in its answers
	}
	_ = w.pipe.Close()
	said := <-w.answers
	err := errors.Join(w.command.Wait(), said.err)
	w.cancel()
	w.finished = true
	return said, err
}

// stop kills the process.
func (w *auditProcess) stop() {
	w.cancel()
	if !w.finished {
		w.closed = true
		_, _ = w.finish() // it was killed: its answers are incomplete
	}
}

// readAnswers reads the output of a process to its end.
func readAnswers(r io.Reader) (a answers) {
	br := bufio.NewReader(r)
	for {
		kind, err := br.ReadByte()
		switch {
		case err == io.EOF:
			return a
		case err != nil:
			a.err = err
			return a
		case kind == answerProblem:
			text, err := io.ReadAll(br)
			a.problem, a.err = string(text), err
			return a
		}
		var sum digest
		if _, err := io.ReadFull(br, sum[:]); err != nil {
			a.err = err
			return a
		}
		a.sums = append(a.sums, sum)
	}
}
