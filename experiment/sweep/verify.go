package sweep

import (
	"context"
	"errors"
	"math/rand/v2"

	"wirelab/experiment"
	"wirelab/experiment/engine"
	"wirelab/experiment/page"
)

// verify repeats a share of the runs on this machine and compares the results, without the measured
// times, which are not deterministic. It returns an error if a result differs.
func (s *activeSweep) verify(ctx context.Context) error {
	picked := s.sampleRuns()
	if len(picked) == 0 {
		return nil
	}
	checked := &page.SummaryChecked{Workers: map[string]int{}}
	s.sum.Verified = checked
	s.mu.Lock()
	s.progress.ToVerify = len(picked)
	s.mu.Unlock()
	exec := s.executor()
	return experiment.Many(ctx, s.opt.Jobs, len(picked), func(ctx context.Context, i int) error {
		n := picked[i]
		b := exec.runBatch(ctx, []int{n})
		if b.Error != "" {
			return errors.New(b.Error)
		}
		if len(b.Runs) == 0 {
			return nil // interrupted; the summary has the number of runs repeated so far
		}
		if err := s.compareRepeated(n, b.Runs[0].Result); err != nil {
			return err
		}
		s.countVerified(checked, n)
		return nil
	})
}

// compareRepeated returns an error if the repetition of a run has another result than the run.
func (s *activeSweep) compareRepeated(run int, repeated *engine.Result) error {
	content, err := hashContent(repeated)
	if err == nil && content != s.records[run].content {
		err = s.mismatch(run, repeated, hostName())
	}
	return err
}

// countVerified counts a run that gave the same result again.
func (s *activeSweep) countVerified(checked *page.SummaryChecked, run int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	checked.Runs++
	checked.Workers[s.records[run].worker]++
	s.progress.Verified = checked.Runs
	s.reportLocked()
}

// sampleRuns returns the numbers of the runs to repeat, in random order: the share opt.Verify of all
// runs or, if that is 0, the share opt.VerifyQueued of the runs from other processes, rounded up. The
// choice is random, not derived from the plan, because a worker that alters results must not foresee it.
func (s *activeSweep) sampleRuns() []int {
	share, candidates := s.opt.Verify, make([]int, 0, s.plan.Runs())
	if share == 0 {
		share = s.opt.VerifyQueued
	}
	if share == 0 {
		return nil
	}
	for _, run := range rand.Perm(s.plan.Runs()) {
		if s.opt.Verify > 0 || s.records[run].queued {
			candidates = append(candidates, run)
		}
	}
	// Less than 1 is added, so that a product that should be an integer but is slightly larger because of a
	// rounding error is not rounded up.
	n := int(share*float64(len(candidates)) + 0.999999)
	return candidates[:min(n, len(candidates))]
}
