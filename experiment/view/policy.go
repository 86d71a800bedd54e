package view

import (
	"wirelab/internal/policy"
)

// Policies are the rules by which the rows of a packet are chosen: those with the highest priority that fit. A row is
// a candidate if the client is expected to show another value. Most policies add something to the priority of each
// candidate with each packet, until the row is sent.
var Policies = policy.Set{
	{Name: "accumulated", Summary: "adds the error and a constant", Params: []policy.Param{constantParam, firstParam}},
	{Name: "accumulated-per-bit", Summary: "adds the error and a constant, and divides by the bits that the row takes",
		Params: []policy.Param{constantParam, firstParam}},
	{Name: "accumulated-error", Summary: "adds the error", Params: []policy.Param{firstParam}},
	{Name: "largest-error", Summary: "the largest error", Params: []policy.Param{firstParam}},
	{Name: "newest-change", Summary: "the row that changed last", Params: []policy.Param{firstParam}},
	{Name: "round-robin", Summary: "each row in turn", Params: []policy.Param{firstParam}},
	{Name: "fiedler", Summary: "Fiedler's accumulator: adds a weight that depends on what the cube does", Params: []policy.Param{
		policy.Count("player", 1_000_000, 0, 1_000_000, "weight of the player's cube, row 0"),
		policy.Count("interacting", 100, 0, 1_000_000, "weight of a cube that the player touches"),
		policy.Count("moving", 10, 0, 1_000_000, "weight of another row that changed since the packet before"),
		policy.Count("rest", 1, 0, 1_000_000, "weight of the other rows"), firstParam}},
	{Name: "unity", Summary: "Unity Netcode for Entities: importance times packets since the row was sent", Params: []policy.Param{
		policy.Count("importance", 1, 1, 1000, "importance of a row"),
		policy.Count("min", 0, 0, 1_000_000, "MinSendImportance: rows below it are not sent"), firstParam}},
	{Name: "iris", Summary: "Unreal's Iris: adds a priority; a row is considered from 1 on", Params: []policy.Param{
		policy.Decimal("priority", 1_000_000, 1000, 100_000_000, "priority that each packet adds"), firstParam}},
}

// Parameters that several policies have.
var (
	constantParam = policy.Decimal("constant", 1_000_000, 0, 1000_000_000,
		"what is added to the error, in units of 20 mm for cubes and of one quantum for other tables")
	firstParam = policy.Count("first", 0, 0, 1_000_000, "number of first rows that precede all others, such as 1 for the player")
)

// unitConstant returns the error of a constant of 1, in ErrorUnit.
func (m *Metric) unitConstant() int64 {
	if m.cubes {
		return 20 * ErrorUnit
	}
	return ErrorUnit
}

// kind is a policy, in the order of Policies.
type kind uint8

const (
	accumulated kind = iota
	accumulatedPerBit
	accumulatedError
	largestError
	newestChange
	roundRobin
	fiedler
	unity
	iris
)

// rule is a policy with its parameters.
type rule struct {
	kind     kind
	constant uint32    // in ErrorUnit
	first    int       // rows that precede all others
	weights  [4]uint32 // of fiedler: player, interacting, moving, rest
	gain     uint32    // of unity: importance; of iris: priority in thousandths
	min      uint64    // lower priorities are not sent
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
	case accumulated, accumulatedPerBit:
		r.constant = uint32(p.Int("constant") * m.unitConstant() / 1_000_000)
	case fiedler:
		for i, name := range []string{"player", "interacting", "moving", "rest"} {
			r.weights[i] = uint32(p.Int(name))
		}
	case unity:
		r.gain, r.min = uint32(p.Int("importance")), uint64(p.Int("min"))
	case iris:
		r.gain, r.min = uint32(p.Int("priority")/1000), 1000
	}
	return r
}
