package container

import (
	"crypto/subtle"
	"encoding/binary"
	"slices"
	"time"

	"github.com/klauspost/reedsolomon"

	"wirelab/internal/policy"
	"wirelab/internal/ring"
)

// Limits of the policies. They bound the memory of a receiver.
const (
	MaxRepeats = 8
	MaxData    = 16 // packets of a group
	maxParity  = 8
	maxShards  = MaxData + maxParity
)

// Redundancies are the policies of redundancy.
var Redundancies = policy.Set{
	{Name: "none", Summary: "each packet once"},
	{Name: "repeat", Summary: "each datagram repeats the packets before its own", Params: []policy.Param{
		policy.Count("n", 1, 1, MaxRepeats, "packets repeated")}},
	{Name: "xor", Summary: "a parity after each group of packets repairs one of them", Params: []policy.Param{
		policy.Count("data", 4, 2, MaxData, "packets of a group")}},
	{Name: "rs", Summary: "Reed-Solomon: as many packets of a group are repaired as it has parities", Params: []policy.Param{
		policy.Count("data", 4, 2, MaxData, "packets of a group"),
		policy.Count("parity", 2, 1, maxParity, "datagrams with parity after a group")}},
}

// code is the block code of a group.
type code struct {
	data, parity int  // shards
	xor          bool // the parity is the exclusive or; parity is 1
}

// codeOf returns the code of a policy; the zero code if it has none.
func codeOf(p policy.Policy) code {
	switch p.Name() {
	case "xor":
		return code{int(p.Int("data")), 1, true}
	case "rs":
		return code{int(p.Int("data")), int(p.Int("parity")), false}
	}
	return code{}
}

// coders are the Reed-Solomon coders by code, made when they are first needed.
type coders map[code]reedsolomon.Encoder

// of returns the coder of c, which must be within the limits and not XOR.
func (m *coders) of(c code) reedsolomon.Encoder {
	if e := (*m)[c]; e != nil {
		return e
	}
	e, err := reedsolomon.New(c.data, c.parity, reedsolomon.WithMaxGoroutines(1))
	if err != nil {
		panic("container: " + err.Error()) // the numbers of shards are within its limits
	}
	if *m == nil {
		*m = coders{}
	}
	(*m)[c] = e
	return e
}

// encode computes the parity shards, which follow the data shards in shards and are zero. All have the same length.
func (m *coders) encode(c code, shards [][]byte) {
	if c.xor {
		addOthers(shards, c.data)
	} else if err := m.of(c).Encode(shards); err != nil {
		panic("container: " + err.Error()) // the shards have equal lengths
	}
}

// reconstruct rebuilds the data shards that are empty; missing is one of them. The others have size bytes.
func (m *coders) reconstruct(c code, size, missing int, shards [][]byte) error {
	if !c.xor {
		return m.of(c).ReconstructData(shards)
	}
	shards[missing] = pad(shards[missing], size)
	addOthers(shards, missing)
	return nil
}

// addOthers sets shard i, which is zero, to the exclusive or of all others.
func addOthers(shards [][]byte, i int) {
	for k, other := range shards {
		if k != i {
			subtle.XORBytes(shards[i], shards[i], other)
		}
	}
}

// Sender makes containers. Create it with NewSender. It is not safe for use by several goroutines.
type Sender struct {
	next    uint64 // number of the next container
	policy  policy.Policy
	repeats int
	code    code
	coders  coders

	recent [MaxRepeats]sentPacket // the newest packets; packet n is at n % len
	sent   uint64                 // packets sent

	group   uint64 // number of the open group
	inGroup int    // packets in it
	shards  [MaxData][]byte
	encoded [maxShards][]byte       // the arguments of the encoder
	parity  ring.Queue[parityShard] // not sent yet
	buf     []byte
}

// sentPacket is a packet that may be repeated.
type sentPacket struct {
	number uint64 // of its container
	bytes  []byte
}

