package delivery

import (
	"crypto/sha256"
	"sync"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/files"
	"wirelab/encoders/patch"
	"wirelab/experiment/endpoint"
	"wirelab/internal/wallclock"
)

// Pair contains the old file, which both endpoints have, and the new file, which is delivered, with
// their SHA-256.
type Pair struct {
	Old, New       *frame.Frame
	OldSum, NewSum [sha256.Size]byte
}

// NewPair returns a pair of files, which are the bodies of two frames.
func NewPair(old, new *frame.Frame) *Pair {
	return &Pair{old, new, sha256.Sum256(old.Body), sha256.Sum256(new.Body)}
}

// PackCache caches packed files. Packing is deterministic and may take a minute, so the runs of a
// sweep, or a session and its restarts, share a cache. It is safe for use by several goroutines.
type PackCache struct {
	mu  sync.Mutex
	all map[packKey]*packedFile
}

// packKey identifies a packed file.
type packKey struct {
	codec    uint8  // Codec.ID
	params   string // canonical parameters
	old, new [sha256.Size]byte
}

// packedFile is a packed file.
type packedFile struct {
	making  sync.Mutex // locked while the file is being packed
	made    bool       // the file is packed; the fields below are set
	encoder string     // name of the codec
	data    []byte
	ns      int64 // wall time of packing in nanoseconds; 0 without a clock
}

// Packing observes how a file is packed. All fields may be nil.
type Packing struct {
	Clock    wallclock.Clock                               // times the packing
	Progress func(encoder string, done, total int64) error // done and total are bytes; an error cancels the packing
}

// NewPackCache returns an empty cache.
func NewPackCache() *PackCache { return &PackCache{all: map[packKey]*packedFile{}} }

// entry returns the cache entry for the new file packed by encoding, which may not be made yet.
func (c *PackCache) entry(encoding *endpoint.Encoding, pair *Pair) *packedFile {
	key := packKey{encoding.Codec.ID, string(encoding.Canonical), pair.OldSum, pair.NewSum}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all[key] == nil {
		c.all[key] = &packedFile{}
	}
	return c.all[key]
}

// Has reports whether the new file packed by encoding is in the cache. It does not wait for a packing in
// progress.
func (c *PackCache) Has(encoding *endpoint.Encoding, pair *Pair) bool {
	p := c.entry(encoding, pair)
	if !p.making.TryLock() {
		return false
	}
	defer p.making.Unlock()
	return p.made
}

// Make packs the new file for a receiver that has the old one, unless the cache contains the result.
// If another goroutine is packing the same file, Make waits for it. w may be nil.
func (c *PackCache) Make(encoding *endpoint.Encoding, pair *Pair, w *Packing) error {
	_, err := c.get(encoding, pair, w)
	return err
}

// get returns the new file of pair, packed by encoding. It packs the file unless the cache contains the
// result. While one goroutine packs, others wait for the lock of the cache entry. After an error nothing is
// cached, and the next call tries again. w has the callbacks for progress; nil means none.
func (c *PackCache) get(encoding *endpoint.Encoding, pair *Pair, w *Packing) (*packedFile, error) {
	p := c.entry(encoding, pair)
	p.making.Lock()
	defer p.making.Unlock()
	if p.made {
		return p, nil
	}
	if w == nil {
		w = &Packing{}
	}
	if g, ok := encoding.Encoder.(files.Gradual); ok {
		var progress patch.Progress
		if w.Progress != nil {
			progress = func(done, total int64) error { return w.Progress(encoding.Codec.Name, done, total) }
		}
		g.Follow(progress)
		defer g.Follow(nil) // stops reporting, since the encoder is used again
	}
	start := w.Clock.Now()
	data, _, err := encoding.Encoder.Encode(nil, pair.New, []encoders.Ref{{Frame: pair.Old}}, nil, nil)
	if err != nil {
		return nil, err
	}
	p.encoder, p.data, p.ns, p.made = encoding.Codec.Name, data, w.Clock.Now()-start, true
	return p, nil
}
