package experiment

import (
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine/packetlog"
)

// Command is what a person may ask of a running lab. Empty fields mean nothing.
type Command struct {
	Change *config.Change // apply
	Undo   bool           // take the last change back
	Redo   bool           // make the change again that was taken back last
	Pause  *bool          // stop or go on
	Toggle bool           // pause if running, go on if paused
	Step   int            // pause, and advance so many frames
	Speed  *float64       // times real time; 0 means as fast as it can
	Seek   *time.Duration // run there without pacing; backwards by replaying from the start
	Save   *string        // write a report in a new folder below this one; "" means the default
	Open   *packetlog.ID  // show the inside of this packet in every snapshot from now on
}
