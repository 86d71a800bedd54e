package experiment

import (
	"embed"
	"path"
	"slices"
	"strings"

	"wirelab/experiment/config"
)

//go:embed presets/*.toml
var presetFiles embed.FS

// Preset is an embedded configuration with a name.
type Preset struct {
	Name    string `json:"name"`
	Summary string `json:"summary"` // the first comment line of the file
	TOML    string `json:"toml"`
}

// Presets lists the embedded configurations by name.
func Presets() []Preset {
	entries, err := presetFiles.ReadDir("presets")
	if err != nil {
		panic("experiment: embedded presets cannot be read: " + err.Error())
	}
	var out []Preset
	for _, e := range entries {
		data, err := presetFiles.ReadFile(path.Join("presets", e.Name()))
		if err != nil {
			panic("experiment: embedded preset cannot be read: " + err.Error())
		}
		first, _, _ := strings.Cut(string(data), "\n") // a comment
		out = append(out, Preset{Name: strings.TrimSuffix(e.Name(), ".toml"),
			Summary: strings.TrimSpace(strings.TrimPrefix(first, "#")),
			TOML:    string(data)})
	}
	slices.SortFunc(out, func(a, b Preset) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// LoadPreset parses the embedded configuration called name.
func LoadPreset(name string) (*config.Config, error) {
	var known []string
	for _, p := range Presets() {
		if p.Name == name {
			return config.Parse("preset "+name, []byte(p.TOML))
		}
		known = append(known, p.Name)
	}
	return nil, config.Unknown("", "preset", name, known)
}