// parityShard is a parity that is sent at a time.
type parityShard struct {
	at     time.Duration
	sealed Sealed // without the number and the datagram
	bytes  []byte // as in a container: parityHeader bytes, then the shard
}

// parityHeader is the size of what precedes a parity in its container.
const parityHeader = 5

// NewSender returns a sender without redundancy.
func NewSender() *Sender { return &Sender{} }

// SetRedundancy sets the policy for the following packets. An open group ends without parity.
func (s *Sender) SetRedundancy(p policy.Policy) {
	if p == s.policy {
		return
	}
	s.endGroup()
	s.policy, s.code, s.repeats = p, codeOf(p), 0
	if p.Name() == "repeat" {
		s.repeats = int(p.Int("n"))
	}
	s.sent = 0 // packets before the change are not repeated
}

// endGroup ends the open group, if it has packets.
func (s *Sender) endGroup() {
	if s.inGroup > 0 {
		s.group++
		s.inGroup = 0
	}
}

func (s *Sender) Redundancy() policy.Policy { return s.policy }

// Protects reports whether the policy adds redundancy, so that packets need containers.
func (s *Sender) Protects() bool { return s.repeats > 0 || s.code.data > 0 }

// Repeats returns how often a packet is repeated.
func (s *Sender) Repeats() int { return s.repeats }

// Next returns the number of the next container.
func (s *Sender) Next() uint64 { return s.next }

// Follow makes a new sender send its containers at the same times as o from now on. Packets and parities of o that
// are not its own count as empty, and SealParity reports them as Blank.
func (s *Sender) Follow(o *Sender) {
	s.SetRedundancy(o.policy)
	s.next, s.group, s.inGroup = o.next, o.group, o.inGroup
	for i := range s.inGroup {
		s.shards[i] = append(s.shards[i][:0], make([]byte, shardHeader)...)
	}
	for n := o.parity.First(); n < o.parity.Next(); n++ {
		p := *o.parity.At(n)
		p.bytes = append(slices.Clone(p.bytes[:parityHeader]), make([]byte, len(p.bytes)-parityHeader)...)
		p.sealed.Blank = true
		*s.parity.Push() = p
	}
}

// Sealed is a container to transmit.
type Sealed struct {
	Number   uint64
	Datagram []byte // valid until the next call of the sender
	Repeats  int    // the newest packets that it repeats
	Group    uint64 // group of its packet or parity, if InGroup
	Index    int    // in the group; from Data on it is a parity
	InGroup  bool
	Data     int  // packets of a group
	Parity   int  // parities of a group
	Blank    bool // a parity of another sender; see Sender.Follow
}

// CanSeal reports whether a packet fits into a container.
func CanSeal(packet []byte) bool { return len(packet) <= maxSealed }

// Seal returns the container of a packet that is sent at now, the next packet following after interval. messages
// are encoded parts of messages; see Outbox. Repeats that do not fit are left out. CanSeal must hold for the packet.
func (s *Sender) Seal(now, interval time.Duration, packet, messages []byte) Sealed {
	out := s.sealed(s.inGroup)
	b := s.begin(hasPacket)
	if out.InGroup {
		b[partsAt] |= hasGroup
		b = append(binary.LittleEndian.AppendUint16(b, uint16(s.group)), byte(s.inGroup))
	}
	if s.repeats > 0 {
		b, out.Repeats = s.appendRepeats(b, len(messages)+len(packet))
	}
	if len(messages) > 0 {
		b[partsAt] |= hasMessages
	}
	b = append(b, messages...)
	s.finish(&out, append(b, packet...))
	if s.repeats > 0 {
		r := &s.recent[s.sent%MaxRepeats]
		r.number = out.Number
		r.bytes = append(r.bytes[:0], packet...)
		s.sent++
	}
	if out.InGroup {
		s.addShard(now, interval, out.Number, packet)
	}
	return out
}

