package measure

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"wirelab/internal/testkit"
	"wirelab/lossmodel"
	"wirelab/lossmodel/capture"
	"wirelab/lossmodel/loss"
)

// kernelCapture reads a capture of the Linux kernel's netem.
func kernelCapture(t *testing.T, name string) *capture.Capture {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../../shared/data/netem", name+".csv.zst"))
	if err != nil {
		t.Skipf("no reference data: %v", err)
	}
	d, err := zstd.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	c, err := capture.Read(d)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// mustFit fits a capture and checks that its TOML gives the fitted spec.
func mustFit(t *testing.T, c *capture.Capture) FitResult {
	t.Helper()
	f, err := Fit(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + f.TOML())
	back := lossmodel.DefaultSpec()
	for _, line := range strings.Split(f.TOML(), "\n") {
		key, value, ok := strings.Cut(line, " = ")
		if strings.HasPrefix(line, "#") || !ok {
			continue
		}
		if err := back.Set(key, strings.Trim(value, `"`)); err != nil {
			t.Error(err)
		}
	}
	if back != f.Spec {
		t.Errorf("the TOML gives %v, fitted %v", back.Values(), f.Spec.Values())
	}
	return f
}

func (f *FitResult) find(name string) (Estimate, bool) {
	i := slices.IndexFunc(f.Estimates, func(e Estimate) bool { return e.Name == name })
	if i < 0 {
		return Estimate{}, false
	}
	return f.Estimates[i], true
}

// get returns the estimate with a name, which must exist.
func (f *FitResult) get(t *testing.T, name string) Estimate {
	t.Helper()
	e, ok := f.find(name)
	if !ok {
		t.Fatalf("no estimate of %s", name)
	}
	return e
}

// checkEstimate checks that an estimate is within a relative tolerance of the true value, and
// that its interval is narrow and contains the true value within 3 %.
func checkEstimate(t *testing.T, f *FitResult, name string, truth, tolerance float64) {
	t.Helper()
	e := f.get(t, name)
	if math.Abs(e.Value-truth) > tolerance*truth {
		t.Errorf("%s: %.6g, want %.6g within %.0f%%", name, e.Value, truth, tolerance*100)
	}
	if !(e.Low <= e.Value && e.Value <= e.High) || e.Low > truth*1.03 || e.High < truth*0.97 || e.High-e.Low > truth/2 {
		t.Errorf("%s: interval %.6g to %.6g around %.6g; true value %.6g", name, e.Low, e.High, e.Value, truth)
	}
}

// Captures of the kernel's netem give the loss parameters of their command lines.
func TestFitKernelLoss(t *testing.T) {
	f := mustFit(t, kernelCapture(t, "A05_ge_1_20_100_0"))
	checkEstimate(t, &f, "p", 0.01, 0.05)
	checkEstimate(t, &f, "r", 0.20, 0.05)
	if f.LossModels[0].Name != "gilbert" || f.RunsP < 0.01 {
		t.Errorf("models %v, runs p = %g", f.LossModels, f.RunsP)
	}
	if testkit.Thorough() {
		f = mustFit(t, kernelCapture(t, "A01_loss10"))
		checkEstimate(t, &f, "loss", 0.10, 0.05)
		if f.LossModels[0].Name != "bernoulli" || f.Spec.Loss.Model() != "bernoulli" {
			t.Errorf("models %v", f.LossModels)
		}
	}
	both := kernelCapture(t, "A12_dup10_loss10")
	both.Packets = both.Packets[:testkit.Choose(len(both.Packets), len(both.Packets)/3)]
	f = mustFit(t, both)
	if b, ok := f.Spec.Loss.(loss.Bernoulli); !ok || math.Abs(b.P-0.1) > 0.003 || math.Abs(f.Spec.Duplicate.P-0.1) > 0.003 {
		t.Errorf("loss %v, duplicate %v, expected 10%% for both", f.Spec.Loss, f.Spec.Duplicate.P)
	}
	checkEstimate(t, &f, "loss", 0.10, 0.03)
	checkEstimate(t, &f, "duplicate", 0.10, 0.03)
}

// Captures of the kernel's netem give the delay parameters of their command lines.
func TestFitKernelDelay(t *testing.T) {
	for name, c := range map[string]struct {
		dist     lossmodel.Distribution
		mean, sd float64
	}{
		"B01_delay_50_10_uniform": {lossmodel.Uniform, 50, 10 / math.Sqrt(3)},
		"B02_delay_50_10_normal":  {lossmodel.Normal, 50, 10},
		"B03_delay_50_10_pareto":  {lossmodel.Pareto, 49.66, 8.2},
	} {
		f := mustFit(t, kernelCapture(t, name))
		checkEstimate(t, &f, "mean delay", c.mean, 0.02)
		checkEstimate(t, &f, "standard deviation of delay", c.sd, 0.02)
		if f.Spec.Delay.Distribution != c.dist || f.Spec.Loss != nil || f.Spec.Delay.Correlation != 0 || f.Spec.Delay.KeepOrder {
			t.Errorf("%s: %v, models %v", name, f.Spec.Values(), f.DelayModels)
		}
		if a, b := f.Measured.Reordering.Ratio, f.Modelled.Reordering.Ratio; math.Abs(a-b) > 0.01 {
			t.Errorf("%s: reordered %g, simulated %g", name, a, b)
		}
	}
}

// A capture of the kernel's netem with reordering gives the reorder stage.
func TestFitKernelReorder(t *testing.T) {
	f := mustFit(t, kernelCapture(t, "C03_delay10_reorder25"))
	checkEstimate(t, &f, "reorder", 0.75, 0.02) // three quarters wait 10 ms
	if d := f.Spec.Reorder.Delay; d < 9900*time.Microsecond || d > 10100*time.Microsecond {
		t.Errorf("held back %v", d)
	}
	if a, b := f.Measured.Reordering.Ratio, f.Modelled.Reordering.Ratio; math.Abs(a-b) > 0.02 {
		t.Errorf("reordered %g, simulated %g", a, b)
	}
}

// simulateCapture returns a capture of n packets over a link with the given settings.
func simulateCapture(t *testing.T, n int, pairs ...string) *capture.Capture {
	t.Helper()
	rows, err := Trace(newSpec(t, pairs...), 3, Traffic{Packets: n, Interval: 10 * time.Millisecond, Size: 100})
	if err != nil {
		t.Fatal(err)
	}
	return &capture.Capture{Packets: rows, HasSent: true, HasDelay: true}
}

// Fit recovers the parameters of modelled links.
func TestFitOwnModels(t *testing.T) {
	n := packets()
	f := mustFit(t, simulateCapture(t, n, "loss", "gilbert-elliott p=1% r=10% h=30% k=99.5%", "duplicate", "3%", "duplicate_copies", "2",
		"latency", "80ms±6ms", "distribution", "normal", "jitter_correlation", "60%"))
	for name, truth := range map[string]float64{"p": 0.01, "r": 0.1, "h": 0.3, "k": 0.995} {
		e := f.get(t, name)
		if e.Low-(e.High-e.Low) > truth || e.High+(e.High-e.Low) < truth || e.High-e.Low > truth {
			t.Errorf("%s: %.5g, interval %.5g to %.5g; true value %g", name, e.Value, e.Low, e.High, truth)
		}
	}
	checkEstimate(t, &f, "jitter correlation", 0.6, 0.03)
	checkEstimate(t, &f, "mean delay", 80, 0.02)
	if f.Spec.Duplicate.Copies != 2 && f.Spec.Duplicate.Copies != 1 || math.Abs(f.Spec.Duplicate.P-0.03) > 0.003 {
		t.Errorf("duplicate %+v", f.Spec.Duplicate)
	}
	f = mustFit(t, simulateCapture(t, n/4, "latency", "20ms", "jitter", "10ms", "distribution", "table", "delay_table", "-1 -0.9 3 3.1 3.2"))
	if f.Spec.Delay.Distribution != lossmodel.Tabled || math.Abs(f.Modelled.Delay.SD.Seconds()/f.Measured.Delay.SD.Seconds()-1) > 0.02 {
		t.Errorf("%v, %v", f.Spec.Values(), f.DelayModels)
	}
	f = mustFit(t, simulateCapture(t, n/4, "latency", "20ms", "jitter", "30ms", "distribution", "exponential", "keep_order", "on"))
	if !f.Spec.Delay.KeepOrder || f.Modelled.Reordering.Reordered > 0 {
		t.Errorf("%v", f.Spec.Values())
	}
}

// Clock offsets and drift do not change the fitted link.
func TestFitUnsynchronisedClocks(t *testing.T) {
	c := simulateCapture(t, testkit.Choose(20_000, 8000), "loss", "2%", "latency", "50ms±9ms", "distribution", "uniform", "duplicate", "1%")
	plain := mustFit(t, c)
	for name, change := range map[string]func(p *capture.Packet){
		"offset": func(p *capture.Packet) { p.Took -= 10 * time.Second },
		"years":  func(p *capture.Packet) { p.Took += 50 * 365 * 24 * time.Hour },
		"drift":  func(p *capture.Packet) { p.Took += p.Sent / 10_000 },
		"both":   func(p *capture.Packet) { p.Took -= p.Sent/5_000 + 7*time.Second },
	} {
		moved := *c
		moved.Packets = slices.Clone(c.Packets)
		for i := range moved.Packets {
			if p := &moved.Packets[i]; !p.Lost {
				change(p)
			}
		}
		f := mustFit(t, &moved)
		if len(f.Notes) == 0 || f.Spec.Delay.Distribution != lossmodel.Uniform ||
			math.Abs(float64(f.Spec.Delay.Jitter-plain.Spec.Delay.Jitter)) > float64(100*time.Microsecond) ||
			f.Spec.Loss != plain.Spec.Loss {
			t.Errorf("%s: %v, notes %q", name, f.Spec.Values(), f.Notes)
		}
	}
}

// Unusual captures give a valid link or an error.
func TestFitUnusualCaptures(t *testing.T) {
	row := func(i int) capture.Packet {
		return capture.Packet{Seq: uint64(i), Sent: time.Duration(i) * time.Millisecond, Took: 20 * time.Millisecond}
	}
	for name, change := range map[string]func(p *capture.Packet){
		"all alike":       func(*capture.Packet) {},
		"all lost":        func(p *capture.Packet) { p.Lost, p.Took = true, 0 },
		"all but one":     func(p *capture.Packet) { p.Lost = p.Seq != 17 },
		"one lost":        func(p *capture.Packet) { p.Lost = p.Seq == 17 },
		"last run lost":   func(p *capture.Packet) { p.Lost = p.Seq > 60 },
		"alternating":     func(p *capture.Packet) { p.Lost = p.Seq%2 == 0 },
		"copies only":     func(p *capture.Packet) { p.Copy = 1 },
		"sent at once":    func(p *capture.Packet) { p.Sent = 0 },
		"sent backwards":  func(p *capture.Packet) { p.Sent = -p.Sent },
		"wild delays":     func(p *capture.Packet) { p.Took = time.Duration(p.Seq*p.Seq*p.Seq%97) * time.Hour },
		"numbers missing": func(p *capture.Packet) { p.Seq *= 3 },
		"one number":      func(p *capture.Packet) { p.Seq = 5 },
	} {
		c := &capture.Capture{HasSent: true, HasDelay: true}
		for i := range 100 {
			p := row(i)
			change(&p)
			c.Packets = append(c.Packets, p)
		}
		f, err := Fit(c)
		if name == "one number" {
			if !errors.Is(err, errTooShort) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || f.Spec.Validate() != nil || !strings.Contains(f.TOML(), "[down]") {
			t.Errorf("%s: %v\n%s", name, err, f.TOML())
		}
		for _, e := range f.Estimates {
			// A constant delay has an empty interval; all other intervals are not empty.
			if !(e.Low <= e.Value && e.Value <= e.High) || e.Low == e.High && e.Name != "mean delay" {
				t.Errorf("%s: %+v", name, e)
			}
		}
		if _, few := f.find("mean delay"); name == "all but one" && few {
			t.Errorf("%s: an interval of the delay of a single packet", name)
		}
	}
}

// No capture makes Fit panic. A fitted link is valid, and intervals contain their estimates.
func FuzzFit(f *testing.F) {
	f.Add([]byte("seq,send_us,recv_us,copy\n0,0.0,lost,\n1,4246.6,4259.2,0\n1,1,2,1\n7,8,9,0\n60,5,5,0\n"))
	f.Add([]byte("lost\n" + strings.Repeat("1\n0\n0\n", 40)))
	f.Add([]byte("seq,send_us,recv_us\n" + strings.Repeat("3,5,99\n80,1,2\n", 3)))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := capture.Read(bytes.NewReader(data))
		if err != nil || len(c.Packets) > 5000 {
			return
		}
		r, err := Fit(c)
		if err != nil {
			if !errors.Is(err, errTooShort) && !errors.Is(err, capture.ErrSequence) {
				t.Fatal(err)
			}
			return
		}
		if err := r.Spec.Validate(); err != nil {
			t.Fatalf("%v\n%s", err, r.TOML())
		}
		for _, e := range r.Estimates {
			if !(e.Low <= e.Value && e.Value <= e.High) || math.IsInf(e.High-e.Low, 0) {
				t.Fatalf("%+v", e)
			}
		}
	})
}

// The standard deviation of a constant delay is a rounding error and is written as 0.
func TestEstimateText(t *testing.T) {
	for _, c := range []struct {
		unit  string
		value float64
		want  string
	}{
		{"ms", 4.6114e-12, "0 ms"}, {"ms", -4.6114e-12, "0 ms"}, {"ms", 0, "0 ms"}, {"ms", 1e-9, "0.000000001 ms"}, {"ms", 12.3456, "12.346 ms"},
		{"", 4.6e-14, "0%"}, {"", 0.0012342, "0.1234%"}, {"", 1, "100%"},
	} {
		e := Estimate{Name: "standard deviation of delay", Unit: c.unit, Value: c.value, Low: c.value, High: c.value}
		if got := e.text(e.Value); got != c.want {
			t.Errorf("%v %q: %q, want %q", c.value, c.unit, got, c.want)
		}
		f := FitResult{Estimates: []Estimate{e}}
		if line := c.want + ", 95% interval " + c.want + " to " + c.want; !strings.Contains(f.TOML(), line) {
			t.Errorf("%v %q: %q is not in\n%s", c.value, c.unit, line, f.TOML())
		}
	}
}
