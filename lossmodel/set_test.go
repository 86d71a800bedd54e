package lossmodel_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
	"wirelab/internal/setting"
	"wirelab/lossmodel"
)

// setReads lists values as users write them, and the value that Get returns.
var setReads = []struct {
	key   string
	value any
	get   string // "" means key
	want  string
}{
	{"loss", "5%", "", "5%"},
	{"loss", " 0.5 % ", "", "0.5%"},
	{"loss", "0.07%", "", "0.07%"},
	{"loss", "100%", "", "100%"},
	{"loss", 0, "", "0%"},
	{"loss", 0.0, "", "0%"},
	{"loss", "0", "", "0%"},
	{"loss", "off", "", "0%"},
	{"loss.mean", "3%", "loss", "3%"},
	{"loss.p", "3%", "loss", "3%"},
	{"loss", map[string]any{"model": "gilbert", "mean": "5%", "burst": 2.0}, "burst", "2"},
	{"loss", map[string]any{"model": "gilbert", "mean": "5%", "burst": int64(4)}, "burst", "4"},
	{"loss", map[string]any{"model": "gilbert", "mean": "5%"}, "burst", "off"},
	{"loss", map[string]any{"mean": "5%", "burst": "2.5"}, "burst", "2.5"},
	{"loss", map[string]any{"p": "5%"}, "", "5%"},
	{"loss", map[string]any{"model": "bernoulli", "p": "0%"}, "", "0%"},
	{"loss", "gilbert mean=5% burst=2.5", "burst", "2.5"},
	{"loss", "bernoulli p=4%", "loss", "4%"},
	{"loss", "gilbert-elliott p=1% r=20%", "", "gilbert-elliott p=1% r=20% h=0% k=100%"},
	{"loss", map[string]any{"model": "gilbert-elliott", "p": "1%", "r": "20%", "k": "99%"}, "", "gilbert-elliott p=1% r=20% h=0% k=99%"},
	{"loss", "four-state p13=1%", "", "four-state p13=1% p31=99% p32=0% p23=100% p14=0%"},
	{"loss", "correlated p=10% rho=25%", "", "correlated p=10% rho=25%"},
	{"loss", "correlated p=50% rho=-100%", "", "correlated p=50% rho=-100%"},
	{"loss", "periodic every=100", "", "periodic every=100"},
	{"loss", map[string]any{"model": "periodic", "every": int64(3)}, "", "periodic every=3"},
	{"loss", "pattern bits=0001", "", "pattern bits=0001"},
	{"loss", `trace file="my trace.csv" by=time`, "", `trace file="my trace.csv" by=time`},
	{"loss", "trace file=a.csv by=packet sha256=0123abcd", "", "trace file=a.csv sha256=0123abcd"},
	{"trace", "a.csv by=time", "delay_trace", "a.csv by=time"},
	{"trace", "a.csv by=time", "loss", "trace file=a.csv by=time"},
	{"trace", "a.csv", "duplicate_trace", "a.csv"},
	{"trace", "off", "delay_trace", "off"},
	{"delay_table", "-1   0 2.5", "", "-1 0 2.5"},
	{"delay_table", "some.dist", "", "some.dist"},
	{"delay_table", `"12"`, "", `"12"`},
	{"jitter_shape", "2.5", "", "2.5"},
	{"jitter_shape", 2, "", "2"},
	{"corrupt_ber", "1e-6", "", "1e-06"},
	{"corrupt_ber", 0.001, "", "0.001"},
	{"corrupt.ber", "off", "corrupt_ber", "off"},
	{"queue_packets", 50, "", "50"},
	{"rate_cell", "48", "", "48"},
	{"rate_overhead", -14, "", "-14"},
	{"rate", map[string]any{"rate": "2mbit", "burst": "10KB", "cell": 48, "cell_overhead": 5}, "rate_burst", "10KB"},
	{"reorder_distance", "3", "", "3"},
	{"burst", 1, "", "1"},
	{"burst", "2.50", "", "2.5"},
	{"loss.burst", 3.0, "burst", "3"},
	{"latency", "50ms", "", "50ms"},
	{"latency", "1.5 s", "", "1.5s"},
	{"latency", "250us", "", "250us"},
	{"latency", "250µs", "", "250us"},
	{"latency", "1234567ns", "", "1.234567ms"},
	{"latency", "20msec", "", "20ms"},
	{"latency", "1h", "", "3600s"},
	{"latency", 20 * time.Millisecond, "", "20ms"},
	{"latency", "50ms±10ms", "jitter", "10ms"},
	{"latency", "50ms ± 10ms", "latency", "50ms"},
	{"latency", "50ms+-10ms", "jitter", "10ms"},
	{"latency", "50ms +/- 10ms", "jitter", "10ms"},
	{"latency", "50ms 10ms", "jitter", "10ms"},
	{"latency", "50 ms", "latency", "50ms"},
	{"delay.jitter", "4ms", "jitter", "4ms"},
	{"distribution", "normal", "", "normal"},
	{"keep_order", true, "", "on"},
	{"keep_order", "off", "", "off"},
	{"keep_order", "false", "", "off"},
	{"reorder", map[string]any{"p": "5%", "delay": "7ms"}, "reorder_delay", "7ms"},
	{"reorder.delay", "8ms", "reorder_delay", "8ms"},
	{"duplicate", map[string]any{"p": "5%", "copies": 3}, "duplicate_copies", "3"},
	{"corrupt", map[string]any{"p": "1%", "bits": 3}, "corrupt_bits", "3"},
	{"rate", "5mbit", "", "5mbit"},
	{"rate", "1.5 Mbit/s", "", "1.5mbit"},
	{"rate", "780kbit", "", "780kbit"},
	{"rate", "64kbps", "", "64kbit"},
	{"rate", "64 Kb/s", "", "64kbit"},
	{"rate", "80KB/s", "", "640kbit"},
	{"rate", "1MBps", "", "8mbit"},
	{"rate", "1kibit", "", "1.024kbit"},
	{"rate", "12345bit", "", "12.345kbit"},
	{"rate", "off", "", "off"},
	{"rate", map[string]any{"rate": "2mbit", "queue": "10KB"}, "queue", "10KB"},
	{"queue", "64KiB", "", "64KiB"},
	{"queue", "64kB", "", "64KB"},
	{"queue", "1500B", "", "1.5KB"},
	{"queue", "1MiB", "", "1MiB"},
	{"queue", "off", "", "off"},
	{"mtu", 1280, "", "1280"},
	{"mtu", "576", "", "576"},
	{"mtu", "1400B", "", "1400"},
	{"mtu", "off", "", "off"},
	{"mtu", 65535, "", "off"},
}

