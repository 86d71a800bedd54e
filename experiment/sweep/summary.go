package sweep

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/page"
	"wirelab/experiment/report"
)

// Summary is the result of a sweep, complete or so far.
type Summary struct {
	page.Summary
	failedRuns []failedRun // runs with failed assertions, sorted by number, at most maxFailures
	stale      []bool      // by point: results were added since its figures were computed
	samples    *samples
	digests    []string // by run; "" until the run is done
}

// newSummary returns the summary of a sweep without results.
func newSummary(p *Plan) *Summary {
	s := &Summary{Summary: page.Summary{Plan: p.ID, Version: p.Version, Planned: p.Runs(), Repeat: p.Repeat,
		Reason: engine.Unfinished},
		samples: newSamples(p), digests: make([]string, p.Runs()), stale: make([]bool, len(p.Points))}
	for _, axis := range p.Config.Axes() {
		s.Keys = append(s.Keys, axis.Key)
	}
	for _, point := range p.Points {
		s.Points = append(s.Points, page.Point{Set: point.Set})
	}
	return s
}

// maxFailures is the maximum number of failed assertions that a summary lists.
const maxFailures = 100

// add adds the result of a run. It must be called once for each run.
func (s *Summary) add(o Outcome) {
	s.samples.add(o)
	s.Units = figures.UnitsOf(&o.Result.Totals)
	s.digests[o.Run] = o.Result.Digests()
	s.Done++
	s.Points[o.Run/s.Repeat].Seeds++
	s.stale[o.Run/s.Repeat] = true
	s.Points[o.Run/s.Repeat].Asserted += len(o.Result.Assertions)
	if texts := report.Failures(o.Result); len(texts) > 0 {
		s.Points[o.Run/s.Repeat].Failed++
		i, _ := slices.BinarySearchFunc(s.failedRuns, o.Run, func(f failedRun,
			run int) int {
			return cmp.Compare(f.run, run)
		})
		s.failedRuns = slices.Insert(s.failedRuns, i, failedRun{o.Run, texts})
		s.failedRuns = s.failedRuns[:min(len(s.failedRuns), maxFailures)]
	}
}

// failedRun is a run with failed assertions.
type failedRun struct {
	run   int
	texts []string // a sentence for each assertion
}

// finish sets the fields Reason, Error and Interrupted, which describe how the sweep ended, and updates
// all figures. err is nil if the sweep is complete or was interrupted.
func (s *Summary) finish(err error, interrupted bool) {
	r := report.Report{Interrupted: interrupted}
	r.SetReason(err)
	s.Reason, s.Error, s.Interrupted = r.Reason, r.Error, interrupted
	s.updateFigures()
	if s.Reason == engine.Finished && len(s.Failed) > 0 {
		s.Reason = engine.Unmet
	}
}

// updateFigures computes the figures of the points with new results, the list of failed assertions,
// and, if all runs are done, the digest.
func (s *Summary) updateFigures() {
	firstChanged := s.stale[0] // the ratios of all points refer to the first
	for i := range s.Points {
		p := &s.Points[i]
		if !s.stale[i] && !firstChanged && p.Figures != nil {
			continue
		}
		s.stale[i] = false
		p.Figures, p.Ratio = map[string]figures.Mean{}, nil
		for f, name := range s.samples.Names {
			if m := s.samples.Mean(i, f); m.N > 0 {
				p.Figures[name] = m
			}
			if i == 0 {
				continue
			}
			if m := s.samples.Ratio(i, 0, f); m.N > 0 {
				if p.Ratio == nil {
					p.Ratio = map[string]figures.Mean{}
				}
				p.Ratio[name] = m
			}
		}
	}
	s.Failed = nil
	for _, f := range s.failedRuns {
		s.Failed = append(s.Failed, f.texts[:min(len(f.texts), maxFailures-len(s.Failed))]...)
	}
	s.Digest = ""
	if s.Done == s.Planned {
		h := sha256.New()
		for _, d := range s.digests {
			h.Write([]byte(d + "\n"))
		}
		s.Digest = hex.EncodeToString(h.Sum(nil))
	}
}
