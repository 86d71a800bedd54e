package view

import "wirelab/internal/policy"

// Policies are the rules by which the rows of a packet are chosen: those with the highest priority that
// fit. A row is a candidate if the client is expected to show another value. Most policies add something
// to the priority of each candidate with each packet, until the row is sent.
var Policies = policy.Set{
	{Name: "accumulated", Summary: "adds the error and a constant", Params: []policy.Param{constantParam, firstParam}},
	{Name: "newest-change", Summary: "the row that changed last", Params: []policy.Param{firstParam}},
	{Name: "round-robin", Summary: "each row in turn", Params: []policy.Param{firstParam}},
	{Name: "fiedler", Summary: "Fiedler's accumulator: adds a weight that depends on what the cube does", Params: []policy.Param{
		policy.Count("player", 1_000_000, 0, 1_000_000, "weight of the player's cube, row 0"),
		policy.Count("interacting", 100, 0, 1_000_000, "weight of a cube that the player touches"),
		policy.Count("moving", 10, 0, 1_000_000, "weight of another row that changed since the packet before"),
		policy.Count("rest", 1, 0, 1_000_000, "weight of the other rows"), firstParam}},
	{Name: "unity", Summary: "Unity Netcode for Entities: importance times ticks since the row was sent", Params: []policy.Param{
		policy.Count("importance", 1, 1, 1000, "importance of a row"),
		policy.Count("min", 0, 0, 1_000_000, "MinSendImportance: rows below it are not sent"),
		policy.Count("new", 1, 1, 1000, "FirstSendImportanceMultiplier: factor of rows that were never sent"), firstParam}},
}

// Parameters that several policies have.
var (
	constantParam = policy.Decimal("constant", 1_000_000, 0, 1000_000_000,
		"what is added to the error, in units of 20 mm for cubes, and for other tables of the field's tolerance or else one quantum")
	firstParam = policy.Count("first", 0, 0, 1_000_000, "number of first rows that precede all others, such as 1 for the player")
)

// unitConstant returns the error of a constant of 1 for rows without tolerances, in ErrorUnit.
func (m *Metric) unitConstant() uint64 {
	if m.cubes {
		return 20 * ErrorUnit
	}
	return ErrorUnit
}

// kind is a policy, in the order of Policies.
type kind uint8

const (
	accumulated kind = iota
	newestChange
	roundRobin
	fiedler
	unity
)

// rule is a policy with its parameters.
type rule struct {
	kind     kind
	constant uint64    // factor of the constants of fields, in millionths
	fixed    uint32    // constant of rows without such constants, in ErrorUnit
	first    int       // rows that precede all others
	weights  [4]uint32 // of fiedler: player, interacting, moving, rest
	gain     uint32    // of unity: importance
	min      uint64    // lower priorities are not sent
	newGain  uint64    // of unity: factor of rows that were never sent
}

// OrDefault returns p, or the first of Policies for the zero Policy.
func OrDefault(p policy.Policy) policy.Policy {
	if p == (policy.Policy{}) {
		return Policies.Default(Policies[0].Name)
	}
	return p
}

// newRule returns the rule of a policy of Policies; the first one for the zero Policy.
func newRule(p policy.Policy, m *Metric) (r rule) {
	p = OrDefault(p)
	for i := range Policies {
		if Policies[i].Name == p.Name() {
			r.kind = kind(i)
		}
	}
	r.first = int(p.Int("first"))
	switch r.kind {
	case accumulated:
		r.constant = uint64(p.Int("constant"))
		r.fixed = uint32(r.constant * m.unitConstant() / 1_000_000)
	case fiedler:
		for i, name := range []string{"player", "interacting", "moving", "rest"} {
			r.weights[i] = uint32(p.Int(name))
		}
	case unity:
		r.gain, r.min, r.newGain = uint32(p.Int("importance")), uint64(p.Int("min")), uint64(p.Int("new"))
	}
	return r
}

// ruleConstant returns what the policy adds to the error of a row with value cur, in ErrorUnit.
func (f *Filler) ruleConstant(cur, shown []int32) uint32 {
	if f.metric.constants == nil {
		return f.rule.fixed
	}
	return uint32(f.rule.constant * uint64(f.metric.largestConstant(cur, shown)) / 1_000_000)
}
