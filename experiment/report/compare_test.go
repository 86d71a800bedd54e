package report

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
)

// Runs are compared in pairs with the same seed, each in one pair; without such pairs all runs are compared.
// The interval of two pairs is mean ± 12.7062 (the 97.5 % quantile of Student's t with one degree of freedom)
// times the standard error.
func TestComparePairs(t *testing.T) {
	base := &Report{Runs: []*engine.Result{sentResult(t, 1, 100, 50), sentResult(t, 2, 200, 50), sentResult(t, 9, 5000, 50), sentResult(t, 1, 7000, 50)}}
	next := &Report{Runs: []*engine.Result{sentResult(t, 2, 220, 50), sentResult(t, 1, 120, 50), sentResult(t, 8, 9000, 50)}}
	find := func(c *Comparison, key string) Difference {
		t.Helper()
		i := slices.IndexFunc(c.Differences, func(d Difference) bool { return d.Key == key })
		if i < 0 {
			t.Fatalf("%s is not compared", key)
		}
		return c.Differences[i]
	}
	d := find(Compare(base, next, nil), "sent")
	if d.Pairs != 2 || d.Base != figures.Known(150) || d.New != figures.Known(170) || math.Abs(d.Share.Or(0)-20.0/150) > 1e-9 {
		t.Errorf("%+v", d)
	}
	if math.Abs(d.Lo.Or(0)-20.0/150) > 1e-9 || math.Abs(d.Hi.Or(0)-20.0/150) > 1e-9 {
		t.Errorf("the interval of equal shares is %v to %v", d.Lo, d.Hi)
	}
	if d.Text() != "150 -> 170, +13.33 % (+13.33 to +13.33)" {
		t.Errorf("text %q", d.Text())
	}
	// The shares are 20/150 and (sent - 200)/150. The mark means that an interval of twice the width contains 0.
	for sent, isMarked := range map[int64]bool{221: false, 222: true, 230: false} {
		next.Runs[0].Totals.Sent = sent
		d = find(Compare(base, next, nil), "sent")
		mean, half := float64(sent-200+20)/300, 12.7062*float64(sent-220)/300
		if math.Abs(d.Lo.Or(0)-mean+half) > 1e-4 || math.Abs(d.Hi.Or(0)-mean-half) > 1e-4 {
			t.Errorf("the interval is %v to %v, want %g ± %g", d.Lo, d.Hi, mean, half)
		}
		if !d.Approximate || strings.HasSuffix(d.Text(), "?)") != isMarked {
			t.Errorf("an interval of two pairs: %+v %s", d, d.Text())
		}
	}
	next.Runs[0].Totals.Sent = 260 // the interval would reach from -143 % to 196 %, but a count cannot fall by 143 %
	if d = find(Compare(base, next, nil), "sent"); d.Lo != (figures.Figure{}) || d.Text() != "150 -> 190, +26.67 %" {
		t.Errorf("%+v", d)
	}
	// One pair has no interval; nor have runs without pairs.
	d = find(Compare(&Report{Runs: base.Runs[:1]}, next, nil), "sent")
	if _, known := d.Lo.Value(); known || d.Pairs != 1 || d.New != figures.Known(120) {
		t.Errorf("one pair: %+v", d)
	}
	others := &Report{Runs: []*engine.Result{sentResult(t, 5, 10, 1), sentResult(t, 6, 30, 1)}}
	d = find(Compare(base, others, nil), "sent")
	if _, known := d.Lo.Value(); known || d.Pairs != 0 || d.Base != figures.Known(3075) || d.New != figures.Known(20) {
		t.Errorf("no pair: %+v", d)
	}
}

