package live

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/experiment/engine"
	"wirelab/experiment/internal/labtest"
)

// refuser is an encoder that fails on every frame.
type refuser struct{}

var errRefused = errors.New("this encoder never encodes")

func (refuser) Encode(dst []byte, _ *frame.Frame, _ []encoders.Ref, _ encoders.Memo, _ *encoders.Budget) ([]byte, encoders.Memo, error) {
	return dst, nil, errRefused
}

func (refuser) Decode(*frame.Frame, []byte, []encoders.Ref, encoders.Memo) (encoders.Memo, error) {
	return nil, errRefused
}

// An encoder that fails on every frame does not stop the session. The error is reported, and frames
// are sent after a swap to a working encoder.
func TestEncoderThatAlwaysFails(t *testing.T) { synctest.Test(t, encoderThatAlwaysFails) }

func encoderThatAlwaysFails(t *testing.T) {
	c := labtest.QuickConfig(t)
	c.Codecs = append(table.All(), encoders.Codec{
		ID: 120, Name: "refuser", Suits: func(*frame.Schema) bool { return true },
		New: func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) { return refuser{}, refuser{}, nil },
	})
	r := startLab(t, c)
	r.await("the start", func(s *engine.Snapshot) bool { return s.Lanes[0].Totals.Decoded > 5 })
	r.send(change("encoder.name", "refuser"))
	s := r.await("refusals", func(s *engine.Snapshot) bool { return s.Lanes[0].Totals.EncodeFailed > 20 })
	if s.State != engine.Running || s.Lanes[0].Err == nil || !strings.Contains(s.Lanes[0].Err.Error(), errRefused.Error()) {
		t.Errorf("state %v, error %v", s.State, s.Lanes[0].Err)
	}
	sent := s.Lanes[0].Totals.Sent
	s = r.await("time going on", func(x *engine.Snapshot) bool { return x.Now > s.Now+300*time.Millisecond })
	if s.Lanes[0].Totals.Sent != sent {
		t.Errorf("%d packets were sent by an encoder that makes none", s.Lanes[0].Totals.Sent-sent)
	}
	r.send(change("encoder.name", "raw"))
	s = r.await("packets again", func(s *engine.Snapshot) bool { return s.Lanes[0].Totals.Sent > sent+20 })
	if s.Lanes[0].Totals.Wrong != 0 || s.State != engine.Running {
		t.Errorf("after it: %v, %d wrong", s.State, s.Lanes[0].Totals.Wrong)
	}
}
