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

// Estimate is a figure drawn from a capture, with the interval in which the true
// one, that of the network in the long run, lies in 95 cases of 100. Intervals allow
// for losses and delays that hang together, as the fitted model does; see README.
type Estimate struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit,omitempty"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// FitResult is the link that a capture points to.
type FitResult struct {
	Spec      lossmodel.Spec `json:"-"`
	Settings  []Setting      `json:"settings"` // of Spec, those not at their defaults, in the order of lossmodel.Keys
	Estimates []Estimate     `json:"estimates"`
	// LossModels compares the models that were tried; the first has the least BIC and
	// was taken.
	LossModels []Candidate `json:"loss_models"`
	// DelayModels likewise, by distance: the first was taken.
	DelayModels []Candidate `json:"delay_models,omitempty"`
	// RunsP is the chance that a link like this has runs of losses as unlike what is
	// expected as these are; below 0.01 the loss model does not fit. 1 if there are
	// too few to say.
	RunsP float64 `json:"runs_p"`
	// Measured is the capture; Modelled is what the link makes of traffic as many and
	// as far apart.
	Measured Stats    `json:"measured"`
	Modelled Stats    `json:"modelled"`
	Notes    []string `json:"notes,omitempty"` // what was assumed, and what could not be known
}

// Candidate is a model that was tried, and how well it fits.
type Candidate struct {
	Name string  `json:"name"`
	BIC  float64 `json:"bic,omitempty"`      // Bayes information criterion: less is better
	D    float64 `json:"distance,omitempty"` // Kolmogorov's: the greatest difference of the distributions
}

// Setting is a key of a link and its value.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// LeastFit is the fewest datagrams that Fit takes: with less, no figure means
// anything.
const LeastFit = 50

// errTooShort: the capture has too few packets to draw anything from.
var errTooShort = errors.New("capture too short")

// Fit finds the settings of a link that does what a capture shows. It copes with
// duplicates, with reordering, with numbers that are missing (they are taken for
// lost), and with clocks that differ: an offset cannot be told from latency, so the
// least delay then counts as 0, and a drift is taken out; Notes says so.
func Fit(c *capture.Capture) (FitResult, error) {
	seq, err := c.Sequence()
	if err != nil {
		return FitResult{}, err
	}
	if len(seq.Datagrams) < LeastFit {
		return FitResult{}, fmt.Errorf("%w: %d packets, expected at least %d", errTooShort, len(seq.Datagrams), LeastFit)
	}
	f := &fitter{all: seq.Datagrams}
	f.Spec = lossmodel.DefaultSpec()
	f.remarks(c, seq)
	f.correctClocks(c.HasSent && c.HasDelay)
	f.Measured = Of(seq)
	f.loss()
	f.copies()
	if c.HasDelay && f.Measured.Delay.Count > 0 {
		f.delay(c.HasSent)
	} else {
		f.note("the capture says nothing of delays: only losses and copies are fitted")
	}
	f.settings()
	return f.FitResult, f.reproduce(c)
}

type fitter struct {
	FitResult
	all []capture.Datagram
}

func (f *fitter) note(format string, args ...any) {
	f.Notes = append(f.Notes, fmt.Sprintf(format, args...))
}

// span is an interval.
type span struct{ low, high float64 }

func (f *fitter) estimate(name, unit string, value float64, in span) {
	f.Estimates = append(f.Estimates, Estimate{name, unit, value, min(in.low, value), max(in.high, value)})
}

func (f *fitter) remarks(c *capture.Capture, seq *capture.Sequence) {
	if seq.Missing > 0 {
		f.note("%d numbers have no row and are taken for lost", seq.Missing)
	}
	if seq.Repeated > 0 {
		f.note("%d rows repeat a number and copy and are taken for further copies", seq.Repeated)
	}
	if c.Unfinished > 0 {
		f.note("%d packets were under way when the capture ended and are left out", c.Unfinished)
	}
}

// copies fits the duplicate stage by the share of datagrams that came more than
// once, of those that came at all.
func (f *fitter) copies() {
	came, doubled, extra := 0, 0, 0
	for i := range f.all {
		d := &f.all[i]
		switch n := len(d.Copies); {
		case n > 0:
			came, doubled, extra = came+1, doubled+1, extra+n
		case !d.Lost:
			came++
		}
	}
	if doubled == 0 {
		return
	}
	p := ratio(doubled, came)
	f.Spec.Duplicate.P = tidy(p)
	f.Spec.Duplicate.Copies = min(max(1, (extra+doubled/2)/doubled), lossmodel.MaxCopies)
	f.estimate("duplicate", "", p, wilson(doubled, came))
	if f.Measured.LossRate > 0 {
		f.separateOrder(doubled)
	}
}

// separateOrder: where the first to arrive is always called copy 0, a datagram counts
// as lost only if its copy was lost too, and as doubled only if neither was. For
// independent losses L and one copy with probability d,
// lost = L (1-d) + d L^2 and doubled = d (1-L)^2, which a few rounds solve.
func (f *fitter) separateOrder(doubled int) {
	copiesLost := slices.ContainsFunc(f.all, func(d capture.Datagram) bool { return d.Lost && len(d.Copies) > 0 })
	independent, ok := f.Spec.Loss.(loss.Bernoulli)
	if copiesLost || !ok || f.Spec.Duplicate.Copies != 1 {
		f.note("copies that were lost cannot be seen: the share duplicated may be somewhat higher")
		return
	}
	lost, both := f.Measured.LossRate, ratio(doubled, len(f.all))
	p, d := lost, both
	for range 50 {
		d = min(1, both/((1-p)*(1-p)))
		p = min(0.99, lost/(1-d+d*p))
	}
	independent.P, f.Spec.Duplicate.P = tidy(p), tidy(d)
	f.Spec.Loss = independent
	f.rescale("loss", p/lost)
	f.rescale("duplicate", d/ratio(doubled, f.Measured.Sent-f.Measured.Lost))
	f.note("a datagram whose copy came counts as arrived: with %.3g%% duplicated, %.3g%% of packets were lost", d*100, p*100)
}

// rescale corrects an estimate of a share that was seen only in part.
func (f *fitter) rescale(name string, by float64) {
	for i := range f.Estimates {
		if e := &f.Estimates[i]; e.Name == name {
			e.Value, e.Low, e.High = min(1, e.Value*by), min(1, e.Low*by), min(1, e.High*by)
		}
	}
}

// reproduce sends the same traffic over the fitted link.
func (f *fitter) reproduce(c *capture.Capture) error {
	t := Traffic{Packets: min(len(f.all), MaxPackets), Interval: interval(f.all), Size: 100}
	rows, err := Trace(f.Spec, 1, t)
	if err != nil {
		return fmt.Errorf("the fitted link does not work: %w", err)
	}
	f.Modelled = Of(sequenceOf(rows))
	return nil
}

// interval returns the mean time between packets, 0 if it is not known.
func interval(all []capture.Datagram) time.Duration {
	n := len(all)
	return min(max(0, (all[n-1].Sent-all[0].Sent)/time.Duration(n-1)), time.Hour)
}

func (f *fitter) settings() {
	for _, k := range lossmodel.Keys() {
		if text, err := f.Spec.Get(k.Key); err == nil && text != k.Default {
			f.Settings = append(f.Settings, Setting{k.Key, text})
		}
	}
}
