package measure

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"wirelab/lossmodel"
	"wirelab/lossmodel/capture"
	"wirelab/lossmodel/loss"
)

// Estimate is an estimated quantity with its 95 % confidence interval. The interval is for the
// long-run value of the network and allows for correlated losses and delays, as the fitted model
// has them; see the README.
type Estimate struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit,omitempty"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// FitResult is a link that was fitted to a capture.
type FitResult struct {
	Spec lossmodel.Spec `json:"-"`
	// Settings are the keys of Spec that differ from their defaults, in the order of
	// lossmodel.Keys.
	Settings  []Setting  `json:"settings"`
	Estimates []Estimate `json:"estimates"`
	// LossModels are the candidates in ascending order of BIC; the first one was selected.
	LossModels []Candidate `json:"loss_models"`
	// DelayModels are the candidates in ascending order of distance; the first one was selected.
	DelayModels []Candidate `json:"delay_models,omitempty"`
	// RunsP is the p-value of a chi-square test of the run lengths against the loss model. Below
	// 0.01 the model does not fit. 1 if there are too few runs.
	RunsP float64 `json:"runs_p"`
	// Measured are the statistics of the capture; Modelled those of a simulation of the fitted
	// link with the same number of packets and mean interval.
	Measured Stats    `json:"measured"`
	Modelled Stats    `json:"modelled"`
	Notes    []string `json:"notes,omitempty"` // assumptions, and what could not be estimated
}

// Candidate is a model that was fitted, and how well it fits.
type Candidate struct {
	Name string  `json:"name"`
	BIC  float64 `json:"bic,omitempty"`      // Bayesian information criterion; lower is better
	D    float64 `json:"distance,omitempty"` // Kolmogorov distance: the largest difference of the distribution functions
}

// Setting is a key of a link and its value.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// MinFitPackets is the smallest number of datagrams that Fit accepts.
const MinFitPackets = 50

// errTooShort means that the capture has fewer datagrams than Fit accepts.
var errTooShort = errors.New("capture too short")

// Fit estimates the settings of a link from a capture. It handles duplicates, reordering, missing
// numbers, which count as lost, and unsynchronised clocks. A clock offset cannot be distinguished
// from latency: if it is apparent, the minimum delay counts as 0. A linear drift is removed.
// Notes of the result state such assumptions.
func Fit(c *capture.Capture) (FitResult, error) {
	seq, err := c.Sequence()
	if err != nil {
		return FitResult{}, err
	}
	if len(seq.Datagrams) < MinFitPackets {
		return FitResult{}, fmt.Errorf("%w: %d packets, expected at least %d", errTooShort, len(seq.Datagrams), MinFitPackets)
	}
	f := &fitter{datagrams: seq.Datagrams}
	f.Spec = lossmodel.DefaultSpec()
	f.addCaptureNotes(c, seq)
	f.correctClocks(c.HasSent && c.HasDelay)
	f.Measured = NewStats(seq)
	f.fitLoss()
	f.fitCopies()
	if c.HasDelay && f.Measured.Delay.Count > 0 {
		f.fitDelay(c.HasSent)
	} else {
		f.addNote("the capture has no delays: only losses and copies are fitted")
	}
	f.listSettings()
	return f.FitResult, f.simulateFit(c)
}

// fitter is the state of Fit.
type fitter struct {
	FitResult
	datagrams []capture.Datagram // datagrams of the capture in the order of sending
}

// addNote adds a formatted note to the result.
func (f *fitter) addNote(format string, args ...any) {
	f.Notes = append(f.Notes, fmt.Sprintf(format, args...))
}

// span is an interval between two values.
type span struct{ low, high float64 }

// addEstimate adds an estimate with its 95 % interval, which is extended to contain the value.
// Without a unit ("") the value is a fraction.
func (f *fitter) addEstimate(name, unit string, value float64, interval span) {
	f.Estimates = append(f.Estimates, Estimate{name, unit, value, min(interval.low, value), max(interval.high, value)})
}

// addCaptureNotes adds notes about defects of the capture.
func (f *fitter) addCaptureNotes(c *capture.Capture, seq *capture.Sequence) {
	if seq.Missing > 0 {
		f.addNote("%d sequence numbers are missing and count as lost", seq.Missing)
	}
	if seq.Repeated > 0 {
		f.addNote("%d rows have the same sequence number and copy number as another row and count as further copies", seq.Repeated)
	}
	if c.Unfinished > 0 {
		f.addNote("%d datagrams have no outcome and are ignored", c.Unfinished)
	}
}

