package packets

import (
	"time"

	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
)

// run is the packet records of a run, by their numbers: as they are at present, and those that the present has dropped
// as they are in the look back.
type run struct {
	past    *engine.Lane // of the look back; nil at present
	present *engine.Lane
	now     time.Duration // the time cursor
	inPast  bool          // now is not the present
	client  int           // of a crowd; 0 if none, or its run is not repeated yet
}

// newRun returns the records of the active encoder.
func newRun(v room.View) run {
	r := run{present: v.ActiveLane(), now: v.Snap.Now, inPast: v.Past, client: v.Snap.Client}
	if v.Past && len(v.Present.Lanes) > 0 {
		r.present = &v.Present.Lanes[0]
		if v.Now == nil { // v.Snap is the run as the lab has repeated it
			r.past = v.ActiveLane()
		}
	}
	return r
}

// first returns the number of the oldest record. It is not 0 if older records were dropped.
func (r *run) first() uint64 {
	if r.past != nil {
		return r.past.History.First()
	}
	return r.present.History.First()
}

// end returns the number after that of the newest record: that of the look back if the present has dropped the
// records after it.
func (r *run) end() uint64 {
	if r.past != nil && r.past.EndOfRecords() < r.present.History.First() {
		return r.past.EndOfRecords()
	}
	return r.present.EndOfRecords()
}

// at returns a record by its number.
func (r *run) at(number uint64) *packetlog.Record {
	if r.past != nil && number < r.present.History.First() {
		return r.past.Record(number)
	}
	return r.present.Record(number)
}

// endAtCursor returns the number after that of the newest record at the time cursor.
func (r *run) endAtCursor() uint64 {
	if !r.inPast {
		return r.end()
	}
	return r.present.RecordsUntil(r.now)
}

// find returns the number of a packet's record; false if there is none.
func (r *run) find(id packetlog.ID) (number uint64, ok bool) {
	for n := r.end(); n > r.first(); n-- {
		if r.at(n-1).ID() == id {
			return n - 1, true
		}
	}
	return 0, false
}

// isAtPresent reports whether the packet with the given number is so new that the lab shows its details without a
// look back, though not in the look back that is shown.
func (r *run) isAtPresent(number uint64) bool {
	return r.past != nil && number >= r.past.EndOfRecords() && number >= r.present.History.End()
}
