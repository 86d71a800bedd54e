package report

import (
	"strings"
	"testing"

	"wirelab/experiment/engine"
)

// Each run and each shadow has a line with its name, settings, known figures and measured times.
func TestBenchLines(t *testing.T) {
	r := resultFrom(t, `{"config":{"encoder":{"name":"raw"},"down":{"loss":"2%"}},"totals":{"payload_kbps":12.5},
		"timing":{"encode_us":{"p50":1.5}},
		"shadows":[{"lane":"B","label":"my enc/x","totals":{}},{"lane":"C","label":"raw","to_s":1,"totals":{}}]}`)
	r.Timing.DecodeUS.N = 0
	point := resultFrom(t, `{"set":{"seed":"1","encoder.name":"raw","down.loss":"1%","up.loss":"3%","send.rate":"60"},"config":{"encoder":{"name":"raw"}},
		"timing":{"runs_as":"WebAssembly"}}`)
	var b strings.Builder
	if err := WriteBench(&b, &Report{Runs: []*engine.Result{r, point}}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, line := range strings.Split(b.String(), "\n") {
		if name, rest, ok := strings.Cut(line, " 1 "); ok {
			names = append(names, name)
			if n := strings.Count(rest, " "); n%2 != 1 {
				t.Errorf("no pairs of figure and unit: %q", line)
			}
			if has := strings.Contains(rest, " 1500 encode-ns"); has != (len(names) == 1) {
				t.Errorf("encode-ns: %v in %q", has, line)
			}
			if strings.Contains(rest, "decode-ns") {
				t.Errorf("a time that was not measured: %q", line)
			}
		}
	}
	want := []string{"BenchmarkRun/encoder=raw/loss=2%", "BenchmarkRun/encoder=my_enc_x/loss=2%", "BenchmarkRun/encoder=raw/loss=2%/lane=C",
		"BenchmarkRun/encoder=raw/runs=WebAssembly/down.loss=1%/rate=60/up.loss=3%"}
	if got := strings.Join(names, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("names\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if !strings.Contains(b.String(), " 12.5 payload_kbps") || !strings.Contains(b.String(), "Unit payload_kbps better=lower\n") {
		t.Errorf("no payload:\n%s", b.String())
	}
	for _, loss := range []string{"", "0%"} {
		r.Config["down"] = map[string]any{"loss": loss}
		if got := benchName(r, "rotor-2", &r.Timing); got != "BenchmarkRun/encoder=rotor-2." {
			t.Errorf("loss %q: %q", loss, got)
		}
	}
	for word, want := range map[string]string{"": "_", "a b": "a_b", "a!b": "a!b", "a\u200bb": "a_b"} {
		if got := benchWord(word); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
