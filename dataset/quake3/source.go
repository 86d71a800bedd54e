package quake3

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"wirelab/dataset/frame"
	"wirelab/dataset/quake3/netcode"
	"wirelab/dataset/source"
	"wirelab/internal/boundedio"
	"wirelab/internal/unpack"
	"wirelab/internal/words"
)

// Kind describes demos of Quake III as a kind of data, for dataset.Open.
var Kind = source.Kind{Name: "quake3", Spec: "quake3:MATCH.dm_71[,rows=N]", Source: "id Software, 1999; ioquake3", Arg: source.NeedsArgument,
	Summary: "the entities and the player of a demo of Quake III or OpenArena (.dm_66, 67, 68, 71, 73), snapshot by snapshot",
	Open: func(ctx context.Context, arg string, opt source.Options) (source.Source, error) {
		path, rows, err := parseSpec(arg)
		if err != nil {
			return nil, source.BadSpec("quake3:"+arg, err)
		}
		return source.AsSource(openFile(ctx, path, rows, opt.Loop))
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
		return "", 0, fmt.Errorf("option %q is not valid; expected rows=N, with 1 to %d rows for entities", option, netcode.MaxEntities)
	}
	return arg[:comma], rows, nil
}

// matchSource is the source of the snapshots of one demo. It implements source.Source, Sized, Looping,
// Tracked, Priced and Remarked.
type matchSource struct {
	source.Notes
	source.Rounds // counts the snapshots up to the end, or to the damage
	schema        *frame.Schema
	layout        netcode.Layout
	demo          *demo

	initial []int32      // table of the initial state
	table   []int32      // table of the newest frame
	numbers []int16      // numbers of the entities in the newest frame
	changed frame.Rows   // rows that the newest frame changed
	price   source.Price // size of the newest frame in the server's message
}

// openFile opens a demo, plain or compressed with zstd or gzip. rows is the number of rows for
// entities; 0 means as many as the demo needs, which a real server could not know. If path is a
// pipe, the end of ctx ends the wait for its writer.
func openFile(ctx context.Context, path string, rows int, loop bool) (*matchSource, error) {
	file, err := source.OpenFile(ctx, path, "a demo", errFormat)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &source.Error{File: path, Problem: "no such file", Expected: expectedFile, Kind: err}
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, more, err := readAll(file, path)
	if err != nil {
		return nil, &source.Error{File: path, Problem: err.Error(), Expected: "a demo, plain, .zst or .gz", Kind: err}
	}
	protocol, err := protocolOf(path, data)
	if err != nil {
		return nil, err
	}
	s, err := newSource(data, protocol, rows, loop)
	if located, ok := errors.AsType[*source.Error](err); ok {
		located.File = path
	}
	if err != nil {
		return nil, err
	}
	if more {
		s.Remark("only the first %d MB of the file were read", maxBytes>>20)
	}
	return s, nil
}

// assumedHz is the rate of a demo in which no time elapses: that of most servers.
const assumedHz = 20

// unsupportedProtocols are the versions of the game with protocols that cannot be read since they
// have other fields.
var unsupportedProtocols = map[int]string{43: "Quake III 1.11", 48: "Quake III 1.27", 90: "Quake Live since 2014", 91: "Quake Live since 2015"}

// expectedFile describes the files that can be read, for error messages.
const expectedFile = "a demo whose name ends in .dm_66, .dm_67, .dm_68, .dm_71 or .dm_73"

// protocolOf returns the protocol of a demo. As in the game, the extension of its name shows it; without such an
// extension it is that of the server.
func protocolOf(path string, data []byte) (int, error) {
	number, ok := strings.CutPrefix(extension(path), ".dm_")
	if !ok {
		d := newDemo(data, netcode.QuakeLive)
		_, _ = d.next() // an error is reported when the demo is read; the server's protocol comes before all entities
		number = d.serverProtocol()
	}
	protocol, _ := strconv.Atoi(number)
	switch protocol {
	case 66, 67, 68, 71, netcode.QuakeLive:
		return protocol, nil
	}
	problem := fmt.Sprintf("protocol %.20q is not supported", number)
	if game := unsupportedProtocols[protocol]; game != "" {
		problem = fmt.Sprintf("protocol %.20q of %s is not supported", number, game)
	} else if number == "" {
		problem = "no protocol in the name"
	}
	return 0, &source.Error{File: path, Problem: problem, Expected: expectedFile, Kind: errProtocol}
}

// extension returns the extension of path, without that of a compression.
func extension(path string) string {
	return filepath.Ext(strings.TrimSuffix(strings.TrimSuffix(path, ".zst"), ".gz"))
}

