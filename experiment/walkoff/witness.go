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

// Process makes the command of one audit process: a program that hands its
// standard input and output to Serve. It must die with ctx.
type Process func(ctx context.Context) *exec.Cmd

// witness is one audit process as seen from here.
type auditProcess struct {
	cancel   context.CancelFunc
	command  *exec.Cmd
	pipe     io.WriteCloser
	in       *bufio.Writer
	closed   bool // it no longer listens: it has found a problem, or died
	finished bool // its answers have been taken, and it has ended
	answers  chan answers
	stderr   bytes.Buffer
}

// answers is all that a process said.
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

// tell sends one message. A process that has died is not an error here: its
// last words are heard in compare.
func (w *auditProcess) send(body []byte) {
	if !w.closed {
		w.closed = writeMessage(w.in, body) != nil
	}
}

// compare hears the process out and holds what it said against want; it returns
// what is wrong, "" if nothing is. differs words a difference at index i.
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

// hear sends what is still to be sent and waits for the end of the process.
func (w *auditProcess) finish() (answers, error) {
	if !w.closed {
		_ = w.in.Flush() // a failure shows in what it answers
	}
	_ = w.pipe.Close()
	said := <-w.answers
	err := errors.Join(w.command.Wait(), said.err)
	w.cancel()
	w.finished = true
	return said, err
}

// stop ends the process without hearing it out.
func (w *auditProcess) stop() {
	w.cancel()
	if !w.finished {
		w.closed = true
		_, _ = w.finish() // killed: its words say nothing
	}
}

// readAnswers reads what a process says until it falls silent.
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
