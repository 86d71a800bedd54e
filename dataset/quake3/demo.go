package quake3

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"wirelab/dataset/quake3/netcode"
	"wirelab/dataset/source"
)

// Limits of the game (MAX_MSGLEN, MAX_MAP_AREA_BYTES, PACKET_BACKUP).
const (
	maxMessageBytes  = 16384 // largest size of a message in bytes
	maxAreaMaskBytes = 32    // largest size of the mask of visible areas in bytes
	maxBaselineAge   = 32    // number of snapshots that a client stores as baselines
)

// Types of the commands in a message (svc_ops_e in qcommon.h).
const (
	opNop           = 1
	opGameState     = 2
	opConfigString  = 3
	opBaseline      = 4
	opServerCommand = 5
	opSnapshot      = 7
	opEnd           = 8
	opVoice         = 9 // the types 9 and 10 are extensions of ioquake3, always last in a message
	opVoiceOpus     = 10
)

// serverInfo is the index of the config string that describes the server.
const serverInfo = 0

// demo decodes the messages of a demo one after the other. In the file a message is its sequence number
// and its size (4 bytes each, little-endian) and its data. A size of -1 marks the end.
type demo struct {
	data   []byte
	fields []netcode.Field // fields of an entity

	nextOffset int    // offset of the next message
	messages   int    // number of messages read
	offset     int    // offset of the last message
	sequence   int32  // sequence number of the last message; math.MinInt32 before the first
	frames     int    // number of complete snapshots read
	orphans    int    // number of snapshots whose baseline is missing
	gameStates int    // number of game states read
	info       []byte // the server's description of itself: \key\value\key\value

	baselines [netcode.MaxEntities][]int32 // by number: baseline of an entity that was not in the baseline snapshot; nil means all zero
	zero      []int32
	ring      [maxBaselineAge]snapshot // the last snapshots, by sequence modulo maxBaselineAge
	reader    netcode.Reader           // reads the current message
	snap      *snapshot                // the snapshot in the current message; nil if none
}

// snapshot is the state of the world as the client received it.
type snapshot struct {
	sequence int32 // sequence number of the snapshot's message
	frame    int   // number among the complete snapshots, from 1; 0 if the slot is empty
	time     int32 // time of the server in milliseconds
	baseAge  int   // age in frames of the snapshot's baseline; 0 if it has none
	player   [netcode.PlayerValues]int32
	numbers  []int16 // numbers of the entities, ascending
	states   []int32 // all fields of the entity numbers[0], then those of numbers[1], and so on

	playerBits, entityBits int // sizes of the player and of the entities in the message, in bits
}

// newDemo returns a demo at its start.
func newDemo(data []byte, protocol int) *demo {
	fields := netcode.EntityFields(protocol)
	return &demo{data: data, fields: fields, zero: make([]int32, len(fields)), sequence: math.MinInt32}
}

// restart returns to the first message.
func (d *demo) restart() {
	d.nextOffset, d.messages, d.frames, d.orphans, d.gameStates, d.sequence = 0, 0, 0, 0, 0, math.MinInt32
	d.dropBaselines()
}

// dropBaselines drops the baselines of entities and all stored snapshots.
func (d *demo) dropBaselines() {
	clear(d.baselines[:])
	for i := range d.ring {
		d.ring[i].frame = 0
	}
}

// next reads messages up to the next complete snapshot and returns that, valid until the next call. At
// the end it returns io.EOF, or errTruncated if the file is truncated, or a *source.Error if a message
// is damaged.
func (d *demo) next() (*snapshot, error) {
	for {
		head := d.data[d.nextOffset:]
		if len(head) < 8 { // the file ends within the sequence number and the size
			return nil, errTruncated
		}
		sequence, size := int32(binary.LittleEndian.Uint32(head)), int32(binary.LittleEndian.Uint32(head[4:]))
		if size == -1 {
			return nil, io.EOF
		}
		d.messages, d.offset = d.messages+1, d.nextOffset
		switch {
		case size < 0 || size > maxMessageBytes:
			return nil, d.messageError(fmt.Sprintf("the message has a size of %d bytes", size), fmt.Sprintf("at most %d", maxMessageBytes))
		case sequence <= d.sequence:
			return nil, d.messageError(fmt.Sprintf("message number %d follows number %d", sequence, d.sequence), "increasing numbers")
		case len(head)-8 < int(size):
			d.messages-- // an incomplete message does not count
			return nil, errTruncated
		}
		d.nextOffset += 8 + int(size)
		d.sequence, d.snap = sequence, nil
		d.reader.Reset(head[8 : 8+size])
		if err := d.readMessage(); err != nil {
			return nil, err
		}
		if d.snap != nil {
			return d.snap, nil
		}
	}
}

