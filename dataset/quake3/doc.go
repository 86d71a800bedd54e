// Package quake3 reads demos (recorded matches) of Quake III Arena and of games based on it as a source
// of frames. A frame is a snapshot: one row for each entity number, and a last row for the player.
//
// A demo contains the messages that a server sent to one client. Each snapshot is coded as a delta to
// an earlier one. Snapshots are decoded during playback, since the tables of a whole match would take
// a gigabyte.
//
// Demos are not trusted: reading one uses at most maxBytes and a few megabytes, whatever its headers
// claim, and time in proportion to its messages. A truncated or damaged demo is read up to that
// point, and a remark reports it. If there is no snapshot before, that is a *source.Error.
package quake3

import "errors"

// maxBytes is how many bytes of a demo are read; an hour of a crowded match has 30 MB. The rest is left
// out, and a remark reports that.
const maxBytes = 128 << 20

// maxFrames is how many snapshots of a demo are read: a day at 12 per second. It bounds the time that a
// file can take, since a snapshot of 20 bytes may have a thousand entities, and a compressed file of
// a few kilobytes may contain millions of snapshots.
const maxFrames = 1 << 20

// Errors of this package, returned wrapped in a *source.Error.
var (
	errFormat      = errors.New("not a demo of Quake III")
	errProtocol    = errors.New("unsupported protocol")
	errNoSnapshots = errors.New("no snapshots")

	// errTruncated means that the file is truncated. It is never returned to callers: the snapshots
	// before are used, and a remark reports it.
	errTruncated = errors.New("the file is truncated")
)
