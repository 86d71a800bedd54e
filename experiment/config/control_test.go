package config

import (
	"strings"
	"testing"

	"wirelab/experiment/view"
)

// A control that the other settings do not allow, and parameters that contradict each other, are refused in one sentence
// with the key.
func TestControlErrors(t *testing.T) {
	for text, want := range map[string]string{
		"[sender]\ncontrol = \"gcc least=2mbit most=1mbit\"\n":                                             `sender.control: got "most=1mbit"; expected a rate that is not below least=2mbit`,
		"[sender]\ncontrol = \"gcc start=2mbit most=1mbit\"\n":                                             `sender.control: got "most=1mbit"; expected a rate that is not below start=2mbit`,
		"[sender]\ncontrol = \"gcc start=20kbit least=30kbit\"\n":                                          `sender.control: got "start=20kbit"; expected a rate that is not below least=30kbit`,
		"[sender]\ncontrol = \"good-bad good=10 bad=20\"\n":                                                `sender.control: got "good=10"; expected a whole number that is not below bad=20`,
		"[sender]\ncontrol = 3\n":                                                                          `x.toml:2: sender.control: 3 is invalid; expected "fixed", "good-bad`,
		"[sender]\ncontrol = \" \"\n":                                                                      `x.toml:2: sender.control: " " is invalid`,
		"[sender]\ncontrol = \"gc\"\n":                                                                     `x.toml:2: sender.control: unknown policy "gc"; expected one of fixed, good-bad, gcc, ack-clock, off; did you mean gcc?`,
		"[receiver]\nplayout = 3\n":                                                                        "x.toml:2: receiver.playout: 3 is invalid; expected a time such as 85ms, or",
		"[sender]\ncontrol = \"gcc most=300kbit\"\n":                                                       "",
		"[messages]\nrate_hz = 20\ndelivery = \"stream\"\n[[shadow]]\nname = \"raw\"\ncontrol = \"gcc\"\n": "shadow[0].control: a stream has its own congestion control",
		"[messages]\nrate_hz = 20\ndelivery = \"stream\"\n[[shadow]]\nname = \"raw\"\ncontrol = \"off\"\n": "",
		"[messages]\nrate_hz = 20\n[sender]\ncontrol = \"gcc\"\n[[shadow]]\nname = \"raw\"\ncontrol = \"good-bad rtt=1s\"\n": "",
	} {
		if got := validate(t, text); (got == "") != (want == "") || !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%q: %s\nwant %s", text, got, want)
		}
	}
}

