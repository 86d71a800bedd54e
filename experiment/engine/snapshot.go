package engine

import (
	"sort"
	"time"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/delivery"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/engine/playout"
	"wirelab/experiment/figures"
)

// ShownPackets is the number of packets of each lane in a snapshot: those that can be described bit by bit.
const ShownPackets = frame.MaxHistory

// RunState is the state of a runner.
type RunState uint8

// The states of a runner.
const (
	Running RunState = iota
	Paused
	Ended   // the source or the planned duration has ended
	Broken  // an error stopped the session; see Snapshot.Err
	Seeking // running to Snapshot.Seek as fast as possible
)

// Mark is a labelled instant on the time axis of charts.
type Mark struct {
	T     time.Duration
	Label string // short: "encoder rotor", "loss 5%", "loop"
	Kind  MarkKind
}

// MarkKind is the kind of a mark.
type MarkKind uint8

// The kinds of mark.
const (
	MarkChange MarkKind = iota // a setting was changed
	MarkLoop                   // loop point: the recording restarted
	MarkNote                   // set by the user, or a refused change
	MarkUndo                   // a change was undone
)

// Notice is a message for the user, such as "saved as ..." or "no such encoder".
type Notice struct {
	ID   int // increases with every notice
	Text string
	Bad  bool // it reports a problem
}

// Lane is one lane of a snapshot. The first lane has the active encoder; further lanes are shadows
// on the same frames and losses.
type Lane struct {
	Letter    string // A for the first lane; never changes, and no other lane of the session has it
	Encoder   string
	Params    string             // the rest of Name: the parameters of the encoder, and the lane's own settings; empty if none
	Began     time.Duration      // when the lane joined the session
	Samples   []meters.Sample    // oldest first; bounded
	History   packetlog.History  // the packets before Packets; first lane of a live session only
	Packets   []packetlog.Record // oldest first; bounded
	Totals    figures.Totals
	Timing    figures.Timing
	Link      []meters.LinkStretch    // set and measured properties of the downlink, oldest first; first lane with modelled links only
	Stretches []meters.StretchFigures // between changes of its encoder and its links; nil without them
	Traffic   []figures.Flow          // other traffic on the downlink, by flow; nil if there was none
	Control   *ControlView            // nil without a send-rate control
	Budget    endpoint.Budget         // zero without a budget
	Recent    meters.Recent
	Blocks    []delivery.BlockState // states of the delivered file's blocks, in order; nil if the data are not a file
	Err       error                 // newest error of the encoder, the decoder or the feedback
	UnderWay  int                   // reliable messages that are not delivered
	Incidents []inspector.Incident  // newest incident of each reason, latest first; first lane only
}

// EndOfRecords returns the number of packet records that the lane has made: those of History, then Packets.
func (l *Lane) EndOfRecords() uint64 { return l.History.End() + uint64(len(l.Packets)) }

// Record returns the packet record with the given number, from History.First() up to, not including,
// EndOfRecords(). It must not be modified.
func (l *Lane) Record(number uint64) *packetlog.Record {
	if end := l.History.End(); number >= end {
		return &l.Packets[number-end]
	}
	return l.History.At(number)
}

// RecordsUntil returns the number after that of the last record of a packet sent at t or before.
func (l *Lane) RecordsUntil(t time.Duration) uint64 {
	first := l.History.First()
	isAfter := func(i int) bool { return l.Record(first+uint64(i)).Sent > t }
	return first + uint64(sort.Search(int(l.EndOfRecords()-first), isAfter))
}

// Snapshot is an immutable view of a running session, for the dashboard. Its slices
// may be shared with later snapshots and are never modified.
type Snapshot struct {
	Now   time.Duration // virtual time
	State RunState
	Pace
	To              string              // address of the remote receiver; empty if the receiver is in this process
	Saved           time.Duration       // a saved report contains the run up to this time
	Saving          bool                // a report is being written
	Err             error               // the error that stopped the session; nil if none
	Config          *config.Config      // with all changes applied so far
	Item            string              // the word for one item of the data, such as "cube"
	Remarks         []string            // assumptions about the data, and parts that were left out
	Precision       []dataset.Precision // rounding errors of the data; nil unless they are a table
	Schema          *frame.Schema
	Lanes           []Lane
	Crowd           *CrowdView              // nil unless the run has many receivers; then there are no lanes
	Client          int                     // the client of a crowd that the session repeats, from 1; 0 if none
	Marks           []Mark                  // oldest first
	Effects         []Effect                // measured effects of changes of the encoder, oldest first
	TrialAt         time.Duration           // time of the change whose effect is being measured; 0 if none
	PreviousEncoder *config.Encoder         // the encoder before its last change; nil if it was not changed
	Log             []config.StampedChange  // applied changes, oldest first
	Patch           *delivery.PatchProgress // the patch being made, for which the session waits; nil if none
	World           *playout.Picture        // the cubes at both endpoints; nil if the data are not cubes
	Frames          *playout.Frames         // the frames at both endpoints; nil for cubes and files
	Requested
	Notice Notice // the newest notice; ID 0 means none
	Past   *Past  // the look back that the user requested; nil if none
}

// Pace describes how fast a session runs.
type Pace struct {
	Speed  float64       // requested multiple of real time; 0 means as fast as possible
	Actual float64       // multiple of real time reached over the last second
	Seek   time.Duration // target of the seek, if the state is Seeking
}

// Requested contains details that a snapshot has only after a live.Command requested them.
type Requested struct {
	Opened     *inspector.Opened // the packet that live.Command.Open selected; nil if none
	Traced     *Traced           // the packet that live.Command.Trace selected; nil if none
	Estimates  *Estimates        // nil unless live.Command.Estimate requested them
	RowCosts   *RowCosts         // nil unless live.Command.RowCosts requested them
	Carried    *RowCosts         // which packets carry which rows; nil unless live.Command.Carried requested it
	Priorities *Priorities       // nil unless live.Command.Priorities requested them and there is a budget
}

// Past is a look back: a second session repeats the run up to an earlier time, beside the run that goes on.
type Past struct {
	ID      int           // increases with every request
	Packet  bool          // a packet was requested, not a time
	To      time.Duration // virtual time to reach; 0 if unknown
	Reached time.Duration // virtual time that the second session has reached; 0 if it has not taken long yet
	Snap    *Snapshot     // the run at the requested time or packet; nil until it is reached
}
