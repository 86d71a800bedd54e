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

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/remote/channel"
	"wirelab/experiment/sweep"
	"wirelab/internal/panics"
)

// The exit codes that scripts depend on.
const (
	exitDone        = 0
	exitFailed      = 1   // the run did not hold
	exitUsage       = 2   // what was asked for makes no sense
	exitMachine     = 3   // the machine would not: disk full, no permission, no memory, port taken
	exitInterrupted = 130 // with what was measured saved
)

// usageError is an error in what was asked for: a flag, a name, a file.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// usage marks err as the caller's to mend; nil stays nil.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// failure is a run that did not hold: each reason a sentence.
type failure []string

func (f failure) Error() string { return strings.Join(f, "\n") }

// held returns nil if there are no reasons against it.
func held(reasons []string) error {
	if len(reasons) == 0 {
		return nil
	}
	return failure(reasons)
}

// exitCode translates what a command returned.
func exitCode(err error) int {
	var bad usageError
	var config *config.Error
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, new(*panics.Error)):
		return exitFailed
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case machineRefused(err):
		return exitMachine
	case errors.As(err, &bad), errors.As(err, &config):
		return exitUsage
	}
	return exitFailed
}

// machineRefused reports whether the machine would not do what was rightly asked for: no
// other words would help, but another disk, user or hour might.
func machineRefused(err error) bool {
	var queue *sweep.QueueError
	var refused *channel.RefusedError
	var network *engine.NetworkError
	if errors.Is(err, fs.ErrPermission) || errors.As(err, &queue) || errors.As(err, &refused) || errors.As(err, &network) || errors.Is(err, channel.ErrNoAnswer) {
		return true
	}
	var code syscall.Errno
	return errors.As(err, &code) && slices.Contains(refusals(), code)
}

// refusals lists what the system says when it would not.
func refusals() []syscall.Errno {
	if runtime.GOOS == "windows" {
		const noMemory, outOfMemory, handleDiskFull, diskFull, addressInUse, tooManyFiles = 8, 14, 39, 112, 10048, 4
		return []syscall.Errno{noMemory, outOfMemory, handleDiskFull, diskFull, addressInUse, tooManyFiles}
	}
	return []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, syscall.ENOMEM,
		syscall.EMFILE, syscall.ENFILE, syscall.EADDRINUSE, syscall.EAGAIN}
}

// explain says on standard error what went wrong, a line for each reason.
func (a *app) explain(err error) {
	text := err.Error()
	if errors.As(err, new(*panics.Error)) { // whatever else went wrong
		fmt.Fprintf(a.stderr, "tui: a bug in wirelab: %s\n", strings.TrimSuffix(text, "\n"))
		return
	}
	if errors.Is(err, context.Canceled) {
		text = "interrupted"
	}
	for _, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "tui ") { // those that name their command
			line = "tui: " + line
		}
		fmt.Fprintln(a.stderr, config.Printable(line))
	}
}

// unknownError is an error about a name that knows what names there are. The
// name is empty if the error is of another kind after all.
type unknownError interface {
	error
	Unknown() (name string, known []string)
}

// named completes an error about an unknown name with a near one, if the error
// knows what names there are.
func named(err error) error {
	var unknown unknownError
	var said *config.Error
	if errors.As(err, &said) || !errors.As(err, &unknown) {
		return err
	}
	return fmt.Errorf("%w%s", err, didYouMean(unknown.Unknown()))
}

// unknownName says that there is no such thing, and names a near one or the
// command that lists them all.
func unknownName(thing, name string, known []string, lists string) error {
	hint := didYouMean(name, known)
	if hint == "" {
		hint = "; " + lists + " lists them"
	}
	return fmt.Errorf("no %s is called %q%s", thing, name, hint)
}

// oneOf returns an error if the value of a flag is none of the known ones.
func oneOf(flag, value string, known []string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return usagef("%s %q makes no sense; expected one of %s%s", flag, value, strings.Join(known, ", "), didYouMean(value, known))
}

// didYouMean is the end of a sentence about an unknown name.
func didYouMean(name string, known []string) string {
	if near := config.Near(name, known); near != "" && name != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}