// Controls and playout policies without an effect cause a warning.
func TestIdlePolicies(t *testing.T) {
	for text, want := range map[string]string{
		"sender.control=good-bad":                                                    "",
		"sender.control=good-bad sender.rate_hz=20":                                  "sender.control: good-bad holds nothing back, because bad=20 is not below the snapshots per second that could be sent (sender.rate_hz = 20, sender.every = 1)",
		"sender.control=good-bad sender.every=3":                                     "sender.control: good-bad holds nothing back",
		"sender.control=good-bad sender.every=2":                                     "",
		"sender.control=ack-clock,least=60":                                          "sender.control: ack-clock holds nothing back, because least=60",
		"sender.control=gcc shadow[0].name=raw shadow[0].control=ack-clock,least=60": "shadow[0].control: ack-clock",
		"receiver.playout=mirror,buffer=3":                                           "",
		"receiver.playout=mirror,buffer=3,tolerance=2":                               "receiver.playout: mirror ignores tolerance",
		"receiver.playout=mirror,tolerance=2":                                        "",
		"receiver.playout=age data.source=files:a,b":                                 "receiver.playout: has no effect; expected data.source != files",
		"receiver.playout_compare=all data.source=files:a,b":                         "receiver.playout_compare: has no effect; expected data.source != files",

		"sender.priority=unity":     "sender.priority: has no effect; expected sender.budget or crowd.budget",
		"sender.weights=position=2": "sender.weights: has no effect; expected sender.budget or",
		"sender.budget_burst=2":     "sender.budget_burst: has no effect; expected sender.budget or",
		"interest.radius=2":         "interest.radius: has no effect; expected sender.budget or",
		"interest.falloff=2":        "interest.falloff: has no effect; expected sender.budget or",
		"sender.priority=unity at[0].t=1s at[0].sender.budget=64kbit":                "",
		"sender.priority=unity at[0].t=1s at[0].send_budget=64kbit":                  "",
		"sender.budget=64kbit interest.row=3":                                        "interest.row: has no effect; expected interest.radius",
		"sender.budget=64kbit interest.falloff=3":                                    "interest.falloff: has no effect; expected interest.radius",
		"sender.budget=64kbit interest.falloff=3 interest.radius=2":                  "",
		"sender.budget=64kbit interest.point=1,2,3 interest.radius=2":                "interest.point: has no effect; expected interest.row = 0",
		"sender.budget=64kbit interest.point=1,2,3 interest.radius=2 interest.row=0": "",
		"sender.budget=64kbit sender.weights=a:b=2 sender.priority=round-robin":      "sender.weights: has no effect; expected sender.priority != round-robin",
		"sender.budget=64kbit interest.radius=2 sender.priority=newest-change":       "interest.radius: has no effect; expected sender.priority != newest-change",
		"sender.budget=64kbit sender.weights=x=2 sender.priority=unity":              "sender.weights: has no effect on fields with the priority unity",
		"sender.budget=64kbit sender.weights=x:y=2 sender.priority=unity":            "",
		"sender.budget=64kbit sender.weights=x=2":                                    "",
		"down.queue=32KB": "down.queue: has no effect; expected down.rate or down.rate_trace",
		"link.jitter_shape=3 link.jitter=9ms link.distribution=gamma": "",
		"up.jitter_shape=3 up.jitter=9ms":                             "up.jitter_shape: has no effect; expected up.distribution = gamma",
		"down.rate=1mbit down.rate_cell=48":                           "",
		"down.keep_order=on at[0].t=1s at[0].link.latency=9ms":        "",
		"down.queue=9KB at[0].t=1s at[0].down.rate=1mbit":             "",
		"at[0].t=1s at[0].down.queue=9KB":                             "down.queue: has no effect; expected down.rate or down.rate_trace",
		"down.burst=3 sweep[0].key=link.loss":                         "",
		"down.burst=3 sweep[0].key=profile":                           "",
		"down.burst=3 sweep[0].key=up.loss":                           "down.burst: has no effect; expected down.loss",
		"sweep[0].key=down.burst":                                     "down.burst: has no effect; expected down.loss",
		"data.message=9 data.source=./chat.log":                       "",
		"data.message=9 data.source=text:chat":                        "",
		"data.script=idle":                                            "data.script: has no effect; expected data.source = world",
		"messages.rate_hz=9 messages.lanes=2":                         "messages.lanes: has no effect; expected messages.burst",
		"sender.history=9 at[0].t=1s at[0].link.loss=9%":              "",
	} {
		c := Default()
		for _, pair := range strings.Fields(text) {
			key, value, _ := strings.Cut(pair, "=")
			if err := c.Set(key, strings.ReplaceAll(value, ",", " ")); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		got := strings.Join(c.Warnings(), "\n")
		if (got == "") != (want == "") || !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%s: %s\nwant %s", text, got, want)
		}
	}
	c := Default()
	c.Sender.Priority, c.Interest.Row = view.Policies.Default("unity"), 3
	c.Sweep, c.Search.Over = []Axis{{Key: BudgetKey, Values: []any{"off", "64kbit"}}}, []Range{{Key: radiusKey}}
	if w := c.Warnings(); len(w) > 0 {
		t.Errorf("settings that are varied are warned about: %v", w)
	}
	c.Search.Over, c.Interest = nil, defaultInterest
	points, err := c.Points()
	if err != nil || len(points[0].Config.Warnings()) > 0 {
		t.Errorf("the point without a budget has the warnings %v, %v", points[0].Config.Warnings(), err)
	}
}
