// Tui is the program of Wirelab, a lab for sending game state over bad networks.
// Without a command it opens the dashboard; its commands run the same experiments in scripts.
// Scripts depend on the names of commands and flags, exit codes and JSON keys; see README.md.
//
// Each command has a file of its name: run.go, replay.go, walkoff.go, patch.go, links*.go,
// datasets*.go. root.go lists the commands. Shared code is in this file (streams, output),
// flags.go, config.go, progress.go and exit.go (errors and exit codes). The dashboard is under
// internal.
package main

import (
	"bufio"
	"bytes"
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
	"wirelab/internal/escape"
	"wirelab/internal/panics"
)

func main() {
	// Without this the program would be killed when the reader of a pipe closes it early, as in
	// tui encoders | head -1. With it writes fail instead, and output discards the rest.
	signal.Ignore(syscall.SIGPIPE)

	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // under nohup SIGHUP stays ignored
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, stop) // a second signal terminates the program immediately
	os.Exit(run(ctx, os.Stdin, os.Stdout, os.Stderr, os.Args[1:]))
}

// app holds what all commands use: streams, clock, disk and global flags. Tests replace them.
type app struct {
	stdin   io.Reader
	stdout  *output              // results, as JSON or as text
	screen  any                  // the stream that stdout writes to; the dashboard needs it to be a terminal
	stderr  io.Writer            // notes, warnings, progress and errors
	clock   func() time.Duration // returns the monotonic time since the start; for timings and progress only
	columns int                  // width of the terminal at stdout; 0 if stdout is no terminal
	disk    *atomicfile.Disk     // where files are written; nil means the real file system
	quiet   bool                 // suppress progress, notes and warnings, but not errors
	asJSON  bool                 // write one JSON document instead of text

	// isTerminal reports whether stream is a terminal and not a pipe or a file.
	isTerminal func(stream any) bool
	// auditProcess returns the command that starts one process of tui walkoff --audit, which proves
	// with separate processes that an encoder obeys the rules. args are flags for the process.
	auditProcess  func(ctx context.Context, args ...string) *exec.Cmd
	plugins       pluginFlags      // --plugin and the limits of plugins
	loadedPlugins []*plugin.Plugin // plugins that the flags or configurations name
	loadMutex     sync.Mutex       // guards loadedPlugins while a configuration loads plugins
	// trainers replaces the trainers of the encoder table in tests; nil means those of the table.
	trainers []train.Trainer
}

// run executes the program with the given streams and arguments, and returns its exit code.
func run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, args []string) int {
	start := time.Now()
	a := &app{
		stdin: stdin, stdout: newOutput(stdout), screen: stdout, stderr: stderr,
		columns:      terminalColumns(stdout),
		clock:        func() time.Duration { return time.Since(start) },
		isTerminal:   isTerminal,
		auditProcess: auditProcess,
	}
	return a.run(ctx, args)
}

// run executes the command in args, prints its error, if any, and returns the exit code. A panic
// is printed as a bug and gives exitFailed.
func (a *app) run(ctx context.Context, args []string) (code int) {
	defer func() {
		if bug := panics.Recovered(recover()); bug != nil {
			a.printError(bug)
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
		err = ctx.Err() // a read from a pipe was cut short by the interruption
	}
	if flushed := a.stdout.flush(); err == nil && flushed != nil {
		err = fmt.Errorf("cannot write to standard output: %w", flushed)
	}
	if err != nil {
		a.printError(err)
	}
	return exitCode(err)
}

// remark prints a line to standard error, unless --quiet is set. A newline in a name does not begin
// another line.
func (a *app) remark(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintln(a.stderr, escape.Line(fmt.Sprintf(format, args...)))
	}
}

// printf is fmt.Fprintf for results on standard output. It escapes the strings among args for one line,
// so that a newline in a name that a file controls does not begin a line.
func printf(w io.Writer, format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = escape.Line(text)
		}
	}
	fmt.Fprintf(w, format, args...)
}

