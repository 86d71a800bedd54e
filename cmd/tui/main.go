// Tui is Wirelab's one program: a lab for sending game state over bad networks.
// Without a command it is the dashboard; with one it is the same lab for scripts.
// Names, exit codes and JSON keys are a contract; see README.md.
//
// A command is one file, named after it: run.go, replay.go, walkoff.go, patch.go,
// links*.go, datasets*.go. root.go lists them. What they share is in app.go (what
// commands stand on), flags.go, config.go, output.go, progress.go and exit.go
// (errors and exit codes). The dashboard lives under internal.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
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
