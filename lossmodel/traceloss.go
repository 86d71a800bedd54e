package lossmodel

import "time"

// TraceLoss loses what a capture says was lost, packet by packet, or by the time
// of sending if File.ByTime is set; at its end the capture begins anew. Copies
// are never lost: a capture tells of those that arrived.
type TraceLoss struct{ File File }

// Model implements LossModel.
func (TraceLoss) Model() string { return "trace" }

func (TraceLoss) mean() float64 { return 0 } // the file knows

func (t TraceLoss) text() string {
	return words("trace", "file", quoteWord(t.File.Path)) + t.File.options()
}

func (t TraceLoss) check() error {
	if t.File.Path == "" || !t.File.valid() {
		return fileUnit("a capture", true).refuse("loss.file", show(formatFile(t.File)))
	}
	return nil
}

func (t TraceLoss) source() File           { return t.File }
func (TraceLoss) sourceKind() fileKind     { return asLosses }
func (TraceLoss) from(file File) LossModel { return TraceLoss{file} }

func (t TraceLoss) process(prev lossProcess, files *library) lossProcess {
	p, ok := prev.(*traceLossProcess)
	if !ok {
		p = &traceLossProcess{}
	}
	p.set(files.get(t.File, asLosses).replay, t.File.ByTime)
	return p
}

type traceLossProcess struct{ cursor }

func (p *traceLossProcess) judge(now time.Duration, _ uint64, f *Fate) {
	if row := p.play(now, f.Copy); f.Copy == 0 && row.lost {
		f.lose(Loss)
	}
}

func traceLossFrom(t lossTable) (LossModel, error) {
	file, err := t.file("a capture", true)
	return TraceLoss{file}, err
}

// setTrace is the key "trace": losses, delays and copies of one capture, or, with
// "off", of none.
func (s *Spec) setTrace(value any) error {
	u := fileUnit("a capture", true)
	f, err := u.read("trace", value)
	if err != nil {
		return err
	}
	s.Delay.Trace, s.Duplicate.Trace = f, f
	switch _, was := s.Loss.(TraceLoss); {
	case f.Path != "":
		s.Loss = TraceLoss{f}
	case was:
		s.Loss = nil
	}
	return nil
}
