package loss

import (
	"wirelab/internal/setting"
	"wirelab/internal/words"
	"wirelab/lossmodel/tracefile"
)

// Trace loses the packets that were lost in a capture: packet by packet, or by send time if
// File.ByTime is set. The capture repeats after its end. Copies are never lost, because a capture
// contains only copies that arrived.
type Trace struct{ File tracefile.File }

func (Trace) Model() string { return "trace" }

func (Trace) LossRate() float64 { return 0 } // the loss rate is unknown: it depends on the file

func (t Trace) Text() string {
	return "trace file=" + words.Quote(t.File.Path) + t.File.Options()
}

func (t Trace) Check() error {
	if t.File.Path == "" || !t.File.Valid() {
		return tracefile.Unit("a capture", true).Refuse("loss.file", setting.FormatValue(tracefile.Format(t.File)))
	}
	return nil
}

func (t Trace) Open(files *tracefile.Library) (Model, error) {
	if t.File.Path == "" {
		return t, nil
	}
	file, err := files.Open(t.File, tracefile.Losses)
	return Trace{file}, err
}

// Process implements Model. The position in the capture is kept when the file changes.
func (t Trace) Process(prev Process, files *tracefile.Library) Process {
	p := reuse[traceProcess](prev)
	p.SetFile(files, t.File, tracefile.Losses)
	return p
}

// traceProcess is the position in the capture.
type traceProcess struct{ tracefile.Cursor }

func (p *traceProcess) Fork() Process { c := *p; return &c }

// Judge implements Process. Copies are never lost, because a capture contains only copies that arrived.
func (p *traceProcess) Judge(pkt *Packet) {
	if row := p.Next(pkt.Sent, pkt.Copy); pkt.Copy == 0 && row.Lost {
		pkt.Lost = Independent
	}
}

var traceKind = kind{readTraceTable, setting.ModelInfo{Name: "trace",
	Summary: "the losses of a capture",
	Params: []setting.ParamInfo{
		pathParam, byParam, hashParam,
	},
}}

func readTraceTable(t Table) (Model, error) {
	file, err := t.readFile("a capture", true)
	return Trace{file}, err
}
