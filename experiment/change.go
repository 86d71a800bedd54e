package experiment

import "time"

// Change is anything that may be altered while a session runs. A keystroke, a
// typed command, a line of a script and a replay all make the same Change. Empty
// fields mean "leave it".
type Change struct {
	Encoder string            `json:"encoder,omitempty"`
	Params  map[string]any    `json:"params,omitempty"`  // of the encoder named, or of the present one
	Profile string            `json:"profile,omitempty"` // a link profile: sets down and up
	Down    map[string]string `json:"down,omitempty"`    // settings of the link sender -> receiver, by key of lossmodel.Keys
	Up      map[string]string `json:"up,omitempty"`      // settings of the link receiver -> sender
	Playout *time.Duration    `json:"playout_ns,omitempty"`
	Mark    string            `json:"mark,omitempty"` // changes nothing: a bookmark in the timeline
}

// StampedChange is a change with the virtual time at which it took effect: it
// was applied before any other event of that instant.
type StampedChange struct {
	T      time.Duration `json:"t_ns"`
	TS     float64       `json:"t_s"` // the same, in seconds, for people
	Change Change        `json:"change"`
}
