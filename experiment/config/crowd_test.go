package config

import (
	"math"
	"strings"
	"testing"

	"wirelab/internal/testkit"
)

// The text of a spread is canonical, and wrong values are refused in one sentence that names the key.
func TestCrowdSettings(t *testing.T) {
	c := Default()
	for _, x := range []struct{ key, value, want string }{
		{"crowd.clients", "200", "200"},
		{"crowd.rtt", "60ms", "60ms"},
		{"crowd.rtt", "link", "link"},
		{"crowd.rtt", "lognormal median=60ms sigma=0.5 min=20ms max=200ms", "lognormal median=60ms sigma=0.5 min=20ms max=200ms"},
		{"crowd.jitter", "uniform max=8ms", "uniform min=0ms max=8ms"},
		{"crowd.loss", "2.5%", "2.5%"},
		{"crowd.loss", "uniform min=1% max=5%", "uniform min=1% max=5%"},
		{"crowd.baseline", "every", "every ticks=2"},
		{"crowd.profiles", "unity-cable 70%,unity-4g 30%", "unity-cable 70%, unity-4g 30%"},
		{"crowd.uplink_rate", "100mbit", "100mbit"},
		{"crowd.uplink_queue", "64KB", "64KB"},
		{"crowd.uplink_pace", "true", "true"},
	} {
		if err := c.Set(x.key, x.value); err != nil || c.Settings()[x.key] != x.want {
			t.Errorf("%s = %s: %v, %s", x.key, x.value, err, c.Settings()[x.key])
		}
	}
	text, err := c.TOML()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Parse("x.toml", text); err != nil || again.Crowd != c.Crowd {
		t.Errorf("%v: %+v, want %+v", err, again, c.Crowd)
	}
	for key, value := range map[string]string{"crowd.clients": "10001", "crowd.rtt": "fast", "crowd.jitter": "uniform min=9ms max=8ms",
		"crowd.loss": "NaN%", "crowd.baseline": "every ticks=0",
		"crowd.profiles": "unity-4g 30%, unity-4g 70%", "crowd.profiles.unity-5h": "3%", "crowd.uplink_rate": "2tbit", "crowd.uplink_queue": "2GB"} {
		if err := c.Set(key, value); err == nil || !strings.HasPrefix(err.Error(), key+": ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s = %s: %v", key, value, err)
		}
	}
	if values := Default().Values(); values["crowd"] != nil {
		t.Errorf("without a crowd, the report has %v", values["crowd"])
	}
}

// Settings of a crowd without clients are refused, and so is a change that begins or ends a crowd.
func TestCrowdChecks(t *testing.T) {
	for want, settings := range map[string][]string{
		"crowd.rtt: has no effect":                 {"crowd.rtt", "60ms"},
		"crowd.uplink_rate: has no effect":         {"crowd.uplink_rate", "1mbit"},
		"crowd.uplink_pace: has no effect":         {"crowd.clients", "5", "crowd.uplink_pace", "true"},
		"crowd.uplink_queue: 1MB at 1kbit takes 2": {"crowd.clients", "5", "crowd.uplink_rate", "1kbit"},
		"client[0]: only a crowd":                  {"client[0].turn", "1", "client[0].join", "2s"},
		"crowd.profiles: the shares add up to 90":  {"crowd.clients", "2", "crowd.profiles.unity-4g", "30%", "crowd.profiles.unity-cable", "60%"},
		"client[0].turn: the crowd has no client":  {"crowd.clients", "2", "client[0].turn", "3", "client[0].loss", "1%"},
	} {
		c := Default()
		testkit.Set(t, c, settings...)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, want %s", settings, err, want)
		}
	}
	for _, clients := range []int{0, 5} {
		c := Default()
		c.Crowd.Clients = clients
		if err := c.Check(NewChange("clients", 9)); (err == nil) != (clients > 0) {
			t.Errorf("from %d to 9 clients: %v", clients, err)
		}
		if err := c.Check(NewChange("clients", 0)); (err == nil) != (clients == 0) {
			t.Errorf("from %d to 0 clients: %v", clients, err)
		}
	}
}

// exp agrees with math.Exp.
func TestExp(t *testing.T) {
	for x := -20.0; x <= 20; x += 0.0137 {
		if got, want := exp(x), math.Exp(x); math.Abs(got-want) > 4e-15*want {
			t.Fatalf("exp(%g) = %g, want %g", x, got, want)
		}
	}
}