// A point of a sweep is compared with the point of the same settings. Those of only one report are listed.
func TestComparePoints(t *testing.T) {
	run := func(loss string, seed, sent int) *engine.Result {
		r := sentResult(t, seed, sent, 0)
		r.Set = map[string]string{"down.loss": loss, "seed": string(rune('0' + seed))}
		return r
	}
	base := &Report{Runs: []*engine.Result{run("1%", 1, 10), run("2%", 1, 20), run("1%", 2, 30)}}
	next := &Report{Runs: []*engine.Result{run("3%", 1, 40), run("1%", 1, 50)}}
	limits := []Limit{{"sent", 0.5}}
	c := Compare(base, next, limits)
	if !reflect.DeepEqual(c.OnlyBase, []string{"down.loss=2%"}) || !reflect.DeepEqual(c.OnlyNew, []string{"down.loss=3%"}) {
		t.Errorf("only in one: %q, %q", c.OnlyBase, c.OnlyNew)
	}
	if len(c.Differences) != 1 || c.Differences[0].Base != figures.Known(10) || c.Differences[0].New != figures.Known(50) {
		t.Errorf("%+v", c.Differences)
	}
	if got := c.Differences[0].Set; !reflect.DeepEqual(got, map[string]string{"down.loss": "1%"}) {
		t.Errorf("settings %v", got)
	}
	if len(c.Regressions()) != 1 {
		t.Errorf("%d regressions", len(c.Regressions()))
	}
	var doc map[string]any
	if data, err := json.Marshal(c); err != nil || json.Unmarshal(data, &doc) != nil || doc["regressions"] != 1.0 {
		t.Errorf("%v, %v", doc, err)
	}
	// Two single runs are compared whatever their settings, but not one run with two.
	c = Compare(&Report{Runs: base.Runs[1:2]}, &Report{Runs: next.Runs[:1]}, limits)
	if len(c.Differences) != 1 || len(c.OnlyBase)+len(c.OnlyNew) != 0 {
		t.Errorf("two single runs: %+v", c)
	}
	c = Compare(&Report{Runs: base.Runs[1:2]}, next, limits)
	if len(c.Differences) != 0 || len(c.OnlyBase) != 1 || len(c.OnlyNew) != 2 {
		t.Errorf("one run and two: %+v", c)
	}
	c = Compare(next, &Report{Runs: base.Runs[1:2]}, limits)
	if len(c.Differences) != 0 || len(c.OnlyBase) != 2 || len(c.OnlyNew) != 1 {
		t.Errorf("two runs and one: %+v", c)
	}
}

// A figure is worse if it exceeds the limit in its worse direction, or either way without a better direction,
// or if it is unknown. A share of 0 has no change in percent unless both are 0.
func TestLimits(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		key        string
		base, next float64
		limit      float64
		worse      bool
		text       string
	}{
		{"lost", 50, 51, 0.02, false, "50 -> 51, +2.00 %"},
		{"lost", 50, 51.001, 0.02, true, "50 -> 51.001, +2.00 %"},
		{"lost", 50, 10, 0.02, false, "50 -> 10, -80.00 %"},
		{"lost", 50, 50, 0, false, "50 -> 50, +0.00 %"},
		{"decoded", 50, 90, 0.02, false, "50 -> 90, +80.00 %"},
		{"decoded", 50, 48, 0.02, true, "50 -> 48, -4.00 %"},
		{"sent", 50, 48, 0.02, true, "50 -> 48, -4.00 %"},
		{"sent", 50, 52, 0.02, true, "50 -> 52, +4.00 %"},
		{"sent", -50, -52, 0.02, true, "-50 -> -52, -4.00 %"},
		{"lost", 0, 0, 0, false, "0 -> 0, +0.00 %"},
		{"lost", 0, 1, 0.5, true, "0 -> 1"},
		{"lost", 1, 0, 0.5, false, "1 -> 0, -100.00 %"},
		{"lost", nan, 1, 0.5, true, "- -> 1"},
		{"lost", 1, nan, 0.5, true, "1 -> -"},
		{"lost", 0, nan, 0.5, true, "0 -> -"},
	} {
		d := Difference{Key: c.key}
		d.setMeans([]float64{c.base}, []float64{c.next}, true)
		d.applyLimit(c.limit)
		if d.Worse != c.worse || d.Text() != c.text || *d.Max != c.limit {
			t.Errorf("%s: %q, worse %v, want %q, %v", c.key, d.Text(), d.Worse, c.text, c.worse)
		}
	}
	// Runs of different seeds are no pairs, and an interval with one unknown bound is left out.
	d := Difference{Key: "sent"}
	d.setMeans([]float64{1, 2}, []float64{2, 4}, false)
	if d.Text() != "1.5 -> 3, +100.00 %" {
		t.Errorf("not pairs: %q", d.Text())
	}
	d = Difference{Key: "sent"}
	d.setMeans([]float64{1, nan}, []float64{2, 4}, true)
	if d.Share != (Difference{}.Share) || d.Lo != d.Share || d.Hi != d.Share {
		t.Errorf("one unknown figure: %+v", d)
	}
	d = Difference{Key: "sent", Hi: figures.Known(2)}
	d.setMeans([]float64{1, 2}, []float64{2, 4}, false)
	if d.Text() != "1.5 -> 3, +100.00 %" {
		t.Errorf("one bound: %q", d.Text())
	}
	a, b := []map[string]float64{{"x": 1}}, []map[string]float64{{"a": 2, "x": 3}}
	if got := comparedKeys(a, b, nil); !reflect.DeepEqual(got, []string{"a", "x"}) {
		t.Errorf("keys %q", got)
	}
	if got := comparedKeys(a, b, []Limit{{Key: "y"}}); !reflect.DeepEqual(got, []string{"y"}) {
		t.Errorf("keys with limits %q", got)
	}
	if got := figureColumn(b, "y"); len(got) != 1 || !math.IsNaN(got[0]) {
		t.Errorf("a missing figure is %v", got)
	}
}

