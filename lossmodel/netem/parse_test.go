package netem

import (
	"errors"
	"strings"
	"testing"

	"wirelab/internal/setting"
)

// parseCases lists lines and their shortest form. What tc 6.1 passes to the kernel for such lines
// was compared.
var parseCases = []struct{ line, want string }{
	{"", "limit 1000"},
	{"limit 1000", "limit 1000"},
	{"limit 1k", "limit 1024"},
	{"limit 0x20", "limit 32"},
	{"delay 50ms", "delay 50ms"},
	{"latency 50ms", "delay 50ms"},
	{"d 50ms", "delay 50ms"},
	{"del 50msecs 10000 25", "delay 50ms 10ms 25%"},
	{"delay 1.5ms", "delay 1.5ms"},
	{"delay 1.001ms", "delay 1ms"}, // 1000.9999999999999 microseconds, cut off
	{"delay 1001", "delay 1001us"},
	{"delay 2.5 10ms", "delay 2us 10ms"},
	{"delay 0.3S", "delay 300ms"},
	{"delay 274.877906s", "delay 274.877906s"},
	{"delay 0x10ms", "delay 16ms"},
	{"delay 1e1ms", "delay 10ms"},
	{"delay 0ms 10ms", "delay 0us 10ms"},
	{"delay 10ms 0ms 25%", "delay 10ms"},
	{"delay 10ms 5ms delay 20ms", "delay 20ms 5ms"},
	{"delay 10ms 5ms distribution normal", "delay 10ms 5ms distribution normal"},
	{"di pareto delay 10ms 5ms", "delay 10ms 5ms distribution pareto"},
	{"loss 1%", "loss 1%"},
	{"loss 1", "loss 1%"},
	{"lo 0.3% 25%", "loss 0.3% 25%"},
	{"drop 1%", "loss 1%"},
	{"dr random 1% 2%", "loss 1% 2%"},
	{"loss random .5%", "loss 0.5%"},
	{"loss 33.3333333333%", "loss 33.33333333%"},
	{"loss 1e-7%", "loss 0.00000009%"},
	{"loss 0% loss 5%", "loss 5%"},
	{"loss state 1%", "loss state 1% 99%"},
	{"loss state 1% 20%", "loss state 1% 20%"},
	{"loss state 1% 20% 10% 30% 0.5%", "loss state 1% 20% 10% 30% 0.5%"},
	{"loss gemodel 1%", "loss gemodel 1% 99%"},
	{"loss gemodel 1% 20% 100% 0%", "loss gemodel 1% 20%"},
	{"loss gemodel 1% 20% 70% 0.1%", "loss gemodel 1% 20% 70% 0.1%"},
	{"loss gemodel 1% 20% 70%", "loss gemodel 1% 20% 70%"},
	{"loss 1% ecn", "loss 1% ecn"},
	{"duplicate 1%", "duplicate 1%"},
	{"du 1% 25%", "duplicate 1% 25%"},
	{"duplicate 1% 25% loss 2% 3%", "loss 2% 3% duplicate 1% 25%"},
	{"duplicate 1% 25% loss 2% 0%", "loss 2% duplicate 1% 25% corrupt 0% 0%"},
	{"c 1% 5%", "corrupt 1% 5%"},
	{"delay 10ms reorder 25% 50% gap 5", "delay 10ms reorder 25% 50% gap 5"},
	{"reorder 25% delay 10ms gap 1", "delay 10ms reorder 25%"},
	{"r 5% de 1ms g 010", "delay 1ms reorder 5% gap 8"},
	{"rate 5mbit", "rate 5mbit"},
	{"ra 5Mbit", "rate 5mbit"},
	{"rate 8", "rate 8bit"},
	{"rate 625kbps", "rate 5mbit"},
	{"rate 1Kibit", "rate 1.024kbit"},
	{"rate 2mibps", "rate 16.777216mbit"},
	{"rate 1tbit", "rate 1tbit"},
	{"rate 7bit", "limit 1000"}, // less than a byte a second
	{"rate 1mbit 14", "rate 1mbit 14"},
	{"rate 1mbit -14 48 5", "rate 1mbit -14 48 5"},
	{"rate 1mbit 0 48 -0x5", "rate 1mbit 0 48 -5"},
	{"rate 1mbit 9 0 5", "rate 1mbit 9"},
	{"slot 10ms", "slot 10ms"},
	{"sl 800us 1ms packets 32 bytes 1k", "slot 800us 1ms packets 32 bytes 1024"},
	{"slot 5", "slot 5ns"},
	{"slot 0", "limit 1000"},
	{"slot distribution normal 1ms 100us p 3", "slot distribution normal 1ms 100us packets 3"},
	{"seed 1", "limit 1000 seed 1"},
	{"s 18446744073709551615", "limit 1000 seed 18446744073709551615"},
	{"seed -1", "limit 1000 seed 18446744073709551615"},
	{"loss 1% seed 010", "loss 1% seed 10"},
	{"netem loss 1%", "loss 1%"},
	{"tc qdisc add dev eth0 root netem loss 1%", "loss 1%"},
	{"sudo /sbin/tc -n nA qdisc replace dev vA parent 1:1 handle 10: netem loss 1%", "loss 1%"},
	{"tc -s q chan root dev eth0 netem delay 1ms", "delay 1ms"},
	{"delay 50ms 10ms distribution normal loss gemodel 1% 20% duplicate 1% reorder 5% rate 5mbit seed 1",
		"delay 50ms 10ms distribution normal loss gemodel 1% 20% duplicate 1% reorder 5% rate 5mbit seed 1"},
}

