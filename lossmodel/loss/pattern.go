package loss

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"wirelab/internal/setting"
	"wirelab/internal/words"
	"wirelab/lossmodel/tracefile"
)

// pattern repeats a sequence of losses: Bits is a text of 0 (arrives) and 1 (lost), or File
// contains such a text, in which white space is ignored. A copy is lost if its datagram is lost.
type pattern struct {
	Bits string // 1 to maxPattern digits; "" if File is set
	File tracefile.File
}

// maxPattern is the maximum length of Bits.
const maxPattern = 4096

func (pattern) Model() string { return "pattern" }

// LossRate returns the fraction of ones in Bits; 0 for a pattern in a file.
func (p pattern) LossRate() float64 {
	if p.Bits == "" {
		return 0
	}
	return float64(strings.Count(p.Bits, "1")) / float64(len(p.Bits))
}

func (p pattern) Text() string {
	if p.Bits != "" {
		return "pattern bits=" + p.Bits
	}
	return "pattern file=" + words.Quote(p.File.Path) + p.File.Options()
}

// Check implements Model. Exactly one of Bits and File must be set.
func (p pattern) Check() error {
	switch {
	case p.Bits != "" && p.File != tracefile.File{}:
		return &setting.KeyError{Key: "loss.bits", Value: setting.FormatValue(p.Bits), Expected: "either bits or a file, not both"}
	case p.File.Path != "" && p.File.Valid() && !p.File.ByTime: // a pattern has no times
		return nil
	case p.File != tracefile.File{}:
		return tracefile.Unit("a pattern", false).Refuse("loss.file", setting.FormatValue(tracefile.Format(p.File)))
	case !patternUnit.InRange(p.Bits):
		return patternUnit.Refuse("loss.bits", setting.FormatValue(p.Bits))
	}
	return nil
}

// Open implements FileModel. A pattern given by Bits reads no file.
func (p pattern) Open(files *tracefile.Library) (Model, error) {
	if p.File.Path == "" {
		return p, nil
	}
	file, err := files.Open(p.File, patternFileKind)
	return pattern{File: file}, err
}

// Process implements Model. The position in the pattern is kept when the pattern changes.
func (p pattern) Process(prev Process, files *tracefile.Library) Process {
	q := reuse[patternProcess](prev)
	if p.File.Path != "" {
		q.bits = files.Get(p.File, patternFileKind).([]bool)
	} else {
		q.bits, _ = parsePattern([]byte(p.Bits))
	}
	return q
}

// closedForm analyzes Bits; ok is false for a pattern in a file.
func (p pattern) closedForm() (closedForm, bool) {
	bits, err := parsePattern([]byte(p.Bits))
	return analyzePattern(bits), p.Bits != "" && err == nil
}

// analyzePattern computes the closed form of a repeating pattern; a set bit is a loss. form.Variance is 0: among N
// packets the number of losses differs from its mean by less than the losses of one period, so N times the
// variance of the fraction lost goes to 0 for large N.
func analyzePattern(bits []bool) (form closedForm) {
	n := float64(len(bits))
	if n == 0 {
		return form
	}
	lost, pairs, runs := 0.0, 0.0, 0.0 // losses, losses followed by a loss, ends of runs
	for i, b := range bits {
		next := bits[(i+1)%len(bits)]
		if b {
			lost++
			if next {
				pairs++
			} else {
				runs++
			}
		}
	}
	form.Rate = lost / n
	if v := form.Rate * (1 - form.Rate); v > 0 {
		form.Lag1 = (pairs/n - float64(form.Rate*form.Rate)) / v
	}
	if runs > 0 {
		form.MeanRun = lost / runs
	} else if lost > 0 {
		form.MeanRun = math.Inf(1)
	}
	return form
}

// patternProcess is the position in the pattern.
type patternProcess struct {
	bits  []bool
	count uint64 // datagrams so far
	lost  bool   // outcome of the current datagram
}

func (p *patternProcess) Fork() Process { c := *p; return &c }

// Judge implements Process. A copy has the outcome of its datagram.
func (p *patternProcess) Judge(pkt *Packet) {
	if pkt.Copy == 0 {
		p.lost = p.bits[p.count%uint64(len(p.bits))]
		p.count++
	}
	if p.lost {
		pkt.Lost = Independent
	}
}

// patternFileKind reads a file of 0s and 1s as []bool, in which true is a loss.
var patternFileKind = &tracefile.Kind{Read: func(data []byte) (any, error) { return parsePattern(data) }}

// parsePattern parses a text of 0s and 1s. White space is ignored.
func parsePattern(data []byte) ([]bool, error) {
	bits := make([]bool, 0, len(data))
	for i, c := range data {
		switch c {
		case '0', '1':
			bits = append(bits, c == '1')
		case ' ', '\t', '\n', '\r': // white space is ignored
		default:
			return nil, fmt.Errorf("byte %d is %q, expected 0 or 1", i+1, c)
		}
	}
	if len(bits) == 0 {
		return nil, errors.New("the pattern is empty, expected 0s and 1s")
	}
	return bits, nil
}

// patternUnit is the unit of the parameter bits.
var patternUnit = setting.Unit[string]{
	Name: "bits", Expected: fmt.Sprintf(`1 to %d digits, 0 for an arriving packet and 1 for a lost one, such as "0001"`,
		maxPattern),
	Parse:  func(v any) (string, bool) { s, ok := v.(string); return strings.TrimSpace(s), ok },
	Format: func(s string) string { return s },
	Number: func(s string) float64 { return float64(len(s)) },
	InRange: func(s string) bool {
		return len(s) > 0 && len(s) <= maxPattern && strings.Trim(s, "01") == ""
	},
}

var patternKind = kind{readPatternTable, setting.ModelInfo{Name: "pattern",
	Summary: "a repeating pattern, given as bits or in a file",
	Params: []setting.ParamInfo{
		setting.ParamInfo{Name: "bits", Help: "0 for an arriving packet, 1 for a lost one"}, pathParam, hashParam,
	},
}}

// readPatternTable returns the model of a table. Without a file, bits are required.
func readPatternTable(t Table) (Model, error) {
	var p pattern
	if _, ok := t["bits"]; ok || t["file"] == nil {
		const noDefault, noHelp = "", ""
		bits := newParam(patternUnit, func(p *pattern) *string { return &p.Bits }, "bits", noDefault, noHelp)
		if err := bits.readValue(&p, t["bits"]); err != nil {
			return nil, err
		}
	}
	file, err := t.readFile("a text of 0s and 1s", false)
	p.File = file
	return p, err
}
