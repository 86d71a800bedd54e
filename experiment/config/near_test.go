package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirelab/experiment/config"
)

// The error for an unknown figure suggests a figure whose last part is similar.
func TestNearFigures(t *testing.T) {
	for name, want := range map[string]string{
		"late": "playout.late", "starved_ratio": "playout.starved_ratio", "display.freezes": "playout.freezes",
		"payload_kbp": "payload_kbps", "qqqqqqqq": "",
	} {
		err := config.Default().Set("assert."+name, "== 0")
		if err == nil || strings.Contains(err.Error(), "did you mean") != (want != "") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", name, err, want)
		}
	}
}

// Params that are not a table are an error with a position, also in scripts.
func TestParamsAreATable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.toml")
	for _, key := range []string{"params", "encoder.params"} {
		if err := os.WriteFile(path, []byte("[[at]]\nt = \"1s\"\n"+key+" = 3\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := config.LoadFile(path)
		if err == nil || !strings.HasPrefix(err.Error(), path+":3: at[0]."+key+": 3 is not a table; expected") {
			t.Errorf("%s: %v", key, err)
		}
	}
	var ch config.Change
	if err := ch.Set("encoder.paramsmall", 3); err == nil {
		t.Error("encoder.paramsmall is a parameter")
	}
}
