package frame

// Shared is a frame that several keep at once and that nobody modifies. It is stored once,
// however many histories hold it. When the last of its users releases it, it goes back to
// its pool.
type Shared struct {
	Frame
	Changed Rows // the rows in which it may differ from the source's frame before it
	users   int
	pool    *Pool
}

// Keep adds a user, who is to call Release, and returns s.
func (s *Shared) Keep() *Shared {
	s.users++
	return s
}

// Release takes a user away. A frame without users may be overwritten at any time.
func (s *Shared) Release() {
	s.users--
	switch {
	case s.users == 0:
		s.pool.free = append(s.pool.free, s)
	case s.users < 0:
		panic("frame: a shared frame was released more often than it was kept")
	}
}

// Pool makes shared frames of one schema, and takes them back. It grows to the most frames
// that were ever in use at once, and then allocates nothing. Several goroutines must not
// use the frames of one pool at once.
type Pool struct {
	schema *Schema
	free   []*Shared
}

// NewPool returns a pool of frames of schema s.
func NewPool(s *Schema) *Pool { return &Pool{schema: s} }

// Take returns a frame for its maker to fill, who is its one user. Its content is undefined.
func (p *Pool) Take() *Shared {
	var s *Shared
	if n := len(p.free); n > 0 {
		s, p.free = p.free[n-1], p.free[:n-1]
	} else {
		s = &Shared{Frame: *p.schema.NewFrame(), Changed: NewRows(p.schema.Rows), pool: p}
	}
	s.users = 1
	return s
}
