package engine

import (
	"strings"
	"testing"

	"wirelab/experiment/config"
)

// What cannot work is refused with one sentence about the key, at the start or, as a change, during a
// session, where it has no effect.
func TestRefusals(t *testing.T) {
	const (
		stream = "messages.delivery stream; "
		budget = "sender.budget 64kbit; "
	)
	for _, x := range []struct{ start, change, want string }{
		{stream + "data.source files:a,b", "", "messages: files are delivered in blocks of their own, without containers; expected"},
		{stream + "messages.lanes 2", "", "messages.lanes: a stream has one order for everything; expected 1, or another"},
		{stream + "sender.redundancy xor", "", "sender.redundancy: a stream resends what is lost, so redundancy repairs nothing; expected none, or"},
		{stream + "messages.size 0B", "", `messages.size: "0B" is invalid; expected a size from 1B to 1MiB`},
		{stream + "messages.pace 1kbit", "", `messages.pace: "1kbit" is invalid; expected a rate from 8kbit to 1gbit`},
		{"messages.delivery reliable", "", `messages.delivery: unknown policy "reliable"; expected one of all-unacked`},
		{stream + "messages.burst_every 1ms", "", "expected a time from 100ms"},

		{"sender.redundancy rs; data.source files:a,b", "", "sender.redundancy: files are delivered in blocks"},
		{"sender.redundancy repeat n=9", "", `sender.redundancy: got "n=9"; expected a whole number from 1 to 8 for n, such as n=1`},
		{"sender.redundancy repaet", "", "did you mean repeat?"},

		{budget + "encoder.name raw", "", "raw cannot encode part of a frame"},
		{budget + "data.source rpc", "", "rounds values"},
		{budget + "data.source text", "", "must arrive as a whole"},
		{"sender.budget 1kbit", "", "the first packet takes"},
		{"sender.budget 12", "", "64kbit"},
		{budget + "sender.budget_burst 0.5", "", "1 to 16 packets"},
		{budget + "sender.priority nearest", "", "accumulated"},
		{budget + "sender.weights x=2", "", `sender.weights: unknown field or value of a field "x"; expected one of position, orientation, interacting:0, interacting:1`},
		{budget + "sender.weights intracting:1=2", "", "did you mean interacting:1?"},
		{"sender.weights x=2", "", "sender.weights: unknown field"},
		{budget + "interest.radius 2; interest.row 902", "", "interest.row: 902 is not a row of the data; expected 0 (interest.point) to 901"},
		{"data.source rpc; encoder.name zstd-baseline; interest.radius 2", "", "interest.radius: rpc has no positions"},
		{"", "shadow[0].name raw; shadow[0].budget 64kbit", "shadow[0].name: raw cannot encode part of a frame"},
		{"", "shadow[0].name adaptive; shadow[0].budget 1kbit", "shadow[0].budget: 1kbit allows packets of at most"},
		{"", "shadow[0].name raw; shadow[0].budget 64kbit", "or shadow[0].budget = off"},

		{"data.source text; sender.control gcc", "", "sender.control: a control skips snapshots, and these data must not be skipped"},
		{"data.source text", "control gcc", "must not be skipped"},
		{"receiver.history 20", "every 10", ""},
		{"receiver.history 20", "every 11", "sender.every: "},
		{"", "press left", `demo accepts no input: it is not a live world; expected data "world"`},
		{"", "traffic 1 bbr", "unknown policy"},
		{"down.rate 2mbit", "traffic 1 cubic; down.rate off", `traffic: needs a bottleneck to share; expected down.rate, such as "5mbit", or down.rate_trace`},

		{"shadow[0].name raw", "shadow raw", "already"},
		{"", "shadow quantised", "did you mean quantized?"},
		{"shadow[0].name raw", "shadow_off rav", "did you mean raw?"},
		{"", "shadow[0].name raw; shadow[0].params.small 3", "no params"},
	} {
		err := refusedWith(t, x.start, x.change)
		switch {
		case err == nil && x.want == "":
		case err == nil || x.want == "" || !strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "\n"):
			t.Errorf("%q, then %q: %v, want an error with %q", x.start, x.change, err, x.want)
		}
	}
}

// refusedWith returns the error of a session of the given settings or, if there is none, of a change of it.
func refusedWith(t *testing.T, start, change string) error {
	t.Helper()
	c := config.Default()
	if err := setAll(start, c.Set); err != nil {
		return err
	}
	s, err := NewSession(t.Context(), c, Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	var ch config.Change
	if err := setAll(change, ch.Set); err != nil || ch.IsZero() {
		return err
	}
	lanes := len(s.lanes)
	err = s.Change(ch)
	if err != nil && (len(s.log) > 0 || len(s.lanes) != lanes) {
		t.Errorf("%q was refused and has an effect", change)
	}
	return err
}
