package experiment_test

import (
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
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
		config, err := config.Parse("x.toml", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range c.set {
			if err := config.Set(s[0], s[1]); err != nil {
				t.Fatal(err)
			}
		}
		err = experiment.Settle(t.Context(), config)
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

// The default encoder of every kind of data exists and suits it.
func TestDefaultEncodersSuitData(t *testing.T) {
	for source, want := range map[string]string{"demo": "relative-orientation", "rpc": "rpc-adaptive", "text": "receiver-adaptive"} {
		c := config.Default()
		c.Data.Source = source
		s, err := engine.NewSession(t.Context(), c, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := table.SuitableNames(table.All(), s.Schema()); len(got) < 5 || got[0] != want || s.Config().Encoder.Name != want {
			t.Errorf("%s: %s of %v, want %s", source, s.Config().Encoder.Name, got, want)
		}
		s.Close()
	}
	if got := table.SuitableNames([]encoders.Codec{}, frame.Cubes(1)); len(got) != 0 {
		t.Errorf("of no encoders, %v suit", got)
	}
}
