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

// verify repeats a share of the runs on this machine and compares their digests. Which
// ones follows from the plan: a sweep that goes on picks the same.
func (s *state) verify(ctx context.Context) error {
	picked := s.sample()
	if len(picked) == 0 {
		return nil
	}
	v := &page.SummaryChecked{Workers: map[string]int{}}
	s.sum.Verified = v
	s.mu.Lock()
	s.progress.Verify = len(picked)
	s.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	x := s.executor()
	for _, err := range panics.Each(s.opt.Jobs, len(picked), func(i int) error {
		n := picked[i]
		d, err := x.do(ctx, s.plan.job([]int{n}))
		if err != nil {
			return nil // interrupted: the repeated runs are counted
		}
		if d.Error != "" {
			err = errors.New(d.Error)
		} else if d.Runs[0].Result.Digests() != s.sum.digests[n] {
			err = s.differ(n, s.workers[n], hostName())
		} else {
			s.verified(v, n)
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

// verified counts a run that came to the same.
func (s *state) verified(v *page.SummaryChecked, run int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v.Runs++
	v.Workers[s.workers[run]]++
	s.progress.Verified = v.Runs
	s.tellLocked()
}

// sample picks the runs to repeat: the share asked for, rounded up.
func (s *state) sample() []int {
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
