package measure

import (
	"fmt"
	"math"
	"time"

	"wirelab/lossmodel"
	"wirelab/lossmodel/loss"
	"wirelab/lossmodel/tracefile"
)

// Check compares a measured figure of a stage with its closed form.
type Check struct {
	Stage    string  `json:"stage"`
	Name     string  `json:"name"`
	Unit     string  `json:"unit,omitempty"` // unit of Measured and Expected; "" for a fraction or a correlation
	Measured float64 `json:"measured"`
	Expected float64 `json:"expected"`
	StdErr   float64 `json:"std_err"` // standard error of Measured
	// Sigmas is the deviation of Measured from Expected in standard errors.
	Sigmas float64 `json:"sigmas"`
	OK     bool    `json:"ok"` // whether Sigmas is at most MaxSigmas
}

// MaxSigmas is the largest deviation that passes. A larger one occurs by chance in one of two
// million cases.
const MaxSigmas = 5

// Report is the result of Test.
type Report struct {
	Packets   int      `json:"packets"`
	Checks    []Check  `json:"checks"`
	Notes     []string `json:"notes,omitempty"` // checks that were left out, and why
	AllStages Stats    `json:"whole"`           // statistics of the complete link with all stages
}

// OK reports whether every check passed.
func (r *Report) OK() bool {
	for i := range r.Checks {
		if !r.Checks[i].OK {
			return false
		}
	}
	return true
}

// Test sends traffic through each stage of a link separately and compares the result with the
// stage's closed form, and then through the complete link. A stage behaves the same alone and
// with others, because each stage has its own random stream.
func Test(spec lossmodel.Spec, seed uint64, t Traffic) (Report, error) {
	rows, err := Trace(spec, seed, t)
	if err != nil {
		return Report{}, err
	}
	r := &tester{Report: Report{Packets: t.Packets, AllStages: NewStats(mustSequence(rows))}, spec: spec, seed: seed, traffic: t}
	for _, stage := range []func() error{r.testLoss, r.testDuplicate, r.testCorrupt, r.testDelay, r.testReorder, r.testRate} {
		if err := stage(); err != nil {
			return Report{}, err
		}
	}
	return r.Report, nil
}

// tester is the state of Test.
type tester struct {
	Report
	spec    lossmodel.Spec
	seed    uint64
	traffic Traffic
}

// figureFunc computes a figure of a datagram from its send time, its verdict, and the first
// delivery that was due by then; the zero Delivery if there was none.
type figureFunc func(now time.Duration, v *lossmodel.Verdict, d *lossmodel.Delivery) float64

// measureStage sends the traffic over a link that has only the settings that copySettings copies from r.spec; the
// other stages are off. Datagram i is sent at sendTime(i). measureStage returns the result of figure for each
// datagram.
func (r *tester) measureStage(copySettings func(s *lossmodel.Spec), sendTime func(i int) time.Duration, figure figureFunc) ([]float64, error) {
	s := lossmodel.DefaultSpec()
	s.MTU = r.spec.MTU
	copySettings(&s)
	link, err := lossmodel.NewLinkWith(r.traffic.Load, s, r.seed, "down")
	if err != nil {
		return nil, err
	}
	data, figures := make([]byte, r.traffic.Size), make([]float64, r.traffic.Packets)
	for i := range figures {
		now := sendTime(i)
		v := link.Send(now, data, 0) // 0: the tag of deliveries is not used
		first, ok := link.Receive(now)
		figures[i] = figure(now, &v, &first)
		for ok { // discard the other deliveries that are due
			_, ok = link.Receive(now)
		}
	}
	return figures, nil
}

// evenTimes returns send times with a constant gap.
func evenTimes(gap time.Duration) func(i int) time.Duration {
	return func(i int) time.Duration { return time.Duration(i) * gap }
}

// independentTrials is the argument se of checkFraction for figures decided independently for each
// datagram.
const independentTrials = -1

// checkFraction measures the fraction of datagrams for which figure returns 1 instead of 0 and
// checks it against want. se is the standard error of the measured fraction; independentTrials means that
// of independent decisions.
func (r *tester) checkFraction(stage, name string, copySettings func(*lossmodel.Spec), want, se float64, figure figureFunc) error {
	hits, err := r.measureStage(copySettings, evenTimes(r.traffic.Interval), figure)
	if err != nil {
		return err
	}
	if se == independentTrials {
		se = math.Sqrt(want * (1 - want) / float64(r.traffic.Packets))
	}
	r.addCheck(stage, name, "", mean(hits), want, se)
	return nil
}

// isHeldBack is a figureFunc: 1 for datagrams with a delay, otherwise 0.
func isHeldBack(now time.Duration, v *lossmodel.Verdict, _ *lossmodel.Delivery) float64 {
	return boolToFloat(v.Due > now)
}