// writeResult writes the result of a command: doc as JSON if --json is set, otherwise the text that
// writeText writes. Errors of writing text are returned later, by output.flush.
func (a *app) writeResult(doc any, writeText func(w io.Writer)) error {
	if a.asJSON {
		return a.stdout.json(doc)
	}
	writeText(a.stdout)
	return nil
}

// writeTOML writes a configuration or a schema to standard output: escaped for a terminal, unchanged to a
// file, which must keep its meaning.
func (a *app) writeTOML(text []byte) error {
	var w io.Writer = a.stdout
	if !a.isTerminal(a.screen) {
		w = a.stdout.raw()
	}
	_, err := w.Write(text)
	return err
}

// isTerminal reports whether stream is a file that is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// interactive reports whether both standard input and output are terminals that can show a
// dashboard.
func (a *app) interactive() bool {
	return a.isTerminal(a.stdin) && a.isTerminal(a.screen) && os.Getenv("TERM") != "dumb"
}

// terminalColumns returns the width of the terminal at stream, or 0 if stream is no terminal.
func terminalColumns(stream any) int {
	if !isTerminal(stream) {
		return 0
	}
	width, _, err := term.GetSize(int(stream.(*os.File).Fd()))
	if err != nil {
		return 0
	}
	return width
}

// auditProcess returns a command that runs this executable again, as a process of an audit, with
// further flags.
func auditProcess(ctx context.Context, args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0] // if this file does not exist, Start of the command returns the error
	}
	return exec.CommandContext(ctx, self, append([]string{auditCommandName}, args...)...)
}

// output is buffered standard output. Write discards output after the first error; flush reports
// that error, except when the reader closed the pipe: a reader that has read enough does not
// change the exit code. Write escapes terminal control characters; its argument must be text that
// does not end within a UTF-8 sequence. raw writes bytes unchanged.
type output struct {
	w   *bufio.Writer
	err error // the first write error; nil if none
}

// rawOutput writes to an output without escaping.
type rawOutput struct{ *output }

// newOutput returns an output that writes to w.
func newOutput(w io.Writer) *output { return &output{w: bufio.NewWriter(w)} }

// Write always succeeds; flush reports errors.
func (o *output) Write(p []byte) (int, error) {
	_, _ = o.raw().Write([]byte(escape.Terminal(string(p))))
	return len(p), nil
}

// raw returns a writer for bytes that are not text for people: messages between processes, JSON, and
// TOML that must be read again.
func (o *output) raw() rawOutput { return rawOutput{o} }

// Write always succeeds; output.flush reports errors.
func (r rawOutput) Write(p []byte) (int, error) {
	if r.err == nil {
		_, r.err = r.w.Write(p)
	}
	return len(p), nil
}

// flush writes what is buffered. It returns the first error since the start, or nil if the only
// error is that the reader closed the pipe.
func (o *output) flush() error {
	if o.err == nil {
		o.err = o.w.Flush()
	}
	if readerLeft(o.err) {
		return nil
	}
	return o.err
}

// readerLeft reports whether a write failed because the reader closed the pipe.
func readerLeft(err error) bool {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return true
	}
	const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232) // ERROR_BROKEN_PIPE, ERROR_NO_DATA
	return runtime.GOOS == "windows" && (errors.Is(err, brokenPipe) || errors.Is(err, noData))
}

// json writes v as an indented JSON document.
func (o *output) json(v any) error { return o.encodeJSON(v, "  ") }

// encodeJSON writes v as JSON, indented by indent, or in one line if indent is "".
func (o *output) encodeJSON(v any, indent string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(v)
	_, _ = o.raw().Write(escape.JSON(b.Bytes()))
	return err
}

// jsonLine writes v as one line of JSON and flushes it. A later flush returns the error, if any.
func (o *output) jsonLine(v any) {
	_ = o.encodeJSON(v, "")
	_ = o.flush()
}
