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
