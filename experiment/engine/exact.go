package engine

import "wirelab/dataset/frame"

// exactFrames records which frames in the receiver's history are known to equal the source's: element n%len
// is n+1 if the frame of packet n does. It implements playout.Verifier for the lane's display.
type exactFrames [frame.MaxHistory + 1]uint64

// Exact reports whether the stored frame of packet seq is known to equal the source's.
func (f *exactFrames) Exact(seq uint64) bool { return f[seq%uint64(len(f))] == seq+1 }

// set records that the stored frame of packet seq equals the source's.
func (f *exactFrames) set(seq uint64) { f[seq%uint64(len(f))] = seq + 1 }
