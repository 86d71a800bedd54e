package inspector

import (
	"time"

	"wirelab/encoders"
	"wirelab/experiment/engine/packetlog"
	"wirelab/lossmodel"
)

// Inside is what the inspector records of a packet beyond its packetlog.Record.
type Inside struct {
	Spent     compactBudget
	Header    int // bytes
	Fragments int
	Trail     lossmodel.Trail // what each stage of the link did to it
	AtSender
	AtReceiver
}

// AtSender is what the sender knew when it encoded a packet.
type AtSender struct {
	Second        int           // distance of the second reference; 0: none
	BaseSent      time.Duration // when the baseline was sent
	BaseAcked     time.Duration // when the sender learnt that the receiver has it
	AckDamaged    bool          // that ack had been damaged
	Age           int           // packets of this encoding before it
	Previous      string        // name of the encoder before this one; "": none
	WithoutMemo   bool          // the encoder uses memos, but the baseline has none of this epoch
	Usual         Usual
	AfterBaseline fateCount // of the packets between the baseline and this one; counted if this one is large or lacks its baseline
}

// AtReceiver is what happened to a packet at the receiver.
type AtReceiver struct {
	Flipped   int // damaged bits
	Base      baselineState
	Missing   uint64        // the reference that the receiver did not hold, unless Base is BaseHeld
	History   int           // length of the receiver's history in frames
	DroppedAt time.Duration // when the missing reference left the history
	Run       int           // consecutive losses, up to and including this packet
	Newer     uint64        // newest packet decoded before this one arrived
	NewerSent time.Duration // when Newer was sent
	NewerAt   time.Duration // when Newer arrived
	Late      time.Duration // by how much it missed its display time
	Err       error         // error of the decoder
	TakenFor  uint64        // its sequence number to the receiver, if it was decoded or doubted
	AckLost   lossmodel.Cause
	AckDue    time.Duration // when its ack reaches the sender; 0: no ack was sent, or it was lost
}

// Usual holds means over the packets sent before one, at most usualPackets of them.
type Usual struct {
	N                          int
	Payload, Changed, Baseline float64
}

// fateCount counts the fates, at the time that a packet was sent, of the packets between its
// baseline and itself. Had one of them been acked, it would have been the baseline.
type fateCount struct {
	Lost, Failed, AckLost, InFlight int
}

// baselineState is whether the receiver held the references of a packet, and if not, why.
type baselineState uint8

// The states of a packet's baseline at the receiver.
const (
	BaseUnchecked baselineState = iota // not looked up: the packet did not get that far
	baseInitial                        // the baseline is the initial state
	BaseHeld                           // the receiver held it
	BaseDropped                        // it arrived, and has since left the history
	BaseLost                           // the link lost it
	BaseFailed                         // it arrived and could not be decoded
	BasePending                        // it is still in flight
	BaseUnknown                        // the reason is not known
)

// compactBudget is the bit budget of one packet. It holds only the slots in use, since a
// Budget is too large to be kept for every packet.
type compactBudget struct {
	N     int
	Slots [maxCompactSlots]encoders.Slot
	Units [maxCompactSlots]int64 // in 1/65,536 bit
}

// maxCompactSlots is the most slots of a CompactBudget. The last one takes the bits of all
// further slots.
const maxCompactSlots = 32

// setBudget copies the slots of b that are in use.
func (s *compactBudget) setBudget(b *encoders.Budget) {
	s.N = 0
	for k, u := range b.Units {
		switch {
		case u == 0:
		case s.N < maxCompactSlots:
			s.Slots[s.N], s.Units[s.N] = encoders.Slot(k), u
			s.N++
		default:
			s.Slots[maxCompactSlots-1] = encoders.MaxSlots - 1
			s.Units[maxCompactSlots-1] += u
		}
	}
}

// Budget returns the same bits as a Budget.
func (s *compactBudget) Budget() (b encoders.Budget) {
	for i := range s.N {
		b.Charge(s.Slots[i], s.Units[i])
	}
	return b
}

// Culprit returns the link stage that delayed a packet most, compared with what the stage
// adds to every packet; nil if no stage added anything.
func (in *Inside) Culprit() (worst *lossmodel.Step) {
	for i := range in.Trail.All() {
		s := &in.Trail.Steps[i]
		if extra := s.Took - s.Usual; extra > 0 && (worst == nil || extra > worst.Took-worst.Usual) {
			worst = s
		}
	}
	return worst
}

// Opened is a packet with its record and its Inside.
type Opened struct {
	ID     packetlog.ID
	Gone   bool // it is no longer kept, or never was; Record and Inside are then empty
	Record packetlog.Record
	Inside Inside
}

// Incident is the newest problem with one Reason.
type Incident struct {
	Reason Reason
	N      int64         // problems with that reason so far
	T      time.Duration // when
	Opened Opened
}
