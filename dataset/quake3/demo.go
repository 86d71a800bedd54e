package quake3

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"wirelab/dataset/quake3/netcode"
	"wirelab/dataset/source"
)

// Bounds of the game.
const (
	maxMessage = 16384 // bytes
	maxMask    = 32    // bytes of the areas that the player can see
	backup     = 32    // snapshots that a client keeps, to be referred to
)

// Commands of a server.
const (
	opNop           = 1
	opGameState     = 2
	opConfigString  = 3
	opBaseline      = 4
	opServerCommand = 5
	opSnapshot      = 7
	opEnd           = 8
	opVoice         = 9 // and 10: of ioquake3, always last
	opVoiceOpus     = 10
)

// serverInfo is the number of the text that says what the server is.
const serverInfo = 0

// demo reads messages one after the other.
type demo struct {
	data   []byte
	fields []netcode.Field // of an entity

	at       int // the next message
	message  int // how many were read
	offset   int // of the last one
	sequence int32
	frames   int    // snapshots that were read and are usable
	orphans  int    // those that refer to one that is not there
	states   int    // game states that were read
	info     []byte // what the server says of itself: \key\value\key\value

	baselines [netcode.MaxEntities][]int32 // nil: zero
	zero      []int32
	ring      [backup]snapshot
	r         netcode.Reader
	snap      *snapshot // the one of this message, if any
}

// snapshot is what a client sees at a moment.
type snapshot struct {
	sequence int32 // of its message
	frame    int   // counted from 1 through the demo; 0: there is none
	time     int32
	base     int // frames back to the one that it refers to; 0: none
	player   [netcode.PlayerValues]int32
	numbers  []int16 // of entities, rising
	states   []int32 // the fields of each

	playerBits, entityBits int // that it took
}

func newDemo(data []byte, protocol int) *demo {
	fields := netcode.EntityFields(protocol)
	return &demo{data: data, fields: fields, zero: make([]int32, len(fields)), sequence: -1 << 31}
}

// restart begins again.
func (d *demo) restart() {
	d.at, d.message, d.frames, d.orphans, d.states, d.sequence = 0, 0, 0, 0, 0, -1<<31
	d.forget()
}

// forget forgets what snapshots refer to.
func (d *demo) forget() {
	clear(d.baselines[:])
	for i := range d.ring {
		d.ring[i].frame = 0
	}
}

// next reads up to the next snapshot that is usable. The end is io.EOF, errCut where the file
// breaks off, and that of failed where it is damaged.
func (d *demo) next() (*snapshot, error) {
	for {
		head := d.data[d.at:]
		if len(head) < 8 {
			return nil, errCut
		}
		sequence, size := int32(binary.LittleEndian.Uint32(head)), int32(binary.LittleEndian.Uint32(head[4:]))
		if size == -1 {
			return nil, io.EOF
		}
		d.message, d.offset = d.message+1, d.at
		switch {
		case size < 0 || size > maxMessage:
			return nil, d.failed(fmt.Sprintf("it claims to have %d bytes", size), fmt.Sprintf("at most %d", maxMessage))
		case sequence <= d.sequence:
			return nil, d.failed(fmt.Sprintf("it has number %d, the one before %d", sequence, d.sequence), "numbers that rise")
		case len(head)-8 < int(size):
			d.message--
			return nil, errCut
		}
		d.at += 8 + int(size)
		d.sequence, d.snap = sequence, nil
		d.r.Reset(head[8 : 8+size])
		if err := d.read(); err != nil {
			return nil, err
		}
		if d.snap != nil {
			return d.snap, nil
		}
	}
}

