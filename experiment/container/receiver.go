package container

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
)

// Repair is how a receiver got a packet.
type Repair uint8

// The values of Repair.
const (
	NotRepaired Repair = iota // in its own container
	ByRepeat                  // repeated in a later container
	ByParity                  // rebuilt from a group
)

// Packet is a packet of package endpoint in a container that was opened.
type Packet struct {
	Bytes    []byte
	Repair   Repair
	Distance int // how many containers before the opened one it was sent; negative after it
}

// Opened is an opened container. Its slices are valid until the next call of Open.
type Opened struct {
	Number   uint16 // low bits
	Packets  []Packet
	Messages []byte // encoded parts of messages; nil if none
}

// Receiver opens containers, which may be any bytes. The zero value is ready to use. It is not safe for
// use by several goroutines.
type Receiver struct {
	groups  [storedGroups]group
	ids     arrivals            // of groups
	seen    [seenNumbers]uint32 // of containers whose packet was delivered: number n is at n % len, as n+1; 0 means none
	coders  coders
	packets []Packet
	rebuilt [maxShards][]byte // the arguments of the decoder
}

const (
	// storedGroups is the number of groups that a receiver stores. A hostile sender can make it store
	// storedGroups*maxShards shards of 64 KB: 12 MB.
	storedGroups = 8
	// seenNumbers is more than the largest distance of a repeat.
	seenNumbers = 1024
)

// group is a group of which containers have arrived.
type group struct {
	used bool
	id   uint16
	code code // unknown, zero, until a parity arrives
	size int  // of a parity shard
	have uint32
	done bool // all packets were delivered or rebuilt

	shards [maxShards][]byte
}

// Open parses a container and returns its packets: first those that it repairs, oldest first, then its
// own. A packet that was delivered before is not repaired again. The error wraps ErrMalformed. If it is
// about the redundancy, the packets that need none are returned with it.
func (r *Receiver) Open(datagram []byte) (out Opened, err error) {
	r.packets = r.packets[:0]
	in := reader{rest: datagram}
	out.Number = in.uint16()
	parts := in.byte()
	if zero := in.byte(); in.failed || zero != 0 || parts == 0 || parts&^allParts != 0 {
		return out, malformed("header of %d bytes, parts %08b", len(datagram), parts)
	}
	if parts&hasParity != 0 {
		if parts != hasParity {
			return out, malformed("a parity with other parts: %08b", parts)
		}
		err := r.openParity(out.Number, &in)
		out.Packets = r.packets
		return out, err
	}
	var group uint16
	index := 0
	if parts&hasGroup != 0 {
		group, index = in.uint16(), in.byte()
	}
	var repeats []byte
	if parts&hasRepeats != 0 {
		repeats = in.items(1)
	}
	if parts&hasMessages != 0 {
		out.Messages = in.items(3) // lane and number
	}
	switch {
	case in.failed:
		return out, malformed("a part ends after the datagram of %d bytes", len(datagram))
	case parts&hasRepeats != 0 && repeats[0] > MaxRepeats:
		return out, malformed("%d repeats", repeats[0])
	case index >= MaxData:
		return out, malformed("packet %d of a group", index)
	case parts&hasPacket == 0 && (len(in.rest) > 0 || parts&hasGroup != 0):
		return out, malformed("no packet, but %d bytes for one", len(in.rest))
	}
	r.openRepeats(out.Number, repeats)
	if parts&hasPacket != 0 {
		r.setSeen(out.Number)
		if parts&hasGroup != 0 {
			err = r.addPacket(out.Number, group, index, in.rest)
		}
		r.packets = append(r.packets, Packet{Bytes: in.rest})
	}
	out.Packets = r.packets
	return out, err
}

// openRepeats appends the repeats whose packets were not delivered before, oldest first.
func (r *Receiver) openRepeats(number uint16, src []byte) {
	in := reader{rest: src}
	for range in.byte() {
		distance := uint16(in.byte())
		packet := in.bytes(int(in.uint16()))
		if n := number - distance; distance > 0 && !r.wasSeen(n) {
			r.setSeen(n)
			r.packets = append(r.packets, Packet{Bytes: packet, Repair: ByRepeat, Distance: int(distance)})
		}
	}
	slices.Reverse(r.packets) // containers list the newest first
}

