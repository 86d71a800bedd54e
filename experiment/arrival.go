package experiment

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/transfer"
)

// receiveBlock takes one datagram, as receive does.
func (r *receiver) receiveBlock(d *delivery, datagram []byte, damaged bool, clock Clock) reception {
	start := clock.now()
	h, payload, err := r.openBlock(datagram)
	if err != nil {
		return reception{outcome: Corrupt, err: err, tainted: damaged}
	}
	out, dec, fresh := r.recognise(&h, damaged)
	if dec == nil {
		return out
	}
	out.tainted = out.tainted || dec.tainted
	if dec.epoch < d.inEpoch {
		out.outcome = Stale // of a delivery that was given up
		return out
	}
	number, body := binary.LittleEndian.Uint32(payload), payload[numberBytes:]
	r.accept(d, &out, dec, fresh, number, body)
	out.clock = clock.now() - start
	return out
}

// openBlock checks the seal of a datagram, and takes it apart.
func (r *receiver) openBlock(datagram []byte) (h header, payload []byte, err error) {
	if datagram, err = unseal(datagram); err != nil {
		return h, nil, err
	}
	h, payload, err = parseHeader(datagram, r.refsOf)
	if err == nil && len(payload) < numberBytes {
		err = fmt.Errorf("%w: number of the block missing", errHeader)
	}
	return h, payload, err
}

// accept gives a block to the delivery that it belongs to, which a packet of a newer
// epoch begins.
func (r *receiver) accept(d *delivery, out *reception, dec *epochDecoder, fresh bool, number uint32, body []byte) {
	in := d.in
	if dec.epoch > d.inEpoch || fresh && r.anyEpoch && dec.epoch == r.newest {
		in = &transfer.Receiver{}
	}
	fate, err := in.Accept(number, body)
	if err != nil {
		out.outcome, out.err = Corrupt, err
		return
	}
	if fresh {
		r.install(dec)
	}
	dec.used++
	if in != d.in {
		d.in, d.inEpoch, d.tainted = in, dec.epoch, false
	}
	d.tainted = d.tainted || out.tainted
	d.answers = out.seq
	r.arrived(out.seq)
	r.seen.note(out.seq)
	r.window.note(out.seq)
	if fate == transfer.Known {
		out.outcome = Duplicate
		d.needless++
		return
	}
	out.outcome = Decoded
	r.scratch.Tick, r.scratch.Body = number, append(r.scratch.Body[:0], body...)
	out.frame = &r.scratch
}

// unpack makes the new file, once all of it has come, and holds it against what the
// stream says that it must be; the lab holds it against what it is.
func (l *lane) unpack(now time.Duration, rec *PacketRecord) {
	d := l.delivery
	if d.over() || !d.in.Complete() || d.inEpoch != d.epoch {
		return
	}
	label, _ := d.in.Label()
	start := l.clock.now()
	var made frame.Frame
	dec := &l.rcv.epochs[d.inEpoch%keptEpochs]
	_, err := dec.dec.Decode(&made, d.in.Packed(), []encoders.Ref{{Frame: d.pair.old}}, nil)
	if err == nil && (int64(len(made.Body)) != label.Size || sha256.Sum256(made.Body) != label.Hash) {
		err = fmt.Errorf("%w: its SHA-256 is not what the sender said", encoders.ErrCorrupt)
	}
	d.unpackNS = l.clock.now() - start
	rec.DecodeNS += d.unpackNS
	if err != nil {
		d.failed = true
		if l.lastErr = fmt.Errorf("the file: %w", err); !d.tainted {
			rec.Outcome = Corrupt
			l.meter.decodeRefused++
		}
		return
	}
	d.done, d.doneAt = true, now
	l.digest.frame(&made)
	if !bytes.Equal(made.Body, d.pair.new.Body) {
		rec.Outcome = Wrong
	}
}

// ack writes what the receiver has to say about blocks behind what it says about
// packets.
func (d *delivery) ack(dst []byte) []byte {
	if len(dst) == 0 {
		return dst
	}
	dst = binary.LittleEndian.AppendUint16(dst, uint16(d.answers))
	return seal(binary.LittleEndian.AppendUint32(dst, uint32(d.in.UpTo())))
}
