package main

import (
	"fmt"
	"io"
	"math"
	"sync"

	"wirelab/encoders/train"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
)

// trainLog records the progress of training one encoder. It collects the loss curve, prints each
// point of it, and shows the progress of the current part. Its methods may be called from any
// goroutine.
type trainLog struct {
	app     *app
	encoder string
	hasHeld bool // whether there is a held-out recording
	line    *progress
	mu      sync.Mutex // guards curve
	curve   []train.Point
}

// newTrainLog starts the log of an encoder. hasHeld is whether a held-out recording is measured.
func (a *app) newTrainLog(encoder string, hasHeld bool) *trainLog {
	return &trainLog{app: a, encoder: encoder, hasHeld: hasHeld, line: a.progress(encoder)}
}

// callbacks returns the functions by which a trainer reports its progress and its loss.
func (t *trainLog) callbacks() train.Log { return train.Log{Step: t.step, Point: t.point} }

// step shows that done of total steps are complete. part names a part of the training, such as one
// of several models of the encoder.
func (t *trainLog) step(part string, done, total int64) {
	t.line.startJob(t.encoder + ", " + part)
	t.line.report(float64(done), float64(total))
}

// point adds a point to the curve and prints it.
func (t *trainLog) point(p train.Point) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.hasHeld {
		p.Held = math.NaN() // without a held-out recording, trainers may leave any value here
	}
	t.curve = append(t.curve, p)
	t.line.pause()
	t.app.remark("%s, %s, pass %d: training %s bits, held out %s bits", t.encoder, p.Part, p.Epoch, formatBits(finiteOrNil(p.Train)), formatBits(finiteOrNil(p.Held)))
}

// formatBits formats a loss in bits; nil, which means not measured, gives "-".
func formatBits(v *float64) string {
	if v == nil {
		return "-"
	}
	return units.Fixed(*v, 3)
}

// writeTrainResult writes the loss of each part after its first and last pass, and the written
// files.
func writeTrainResult(w io.Writer, out *trainResult) {
	g := texttable.New("encoder", "part", ">passes", ">first", ">last", ">held out")
	for _, e := range out.Encoders {
		for i, p := range e.Curve {
			if i+1 < len(e.Curve) && e.Curve[i+1].Part == p.Part {
				continue // this is not the last point of its part
			}
			first := i // index of the first point of the part
			for first > 0 && e.Curve[first-1].Part == p.Part {
				first--
			}
			g.Add(e.Encoder, p.Part, i-first+1, formatBits(e.Curve[first].Train), formatBits(p.Train), formatBits(p.Held))
		}
	}
	g.WriteText(w, anyWidth)
	// The unit is the same for all encoders, since they were trained on the same data.
	fmt.Fprintf(w, "\nBits per %s: after the first pass, and after the last on training and held-out data.\n\n", out.Encoders[0].unit)
	g = texttable.New(">bytes", "file", "sha256")
	for _, c := range out.Encoders {
		for _, f := range c.Files {
			g.Add(f.Bytes, f.Path, f.SHA256[:12])
		}
	}
	g.WriteText(w, anyWidth)
}