// serverProtocol returns the protocol in the server's description of itself, or "".
func (d *demo) serverProtocol() string {
	words := strings.Split(strings.TrimPrefix(string(d.info), `\`), `\`)
	for i := 1; i < len(words); i += 2 {
		if key := words[i-1]; key == "protocol" || key == "com_protocol" {
			return words[i]
		}
	}
	return ""
}

// messageError returns an error about the current message. The caller adds the name of the file.
func (d *demo) messageError(problem, expected string) error {
	e := &source.Error{Problem: problem, Expected: expected, Kind: errFormat}
	if d.messages > 0 {
		e.Place = fmt.Sprintf("message %d at byte %d", d.messages, d.offset)
	}
	return e
}

// readMessage decodes the current message: the number of the client command that it acknowledges
// (32 bits), then commands, each with its type (8 bits), up to opEnd. A snapshot is stored in
// d.snap.
func (d *demo) readMessage() error {
	r, hasSnapshot := &d.reader, false
	r.Bits(32)
	for r.Err() == nil {
		var err error
		switch op := r.Bits(8); op {
		case opNop:
		case opGameState:
			err = d.readGameState()
		case opServerCommand:
			r.Bits(32)
			r.SkipString()
		case opSnapshot:
			if hasSnapshot {
				return d.messageError("a second snapshot in the message", "at most one")
			}
			hasSnapshot = true
			err = d.readSnapshot()
		case opVoice, opVoiceOpus, opEnd:
			if r.Err() == nil {
				return nil
			}
		default:
			if r.Err() == nil {
				err = d.messageError(fmt.Sprintf("unknown command %d", op), "1, 2, 5 or 7 to 10")
			}
		}
		if err != nil {
			return err
		}
	}
	return d.messageError(r.Err().Error(), "commands up to the end mark")
}

// readGameState decodes a game state, which the server sends at the start of a map: the number of
// the last server command (32 bits), then config strings (16 bits of index, text) and baselines of
// entities (10 bits of number, delta to zero), each after its type (8 bits), up to opEnd. Stored
// snapshots of the map before are dropped.
func (d *demo) readGameState() error {
	r := &d.reader
	d.dropBaselines()
	d.gameStates++
	r.Bits(32)
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
				return d.messageError("a baseline for entity 1023", "at most 1022")
			}
			row := make([]int32, len(d.fields))
			if removed := r.Flag(); !removed {
				r.State(d.fields, row)
			}
			d.baselines[n] = row
		case opEnd:
			r.Bits(32) // skips the number of this client
			r.Bits(32) // skips a checksum
			return nil
		default:
			if r.Err() == nil {
				return d.messageError(fmt.Sprintf("unknown item %d in the game state", op),
					"3 (config string), 4 (baseline) or 8 (end)")
			}
		}
	}
	return nil
}

// readSnapshot decodes a snapshot and stores it in the ring: server time (32 bits), distance of the
// baseline in messages, 0 for none (8), flags (8), size of the area mask in bytes (8), the mask, the
// player as a delta, and the entities as deltas. If the baseline is missing, it only counts an orphan.
func (d *demo) readSnapshot() error {
	r := &d.reader
	s := &d.ring[uint32(d.sequence)%maxBaselineAge]
	s.frame = 0 // 0 marks the slot as invalid until the snapshot is complete
	s.sequence, s.time = d.sequence, int32(r.Bits(32))
	distance := int32(r.Bits(8))
	r.Bits(8) // skips the flags
	maskBytes := int(r.Bits(8))
	if maskBytes > maxAreaMaskBytes {
		return d.messageError(fmt.Sprintf("an area mask of %d bytes", maskBytes), fmt.Sprintf("at most %d", maxAreaMaskBytes))
	}
	r.Skip(maskBytes)

	// A missing baseline is replaced by an empty one, so that the rest of the message can be read.
	base, orphan := &snapshot{}, false
	s.baseAge = 0
	if distance != 0 {
		if b := &d.ring[uint32(d.sequence-distance)%maxBaselineAge]; b.frame > 0 && b.sequence == d.sequence-distance {
			base, s.baseAge = b, d.frames+1-b.frame
		} else {
			orphan = true
		}
	}
	start := r.Pos()
	s.player = base.player
	r.Player(s.player[:])
	s.playerBits = r.Pos() - start
	start = r.Pos()
	if err := d.readEntities(s, base); err != nil {
		return err
	}
	s.entityBits = r.Pos() - start
	switch {
	case r.Err() != nil: // readMessage reports this error
	case orphan:
		d.orphans++
	default:
		d.frames++
		s.frame, d.snap = d.frames, s
	}
	return nil
}

// readEntities decodes the entities of s. The message lists, by ascending number (10 bits), those that
// changed, appeared or were removed (1 bit) since base; the others are copied. The list ends with
// MaxEntities. A new entity is a delta to its baseline of the game state.
func (d *demo) readEntities(s, base *snapshot) error {
	r, n := &d.reader, len(d.fields)
	s.numbers, s.states = s.numbers[:0], s.states[:0]
	nextBase, last := 0, int16(-1)       // index of the next entity of base; number of the entity read before
	copyUnchanged := func(limit int16) { // copies the entities of base with numbers below limit
		from := nextBase
		for nextBase < len(base.numbers) && base.numbers[nextBase] < limit {
			nextBase++
		}
		s.numbers = append(s.numbers, base.numbers[from:nextBase]...)
		s.states = append(s.states, base.states[from*n:nextBase*n]...)
	}
	for {
		number := int16(r.Bits(10))
		if r.Err() != nil {
			return nil
		}
		copyUnchanged(number)
		switch {
		case number == netcode.MaxEntities:
			return nil
		case number <= last:
			return d.messageError(fmt.Sprintf("entity %d follows entity %d", number, last), "entity numbers that increase")
		}
		last = number
		baseline := d.baselines[number]
		if baseline == nil {
			baseline = d.zero
		}
		if nextBase < len(base.numbers) && base.numbers[nextBase] == number {
			baseline = base.states[nextBase*n : (nextBase+1)*n]
			nextBase++
		}
		if removed := r.Flag(); removed {
			continue
		}
		s.numbers, s.states = append(s.numbers, number), append(s.states, baseline...)
		r.State(d.fields, s.states[len(s.states)-n:])
	}
}
