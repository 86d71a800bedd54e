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

// kind is a policy, in the order of Policies.
type kind uint8

const (
	accumulated kind = iota
	newestChange
	roundRobin
	fiedler
	unity
)

// rule is a policy with its parameters. Those of other kinds are 0.
type rule struct {
	kind     kind
	first    int       // rows that precede all others
	constant uint64    // of accumulated, in millionths of the constants of fields
	weights  [4]uint32 // of fiedler: player, interacting, moving, rest
	gain     uint32    // of unity: importance
	min      uint64    // of unity: lower priorities are not sent
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
func newRule(p policy.Policy) rule {
	p = OrDefault(p)
	r := rule{first: int(p.Int("first"))}
	for i := range Policies {
		if Policies[i].Name == p.Name() {
			r.kind = kind(i)
		}
	}
	switch r.kind {
	case accumulated:
		r.constant = uint64(p.Int("constant"))
	case fiedler:
		for i, name := range []string{"player", "interacting", "moving", "rest"} {
			r.weights[i] = uint32(p.Int(name))
		}
	case unity:
		r.gain, r.min, r.newGain = uint32(p.Int("importance")), uint64(p.Int("min")), uint64(p.Int("new"))
	}
	return r
}

// ruleConstant returns what the policy adds to the error of a row that has the value cur and is shown with
// another value, in ErrorUnit.
func (f *Filler) ruleConstant(cur, shown []int32) uint32 {
	return uint32(f.rule.constant * f.metric.constant(cur, shown) / 1_000_000)
}
