package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"wirelab/dataset/frame"
	"wirelab/dataset/table"
	encodertable "wirelab/encoders/table"
	"wirelab/experiment/config"
	"wirelab/experiment/walkoff"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
)

// scalesResult is the JSON output of tui tune for tables.
type scalesResult struct {
	Data    string `json:"data"`
	Encoder string `json:"encoder"`
	*walkoff.ScaleResult
}

// tuneTable finds the cheapest scales of a table within the tolerances and writes them.
func (a *app) tuneTable(ctx context.Context, f tuneFlags) error {
	src, err := f.data.open(ctx)
	if err != nil {
		return err
	}
	defer closeSource(src)
	t, ok := src.(*table.Source)
	if !ok || t.Packed() {
		return usagef("%s has packed integers, which the game has rounded already; expected records as text", f.data.spec)
	}
	groups, otherUnits, err := f.scaleGroups(t.Schema())
	if err != nil {
		return err
	}
	if len(otherUnits) > 0 {
		a.remark("%s: --tolerance %s is not in the unit of these fields, which keep their scales: %s",
			f.data.spec, f.tolerance, strings.Join(otherUnits, ", "))
	}
	codec, err := encodertable.ByName(encodertable.Default(t.Schema()))
	if err != nil {
		return err
	}
	line := a.progress("tune")
	search := walkoff.ScaleSearch{Spec: f.data.spec, Layout: t.Layout(), Path: t.Path, Codec: codec, Clock: a.clock,
		Progress: line.report, Groups: groups}
	result, err := search.Run(ctx)
	line.done()
	if err != nil {
		return markDataError(err)
	}
	out := scalesResult{f.data.spec, codec.Name, result}
	return a.writeResult(out, func(w io.Writer) { writeScales(w, &out) })
}

// scaleGroups returns the groups of fields that the flags choose: those of --field as one group, or without the flag all
// quantities and angles, as similarFields groups them. Without --tolerance, that of a group is what its scale rounds by.
// otherUnits are the fields whose unit --tolerance does not have.
func (f *tuneFlags) scaleGroups(s *frame.Schema) (groups []walkoff.ScaleGroup, otherUnits []string, err error) {
	number, _ := units.Split(f.tolerance)
	if v, ok := units.ParseDecimal(number, 0); f.tolerance != "" && (!ok || !(v > 0)) {
		return nil, nil, usagef("--tolerance %q is not above 0; expected the largest rounding error, such as \"1 cm\"", f.tolerance)
	}
	var chosen [][]int // indices of fields, by group
	if f.field != "" {
		indices, err := f.chosenFields(s)
		if err != nil {
			return nil, nil, err
		}
		chosen = [][]int{indices}
	} else {
		chosen = similarFields(s)
	}
	for _, indices := range chosen {
		first := &s.Fields[indices[0]]
		tolerance := 0.0
		if f.tolerance != "" {
			if tolerance, err = table.ParseTolerance(f.tolerance, first.Unit); err != nil {
				if f.field == "" {
					for _, i := range indices {
						otherUnits = append(otherUnits, s.Fields[i].Name)
					}
					continue
				}
				return nil, nil, usagef("--tolerance: %w; expected %s", err, table.ToleranceExpected(first.Unit))
			}
		}
		groups = append(groups, walkoff.NewScaleGroup(s, indices, tolerance))
	}
	switch {
	case len(chosen) == 0:
		return nil, nil, usagef("%s has no quantities or angles, whose scale could be tuned", f.data.spec)
	case len(groups) == 0:
		return nil, nil, usagef("--tolerance %s fits no field of %s; expected a number with the unit of a field, such as \"1 cm\"", f.tolerance, f.data.spec)
	}
	return groups, otherUnits, nil
}

// chosenFields returns the indices of the fields that --field names. They must have the same kind and unit.
func (f *tuneFlags) chosenFields(s *frame.Schema) (indices []int, err error) {
	names := make([]string, len(s.Fields))
	for i := range s.Fields {
		names[i] = s.Fields[i].Name
	}
	for _, name := range strings.Split(f.field, ",") {
		i := slices.Index(names, strings.TrimSpace(name))
		if i < 0 {
			return nil, asUsageError(config.Unknown("--field", "field", name, names))
		}
		field := &s.Fields[i]
		if field.Kind != frame.Quantity && field.Kind != frame.Angle {
			return nil, usagef("--field: %s has the kind %s, which has no scale; expected quantities or angles", name, field.Kind)
		}
		if len(indices) > 0 {
			if first := &s.Fields[indices[0]]; field.Kind != first.Kind || field.Unit != first.Unit {
				return nil, usagef("--field: %s (%s in %q) and %s (%s in %q) cannot share a scale; expected fields of one kind and unit",
					first.Name, first.Kind, first.Unit, name, field.Kind, field.Unit)
			}
		}
		indices = append(indices, i)
	}
	return indices, nil
}

// similarFields returns the quantities and angles of s, grouped by kind, unit, scale and range. The axes of a position
// may differ in their ranges.
func similarFields(s *frame.Schema) (groups [][]int) {
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Kind != frame.Quantity && f.Kind != frame.Angle {
			continue
		}
		k := slices.IndexFunc(groups, func(g []int) bool {
			x := &s.Fields[g[0]]
			return x.Kind == f.Kind && x.Unit == f.Unit && x.Scale == f.Scale &&
				(x.Min == f.Min && x.Max == f.Max || len(s.Points([]int{g[0], i})) == 1)
		})
		if k < 0 {
			groups = append(groups, []int{i})
		} else {
			groups[k] = append(groups[k], i)
		}
	}
	return groups
}

// writeScales writes the curve of each group as a table.
func writeScales(w io.Writer, r *scalesResult) {
	printf(w, "%s with %s, %d frames: %s kbps with the scales of the schema, %s with the cheapest within the tolerances\n", r.Data, r.Encoder,
		r.Frames, formatNumber(r.Kbps), formatNumber(r.BestKbps))
	number := func(v float64) string { return units.General(v, 4) }
	for _, group := range r.Groups {
		unit := strings.TrimRight(" "+group.Unit, " ")
		measure := ""
		if len(group.Axes) < len(group.Fields) {
			measure = " of distance"
		}
		printf(w, "\n%s, tolerance %s%s%s: cheapest scale %s, in the schema %s\n", strings.Join(group.Fields, ", "), number(group.Tolerance), unit, measure,
			units.General(group.BestScale, -1), units.General(group.Scale, -1))
		g := texttable.New(">scale", ">max error", ">mean error", ">p99 error", ">kbps", "")
		for _, p := range group.Curve {
			note := ""
			switch {
			case p.Scale == group.BestScale:
				note = "cheapest within the tolerance"
			case !p.Within:
				note = "exceeds the tolerance"
			}
			g.Add(number(p.Scale), number(p.Max), number(p.Mean), number(p.P99), fmt.Sprintf("%.3f", p.Kbps), note)
		}
		g.WriteText(w, anyWidth)
	}
}
