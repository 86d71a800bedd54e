package frame

// MaxHistory is the maximum length of a history. A packet identifies its baseline by an 8-bit distance
// of sequence numbers, of which 0 means the initial state.
const MaxHistory = 255

// Entry is a frame in a History.
type Entry struct {
	// Seq is the unwrapped sequence number of the packet with the frame.
	Seq uint64
	// Frame is the frame. It must not be modified while the entry shares it; use Copy or Share to
	// replace it.
	Frame Frame
	// Memo is what an adaptive encoder has learned up to this frame, or nil. It is not modified
	// while it is in the history.
	Memo any
	// Epoch is the epoch of the encoder that made Memo.
	Epoch uint64

	held     bool    // the slot is in use
	shared   *Shared // the frame whose table and body Frame uses; nil if Frame has its own memory
	ownFrame Frame   // the entry's own memory while Frame is shared
}

// Copy stores a deep copy of f in the entry.
func (e *Entry) Copy(f *Frame) {
	e.unshare()
	e.Frame.CopyFrom(f)
}

// Share stores f in the entry without copying it. The entry retains f until another frame replaces it.
func (e *Entry) Share(f *Shared) {
	f.Retain() // before unshare, since the entry may share f already
	e.unshare()
	e.ownFrame, e.Frame, e.shared = e.Frame, f.Frame, f
}

// Shared returns the shared frame in the entry, or nil if the entry has a copy.
func (e *Entry) Shared() *Shared { return e.shared }

// unshare releases the shared frame, if any, and returns to the entry's own memory.
func (e *Entry) unshare() {
	if e.shared != nil {
		e.shared.Release()
		e.Frame, e.shared = e.ownFrame, nil
	}
}

// History stores the frames of the last n sequence numbers, at most MaxHistory. Sequence numbers may
// arrive late, twice, or with gaps. It does not allocate once its slots have grown to the size of the
// frames.
//
// It is a ring indexed by sequence number. It has one slot more than n, so that frames s-1 to s-n are
// still available while frame s is being encoded or decoded.
type History struct {
	n         int
	slots     []Entry // nil before the first Put
	newest    uint64
	hasNewest bool // newest is valid
}

// NewHistory returns an empty history of n frames. Memory for entries and frames is allocated when it is needed. n is
// limited to 1..MaxHistory.
func NewHistory(n int) *History { return &History{n: max(1, min(n, MaxHistory))} }

// Len returns n, the number of sequence numbers before the newest one that the history covers.
func (h *History) Len() int { return h.n }

// slot returns the entry at which packet seq belongs.
func (h *History) slot(seq uint64) *Entry { return &h.slots[seq%uint64(len(h.slots))] }

// Get returns the entry with sequence number seq, or nil if it is not in the history. The entry is
// valid until Put reuses its slot.
func (h *History) Get(seq uint64) *Entry {
	if h.slots == nil {
		return nil
	}
	e := h.slot(seq)
	if !e.held || e.Seq != seq || seq+uint64(h.Len()) < h.newest {
		return nil // absent, or too old although its slot has not been reused
	}
	return e
}

// Put inserts an entry for seq and returns it. The entry still contains the frame and the memo that
// were in its slot before; the caller must replace them, and may reuse them. Put returns nil if seq
// is older than the history reaches.
func (h *History) Put(seq uint64) *Entry {
	if h.hasNewest && seq+uint64(h.Len()) < h.newest {
		return nil
	}
	if !h.hasNewest || seq > h.newest {
		h.newest, h.hasNewest = seq, true
	}
	if h.slots == nil {
		h.slots = make([]Entry, h.n+1)
	}
	e := h.slot(seq)
	e.Seq, e.held = seq, true
	return e
}

// Drop removes the entry of seq if its frame is shared, and releases the frame. The memo stays in the
// slot; the next Put into that slot returns it for reuse.
func (h *History) Drop(seq uint64) {
	if e := h.Get(seq); e != nil && e.shared != nil {
		e.unshare()
		e.held = false
	}
}

// Newest returns the highest sequence number that was put, or false if the history is empty.
func (h *History) Newest() (uint64, bool) { return h.newest, h.hasNewest }

// Each calls f for every entry, in no particular order.
func (h *History) Each(f func(*Entry)) {
	for i := range h.slots {
		if h.slots[i].held {
			f(&h.slots[i])
		}
	}
}
