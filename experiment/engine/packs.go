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

// Packs remembers what encoders made of files. A patch may take a minute to make and
// is always the same: sessions that share one make it once, be they the points of a
// sweep or a session that is played again from its beginning. It may be used by
// several goroutines.
type Packs struct {
	mu  sync.Mutex
	all map[packKey]*pack
}

// packKey says of what, and by which encoder with which params, a pack was made.
type packKey struct {
	codec    uint8
	params   string
	old, new [sha256.Size]byte
}

// pack is what an encoder made of a file.
type pack struct {
	making  sync.Mutex // held while it is made
	made    bool
	encoder string
	data    []byte
	ns      int64 // it took, if somebody measured it
}

// pair is the file that both ends have and the one that has to get across.
type pair struct {
	old, new       *frame.Frame
	oldSum, newSum [sha256.Size]byte
}

func newPair(old, new *frame.Frame) *pair {
	return &pair{old, new, sha256.Sum256(old.Body), sha256.Sum256(new.Body)}
}

// Packing is who hears how a file is packed. An error of Progress ends the work.
type Packing struct {
	Clock    Clock
	Progress func(encoder string, done, total int64) error
	Watch    patches.Watch
}

// NewPacks returns an empty memory.
func NewPacks() *Packs { return &Packs{all: map[packKey]*pack{}} }

// entry returns the place of a pack, made or not.
func (p *Packs) entry(run *endpoint.Encoding, of *pair) *pack {
	key := packKey{run.Codec.ID, string(run.Canonical), of.oldSum, of.newSum}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all[key] == nil {
		p.all[key] = &pack{}
	}
	return p.all[key]
}

// have reports whether a pack is made; it does not wait for one that is being made.
func (p *Packs) have(run *endpoint.Encoding, of *pair) bool {
	x := p.entry(run, of)
	if !x.making.TryLock() {
		return false
	}
	defer x.making.Unlock()
	return x.made
}

// of returns what an encoder makes of the new file for those who have the old one.
// It is made here if nobody has yet; whoever else asks for it meanwhile waits.
func (p *Packs) of(run *endpoint.Encoding, pair *pair, w *Packing) (*pack, error) {
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

// foresee notes by what encodings the file is packed where the script has made the
// configuration c: rather before the session runs, when whoever waits can be told, and
// can leave, than in its middle.
func (s *Session) foresee(c *config.Config) error {
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

// Unpacked returns the encodings that the session will need next, or its script, and
// that nobody has packed the file with.
func (s *Session) Unpacked() []*endpoint.Encoding {
	if !s.delivers {
		return nil
	}
	var list []*endpoint.Encoding
	for _, l := range s.lanes {
		run := l.snd.Pending()
		if run == nil {
			run = l.snd.Encoding()
		}
		if !s.packs.have(run, s.pair) {
			list = append(list, run)
		}
	}
	s.scripted = slices.DeleteFunc(s.scripted, func(run *endpoint.Encoding) bool { return s.packs.have(run, s.pair) })
	return append(list, s.scripted...)
}

// Pack packs the file for every lane and for the script, where that is still to be
// done: before the session runs, so that whoever waits can be told.
func (s *Session) Pack(w *Packing) error {
	for _, run := range s.Unpacked() {
		if _, err := s.packs.of(run, s.pair, w); err != nil {
			return err
		}
	}
	return nil
}

// PackBy returns what packs the session's file by an encoding like run. It touches
// nothing of the session's, so another goroutine may call it.
func (s *Session) PackBy(run *endpoint.Encoding, w *Packing) func() error {
	packs, pair, schema := s.packs, s.pair, s.schema
	codec, params := run.Codec, run.Params
	return func() error {
		own, err := endpoint.NewEncoding(schema, codec, params) // the session's is the session's
		if err == nil {
			_, err = packs.of(&own, pair, w)
		}
		return err
	}
}

// FileSizes returns the bytes of the file that both ends have, and of the one that has
// to get across.
func (s *Session) FileSizes() (old, new int64) {
	return int64(len(s.pair.old.Body)), int64(len(s.pair.new.Body))
}

// FileSums returns the SHA-256 of the two files that data names.
func FileSums(c *config.Config) (old, new [sha256.Size]byte, err error) {
	src, err := c.OpenData(context.Background(), false)
	if err != nil {
		return old, new, err
	}
	s := &Session{source: src, schema: src.Schema(), config: c, initial: &frame.Frame{}, cur: &frame.Frame{}}
	src.Initial(s.initial)
	if err := errors.Join(s.takeFile(), s.Close()); err != nil {
		return old, new, err
	}
	return s.pair.oldSum, s.pair.newSum, nil
}
