package loss

import (
	"fmt"

	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/lossmodel/tracefile"
)

// Parameters of models that read a file.
var (
	fileParam = setting.ParamInfo{Name: "file", Unit: tracefile.UnitName, Help: "path"}
	hashParam = setting.ParamInfo{Name: "sha256", Help: "what the file's hash begins with; refused if it has changed"}
	byParam   = setting.ParamInfo{Name: "by", Default: "packet",
		Help: "packet: the n-th packet meets the n-th fate; time: that of the packet sent at the same time"}
)

func paramOf[T comparable](name string, u setting.Unit[T], def, help string) setting.ParamInfo {
	return setting.ParamInfo{Name: name, Unit: u.Name, Default: def, Min: u.Min, Max: u.Max, Help: help}
}

// param reads one parameter of a table into a model.
type param func(Table) error

// given is a parameter that must be given.
func given[T comparable](to *T, name string, u setting.Unit[T]) param {
	return func(t Table) (err error) {
		*to, err = required(t, name, u)
		return err
	}
}

// optional is a parameter with a default.
func optional[T comparable](to *T, name string, u setting.Unit[T], def T) param {
	return func(t Table) (err error) {
		if t[name] == nil {
			*to = def
			return nil
		}
		*to, err = required(t, name, u)
		return err
	}
}

// read reads parameters up to the first that is wrong.
func (t Table) read(params ...param) error {
	for _, p := range params {
		if err := p(t); err != nil {
			return err
		}
	}
	return nil
}

// file reads file, by and sha256.
func (t Table) file(what string, timed bool) (f tracefile.File, err error) {
	u := tracefile.Unit(what, timed)
	if t["file"] == nil {
		if t["by"] != nil || t["sha256"] != nil {
			return f, u.Refuse("loss.file", "nothing")
		}
		return f, nil
	}
	path, ok := t["file"].(string)
	if f.Path = path; !ok || path == "" {
		return f, u.Refuse("loss.file", setting.Show(t["file"]))
	}
	for _, key := range []string{"by", "sha256"} {
		value, given := t[key]
		if text, _ := value.(string); given && !f.Option(key, text) {
			return f, u.Refuse("loss."+key, setting.Show(value))
		}
	}
	return f, nil
}

// words writes a model with its parameters.
func modelText(model string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		model += " " + pairs[i] + "=" + pairs[i+1]
	}
	return model
}

// shares checks that parameters, given by name and value, are from 0 to 1.
func shares(pairs ...any) error {
	for i := 0; i < len(pairs); i += 2 {
		if v := pairs[i+1].(float64); !setting.Percent.In(v) {
			return setting.Percent.Refuse(fmt.Sprint("loss.", pairs[i]), units.FormatPercent(v))
		}
	}
	return nil
}
