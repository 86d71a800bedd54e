package controls

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/internal/units"
	"wirelab/lossmodel"
)

// foldWord names the control that folds and unfolds the others.
const foldWord = "more"

// moreControls are the less used settings of a link: one row while they are
// folded away.
func (cat *Catalog) moreControls(sc scope, netemShown bool) []control {
	var rest []lossmodel.KeyInfo
	for _, k := range cat.Keys {
		everyDay := slices.ContainsFunc(mainKeys(), func(m mainKey) bool { return m.key == k.Key })
		if !everyDay && !(k.Key == "netem" && netemShown) {
			rest = append(rest, k)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	list := []control{foldControl(rest, sc)}
	if !sc.more {
		return list
	}
	if loss, ok := cat.Key("loss"); ok && len(loss.Models) > 0 {
		list = append(list, lossModelControl(loss, sc.way))
	}
	for _, k := range rest {
		c := linkControl(k.Key, k, sc.way)
		c.nest = foldWord
		list = append(list, c)
	}
	return list
}

// foldControl is the row that stands for the settings folded away. It says how
// many of them differ from their defaults.
func foldControl(rest []lossmodel.KeyInfo, sc scope) control {
	usual := lossmodel.DefaultSpec()
	return control{
		label: "More", word: foldWord, group: "Link", words: true,
		value: func(c *config.Config) string {
			if sc.more {
				return "link settings, enter folds them away"
			}
			set := 0
			for _, k := range rest {
				if textOf(sc.way.Of(c), k.Key) != textOf(&usual, k.Key) {
					set++
				}
			}
			if set > 0 {
				return fmt.Sprintf("link settings: %d, %d of them set", len(rest), set)
			}
			return fmt.Sprintf("link settings: %d, enter opens", len(rest))
		},
		help: "every other setting of the link: models of loss, bursts, the line, the shape of the jitter, spikes, traces, tc's netem",
	}
}

// lossModelControl picks a model of losses; its params are then typed.
func lossModelControl(loss lossmodel.KeyInfo, way Direction) control {
	return control{
		label: "loss model", word: "loss model", line: way.prefix() + loss.Key, group: "Link", nest: foldWord, begins: true,
		value: func(c *config.Config) string {
			if m := way.Of(c).Loss; m != nil {
				return m.Model()
			}
			return "none"
		},
		held: func(c *config.Config) bool { return way.Of(c).Netem.On },
		choices: func() []Choice {
			var list []Choice
			for _, m := range loss.Models {
				list = append(list, Choice{m.Name, m.Summary})
			}
			return list
		},
		help: "how losses come; a model has parameters of its own, which are then typed",
	}
}

// lossParamControls are the params of the model of losses, one by one, if it has
// any but a share and a burst.
func lossParamControls(cfg *config.Config, loss lossmodel.KeyInfo, way Direction) []control {
	model, values := lossWords(loss, textOf(way.Of(cfg), loss.Key))
	var list []control
	for _, p := range model.Params {
		if _, given := values[p.Name]; given && (p.Unit == "%" || p.Unit == "packets") {
			list = append(list, lossParamControl(loss, model, p, way))
		}
	}
	return list
}

// lossWords takes a value such as "gilbert-elliott p=1% r=20%" apart; the model
// has no name if the value is of another kind.
func lossWords(loss lossmodel.KeyInfo, text string) (lossmodel.ModelInfo, map[string]string) {
	words := strings.Fields(text)
	if len(words) < 2 {
		return lossmodel.ModelInfo{}, nil
	}
	i := slices.IndexFunc(loss.Models, func(m lossmodel.ModelInfo) bool { return m.Name == words[0] })
	if i < 0 {
		return lossmodel.ModelInfo{}, nil
	}
	values := map[string]string{}
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		values[name] = value
	}
	return loss.Models[i], values
}

// lossParamControl adjusts one param of a model. It sets the whole model anew, so
// that it means the same whatever came in between.
func lossParamControl(loss lossmodel.KeyInfo, model lossmodel.ModelInfo, p lossmodel.ParamInfo, way Direction) control {
	value := func(s *lossmodel.Spec) string {
		if m, values := lossWords(loss, textOf(s, loss.Key)); m.Name == model.Name {
			return values[p.Name]
		}
		return ""
	}
	whole := func(c *config.Config) string { return textOf(way.Of(c), loss.Key) }
	return control{
		label: p.Name, word: "loss." + p.Name, line: way.prefix() + loss.Key, group: "Link", nest: "loss", help: p.Help, away: way.away(),
		value: func(c *config.Config) string { return value(way.Of(c)) },
		other: func(c *config.Config) string {
			if there := value(way.away().Of(c)); there != value(way.Of(c)) {
				return there
			}
			return ""
		},
		held: func(c *config.Config) bool { return way.Of(c).Netem.On },
		now:  whole,
		step: func(c *config.Config, n int) (experiment.Command, bool) {
			now := value(way.Of(c))
			next := stepLossParam(p, now, n)
			words := strings.Fields(whole(c))
			if i := slices.Index(words, p.Name+"="+now); i >= 0 {
				words[i] = p.Name + "=" + next
			}
			return ChangeCommand(way.Set(loss.Key, strings.Join(words, " "))), next != now
		},
	}
}

// stepLossParam moves a param n rungs: shares along the ladder of the losses,
// what may be below zero by 5 points, whole numbers by one.
func stepLossParam(p lossmodel.ParamInfo, now string, n int) string {
	const points, most = 5, 95
	v, err := strconv.ParseFloat(strings.TrimSuffix(now, "%"), 64)
	switch {
	case err != nil:
		return now
	case p.Unit != "%":
		return units.Fixed(max(v+float64(n), 1), 0)
	case strings.HasPrefix(p.Min, "-"):
		return units.FormatDecimal(min(max(v+float64(points*n), -most), most)) + "%"
	}
	probe := lossmodel.DefaultSpec()
	if probe.Set("loss", now) != nil || probe.Nudge("loss", n) != nil {
		return now
	}
	return textOf(&probe, "loss")
}
