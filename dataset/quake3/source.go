package quake3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"wirelab/dataset/frame"
	"wirelab/dataset/quake3/netcode"
	"wirelab/dataset/source"
	"wirelab/internal/boundedio"
	"wirelab/internal/unpack"
)

// Kind is this data for dataset.Open.
var Kind = source.Kind{Name: "quake3", Spec: "quake3:MATCH.dm_71[,rows=N]", Source: "id Software, 1999; ioquake3", Arg: source.NeedsArgument,
	Summary: "the entities and the player of a demo of Quake III or OpenArena (.dm_66, 67, 68, 71, 73), snapshot by snapshot",
	Open: func(ctx context.Context, arg string, opt source.Options) (source.Source, error) {
		path, rows, err := parseSpec(arg)
		if err != nil {
			return nil, source.BadSpec("quake3:"+arg, err)
		}
		return source.Of(openFile(ctx, path, rows, opt.Loop))
	},
	Paths: source.FirstPath(parseSpec)}

// parseSpec splits "FILE[,rows=N]". rows is 0 if it is not given. FILE may contain commas and "=": the
// text after the last comma is part of FILE if it has no "=", or if ".dm_" follows its first "=".
func parseSpec(arg string) (path string, rows int, err error) {
	comma := strings.LastIndexByte(arg, ',')
	if comma < 0 {
		return arg, 0, nil
	}
	option := arg[comma+1:]
	key, value, ok := strings.Cut(option, "=")
	if !ok || strings.Contains(value, ".dm_") {
		return arg, 0, nil
	}
	rows, err = strconv.Atoi(value)
	if key != "rows" || err != nil || rows < 1 || rows > netcode.MaxEntities {
		return "", 0, fmt.Errorf("%s makes no sense; expected rows=N, with 1 to %d rows for entities", option, netcode.MaxEntities)
	}
	return arg[:comma], rows, nil
}

// match makes a frame of each snapshot. It implements source.Source, Sized, Seamed, Tracked,
// Priced and Remarked.
type match struct {
	source.Notes
	source.Rounds // of the snapshots up to the end, or to the damage
	schema        *frame.Schema
	layout        netcode.Layout
	demo          *demo

	initial []int32
	table   []int32 // the last frame's
	numbers []int16 // of the entities in it
	changed frame.Rows
	price   source.Price
}

// openFile reads a demo, which may be compressed with zstd or gzip, once, and is ready to play it.
// rows is the number of rows for entities; 0 stands for as many as the demo needs, which a server
// would not know. The end of ctx ends the wait for the writer of a pipe.
func openFile(ctx context.Context, path string, rows int, loop bool) (*match, error) {
	file, err := source.OpenFile(ctx, path, "a demo", errFormat)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &source.Error{File: path, Problem: "no such file", Expected: known, Kind: err}
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	protocol, err := protocolOf(path)
	if err != nil {
		return nil, err
	}
	data, more, err := readAll(file, path)
	if err != nil {
		return nil, &source.Error{File: path, Problem: err.Error(), Expected: "a demo, plain, .zst or .gz", Kind: err}
	}
	s, err := newMatch(data, protocol, rows, loop)
	if own, ok := errors.AsType[*source.Error](err); ok {
		own.File = path
	}
	if err != nil {
		return nil, err
	}
	if more {
		s.Remark("only the first %d MB are read", maxBytes>>20)
	}
	return s, nil
}

// others are the protocols of which it is known that their fields are others, and whose they are.
var others = map[int]string{43: "Quake III 1.11", 48: "Quake III 1.27", 90: "Quake Live since 2014", 91: "Quake Live since 2015"}

// known are the protocols that are read.
const known = "a demo whose name ends in .dm_66, .dm_67, .dm_68, .dm_71 or .dm_73"

// protocolOf returns the protocol by the ending of a demo's name, as the game does.
func protocolOf(path string) (int, error) {
	name := strings.TrimSuffix(strings.TrimSuffix(path, ".zst"), ".gz")
	problem := "its name does not say a protocol"
	if number, ok := strings.CutPrefix(filepath.Ext(name), ".dm_"); ok {
		protocol, _ := strconv.Atoi(number)
		switch protocol {
		case 66, 67, 68, 71, netcode.QuakeLive:
			return protocol, nil
		}
		problem = fmt.Sprintf("protocol %.20q is unknown here", number)
		if of := others[protocol]; of != "" {
			problem = fmt.Sprintf("protocol %.20q is that of %s, whose fields are others", number, of)
		}
	}
	return 0, &source.Error{File: path, Problem: problem, Expected: known, Kind: errProtocol}
}

