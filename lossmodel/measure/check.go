package measure

import (
	"fmt"
	"math"
	"time"

	"wirelab/lossmodel"
	"wirelab/lossmodel/loss"
	"wirelab/lossmodel/tracefile"
)

// Check is one figure of a model beside its closed form.
type Check struct {
	Stage    string  `json:"stage"`
	Name     string  `json:"name"`
	Unit     string  `json:"unit,omitempty"`
	Measured float64 `json:"measured"`
	Expected float64 `json:"expected"`
	StdErr   float64 `json:"std_err"` // of Measured
	// Sigmas is how many standard errors Measured is off. More than MaxSigmas does
	// not happen by chance.
	Sigmas float64 `json:"sigmas"`
	OK     bool    `json:"ok"`
}

// MaxSigmas is how far off a figure of a right model may be: beyond it one in two
// million is by chance.
const MaxSigmas = 5

// Report is what Test found.
type Report struct {
	Packets int      `json:"packets"`
	Checks  []Check  `json:"checks"`
	Notes   []string `json:"notes,omitempty"` // what has no closed form, and why
	Whole   Stats    `json:"whole"`           // of the whole link, all stages together
}

// OK reports whether every check holds.
func (r *Report) OK() bool {
	for i := range r.Checks {
		if !r.Checks[i].OK {
			return false
		}
	}
	return true
}

// Test sends traffic through each stage of a link by itself and compares what
// comes of it with the stage's closed forms; then through the whole. A stage
// decides alike alone and among others, since it draws from a stream of its own.
func Test(spec lossmodel.Spec, seed uint64, t Traffic) (Report, error) {
	rows, err := Trace(spec, seed, t)
	if err != nil {
		return Report{}, err
	}
	r := &tester{Report: Report{Packets: t.Packets, Whole: Of(sequenceOf(rows))}, spec: spec, seed: seed, traffic: t}
	for _, stage := range []func() error{r.loss, r.duplicate, r.corrupt, r.delay, r.reorder, r.rate} {
		if err := stage(); err != nil {
			return Report{}, err
		}
	}
	return r.Report, nil
}

type tester struct {
	Report
	spec    lossmodel.Spec
	seed    uint64
	traffic Traffic
}

// meter returns a figure of a datagram: when it was sent, the verdict, and what had arrived by then,
// the zero value if nothing had.
type meter func(now time.Duration, v *lossmodel.Verdict, d *lossmodel.Delivery) float64

// alone sends the traffic over a link on which only what set copies from the spec is on, datagram i
// at the time at(i), and returns a figure of each.
func (r *tester) alone(set func(s *lossmodel.Spec), at func(i int) time.Duration, figure meter) ([]float64, error) {
	s := lossmodel.DefaultSpec()
	s.MTU = r.spec.MTU
	set(&s)
	link, err := lossmodel.NewLinkWith(r.traffic.Load, s, r.seed, "down")
	if err != nil {
		return nil, err
	}
	data, figures := make([]byte, r.traffic.Size), make([]float64, r.traffic.Packets)
	for i := range figures {
		now := at(i)
		v := link.Send(now, data, 0)
		first, ok := link.Receive(now)
		figures[i] = figure(now, &v, &first)
		for ok {
			_, ok = link.Receive(now)
		}
	}
	return figures, nil
}

// evenly returns the times of datagrams with a constant gap.
func evenly(gap time.Duration) func(i int) time.Duration {
	return func(i int) time.Duration { return time.Duration(i) * gap }
}

// share checks the share of datagrams for which figure is 1, not 0, against want and its standard
// error; an error below 0 means that of independent decisions.
func (r *tester) share(stage, name string, set func(*lossmodel.Spec), want, se float64, figure meter) error {
	hits, err := r.alone(set, evenly(r.traffic.Interval), figure)
	if err != nil {
		return err
	}
	if se < 0 {
		se = math.Sqrt(want * (1 - want) / float64(r.traffic.Packets))
	}
	r.check(stage, name, "", mean(hits), want, se)
	return nil
}

