package report

import (
	_ "embed"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
	"wirelab/internal/words"
	"wirelab/lossmodel"
)

//go:embed explain.tmpl
var explainTemplate string

// explainTemplates returns the templates of the sentences about a packet. There is one for each
// inspector.Reason, with the reason's name.
var explainTemplates = sync.OnceValue(func() *template.Template {
	number := func(v any) float64 {
		return reflect.ValueOf(v).Convert(reflect.TypeFor[float64]()).Float()
	}
	return template.Must(template.New("").Funcs(template.FuncMap{
		"millis":    millis,
		"sub":       func(a, b time.Duration) time.Duration { return a - b },
		"thousands": func(n any) string { return units.Thousands(reflect.ValueOf(n).Int()) },
		"count":     func(n any, noun string) string { return words.Count(reflect.ValueOf(n).Int(), noun) },
		"ordinal":   words.Ordinal,
		"bits":      func(bytes any) float64 { return number(bytes) * 8 },
		"ratio":     func(x, y any) float64 { return figures.RatioOrZero(number(x), number(y)) },
	}).Parse(explainTemplate))
})

// Explain returns a sentence that explains why packet o failed or is large. why is one of o.Reasons, and
// c the configuration when the packet's outcome was recorded.
func Explain(o *inspector.Opened, why inspector.Reason, c *config.Config) string {
	var b strings.Builder
	e := explained{&o.Record, &o.Inside, c.Sender.RateHz, c.HasMessages() && c.Messages.IsStream(), c.Playout().Delay}
	if err := explainTemplates().ExecuteTemplate(&b, why.String(), e); err != nil {
		panic("report: " + err.Error()) // tests execute every template
	}
	return b.String()
}

// explained is the data of the templates: a packet with its details.
type explained struct {
	*packetlog.Record
	In   *inspector.Inside
	rate int // packets per second

	InStream bool          // the packet travelled in a stream with the messages
	Playout  time.Duration // delay; 0 with a policy
}

// Delay returns the packet's one-way delay.
func (e explained) Delay() time.Duration { return e.Arrived - e.Sent }

// Extra returns by how much the packet took longer than the stages of the link usually add.
func (e explained) Extra() (extra time.Duration) {
	for _, s := range e.In.Trail.All() {
		extra += s.Delay - s.BaseDelay
	}
	return extra
}

// AlwaysLate reports whether the packet was late and would have been without Extra, which is negative if it was fast.
func (e explained) AlwaysLate() bool { return e.Late > max(e.Extra(), 0) }

// BaseSeq returns the sequence number of the baseline.
func (e explained) BaseSeq() uint64 { return e.Seq - uint64(e.Baseline) }

// Bits returns the size of the datagram.
func (e explained) Bits() int { return (e.In.Header + e.Payload) * 8 }

// BasePending reports whether the baseline was in flight when the packet arrived.
func (e explained) BasePending() bool { return e.In.Base == inspector.BasePending }

// FullQueue returns the stage whose queue was full, or whose queue discipline dropped the packet; nil if none did.
func (e explained) FullQueue() *lossmodel.Step {
	for _, s := range e.In.Trail.All() {
		if s.Lost == lossmodel.Queue {
			return &s
		}
	}
	return nil
}

// Culprit returns the stage of the link that delayed the packet most beyond the delay that this stage
// usually adds; nil if no stage delayed the packet more than usual.
func (e explained) Culprit() (worst *lossmodel.Step) {
	for _, s := range e.In.Trail.All() {
		if extra := s.Delay - s.BaseDelay; extra > 0 && (worst == nil || extra > worst.Delay-worst.BaseDelay) {
			worst = &s
		}
	}
	return worst
}

// LostAt returns the name of the stage that dropped the packet; empty if unknown.
func (e explained) LostAt() (stage string) {
	for _, s := range e.In.Trail.All() {
		if s.Lost != lossmodel.None {
			stage = s.Stage.String()
		}
	}
	return stage
}

// Problem returns why the receiver did not decode the packet, without the prefix of package endpoint.
func (e explained) Problem() string {
	if e.In.Err == nil {
		return "no reason given"
	}
	return strings.TrimPrefix(e.In.Err.Error(), "endpoint: ")
}

// RoundTrip explains the age of the missing reference in packets: by the round-trip time or, if it is older
// than that because packets since the baseline were lost or failed, by those.
func (e explained) RoundTrip() string {
	age, since := int(e.Seq-e.In.Missing), e.In.AfterBaseline
	if failed := since.Lost + since.Failed + since.AckLost; failed > 0 && e.In.Missing == e.BaseSeq() {
		// The round trip in packets: the time from sending the baseline to its ack, rounded up.
		roundTrip := int((e.In.BaseAcked-e.In.BaseSent)*time.Duration(e.rate)/time.Second) + 1
		if e.In.BaseAcked > 0 && age > roundTrip+1 {
			return fmt.Sprintf("%d packets have passed, although the round trip takes %d: %s", age, roundTrip, e.SinceBaseline())
		}
	}
	return fmt.Sprintf("the round trip takes %d packets", age)
}

// SinceBaseline describes the states of the packets after the baseline: "of the packets since, 2 were lost".
func (e explained) SinceBaseline() string {
	var parts []string
	add := func(n int, singular, plural string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+singular)
		case n > 1:
			parts = append(parts, strconv.Itoa(n)+" "+plural)
		}
	}
	s := e.In.AfterBaseline
	add(s.Lost, "was lost", "were lost")
	add(s.Failed, "could not be decoded", "could not be decoded")
	add(s.AckLost, "had its ack lost", "had their acks lost")
	add(s.InFlight, "is not acknowledged yet", "are not acknowledged yet")
	return "of the packets since, " + strings.Join(parts, ", ")
}

// millis formats a duration in milliseconds, with one decimal below 10; a negative one as 0.
func millis(d time.Duration) string {
	if d < 0 {
		return "0 ms"
	}
	return units.Stepped(units.Milliseconds(d), 1, 9.95) + " ms"
}
