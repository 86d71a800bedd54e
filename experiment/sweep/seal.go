package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"wirelab/experiment/engine"
)

// sealedBatch is the JSON of a batch, in messages and in files.
type sealedBatch struct {
	Plan    string      `json:"plan"`    // ID of the plan
	Version string      `json:"version"` // of the worker's program
	Worker  string      `json:"worker"`
	Runs    []sealedRun `json:"runs"`
	Error   string      `json:"error,omitempty"`
	Queued  bool        `json:"queued,omitempty"`
}

// sealedRun is an Outcome in JSON.
type sealedRun struct {
	Run    int             `json:"run"`
	Result json.RawMessage `json:"result"`
	// SHA256 is a hash of the plan's ID, Run and Result, which contains the seed. A plan's ID is a hash of its
	// configuration. The hash shows damage; what was altered on purpose, with a new hash, is found by verify.
	SHA256 string `json:"sha256"`
}

// hash returns the hash of r for SHA256. plan is the plan's ID.
func (r *sealedRun) hash(plan string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d ", plan, r.Run)
	h.Write(r.Result)
	return hex.EncodeToString(h.Sum(nil))
}

// seal returns the JSON of b. plan and version are those of the plan.
func (b *batch) seal(plan, version string) ([]byte, error) {
	x := sealedBatch{Plan: plan, Version: version, Worker: b.Worker, Error: b.Error, Queued: b.Queued}
	for _, o := range b.Runs {
		data, err := json.Marshal(o.Result)
		if err != nil {
			return nil, err
		}
		run := sealedRun{Run: o.Run, Result: data}
		run.SHA256 = run.hash(plan)
		x.Runs = append(x.Runs, run)
	}
	return json.Marshal(x)
}

// errOtherSweep means that results are of another plan or another version of the program.
var errOtherSweep = errors.New("contains the results of another sweep")

// open decodes the JSON of a batch of the given plan and version. It returns errOtherSweep or, if the JSON is damaged or
// a run does not have its hash, another error.
func open(data []byte, plan, version string) (b batch, err error) {
	var x sealedBatch
	if err := json.Unmarshal(data, &x); err != nil {
		return b, fmt.Errorf("cannot be read: %w", err)
	}
	if x.Plan != plan || x.Version != version {
		return b, errOtherSweep
	}
	b = batch{Worker: x.Worker, Error: x.Error, Queued: x.Queued}
	for _, run := range x.Runs {
		if run.SHA256 != run.hash(plan) {
			return b, fmt.Errorf("run %d is damaged or was altered: it does not have its hash", run.Run)
		}
		o := Outcome{Run: run.Run}
		if err := json.Unmarshal(run.Result, &o.Result); err != nil {
			return b, err
		}
		b.Runs = append(b.Runs, o)
	}
	return b, nil
}

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
