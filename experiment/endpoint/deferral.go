package endpoint

import "wirelab/encoders"

// deferral is the work on a memo that an end leaves until the packet is sent, or the
// frame shown.
type deferral struct {
	wanted bool
	left   encoders.Finisher // has such work; nil: nobody
}

// prepare has a codec leave what it can leave, and returns it; nil if that is nothing.
func (d *deferral) prepare(codec any) encoders.Finisher {
	f, ok := codec.(encoders.Finisher)
	if !ok || !d.wanted {
		return nil
	}
	f.Defer()
	return f
}

// finish does what was left.
func (d *deferral) finish() {
	if d.left != nil {
		d.left.Finish()
		d.left = nil
	}
}
