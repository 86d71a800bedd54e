package rows

// symbol codes a flag or an enum that changed.
func (r *rowState) symbol(f int, col *fieldPlan) {
	was := col.Raw(r.base[f])
	if col.Span == 1 {
		r.cur[f] = col.Value(1 - was)
		return
	}
	e := r.e
	x := &e.x
	id := uint32(f)<<8 | enumMark
	v, left, at := col.Raw(r.cur[f]), col.Width, uint32(1)
	for range min(col.Width, symbolBits) {
		left--
		e.begin(col.slot)
		x.AddContext(id, at, was, 0)
		x.AddContext(id, at, was, r.expected(f))
		x.AddContext(id, at, r.expected(f), r.margin)
		at = at<<1 | uint32(x.CodeBit(symbolNode+int(min(at, 15)), int(v>>left&1), nil))
	}
	v = (at-1<<min(col.Width, symbolBits))<<left | uint32(e.Direct(uint64(v&(1<<left-1)), left))
	r.cur[f] = col.Value(v)
}

// expected returns a context of a rotation's enum, which is predicted, and 0 of others.
func (r *rowState) expected(f int) uint32 {
	if f != r.e.turn.at {
		return 0
	}
	return uint32(1 + r.first*4 + r.second)
}

// bits codes which bits of a field changed.
func (r *rowState) bits(f int) {
	d := uint32(r.cur[f]) ^ uint32(r.base[f])
	x := &r.e.x
	var out, count uint32
	for i := range uint32(32) {
		r.e.begin(r.e.cols[f].slot)
		x.AddContext(uint32(f)<<8|bitsMark, i, uint32(r.base[f])>>i&1, 0)
		x.AddContext(uint32(f)<<8|bitsMark, i, min(count, 3), 1)
		b := uint32(x.CodeBit(bitNode, int(d>>i&1), nil))
		out |= b << i
		count += b
	}
	r.cur[f] = int32(out ^ uint32(r.base[f]))
}