// IsDemo reports whether the file at path, which begins with head, is a demo: by its name, or because its first message is
// a game state.
func IsDemo(path string, head []byte) bool {
	if strings.HasPrefix(extension(path), ".dm_") {
		return true
	}
	if len(head) < 8 {
		return false
	}
	size := binary.LittleEndian.Uint32(head[4:])
	if size > maxMessageBytes {
		return false
	}
	var r netcode.Reader
	r.Reset(head[8:min(len(head), 8+int(size))])
	r.Bits(32) // the number of a command
	hasState := r.Bits(8) == opGameState
	r.Bits(32) // the number of another command
	return hasState && r.Bits(8) == opConfigString && r.Err() == nil
}

// readAll reads at most maxBytes of a demo. more reports whether it is longer.
func readAll(in io.Reader, path string) (data []byte, more bool, err error) {
	u, err := unpack.New(in, path, unpack.Errors{Format: errFormat, Truncated: errTruncated})
	if err != nil {
		return nil, false, err
	}
	defer u.Close()
	data, err = io.ReadAll(boundedio.NewReader(u, path, maxBytes))
	_, more = errors.AsType[*boundedio.SizeError](err)
	if more || errors.Is(err, errTruncated) { // the demo is played up to the end of the data
		err = nil
	}
	return data, more, err
}

// newSource returns the source of a demo. It decodes the whole demo once, to find the number of
// snapshots and of entities. rows is as in openFile.
func newSource(data []byte, protocol, rows int, loop bool) (*matchSource, error) {
	s := &matchSource{demo: newDemo(data, protocol), Rounds: source.Rounds{Loop: loop}}
	highest, pace, ended := s.scan()
	if err := s.checkProtocol(protocol); err != nil {
		return nil, err
	}
	if err := s.remarkEnd(ended); err != nil {
		return nil, err
	}
	if rows == 0 {
		rows = highest + 1
		s.Remark("the table has %s for entities, as many as this match needs; a server does not know this number in advance and would reserve %d (rows=%[2]d)",
			words.Count(rows, "row"), netcode.MaxEntities)
	} else if rows <= highest {
		return nil, &source.Error{Problem: fmt.Sprintf("contains entity %d", highest), Expected: fmt.Sprintf("rows=%d or more", highest+1),
			Kind: source.ErrSpec}
	}
	s.layout = netcode.NewLayout(protocol, rows)
	s.schema = s.layout.Schema(pace.Hz(assumedHz, &s.Notes))
	s.setInitial()
	return s, nil
}

// scan decodes all snapshots, up to maxFrames, and counts them in s.Total. It returns the highest
// number of an entity, the pace of the snapshots, and the error of demo.next that ended the demo, or nil
// at maxFrames.
func (s *matchSource) scan() (highest int, pace source.Pace, ended error) {
	for gameStates := 0; s.Total < maxFrames; s.Total++ {
		snap, err := s.demo.next()
		if err != nil {
			return highest, pace, err
		}
		if n := len(snap.numbers); n > 0 {
			highest = max(highest, int(snap.numbers[n-1]))
		}
		if s.demo.gameStates != gameStates {
			gameStates = s.demo.gameStates
			pace.Break()
		}
		pace.Add(time.Duration(snap.time) * time.Millisecond)
	}
	s.Remark("only the first %d snapshots were read", maxFrames)
	return highest, pace, nil
}

// checkProtocol compares fromName, the protocol in the file's name, with the protocol of the server. It returns
// an error if the two protocols have different fields. Any other difference is harmless: servers of ioquake3
// use 68 with old clients and report 71.
func (s *matchSource) checkProtocol(fromName int) error {
	fromServer, err := strconv.Atoi(s.demo.serverProtocol())
	if err != nil || fromServer == fromName { // the server did not report its protocol, or the two are equal
		return nil
	}
	hasOtherFields := (fromServer == netcode.QuakeLive) != (fromName == netcode.QuakeLive) || unsupportedProtocols[fromServer] != ""
	if hasOtherFields {
		return &source.Error{Problem: fmt.Sprintf("the name has protocol %d, but the server used %d, which has other fields", fromName, fromServer),
			Expected: fmt.Sprintf("a name that ends in .dm_%d", fromServer), Kind: errProtocol}
	}
	s.Remark("the name has protocol %d, the server used %d; the demo is read as protocol %[1]d", fromName, fromServer)
	return nil
}