// readAll reads at most maxBytes of a demo, and reports whether it has more.
func readAll(in io.Reader, path string) (data []byte, more bool, err error) {
	u, err := unpack.New(in, path, unpack.Errors{Format: errFormat, Truncated: errCut})
	if err != nil {
		return nil, false, err
	}
	defer u.Close()
	data, err = io.ReadAll(boundedio.NewReader(u, path, maxBytes))
	_, more = errors.AsType[*boundedio.SizeError](err)
	if more || errors.Is(err, errCut) { // if cut, the demo is played up to there
		err = nil
	}
	return data, more, err
}

// newMatch reads all of a demo once, to know how large its frames are and how far it goes.
func newMatch(data []byte, protocol, rows int, loop bool) (*match, error) {
	s := &match{demo: newDemo(data, protocol), Rounds: source.Rounds{Loop: loop}}
	highest, gaps, ended := s.scan()
	if err := s.checkProtocol(protocol); err != nil {
		return nil, err
	}
	if err := s.remarkEnd(ended); err != nil {
		return nil, err
	}
	if rows == 0 {
		rows = highest + 1
		s.Remark("%d rows for entities, since no higher number occurs: a server would not know that; rows=%d has all",
			rows, netcode.MaxEntities)
	} else if rows <= highest {
		return nil, &source.Error{Problem: fmt.Sprintf("entity %d occurs", highest), Expected: fmt.Sprintf("rows=%d or more", highest+1),
			Kind: source.ErrSpec}
	}
	s.layout = netcode.NewLayout(protocol, rows)
	s.schema = s.layout.Schema(rate(gaps))
	s.begin()
	return s, nil
}

// scan reads all snapshots. It returns the highest number of an entity, how often each time
// between two snapshots occurs, and why no more snapshots follow; nil at maxFrames.
func (s *match) scan() (highest int, gaps map[int32]int, ended error) {
	gaps = map[int32]int{}
	for last := int32(0); s.Total < maxFrames; s.Total++ {
		snap, err := s.demo.next()
		if err != nil {
			return highest, gaps, err
		}
		if n := len(snap.numbers); n > 0 {
			highest = max(highest, int(snap.numbers[n-1]))
		}
		if gap := snap.time - last; s.Total > 0 && gap > 0 && (gaps[gap] > 0 || len(gaps) < 1000) {
			gaps[gap]++
		}
		last = snap.time
	}
	s.Remark("only the first %d snapshots are read", maxFrames)
	return highest, gaps, nil
}

// checkProtocol compares the protocol of the name with that of the server. Servers of ioquake3
// speak 68 to old clients and say 71: that makes no difference except for Quake Live.
func (s *match) checkProtocol(name int) error {
	own, err := strconv.Atoi(s.demo.protocol())
	switch {
	case err != nil || own == name:
	case (own == netcode.QuakeLive) != (name == netcode.QuakeLive) || others[own] != "":
		return &source.Error{Problem: fmt.Sprintf("its name says protocol %d, its server %d, whose fields are others", name, own),
			Expected: fmt.Sprintf("a name that ends in .dm_%d", own), Kind: errProtocol}
	default:
		s.Remark("its name says protocol %d, its server %d: it is read as %[1]d", name, own)
	}
	return nil
}

// remarkEnd adds remarks on how the demo ends, and what is left out. Without any snapshot it
// returns an error.
func (s *match) remarkEnd(ended error) error {
	d := s.demo
	if own, ok := errors.AsType[*source.Error](ended); ok {
		own.Problem += fmt.Sprintf(", after %d snapshots", s.Total)
		if s.Total == 0 {
			return own
		}
		s.Remark("damaged: %s: the rest is left out", strings.TrimPrefix(own.Error(), ": "))
	} else if s.Total == 0 {
		return &source.Error{Problem: fmt.Sprintf("holds no snapshot in its %d messages", d.message), Expected: "at least one", Kind: errNothing}
	} else if errors.Is(ended, errCut) {
		s.Remark("the file breaks off after message %d, at byte %d", d.message, d.at)
	}
	if d.orphans > 0 {
		s.Remark("%d snapshots left out: what they refer to is not there", d.orphans)
	}
	if d.states > 1 {
		s.Remark("%d game states: a map begins anew", d.states)
	}
	return nil
}