// fitCopies fits the duplicate stage. The probability is the fraction of duplicated datagrams
// among those of which anything arrived.
func (f *fitter) fitCopies() {
	arrived, duplicated, extra := 0, 0, 0
	for i := range f.datagrams {
		d := &f.datagrams[i]
		switch n := len(d.Copies); {
		case n > 0:
			arrived, duplicated, extra = arrived+1, duplicated+1, extra+n
		case !d.Lost:
			arrived++
		}
	}
	if duplicated == 0 {
		return
	}
	p := ratio(duplicated, arrived)
	f.Spec.Duplicate.P = round5(p)
	meanCopies := (extra + duplicated/2) / duplicated // the division rounds to nearest
	f.Spec.Duplicate.Copies = min(max(1, meanCopies), lossmodel.MaxCopies)
	f.addEstimate("duplicate", "", p, wilson(duplicated, arrived))
	if f.Measured.LossRate > 0 {
		f.correctForCopies(duplicated)
	}
}

// correctForCopies corrects the fitted loss and duplication for captures that give the arrival that comes first
// the copy number 0, whether it is the original or a copy. duplicated is the number of datagrams with at least
// one copy that arrived. In such captures a datagram counts as lost only if its copy was lost too, and as
// duplicated only if both arrived. For independent losses with probability p and one copy with probability d:
// lost = p (1-d) + d p^2, duplicated = d (1-p)^2. The equations are solved by fixed-point iteration. If an
// original is lost and its copy is not, losses are correlated or there are several copies, correctForCopies adds
// a note instead.
func (f *fitter) correctForCopies(duplicated int) {
	// In a capture of the other kind, a datagram can be lost while its copy arrives.
	onlyCopyArrived := slices.ContainsFunc(f.datagrams, func(d capture.Datagram) bool { return d.Lost && len(d.Copies) > 0 })
	independent, ok := f.Spec.Loss.(loss.Bernoulli)
	if onlyCopyArrived || !ok || f.Spec.Duplicate.Copies != 1 {
		f.addNote("lost copies cannot be observed: the true duplication may be slightly higher")
		return
	}
	lost, both := f.Measured.LossRate, ratio(duplicated, len(f.datagrams)) // measured fractions
	p, d := lost, both                                                     // probabilities of loss and of duplication
	for range 50 {
		d = min(1, both/((1-p)*(1-p)))
		p = min(0.99, lost/(1-d+d*p))
	}
	independent.P, f.Spec.Duplicate.P = round5(p), round5(d)
	f.Spec.Loss = independent
	f.scaleEstimate("loss", p/lost)
	f.scaleEstimate("duplicate", d/ratio(duplicated, f.Measured.Sent-f.Measured.Lost))
	f.addNote("a datagram of which only a copy arrived counts as arrived; corrected for that: %.3g%% duplicated, %.3g%% lost", d*100, p*100)
}

// scaleEstimate multiplies an estimated probability and its interval by a factor, limited to 1.
func (f *fitter) scaleEstimate(name string, factor float64) {
	for i := range f.Estimates {
		if e := &f.Estimates[i]; e.Name == name {
			e.Value, e.Low, e.High = min(1, e.Value*factor), min(1, e.Low*factor), min(1, e.High*factor)
		}
	}
}

// simulateFit sends traffic like that of the capture over the fitted link and sets Modelled.
func (f *fitter) simulateFit(c *capture.Capture) error {
	const seed, payloadBytes = 1, 100 // arbitrary values: captures have no sizes
	t := Traffic{Packets: min(len(f.datagrams), MaxPackets), Interval: meanInterval(f.datagrams), Size: payloadBytes}
	rows, err := Trace(f.Spec, seed, t)
	if err != nil {
		return fmt.Errorf("the fitted link is invalid: %w", err)
	}
	f.Modelled = NewStats(mustSequence(rows))
	return nil
}

// meanInterval returns the mean time between the sending of packets, of which there must be at least
// two; at most an hour, and 0 if send times are unknown.
func meanInterval(all []capture.Datagram) time.Duration {
	n := len(all)
	return min(max(0, (all[n-1].Sent-all[0].Sent)/time.Duration(n-1)), time.Hour)
}

// listSettings sets Settings from Spec.
func (f *fitter) listSettings() {
	for _, k := range lossmodel.Keys() {
		if text, err := f.Spec.Get(k.Key); err == nil && text != k.Default {
			f.Settings = append(f.Settings, Setting{k.Key, text})
		}
	}
}
