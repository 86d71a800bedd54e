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
	"wirelab/internal/unpack"
)

// Kind is this data for dataset.Open.
var Kind = source.Kind{Name: "quake3", Spec: "quake3:MATCH.dm_71[,rows=N]", Source: "id Software, 1999; ioquake3", Arg: source.NeedsArgument,
	Summary: "the entities and the player of a demo of Quake III or OpenArena (.dm_66, 67, 68, 71, 73), snapshot by snapshot",
	Open: func(arg string, opt source.Options) (source.Source, error) {
		path, rows, err := ParseSpec(arg)
		if err != nil {
			return nil, fmt.Errorf("data %q: %w: %w", "quake3:"+arg, source.ErrSpec, err)
		}
		return source.Of(Open(opt.Context, path, rows, opt.Loop))
	}}

// ParseSpec splits "FILE,rows=N". rows is 0 if that is not there. Names of files may hold commas.
func ParseSpec(arg string) (path string, rows int, err error) {
	at := strings.LastIndexByte(arg, ',')
	key, text, ok := strings.Cut(arg[at+1:], "=")
	if at < 0 || !ok || strings.Contains(text, ".dm_") {
		return arg, 0, nil
	}
	if rows, err = strconv.Atoi(text); key != "rows" || err != nil || rows < 1 || rows > netcode.MaxEntities {
		return "", 0, fmt.Errorf("%s makes no sense; expected rows=N, with 1 to %d rows for entities", arg[at+1:], netcode.MaxEntities)
	}
	return arg[:at], rows, nil
}

// Source makes a frame of each snapshot. It implements dataset.Source, Sized, Seamed, Tracked,
// Priced and Remarked.
type Source struct {
	schema  *frame.Schema
	layout  netcode.Layout
	demo    *demo
	remarks []string
	frames  int // up to the end, or to what is wrong
	loop    bool

	initial []int32
	table   []int32 // the last frame's
	numbers []int16 // of the entities in it
	changed frame.Rows
	price   source.Price
	made    int // frames of this round
	tick    uint32
	seam    bool
}

// Open reads a demo, which may be compressed with zstd or gzip, once, and is ready to play it.
// There are as many rows for entities as rows says; 0 stands for as many as the demo needs, which
// is more than a server would know. ctx ends the wait for whoever writes into a pipe; nil: nothing
// does.
func Open(ctx context.Context, path string, rows int, loop bool) (*Source, error) {
	file, err := source.OpenFile(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{File: path, Problem: "no such file", Expected: known, Kind: err}
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, &Error{File: path, Problem: "is a folder", Expected: "a demo", Kind: ErrFormat}
	}
	protocol, err := protocolOf(path)
	if err != nil {
		return nil, err
	}
	data, cut, err := readAll(file, path)
	if err != nil {
		return nil, &Error{File: path, Problem: err.Error(), Expected: "a demo, plain, .zst or .gz", Kind: err}
	}
	s, err := newSource(data, protocol, rows, loop)
	if own := (*Error)(nil); errors.As(err, &own) {
		own.File = path
	}
	if err != nil {
		return nil, err
	}
	if cut != "" {
		s.remarks = append(s.remarks, cut)
	}
	return s, nil
}

// others are the protocols of which it is known that their fields are others, and whose they are.
var others = map[int]string{43: "Quake III 1.11", 48: "Quake III 1.27", 90: "Quake Live since 2014", 91: "Quake Live since 2015"}

// known are the protocols that are read.
const known = "a demo whose name ends in .dm_66, .dm_67, .dm_68, .dm_71 or .dm_73"

