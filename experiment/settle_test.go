package experiment

import (
	"strings"
	"testing"

	"wirelab/experiment/config"
)

// The default encoder depends on the data. A chosen encoder is kept; if it cannot encode the data,
// the error lists encoders that can.
func TestDefaultEncoderDependsOnData(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		set  [][2]string
		want string // encoder; an error if it has spaces
	}{
		"nothing said":             {"", nil, "relative-orientation"},
		"calls":                    {"[data]\nsource = \"rpc\"", nil, "rpc-adaptive"},
		"messages":                 {"[data]\nsource = \"text\"", nil, "receiver-adaptive"},
		"chosen in the file":       {"[encoder]\nname = \"full\"\n[data]\nsource = \"rpc\"", nil, "full"},
		"the file's, for cubes":    {"[encoder]\nname = \"rotor\"", [][2]string{{"data.source", "rpc"}}, "rpc-adaptive"},
		"the file's, which suits":  {"[encoder]\nname = \"zstd\"", [][2]string{{"data.source", "rpc"}}, "zstd"},
		"the same data over again": {"[encoder]\nname = \"rotor\"", [][2]string{{"data.source", "demo"}}, "rotor"},
		"chosen for calls":         {"", [][2]string{{"data.source", "rpc"}, {"encoder.name", "rpc-delta"}}, "rpc-delta"},
		"chosen, and does not fit": {"", [][2]string{{"data.source", "rpc"}, {"encoder.name", "rotor"}},
			"rotor cannot encode the data of rpc, calls; expected one of rpc-adaptive, full, rpc-delta, "},
		"chosen, unfit for messages": {"[data]\nsource = \"text\"\n[encoder]\nname = \"full\"", nil,
			"encoder.name: full cannot encode the data of text, bytes; expected one of receiver-adaptive, xor-rle"},
	} {
		config := must(config.Parse("x.toml", []byte(c.text)))
		for _, s := range c.set {
			noError(t, config.Set(s[0], s[1]))
		}
		err := Settle(t.Context(), config)
		if strings.Contains(c.want, " ") {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want ...%s...", name, err, c.want)
			}
			continue
		}
		if err != nil || config.Encoder.Name != c.want {
			t.Errorf("%s: %s, %v, want %s", name, config.Encoder.Name, err, c.want)
		}
	}
}
