package walkoff

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"

	"wirelab/dataset/frame"
)

// An audit checks one encoder with seven processes: six that decode one residue class each, and one
// that encodes all frames again.
type audit struct {
	decoders [Delay]*auditProcess // by residue class n mod Delay
	encoder  *auditProcess
	frames   [Delay][][]byte // expected digests of the decoded frames, by class
	packets  [][]byte        // expected digests of the packets
	buf      []byte          // the table of the newest frame
}

// startAudit starts the processes that audit the codec called codec with the parameters that the canonical text params
// describes: one that encodes all frames again, and Delay
// processes that decode. Decoding process k gets only every Delay-th packet, from packet Delay+k on. start returns
// the command of a process. After an error no process is left.
func startAudit(ctx context.Context, start processCommand, codec string, params []byte, s *frame.Schema,
	initial *frame.Frame) (a *audit, err error) {
	a = &audit{}
	t := task{Codec: codec, Params: params, Schema: s, Initial: appendTable(nil, initial), First: Delay,
		Stride: 1, Encode: true}
	a.encoder, err = startAuditProcess(ctx, start, t)
	for class := 0; class < Delay && err == nil; class++ {
		t.First, t.Stride, t.Encode = Delay+class, Delay, false
		a.decoders[class], err = startAuditProcess(ctx, start, t)
	}
	if err != nil {
		a.stop()
		return nil, err
	}
	return a, nil
}

// add passes frame n and its packet to the processes: the packet to the decoder of its class, the
// frame to the encoder.
func (a *audit) add(n int, f *frame.Frame, packet []byte) {
	class := n % Delay
	a.buf = appendTable(a.buf[:0], f)
	table, sent := sha256.Sum256(a.buf), sha256.Sum256(packet)
	a.frames[class] = append(a.frames[class], table[:])
	a.packets = append(a.packets, sent[:])
	a.decoders[class].send(packet)
	a.encoder.send(a.buf)
}

// verdict waits for all processes and returns a description of the first violation of the rules; "" if there
// is none.
func (a *audit) verdict() (problem string) {
	for class, process := range a.decoders {
		found := process.compare(a.frames[class], func(i int) string {
			return fmt.Sprintf("frame %d differs if it is decoded only from packets with n mod %d = %d",
				Delay+class+i*Delay, Delay, class)
		})
		problem = cmp.Or(problem, found)
	}
	found := a.encoder.compare(a.packets, func(i int) string {
		return fmt.Sprintf("frame %d has a different packet if it is encoded by a new process", Delay+i)
	})
	return cmp.Or(problem, found)
}

// stop ends the processes without a verdict. After a verdict it does nothing.
func (a *audit) stop() {
	for _, process := range append(a.decoders[:], a.encoder) {
		if process != nil {
			process.stop()
		}
	}
}
