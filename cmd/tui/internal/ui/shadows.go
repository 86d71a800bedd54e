package ui

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
)

// Shadows are further encoders beside the one under the keys, on the same frames
// and the same losses. Each has a sign and a colour, the same wherever it appears:
// that of its place among those that run.

// shadowVerb is the command that lets shadows join and leave.
func shadowVerb() verb {
	return verb{name: "shadow", args: "[off] NAME", help: "run another encoder beside, on the same frames and losses",
		parse: parseShadow, complete: completeShadow}
}

// parseShadow reads "shadow NAME [PARAM=VALUE]...", and "shadow off NAME...".
func parseShadow(args []string) (order, error) {
	if len(args) == 0 || args[0] == "off" && len(args) == 1 {
		return order{}, errUsage
	}
	if args[0] == "off" {
		return changeOrder(config.Change{ShadowOff: args[1:]}), nil
	}
	e := config.Encoder{Name: args[0]}
	for _, pair := range args[1:] {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return order{}, fmt.Errorf("expected a parameter as NAME=VALUE, not %q", pair)
		}
		if e.Params == nil {
			e.Params = map[string]any{}
		}
		e.Params[name] = value
	}
	return changeOrder(config.Change{Shadow: []config.Encoder{e}}), nil
}

func completeShadow(d desk, before []string) []string {
	switch {
	case len(before) == 0:
		return append([]string{"off"}, choiceNames(d.encoders(d.schema))...)
	case before[0] == "off":
		return shadowNames(d.cfg)
	}
	return nil
}

func shadowNames(cfg *config.Config) []string {
	var names []string
	for _, s := range cfg.Shadows {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

func changesShadows(ch *config.Change) bool { return len(ch.Shadow)+len(ch.ShadowOff) > 0 }

// obeyShadows hands a change of the shadows over by itself, never gathered with
// others: one that joins, leaves and joins again is not what it was.
func (m *Model) obeyShadows(c experiment.Command) error {
	if !m.flush() {
		return errors.New("the lab has its hands full; press again")
	}
	if err := m.want.ask(m.snap.Config, *c.Change, m.ticks); err != nil {
		return err
	}
	m.accept(c)
	m.flush()
	return nil
}

// toggleShadow lets the encoder under the cursor of a list join, or leave if it
// runs already.
func (m *Model) toggleShadow(p *picker) {
	name, ok := p.picked()
	if !ok {
		return
	}
	word := "shadow "
	if slices.Contains(p.beside, name) {
		word += "off "
	}
	m.typed(word + name)
	p.beside = append([]string{}, shadowNames(m.want.config(m.snap))...)
}

// shadowInks is how many shadows have a colour of their own, and a sign.
const shadowInks = 6

func shadowInk(i int) ink { return inkShadow + ink(i%shadowInks) }

// shadowTones are told apart from each other, and from the lines of the encoder
// under the keys.
func shadowTones() [shadowInks]tone {
	return [shadowInks]tone{
		{"215", "11", "130", "3"}, {"211", "13", "162", "5"}, {"117", "12", "26", "4"},
		{"149", "10", "64", "2"}, {"183", "5", "55", "5"}, {"250", "7", "240", "8"},
	}
}

// shadowSign is what marks the i-th shadow's lines and rows.
func shadowSign(th *theme, i int) rune {
	signs := []rune("○△□◇▽☆")
	if th.ascii {
		signs = []rune("%A#*V@")
	}
	return signs[i%len(signs)]
}

// laneSign and laneInk are those of any lane: the first is the one under the keys.
func laneSign(th *theme, i int) rune {
	if i == 0 {
		return th.outcome[engine.Decoded]
	}
	return shadowSign(th, i-1)
}

func laneInk(i int) ink {
	if i == 0 {
		return inkPayload
	}
	return shadowInk(i - 1)
}

// shadowLines are the lines of the shadows in a chart: dotted, each with its sign
// every so often.
func shadowLines(th *theme, lanes []engine.Lane, how chart.Reduce, of func([]engine.Sample) (values, weights []float64)) []chart.Series {
	var out []chart.Series
	for i := range lanes {
		values, weights := of(settled(&lanes[i]))
		out = append(out, chart.Series{Values: values, Weights: weights, Reduce: how, Loose: true, Stroke: chart.Dotted, Ink: chart.Ink(shadowInk(i)), Sign: shadowSign(th, i)})
	}
	return out
}

// settled are the samples of a lane but for those in which it caught up: what it
// sent then tells of its coming, not of it, and would dwarf the rest.
func settled(l *engine.Lane) []engine.Sample {
	if l.Began == 0 {
		return l.Samples
	}
	n := 0
	for n < len(l.Samples) && l.Samples[n].T <= l.Began+warmUp {
		n++
	}
	return l.Samples[n:]
}

// shadowLegend names the shadows with a figure each, as far as the room goes; of
// those left out it says how many there are.
func shadowLegend(th *theme, room int, lanes []engine.Lane, figure func(*engine.Lane) string) []span {
	var out []span
	for i := range lanes {
		sign := string(shadowSign(th, i))
		full := []span{{shadowInk(i), "  " + sign + " " + lanes[i].Encoder + " "}, {inkValue, figure(&lanes[i])}}
		brief := []span{{shadowInk(i), "  " + sign + " "}, {inkValue, figure(&lanes[i])}}
		more := span{inkDim, fmt.Sprintf("  +%d", len(lanes)-i)}
		rest := 0
		if i < len(lanes)-1 {
			rest = spansWidth([]span{more})
		}
		pieces := fit(room-rest, full, brief, nil)
		if pieces == nil {
			return append(out, more)
		}
		room -= spansWidth(pieces)
		out = append(out, pieces...)
	}
	return out
}
