package lossmodel

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// Pattern loses exactly the packets that it says, over and over: Bits is a text
// of 0 (arrives) and 1 (lost), or File holds one, in which white space counts for
// nothing. A copy shares its datagram's fate.
type Pattern struct {
	Bits string // 1 to MaxPattern of them; "" if File says
	File File
}

// MaxPattern is the longest pattern that is not in a file.
const MaxPattern = 4096

// Model implements LossModel.
func (Pattern) Model() string { return "pattern" }

// mean is that of the bits; what a file holds is not known here.
func (p Pattern) mean() float64 {
	if p.Bits == "" {
		return 0
	}
	return float64(strings.Count(p.Bits, "1")) / float64(len(p.Bits))
}

func (p Pattern) text() string {
	if p.Bits != "" {
		return words("pattern", "bits", p.Bits)
	}
	return words("pattern", "file", quoteWord(p.File.Path)) + p.File.options()
}

func (p Pattern) check() error {
	switch {
	case p.Bits != "" && p.File != File{}:
		return &KeyError{Key: "loss.bits", Value: show(p.Bits), Expected: "no bits beside a file"}
	case p.File.Path != "" && p.File.valid() && !p.File.ByTime:
		return nil
	case p.File != File{}:
		return fileUnit("a pattern", false).refuse("loss.file", show(formatFile(p.File)))
	case !patternUnit.in(p.Bits):
		return patternUnit.refuse("loss.bits", show(p.Bits))
	}
	return nil
}

func (p Pattern) source() File           { return p.File }
func (Pattern) sourceKind() fileKind     { return asPattern }
func (Pattern) from(file File) LossModel { return Pattern{File: file} }

func (p Pattern) process(prev lossProcess, files *library) lossProcess {
	q, ok := prev.(*patternProcess)
	if !ok {
		q = &patternProcess{}
	}
	if p.File.Path != "" {
		q.bits = files.get(p.File, asPattern).pattern
	} else {
		q.bits, _ = readPattern([]byte(p.Bits))
	}
	return q
}

func (p Pattern) law() (LossLaw, bool) {
	bits, err := readPattern([]byte(p.Bits))
	return patternLaw(bits), p.Bits != "" && err == nil
}

// patternLaw counts. A pattern that repeats has no spread: the share lost is off
// by less than one period.
func patternLaw(bits []bool) (law LossLaw) {
	n := float64(len(bits))
	if n == 0 {
		return law
	}
	lost, pairs, runs := 0.0, 0.0, 0.0
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
	law.Rate = lost / n
	if v := law.Rate * (1 - law.Rate); v > 0 {
		law.Lag1 = (pairs/n - float64(law.Rate*law.Rate)) / v
	}
	if runs > 0 {
		law.MeanRun = lost / runs
	} else if lost > 0 {
		law.MeanRun = math.Inf(1)
	}
	return law
}

type patternProcess struct {
	bits []bool
	seen uint64
	lost bool
}

func (p *patternProcess) judge(_ time.Duration, _ uint64, f *Fate) {
	if f.Copy == 0 {
		p.lost = p.bits[p.seen%uint64(len(p.bits))]
		p.seen++
	}
	if p.lost {
		f.lose(Loss)
	}
}

// readPattern reads 0s and 1s.
func readPattern(data []byte) ([]bool, error) {
	bits := make([]bool, 0, len(data))
	for i, c := range data {
		switch c {
		case '0', '1':
			bits = append(bits, c == '1')
		case ' ', '\t', '\n', '\r':
		default:
			return nil, fmt.Errorf("byte %d is %q, expected 0 or 1", i+1, c)
		}
	}
	if len(bits) == 0 {
		return nil, errors.New("the pattern is empty, expected 0s and 1s")
	}
	return bits, nil
}

var patternUnit = unit[string]{
	name: "bits", expected: fmt.Sprintf(`1 to %d digits, 0 for a packet that arrives and 1 for one that is lost, such as "0001"`, MaxPattern),
	parse:  func(v any) (string, bool) { s, ok := v.(string); return strings.TrimSpace(s), ok },
	format: func(s string) string { return s },
	number: func(s string) float64 { return float64(len(s)) },
	in: func(s string) bool {
		return len(s) > 0 && len(s) <= MaxPattern && strings.Trim(s, "01") == ""
	},
}

func patternFrom(t lossTable) (LossModel, error) {
	var p Pattern
	if _, ok := t["bits"]; ok || t["file"] == nil {
		if err := t.read(number(&p.Bits, "bits", patternUnit)); err != nil {
			return nil, err
		}
	}
	file, err := t.file("a text of 0s and 1s", false)
	p.File = file
	return p, err
}
