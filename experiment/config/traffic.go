package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"wirelab/internal/setting"
	"wirelab/lossmodel/traffic"
)

// Other traffic on the downlink is one setting, a text such as "1 cubic rtt=40ms, 2 constant rate=1mbit".
// In a file it may also be written as a list of tables [[traffic]], each a group of equal flows.

// trafficField is the field of the other traffic.
type trafficField struct{ config *Config }

func (f trafficField) String() string { return f.config.Traffic.String() }
func (f trafficField) Label() string  { return f.config.Traffic.Label() }

func (f trafficField) Set(text string) error {
	plan, err := traffic.Parse(text)
	if err == nil {
		f.config.Traffic, f.config.trafficTables = plan, nil
	}
	return err
}

// setTraffic sets key rest of [[traffic]] entry i: kind, flows, or a parameter of the kind. key is the
// full key.
func (c *Config) setTraffic(i int, key, rest string, value any) error {
	tables := slices.Clone(c.trafficTables)
	for len(tables) <= i {
		tables = append(tables, nil)
	}
	text := fmt.Sprint(value)
	if _, err := strconv.Atoi(text); rest == "flows" && err != nil {
		return refuse(key, quoteValue(value)+" "+invalidValue,
			traffic.FlowsExpected)
	}
	if strings.ContainsAny(text, " ,=") {
		return refuse(key, quoteValue(value)+" "+invalidValue, "a single value")
	}
	if tables[i] = maps.Clone(tables[i]); tables[i] == nil {
		tables[i] = map[string]string{}
	}
	tables[i][rest] = text
	var plan traffic.Plan
	for k, table := range tables {
		if table["kind"] == "" { // the key kind may follow
			continue
		}
		group, err := traffic.Parse(groupText(table))
		if err != nil {
			name := "kind"
			var ke *setting.KeyError
			if errors.As(err, &ke) && table[ke.Key] != "" {
				name = ke.Key
			}
			return ErrorAt(Indexed("traffic", k)+"."+name, err)
		}
		plan = append(plan, group...)
	}
	if err := plan.Check(); err != nil {
		return ErrorAt(key, err)
	}
	c.Traffic, c.trafficTables = plan, tables
	return nil
}

// groupText returns a table of [[traffic]] as the text of a group, such as "4 cubic rtt=40ms".
func groupText(table map[string]string) string {
	text := table["kind"]
	if flows, ok := table["flows"]; ok {
		text = flows + " " + text
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if name != "kind" && name != "flows" {
			text += " " + name + "=" + table[name]
		}
	}
	return text
}

// checkTraffic checks that other traffic has a bottleneck to share, and that the work for its packets is
// bounded.
func (c *Config) checkTraffic() error {
	for i, table := range c.trafficTables {
		if table["kind"] == "" {
			return refuse(Indexed("traffic", i), "kind is missing",
				`kind = "`+strings.Join(traffic.Kinds.Names(), `", "`)+`"`)
		}
	}
	if len(c.Traffic) == 0 {
		return nil
	}
	key := func(group int) string {
		if len(c.trafficTables) > 0 {
			return Indexed("traffic", group)
		}
		return "traffic"
	}
	lineRate := c.Down.Rate.BitsPerSecond
	if c.Down.Rate.Trace.Path != "" {
		lineRate = 0 // unknown
	}
	switch packets, busiest := c.Traffic.Packets(lineRate); {
	case c.Down.Netem.On:
		return refuse(key(0), "cannot share a netem line",
			`"off", or down.netem = "off" and down.rate`)
	case lineRate == 0 && c.Down.Rate.Trace.Path == "":
		return refuse(key(0), "needs a bottleneck to share",
			`down.rate, such as "5mbit", or down.rate_trace`)
	case packets > traffic.MaxPackets:
		return refuse(key(busiest), fmt.Sprintf("all flows may send %d packets per second", packets),
			fmt.Sprintf("at most %d: fewer flows, larger packets, a longer rtt or a lower rate", traffic.MaxPackets))
	}
	return nil
}
