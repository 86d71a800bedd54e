// Package quake3 reads demos of Quake III Arena and of the games made of it, and makes a frame of
// each snapshot: a row for each number that an entity can have, and a last one for the player.
//
// A demo is what a server sent to a client, message after message, each snapshot as a difference
// to an earlier one. It is decoded as it is played: a whole match, as tables, would take a gigabyte.
//
// A demo is hostile until it has been read: whatever it claims, its reader takes maxBytes and some
// megabytes, and work in proportion to its messages. One that breaks off or is damaged is read up
// to there, and a remark reports it; with no snapshot in front of that it is a *source.Error.
package quake3

import "errors"

// maxBytes bounds how much of a demo is read; an hour of a crowded match has 30 MB. What comes
// after that is left out, and a remark reports it.
const maxBytes = 128 << 20

// maxFrames bounds the work that a demo can cause: a day at 12 snapshots a second. One of 20 bytes
// can have a thousand entities, and a file of a few kilobytes millions of those.
const maxFrames = 1 << 20

// Errors of this package, returned wrapped in a *source.Error.
var (
	errFormat   = errors.New("not a demo of Quake III")
	errProtocol = errors.New("protocol not known")
	errNothing  = errors.New("no snapshots")
	errCut      = errors.New("the file breaks off") // not returned: what came before is read
)
