package frame_test

import (
	"testing"

	"wirelab/dataset/frame"
)

// A shared frame is not reused until its reference count is zero.
func TestSharedFramesComeBack(t *testing.T) {
	p := frame.NewPool(one())
	a := p.Get()
	a.Table[0] = 4
	b := p.Get()
	if a == b {
		t.Fatal("one frame was given out twice")
	}
	a.Retain()
	a.Release()
	if c := p.Get(); c == a || c == b {
		t.Fatal("a frame in use was given out")
	}
	a.Release()
	if d := p.Get(); d != a || len(d.Table) != 1 {
		t.Error("a released frame is not reused")
	}
	a.Release()
	defer func() {
		if recover() == nil {
			t.Error("a frame was released twice without a panic")
		}
	}()
	a.Release()
}

// An entry contains the frame that was stored last, shared or copied. Copy never writes into a shared
// frame.
func TestEntriesShareAndCopy(t *testing.T) {
	p, h := frame.NewPool(one()), frame.NewHistory(2)
	a := p.Get()
	a.Table[0] = 4
	e := h.Put(1)
	if e.Share(a); e.Frame.Table[0] != 4 || e.Shared() != a {
		t.Fatalf("shared as %+v", e)
	}
	a.Release()
	if b := p.Get(); b == a {
		t.Fatal("the entry does not keep the frame")
	}
	if e.Copy(&frame.Frame{Table: []int32{5}}); e.Frame.Table[0] != 5 || a.Table[0] != 4 || e.Shared() != nil {
		t.Errorf("copied as %+v; the shared one is %v", e, a.Table)
	}
	if p.Get() != a {
		t.Error("the entry keeps a frame that it no longer has")
	}
	own := &e.Frame.Table[0]
	a.Table[0] = 6
	e.Share(a)
	e.Share(a)
	if e.Copy(&frame.Frame{Table: []int32{7}}); &e.Frame.Table[0] != own || a.Table[0] != 6 {
		t.Error("memory of the entry's own was forgotten")
	}
}
