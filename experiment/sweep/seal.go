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

// open decodes the JSON of a batch of the given plan and version. It returns errOtherSweep or, if the
// JSON is damaged or a run does not have its hash, another error.
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

// contentOf returns the values of the deterministic part of r by their dotted keys, such as
// "budget.0.bits". Unknown values, which are null or missing in JSON, are left out.
func contentOf(r *engine.Result) (map[string]any, error) {
	data, err := json.Marshal(r.Deterministic())
	if err != nil {
		return nil, err
	}
	var tree any
	err = json.Unmarshal(data, &tree)
	content := map[string]any{}
	addValues(content, "", tree)
	return content, err
}

// addValues adds the values of v, decoded JSON, to content. key is the dotted key of v; "" for the whole.
func addValues(content map[string]any, key string, v any) {
	switch x := v.(type) {
	case nil:
	case map[string]any:
		for name, value := range x {
			addValues(content, strings.TrimPrefix(key+"."+name, "."), value)
		}
	case []any:
		for i, value := range x {
			addValues(content, fmt.Sprintf("%s.%d", key, i), value)
		}
	default:
		content[key] = v
	}
}

// differences returns the keys of the values in which two results differ, figures of the first lane first.
func differences(a, b map[string]any) []string {
	var figureKeys, others []string
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if a[key] == b[key] {
			continue
		}
		if strings.HasPrefix(key, "totals.") {
			figureKeys = append(figureKeys, key)
		} else {
			others = append(others, key)
		}
	}
	return append(figureKeys, others...)
}