// appendRepeats appends the newest packets to the beginning b of a container, as many as the policy
// repeats and as leave room for size bytes, and returns their number.
func (s *Sender) appendRepeats(b []byte, size int) (_ []byte, count int) {
	countAt := len(b)
	b = append(b, 0)
	for ; uint64(count) < min(uint64(s.repeats), s.sent); count++ {
		r := &s.recent[(s.sent-1-uint64(count))%MaxRepeats]
		distance := s.next - r.number
		if distance > 255 || len(b)+3+len(r.bytes)+size > maxDatagram {
			break
		}
		b = binary.LittleEndian.AppendUint16(append(b, byte(distance)), uint16(len(r.bytes)))
		b = append(b, r.bytes...)
	}
	if count == 0 {
		return b[:countAt], 0
	}
	b[partsAt] |= hasRepeats
	b[countAt] = byte(count)
	return b, count
}

// SealMessages returns a container that has only parts of messages.
func (s *Sender) SealMessages(messages []byte) Sealed {
	out := Sealed{}
	s.finish(&out, append(s.begin(hasMessages), messages...))
	return out
}

// begin returns the header of the next container, with the given parts.
func (s *Sender) begin(parts byte) []byte { return appendHeader(s.buf[:0], s.next, parts) }

// finish sets the number and the datagram of the next container.
func (s *Sender) finish(out *Sealed, datagram []byte) {
	s.buf = datagram
	out.Datagram = datagram
	out.Number = s.next
	s.next++
}

// sealed describes a shard of the open group, if there is a code.
func (s *Sender) sealed(index int) Sealed {
	return Sealed{Group: s.group, Index: index, InGroup: s.code.data > 0, Data: s.code.data, Parity: s.code.parity}
}

// addShard adds a packet to the open group. If it completes the group, its parities become due at even distances up to
// the next packet.
func (s *Sender) addShard(now, interval time.Duration, number uint64, packet []byte) {
	s.shards[s.inGroup] = appendShard(s.shards[s.inGroup][:0], uint16(number), packet)
	s.inGroup++
	if s.inGroup < s.code.data {
		return
	}
	size := 0
	for _, shard := range s.shards[:s.code.data] {
		size = max(size, len(shard))
	}
	for i := range s.code.data {
		s.shards[i] = pad(s.shards[i], size)
		s.encoded[i] = s.shards[i]
	}
	parities := byte(s.code.parity)
	if s.code.xor {
		parities = 0
	}
	for i := range s.code.parity {
		p := s.parity.Push()
		p.at = now + interval*time.Duration(1+i)/time.Duration(1+s.code.parity)
		p.sealed = s.sealed(s.code.data + i)
		b := binary.LittleEndian.AppendUint16(p.bytes[:0], uint16(s.group))
		p.bytes = pad(append(b, byte(p.sealed.Index), byte(s.code.data), parities), parityHeader+size)
		s.encoded[p.sealed.Index] = p.bytes[parityHeader:]
	}
	s.coders.encode(s.code, s.encoded[:s.code.data+s.code.parity])
	s.endGroup()
}

func appendShard(dst []byte, number uint16, packet []byte) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, number)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(packet)))
	return append(dst, packet...)
}

// pad appends zeros to b until it has size bytes.
func pad(b []byte, size int) []byte {
	if n := size - len(b); n > 0 {
		return append(b, make([]byte, n)...)
	}
	return b
}

// NextParity returns when the next parity must be sent; false if none is due.
func (s *Sender) NextParity() (time.Duration, bool) {
	if s.parity.Len() == 0 {
		return 0, false
	}
	return s.parity.At(s.parity.First()).at, true
}

// SealParity returns the container of the next parity. NextParity must have returned true.
func (s *Sender) SealParity() Sealed {
	p := s.parity.At(s.parity.First())
	s.parity.Pop()
	out := p.sealed
	s.finish(&out, append(s.begin(hasParity), p.bytes...))
	return out
}
