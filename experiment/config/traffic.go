package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"wirelab/internal/setting"
	"wirelab/lossmodel/traffic"
)

// Other traffic on the downlink is one setting, a text such as "1 cubic rtt=40ms, 2 constant rate=1mbit".
// In a file it may also be written as a list of tables [[traffic]], each a group of equal flows.

// trafficField is the field of the other traffic.
type trafficField struct{ *traffic.Plan }

func (f trafficField) Set(text string) (err error) {
	plan, err := traffic.Parse(text)
	if err == nil {
		*f.Plan = plan
	}
	return err
}

// setTrafficTables sets the other traffic to the groups of flows in the tables [[traffic]].
func (c *Config) setTrafficTables(tables []any) error {
	var plan traffic.Plan
	for i, entry := range tables {
		key := Indexed("traffic", i)
		table, _ := entry.(map[string]any)
		text, err := groupText(key, table)
		if err != nil {
			return err
		}
		group, err := traffic.Parse(text)
		if err == nil {
			plan = append(plan, group...)
			err = plan.Check()
		}
		if bad, ok := errors.AsType[*setting.KeyError](err); ok && table[bad.Key] != nil {
			return ErrorAt(key+"."+bad.Key, err)
		} else if err != nil {
			return ErrorAt(key+".kind", err)
		}
	}
	c.Traffic = plan
	return nil
}

// groupText returns a table of [[traffic]] with its key as the text of a group, such as "4 cubic rtt=40ms".
func groupText(key string, table map[string]any) (string, error) {
	if table["kind"] == nil {
		return "", refuse(key, "kind is missing", `kind = "`+strings.Join(traffic.Kinds.Names(), `", "`)+`"`)
	}
	flows, params := "", ""
	for _, name := range sortedKeys(table) {
		value := fmt.Sprint(table[name])
		_, err := strconv.Atoi(value)
		switch {
		case strings.ContainsAny(value, " ,="):
			return "", invalid(key+"."+name, value, "a single value")
		case name == "flows" && err != nil:
			return "", invalid(key+".flows", value, traffic.FlowsExpected)
		case name == "flows":
			flows = value + " "
		case name != "kind":
			params += " " + name + "=" + value
		}
	}
	return flows + fmt.Sprint(table["kind"]) + params, nil
}

// checkTraffic checks that other traffic has a bottleneck to share, and that the work for its packets is
// bounded.
func (c *Config) checkTraffic() error {
	if len(c.Traffic) == 0 {
		return nil
	}
	key := func(group int) string {
		if table := Indexed("traffic", group); c.lines[table] > 0 && !c.flags["traffic"] {
			return table
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
