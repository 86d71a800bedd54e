package table

import (
	"math"
	"strconv"
	"strings"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/internal/quantile"
)

// roundingErrors is the distribution of the rounding errors of one field. The zero value is empty.
type roundingErrors struct {
	n        int64
	last     float64 // the number in the file minus the stored one, of the newest value
	sum, max float64
	buckets  []int64 // by quantile.Bucket of the error in bucketUnits of the field
}

// bucketBits is the precision of the buckets: a quantile is exact to 1/2^(bucketBits+1) of its value, which is 0.8 %.
const bucketBits = 6

// bucketUnit returns the unit of the buckets for errors of f, which is far below the errors of interest.
func bucketUnit(f *frame.Field) float64 {
	if f.Kind == frame.Float32 {
		return 0x1p-50 // a float32 above 1e-7 has larger errors
	}
	return f.Scale * 0x1p-24
}

// add counts the error of a value of f: the number in the file was logged, and the frame has stored. A nil r counts
// nothing. Differences as small as those of float64 itself are none: 3 steps of 0.1 are the text 0.3.
func (r *roundingErrors) add(f *frame.Field, logged, stored float64) {
	if r == nil {
		return
	}
	r.last = logged - stored
	if math.Abs(r.last) <= math.Abs(logged)*0x1p-50 {
		r.last = 0
	}
	r.count(f, math.Abs(r.last))
}

// count counts the error e of a value of f.
func (r *roundingErrors) count(f *frame.Field, e float64) {
	const maxBucketed = 1 << 62
	i := quantile.Bucket(uint64(min(e/bucketUnit(f), maxBucketed)), bucketBits)
	if missing := i + 1 - len(r.buckets); missing > 0 {
		r.buckets = append(r.buckets, make([]int64, missing)...)
	}
	r.buckets[i]++
	r.n++
	r.sum += e
	r.max = max(r.max, e)
}

// setFigures sets the maximum, the mean and the 99th percentile of the errors of f in p, rounded to nine digits: further ones
// are rounding errors of float64. Without values they stay unknown.
func (r *roundingErrors) setFigures(p *source.Precision, f *frame.Field) {
	if r.n == 0 {
		return
	}
	low, width := quantile.Bounds(quantile.Weighted(r.buckets, r.n, 0.99), bucketBits)
	p99 := min((float64(low)+float64(width/2))*bucketUnit(f), r.max)
	p.Max, p.Mean, p.P99 = new(roundDigits(r.max)), new(roundDigits(r.sum/float64(r.n))), new(roundDigits(p99))
}

// roundDigits rounds v to nine significant digits.
func roundDigits(v float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 9, 64), 64) // the text of a number is one
	return rounded
}

// Packed reports whether the records are packed integers, whose values were rounded before.
func (s *Source) Packed() bool {
	_, packed := s.records.(*packedFrames)
	return packed
}

// Precision implements source.Rounded. Errors of packed records are unknown where a step is not one unit: the game
// rounded the values when it wrote them. After the fields follow the distances of Layout.Axes, whose fields have
// the names of their axes.
func (s *Source) Precision() []source.Precision {
	list := make([]source.Precision, len(s.layout.Schema.Fields))
	packed := s.Packed()
	for i := range list {
		f := &s.layout.Schema.Fields[i]
		p := &list[i]
		p.Field, p.Unit = f.Name, f.Unit
		scaled := f.Kind == frame.Quantity || f.Kind == frame.Angle
		if scaled {
			p.Scale = f.Step()
		}
		whole := !scaled && f.Kind != frame.Float32 || packed && (!scaled || p.Scale == 1)
		switch {
		case whole:
			p.Max, p.Mean, p.P99 = new(float64), new(float64), new(float64)
		case !packed:
			s.rounding[i].setFigures(p, f)
		}
	}
	for k, axes := range s.layout.Axes {
		p := list[axes[0]]
		p.Field = strings.Join(s.layout.Schema.Names(axes), ", ")
		s.rounding[len(s.layout.Schema.Fields)+k].setFigures(&p, &s.layout.Schema.Fields[axes[0]])
		list = append(list, p)
	}
	return list
}
