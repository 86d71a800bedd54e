package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"sync"

	"wirelab/encoders/train"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
)

// teacher records how learning goes, from any goroutine: it keeps the curve, remarks on each
// point, and shows the progress of the current part.
type teacher struct {
	app     *app
	encoder string
	held    bool // whether anything is held out
	line    *progress
	mu      sync.Mutex
	curve   []train.Point
}

func (a *app) teacher(encoder string, held bool) *teacher {
	return &teacher{app: a, encoder: encoder, held: held, line: a.progress(encoder)}
}

func (t *teacher) log() train.Log { return train.Log{Step: t.step, Point: t.point} }

func (t *teacher) step(part string, done, total int64) {
	t.line.startJob(t.encoder + ", " + part)
	t.line.report(float64(done), float64(total))
}

func (t *teacher) point(p train.Point) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.held {
		p.Held = math.NaN() // whatever the trainer put there
	}
	t.curve = append(t.curve, p)
	t.line.pause()
	t.app.remark("%s, %s, pass %d: %s bits learnt, %s held out", t.encoder, p.Part, p.Epoch, bits(finite(p.Train)), bits(finite(p.Held)))
}

// bits shows a loss to a person.
func bits(v *float64) string {
	if v == nil {
		return "-"
	}
	return units.Fixed(*v, 3)
}

// curveFile is the loss curve as a table to plot, beside the files it led to.
func curveFile(encoder string, curve []trainedPoint) train.File {
	t := texttable.New("part", "epoch", "train_bits", "held_bits")
	number := func(v *float64) string {
		if v == nil {
			return ""
		}
		return units.Fixed(*v, 4)
	}
	for _, p := range curve {
		t.Add(p.Part, p.Epoch, number(p.Train), number(p.Held))
	}
	var b bytes.Buffer
	_ = t.WriteCSV(&b) // a buffer accepts everything
	return train.File{Name: encoder + ".curve.csv", Data: b.Bytes()}
}

// writeTrained prints where each part began and ended, and what was written.
func writeTrained(w io.Writer, out *trained) {
	g := texttable.New("encoder", "part", ">passes", ">first", ">learnt", ">held out")
	for _, c := range out.Encoders {
		for i, p := range c.Curve {
			if i+1 < len(c.Curve) && c.Curve[i+1].Part == p.Part {
				continue // not the last of its part
			}
			first := i
			for first > 0 && c.Curve[first-1].Part == p.Part {
				first--
			}
			g.Add(c.Encoder, p.Part, i-first+1, bits(c.Curve[first].Train), bits(p.Train), bits(p.Held))
		}
	}
	g.WriteText(w, 0)
	fmt.Fprintf(w, "\nBits per %s: after the first pass and after the last.\n\n", out.Encoders[0].per) // of one kind of data
	g = texttable.New(">bytes", "file", "sha256")
	for _, c := range out.Encoders {
		for _, f := range c.Files {
			g.Add(f.Bytes, f.Path, f.SHA256[:12])
		}
	}
	g.WriteText(w, 0)
}
