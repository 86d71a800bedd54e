package experiment

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/lossmodel"
)

// Changing the value of any key alone changes what a run measures, causes a warning about the key, or is
// refused.
func TestEverySettingHasAnEffectOrWarns(t *testing.T) {
	dir := t.TempDir()
	line, copies := filepath.Join(dir, "line"), filepath.Join(dir, "copies.csv")
	for path, text := range map[string]string{line: "10\n300\n", copies: "seq,send_us,recv_us,copy\n1,0,150000,0\n1,0,160000,1\n2,20000,190000,0\n"} {
		noError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	values := map[string]any{
		"data.source": "world", "data.script": "idle", "data.cubes": 5, "data.message": 9, "data.loop": false, "data.again": true,
		"duration": "3s", "seed": 8, "profile": "unity-4g", "encoder.name": "raw", "traffic": "1 cubic", "budget_line": 1,
		"sender.every": 2, "sender.control": "good-bad", "sender.redundancy": "repeat", "sender.budget": "24kbit",
		"sender.budget_burst": 2, "sender.priority": "unity", "sender.weights": "position=2", "sender.rate_hz": 30,
		"sender.history": 1, "sender.block": 900, "sender.window": 9,
		"receiver.history": 6, "receiver.playout_delay": "20ms", "receiver.playout": "mirror", "receiver.playout_compare": "all",
		"receiver.interpolation": "hermite", "receiver.display_hz": 144,
		"messages.rate_hz": 5, "messages.size": "9B", "messages.burst": "9KB", "messages.burst_every": "1s", "messages.delivery": "stream",
		"messages.pace": "9kbit", "messages.lanes": 2,
		"crowd.clients": 3, "crowd.budget": "1mbit", "crowd.profiles": "unity-4g 100%", "crowd.rtt": "9ms", "crowd.jitter": "9ms", "crowd.loss": "9%",
		"crowd.baseline": "every", "crowd.uplink_rate": "1mbit", "crowd.uplink_queue": "9KB", "crowd.uplink_pace": true,
		"crowd.player_rows": 2,
		"interest.radius":   2, "interest.row": 2, "interest.point": "1 2 3", "interest.falloff": 2,
		"up.rate": "8kbit", "mtu": 68, "distribution": "normal", "keep_order": "on", "netem": "delay 99ms", "delay_table": "-1 1",
		"rate_trace": line, "duplicate_trace": copies, "delay_trace": copies,
	}
	measure := func(key string, value any, duration time.Duration) (measured, warnings string) {
		c := config.Default()
		c.Duration = duration
		if key != "" {
			if err := c.Set(key, value); err != nil {
				t.Fatalf("%s = %v: %v", key, value, err)
			}
		}
		r, err := Run(t.Context(), c, RunOptions{})
		if err != nil {
			return "refused: " + err.Error(), ""
		}
		run := r.Runs[0]
		list := strings.Join(run.Warnings, "\n")
		run.Config, run.Timing, run.Warnings = nil, figures.Timing{}, nil
		text := must(json.Marshal(run))
		return string(text), list
	}
	usual, _ := measure("", nil, 2*time.Second)
	endless, _ := measure("", nil, 0)
	for _, key := range config.Keys() {
		name := key[strings.IndexByte(key, '.')+1:]
		value := cmp.Or(values[key], values[name])
		for _, k := range lossmodel.Keys() {
			if n := len(k.Ladder); k.Key == name && n > 0 && value == nil {
				value = k.Ladder[n-1]
				if value == k.Default {
					value = k.Ladder[0]
				}
			}
		}
		for _, r := range config.Rows() {
			if r.Key == key && value == nil {
				value = r.Max // of a number
			}
		}
		duration, before := 2*time.Second, usual
		if key == "data.loop" { // it needs a duration
			duration, before = 0, endless
		}
		after, warnings := measure(key, value, duration)
		refused := strings.HasPrefix(after, "refused: ")
		switch mayRefuse := key == "traffic" || key == "data.cubes" || strings.HasPrefix(key, "crowd."); {
		case refused && (!mayRefuse || !strings.Contains(after, "; expected ") && key != "data.cubes"):
			t.Errorf("%s = %v: %s", key, value, after)
		case after == before && !strings.HasPrefix(warnings, key+": has no effect; expected "):
			t.Errorf("%s = %v changes nothing: %q", key, value, warnings)
		case after != before && warnings != "":
			t.Errorf("%s = %v changes the result, and warns %q", key, value, warnings)
		}
	}
}