// Set accepts the values of setReads.
func TestSetReads(t *testing.T) {
	for _, c := range setReads {
		s := lossmodel.DefaultSpec()
		if c.get == "" {
			c.get = c.key
		}
		if err := s.Set(c.key, c.value); err != nil {
			t.Errorf("%s = %v: %v", c.key, c.value, err)
		} else if got, _ := s.Get(c.get); got != c.want {
			t.Errorf("%s = %v: %s is %s, want %s", c.key, c.value, c.get, got, c.want)
		}
	}
}

// setRefuses lists invalid values, and what the error must contain.
var setRefuses = []struct {
	key      string
	value    any
	expected string
}{
	{"loss", "140%", "a percentage from 0% to 100%"},
	{"loss", "-1%", "a percentage"},
	{"loss", "5", "a percentage"},
	{"loss", 0.05, "a percentage"},
	{"loss", "NaN%", "a percentage"},
	{"loss", "1e1%", "a percentage"},
	{"loss", "%", "a percentage"},
	{"loss", "", "a percentage"},
	{"loss", true, "a percentage"},
	{"loss", nil, "a percentage"},
	{"loss", map[string]any{"model": "gilbert"}, "a percentage"},
	{"loss", map[string]any{"model": "gilbert", "mean": "60%", "burst": 1.0}, "at least 1.5 packets at a mean loss of 60%"},
	{"loss", map[string]any{"model": "gilbert", "mean": "5%", "burst": 0.5}, "a mean run of lost packets from 1"},
	{"loss", map[string]any{"model": "gilbrt", "mean": "5%"}, "one of bernoulli, gilbert"},
	{"loss", map[string]any{"model": "bernoulli", "burst": 2}, `unknown parameter of the loss model bernoulli "burst"`},
	{"loss", "gilbert", "a percentage"},
	{"loss", "gilbert mean", "a percentage"},
	{"loss", "gilbert mean=5% bust=2", `unknown parameter of the loss model gilbert "bust"`},
	{"loss", "gilbrt mean=5%", "a percentage"},
	{"loss", "gilbert-elliott p=1%", "loss.r: got nothing"},
	{"loss", "gilbert-elliott p=1% r=0%", "would never end"},
	{"loss", "gilbert-elliott p=101% r=5%", "a percentage from 0% to 100%"},
	{"loss", "gilbert-elliott p=1% r=5% q=1%", `unknown parameter of the loss model gilbert-elliott "q"`},
	{"loss", "four-state p13=60% p14=50%", "at most 100% together with p13"},
	{"loss", "four-state p13=5% p31=60% p32=60%", "at most 100% together with p31"},
	{"loss", "four-state p13=5% p31=0%", "a burst would never end"},
	{"loss", "four-state p13=5% p31=50% p32=5% p23=0%", "state 2 would never end"},
	{"loss", "correlated p=10% rho=-90%", "at least -11.11% at a mean loss of 10%"},
	{"loss", "correlated p=10% rho=100%", "a correlation from -100%"},
	{"loss", "periodic every=0", "a whole number of packets from 1"},
	{"loss", "periodic every=2.5", "a whole number of packets from 1"},
	{"loss", "pattern bits=0012", "0 for an arriving packet"},
	{"loss", "pattern", "0 for an arriving packet"},
	{"loss", "pattern bits=01 file=a", "either bits or a file"},
	{"loss", "trace", "the path of a capture"},
	{"loss", "trace file=a by=name", "by=time"},
	{"loss", "trace file=a sha256=xyz", "sha256=DIGITS"},
	{"loss.r", "5%", `unknown key "loss.r"`},
	{"trace", "a.csv by=name", "the path of a capture"},
	{"trace", 5, "the path of a capture"},
	{"rate_trace", "a by=time", "the path of a trace"},
	{"delay_table", "3 2 1", "do not decrease"},
	{"delay_table", "1", "quantiles"},
	{"delay_table", "0 99999", "quantiles"},
	{"jitter_shape", 1.2, "steps of 0.5"},
	{"jitter_correlation", "100%", "from 0% to 99.99%"},
	{"corrupt_ber", "0.5", "a bit error rate"},
	{"corrupt_ber", "NaN", "a bit error rate"},
	{"queue_packets", 0, `or "off"`},
	{"rate_cell", 0, `or "off"`},
	{"rate_burst", "0B", `"off" for none`},
	{"reorder_distance", 1001, "from 1 to 1000"},
	{"spike_every", "2h", "a time from 0 to 1h"},
	{"burst", 0.99, "a mean run of lost packets from 1"},
	{"burst", 0, "a mean run"},
	{"burst", math.NaN(), "a mean run"},
	{"burst", math.Inf(1), "a mean run"},
	{"latency", "-5ms", "a time from 0 to 1h"},
	{"latency", "50", "a time"},
	{"latency", 50, "a time"},
	{"latency", "61m", "a time"},
	{"latency", "50ms±", "two of them"},
	{"latency", "50ms±-1ms", "two of them"},
	{"latency", "50ms 10", "two of them"},
	{"jitter", "10%", "a time"},
	{"distribution", "cauchy", "one of uniform, normal, pareto"},
	{"distribution", 1, "one of uniform"},
	{"keep_order", "maybe", `"on" or "off"`},
	{"keep_order", 1, `"on" or "off"`},
	{"duplicate_copies", 0, "a whole number of copies from 1 to 8"},
	{"duplicate_copies", 1.5, "a whole number"},
	{"corrupt_bits", 65, "a whole number of bits from 1 to 64"},
	{"rate", "0", `or "off" for no limit`},
	{"rate", 5000000, "a rate from 1kbit to 1tbit"},
	{"rate", "5m", "a rate"},
	{"rate", "5mb", "a rate"},
	{"rate", "-5mbit", "a rate"},
	{"rate", "2tbit", "a rate"},
	{"rate", "999bit", "a rate"},
	{"rate", "99999999999999999999tbit", "a rate"},
	{"queue", "0KB", `or "off" for no limit`},
	{"queue", 0, "a size"},
	{"queue", "64kb", "a size"},
	{"queue", "2000TB", "a size"},
	{"mtu", 67, "from 68 to 65535"},
	{"mtu", 1e99, "from 68 to 65535"},
	{"mtu", "1500.5", "from 68 to 65535"},
	{"keep_order", map[string]any{"on": true}, `"on" or "off"`},
	{"lataency", "5ms", `unknown key "lataency": expected one of loss, burst`},
	{"loss.modle", "gilbert", `unknown key "loss.modle"`},
	{"nowhere", map[string]any{"a": 1}, `unknown key "nowhere"`},
	{"reorder", map[string]any{"p": "5%", "dealy": "1ms"}, `unknown key "reorder.dealy"`},
}

// Invalid values are refused, the error names what was expected, and the spec is unchanged.
func TestSetRefuses(t *testing.T) {
	for _, c := range setRefuses {
		s := lossmodel.DefaultSpec()
		err := s.Set(c.key, c.value)
		var ke *lossmodel.KeyError
		if !errors.As(err, &ke) || !strings.Contains(err.Error(), c.expected) {
			t.Errorf("%s = %v: error %v does not contain %q", c.key, c.value, err, c.expected)
		}
		if s != lossmodel.DefaultSpec() {
			t.Errorf("%s = %v was refused but changed the spec to %v", c.key, c.value, s.Values())
		}
		if !errors.Is(err, setting.ErrUnknown) && !errors.Is(err, setting.ErrValue) {
			t.Errorf("%s = %v: the error wraps neither ErrUnknown nor ErrValue", c.key, c.value)
		}
	}
}