// Settings that differ are listed. Those of the data, the duration and the link make runs unlike; another path to the same
// file does not, another file at the same path does.
func TestCompareSettings(t *testing.T) {
	run := func(text string, change func(*engine.Result)) *Report {
		c, err := config.Parse("", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		r := sentResult(t, 1, 1, 1)
		r.Config = c.Values()
		if change != nil {
			change(r)
		}
		return &Report{Runs: []*engine.Result{r}}
	}
	file := func(hash string) func(*engine.Result) {
		return func(r *engine.Result) { r.Files = []engine.DataFile{{SHA256: hash}} }
	}
	at := func(key, value string) func(*engine.Result) {
		var change config.Change
		if err := change.Set(key, value); err != nil {
			t.Fatal(err)
		}
		return func(r *engine.Result) { r.Changes = []config.StampedChange{{T: time.Second, Change: change}} }
	}
	for _, x := range []struct {
		base, next *Report
		want       string // the keys that differ, with ! if they make the runs unlike
	}{
		{run("", nil), run("", nil), ""},
		{run("", nil), run("encoder.name = 'rotor'\nsender.every = 2", nil), "encoder.name sender.every"},
		{run("duration = '4s'", nil), run("duration = '8s'\ndown.loss = '5%'", nil), "!down.loss !duration"},
		{run("duration = '4s'", nil), run("duration = '4s'", func(r *engine.Result) { r.Interrupted, r.DurationNS = true, time.Second }), "!duration"},
		{run("data.source = 'a.bin'", nil), run("data.source = 'b.bin'", nil), "!data.source"},
		{run("data.source = 'a.bin'", file("x")), run("data.source = 'b.bin'", file("x")), "data.source"},
		{run("data.source = 'a.bin'", file("x")), run("data.source = 'a.bin'", file("y")), "!sha256 of files"},
		{run("", nil), run("traffic = '1 cubic'\ndown.rate = '1mbit'", nil), "!down.rate !traffic"},
		{run("", at("down.loss", "30%")), run("", at("down.loss", "30%")), ""},
		{run("", nil), run("", at("down.loss", "30%")), "!link.changes"},
		{run("", at("down.loss", "20%")), run("", at("down.loss", "30%")), "!link.changes"},
		{run("", nil), run("", at("encoder", "rotor")), "changes"},
	} {
		var got []string
		for _, d := range Compare(x.base, x.next, nil).Settings {
			if d.IsUnlike {
				d.Key = "!" + d.Key
			}
			got = append(got, d.Key)
		}
		if strings.Join(got, " ") != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
	sweep := &Report{Runs: []*engine.Result{sentResult(t, 1, 1, 1), sentResult(t, 2, 1, 1)}}
	sweep.Runs[0].Set, sweep.Runs[1].Set = map[string]string{"down.loss": "0%"}, map[string]string{"down.loss": "1%"}
	c := Compare(run("", nil), sweep, nil)
	if len(c.Differences) > 0 || !slices.Equal(c.OnlyBase, []string{"a single run"}) || !slices.Equal(c.OnlyNew, []string{"down.loss=0%", "down.loss=1%"}) {
		t.Errorf("a single run and a sweep: %+v", c)
	}
}
