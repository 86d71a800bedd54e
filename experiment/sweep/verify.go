package sweep

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"

	"wirelab/experiment/page"
	"wirelab/internal/panics"
)

// verify repeats opt.Verify of all runs on this machine and compares the digests. It returns an error
// if one differs. The choice of runs depends on the plan only, so that a resumed sweep repeats the
// same ones.
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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	exec := s.executor()
	for _, err := range panics.Each(s.opt.Jobs, len(picked), func(i int) error {
		n := picked[i]
		result, err := exec.runJob(ctx, s.plan.job([]int{n}))
		if err != nil {
			return nil // interrupted; the summary has the number of runs repeated so far
		}
		if result.Error != "" {
			err = errors.New(result.Error)
		} else if result.Runs[0].Result.Digests() != s.sum.digests[n] {
			err = s.mismatch(n, s.ranBy[n], hostName())
		} else {
			s.countVerified(checked, n)
		}
		if err != nil {
			cancel()
		}
		return err
	}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// countVerified counts a run that gave the same digest again.
func (s *activeSweep) countVerified(checked *page.SummaryChecked, run int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	checked.Runs++
	checked.Workers[s.ranBy[run]]++
	s.progress.Verified = checked.Runs
	s.reportLocked()
}

// sampleRuns returns the numbers of the runs to repeat, chosen by a hash of the plan's ID. opt.Verify is
// their fraction of all runs, 0 to 1; their number is rounded up.
func (s *activeSweep) sampleRuns() []int {
	// Less than 1 is added, so that a product that should be an integer but is slightly larger because of a
	// rounding error is not rounded up.
	n := int(s.opt.Verify*float64(s.plan.Runs()) + 0.999999)
	n = min(n, s.plan.Runs())
	if n <= 0 {
		return nil
	}
	id, _ := hex.DecodeString(s.plan.ID)
	var picked []int
	seen := map[int]bool{}
	for i := uint64(0); len(picked) < n; i++ {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(id, i))
		run := int(binary.BigEndian.Uint64(sum[:]) % uint64(s.plan.Runs()))
		if !seen[run] {
			seen[run] = true
			picked = append(picked, run)
		}
	}
	return picked
}
