package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// await runs a job that cannot say how far it is. A person sees how long it has
// taken once that is worth a line, and can leave: the job is then abandoned, so it
// must touch nothing that is used after await returned an error.
func (a *app) await(ctx context.Context, what string, job func() error) error {
	line := a.progress(what)
	defer line.done()
	done, bug := make(chan error, 1), make(chan string, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				bug <- fmt.Sprintf("%v\n\n%s", r, debug.Stack())
			}
		}()
		done <- job()
	}()
	tick := time.NewTicker(progressRedraw)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err
		case text := <-bug:
			panic(text) // where the program catches it
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			line.waiting()
		}
	}
}
