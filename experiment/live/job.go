package live

import (
	"errors"
	"fmt"

	"wirelab/internal/panics"
)

// job is work in a goroutine of its own, while the experiment continues: a patch, a report, or a look back.
type job struct {
	finished chan struct{} // closed at the end
	err      error         // valid once finished is closed; wraps a panics.Error if the work panicked
}

// startJob starts a job.
func startJob(work func() error) *job {
	j := &job{finished: make(chan struct{})}
	go func() {
		defer close(j.finished)
		j.err = panics.Call(work)
		if errors.As(j.err, new(*panics.Error)) {
			j.err = fmt.Errorf("internal error: %w", j.err)
		}
	}()
	return j
}

// notifyJob shows the error of a job or, without one, the message ok. A panic stops the experiment.
func (r *Runner) notifyJob(ok string, err error) {
	if errors.As(err, new(*panics.Error)) {
		r.fail(err)
		return
	}
	r.notifyResult(ok, err)
}
