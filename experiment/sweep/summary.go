package sweep

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/page"
	"wirelab/experiment/report"
)

// mainFigures are those that a summary has of every point, besides what was asserted.
var mainFigures = []string{
	"payload_kbps", "wire_kbps", "feedback_kbps", "bits_per_item", "bits_per_changed_cube", "packet_bytes.p50", "packet_bytes.p95",
	"packet_bytes.max", "over_budget_ratio", "playout.starved_ratio", "playout.late", "playout.behind_ms", "playout.position_error_mm.p95",
	"decoded", "lost", "failures.no_baseline", "failures.corrupt", "wrong", "undetected", "network.loss_rate", "network.delay_ms.p50",
	"transfer.time_s",
}

// Summary is what a sweep came to.
type Summary struct {
	page.Summary
	failed  []failedRun // the first of those in which an assertion did not hold, by number
	changed []bool      // points with results since they were reckoned
	samples
	digests []string
}

// samples are the figures of the runs of a sweep.
type samples struct {
	repeat int
	names  []string    // of the figures
	values [][]float64 // by run: each figure, NaN if the run has none; nil until the run is done
}

func newSamples(p *Plan) samples {
	s := samples{p.Repeat, append([]string{}, mainFigures...), make([][]float64, p.Runs())}
	for _, a := range p.Config.Assert {
		if !slices.Contains(s.names, a.Name) {
			s.names = append(s.names, a.Name)
		}
	}
	return s
}

// set stores the figures of a run.
func (s *samples) set(o Outcome) {
	have, v := figures.Of(o.Result.Totals), make([]float64, len(s.names))
	for i, name := range s.names {
		x, ok := have[name]
		if !ok {
			x = math.NaN()
		}
		v[i] = x
	}
	s.values[o.Run] = v
}

// column returns a figure of a point, over the seeds that have it.
func (s *samples) column(point, figure int) (list []float64) {
	for r := range s.repeat {
		if v := s.values[point*s.repeat+r]; v != nil && !math.IsNaN(v[figure]) {
			list = append(list, v[figure])
		}
	}
	return list
}

// ratio returns a figure of a point relative to that of the first point, over the seeds that
// both have.
func (s *samples) ratio(point, figure int) figures.Mean {
	var x, y []float64
	for r := range s.repeat {
		a, b := s.values[point*s.repeat+r], s.values[r]
		if a != nil && b != nil && !math.IsNaN(a[figure]) && !math.IsNaN(b[figure]) {
			x, y = append(x, a[figure]), append(y, b[figure])
		}
	}
	if len(x) == 0 {
		return figures.Mean{}
	}
	return RatioOf(x, y)
}

func newSummary(p *Plan) *Summary {
	s := &Summary{Summary: page.Summary{Plan: p.ID, Version: p.Version, Planned: p.Runs(), Repeat: p.Repeat, Reason: engine.Unfinished},
		samples: newSamples(p), digests: make([]string, p.Runs()), changed: make([]bool, len(p.Points))}
	for _, axis := range p.Config.Axes() {
		s.Keys = append(s.Keys, axis.Key)
	}
	for _, point := range p.Points {
		s.Points = append(s.Points, page.SummaryPoint{Set: point.Set})
	}
	return s
}

// maxFailed bounds the sentences of a summary.
const maxFailed = 100

// add takes the result of a run; each comes once.
func (s *Summary) add(o Outcome) {
	s.set(o)
	s.digests[o.Run] = o.Result.Digests()
	s.Done++
	s.Points[o.Run/s.Repeat].Seeds++
	s.changed[o.Run/s.Repeat] = true
	one := report.Report{Runs: []*engine.Result{o.Result}}
	if texts := one.Failed(); len(texts) > 0 {
		at, _ := slices.BinarySearchFunc(s.failed, o.Run, func(f failedRun, run int) int { return cmp.Compare(f.run, run) })
		s.failed = slices.Insert(s.failed, at, failedRun{o.Run, texts})
		s.failed = s.failed[:min(len(s.failed), maxFailed)]
	}
}

// failedRun says what did not hold in a run.
type failedRun struct {
	run   int
	texts []string
}

// end notes why it ended and reckons the figures.
func (s *Summary) end(err error, interrupted bool) {
	r := report.Report{Interrupted: interrupted}
	r.SetReason(err)
	s.Reason, s.Error, s.Interrupted = r.Reason, r.Error, interrupted
	s.reckon()
	if s.Reason == engine.Finished && len(s.Failed) > 0 {
		s.Reason = engine.Unmet
	}
}

// reckon brings the figures of every point up to date.
func (s *Summary) reckon() {
	first := s.changed[0] // all are compared with it
	for i := range s.Points {
		p := &s.Points[i]
		if !s.changed[i] && !first && p.Figures != nil {
			continue
		}
		s.changed[i] = false
		p.Figures, p.Ratio = map[string]figures.Mean{}, nil
		for f, name := range s.names {
			if m := MeanOf(s.column(i, f)); m.N > 0 {
				p.Figures[name] = m
			}
			if i == 0 {
				continue
			}
			if m := s.ratio(i, f); m.N > 0 {
				if p.Ratio == nil {
					p.Ratio = map[string]figures.Mean{}
				}
				p.Ratio[name] = m
			}
		}
	}
	s.Failed = nil
	for _, f := range s.failed {
		s.Failed = append(s.Failed, f.texts[:min(len(f.texts), maxFailed-len(s.Failed))]...)
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