// Parse accepts the lines of parseCases, and String returns the shortest form.
func TestParse(t *testing.T) {
	for _, c := range parseCases {
		p, err := Parse(c.line)
		if err != nil {
			t.Errorf("%q: %v", c.line, err)
			continue
		}
		if got := p.String(); got != c.want {
			t.Errorf("%q is formatted as %q, want %q", c.line, got, c.want)
		}
		if back, err := Parse(p.String()); err != nil || back != p {
			t.Errorf("%q, formatted as %q, parses as %+v, %v; want %+v", c.line, p, back, err, p)
		}
	}
}

// Params have the values that tc passes to the kernel in its netlink messages.
func TestKernelValues(t *testing.T) {
	p := mustParse(t, "delay 1us 10ms 25% loss 10% 1% duplicate 0.1% rate 1mbit limit 10")
	if p.Loss.Probability != 0x1999999a || p.Delay.Corr != 0x40000000 || p.Limit != 10 || p.Rate.Bytes != 125000 {
		t.Errorf("%+v", p)
	}
	if kernelTime(p.Delay.Latency) != 15*64 || kernelTime(p.Delay.Jitter) != 0x02625a*64 {
		t.Errorf("ticks of %d and %d ns", kernelTime(p.Delay.Latency), kernelTime(p.Delay.Jitter))
	}
	g := mustParse(t, "loss gemodel 1% 20% 70% 2%")
	if g.Loss.P != 42949673 || g.Loss.R != 858993459 || g.Loss.H != always-3006477106 || g.Loss.K1 != 85899346 {
		t.Errorf("%+v", g)
	}
}

