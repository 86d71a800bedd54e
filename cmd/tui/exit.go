package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"wirelab/encoders/table"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/remote"
	"wirelab/experiment/sweep"
	"wirelab/internal/atomicfile"
	"wirelab/internal/escape"
	"wirelab/internal/panics"
)

// The exit codes that scripts depend on.
const (
	exitDone        = 0
	exitFailed      = 1   // an assertion or a check failed
	exitUsage       = 2   // wrong flags, names or files
	exitMachine     = 3   // refused by the machine: disk full, no permission, no memory, port in use, folder in use
	exitInterrupted = 130 // interrupted; what was measured until then is saved
)

// usageError is an error in the request: a flag, a name or a file.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// asUsageError marks err as a usage error, which gives exitUsage; nil stays nil.
func asUsageError(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// usagef returns a usage error with a formatted text.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// failure is the error of a run that ended but did not meet its assertions or checks. Each
// element is a reason, printed on a line of its own.
type failure []string

func (f failure) Error() string { return strings.Join(f, "\n") }

// newFailure returns a failure with these reasons, or nil without reasons.
func newFailure(reasons []string) error {
	if len(reasons) == 0 {
		return nil
	}
	lines := make(failure, len(reasons))
	for i, reason := range reasons {
		lines[i] = escape.Line(reason)
	}
	return lines
}

// exitCode returns the exit code for the error of a command. If several errors are joined, the
// first case that matches any of them decides.
func exitCode(err error) int {
	var usage usageError
	var badConfig *config.Error
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, new(*panics.Error)):
		return exitFailed
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case isMachineError(err):
		return exitMachine
	case errors.As(err, &usage), errors.As(err, &badConfig):
		return exitUsage
	}
	return exitFailed
}

// isMachineError reports whether err comes from the machine or the network rather than from the
// request: the same command may succeed with another disk or user, or later.
func isMachineError(err error) bool {
	var queue *sweep.QueueError
	var network *engine.NetworkError
	var locked *atomicfile.LockedError
	if errors.Is(err, atomicfile.ErrHasResults) || errors.Is(err, atomicfile.ErrHasOtherFiles) || errors.Is(err, atomicfile.ErrNotReplaceable) {
		return true // another process wrote into the folder during the run; before a run, this is a config.Error
	}
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, remote.ErrNoAnswer), errors.Is(err, remote.ErrRefused):
		return true
	case errors.As(err, &locked), errors.As(err, &queue), errors.As(err, &network):
		return true
	}
	var code syscall.Errno
	return errors.As(err, &code) && slices.Contains(machineErrnos(), code)
}

// machineErrnos lists the system errors that give exitMachine. Windows has numbers of its own.
func machineErrnos() []syscall.Errno {
	if runtime.GOOS == "windows" {
		const noMemory, outOfMemory, handleDiskFull, diskFull, addressInUse, tooManyFiles = 8, 14, 39, 112, 10048, 4
		return []syscall.Errno{noMemory, outOfMemory, handleDiskFull, diskFull, addressInUse, tooManyFiles}
	}
	return []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, syscall.ENOMEM,
		syscall.EMFILE, syscall.ENFILE, syscall.EADDRINUSE, syscall.EAGAIN}
}

// printError prints err to standard error, each joined error and each reason of a failure on a line of its own,
// prefixed with "tui: ". A newline in a name that an error contains does not begin a line.
func (a *app) printError(err error) {
	if errors.As(err, new(*panics.Error)) { // a panic takes precedence over errors that are joined with it
		fmt.Fprintf(a.stderr, "tui: a bug in wirelab: %s\n", escape.Terminal(strings.TrimSuffix(err.Error(), "\n")))
		return
	}
	lines := errorLines(err)
	if errors.Is(err, context.Canceled) {
		lines = []string{"interrupted"}
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, "tui ") { // lines such as "tui sweep: ..." begin with their command already
			line = "tui: " + line
		}
		fmt.Fprintln(a.stderr, escape.Line(line))
	}
}

// errorLines returns the text of err, or the text of each error that errors.Join joined in it and of each reason
// of a failure. Errors that wrap another error without further text are unwrapped.
func errorLines(err error) (lines []string) {
	switch e := err.(type) {
	case failure:
		return e
	case interface{ Unwrap() []error }:
		for _, joined := range e.Unwrap() {
			lines = append(lines, errorLines(joined)...)
		}
		if strings.Join(lines, "\n") == err.Error() {
			return lines
		}
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil && inner.Error() == err.Error() {
			return errorLines(inner)
		}
	}
	return []string{err.Error()}
}

// unknownError is an error about an unknown name that also returns the known names. Unknown
// returns an empty name if the error has another cause.
type unknownError interface {
	error
	Unknown() (name string, known []string)
}

// withSuggestion adds the known names, unless it lists them already, and the most similar one to an error about an unknown name. Other errors
// stay unchanged, and so do those of package config, which contain a suggestion already.
func withSuggestion(err error) error {
	var unknown unknownError
	var configError *config.Error
	if errors.As(err, &configError) || !errors.As(err, &unknown) {
		return err
	}
	name, known := unknown.Unknown()
	if name == "" {
		return err
	}
	kind := ""
	if errors.As(err, new(*table.UnknownError)) {
		kind = "encoder"
	}
	hint := config.Unknown("", kind, name, known)
	if strings.Contains(err.Error(), "expected ") {
		hint.Expected = ""
	}
	return fmt.Errorf("%w%s", err, hint.Hint())
}

// checkOneOf returns a usage error if the value of a flag is not in known.
func checkOneOf(flag, value string, known []string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return asUsageError(config.Unknown(flag, "name", value, known))
}
