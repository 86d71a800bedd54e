package cubes

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

// Traces of packets: see encoders.Trace. The rungs that send every cube are traced a row at a time, by what the row
// charged, so that their fast paths need no checks. The others call traceTo wherever they call charge.

// traceTo assigns the bits written since the last call of a trace method to slot k, in the trace, if one is wanted.
func (c *coder) traceTo(k encoders.Slot) {
	if c.trace != nil {
		c.extendTrace(k)
	}
}

// extendTrace is traceTo if a trace is wanted. It is a function of its own so that the compiler inlines traceTo.
func (c *coder) extendTrace(k encoders.Slot) { c.trace.ExtendBits(k, encoders.NoField, c.w.Len()) }

// traceRow sets the cube on which the bits that follow are spent, in the trace, if one is wanted.
func (c *coder) traceRow(i int) {
	if c.trace != nil {
		c.trace.SetRow(i)
	}
}

// traceFields assigns the bits that end at position end to the fields of slot k from field f on. widths are the bits
// of each field. Bits before them that are not assigned yet belong to no single field.
func (c *coder) traceFields(k encoders.Slot, f, end int, widths ...uint) {
	total := 0
	for _, w := range widths {
		total += int(w)
	}
	position := end - total
	c.trace.ExtendBits(k, encoders.NoField, position)
	for i, w := range widths {
		position += int(w)
		c.trace.ExtendBits(k, f+i, position)
	}
}

// traceAbsoluteOrientation assigns the last bits written to the smallest three, in the trace.
func (c *coder) traceAbsoluteOrientation() {
	c.traceFields(encoders.SlotOrientation, frame.CubeLargest, c.w.Len(), cube.LargestBits, cube.SmallBits, cube.SmallBits, cube.SmallBits)
}

// traceInteracting assigns the last bit written to the interacting flag, in the trace.
func (c *coder) traceInteracting() {
	c.traceFields(encoders.SlotInteracting, frame.CubeInteracting, c.w.Len(), 1)
}

// traceIndex assigns the bits written since the last call of a trace method to the index of cube i, in the trace.
func (c *coder) traceIndex(i int) {
	c.trace.SetRow(i)
	c.extendTrace(encoders.SlotIndex)
	c.trace.SetRow(encoders.NoRow)
}

// traceBitmap assigns the last n bits written to the flags of the cubes from first on, in the trace.
func (c *coder) traceBitmap(first, n int) {
	begin := c.w.Len() - n
	c.trace.ExtendBits(encoders.SlotFlags, encoders.NoField, begin)
	for i := range n {
		c.trace.SetRow(first + i)
		c.trace.ExtendBits(encoders.SlotFlags, encoders.NoField, begin+i+1)
	}
	c.trace.SetRow(encoders.NoRow)
}

// traceAbsolute assigns the last bits written, which codeAbsolute wrote, to the fields of a cube, in the trace.
func (c *coder) traceAbsolute() {
	end := c.w.Len() - 1 // of the position, before the interacting flag
	c.traceFields(encoders.SlotOrientation, frame.CubeLargest, end-cube.PositionBits, cube.LargestBits, cube.SmallBits, cube.SmallBits, cube.SmallBits)
	c.traceFields(encoders.SlotPosition, frame.CubeX, end, cube.XYBits, cube.XYBits, cube.ZBits)
	c.trace.ExtendBits(encoders.SlotInteracting, frame.CubeInteracting, end+1)
}

// traced returns a function that codes a cube like code and assigns its bits, in the trace. It counts the cubes of one
// frame.
func (code everyRow) traced() everyRow {
	i := 0
	return func(c *coder, q, base *cube.Row, ticks int32) {
		before := c.spent
		code(c, q, base, ticks)
		c.traceWhole(i, &before)
		i++
	}
}

// traceWhole assigns the bits of cube i to its fields, in the trace. before is c.spent before the cube was written. The
// fields are in the order of codeRaw and codeAtRest, and of codeAbsolute.
func (c *coder) traceWhole(i int, before *[encoders.SlotPadding]int) {
	c.trace.SetRow(i)
	written := func(k encoders.Slot) int { return c.spent[k] - before[k] }
	end := c.w.Len()
	positionEnd := end - written(encoders.SlotInteracting)
	velocityEnd := positionEnd - written(encoders.SlotPosition)
	orientationEnd := velocityEnd - written(encoders.SlotVelocity)
	if written(encoders.SlotOrientation) == cube.OrientationBits {
		c.traceFields(encoders.SlotOrientation, frame.CubeLargest, orientationEnd, cube.LargestBits, cube.SmallBits, cube.SmallBits, cube.SmallBits)
	} else { // four floats
		c.trace.ExtendBits(encoders.SlotOrientation, encoders.NoField, orientationEnd)
	}
	c.trace.ExtendBits(encoders.SlotVelocity, encoders.NoField, velocityEnd)
	if written(encoders.SlotPosition) == cube.PositionBits {
		c.traceFields(encoders.SlotPosition, frame.CubeX, positionEnd, cube.XYBits, cube.XYBits, cube.ZBits)
	} else {
		c.traceFields(encoders.SlotPosition, frame.CubeX, positionEnd, floatBits, floatBits, floatBits)
	}
	c.trace.ExtendBits(encoders.SlotInteracting, frame.CubeInteracting, end)
}
