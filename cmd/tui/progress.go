package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"wirelab/internal/panics"
)

// progress is one line on standard error that says how far a job is and when it
// will end. It shows itself only to a person, and only for jobs that take more
// than two seconds. Report may be called from any goroutine.
type progress struct {
	app *app

	mu    sync.Mutex
	what  string
	start time.Duration
	shown time.Duration // when the line was last drawn
	width int           // of the line on the screen, in columns
	off   bool
}

const (
	progressWorth   = 2 * time.Second        // shorter jobs need no line
	progressPatient = 500 * time.Millisecond // before an estimate is believed
	progressRedraw  = 100 * time.Millisecond
)

// progress starts a job; call done when it has ended, before anything else is
// written to standard error.
func (a *app) progress(what string) *progress {
	return &progress{app: a, what: what, start: a.clock(), off: a.quiet || !a.isTerminal(a.stderr)}
}

// report says that done of total is done, in any unit.
func (p *progress) report(done, total float64) { p.detail(done, total, "") }

// detail is report with words of what was done.
func (p *progress) detail(done, total float64, words string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.app.clock()
	elapsed := now - p.start
	if p.off || done <= 0 || total <= 0 || elapsed < progressPatient || p.width > 0 && now-p.shown < progressRedraw {
		return
	}
	whole := time.Duration(float64(elapsed) * total / done)
	if whole < progressWorth {
		return
	}
	p.shown = now
	if words != "" {
		words = ", " + words
	}
	p.draw(fmt.Sprintf("%s %3.0f %%%s, %s left", p.what, min(100*done/total, 100), words, people(max(whole-elapsed, 0))))
}

// next begins another job on the same line, if it is another.
func (p *progress) next(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if what == p.what {
		return
	}
	p.wipe()
	p.what, p.start, p.width = what, p.app.clock(), 0
}

// waiting says that a job of unknown length is still at it.
func (p *progress) waiting() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.app.clock()
	if elapsed := now - p.start; !p.off && elapsed >= progressWorth {
		p.shown = now
		p.draw(fmt.Sprintf("%s, %s so far", p.what, people(elapsed)))
	}
}

// packing returns who is told of patches that are made before the job of the line
// begins.
func (a *app) packing(line *progress) func(encoder string, done, total float64) {
	job := line.what
	return func(encoder string, done, total float64) {
		line.next(encoder)
		line.report(done, total)
		if done >= total {
			line.next(job)
		}
	}
}

// pause wipes the line away until the next report, so that something else can be
// said on standard error.
func (p *progress) pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
}

// done wipes the line away for good.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
	p.off = true
}

func (p *progress) wipe() {
	if p.width > 0 {
		p.draw("")
		fmt.Fprint(p.app.stderr, "\r")
	}
}

// draw overwrites the line with spaces rather than escape codes, which works on
// every terminal there is.
func (p *progress) draw(line string) {
	pad := max(p.width-len(line), 0)
	fmt.Fprint(p.app.stderr, "\r"+line+strings.Repeat(" ", pad))
	p.width = len(line)
}

// people rounds a time to what a person cares to know.
func people(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// runWithScreen runs a job while a screen shows it. The job ends when the screen is left, and may hide the
// screen; a panic in it hides the screen and is its error.
func runWithScreen(ctx context.Context, job func(running context.Context, hide func()) error,
	screen func(shown context.Context) error) (jobErr, screenErr error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	shown, hide := context.WithCancel(ctx)
	defer hide()
	ended := make(chan error, 1)
	go func() {
		err := panics.Call(func() error { return job(running, hide) })
		if errors.As(err, new(*panics.Error)) {
			hide()
		}
		ended <- err
	}()
	screenErr = screen(shown)
	stop()
	return <-ended, screenErr
}

// await runs a job that cannot say how far it is. A person sees how long it has
// taken once that is worth a line, and can leave: the job is then abandoned, so it
// must touch nothing that is used after await returned an error.
func (a *app) await(ctx context.Context, what string, job func() error) error {
	line := a.progress(what)
	defer line.done()
	done := make(chan error, 1)
	go func() { done <- panics.Call(job) }()
	tick := time.NewTicker(progressRedraw)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			var bug *panics.Error
			if errors.As(err, &bug) {
				panic(bug) // where the program catches it
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			line.waiting()
		}
	}
}
