package controls

import (
	"wirelab/experiment"
	"wirelab/experiment/config"
)

// settingControls are those of the live settings of the table, as far as they are of use
// under cfg.
func settingControls(cfg *config.Config) (list []control) {
	for _, s := range config.Controls() {
		if s.Control.Offered == nil || s.Control.Offered(cfg) {
			list = append(list, settingControl(s))
		}
	}
	return list
}

func settingControl(s *config.Setting) control {
	x := control{label: s.Control.Label, word: s.Word(), group: "Run", help: s.Control.Help, value: s.Control.Shown, level: s.Control.Level,
		step: func(c *config.Config, n int) (experiment.Command, bool) {
			v, moved := s.Control.Step(c, n)
			if !moved {
				return experiment.Command{}, false
			}
			return ChangeCommand(config.NewChange(s.Key, v)), true
		}}
	if len(s.Control.Choices) > 0 {
		x.choices = func() (list []Choice) {
			for _, c := range s.Control.Choices {
				list = append(list, Choice{c.Name, c.Says})
			}
			return list
		}
	}
	return x
}
