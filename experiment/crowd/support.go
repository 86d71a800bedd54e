package crowd

import (
	"slices"
	"strings"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
)

// checkSupport returns an error if the configuration or the data need something that a crowd does not have.
func (x *session) checkSupport() error {
	c, defaults := x.config, config.Default()
	isSnapshot := !x.schema.Timed && x.schema.Delivery == frame.Latest && x.schema.Rows > 0
	for _, r := range []struct {
		isSet                  bool
		key, problem, expected string
	}{
		{len(c.Shadows) > 0, "shadow", "a crowd has one encoder", "no [[shadow]], or a sweep over encoder.name"},
		{!isSnapshot, "data.source", "a crowd sends snapshots, not " + c.Data.Source,
			"cubes or a table of which only the newest state matters"},
		{!c.Playout().IsFixed(), "receiver.playout", "a crowd has no playout policies", `a fixed delay such as "85ms"`},
		{c.Receiver.PlayoutCompare != "", "receiver.playout_compare", "a crowd has no playout policies", `"off"`},
		{c.Receiver.Hermite, "receiver.interpolation", "a crowd does not measure the errors of displays", `"linear"`},
		{c.BudgetKbps != defaults.BudgetKbps && c.BudgetKbps != 0, "budget_line", "a crowd has no chart with a budget", "no value"},
		{len(c.Traffic) > 0, "traffic", "a crowd has no other traffic", `"off"`},
		{c.HasRedundancy(), "sender.redundancy", "a crowd sends packets without redundancy", "no value"},
		{c.HasMessages(), "messages", "a crowd sends only snapshots", "no [messages]"},
		{c.Sender.Control.Name() != "", "sender.control", "a crowd sends every packet", `"off"`},
		{c.HasBudget() && c.Crowd.Baseline != defaults.Crowd.Baseline, "crowd.baseline",
			"has no meaning with a budget: the reference of a packet is what its client shows", `"newest"`},
		{!c.HasBudget() && c.Crowd.PlayerRows != defaults.Crowd.PlayerRows, "crowd.player_rows",
			"has no meaning without a budget", config.BudgetKey + ", or no crowd.player_rows"},
	} {
		if r.isSet {
			return &config.Error{Key: r.key, Problem: r.problem, Expected: r.expected}
		}
	}
	planned := c.Clone()
	for i := range c.At {
		err := checkChange(planned, c.At[i].Change)
		if err == nil {
			err = planned.Apply(c.At[i].Change)
		}
		if err != nil {
			return config.Within(config.Indexed("at", i), err)
		}
	}
	return nil
}

// checkChange returns an error if ch cannot be applied to c during a run.
func checkChange(c *config.Config, ch config.Change) error {
	if CanChange(c, ch) {
		return nil
	}
	problem, expected := "a crowd can change only its number of clients during a run", "clients = 500, or a sweep"
	if c.HasBudget() {
		problem = "a crowd with a budget can change only clients, budgets, priority, weights and encoder during a run"
		expected = "one of these, or a sweep"
	}
	return &config.Error{Problem: problem, Expected: expected}
}

// RemoteError returns the error for a crowd of c over a real network.
func RemoteError(c *config.Config) error {
	return c.Locate(&config.Error{Key: "crowd.clients", Problem: "a crowd cannot run over a real network",
		Expected: "one receiver with --to or --udp, or a crowd without"})
}

// budgetKeys are the settings that a crowd with a budget can change in addition to its clients and its
// encoder.
var budgetKeys = []string{config.BudgetKey, config.CrowdBudgetKey, "sender.budget_burst", "sender.priority", "sender.weights"}

// CanChange reports whether a crowd of c can apply a change during a run. The crowd must have a budget
// before and after it, or never.
func CanChange(c *config.Config, ch config.Change) bool {
	next := c.Clone()
	if err := next.Apply(ch); err != nil || next.HasBudget() != c.HasBudget() {
		return false
	}
	isFixed := func(key string) bool {
		isOfBudget := slices.Contains(budgetKeys, key) || strings.HasPrefix(key, "encoder.")
		return key != "crowd.clients" && !(isOfBudget && c.HasBudget())
	}
	return !slices.ContainsFunc(ch.WithMark("").Keys(), isFixed)
}
