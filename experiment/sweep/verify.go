package sweep

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// verify repeats a share of the runs on this machine and compares their digests. Which
// ones follows from the plan: a sweep that goes on picks the same.
func (s *state) verify(ctx context.Context) error {
	picked := s.sample()
	if len(picked) == 0 {
		return nil
	}
	s.progress.Verify = len(picked)
	v := &Verified{Workers: map[string]int{}}
	s.sum.Verified = v
	x := s.executor()
	for _, n := range picked {
		d, err := x.do(ctx, s.plan.job([]int{n}), nil)
		if err != nil {
			return nil // interrupted: what was repeated is counted
		}
		if len(d.Runs) == 0 || d.Runs[0].Result.Digests() != s.digests[n] {
			return s.differ(n, s.workers[n], hostName())
		}
		v.Runs++
		v.Workers[s.workers[n]]++
		s.progress.Verified = v.Runs
		s.tell()
	}
	return nil
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
