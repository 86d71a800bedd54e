package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/delivery"
	"wirelab/experiment/engine/packetlog"
)

// maxDeliveryDuration is the end of the delivery of a file if the configuration sets no duration.
// Over a link that loses all packets the delivery would never end.
const maxDeliveryDuration = time.Hour

// roundPause is the pause between two deliveries in a session that delivers the file repeatedly
// (config.Data.Again). Each delivery is a round.
const roundPause = time.Second

// fileDelivery is the session's state for data with frame.Every delivery. The session ends, or
// begins another round, when every lane has delivered the file.
type fileDelivery struct {
	isFile    bool // the data are a file; if not, the fields below are unset
	pair      *delivery.Pair
	packs     *delivery.PackCache
	scripted  []*endpoint.Encoding // encodings of scripted changes with which the file is not packed yet
	rounds    uint64               // rounds begun
	isPausing bool
	resumeAt  time.Duration // when the next round begins, if pausing
}

// readPair reads the only frame of src, the new file, into dst, and returns it with initial, the old
// file. name is the name of the data, for errors.
func readPair(src dataset.Source, name string, initial, dst *frame.Frame) (*delivery.Pair, error) {
	if err := src.Next(dst); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("data %s: %w", name, err)
	}
	return delivery.NewPair(initial, dst), nil
}

// FileSums returns the SHA-256 of the old and the new file of the data of c.
func FileSums(ctx context.Context, c *config.Config) (old, new [sha256.Size]byte, err error) {
	src, err := c.OpenData(ctx, false)
	if err != nil {
		return old, new, err
	}
	f := feed{source: src}
	initial := src.Schema().NewFrame()
	src.Initial(initial)
	pair, err := readPair(src, c.Data.Source, initial, src.Schema().NewFrame())
	err = errors.Join(err, f.close())
	if err != nil {
		return old, new, err
	}
	return pair.OldSum, pair.NewSum, nil
}

// setUpDelivery makes a lane deliver the session's file. It does nothing if the data are not a file.
func (s *Session) setUpDelivery(l *lane) {
	if !s.isFile {
		return
	}
	c := s.config
	l.delivery = delivery.New(l.snd, l.rcv, s.pair, s.packs, delivery.Options{Block: c.Sender.Block, Window: c.Sender.Window,
		Beat: time.Second / time.Duration(c.Sender.RateHz), Again: c.Data.Again, Clock: s.opt.Clock})
}

// allDelivered reports whether the delivery of the file has succeeded or failed on every lane, and no
// lane has another encoder pending.
func (s *Session) allDelivered() bool {
	for _, l := range s.lanes {
		if l.snd.Pending() != nil || !l.delivery.Ended() {
			return false
		}
	}
	return true
}

// stepDelivery sends one datagram on each lane, if one is due. When all lanes have delivered the file,
// it ends the session or, after roundPause, begins the next round. The arrivals due at time at must
// have been handled.
func (s *Session) stepDelivery(at time.Duration) {
	switch {
	case !s.allDelivered():
		s.isPausing = false
	case !s.config.Data.Again:
		s.finish(at + 1)
		return
	case !s.isPausing:
		s.isPausing, s.resumeAt = true, at+roundPause
	}
	if !s.consumeSendSlot(at) {
		return
	}
	if s.isPausing && at >= s.resumeAt {
		s.isPausing = false
		s.rounds++
		s.addMark(at, MarkLoop, "loop")
		for _, l := range s.lanes {
			l.snd.Request(*l.snd.Encoding()) // a new epoch delivers the file again
		}
	}
	s.rounds = max(s.rounds, 1) // the first round begins with the first datagram
	for _, l := range s.lanes {
		l.sendBlock(at)
	}
}

