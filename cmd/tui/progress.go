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

// progress is a line on standard error that shows how much of a job is done and how long the rest
// will take. It appears only on a terminal, and only for jobs that take longer than minShownJob.
// Its methods may be called from any goroutine.
type progress struct {
	app *app

	mu     sync.Mutex
	job    string
	start  time.Duration
	shown  time.Duration // when the line was last drawn
	width  int           // of the line on the screen, in columns
	hidden bool
}

const (
	minShownJob    = 2 * time.Second        // shorter jobs need no line
	minElapsed     = 500 * time.Millisecond // before the first estimate
	redrawInterval = 100 * time.Millisecond
)

// progress starts a job with this name. The caller must call done when the job has ended, before
// it writes anything else to standard error.
func (a *app) progress(what string) *progress {
	return &progress{app: a, job: what, start: a.clock(), hidden: a.quiet || !a.isTerminal(a.stderr)}
}

// report shows that done of total units are complete.
func (p *progress) report(done, total float64) { p.reportDetail(done, total, "") }

// reportDetail is report with additional text, such as the name of a file.
func (p *progress) reportDetail(done, total float64, words string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.app.clock()
	elapsed := now - p.start
	if p.hidden || done <= 0 || total <= 0 || elapsed < minElapsed || p.width > 0 && now-p.shown < redrawInterval {
		return
	}
	estimate := time.Duration(float64(elapsed) * total / done)
	if estimate < minShownJob {
		return
	}
	p.shown = now
	if words != "" {
		words = ", " + words
	}
	p.draw(fmt.Sprintf("%s %3.0f %%%s, %s left", p.job, min(100*done/total, 100), words, formatCoarse(max(estimate-elapsed, 0))))
}

// startJob starts another job on the same line. It does nothing if what is the name of the
// current job.
func (p *progress) startJob(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if what == p.job {
		return
	}
	p.clear()
	p.job, p.start, p.width = what, p.app.clock(), 0
}

// reportElapsed shows how long the job has taken, for jobs of unknown length.
func (p *progress) reportElapsed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.app.clock()
	if elapsed := now - p.start; !p.hidden && elapsed >= minShownJob {
		p.shown = now
		p.draw(fmt.Sprintf("%s, %s so far", p.job, formatCoarse(elapsed)))
	}
}

// packingProgress returns the progress function for the patches that are made before the job of
// the line starts. Each patch is shown as a job of its own, with the encoder's name.
func (a *app) packingProgress(line *progress) func(encoder string, done, total float64) {
	job := line.job
	return func(encoder string, done, total float64) {
		line.startJob(encoder)
		line.report(done, total)
		if done >= total {
			line.startJob(job)
		}
	}
}

// pause clears the line until the next report, so that the caller can write to standard error.
func (p *progress) pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

// done clears the line permanently.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.hidden = true
}

// clear erases the line. The caller must hold mu.
func (p *progress) clear() {
	if p.width > 0 {
		p.draw("")
		fmt.Fprint(p.app.stderr, "\r")
	}
}

// draw overwrites the line, padded with spaces to the length of the previous one. Unlike escape
// codes this works on every terminal. The caller must hold mu.
func (p *progress) draw(line string) {
	pad := max(p.width-len(line), 0)
	fmt.Fprint(p.app.stderr, "\r"+line+strings.Repeat(" ", pad))
	p.width = len(line)
}

// formatCoarse formats a duration, rounded to seconds, minutes or tenths of hours.
func formatCoarse(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// runWithScreen runs a job and, at the same time, the screen that shows it. The job's context
// ends when the user leaves the screen. The job may call hide to close the screen; a panic in the
// job closes it too and becomes jobErr.
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

// await runs a job that cannot report progress, and shows its elapsed time. If ctx ends first,
// await returns its error while the job continues in the background: the job must not touch
// anything that is used after that.
func (a *app) await(ctx context.Context, what string, job func() error) error {
	line := a.progress(what)
	defer line.done()
	done := make(chan error, 1)
	go func() { done <- panics.Call(job) }()
	tick := time.NewTicker(redrawInterval)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			var bug *panics.Error
			if errors.As(err, &bug) {
				panic(bug) // caught by app.run
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			line.reportElapsed()
		}
	}
}
