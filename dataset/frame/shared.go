package frame

// Shared is a frame with a reference count, so that several histories can store it without copying. It
// must not be modified after it has been filled. When the count drops to zero, the frame returns to
// its pool.
type Shared struct {
	Frame
	// Changed contains the rows in which the frame may differ from the frame before it in its source.
	Changed Rows
	refs    int // reference count
	pool    *Pool
}

// Retain increments the reference count and returns s. Each call must be matched by a call of Release.
func (s *Shared) Retain() *Shared {
	s.refs++
	return s
}

// Release decrements the reference count. The caller must not use the frame afterwards.
func (s *Shared) Release() {
	s.refs--
	switch {
	case s.refs == 0:
		s.pool.free = append(s.pool.free, s)
	case s.refs < 0:
		panic("frame: shared frame released more often than retained")
	}
}

// Pool allocates shared frames of one schema and reuses them. It grows to the largest number of frames
// in use at one time and then allocates nothing. A pool and its frames must be used by one goroutine
// at a time.
type Pool struct {
	schema *Schema
	free   []*Shared
}

// NewPool returns a pool of frames of schema s.
func NewPool(s *Schema) *Pool { return &Pool{schema: s} }

// Get returns a frame with a reference count of one, for the caller to fill. Its content is undefined.
func (p *Pool) Get() *Shared {
	var s *Shared
	if n := len(p.free); n > 0 {
		s, p.free = p.free[n-1], p.free[:n-1]
	} else {
		s = &Shared{Frame: *p.schema.NewFrame(), Changed: NewRows(p.schema.Rows), pool: p}
	}
	s.refs = 1
	return s
}
