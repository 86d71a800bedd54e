package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/files"
	"wirelab/experiment/config"

	patches "wirelab/encoders/patch"
	"wirelab/experiment/endpoint"
)

// PackCache caches what encoders made of files. A patch may take a minute to make and
// is always the same, so the runs of a sweep, or a session and its restarts, share a
// cache. It is safe for use by several goroutines.
type PackCache struct {
	mu  sync.Mutex
	all map[packKey]*pack
}

// packKey identifies a pack: the codec, its canonical params, and the hashes of both
// files.
type packKey struct {
	codec    uint8
	params   string
	old, new [sha256.Size]byte
}

// pack is a packed file: what an encoder made of it.
type pack struct {
	making  sync.Mutex // locked while the pack is made
	made    bool
	encoder string
	data    []byte
	ns      int64 // time that packing took, if there was a clock
}

// filePair is the file that both ends have and the one to be delivered, with their
// SHA-256.
type filePair struct {
	old, new       *frame.Frame
	oldSum, newSum [sha256.Size]byte
}

func newFilePair(old, new *frame.Frame) *filePair {
	return &filePair{old, new, sha256.Sum256(old.Body), sha256.Sum256(new.Body)}
}

// Packing observes how a file is packed. An error from Progress cancels the work.
type Packing struct {
	Clock    Clock
	Progress func(encoder string, done, total int64) error
	Watch    patches.Watch
}

// NewPackCache returns an empty cache.
func NewPackCache() *PackCache { return &PackCache{all: map[packKey]*pack{}} }

// entry returns the cache's entry of a pack, made or not.
func (p *PackCache) entry(run *endpoint.Encoding, of *filePair) *pack {
	key := packKey{run.Codec.ID, string(run.Canonical), of.oldSum, of.newSum}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all[key] == nil {
		p.all[key] = &pack{}
	}
	return p.all[key]
}

// has reports whether a pack is made. It does not wait for one in the making.
func (p *PackCache) has(run *endpoint.Encoding, of *filePair) bool {
	x := p.entry(run, of)
	if !x.making.TryLock() {
		return false
	}
	defer x.making.Unlock()
	return x.made
}

// of returns the new file, packed for a receiver that has the old one. It makes the
// pack if the cache has none. Other callers that ask for it meanwhile wait.
func (p *PackCache) of(run *endpoint.Encoding, pair *filePair, w *Packing) (*pack, error) {
	x := p.entry(run, pair)
	x.making.Lock()
	defer x.making.Unlock()
	if x.made {
		return x, nil
	}
	if w == nil {
		w = &Packing{}
	}
	if g, ok := run.Encoder.(files.Gradual); ok {
		var progress patches.Progress
		if w.Progress != nil {
			progress = func(done, total int64) error { return w.Progress(run.Codec.Name, done, total) }
		}
		g.Follow(progress, w.Watch)
		defer g.Follow(nil, patches.Watch{})
	}
	start := w.Clock.Now()
	data, _, err := run.Encoder.Encode(nil, pair.new, []encoders.Ref{{Frame: pair.old}}, nil, nil)
	if err != nil {
		return nil, err
	}
	x.encoder, x.data, x.ns, x.made = run.Codec.Name, data, w.Clock.Now()-start, true
	return x, nil
}

// noteScripted records the encodings that a scripted configuration c needs. The file
// is then packed with them before the session runs, when progress can be shown and
// the user can cancel.
func (s *Session) noteScripted(c *config.Config) error {
	if !s.delivers {
		return nil
	}
	for _, e := range append([]config.Encoder{c.Encoder}, c.Shadows...) {
		codec, params, err := e.Resolve("encoder", c.Codecs)
		if err != nil {
			return err
		}
		run, err := endpoint.NewEncoding(s.schema, codec, params)
		if err != nil {
			return config.ErrorAt("encoder", err)
		}
		s.scripted = append(s.scripted, &run)
	}
	return nil
}

// PacksNeeded returns the encodings that the session or its script needs and that the
// file is not packed with yet.
func (s *Session) PacksNeeded() []*endpoint.Encoding {
	if !s.delivers {
		return nil
	}
	var list []*endpoint.Encoding
	for _, l := range s.lanes {
		run := l.snd.Pending()
		if run == nil {
			run = l.snd.Encoding()
		}
		if !s.packs.has(run, s.pair) {
			list = append(list, run)
		}
	}
	s.scripted = slices.DeleteFunc(s.scripted, func(run *endpoint.Encoding) bool { return s.packs.has(run, s.pair) })
	return append(list, s.scripted...)
}

// Pack packs the file with all encodings of PacksNeeded. Called before the session
// runs, it lets the caller show progress through w.
func (s *Session) Pack(w *Packing) error {
	for _, run := range s.PacksNeeded() {
		if _, err := s.packs.of(run, s.pair, w); err != nil {
			return err
		}
	}
	return nil
}

// PackJob returns a function that packs the session's file with run's codec and
// params. The function uses none of the session's own state, so another goroutine may
// call it.
func (s *Session) PackJob(run *endpoint.Encoding, w *Packing) func() error {
	packs, pair, schema := s.packs, s.pair, s.schema
	codec, params := run.Codec, run.Params
	return func() error {
		own, err := endpoint.NewEncoding(schema, codec, params) // the session may be using run's encoder
		if err == nil {
			_, err = packs.of(&own, pair, w)
		}
		return err
	}
}

// FileSizes returns the sizes in bytes of the file that both ends have and of the one
// to be delivered.
func (s *Session) FileSizes() (old, new int64) {
	return int64(len(s.pair.old.Body)), int64(len(s.pair.new.Body))
}

// FileSums returns the SHA-256 of the two files that data names.
func FileSums(c *config.Config) (old, new [sha256.Size]byte, err error) {
	src, err := c.OpenData(context.Background(), false)
	if err != nil {
		return old, new, err
	}
	s := &Session{source: src, schema: src.Schema(), config: c, initial: &frame.Frame{}, cur: frame.NewPool(src.Schema()).Take()}
	src.Initial(s.initial)
	if err := errors.Join(s.takeFile(), s.Close()); err != nil {
		return old, new, err
	}
	return s.pair.oldSum, s.pair.newSum, nil
}
