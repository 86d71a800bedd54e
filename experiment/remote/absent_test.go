package remote

import (
	"strings"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
)

// A process that was stopped has heard nothing for a while: that is no reason to call the
// far end gone. If it looks and nothing comes, that is one.
func TestStoppedProcess(t *testing.T) {
	near, _ := newPipe(0)
	l := NewLink(near, Options{To: "there"})
	long := time.Now().Add(-time.Minute)
	l.heard, l.looked = long, long
	if err := l.Err(); err != nil {
		t.Errorf("before it looked: %v", err)
	}
	l.Poll(config.Default(), 0, time.Second, time.Now())
	if err := l.Err(); err != nil {
		t.Errorf("after it looked: %v", err)
	}
	l.heard = long
	if err := l.Err(); err == nil || !strings.Contains(err.Error(), "nothing came") {
		t.Errorf("a minute of silence: %v", err)
	}
}

// What is too large is told by the size that is.
func TestSetupTooLarge(t *testing.T) {
	s := Setup{Version: Version, Schema: frame.Schema{Name: "noise", Rows: 600_000, Fields: []frame.Field{{Name: "x"}}}}
	s.Initial.Table = make([]int32, s.Schema.Cells())
	x := uint64(1)
	for i := range s.Initial.Table {
		x = x*6364136223846793005 + 1442695040888963407
		s.Initial.Table[i] = int32(x >> 32)
	}
	if _, err := s.encode(); err == nil || !strings.Contains(err.Error(), "at most 1048576 travel") {
		t.Errorf("noise of 2.4 MB: %v", err)
	}
}
