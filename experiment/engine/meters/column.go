package meters

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"wirelab/experiment/figures"
	"wirelab/internal/escape"
	"wirelab/internal/units"
	"wirelab/lossmodel"
)

// column is a field of Sample that can be joined. It is a column of samples.csv if it has a name.
type column struct {
	name string // the tag "csv" of the field or, of the fields of figures.Counts, the tag "json"
	rule string // how two values are joined: "larger", "smaller", "newer", or "" or "sum" for the sum
	path []int  // indices of fields and, at the end, of an element of an array
}

// columns returns the columns of a sample: all fields with a tag, also those of figures.Counts.
var columns = sync.OnceValue(func() []column { return columnsOf(reflect.TypeFor[Sample](), nil) })

// columnsOf returns the columns of a struct, which has the given path in Sample.
func columnsOf(t reflect.Type, parent []int) (list []column) {
	for i := range t.NumField() {
		field := t.Field(i)
		path := append(slices.Clip(parent), i)
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		c := column{cmp.Or(field.Tag.Get("csv"), key), field.Tag.Get("join"), path}
		switch {
		case field.Type.Kind() == reflect.Struct:
			list = append(list, columnsOf(field.Type, path)...)
		case c.name == "-" || c.name == "" && c.rule == "": // not a count
		case field.Type.Kind() == reflect.Array: // of lost packets by cause
			for cause := lossmodel.None + 1; cause < lossmodel.NumCauses; cause++ {
				list = append(list, column{c.name + cause.String(), c.rule, append(slices.Clip(path), int(cause))})
			}
		default:
			list = append(list, c)
		}
	}
	return list
}

// of returns the field of a sample.
func (c *column) of(sample reflect.Value) reflect.Value {
	v := sample
	for _, i := range c.path {
		if v.Kind() == reflect.Array {
			return v.Index(i)
		}
		v = v.Field(i)
	}
	return v
}

// join adds the later value x to the field v.
func (c *column) join(v, x reflect.Value) {
	switch {
	case c.rule == "newer":
		v.Set(x)
	case v.CanFloat():
		v.SetFloat(max(v.Float(), x.Float())) // all of them are maxima
	case c.rule == "larger":
		v.SetInt(max(v.Int(), x.Int()))
	case c.rule == "smaller":
		v.SetInt(min(v.Int(), x.Int()))
	case x.Int() != 0:
		v.SetInt(v.Int() + x.Int())
	}
}

// Ratio is a figure of a sample as numerator and denominator, so that the figure of several samples is
// the ratio of their sums.
type Ratio func(s *Sample) (num, den float64)

// Of returns the figure of all samples of list; unknown without data.
func (r Ratio) Of(list []Sample) figures.Figure {
	sumNum := 0.0
	sumDen := 0.0
	for i := range list {
		num, den := r(&list[i])
		sumNum += num
		sumDen += den
	}
	return figures.RatioFigure(sumNum, sumDen)
}

// PayloadKbps is the payload per second. It and the functions below are the figures of charts and of
// samples.csv.
func PayloadKbps(s *Sample) (num, den float64) {
	return float64(s.PayloadBits) / 1000, s.Width.Seconds()
}

// WireKbps is what is on the wire per second.
func WireKbps(s *Sample) (num, den float64) { return float64(s.WireBits) / 1000, s.Width.Seconds() }

// FeedbackKbps is what is on the uplink per second.
func FeedbackKbps(s *Sample) (num, den float64) {
	return float64(s.FeedbackBits) / 1000, s.Width.Seconds()
}

// BitsPerItem is the payload per item of the frames sent.
func BitsPerItem(s *Sample) (num, den float64) { return float64(s.PayloadBits), float64(s.Items) }

// BitsPerChanged is the payload per row that differed from its baseline.
func BitsPerChanged(s *Sample) (num, den float64) {
	return float64(s.PayloadBits), float64(s.Changed)
}

// BaselineAge is the mean age of baselines in ticks.
func BaselineAge(s *Sample) (num, den float64) {
	return float64(s.BaselineAge), float64(s.Referenced)
}

// DisplayAgeMS is the mean age of the displayed state in milliseconds.
func DisplayAgeMS(s *Sample) (num, den float64) { return units.Milliseconds(s.Age), float64(s.Aged) }

// derived are columns of samples.csv for people, made from the others.
var derived = []struct {
	name string
	of   Ratio
}{{"payload_kbps", PayloadKbps}, {"wire_kbps", WireKbps}, {"feedback_kbps", FeedbackKbps}, {"bits_per_item", BitsPerItem},
	{"bits_per_changed", BitsPerChanged}, {"baseline_age_ticks", BaselineAge}, {"age_ms", DisplayAgeMS}}

// Heads returns the names of the columns of samples.csv.
func Heads() []string {
	heads := []string{"t_s", "encoder"}
	for _, d := range derived {
		heads = append(heads, d.name)
	}
	heads = append(heads, "payload_kbps_2s") // the mean of the two seconds that end with the sample, as charts show it
	for _, c := range columns() {
		if c.name != "" {
			heads = append(heads, c.name)
		}
	}
	return heads
}

// Row returns the row of samples.csv for the last of recent, which are the samples of two seconds.
func Row(recent []Sample) []string {
	s := &recent[len(recent)-1]
	row := []string{units.Fixed(s.T.Seconds(), 3), escape.CSV(s.Encoder)}
	for _, d := range derived {
		row = append(row, ratioCell(d.of, recent[len(recent)-1:]))
	}
	row = append(row, ratioCell(PayloadKbps, recent))
	v := reflect.ValueOf(s).Elem()
	for _, c := range columns() {
		if c.name == "" {
			continue
		}
		if field := c.of(v); field.CanInt() {
			row = append(row, strconv.FormatInt(field.Int(), 10))
		} else {
			row = append(row, units.General(field.Float(), -1))
		}
	}
	return row
}

// ratioCell returns the figure of all samples of list; "" without data.
func ratioCell(of Ratio, list []Sample) string {
	return of.Of(list).FormatWith(func(v float64) string { return units.Fixed(v, 3) }, "")
}

// ReadSample returns the sample of a row of samples.csv, whose cells text returns by the names of their
// columns. Cells that are no finite numbers, or so large that sums could overflow, count as 0.
func ReadSample(text func(name string) string) Sample {
	number := func(name string) float64 {
		n, err := strconv.ParseFloat(text(name), 64)
		if err != nil || n != n || math.Abs(n) > 1e12 {
			return 0
		}
		return n
	}
	s := Sample{Encoder: text("encoder"), T: time.Duration(math.Round(min(max(number("t_s"), 0), 1e9)*1000)) * time.Millisecond}
	v := reflect.ValueOf(&s).Elem()
	for _, c := range columns() {
		switch field := c.of(v); {
		case c.name == "":
		case field.CanInt():
			field.SetInt(int64(number(c.name)))
		default:
			field.SetFloat(number(c.name))
		}
	}
	s.close()
	return s
}