// remarkEnd adds remarks on an early end of the demo and on snapshots that are left out. ended is the
// error that ended the demo. It returns an error if there is no snapshot at all.
func (s *matchSource) remarkEnd(ended error) error {
	d := s.demo
	if located, ok := errors.AsType[*source.Error](ended); ok {
		located.Problem = fmt.Sprintf("%s, after %d snapshots", located.Problem, s.Total)
		if s.Total == 0 {
			return located
		}
		s.Remark("damaged: %s: the rest is left out", strings.TrimPrefix(located.Error(), ": ")) // the error begins with ": ", because its file is not set yet
	} else if s.Total == 0 {
		return &source.Error{Problem: fmt.Sprintf("contains no snapshot in %d messages", d.messages), Expected: "at least one", Kind: errNoSnapshots}
	} else if errors.Is(ended, errTruncated) {
		s.Remark("the file ends early, after message %d at byte %d", d.messages, d.nextOffset)
	}
	if d.orphans > 0 {
		s.Remark("%d snapshots left out: their baseline is missing", d.orphans)
	}
	if d.gameStates > 1 {
		s.Remark("%d game states: the map changes or restarts", d.gameStates)
	}
	return nil
}

// setInitial sets the initial state: no entity is present, and the rows contain the baselines of
// entities.
func (s *matchSource) setInitial() {
	d := s.demo
	d.restart()
	if _, err := d.next(); err != nil { // reads the game state with the baselines
		panic("quake3: internal error: a demo that was decoded before cannot be decoded again") // scan has decoded it without an error
	}
	s.initial = make([]int32, s.schema.Cells())
	for n, row := range d.baselines[:s.layout.Rows] {
		copy(s.initial[n*s.layout.Columns+netcode.FirstFieldColumn:], row)
	}
	d.restart()
	s.table, s.changed = slices.Clone(s.initial), frame.NewRows(s.schema.Rows)
}

// Schema describes the frames.
func (s *matchSource) Schema() *frame.Schema { return s.schema }

// AtLoopPoint reports whether the newest frame is at the loop point: the first of a further round.
func (s *matchSource) AtLoopPoint() bool { return s.StartsRound() }

// Changed returns the rows in which the newest frame differs from the frame before.
func (s *matchSource) Changed() frame.Rows { return s.changed }

// Price returns the size of the newest frame in the server's message.
func (s *matchSource) Price() source.Price { return s.price }

// Initial fills f with the baselines of entities. No entity is present.
func (s *matchSource) Initial(f *frame.Frame) {
	f.CopyFrom(&frame.Frame{Table: s.initial})
}

// Next fills f with the next snapshot, and updates the changed rows and the price. At the end of a demo that
// does not loop it returns io.EOF.
func (s *matchSource) Next(f *frame.Frame) error {
	_, tick, err := s.Advance()
	if err != nil {
		return err
	}
	if s.StartsRound() {
		s.demo.restart()
	}
	snap, err := s.demo.next()
	if err != nil {
		return err // an error is impossible: newSource has read all snapshots
	}
	if tick > 0 {
		s.changed.Clear()
	} else { // the table still has the initial state
		s.clearInitial()
	}
	s.updateTable(snap)
	s.price = source.Price{Bits: snap.playerBits + snap.entityBits, Base: snap.baseAge}
	f.CopyFrom(&frame.Frame{Tick: tick, Table: s.table})
	return nil
}

// clearInitial clears the baselines from the table for the first frame, since rows without an
// entity are 0 in all frames.
func (s *matchSource) clearInitial() {
	for n := range s.layout.Rows {
		row := s.row(n)
		if slices.ContainsFunc(row, func(v int32) bool { return v != 0 }) {
			clear(row)
			s.changed.Add(n)
		}
	}
}

// row returns row n of the table.
func (s *matchSource) row(n int) []int32 { return s.table[n*s.layout.Columns : (n+1)*s.layout.Columns] }

// updateTable updates the table to a snapshot and adds the rows that differ to s.changed.
func (s *matchSource) updateTable(snap *snapshot) {
	size, old := len(s.layout.Entities), s.numbers
	for i, number := range snap.numbers {
		for ; len(old) > 0 && old[0] < number; old = old[1:] {
			s.removeEntity(int(old[0]))
		}
		if len(old) > 0 && old[0] == number {
			old = old[1:]
		}
		row, state := s.row(int(number)), snap.states[i*size:(i+1)*size]
		if fields := row[netcode.FirstFieldColumn : netcode.FirstFieldColumn+size]; row[netcode.PresentColumn] == 0 || !slices.Equal(fields, state) {
			row[netcode.PresentColumn] = 1
			copy(fields, state)
			s.changed.Add(int(number))
		}
	}
	for _, number := range old {
		s.removeEntity(int(number))
	}
	s.numbers = append(s.numbers[:0], snap.numbers...)
	player := s.row(s.layout.Rows)
	if values := player[s.layout.Player:]; player[s.layout.Time] != snap.time || !slices.Equal(values, snap.player[:]) {
		player[s.layout.Time] = snap.time
		copy(values, snap.player[:])
		s.changed.Add(s.layout.Rows)
	}
}

// removeEntity clears the row of an entity that is no longer present.
func (s *matchSource) removeEntity(number int) {
	clear(s.row(number))
	s.changed.Add(number)
}