// rate returns the number of snapshots a second, by the commonest time between two.
func rate(gaps map[int32]int) int {
	usual, most := int32(50), 0
	for gap, n := range gaps {
		if n > most || n == most && gap < usual {
			usual, most = gap, n
		}
	}
	return int(max(1, math.Round(1000/float64(usual))))
}

// begin prepares the state in front of the first frame: no entity is present, and their rows hold
// their baselines.
func (s *match) begin() {
	d := s.demo
	d.restart()
	if _, err := d.next(); err != nil { // which has the baselines
		panic("quake3: a demo in memory changed")
	}
	s.initial = make([]int32, s.schema.Cells())
	for n, row := range d.baselines[:s.layout.Rows] {
		copy(s.initial[n*s.layout.Columns+netcode.Fields:], row)
	}
	d.restart()
	s.table, s.changed = slices.Clone(s.initial), frame.NewRows(s.schema.Rows)
}

// Schema describes the frames.
func (s *match) Schema() *frame.Schema { return s.schema }

// Seam reports whether the frame that Next filled last is the first once more.
func (s *match) Seam() bool { return s.Again() }

// Changed returns the rows in which that frame differs from the one before.
func (s *match) Changed() frame.Rows { return s.changed }

// Price returns what the server spent on that frame.
func (s *match) Price() source.Price { return s.price }

// Initial fills f with the baselines of entities, none of which is present.
func (s *match) Initial(f *frame.Frame) {
	f.CopyFrom(&frame.Frame{Table: s.initial})
}

// Next fills f with the next snapshot.
func (s *match) Next(f *frame.Frame) error {
	_, tick, err := s.Advance()
	if err != nil {
		return err
	}
	if s.Again() {
		s.demo.restart()
	}
	snap, err := s.demo.next()
	if err != nil {
		return err // impossible: all of it was read before
	}
	if tick > 0 {
		s.changed.Clear()
	} else {
		s.vacate()
	}
	s.show(snap)
	s.price = source.Price{Bits: snap.playerBits + snap.entityBits, Base: snap.base}
	f.CopyFrom(&frame.Frame{Tick: tick, Table: s.table})
	return nil
}

// vacate empties the rows of the initial state, which all frames do to rows without an entity.
func (s *match) vacate() {
	for n := range s.layout.Rows {
		row := s.row(n)
		if slices.ContainsFunc(row, func(v int32) bool { return v != 0 }) {
			clear(row)
			s.changed.Add(n)
		}
	}
}

func (s *match) row(n int) []int32 { return s.table[n*s.layout.Columns : (n+1)*s.layout.Columns] }

// show makes the table that of a snapshot, and adds the rows in which it was another to changed.
func (s *match) show(snap *snapshot) {
	size, old := len(s.layout.Entities), s.numbers
	for i, number := range snap.numbers {
		for ; len(old) > 0 && old[0] < number; old = old[1:] {
			s.gone(int(old[0]))
		}
		if len(old) > 0 && old[0] == number {
			old = old[1:]
		}
		row, state := s.row(int(number)), snap.states[i*size:(i+1)*size]
		if fields := row[netcode.Fields : netcode.Fields+size]; row[netcode.Present] == 0 || !slices.Equal(fields, state) {
			row[netcode.Present] = 1
			copy(fields, state)
			s.changed.Add(int(number))
		}
	}
	for _, number := range old {
		s.gone(int(number))
	}
	s.numbers = append(s.numbers[:0], snap.numbers...)
	player := s.row(s.layout.Rows)
	if was := player[s.layout.Player:]; player[s.layout.Time] != snap.time || !slices.Equal(was, snap.player[:]) {
		player[s.layout.Time] = snap.time
		copy(was, snap.player[:])
		s.changed.Add(s.layout.Rows)
	}
}

func (s *match) gone(number int) {
	clear(s.row(number))
	s.changed.Add(number)
}
