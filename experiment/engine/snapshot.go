package engine

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/lossmodel"
)

// SamplePeriod is the width of a sample in virtual time.
const SamplePeriod = 100 * time.Millisecond

// Sample is what happened in one period of virtual time.
type Sample struct {
	T            time.Duration // end of the period
	Sent         int           // packets
	PayloadBits  int64
	WireBits     int64 // payload, our header, 28 bytes of IPv4 and UDP, fragments
	FeedbackBits int64 // the uplink, wire accounting
	Items        int64 // items in the frames sent
	Changed      int64 // rows that differed from their baseline
	Outcomes     [NumOutcomes]int
	LostBy       [figures.MaxCauses]int
	BaselineAge  int64 // sum over the packets counted in Referenced, in ticks
	Referenced   int   // packets encoded against an acked frame, not the initial state
	Starved      int   // display ticks without a snapshot to interpolate to
	Displayed    int   // display ticks
	Late         int   // snapshots that came after their time
	// The worst of the period: how far a cube was shown from where the sender had
	// it at the moment on display.
	PositionErrorMM, OrientationErrorDeg float64
	Budget                               encoders.Budget
}

// Failed returns how many packets failed in the period.
func (s *Sample) Failed() (n int) {
	for o, count := range s.Outcomes {
		if Outcome(o).Failed() {
			n += count
		}
	}
	return n
}

// PacketRecord is the life of one packet, or of one copy of it.
type PacketRecord struct {
	Seq      uint64
	Copy     int           // 0, or 1.. for a copy made by the link
	Sent     time.Duration // virtual time
	Due      time.Duration // when it arrives; 0 if lost
	Arrived  time.Duration // 0 while in flight or if lost
	Encoder  string
	Epoch    uint64
	Baseline int // distance in packets; 0 = the initial state
	Payload  int // bytes
	Wire     int // bytes
	Items    int
	Changed  int // rows that differed from the baseline
	Outcome  Outcome
	Cause    lossmodel.Cause // when lost
	EncodeNS int64           // of this process; not reproducible
	DecodeNS int64
	Seam     bool // first after the recording began anew
}

// ShownPackets is how many packets a snapshot of a running session carries: as many
// as a screen can show.
const ShownPackets = 600

// RunState is what the runner is doing.
type RunState uint8

// The states of a runner.
const (
	Running RunState = iota
	Paused
	Ended   // the source or the duration is over
	Broken  // an error stopped it; see Snapshot.Err
	Seeking // on its way to Snapshot.Seek, without pacing
)

// Mark is a moment in the timeline that a chart points at.
type Mark struct {
	T     time.Duration
	Label string // short: "encoder rotor", "loss 5%", "seam"
	Kind  MarkKind
}

// MarkKind tells marks apart.
type MarkKind uint8

// The kinds of mark.
const (
	MarkChange MarkKind = iota
	MarkSeam
	MarkNote
	MarkUndo // a change was taken back
)

// Notice is a sentence for the person in front: "saved as ...", "no such encoder".
type Notice struct {
	ID   int // grows; a notice with a new ID is new
	Text string
	Bad  bool
}

// Lane is one encoder's side of a snapshot: the first is the encoder under the
// keys, further ones are shadows on the same frames and the same fates.
type Lane struct {
	Encoder  string
	Params   any
	Began    time.Duration // when it joined
	Epoch    uint64
	Samples  []Sample       // oldest first; bounded
	Packets  []PacketRecord // oldest first; bounded
	Totals   figures.Totals
	Timing   figures.Timing
	Recent   Recent
	Blocks   []BlockState // of the file that is delivered, in order; nil if the data are no files
	Err      error        // the encoder's newest complaint: it refused a frame
	Troubles []Incident   // the newest of each kind, the latest first; the first lane's only
}

// Recent is what the vital numbers show: the last two seconds.
type Recent struct {
	PayloadKbps, WireKbps, FeedbackKbps float64
	PayloadP95Kbps                      float64 // of 100 ms samples in the last minute
	BitsPerItem, BitsPerChanged         float64
	ChangedPerFrame                     float64
	BaselineAgeTicks, BaselineAgeMS     float64
	StarvedRatio                        float64 // of the display ticks
	PositionErrorMM                     float64 // of the cube that was shown worst
	EncodeUS, DecodeUS                  float64 // medians
	Budget                              encoders.Budget
}

// Snapshot is one immutable picture of a running session, for the dashboard.
// Slices may be shared with later snapshots; nobody writes to them.
type Snapshot struct {
	Now    time.Duration // virtual
	State  RunState
	Speed  float64       // asked for; 0 means as fast as it can
	Actual float64       // reached, over the last second of wall time
	Seek   time.Duration // where it is going, if State is Seeking
	Err    error
	Config *config.Config // effective, with all changes applied
	Item   string         // "cube"
	Schema *frame.Schema
	Lanes  []Lane
	Marks  []Mark
	Log    []config.StampedChange
	Making *Making  // a patch that the session waits for; nil: none
	Matrix *Matrix  // what the new file is like, by the patch that was made last; nil: none was
	World  *Picture // both ends to look at; nil if the data are no cubes
	Opened *Opened  // the packet that was asked for with Command.Open; nil: none
	Notice Notice
}

// Making is a patch that is being made; virtual time stands still meanwhile.
type Making struct {
	Encoder     string
	Done, Total int64 // bytes of the new file
}