// protocol is the one that the server says it speaks; "" if it does not say.
func (d *demo) protocol() string {
	words := strings.Split(strings.TrimPrefix(string(d.info), `\`), `\`)
	for i := 1; i < len(words); i += 2 {
		if key := words[i-1]; key == "protocol" || key == "com_protocol" {
			return words[i]
		}
	}
	return ""
}

// failed returns an error about the current message, without the name of the file.
func (d *demo) failed(problem, expected string) error {
	e := &source.Error{Problem: problem, Expected: expected, Kind: errFormat}
	if d.message > 0 {
		e.Place = fmt.Sprintf("message %d at byte %d", d.message, d.offset)
	}
	return e
}

// read reads a message.
func (d *demo) read() error {
	r, any := &d.r, false
	r.Bits(32) // acknowledges a command
	for r.Err() == nil {
		var err error
		switch op := r.Bits(8); op {
		case opNop:
		case opGameState:
			err = d.gameState()
		case opServerCommand:
			r.Bits(32)
			r.SkipString()
		case opSnapshot:
			if any {
				return d.failed("it has a second snapshot", "one")
			}
			any = true
			err = d.snapshot()
		case opVoice, opVoiceOpus, opEnd:
			if r.Err() == nil {
				return nil
			}
		default:
			if r.Err() == nil {
				err = d.failed(fmt.Sprintf("it has a command %d", op), "one of 1 to 10")
			}
		}
		if err != nil {
			return err
		}
	}
	return d.failed(r.Err().Error(), "commands up to its end mark")
}

// gameState reads what holds for a whole map, and forgets what held for the one before.
func (d *demo) gameState() error {
	r := &d.r
	d.forget()
	d.states++
	r.Bits(32) // the last command
	for r.Err() == nil {
		switch op := r.Bits(8); op {
		case opConfigString:
			if n := r.Bits(16); n == serverInfo {
				d.info = r.Text(d.info[:0])
			} else {
				r.SkipString()
			}
		case opBaseline:
			n := r.Bits(10)
			if n == netcode.MaxEntities {
				return d.failed("it has a baseline for entity 1023", "at most 1022")
			}
			row := make([]int32, len(d.fields))
			if removed := r.Flag(); !removed {
				r.State(d.fields, row)
			}
			d.baselines[n] = row
		case opEnd:
			r.Bits(32) // the number of this client
			r.Bits(32) // a checksum
			return nil
		default:
			if r.Err() == nil {
				return d.failed(fmt.Sprintf("its game state has an item %d", op), "3, 4 or 8")
			}
		}
	}
	return nil
}

// snapshot reads a snapshot, and keeps it.
func (d *demo) snapshot() error {
	r := &d.r
	s := &d.ring[uint32(d.sequence)%backup]
	s.frame = 0 // until it is whole
	s.sequence, s.time = d.sequence, int32(r.Bits(32))
	back := int32(r.Bits(8))
	r.Bits(8) // flags
	mask := int(r.Bits(8))
	if mask > maxMask {
		return d.failed(fmt.Sprintf("its areas take %d bytes", mask), fmt.Sprintf("at most %d", maxMask))
	}
	r.Skip(mask)

	base, orphan := &snapshot{}, false
	s.base = 0
	if back != 0 {
		if b := &d.ring[uint32(d.sequence-back)%backup]; b.frame > 0 && b.sequence == d.sequence-back {
			base, s.base = b, d.frames+1-b.frame
		} else {
			orphan = true
		}
	}
	from := r.Pos()
	s.player = base.player
	r.Player(s.player[:])
	s.playerBits = r.Pos() - from
	from = r.Pos()
	if err := d.entities(s, base); err != nil {
		return err
	}
	s.entityBits = r.Pos() - from
	switch {
	case r.Err() != nil: // which the caller says
	case orphan:
		d.orphans++
	default:
		d.frames++
		s.frame, d.snap = d.frames, s
	}
	return nil
}

// entities reads those that changed, came or went since base, and copies the others.
func (d *demo) entities(s, base *snapshot) error {
	r, n := &d.r, len(d.fields)
	s.numbers, s.states = s.numbers[:0], s.states[:0]
	i, last := 0, int16(-1)
	keep := func(below int16) { // those of the base that are not named
		from := i
		for i < len(base.numbers) && base.numbers[i] < below {
			i++
		}
		s.numbers = append(s.numbers, base.numbers[from:i]...)
		s.states = append(s.states, base.states[from*n:i*n]...)
	}
	for {
		number := int16(r.Bits(10))
		if r.Err() != nil {
			return nil
		}
		keep(number)
		switch {
		case number == netcode.MaxEntities:
			return nil
		case number <= last:
			return d.failed(fmt.Sprintf("entity %d follows entity %d", number, last), "numbers that rise")
		}
		last = number
		was := d.baselines[number]
		if was == nil {
			was = d.zero
		}
		if i < len(base.numbers) && base.numbers[i] == number {
			was = base.states[i*n : (i+1)*n]
			i++
		}
		if removed := r.Flag(); removed {
			continue
		}
		s.numbers, s.states = append(s.numbers, number), append(s.states, was...)
		r.State(d.fields, s.states[len(s.states)-n:])
	}
}
