// Package delivery delivers a file over a lane: it packs the new file for a receiver that has
// the old one, sends the pack in blocks, resends each block until it is acknowledged, and
// checks what the receiver unpacks.
package delivery

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/figures"
	"wirelab/experiment/transfer"
	"wirelab/internal/wallclock"
)

// Options configure a delivery.
type Options struct {
	Block  int             // bytes of a block
	Window int             // most blocks in flight
	Beat   time.Duration   // one datagram leaves every beat
	Again  bool            // the file is delivered repeatedly
	Clock  wallclock.Clock // times unpacking
}

// Delivery is the delivery of a file over one lane. Each epoch of the sender delivers the file
// again, packed by another encoder. Figures, AddTiming, BusyUntil and Blocks accept a nil Delivery.
type Delivery struct {
	snd   *endpoint.FileSender
	rcv   *endpoint.FileReceiver
	pair  *Pair
	packs *PackCache
	opt   Options

	start      time.Duration // of the current epoch
	packed     *packedFile   // nil between two epochs
	lastSentAt time.Duration // when the last datagram left
	unpackNS   int64
	spurious   int64 // resent blocks that had already arrived

	done, failed bool
	doneAt       time.Duration
	rounds       []figures.Round // finished rounds, oldest first
}

// New returns a delivery between the two ends of a lane.
func New(snd *endpoint.Sender, rcv *endpoint.Receiver, pair *Pair, packs *PackCache, opt Options) *Delivery {
	return &Delivery{pair: pair, packs: packs, opt: opt,
		snd: endpoint.NewFileSender(snd, opt.Block, opt.Window, opt.Beat), rcv: endpoint.NewFileReceiver(rcv)}
}

// Ended reports whether the delivery of the current epoch has ended, well or badly.
func (d *Delivery) Ended() bool { return d.done || d.failed }

// sameEpoch reports whether the receiver is at the epoch that the sender delivers now.
func (d *Delivery) sameEpoch() bool {
	_, epoch := d.rcv.Progress()
	return epoch == d.snd.LoadedEpoch()
}

// Begin starts the requested epoch if it is time, and packs the file for it.
func (d *Delivery) Begin(now time.Duration) error {
	if !d.snd.Begin(now) {
		return nil
	}
	d.closeRound(now)
	d.start, d.done, d.failed, d.spurious = now, false, false, 0
	run := d.snd.Encoding()
	p, err := d.packs.get(run, d.pair, nil)
	if err != nil {
		d.failed = true
		d.snd.Load(nil, nil)
		return fmt.Errorf("encoder %s: %w", run.Codec.Name, err)
	}
	d.snd.Load(&transfer.Label{Packed: int64(len(p.data)), Size: int64(len(d.pair.New.Body)), Hash: d.pair.NewSum}, p.data)
	d.packed = p
	return nil
}

// Send makes the packet of the next block and charges its bits to b; false if none is due.
// items is how many bytes of the new file the block accounts for; 0 if it was sent before.
func (d *Delivery) Send(now time.Duration, b *encoders.Budget) (p endpoint.Packet, items int, ok bool) {
	p, number, again, ok := d.snd.SendBlock(now, b)
	if !ok {
		return p, 0, false
	}
	d.lastSentAt = now
	if !again {
		size, blocks, n := int64(len(d.pair.New.Body)), int64(d.snd.Progress().Blocks()), int64(number)
		items = int(size*(n+1)/blocks - size*n/blocks)
	}
	return p, items, true
}

// Receive handles the datagram of a block, and returns how long that took.
func (d *Delivery) Receive(datagram []byte) (rx endpoint.BlockReception, ns int64) {
	start := d.opt.Clock.Now()
	rx = d.rcv.ReceiveBlock(datagram)
	ns = d.opt.Clock.Now() - start
	if rx.Accepted && rx.Outcome == endpoint.Duplicate {
		d.spurious++
	}
	return rx, ns
}

// AppendAck appends the receiver's ack to dst; nothing until a block was accepted.
func (d *Delivery) AppendAck(dst []byte) []byte { return d.rcv.AckBlocks(dst) }

// AckSize returns how many bytes an ack takes.
func (d *Delivery) AckSize() int { return d.rcv.AckSize() }

// LearnAck passes an ack to the sender.
func (d *Delivery) LearnAck(now time.Duration, ack []byte) error { return d.snd.LearnBlocks(now, ack) }

// Unpacked is what the receiver made of all blocks.
type Unpacked struct {
	File *frame.Frame
	Same bool  // File is the new file
	Err  error // why the file cannot be rebuilt; else nil
	NS   int64 // time that it took
}

// Unpack rebuilds the new file once all blocks have arrived; false before that, and after. It
// checks size and hash against the label, and compares the result with the true file.
func (d *Delivery) Unpack(now time.Duration) (u Unpacked, ok bool) {
	in, _ := d.rcv.Progress()
	if d.Ended() || !in.Complete() || !d.sameEpoch() {
		return u, false
	}
	label, _ := in.Label()
	start := d.opt.Clock.Now()
	u.File, u.Err = d.rcv.Unpack(d.pair.Old)
	if u.Err == nil && (int64(len(u.File.Body)) != label.Size || sha256.Sum256(u.File.Body) != label.Hash) {
		u.Err = fmt.Errorf("%w: its SHA-256 is not what the sender said", encoders.ErrCorrupt)
	}
	d.unpackNS = d.opt.Clock.Now() - start
	u.NS = d.unpackNS
	if u.Err != nil {
		d.failed = true
		return u, true
	}
	d.done, d.doneAt = true, now
	u.Same = bytes.Equal(u.File.Body, d.pair.New.Body)
	return u, true
}
