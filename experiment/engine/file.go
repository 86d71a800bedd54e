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

// longestDelivery ends a run without a duration. Over a link that loses everything, the
// delivery would never finish.
const longestDelivery = time.Hour

// roundPause is the pause between two rounds of a session that delivers the file repeatedly
// (Data.Again).
const roundPause = time.Second

// fileDelivery is the session's state for data with frame.Every delivery. The session ends, or
// begins another round, when every lane has delivered the file.
type fileDelivery struct {
	delivers bool // the data are files; if not, the fields below are unset
	pair     *delivery.Pair
	packs    *delivery.PackCache
	scripted []*endpoint.Encoding // encodings of the script that the file is not packed with yet
	rounds   uint64               // rounds begun
	pausing  bool
	resumeAt time.Duration // when the next round begins, if pausing
}

// readPair reads the source's only frame, the new file, into dst. initial is the old file.
func readPair(src dataset.Source, name string, initial, dst *frame.Frame) (*delivery.Pair, error) {
	if err := src.Next(dst); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("data %s: %w", name, err)
	}
	return delivery.NewPair(initial, dst), nil
}

// FileSums returns the SHA-256 of the two files that the data of c names.
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

// deliverOver sets a lane up to deliver the session's file, if any.
func (s *Session) deliverOver(l *lane) {
	if !s.delivers {
		return
	}
	c := s.config
	l.delivery = delivery.New(l.snd, l.rcv, s.pair, s.packs, delivery.Options{Block: c.Sender.Block, Window: c.Sender.Window,
		Beat: time.Second / time.Duration(c.Sender.RateHz), Again: c.Data.Again, Clock: s.opt.Clock})
}

// deliveryOver reports whether every lane has delivered the file, or has failed to.
func (s *Session) deliveryOver() bool {
	for _, l := range s.lanes {
		if l.snd.Pending() != nil || !l.delivery.Ended() {
			return false
		}
	}
	return true
}

// stepDelivery sends one datagram on each lane, if one is due. It runs after the arrivals of
// this instant.
func (s *Session) stepDelivery(at time.Duration) {
	switch over := s.deliveryOver(); {
	case !over:
		s.pausing = false
	case !s.config.Data.Again:
		s.finish(at + 1)
		return
	case !s.pausing:
		s.pausing, s.resumeAt = true, at+roundPause
	}
	if !s.takeTurn(at) {
		return
	}
	if s.pausing && at >= s.resumeAt {
		s.pausing = false
		s.rounds++
		s.mark(at, MarkSeam, "seam")
		for _, l := range s.lanes {
			l.snd.Request(*l.snd.Encoding())
		}
	}
	s.rounds = max(s.rounds, 1)
	for _, l := range s.lanes {
		l.sendBlock(at)
	}
}

// sendBlock sends a block if one is due.
func (l *lane) sendBlock(now time.Duration) {
	if err := l.delivery.Begin(now); err != nil {
		l.refuseFrame(now, &endpoint.Packet{Seq: l.snd.Seq(), Codec: l.codec()}, err)
	}
	l.budget.Reset()
	if p, items, ok := l.delivery.Send(now, &l.budget); ok {
		l.transmit(now, &p, encoded{items: items, changed: items}) // every byte counts as changed
	}
}

// unpack rebuilds the new file once all blocks have arrived. r is the record of the last one.
func (l *lane) unpack(now time.Duration, r *packetlog.Record) {
	if l.delivery == nil {
		return
	}
	u, ok := l.delivery.Unpack(now)
	if !ok {
		return
	}
	r.DecodeNS += u.NS
	if u.Err != nil {
		l.lastErr = fmt.Errorf("the file: %w", u.Err)
		if !l.taint.file {
			r.Outcome = packetlog.Corrupt
			l.meter.DecodeRefused++
		}
		return
	}
	l.digest.frame(u.File)
	if !u.Same {
		r.Outcome = packetlog.Wrong
	}
}

// noteScripted records the encodings that a scripted configuration c needs. The file is then
// packed with them before the session runs, when progress can be shown and the user can cancel.
func (s *Session) noteScripted(c *config.Config) error {
	if !s.delivers {
		return nil
	}
	for _, e := range encodersOf(c) {
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

// PacksNeeded returns the encodings that the session or its script needs and that the file is
// not packed with yet.
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
		if !s.packs.Has(run, s.pair) {
			list = append(list, run)
		}
	}
	s.scripted = slices.DeleteFunc(s.scripted, func(run *endpoint.Encoding) bool { return s.packs.Has(run, s.pair) })
	return append(list, s.scripted...)
}

// Pack packs the file with all encodings of PacksNeeded. Called before the session runs, it lets
// the caller show progress through w.
func (s *Session) Pack(w *delivery.Packing) error {
	for _, run := range s.PacksNeeded() {
		if err := s.packs.Make(run, s.pair, w); err != nil {
			return err
		}
	}
	return nil
}

// PackJob returns a function that packs the session's file with run's codec and params. The
// function uses none of the session's own state, so another goroutine may call it.
func (s *Session) PackJob(run *endpoint.Encoding, w *delivery.Packing) func() error {
	packs, pair, schema := s.packs, s.pair, s.schema
	codec, params := run.Codec, run.Params
	return func() error {
		own, err := endpoint.NewEncoding(schema, codec, params) // the session may be using run's encoder
		if err != nil {
			return err
		}
		return packs.Make(&own, pair, w)
	}
}

// FileSizes returns the sizes in bytes of the file that both ends have and of the one to be
// delivered.
func (s *Session) FileSizes() (old, new int64) {
	return int64(len(s.pair.Old.Body)), int64(len(s.pair.New.Body))
}

// delivered returns how many bytes of the packed files have arrived and how many there are,
// summed over all lanes.
func (s *Session) delivered() (done, total float64) {
	for _, l := range s.lanes {
		d, t := l.delivery.Progress()
		done, total = done+float64(d), total+float64(t)
	}
	return done, total
}
