package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
)

// hashedOutcome is an Outcome in JSON.
type hashedOutcome struct {
	Run    int             `json:"run"`
	Result json.RawMessage `json:"result"`
	// SHA256 is a hash of the plan's ID, Run and Result, which contains the seed. A plan's ID is a hash of its
	// configuration. The hash shows damage; what was altered on purpose, with a new hash, is found by verify.
	SHA256 string `json:"sha256,omitempty"`
}

// hash returns the hash of o for SHA256. plan is the plan's ID.
func (o *hashedOutcome) hash(plan string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d ", plan, o.Run)
	h.Write(o.Result)
	return hex.EncodeToString(h.Sum(nil))
}

// plainJobResult is jobResult without its methods, which would call themselves.
type plainJobResult jobResult

// jobResultJSON is the JSON of a jobResult: the same keys, and runs with hashes.
type jobResultJSON struct {
	plainJobResult
	Runs []hashedOutcome `json:"runs"`
}

// MarshalJSON implements json.Marshaler. It adds a hash to each run.
func (r jobResult) MarshalJSON() ([]byte, error) {
	x := jobResultJSON{plainJobResult: plainJobResult(r)}
	for _, o := range r.Runs {
		data, err := json.Marshal(o.Result)
		if err != nil {
			return nil, err
		}
		run := hashedOutcome{Run: o.Run, Result: data}
		run.SHA256 = run.hash(r.Plan)
		x.Runs = append(x.Runs, run)
	}
	return json.Marshal(x)
}

// UnmarshalJSON implements json.Unmarshaler. It returns an error if a run does not have its hash. A run
// without a hash sets r.unhashed.
func (r *jobResult) UnmarshalJSON(data []byte) error {
	var x jobResultJSON
	if err := json.Unmarshal(data, &x); err != nil {
		return err
	}
	*r = jobResult(x.plainJobResult)
	r.Runs = nil
	for _, run := range x.Runs {
		if run.SHA256 == "" {
			r.unhashed = true
		} else if run.SHA256 != run.hash(r.Plan) {
			return fmt.Errorf("run %d is damaged or was altered: it does not have its hash", run.Run)
		}
		o := Outcome{Run: run.Run}
		if err := json.Unmarshal(run.Result, &o.Result); err != nil {
			return err
		}
		r.Runs = append(r.Runs, o)
	}
	return nil
}

// checkFigures returns an error if a result has another seed than run n of the plan, or a figure that no run can
// have.
func (p *Plan) checkFigures(n int, r *engine.Result) error {
	if seed := p.seed(n); r.Seed != seed {
		return fmt.Errorf("run %d has seed %d, expected %d", n, r.Seed, seed)
	}
	for lane := range len(r.Shadows) + 1 {
		totals, prefix := r.Totals, ""
		if lane > 0 {
			totals, prefix = r.Shadows[lane-1].Totals, fmt.Sprintf("shadows.%d.", lane-1)
		}
		if key, value, ok := figures.FindImpossible(&totals); ok {
			return fmt.Errorf("run %d has an impossible figure: %s%s is %s", n, prefix, key, value)
		}
	}
	return nil
}

// seed returns the seed of run n.
func (p *Plan) seed(n int) uint64 { return p.Points[n/p.Repeat].Config.Seed + uint64(n%p.Repeat) }

// contentHash is a hash of everything in which two executions of a run must agree.
type contentHash [sha256.Size]byte

// hashContent returns the contentHash of r. Before and after a transfer as JSON it is the same.
func hashContent(r *engine.Result) (contentHash, error) {
	content, err := contentOf(r)
	if err != nil {
		return contentHash{}, err
	}
	data, err := json.Marshal(content)
	return sha256.Sum256(data), err
}

// contentOf returns the deterministic part of r as decoded JSON, without null values: some of them are
// missing after a transfer.
func contentOf(r *engine.Result) (content any, err error) {
	data, err := json.Marshal(r.Deterministic())
	if err == nil {
		err = json.Unmarshal(data, &content)
	}
	removeNulls(content)
	return content, err
}

// removeNulls removes the keys whose values are null from v, decoded JSON, at all depths. An absent key and a null
// value mean the same, so that they must not differ when results are compared.
func removeNulls(v any) {
	switch x := v.(type) {
	case map[string]any:
		for k, sub := range x {
			if sub == nil {
				delete(x, k)
			}
			removeNulls(sub)
		}
	case []any:
		for _, sub := range x {
			removeNulls(sub)
		}
	}
}

// difference is a value that two results of one run do not have in common.
type difference struct {
	key  string // dotted; that of a figure of the first lane is without "totals."
	a, b any
}

// differences returns the values in which two results differ, figures of the first lane first.
func differences(a, b *engine.Result) []difference {
	x, err := contentOf(a)
	y, err2 := contentOf(b)
	if err != nil || err2 != nil {
		return nil
	}
	var list []difference
	addDifferences(&list, "", x, y)
	var first, others []difference
	for _, d := range list {
		if key, ok := strings.CutPrefix(d.key, "totals."); ok {
			first = append(first, difference{key, d.a, d.b})
		} else {
			others = append(others, d)
		}
	}
	return append(first, others...)
}

// addDifferences adds to list the values in which a and b, decoded JSON, differ. key is the key of a and b in the
// whole result, such as "totals.counts", or empty. Lists of different lengths count as one value.
func addDifferences(list *[]difference, key string, a, b any) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			keys := maps.Clone(x)
			maps.Copy(keys, y)
			for _, k := range slices.Sorted(maps.Keys(keys)) {
				addDifferences(list, strings.TrimPrefix(key+"."+k, "."), x[k], y[k])
			}
			return
		}
	case []any:
		if y, ok := b.([]any); ok && len(x) == len(y) {
			for i := range x {
				addDifferences(list, fmt.Sprintf("%s.%d", key, i), x[i], y[i])
			}
			return
		}
	default:
		if a == b {
			return
		}
	}
	*list = append(*list, difference{key, a, b})
}
