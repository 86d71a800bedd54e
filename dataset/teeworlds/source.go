// Package teeworlds makes frames of demos of Teeworlds 0.7: at each tick of the demo all items
// of the world, each in a row of its own.
package teeworlds

import (
	"context"
	"fmt"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/dataset/teeworlds/protocol"
)

// Kind is this data for dataset.Open.
var Kind = source.Kind{Name: "teeworlds", Spec: "teeworlds:MATCH.demo", Source: "Teeworlds 0.7", Arg: source.NeedsArgument,
	Summary: "a match of Teeworlds 0.7: every item of every snapshot of its demo",
	Open: func(ctx context.Context, path string, opt source.Options) (source.Source, error) {
		return source.Of(open(ctx, path, opt))
	},
	Paths: source.WholePath}

// ticksPerSecond is the rate of the game, of which demos hold a part.
const ticksPerSecond = 50

// match plays a demo. It implements source.Source, Sized, Seamed, Tracked, Priced and
// Remarked.
//
// Every tick that the demo marks makes a frame, so that frames keep the game's pace: where there
// is no snapshot with it, nothing but the tick changed.
type match struct {
	source.Rounds // of the demo's ticks
	demo          *demo
	layout        *protocol.Layout

	reader  reader
	table   []int32
	changed frame.Rows
	price   source.Price
}

func open(ctx context.Context, path string, opt source.Options) (*match, error) {
	d, err := readDemo(ctx, path)
	if err != nil {
		return nil, err
	}
	return newMatch(d, opt.Loop)
}

func newMatch(d *demo, loop bool) (*match, error) {
	layout, err := protocol.LayoutOf(d.groups.Schema(d.rate()))
	if err != nil {
		return nil, err
	}
	return &match{Rounds: source.Rounds{Total: len(d.ticks), Loop: loop}, demo: d, layout: layout, table: layout.Schema.NewFrame().Table,
		changed: frame.NewRows(layout.Schema.Rows)}, nil
}

// rate returns the number of frames a second, by the most usual step.
func (d *demo) rate() int {
	var steps [ticksPerSecond + 1]int
	for i := range d.ticks[1:] {
		if n := d.ticks[i+1].at - d.ticks[i].at; n <= ticksPerSecond {
			steps[n]++
		}
	}
	usual := 2
	for n, times := range steps {
		if times > steps[usual] {
			usual = n
		}
	}
	return (ticksPerSecond + usual/2) / usual
}

// Remarks reports what the schema has that a server would not know, and where the demo ends early.
func (s *match) Remarks() []string {
	list := []string{fmt.Sprintf("there are as many rows of a type as its items in this match need, %d in all: "+
		"a server would have to provide for more", s.layout.Schema.Rows)}
	if s.demo.err != nil {
		list = append(list, fmt.Sprintf("it ends early, after %d frames: %v", len(s.demo.ticks), s.demo.err))
	}
	return list
}

// Schema describes the frames.
func (s *match) Schema() *frame.Schema { return s.layout.Schema }

// Seam reports whether the last frame is the first of a further round.
func (s *match) Seam() bool { return s.Again() }

// Changed returns the rows in which the last frame may differ from the one before.
func (s *match) Changed() frame.Rows { return s.changed }

// Price returns the bits of the snapshot in the demo: of what changed since the frame before, which
// may be nothing, or of all items. Such keyframes come every five seconds; clients never got them.
func (s *match) Price() source.Price { return s.price }

// Initial fills f with a world without items.
func (s *match) Initial(f *frame.Frame) { f.CopyFrom(s.layout.Schema.NewFrame()) }

// Next fills f with the state at the next tick.
func (s *match) Next(f *frame.Frame) error {
	n, tick, err := s.Advance()
	if err != nil {
		return err
	}
	t := &s.demo.ticks[n]
	s.changed.Clear()
	s.changed.Add(0)
	if t.kind != same {
		if err := s.reader.read(t.kind, t.payload); err != nil {
			panic("teeworlds: a demo in memory changed")
		}
		s.show()
		s.reader.advance()
	}
	s.table[s.layout.Now] = t.at
	s.price = source.Price{Bits: 8 * len(t.payload), Base: min(n, 1), Key: t.kind == whole}
	f.CopyFrom(&frame.Frame{Tick: tick, Table: s.table})
	return nil
}

// show replaces the items of now in the table by those of next. Both are sorted.
func (s *match) show() {
	was := s.reader.now.items
	for _, item := range s.reader.next.items {
		for len(was) > 0 && was[0].Key < item.Key {
			s.put(was[0], false)
			was = was[1:]
		}
		if len(was) == 0 || was[0].Key != item.Key {
			s.put(item, true)
			continue
		}
		before := was[0]
		was = was[1:]
		if len(before.Values) != len(item.Values) {
			s.put(before, false)
		} else if slices.Equal(before.Values, item.Values) {
			continue
		}
		s.put(item, true)
	}
	for _, item := range was {
		s.put(item, false)
	}
}

// put writes an item into its row, or clears that.
func (s *match) put(item protocol.Item, there bool) {
	part, i, ok := s.layout.Find(item.Key, len(item.Values))
	if !ok {
		panic("teeworlds: an item has no row that the first reading of the demo saw")
	}
	row := s.layout.Row(s.table, i)
	if there {
		part.Put(row, item.Values)
	} else {
		clear(row)
	}
	s.changed.Add(i)
}