// sendBlock sends the next block of the file, if one is due. If an epoch begins, it packs the file first,
// and records the error of an encoder that rejects the file.
func (l *lane) sendBlock(now time.Duration) {
	if err := l.delivery.Begin(now); err != nil {
		l.refuseFrame(now, &endpoint.Packet{Seq: l.snd.Seq(), Codec: l.codec()}, err)
	}
	l.budget.Reset()
	if p, items, ok := l.delivery.Send(now, &l.budget); ok {
		l.transmit(now, &p, packetlog.Record{Items: items, Changed: items}, nil) // every byte counts as changed
	}
}

// unpackFile rebuilds the new file when its last block has arrived, and sets the outcome of r, the
// record of that block. It adds the file to the digest. It does nothing while blocks are missing or if the
// data are not a file.
func (l *lane) unpackFile(now time.Duration, r *packetlog.Record) {
	if l.delivery == nil {
		return
	}
	unpacked, ok := l.delivery.Unpack(now)
	if !ok {
		return
	}
	r.DecodeNS += unpacked.NS
	if unpacked.Err != nil {
		l.lastErr = fmt.Errorf("unpack the file: %w", unpacked.Err)
		r.Outcome = packetlog.Corrupt
		l.meter.Now.DecodeRefused++
		return
	}
	l.digest.addFrame(unpacked.File)
	if !unpacked.Same {
		r.Outcome = packetlog.Wrong
	}
}

// addScriptedEncodings records the encodings of c, the configuration after a scripted change. Pack
// then packs the file with them before the session runs, while the caller can show progress and the
// user can cancel.
func (s *Session) addScriptedEncodings(c *config.Config) error {
	if !s.isFile {
		return nil
	}
	for _, e := range encodersOf(c) {
		encoding, err := newEncoding("encoder", e, c, s.schema)
		if err != nil {
			return err
		}
		s.scripted = append(s.scripted, &encoding)
	}
	return nil
}

// PacksNeeded returns the encodings of the session and its script with which the file is not packed
// yet; nil if the data are not a file.
func (s *Session) PacksNeeded() []*endpoint.Encoding {
	if !s.isFile {
		return nil
	}
	var list []*endpoint.Encoding
	for _, l := range s.lanes {
		encoding := l.snd.Pending() // of the next epoch, which replaces the current one
		if encoding == nil {
			encoding = l.snd.Encoding()
		}
		if !s.packs.Has(encoding, s.pair) {
			list = append(list, encoding)
		}
	}
	isPacked := func(encoding *endpoint.Encoding) bool { return s.packs.Has(encoding, s.pair) }
	s.scripted = slices.DeleteFunc(s.scripted, isPacked)
	return append(list, s.scripted...)
}

// Pack packs the file with all encodings of PacksNeeded, and reports progress to w, which may be nil.
// Without Pack, the file is packed when the delivery begins.
func (s *Session) Pack(w *delivery.Packing) error {
	for _, encoding := range s.PacksNeeded() {
		if err := s.packs.Make(encoding, s.pair, w); err != nil {
			return err
		}
	}
	return nil
}

// PackJob returns a function that packs the session's file with the codec and parameters of encoding
// and stores the result in the session's cache. Another goroutine may call the function, so it creates
// its own encoder. It reports progress to w.
func (s *Session) PackJob(encoding *endpoint.Encoding, w *delivery.Packing) func() error {
	packs, pair, schema := s.packs, s.pair, s.schema
	codec, params := encoding.Codec, encoding.Params
	return func() error {
		own, err := endpoint.NewEncoding(schema, codec, params)
		if err != nil {
			return err
		}
		return packs.Make(&own, pair, w)
	}
}

// NewFileSize returns the size in bytes of the new file, which is delivered.
func (s *Session) NewFileSize() int64 { return int64(len(s.pair.New.Body)) }

// delivered returns the bytes of the packed file that have arrived and its size, summed over all
// lanes.
func (s *Session) delivered() (done, total float64) {
	for _, l := range s.lanes {
		d, t := l.delivery.Progress()
		done, total = done+float64(d), total+float64(t)
	}
	return done, total
}