func (r *Receiver) wasSeen(number uint16) bool { return r.seen[number%seenNumbers] == uint32(number)+1 }
func (r *Receiver) setSeen(number uint16)      { r.seen[number%seenNumbers] = uint32(number) + 1 }

// find returns the stored group with this id, and begins it if it is newer than the one in its place;
// nil if it is older, or doubted.
func (r *Receiver) find(id uint16) *group {
	g := &r.groups[id%storedGroups]
	isKnown := r.ids.add(id)
	if g.used && g.id == id {
		return g
	}
	if behind := g.id - id; !isKnown || g.used && behind <= nearReach {
		return nil
	}
	*g = group{used: true, id: id, shards: g.shards} // the memory of the shards is reused
	return g
}

// addPacket adds a packet to its group, and rebuilds other packets of the group if it is now complete.
func (r *Receiver) addPacket(number, id uint16, index int, packet []byte) error {
	g := r.find(id)
	if g == nil || g.have>>index&1 == 1 {
		return nil
	}
	if g.code.data > 0 && (index >= g.code.data || shardHeader+len(packet) > g.size) {
		return malformed("packet %d of %d bytes in a group of %d with %d bytes", index, len(packet), g.code.data, g.size)
	}
	g.have |= 1 << index
	g.shards[index] = appendShard(g.shards[index][:0], number, packet)
	return r.rebuild(number, g)
}

// openParity adds a parity to its group.
func (r *Receiver) openParity(number uint16, in *reader) error {
	id, index := in.uint16(), in.byte()
	c := code{data: in.byte(), parity: in.byte()}
	if c.parity == 0 {
		c.xor, c.parity = true, 1
	}
	if in.failed || c.data < 2 || c.data > MaxData || c.parity > maxParity || index < c.data || index >= c.data+c.parity ||
		len(in.rest) < shardHeader {
		return malformed("parity %d of %d+%d with %d bytes", index, c.data, c.parity, len(in.rest))
	}
	g := r.find(id)
	if g == nil || g.have>>index&1 == 1 && g.code == c {
		return nil
	}
	if g.code.data == 0 {
		for i := range g.shards {
			if g.have>>i&1 == 1 && (i >= c.data || len(g.shards[i]) > len(in.rest)) {
				return malformed("a parity of %d bytes for a packet of %d", len(in.rest), len(g.shards[i]))
			}
		}
		g.code, g.size = c, len(in.rest)
	}
	if g.code != c || g.size != len(in.rest) {
		return malformed("parity of %v in a group of %v", c, g.code)
	}
	g.have |= 1 << index
	g.shards[index] = append(g.shards[index][:0], in.rest...)
	return r.rebuild(number, g)
}

// rebuild rebuilds the missing packets of a group of which enough shards have arrived, and appends them
// to r.packets. opened is the number of the opened container.
func (r *Receiver) rebuild(opened uint16, g *group) error {
	c := g.code
	if c.data == 0 || g.done || bits.OnesCount32(g.have) < c.data {
		return nil
	}
	g.done = true
	missing := bits.TrailingZeros32(^g.have) // the first shard that has not arrived
	if missing >= c.data {
		return nil
	}
	shards := r.rebuilt[:c.data+c.parity]
	for i := range shards {
		shards[i] = g.shards[i][:0] // an empty shard is rebuilt in this memory, if it is large enough
		if g.have>>i&1 == 1 {
			shards[i] = pad(g.shards[i], g.size)
		}
	}
	if err := r.coders.reconstruct(c, g.size, missing, shards); err != nil {
		return fmt.Errorf("%w: group %d: %w", ErrMalformed, g.id, err)
	}
	var err error
	for i := range c.data {
		g.shards[i] = shards[i]
		if g.have>>i&1 == 1 {
			continue
		}
		number := binary.LittleEndian.Uint16(shards[i])
		n := int(binary.LittleEndian.Uint16(shards[i][2:]))
		switch {
		case n > len(shards[i])-shardHeader:
			err = malformed("group %d: a rebuilt packet of %d bytes in %d", g.id, n, len(shards[i])-shardHeader)
		case n > 0 && !r.wasSeen(number): // empty: see Sender.Follow
			r.setSeen(number)
			r.packets = append(r.packets, Packet{Bytes: shards[i][shardHeader:][:n], Repair: ByParity,
				Distance: int(int16(opened - number))})
		}
	}
	return err
}
