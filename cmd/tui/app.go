// Tui is Wirelab's one program: a lab for sending game state over bad networks.
// Without a command it is the dashboard; with one it is the same lab for scripts.
// Names, exit codes and JSON keys are a contract; see README.md.
//
// A command is one file, named after it: run.go, replay.go, walkoff.go, patch.go,
// links*.go, datasets*.go. root.go lists them. What they share is in this file (what
// commands stand on, and their output), flags.go, config.go, progress.go and exit.go
// (errors and exit codes). The dashboard lives under internal.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"wirelab/encoders/plugin"
	"wirelab/encoders/train"
	"wirelab/internal/atomicfile"
	"wirelab/internal/panics"
)

func main() {
	// A reader that leaves early (tui encoders | head -1) is no reason to die:
	// writes fail instead, and output stops quietly.
	signal.Ignore(syscall.SIGPIPE)

	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup: live on
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, stop) // the second signal ends the program at once
	os.Exit(run(ctx, os.Stdin, os.Stdout, os.Stderr, os.Args[1:]))
}

// app is what the commands stand on. Tests put their own things in its place.
type app struct {
	stdin   io.Reader
	stdout  *output              // machine output, and the tables that were asked for
	screen  any                  // what stdout writes to: a terminal, for the dashboard
	stderr  io.Writer            // everything else for people
	clock   func() time.Duration // monotonic; for timings and progress only
	columns int                  // of the terminal that stdout is; 0 if it is none
	disk    *atomicfile.Disk     // on which files are written; nil: the machine's
	quiet   bool                 // no progress, no remarks; errors are always said
	asJSON  bool                 // write one JSON document instead of text for people

	// isTerminal tells a person's screen from a pipe or a file.
	isTerminal func(stream any) bool
	// auditProcess makes the command of one process of the walk-off's audit.
	auditProcess func(ctx context.Context, args ...string) *exec.Cmd
	plugins      pluginFlags
	loaded       []*plugin.Plugin // what they named
	loading      sync.Mutex       // for those that a configuration names
	// learners stand in for the trainers of the table, unless nil.
	learners []train.Trainer
}

// run is the whole program: it returns the exit code.
func run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, args []string) int {
	start := time.Now()
	a := &app{
		stdin: stdin, stdout: newOutput(stdout), screen: stdout, stderr: stderr,
		columns:      columns(stdout),
		clock:        func() time.Duration { return time.Since(start) },
		isTerminal:   isTerminal,
		auditProcess: auditProcess,
	}
	return a.run(ctx, args)
}

func (a *app) run(ctx context.Context, args []string) (code int) {
	defer func() {
		if bug := panics.Recovered(recover()); bug != nil {
			a.explain(bug)
			code = exitFailed
		}
	}()
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	a.unloadPlugins()
	if ctx.Err() != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		err = ctx.Err() // it waited for whoever writes into a pipe
	}
	if flushed := a.stdout.flush(); err == nil && flushed != nil {
		err = fmt.Errorf("cannot write to standard output: %w", flushed)
	}
	if err != nil {
		a.explain(err)
	}
	return exitCode(err)
}

// remark tells a person something that no script needs.
func (a *app) remark(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.stderr, format+"\n", args...)
	}
}

// answer writes doc as the one JSON document that --json promises, or else text for people.
func (a *app) answer(doc any, text func(w io.Writer)) error {
	if a.asJSON {
		return a.stdout.json(doc)
	}
	text(a.stdout)
	return nil
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// interactive reports whether a person sits at a terminal that can show a dashboard.
func (a *app) interactive() bool {
	return a.isTerminal(a.stdin) && a.isTerminal(a.screen) && os.Getenv("TERM") != "dumb"
}

// columns returns the width of the terminal that stream is, 0 if it is none.
func columns(stream any) int {
	if !isTerminal(stream) {
		return 0
	}
	width, _, err := term.GetSize(int(stream.(*os.File).Fd()))
	if err != nil {
		return 0
	}
	return width
}

// auditProcess starts this very program anew.
func auditProcess(ctx context.Context, args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0] // starting it says what is wrong
	}
	return exec.CommandContext(ctx, self, append([]string{auditCommand}, args...)...)
}

// output is standard output. When its reader has left it swallows the rest: the
// reader has seen enough, and the exit code still says how the run went. Any
// other failure is kept for flush.
type output struct {
	w   *bufio.Writer
	err error
}

func newOutput(w io.Writer) *output { return &output{w: bufio.NewWriter(w)} }

// Write never fails; see flush.
func (o *output) Write(p []byte) (int, error) {
	if o.err == nil {
		_, o.err = o.w.Write(p)
	}
	return len(p), nil
}

// flush writes out what is left, and reports whether everything was written or
// nobody wanted it.
func (o *output) flush() error {
	if o.err == nil {
		o.err = o.w.Flush()
	}
	if readerLeft(o.err) {
		return nil
	}
	return o.err
}

// readerLeft reports whether a write failed because nobody reads any more.
func readerLeft(err error) bool {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return true
	}
	const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232) // what Windows says
	return runtime.GOOS == "windows" && (errors.Is(err, brokenPipe) || errors.Is(err, noData))
}

// json writes the one document that --json promises.
func (o *output) json(v any) error {
	enc := json.NewEncoder(o)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// jsonLine writes a document as one line, at once.
func (o *output) jsonLine(v any) error {
	enc := json.NewEncoder(o)
	enc.SetEscapeHTML(false)
	return errors.Join(enc.Encode(v), o.flush())
}
