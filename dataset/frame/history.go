package frame

// MaxHistory is the most frames a history keeps: a packet names its baseline by
// an 8-bit distance, of which 0 means the initial state.
const MaxHistory = 255

// Entry is one remembered frame with what its endpoint learnt from it.
type Entry struct {
	Seq    uint64 // unwrapped sequence number of the packet that carried the frame
	Frame  Frame
	Memo   any    // the encoder's memory of this frame, immutable while it is here
	Epoch  uint64 // the epoch in which Memo was made
	held   bool
	shared *Shared // whose table and body Frame has; nil: they are its own
	own    Frame   // memory of the entry's own, while Frame has another's
}

// Copy stores a deep copy of f.
func (e *Entry) Copy(f *Frame) {
	e.unshare()
	e.Frame.CopyFrom(f)
}

// Share stores f without copying it. The entry keeps it until it stores another one.
func (e *Entry) Share(f *Shared) {
	f.Keep()
	e.unshare()
	e.own, e.Frame, e.shared = e.Frame, f.Frame, f
}

// Shared returns the frame that the entry shares; nil if it has its own.
func (e *Entry) Shared() *Shared { return e.shared }

func (e *Entry) unshare() {
	if e.shared != nil {
		e.shared.Release()
		e.Frame, e.shared = e.own, nil
	}
}

// History keeps the frames of the last n sequence numbers. It is a ring indexed
// by sequence number with one slot more than n, so that while frame s is being
// encoded or decoded all of s-1 .. s-n are still there. It is bounded because
// a peer names frames by a distance of 8 bits, and it never allocates after its
// slots have grown to size.
type History struct {
	slots  []Entry
	newest uint64
	any    bool
}

// NewHistory returns a history of n frames of schema s, with memory for all of them; n is
// clamped to 1..MaxHistory.
func NewHistory(s *Schema, n int) *History {
	h := NewSharing(n)
	cells := s.Cells()
	slab := make([]int32, cells*len(h.slots))
	for i := range h.slots {
		h.slots[i].Frame.Table = slab[i*cells : (i+1)*cells : (i+1)*cells]
	}
	return h
}

// NewSharing is NewHistory for frames that are mostly shared: there is memory for others
// once they are copied.
func NewSharing(n int) *History {
	return &History{slots: make([]Entry, max(1, min(n, MaxHistory))+1)}
}

// Len returns how many sequence numbers back the history reaches.
func (h *History) Len() int { return len(h.slots) - 1 }

// Get returns the entry of seq, or nil if it never came or has left.
func (h *History) Get(seq uint64) *Entry {
	e := &h.slots[seq%uint64(len(h.slots))]
	if !e.held || e.Seq != seq || seq+uint64(h.Len()) < h.newest {
		return nil
	}
	return e
}

// Put claims the slot for seq and returns it with the evicted frame and memo
// still inside, to be overwritten or reused; nil if seq is too old to be kept.
func (h *History) Put(seq uint64) *Entry {
	if h.any && seq+uint64(h.Len()) < h.newest {
		return nil
	}
	if !h.any || seq > h.newest {
		h.newest, h.any = seq, true
	}
	e := &h.slots[seq%uint64(len(h.slots))]
	e.Seq, e.held = seq, true
	return e
}

// Drop drops the frame of seq if it is shared: nobody asks for it any more. Its memo stays, to
// be handed over by Put.
func (h *History) Drop(seq uint64) {
	if e := h.Get(seq); e != nil && e.shared != nil {
		e.unshare()
		e.held = false
	}
}

// Newest returns the highest sequence number ever put, and whether there is one.
func (h *History) Newest() (uint64, bool) { return h.newest, h.any }

// Forget drops everything, memos included.
func (h *History) Forget() {
	for i := range h.slots {
		h.slots[i].held, h.slots[i].Memo = false, nil
	}
	h.newest, h.any = 0, false
}

// Each calls f for every entry held, in no particular order.
func (h *History) Each(f func(*Entry)) {
	for i := range h.slots {
		if h.slots[i].held {
			f(&h.slots[i])
		}
	}
}
