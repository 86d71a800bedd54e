package loss

import (
	"wirelab/internal/setting"
	"wirelab/internal/words"
	"wirelab/lossmodel/tracefile"
)

// Trace loses what was lost in a capture, packet by packet, or by the time of
// sending if File.ByTime is set; after its end the capture repeats. Copies are
// never lost: a capture has only those that arrived.
type Trace struct{ File tracefile.File }

// Model implements Model.
func (Trace) Model() string { return "trace" }

// LossRate implements Model.
func (Trace) LossRate() float64 { return 0 } // the file knows

// Text implements Model.
func (t Trace) Text() string {
	return "trace file=" + words.Quote(t.File.Path) + t.File.Options()
}

// Check implements Model.
func (t Trace) Check() error {
	if t.File.Path == "" || !t.File.Valid() {
		return tracefile.Unit("a capture", true).Refuse("loss.file", setting.Show(tracefile.Format(t.File)))
	}
	return nil
}

// Open implements FileModel.
func (t Trace) Open(files *tracefile.Library) (Model, error) {
	if t.File.Path == "" {
		return t, nil
	}
	file, err := files.Open(t.File, tracefile.Losses)
	return Trace{file}, err
}

// Process implements Model.
func (t Trace) Process(prev Process, files *tracefile.Library) Process {
	p := prior[traceProcess](prev)
	p.Set(files, t.File, tracefile.Losses)
	return p
}

type traceProcess struct{ tracefile.Cursor }

func (p *traceProcess) Fork() Process { c := *p; return &c }

func (p *traceProcess) Judge(pkt *Packet) {
	if row := p.Play(pkt.Sent, pkt.Copy); pkt.Copy == 0 && row.Lost {
		pkt.Lost = Alone
	}
}

var traceKind = kind{traceFrom, setting.ModelInfo{Name: "trace",
	Summary: "what was lost in a capture is lost again",
	Params: []setting.ParamInfo{
		fileParam, byParam, hashParam,
	},
}}

func traceFrom(t Table) (Model, error) {
	file, err := t.file("a capture", true)
	return Trace{file}, err
}