// addCheck adds the comparison of a measured figure with its expected value. se is the standard
// error of the measured one. Values that differ only by rounding count as equal.
func (r *tester) addCheck(stage, name, unit string, measured, expected, se float64) {
	c := Check{Stage: stage, Name: name, Unit: unit, Measured: measured, Expected: expected, StdErr: se}
	if diff := math.Abs(measured - expected); diff > 1e-12*math.Abs(expected) {
		c.Sigmas = min(diff/se, 1e6) // the limit keeps the value finite, for JSON
	}
	c.OK = c.Sigmas <= MaxSigmas
	r.Checks = append(r.Checks, c)
}

// addNote adds a formatted note to the report.
func (r *tester) addNote(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// testLoss compares loss rate, mean run and lag-1 correlation with the model's closed form. It does
// nothing without a loss model; models that read a file get a note.
func (r *tester) testLoss() error {
	model := r.spec.Loss
	if model == nil {
		return nil
	}
	expected, ok := loss.AnalyzeAt(model, r.traffic.Interval)
	switch {
	case !ok && loss.BurstOf(model).Time != 0:
		r.addNote("loss: not tested, because all packets are sent at the same time, in the same state of the bursts")
		return nil
	case !ok:
		r.addNote("loss: not tested, because the losses of model %s come from a file", model.Model())
		return nil
	}
	n, fragments := r.traffic.Packets, 1
	lost, err := r.measureStage(func(s *lossmodel.Spec) { s.Loss = model }, evenTimes(r.traffic.Interval),
		func(_ time.Duration, v *lossmodel.Verdict, _ *lossmodel.Delivery) float64 {
			fragments = v.Fragments
			return boolToFloat(v.Lost != lossmodel.None)
		})
	if err != nil {
		return err
	}
	if b, ok := model.(loss.Bernoulli); ok && fragments > 1 { // a fragmented datagram is lost if any fragment is
		p := 1 - math.Pow(1-b.P, float64(fragments))
		expected = loss.ClosedForm{Rate: p, MeanRun: 1 / (1 - p), Variance: p * (1 - p)}
	}
	// The tolerance 1/n in these checks allows for the resolution of a fraction of n packets.
	r.addCheck("loss", "share lost", "", mean(lost), expected.Rate, math.Sqrt(expected.Variance/float64(n))+1/float64(n))
	if runs := runLengths(lost); len(runs) > 1 && !math.IsInf(expected.MeanRun, 0) {
		m, sd := meanSD(runs)
		r.addCheck("loss", "mean run of losses", "packets", m, expected.MeanRun,
			sd/math.Sqrt(float64(len(runs)))+1/float64(len(runs)))
	}
	if v := expected.Rate * (1 - expected.Rate); v > 0 {
		c, se := lag1Covariance(lost, expected.Rate)
		// If it is rare that both neighbours are lost, the sample contains hardly any such pair and
		// underestimates the error. both is the probability of such a pair.
		both := float64(expected.Rate*expected.Rate) + float64(expected.Lag1*v)
		se = max(se, math.Sqrt(max(both, 0)/float64(n)))
		r.addCheck("loss", "correlation with the next packet", "", c/v, expected.Lag1, se/v+1/float64(n))
	}
	return nil
}

// testDuplicate compares the fraction of duplicated datagrams with the configured probability. Copies
// from a capture are left out.
func (r *tester) testDuplicate() error {
	d := r.spec.Duplicate
	if d.Trace.Path != "" {
		r.addNote("duplicate: duplicate_trace not tested, because its copies come from a file")
	}
	if d.P == 0 {
		return nil
	}
	d.Trace = tracefile.File{} // the test is without the copies of the trace
	return r.checkFraction("duplicate", "share duplicated", func(s *lossmodel.Spec) { s.Duplicate = d }, d.P, independentTrials,
		func(_ time.Duration, v *lossmodel.Verdict, _ *lossmodel.Delivery) float64 {
			return boolToFloat(v.Copies > 0)
		})
}

// testCorrupt compares the fraction of damaged datagrams with its closed form. A datagram arrives intact if
// neither the setting "corrupt" nor the bit errors flip any of its bits.
func (r *tester) testCorrupt() error {
	c := r.spec.Corrupt
	if c.P == 0 && c.BitRate == 0 {
		return nil
	}
	want := 0.0
	if r.traffic.Size > 0 {
		want = 1 - (1-c.P)*math.Pow(1-c.BitRate, float64(8*r.traffic.Size))
	}
	return r.checkFraction("corrupt", "share damaged", func(s *lossmodel.Spec) { s.Corrupt = c }, want, independentTrials,
		func(_ time.Duration, _ *lossmodel.Verdict, d *lossmodel.Delivery) float64 {
			return boolToFloat(d.Flipped > 0)
		})
}

// testReorder compares the fraction of datagrams that the reorder stage delays with the configured
// probability.
func (r *tester) testReorder() error {
	o := r.spec.Reorder
	switch {
	case o.P == 0:
		return nil
	case o.Delay == 0 && o.Distance == 0:
		r.addNote("reorder: not tested, because the delay and the distance are 0")
		return nil
	}
	return r.checkFraction("reorder", "share held back", func(s *lossmodel.Spec) { s.Reorder = o }, o.P, independentTrials,
		isHeldBack)
}