// protocolOf tells the protocol by the ending of a demo's name, as the game does.
func protocolOf(path string) (int, error) {
	name := strings.TrimSuffix(strings.TrimSuffix(path, ".zst"), ".gz")
	number, ok := strings.CutPrefix(filepath.Ext(name), ".dm_")
	if !ok {
		return 0, &Error{File: path, Problem: "its name does not say a protocol", Expected: known, Kind: ErrProtocol}
	}
	protocol, _ := strconv.Atoi(number)
	switch protocol {
	case 66, 67, 68, 71, netcode.QuakeLive:
		return protocol, nil
	}
	what := "is unknown here"
	if of := others[protocol]; of != "" {
		what = fmt.Sprintf("is that of %s, whose fields are others", of)
	}
	return 0, &Error{File: path, Problem: fmt.Sprintf("protocol %.20q %s", number, what), Expected: known, Kind: ErrProtocol}
}

// readAll reads up to MaxBytes, and says why not more if there was more.
func readAll(in io.Reader, path string) (data []byte, cut string, err error) {
	u, err := unpack.New(in, path, unpack.Errors{Format: ErrFormat, Truncated: errCut})
	if err != nil {
		return nil, "", err
	}
	defer u.Close()
	data, err = io.ReadAll(io.LimitReader(u, MaxBytes+1))
	if errors.Is(err, errCut) { // the compressed file does: its demo will, too
		err = nil
	}
	if len(data) > MaxBytes {
		data, cut = data[:MaxBytes], fmt.Sprintf("only the first %d MB are read", MaxBytes>>20)
	}
	return data, cut, err
}

// newSource reads all of a demo once, to know how large its frames are and how far it goes.
func newSource(data []byte, protocol, rows int, loop bool) (*Source, error) {
	d := newDemo(data, protocol)
	s := &Source{demo: d, loop: loop}
	highest, gaps, last := int16(0), map[int32]int{}, int32(0)
	var ended error
	for {
		var snap *snapshot
		if snap, ended = d.next(); ended != nil {
			break
		}
		if n := len(snap.numbers); n > 0 {
			highest = max(highest, snap.numbers[n-1])
		}
		if s.frames++; s.frames > 1 {
			if gap := snap.time - last; gap > 0 && (gaps[gap] > 0 || len(gaps) < 1000) {
				gaps[gap]++
			}
		}
		if last = snap.time; s.frames == maxFrames {
			s.remarks = append(s.remarks, fmt.Sprintf("only the first %d snapshots are read", maxFrames))
			break
		}
	}
	if err := s.protocol(protocol); err != nil {
		return nil, err
	}
	if err := s.remark(ended); err != nil {
		return nil, err
	}
	if rows == 0 {
		rows = int(highest) + 1
		s.remarks = append(s.remarks, fmt.Sprintf("%d rows for entities, since no higher number occurs: a server would not know that; "+
			"rows=%d has all", rows, netcode.MaxEntities))
	} else if rows <= int(highest) {
		return nil, &Error{Problem: fmt.Sprintf("entity %d occurs", highest), Expected: fmt.Sprintf("rows=%d or more", highest+1), Kind: source.ErrSpec}
	}
	s.layout = netcode.NewLayout(protocol, rows)
	s.schema = s.layout.Schema(rate(gaps))
	s.begin()
	return s, nil
}

// protocol compares the protocol of the name with the one that the server says it speaks. Servers
// of ioquake3 speak 68 to old clients and say 71: that makes no difference but to Quake Live.
func (s *Source) protocol(name int) error {
	says := s.demo.protocol()
	own, err := strconv.Atoi(says)
	switch {
	case err != nil || own == name:
	case (own == netcode.QuakeLive) != (name == netcode.QuakeLive) || others[own] != "":
		return &Error{Problem: fmt.Sprintf("its name says protocol %d, its server %d, whose fields are others", name, own),
			Expected: fmt.Sprintf("a name that ends in .dm_%d", own), Kind: ErrProtocol}
	default:
		s.remarks = append(s.remarks, fmt.Sprintf("its name says protocol %d, its server %d: it is read as %[1]d", name, own))
	}
	return nil
}

