// Package delivery delivers a file over a lane: it packs the new file for a receiver that has the old
// one, sends the packed file in blocks, resends each block until it is acknowledged, and checks the
// file that the receiver unpacks.
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
	"wirelab/internal/wallclock"
)

// Options configure a delivery.
type Options struct {
	Block  int             // size of a block in bytes
	Window int             // maximum number of blocks in flight
	Beat   time.Duration   // time between two datagrams
	Again  bool            // deliver the file repeatedly
	Clock  wallclock.Clock // times unpacking; nil means no timings
}

// Delivery delivers a file over one lane. Each epoch of the sender delivers the file again, packed by
// the epoch's encoder. Figures, AddTiming, BusyUntil and Blocks may be called on a nil Delivery.
type Delivery struct {
	snd   *endpoint.FileSender
	rcv   *endpoint.FileReceiver
	pair  *Pair
	packs *PackCache
	opt   Options

	start      time.Duration // start of the current epoch
	packed     *packedFile   // the file being delivered; nil before the first epoch
	lastSentAt time.Duration // when the last datagram was sent
	unpackNS   int64         // wall time of unpacking in nanoseconds
	spurious   int64         // resent blocks that had already arrived
	blocks     []BlockState  // of the current epoch
	arrived    int           // of blocks, those that have arrived

	done, failed bool            // how the delivery of the current epoch ended; false while it continues
	doneAt       time.Duration   // when the file was unpacked, if done
	rounds       []figures.Round // deliveries of earlier epochs, oldest first
}

// New returns a delivery of pair from snd to rcv. packs caches packed files.
func New(snd *endpoint.Sender, rcv *endpoint.Receiver, pair *Pair, packs *PackCache, opt Options) *Delivery {
	return &Delivery{pair: pair, packs: packs, opt: opt,
		snd: endpoint.NewFileSender(snd, opt.Block, opt.Window, opt.Beat), rcv: endpoint.NewFileReceiver(rcv)}
}

// Ended reports whether the delivery of the current epoch has succeeded or failed.
func (d *Delivery) Ended() bool { return d.done || d.failed }

// Begin starts the requested epoch if it is due, and packs the file for it. It returns the error of
// the encoder.
func (d *Delivery) Begin(now time.Duration) error {
	if !d.snd.Begin(now) {
		return nil
	}
	d.closeRound(now)
	d.start, d.done, d.failed, d.spurious = now, false, false, 0
	encoding := d.snd.Encoding()
	p, err := d.packs.get(encoding, d.pair, nil) // nil: without reports of the progress
	if err != nil {
		d.failed = true
		d.load(nil, nil) // nothing to deliver
		return fmt.Errorf("encoder %s: %w", encoding.Codec.Name, err)
	}
	d.load(&endpoint.Label{Packed: int64(len(p.data)), Size: int64(len(d.pair.New.Body)), Hash: d.pair.NewSum}, p.data)
	d.packed = p
	return nil
}

// load passes the file to the sender. All its blocks are unsent.
func (d *Delivery) load(label *endpoint.Label, packed []byte) {
	d.snd.Load(label, packed)
	d.blocks, d.arrived = make([]BlockState, d.snd.Blocks()), 0
}

// Send returns the packet of the next block and charges its bits to budget; ok is false if no block is due.
// items is the number of bytes of the new file that the block stands for, so that bits per item can be
// computed: an equal share of the file for each block, and 0 if the block was sent before.
func (d *Delivery) Send(now time.Duration, budget *encoders.Budget) (p endpoint.Packet, items int, ok bool) {
	p, number, sentBefore, ok := d.snd.SendBlock(now, budget)
	if !ok {
		return p, 0, false
	}
	d.lastSentAt = now
	d.blocks[number] = d.blocks[number].sent()
	if !sentBefore {
		size, blocks, n := int64(len(d.pair.New.Body)), int64(len(d.blocks)), int64(number)
		items = int(size*(n+1)/blocks - size*n/blocks)
	}
	return p, items, true
}

// Receive handles the datagram of a block. ns is the wall time that this took.
func (d *Delivery) Receive(datagram []byte) (rx endpoint.BlockReception, ns int64) {
	start := d.opt.Clock.Now()
	rx = d.rcv.ReceiveBlock(datagram)
	ns = d.opt.Clock.Now() - start
	if rx.Accepted && rx.Outcome == endpoint.Duplicate {
		d.spurious++
	}
	if epoch, ok := d.snd.LoadedEpoch(); ok && rx.Frame != nil && rx.Epoch == epoch && int(rx.Frame.Tick) < len(d.blocks) {
		d.arrived++
		d.blocks[rx.Frame.Tick] = d.blocks[rx.Frame.Tick].delivered()
	}
	return rx, ns
}

// AppendAck appends the receiver's ack to dst. It appends nothing until a block was accepted.
func (d *Delivery) AppendAck(dst []byte) []byte { return d.rcv.AppendBlockAck(dst) }

// AckSize returns the size in bytes that reports count for an ack.
func (d *Delivery) AckSize() int { return d.rcv.AckSize() }

// HandleAck passes an ack to the sender.
func (d *Delivery) HandleAck(now time.Duration, ack []byte) error {
	return d.snd.HandleBlockAck(now, ack)
}

// unpacked is the result of unpacking a file.
type unpacked struct {
	File *frame.Frame
	Same bool  // File equals the new file
	Err  error // why the file cannot be unpacked; otherwise nil
	NS   int64 // wall time in nanoseconds
}

// Unpack unpacks the new file when all blocks have arrived, and so ends the delivery. It checks the size
// and the hash against the sender's label, which precedes the packed file, and compares the file with the
// sender's. ok is false if blocks are missing, or if the delivery had ended before.
func (d *Delivery) Unpack(now time.Duration) (u unpacked, ok bool) {
	label, epoch, isComplete := d.rcv.Label()
	loaded, _ := d.snd.LoadedEpoch()
	if d.Ended() || !isComplete || epoch != loaded {
		return u, false
	}
	start := d.opt.Clock.Now()
	u.File, u.Err = d.rcv.Unpack(d.pair.Old)
	if u.Err == nil && (int64(len(u.File.Body)) != label.Size || sha256.Sum256(u.File.Body) != label.Hash) {
		u.Err = fmt.Errorf("%w: its size or SHA-256 differs from the sender's", encoders.ErrCorrupt)
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
