package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// writeLikeness prints the table for people: a row per statistic, a column per
// source of snapshots.
func writeLikeness(w io.Writer, list []likeness) {
	heads := []string{""}
	for _, l := range list {
		heads = append(heads, ">"+strings.TrimSuffix(filepath.Base(l.Spec), ".bin.zst"))
	}
	g := newGrid(heads...)
	row := func(name string, cell func(l *likeness) string) {
		cells := []any{name}
		for i := range list {
			cells = append(cells, cell(&list[i]))
		}
		g.row(cells...)
	}
	writeShares(row)
	for i := range list[0].Deltas {
		row("difference in "+list[0].Deltas[i].Field+": p50 p90 p99", func(l *likeness) string {
			q := l.Deltas[i].Quantiles
			return fmt.Sprintf("%d %d %d", q.P50, q.P90, q.P99)
		})
	}
	row("a cube changes for, frames: mean p50 p90", func(l *likeness) string {
		return fmt.Sprintf("%.1f %d %d", l.RunFrames.Mean, l.RunFrames.P50, l.RunFrames.P90)
	})
	row("cubes changed in a row: mean p50 p90", func(l *likeness) string {
		return fmt.Sprintf("%.1f %d %d", l.RunCubes.Mean, l.RunCubes.P50, l.RunCubes.P90)
	})
	for i, e := range list[0].Encoders {
		row("bits per changed cube, "+e.Encoder, func(l *likeness) string {
			return fmt.Sprintf("%.1f", l.Encoders[i].BitsPerChangedCube)
		})
		row("bytes per packet, "+e.Encoder, func(l *likeness) string {
			return fmt.Sprintf("%.1f", l.Encoders[i].BytesPerPacket)
		})
	}
	g.write(w, 0)
}

// writeShares prints what is counted in cubes and in shares of them.
func writeShares(row func(name string, cell func(l *likeness) string)) {
	row("frames compared", func(l *likeness) string { return fmt.Sprint(l.Frames) })
	row("cubes changed per frame", func(l *likeness) string { return fmt.Sprintf("%.1f", l.Changed.Mean) })
	row("  p5 p50 p95", func(l *likeness) string {
		return fmt.Sprintf("%d %d %d", l.Changed.P5, l.Changed.P50, l.Changed.P95)
	})
	row("  per active frame", func(l *likeness) string { return fmt.Sprintf("%.1f", l.Changed.ActiveMean) })
	for _, r := range []struct {
		name string
		of   func(l *likeness) float64
	}{
		{"active frames", func(l *likeness) float64 { return l.Changed.ActiveShare }},
		{"unchanged cubes", func(l *likeness) float64 { return l.Unchanged.Cube }},
		{"unchanged positions", func(l *likeness) float64 { return l.Unchanged.Position }},
		{"unchanged orientations", func(l *likeness) float64 { return l.Unchanged.Orientation }},
		{"unchanged interacting", func(l *likeness) float64 { return l.Unchanged.Interacting }},
		{"interacting cubes", func(l *likeness) float64 { return l.Interacting }},
		{"of changed: only turned", func(l *likeness) float64 { return l.OnlyTurned }},
		{"of changed: only moved", func(l *likeness) float64 { return l.OnlyMoved }},
		{"of changed: only the flag", func(l *likeness) float64 { return l.OnlyFlagged }},
		{"of turned: same largest", func(l *likeness) float64 { return l.SameLargest }},
	} {
		row(r.name, func(l *likeness) string { return fmt.Sprintf("%.2f %%", 100*r.of(l)) })
	}
}
