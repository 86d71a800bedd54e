package labtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// WriteReports creates a folder with four fake reports: two valid ones, a truncated one, and one of
// another version. It returns the path of the folder.
func WriteReports(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	report := func(encoder, loss, kbps string) string {
		return `{"version":2,"digest_version":7,"config":{"seed":7,"encoder":{"name":"` + encoder + `"},"down":{"loss":"` + loss +
			`"}},"seed":7,"duration_s":30,"duration_ns":30000000000,
"frames":1800,"item":"cube","items_per_frame":901,"totals":{"sent":1800,"decoded":1700,"lost":100,"lost_by":{},"failures":{"no_baseline":2},
"payload_kbps":` + kbps + `,"wire_kbps":170.5,"bits_per_item":3.1,"packet_bytes":{"p50":380,"p95":512},"playout":{"starved_ratio":0.01}},
"timing":{"encode_us":{"p50":40},"decode_us":{"p50":35}},"shadows":[{"encoder":"raw","label":"raw","totals":{"payload_kbps":700.25}}],
"changes":[{"t_ns":1000000000,"t_s":1,"change":[{"key":"down.latency","value":"25ms"}]}],"digest":"x"}`
	}
	good := report("rotor", "2%", "142.5")
	for i, r := range []struct{ name, text string }{
		{"2026-02-01-100000-rotor", good},
		{"2026-02-01-110000-quantized", report("quantized", "10%", "301.75")},
		{"2026-02-01-120000-cut-off", good[:len(good)/2]},
		{"2026-02-01-130000-later", strings.Replace(good, `"version":2`, `"version":4`, 1)},
	} {
		path := filepath.Join(dir, r.name, "report.json")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(r.text), 0o644); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