// refusedLines lists lines that tc refuses, the word at fault, and what is expected.
var refusedLines = []struct{ line, got, expected string }{
	{"dealy 5ms", `got "dealy",`, "one of limit, latency, delay, loss"},
	{"delay", `got nothing after "delay"`, "a time"},
	{"delay 5", "", ""},
	{"delay abc", `got "abc" after "delay"`, "a time"},
	{"delay -5ms", `got "-5ms"`, "a time"},
	{"delay 5ns", `got "5ns"`, "a time"},
	{"delay 5m", `got "5m"`, "a time"},
	{"delay 1h", `got "1h"`, "a time"},
	{"delay 5ms%", `got "5ms%"`, "a time"},
	{"delay ms", `got "ms"`, "a time"},
	{"delay 300s", `got "300s"`, "a time from 0 to 274.877906s"},
	{"delay 99999999999999999999999s", "got", "a time"},
	{"delay 1e400s", "got", "a time"},
	{"delay 50 ms", `got "ms" after "50"`, "one of limit"},
	{"delay 50ms jitter 10ms", `got "jitter" after "50ms"`, "one of limit"},
	{"delay 50ms 10%", `got "10%" after "50ms"`, "a time"},
	{"delay 50ms 10ms 25x", `got "25x" after "10ms"`, "a percentage"},
	{"delay 50ms 10ms 101%", `got "101%"`, "a percentage"},
	{"delay 50ms 10ms .5%", `got ".5%"`, "one of limit"}, // no digit in front: no correlation
	{"latencyy 5ms", `got "latencyy"`, "one of"},
	{"loss", `got nothing after "loss"`, "random, state or gemodel"},
	{"loss 5%%", `got "5%%"`, "a percentage"},
	{"loss 5 %", `got "%" after "5"`, "one of limit"},
	{"loss 101%", `got "101%"`, "a percentage from 0% to 100%"},
	{"loss -1%", `got "-1%" after "loss"`, "random, state or gemodel"},
	{"loss .5%", `got ".5%"`, "random, state or gemodel"},
	{"loss stat 5%", `got "stat"`, "random, state or gemodel"},
	{"loss random", `got nothing after "random"`, "a percentage"},
	{"loss random x", `got "x"`, "a percentage"},
	{"loss random -1%", `got "-1%"`, "a percentage"},
	{"loss state", `got nothing after "state"`, "a percentage"},
	{"loss state 1% 2% 3% 4% 5% 6%", `got "6%" after "5%"`, "one of limit"},
	{"loss state 1% 2x", `got "2x"`, "a percentage"},
	{"loss gemodel", `got nothing after "gemodel"`, "a percentage"},
	{"loss gemodel 1% 2% 3% 4% 5%", `got "5%" after "4%"`, "one of limit"},
	{"loss gemodel -10% limit 10", `got "-10%"`, "a percentage"},
	{"loss gemodel 1% 120%", `got "120%"`, "a percentage"},
	{"loss 1% loss 2%", `got "loss" after "1%"`, "only one loss option"},
	{"loss 1% drop gemodel 2%", `got "drop"`, "only one loss option"},
	{"loss state 1% loss 2%", `got "loss"`, "only one loss option"},
	{"ecn", `got "ecn"`, "a loss option too"},
	{"loss 0% ecn", `got "ecn"`, "a loss option too"},
	{"duplicate", `got nothing after "duplicate"`, "a percentage"},
	{"duplicate -5%", `got "-5%"`, "a percentage"},
	{"duplicate 5% 2x%", `got "2x%"`, "a percentage"},
	{"corrupt 5b", `got "5b"`, "a percentage"},
	{"corrupt 1% 200%", `got "200%"`, "a percentage"},
	{"reorder 25%", `got "reorder"`, "a delay too"},
	{"delay 0ms reorder 25%", `got "reorder"`, "a delay too"},
	{"delay 0.5us reorder 25%", `got "reorder"`, "a delay too"},
	{"delay 10ms gap 5", `got "gap"`, "a reorder option too"},
	{"delay 10ms reorder 0% gap 5", `got "gap"`, "a reorder option too"},
	{"delay 10ms reorder", `got nothing after "reorder"`, "a percentage"},
	{"delay 10ms reorder 5% gap", `got nothing after "gap"`, "a whole number"},
	{"delay 10ms reorder 5% gap 1.5", `got "1.5"`, "a whole number"},
	{"delay 10ms reorder 5% gap -1", `got "-1"`, "a whole number"},
	{"delay 10ms reorder 5% gap 08", `got "08"`, "a whole number"},
	{"delay 10ms reorder 5% gap 0b1", `got "0b1"`, "a whole number"},
	{"delay 10ms reorder 5% gap 4294967296", `got "4294967296"`, "a whole number"},
	{"limit", `got nothing after "limit"`, "a whole number"},
	{"limit -1", `got "-1"`, "a whole number"},
	{"limit 4294967296", `got "4294967296"`, "a whole number"},
	{"limit 4gb", `got "4gb"`, "a whole number"},
	{"limit 10x", `got "10x"`, "a whole number"},
	{"limit many", `got "many"`, "a whole number"},
	{"distribution normal", `got "distribution"`, "a delay and a jitter"},
	{"delay 10ms distribution normal", `got "distribution"`, "a delay and a jitter"},
	{"delay 0ms 5ms distribution normal", `got "distribution"`, "a delay and a jitter"},
	{"delay 10ms 5ms distribution", `got nothing after "distribution"`, "normal, pareto, paretonormal"},
	{"delay 10ms 5ms distribution norm", `got "norm"`, "normal, pareto, paretonormal"},
	{"delay 10ms 5ms distribution uniform", `got "uniform"`, "omit the word distribution"},
	{"delay 10ms 5ms distribution experimental", `got "experimental"`, "measured"},
	{"rate", `got nothing after "rate"`, "a rate"},
	{"rate 5mb", `got "5mb"`, "a rate"},
	{"rate 5m", `got "5m"`, "a rate"},
	{"rate mbit", `got "mbit"`, "a rate"},
	{"rate -5mbit", `got "-5mbit"`, "a rate"},
	{"rate 50%", `got "50%"`, "not supported"},
	{"rate 5 mbit", `got "mbit"`, "one of limit"},
	{"rate 1mbit 1.5", `got "1.5"`, "a whole number of bytes"},
	{"rate 1mbit 2147483648", `got "2147483648"`, "a whole number of bytes"},
	{"rate 1mbit -", `got "-"`, "a whole number of bytes"},
	{"rate 1mbit 0 -5", "", ""},
	{"rate 1mbit 0 48 x", `got "x" after "48"`, "one of limit"},
	{"slot", `got nothing after "slot"`, `a time such as "20ms", or distribution`},
	{"slot -1ms", `got "-1ms"`, "or distribution"},
	{"slot 2ms 1ms", `got "1ms" after "2ms"`, "a maximum of at least"},
	{"slot 2x", `got "2x"`, "a time"},
	{"slot distribution", `got nothing`, "normal, pareto"},
	{"slot distribution normal 1ms", "got nothing", "a time"},
	{"slot distribution normal 1ms 0", `got "0"`, "a jitter above 0"},
	{"slot 1ms packets", `got nothing after "packets"`, "a whole number"},
	{"slot 1ms packets x", `got "x"`, "a whole number"},
	{"slot 1ms bytes x", `got "x"`, "a whole number"},
	{"seed", `got nothing after "seed"`, "a whole number"},
	{"seed x", `got "x"`, "a whole number"},
	{"seed 0x10", `got "0x10"`, "a whole number"},
	{"seed 1.5", `got "1.5"`, "a whole number"},
	{"seed 18446744073709551616", "got", "a whole number"},
	{"help", `got "help"`, "one of limit"},
	{"5%", `got "5%"`, "one of limit"},
	{"tc", `got nothing after "tc"`, "qdisc"},
	{"tc qdisc show dev eth0", `got "show" after "qdisc"`, "add or change"},
	{"tc qdisc add dev eth0 root", `got nothing after "root"`, "netem"},
	{"tc qdisc add dev eth0 root tbf rate 1mbit", `got "tbf" after "root"`, "netem"},
	{"tc qdisc add dev", `got nothing after "dev"`, "a name"},
	{"tc -n", `got nothing after "-n"`, "qdisc"},
	{"tc class add dev eth0 netem loss 1%", `got "class"`, "qdisc"},
	{"tc qdisc add dev eth0 root netem los%", `got "los%" after "netem"`, "one of limit"},
	// tc takes these, and makes of them what nobody means.
	{"duplicate %", `got "%"`, "a percentage"},
	{"delay nan", `got "nan"`, "a time"},
	{"delay inf", `got "inf"`, "a time"},
	{"rate infbit", `got "infbit"`, "a rate"},
	{"rate 9e30bit", `got "9e30bit"`, "a rate"},
	{"slot 1ms bytes 4gbit", "", ""},
	{"slot 1ms bytes 2g", `got "2g"`, "a whole number"},
}

// Parse refuses the lines of refusedLines.
func TestParseErrors(t *testing.T) {
	for _, c := range refusedLines {
		_, err := Parse(c.line)
		if c.got == "" {
			if err != nil {
				t.Errorf("%q: %v", c.line, err)
			}
			continue
		}
		var e *SyntaxError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.got) || !strings.Contains(e.Expected, c.expected) {
			t.Errorf("%q: %v; want %s and %q", c.line, err, c.got, c.expected)
		}
		if !errors.Is(err, setting.ErrValue) && !errors.Is(err, setting.ErrUnknown) {
			t.Errorf("%q: the error wraps neither ErrUnknown nor ErrValue", c.line)
		}
	}
	if _, err := Parse("loss 1% " + strings.Repeat(" ", 5000)); err == nil {
		t.Error("no error for a line beyond the maximum length")
	}
}
