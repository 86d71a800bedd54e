// Package teeworlds reads demos (recorded matches) of Teeworlds 0.7 as a source of frames. A frame
// holds all items of the world at one tick, each in its own row of the table.
//
// The file format is version 4 of the game's src/engine/shared/demo.cpp; snapshots, their deltas
// and the Huffman code are those of the network protocol, see package protocol.
package teeworlds

import (
	"context"
	"slices"
	"time"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/dataset/teeworlds/protocol"
)

// Kind describes demos of Teeworlds as a kind of data, for dataset.Open.
var Kind = source.Kind{Name: "teeworlds", Spec: "teeworlds:MATCH.demo", Source: "Teeworlds 0.7", Arg: source.NeedsArgument,
	Summary: "a match of Teeworlds 0.7: every item of every snapshot of its demo",
	Open: func(ctx context.Context, path string, opt source.Options) (source.Source, error) {
		return source.AsSource(open(ctx, path, opt))
	},
	Paths: source.WholePath}

// ticksPerSecond is the tick rate of the game. Demos usually record every second tick, which is assumed
// of a demo with a single tick.
const (
	ticksPerSecond = 50
	assumedHz      = ticksPerSecond / 2
)

// matchSource is the source of the frames of one demo. It implements source.Source, Sized, Looping,
// Tracked, Priced and Remarked.
//
// Every tick marker of the demo yields a frame, so that frames keep the game's pace. A tick without
// a snapshot differs from the tick before only in its number.
type matchSource struct {
	source.Notes
	source.Rounds // counts the ticks of the demo
	demo          *demo
	layout        *protocol.Layout

	reader  snapshotReader
	table   []int32      // table of the newest frame
	changed frame.Rows   // rows that the newest frame may have changed
	price   source.Price // size of the newest frame's snapshot in the demo
}

// open reads the whole demo at path into memory.
func open(ctx context.Context, path string, opt source.Options) (*matchSource, error) {
	d, err := readDemo(ctx, path)
	if err != nil {
		return nil, err
	}
	return newSource(d, opt.Loop)
}

// newSource returns a source that plays d once, or again and again if loop is set. Its remarks are that the size of
// the table is taken from the match itself, which a real server could not do, the pace, and where a damaged demo ends.
func newSource(d *demo, loop bool) (*matchSource, error) {
	s := &matchSource{Rounds: source.Rounds{Total: len(d.ticks), Loop: loop}, demo: d}
	var pace source.Pace
	for i := range d.ticks {
		pace.Add(time.Duration(d.ticks[i].number) * time.Second / ticksPerSecond)
	}
	var err error
	s.layout, err = protocol.NewLayout(d.groups.Schema(pace.Hz(assumedHz, &s.Notes)))
	if err != nil {
		return nil, err
	}
	s.table, s.changed = s.layout.Schema.NewFrame().Table, frame.NewRows(s.layout.Schema.Rows)
	s.Remark("the table has %d rows, as many as the items of this match need; "+
		"a server does not know this number in advance and would reserve more", s.layout.Schema.Rows)
	if d.err != nil {
		s.Remark("the demo ends early, after %d frames: %v", len(d.ticks), d.err)
	}
	return s, nil
}

// Schema describes the frames.
func (s *matchSource) Schema() *frame.Schema { return s.layout.Schema }

// AtLoopPoint reports whether the newest frame is at the loop point: the first of a further round.
func (s *matchSource) AtLoopPoint() bool { return s.StartsRound() }

// Changed returns the rows in which the newest frame may differ from the frame before.
func (s *matchSource) Changed() frame.Rows { return s.changed }

// Price returns the size of the snapshot in the demo. It is a delta to the frame before, or empty
// if nothing changed, or a keyframe with all items. The recorder writes a keyframe every five
// seconds; the server never sent those to clients.
func (s *matchSource) Price() source.Price { return s.price }

// Initial fills f with a world without items.
func (s *matchSource) Initial(f *frame.Frame) { f.CopyFrom(s.layout.Schema.NewFrame()) }

// Next fills f with the state at the next tick, and updates the changed rows and the price. A tick without a
// snapshot keeps all items. At the end of a demo that does not loop it returns io.EOF.
func (s *matchSource) Next(f *frame.Frame) error {
	n, tick, err := s.Advance()
	if err != nil {
		return err
	}
	t := &s.demo.ticks[n]
	s.changed.Clear()
	s.changed.Add(0) // row 0 holds the tick
	if t.kind != kindTick {
		if err := s.reader.read(t.kind, t.payload); err != nil {
			panic("teeworlds: internal error: a demo that was decoded before cannot be decoded again") // readChunks has decoded it without an error
		}
		s.updateTable()
		s.reader.advance()
	}
	s.table[s.layout.TickCell] = t.number
	s.price = source.Price{Bits: 8 * len(t.payload), Base: min(n, 1), Key: t.kind == kindFull} // the first frame has no baseline
	f.CopyFrom(&frame.Frame{Tick: tick, Table: s.table})
	return nil
}

// updateTable replaces the items of the reader's current snapshot in the table by those of its next
// snapshot, and adds the rows concerned to s.changed. It merges the two lists, which are sorted by
// key.
func (s *matchSource) updateTable() {
	current := s.reader.current.items
	for _, item := range s.reader.next.items {
		for len(current) > 0 && current[0].Key < item.Key {
			s.clearItem(current[0])
			current = current[1:]
		}
		if len(current) == 0 || current[0].Key != item.Key {
			s.setItem(item)
			continue
		}
		before := current[0]
		current = current[1:]
		if len(before.Values) != len(item.Values) { // with another number of values the item moves to another row
			s.clearItem(before)
		} else if slices.Equal(before.Values, item.Values) {
			continue
		}
		s.setItem(item)
	}
	for _, item := range current {
		s.clearItem(item)
	}
}

// setItem writes an item into its row and marks the row as present.
func (s *matchSource) setItem(item protocol.Item) {
	part, row := s.findRow(item)
	part.SetItem(row, item.Values)
}

// clearItem clears the row of an item that is no longer present.
func (s *matchSource) clearItem(item protocol.Item) {
	_, row := s.findRow(item)
	clear(row)
}

// findRow returns the part and the row of the table that belong to an item, and adds the row to
// s.changed. The layout has a row for every item, because it was made from all snapshots of the demo.
func (s *matchSource) findRow(item protocol.Item) (*protocol.Part, []int32) {
	part, i, ok := s.layout.Find(item.Key, len(item.Values))
	if !ok {
		panic("teeworlds: the layout has no row for an item of the demo")
	}
	s.changed.Add(i)
	return part, s.layout.Row(s.table, i)
}
