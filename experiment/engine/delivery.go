package engine

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"time"

	"wirelab/encoders"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/figures"
	"wirelab/experiment/transfer"
)

// delivery is a lane's state for delivering a file (frame.Every). It packs the new
// file for the sender, and follows the progress of the blocks.
type delivery struct {
	snd   *endpoint.FileSender
	rcv   *endpoint.FileReceiver
	pair  *filePair
	packs *PackCache
	beat  time.Duration
	again bool // another round follows

	start    time.Duration // of the current epoch
	packed   *pack
	left     time.Duration // when the last datagram left
	unpackNS int64
	spurious int64 // resent blocks that had already arrived

	done, failed bool
	doneAt       time.Duration
	rounds       []figures.Round // finished rounds, oldest first
}

// deliverFile sets a lane up to deliver the session's file, if there is one.
func (s *Session) deliverFile(l *lane) {
	if !s.delivers {
		return
	}
	c := s.config
	beat := time.Second / time.Duration(c.Sender.RateHz)
	l.delivery = &delivery{pair: s.pair, packs: s.packs, beat: beat, again: c.Data.Again,
		snd: endpoint.NewFileSender(l.snd, c.Sender.Block, c.Sender.Window, beat), rcv: endpoint.NewFileReceiver(l.rcv)}
}

// over reports whether the delivery of the current epoch has ended, well or badly.
func (d *delivery) over() bool { return d.done || d.failed }

// begun reports whether a file was ever loaded.
func (d *delivery) begun() bool { return d.snd.Loaded() }

// present reports whether the receiver is at the epoch that the sender delivers now.
func (d *delivery) present() bool {
	_, epoch := d.rcv.Progress()
	return epoch == d.snd.LoadedEpoch()
}

// load packs the file and begins the delivery of the sender's current epoch.
func (d *delivery) load(now time.Duration) error {
	d.close(now)
	d.start, d.done, d.failed, d.spurious = now, false, false, 0
	run := d.snd.Encoding()
	p, err := d.packs.of(run, d.pair, nil)
	if err != nil {
		d.failed = true
		d.snd.Load(nil, nil)
		return fmt.Errorf("encoder %s: %w", run.Codec.Name, err)
	}
	d.snd.Load(&transfer.Label{Packed: int64(len(p.data)), Size: int64(len(d.pair.new.Body)), Hash: d.pair.newSum}, p.data)
	d.packed = p
	return nil
}

// items returns how many bytes of the new file block n accounts for.
func (d *delivery) items(n int) int {
	size, blocks := int64(len(d.pair.new.Body)), int64(d.snd.Progress().Blocks())
	return int(size*int64(n+1)/blocks - size*int64(n)/blocks)
}

// sendBlock sends a block if one is due.
func (l *lane) sendBlock(now time.Duration) {
	d := l.delivery
	if d.snd.Begin(now) {
		if err := d.load(now); err != nil {
			l.meter.encodeFailed++
			l.lastErr = err
			l.watch.refused(now, &endpoint.Packet{Seq: l.snd.Seq(), Codec: l.snd.Encoding().Codec.Name}, err)
		}
	}
	l.budget.Reset()
	p, number, again, ok := d.snd.SendBlock(now, &l.budget)
	if !ok {
		return
	}
	d.left = now
	items := 0
	if !again {
		items = d.items(number)
	}
	l.transmit(now, &p, made{items: items, changed: items}) // every byte counts as changed
}

// unpack rebuilds the new file once all blocks have arrived, and checks its size and
// hash against the label. The lab also compares it with the true file.
func (l *lane) unpack(now time.Duration, rec *PacketRecord) {
	d := l.delivery
	in, _ := d.rcv.Progress()
	if d.over() || !in.Complete() || !d.present() {
		return
	}
	label, _ := in.Label()
	start := l.clock.Now()
	made, err := d.rcv.Unpack(d.pair.old)
	if err == nil && (int64(len(made.Body)) != label.Size || sha256.Sum256(made.Body) != label.Hash) {
		err = fmt.Errorf("%w: its SHA-256 is not what the sender said", encoders.ErrCorrupt)
	}
	d.unpackNS = l.clock.Now() - start
	rec.DecodeNS += d.unpackNS
	if err != nil {
		d.failed = true
		if l.lastErr = fmt.Errorf("the file: %w", err); !l.taint.file {
			rec.Outcome = Corrupt
			l.meter.decodeRefused++
		}
		return
	}
	d.done, d.doneAt = true, now
	l.digest.frame(made)
	if !bytes.Equal(made.Body, d.pair.new.Body) {
		rec.Outcome = Wrong
	}
}
