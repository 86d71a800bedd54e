package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"wirelab/internal/escape"
	"wirelab/internal/panics"
	"wirelab/internal/units"
)

// progress is a line on standard error that shows how much of a job is done and how long the rest
// will take. It appears only on a terminal, and only for jobs that take longer than minShownJob.
// Its methods may be called from any goroutine.
type progress struct {
	app *app

	mu     sync.Mutex
	job    string        // name of the job
	start  time.Duration // when the job began; times are those of app.clock
	shown  time.Duration // when the line was last drawn
	width  int           // width of the line on the screen in columns; 0 if there is none
	hidden bool          // draw nothing
}

const (
	minShownJob    = 2 * time.Second        // shorter jobs need no line
	minElapsed     = 500 * time.Millisecond // time before the first estimate of the remaining time
	redrawInterval = 100 * time.Millisecond
)

// progress returns the line for a job that begins now. The caller must call done when the job has
// ended, before it writes anything else to standard error.
func (a *app) progress(job string) *progress {
	return &progress{app: a, job: job, start: a.clock(), hidden: a.quiet || !a.isTerminal(a.stderr)}
}

// report shows that done of total units are complete. The unit may differ from job to job; a total
// of 0 means that it is not known yet, and shows nothing.
func (p *progress) report(done, total float64) { p.reportDetail(done, total, "") }

// reportDetail is report with additional text, such as the name of a file. It draws the line only
// if the job is long enough and the last drawing is long enough ago.
func (p *progress) reportDetail(done, total float64, detail string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.app.clock()
	elapsed := now - p.start
	if p.hidden || done <= 0 || total <= 0 || elapsed < minElapsed || p.width > 0 && now-p.shown < redrawInterval {
		return
	}
	estimate := time.Duration(float64(elapsed) * total / done) // estimated duration of the whole job
	if estimate < minShownJob {
		return
	}
	p.shown = now
	if detail != "" {
		detail = ", " + detail
	}
	p.draw(fmt.Sprintf("%s %3.0f %%%s, %s left", p.job, min(100*done/total, 100), detail, units.Coarse(max(estimate-elapsed, 0))))
}

// startJob starts another job on the same line. It does nothing if this job is the current one.
func (p *progress) startJob(job string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if job == p.job {
		return
	}
	p.clear()
	p.job, p.start, p.width = job, p.app.clock(), 0
}

// reportElapsed shows how long the job has taken, for jobs of unknown length.
func (p *progress) reportElapsed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.app.clock()
	if elapsed := now - p.start; !p.hidden && elapsed >= minShownJob {
		p.shown = now
		p.draw(fmt.Sprintf("%s, %s so far", p.job, units.Coarse(elapsed)))
	}
}

// packingProgress returns the progress function for the patches that a file transfer makes before
// its run, which is the current job of the line. Each patch is shown as a job of its own, with the
// encoder's name; after it the line shows the run again.
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
	line = escape.Line(line)
	pad := max(p.width-len(line), 0)
	fmt.Fprint(p.app.stderr, "\r"+line+strings.Repeat(" ", pad))
	p.width = len(line)
}

// runWithScreen runs a job and, at the same time, the screen that shows it, and returns the errors
// of both when both have ended. The context running ends when the user leaves the screen, and the
// context shown when the screen must close. The job may call hide to close the screen; a panic in
// the job closes it too and becomes jobErr.
func runWithScreen(ctx context.Context, job func(running context.Context, hide func()) error,
	screen func(shown context.Context) error) (jobErr, screenErr error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	shown, hide := context.WithCancel(ctx)
	defer hide()
	jobResult := make(chan error, 1)
	go func() {
		err := panics.Call(func() error { return job(running, hide) })
		if errors.As(err, new(*panics.Error)) {
			hide()
		}
		jobResult <- err
	}()
	screenErr = screen(shown)
	stop()
	return <-jobResult, screenErr
}

// await runs a job that cannot report progress, and shows its name and elapsed time. If ctx ends
// first, await returns the error of ctx while the job continues in the background: the job must not
// touch anything that is used after that.
func (a *app) await(ctx context.Context, name string, job func() error) error {
	line := a.progress(name)
	defer line.done()
	result := make(chan error, 1)
	go func() { result <- panics.Call(job) }()
	tick := time.NewTicker(redrawInterval)
	defer tick.Stop()
	for {
		select {
		case err := <-result:
			var recovered *panics.Error
			if errors.As(err, &recovered) {
				panic(recovered) // caught by app.run
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			line.reportElapsed()
		}
	}
}