func isHeldBack(now time.Duration, v *lossmodel.Verdict, _ *lossmodel.Delivery) float64 {
	return number(v.Due > now)
}

func (r *tester) check(stage, name, unit string, measured, expected, se float64) {
	c := Check{Stage: stage, Name: name, Unit: unit, Measured: measured, Expected: expected, StdErr: se}
	if diff := math.Abs(measured - expected); diff > 1e-12*math.Abs(expected) {
		c.Sigmas = min(diff/se, 1e6) // JSON knows no infinity
	}
	c.OK = c.Sigmas <= MaxSigmas
	r.Checks = append(r.Checks, c)
}

func (r *tester) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

func (r *tester) loss() error {
	model := r.spec.Loss
	if model == nil {
		return nil
	}
	law, ok := loss.LawOf(model)
	if !ok {
		r.note("loss: what model %s loses stands in its file", model.Model())
		return nil
	}
	n, fragments := r.traffic.Packets, 1
	lost, err := r.alone(func(s *lossmodel.Spec) { s.Loss = model }, evenly(r.traffic.Interval),
		func(_ time.Duration, v *lossmodel.Verdict, _ *lossmodel.Delivery) float64 {
			fragments = v.Fragments
			return number(v.Lost != lossmodel.None)
		})
	if err != nil {
		return err
	}
	if b, whole := model.(loss.Bernoulli); whole && fragments > 1 {
		p := 1 - math.Pow(1-b.P, float64(fragments))
		law = loss.Law{Rate: p, MeanRun: 1 / (1 - p), Spread: p * (1 - p)}
	}
	r.check("loss", "share lost", "", mean(lost), law.Rate, math.Sqrt(law.Spread/float64(n))+1/float64(n))
	if runs := runsOf(lost); len(runs) > 1 && !math.IsInf(law.MeanRun, 0) {
		m, sd := meanSD(runs)
		r.check("loss", "mean run of losses", "packets", m, law.MeanRun, sd/math.Sqrt(float64(len(runs)))+1/float64(len(runs)))
	}
	if v := law.Rate * (1 - law.Rate); v > 0 {
		c, se := covariance(lost, law.Rate)
		// Where few packets are lost, hardly two neighbours are, and the sample underestimates the error.
		both := float64(law.Rate*law.Rate) + float64(law.Lag1*v)
		se = max(se, math.Sqrt(max(both, 0)/float64(n)))
		r.check("loss", "correlation with the next packet", "", c/v, law.Lag1, se/v+1/float64(n))
	}
	return nil
}

func (r *tester) duplicate() error {
	d := r.spec.Duplicate
	if d.Trace.Path != "" {
		r.note("duplicate: the copies of duplicate_trace stand in its file")
	}
	if d.P == 0 {
		return nil
	}
	d.Trace = tracefile.File{}
	return r.share("duplicate", "share duplicated", func(s *lossmodel.Spec) { s.Duplicate = d }, d.P, -1,
		func(_ time.Duration, v *lossmodel.Verdict, _ *lossmodel.Delivery) float64 {
			return number(v.Copies > 0)
		})
}

func (r *tester) corrupt() error {
	c := r.spec.Corrupt
	if c.P == 0 && c.BitRate == 0 {
		return nil
	}
	want := 0.0
	if r.traffic.Size > 0 {
		want = 1 - (1-c.P)*math.Pow(1-c.BitRate, float64(8*r.traffic.Size))
	}
	return r.share("corrupt", "share damaged", func(s *lossmodel.Spec) { s.Corrupt = c }, want, -1,
		func(_ time.Duration, _ *lossmodel.Verdict, d *lossmodel.Delivery) float64 {
			return number(d.Flipped > 0)
		})
}

func (r *tester) reorder() error {
	o := r.spec.Reorder
	switch {
	case o.P == 0:
		return nil
	case o.Delay == 0 && o.Distance == 0:
		r.note("reorder: held back by nothing, which cannot be seen")
		return nil
	}
	return r.share("reorder", "share held back", func(s *lossmodel.Spec) { s.Reorder = o }, o.P, -1, isHeldBack)
}