// remark says what is to be known of how the demo was read. It is an error if no snapshot was.
func (s *Source) remark(ended error) error {
	d := s.demo
	var own *Error
	switch {
	case errors.As(ended, &own):
		own.Problem += fmt.Sprintf(", after %d snapshots", s.frames)
		if s.frames == 0 {
			return own
		}
		s.remarks = append(s.remarks, fmt.Sprintf("damaged: %s: the rest is left out", strings.TrimPrefix(own.Error(), ": ")))
	case s.frames == 0:
		return &Error{Problem: fmt.Sprintf("holds no snapshot in its %d messages", d.message), Expected: "at least one", Kind: ErrNothing}
	case errors.Is(ended, errCut):
		s.remarks = append(s.remarks, fmt.Sprintf("the file breaks off after message %d, at byte %d", d.message, d.at))
	}
	if d.orphans > 0 {
		s.remarks = append(s.remarks, fmt.Sprintf("%d snapshots left out: what they refer to is not there", d.orphans))
	}
	if d.states > 1 {
		s.remarks = append(s.remarks, fmt.Sprintf("%d game states: a map begins anew", d.states))
	}
	return nil
}

// rate returns how many snapshots a second there are, by the commonest time between two.
func rate(gaps map[int32]int) int {
	usual, most := int32(50), 0
	for gap, n := range gaps {
		if n > most || n == most && gap < usual {
			usual, most = gap, n
		}
	}
	return int(max(1, math.Round(1000/float64(usual))))
}

// begin begins again, with the state in front of the first frame: nobody is there, and rows hold
// what entities begin as.
func (s *Source) begin() {
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
func (s *Source) Schema() *frame.Schema { return s.schema }

// Frames returns how many snapshots there are.
func (s *Source) Frames() int { return s.frames }

// Remarks implements source.Remarked.
func (s *Source) Remarks() []string { return s.remarks }

// Seam reports whether the frame that Next filled last is the first once more.
func (s *Source) Seam() bool { return s.seam }

// Changed returns the rows in which that frame differs from the one before.
func (s *Source) Changed() frame.Rows { return s.changed }

// Price returns what the server spent on that frame.
func (s *Source) Price() source.Price { return s.price }

// Initial fills f with the baselines of entities, none of which is present.
func (s *Source) Initial(f *frame.Frame) {
	f.Tick, f.Table, f.Body = 0, append(f.Table[:0], s.initial...), f.Body[:0]
}

// Next fills f with the next snapshot.
func (s *Source) Next(f *frame.Frame) error {
	s.seam = false
	if s.made == s.frames {
		if !s.loop {
			return io.EOF
		}
		s.demo.restart()
		s.made, s.seam = 0, true
	}
	snap, err := s.demo.next()
	if err != nil {
		return err // which cannot be: all of it was read before
	}
	if s.made++; s.tick == 0 {
		s.vacate()
	}
	s.show(snap)
	s.price = source.Price{Bits: snap.playerBits + snap.entityBits, Base: snap.base}
	f.Tick, f.Table, f.Body = s.tick, append(f.Table[:0], s.table...), f.Body[:0]
	s.tick++
	return nil
}

// vacate empties the rows of the initial state, which all frames do to rows without an entity.
func (s *Source) vacate() {
	for n := range s.layout.Rows {
		row := s.row(n)
		if slices.ContainsFunc(row, func(v int32) bool { return v != 0 }) {
			clear(row)
			s.changed.Add(n)
		}
	}
}

func (s *Source) row(n int) []int32 { return s.table[n*s.layout.Columns : (n+1)*s.layout.Columns] }

// show makes the table that of a snapshot, and changed the rows in which it was another.
func (s *Source) show(snap *snapshot) {
	if s.tick > 0 {
		s.changed.Clear()
	}
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

func (s *Source) gone(number int) {
	clear(s.row(number))
	s.changed.Add(number)
}
