package loss

import (
	"wirelab/internal/setting"
	"wirelab/lossmodel/tracefile"
)

// Descriptions of the parameters that all models with a file have.
var (
	pathParam = setting.ParamInfo{Name: "file", Unit: tracefile.UnitName, Help: "path"}
	hashParam = setting.ParamInfo{Name: "sha256", Help: "first digits of the file's SHA-256; a changed file is refused"}
	byParam   = setting.ParamInfo{Name: "by", Default: "packet",
		Help: "packet: packet n has the outcome of row n; time: a packet has the outcome of the row sent at the same time"}
)

// param is a parameter of a model of type M, with functions that read, check and format its value.
type param[M any] struct {
	setting.ParamInfo
	readValue  func(m *M, value any) error
	check      func(m *M) error
	text       func(m *M) string
	setDefault func(m *M) // computes the default from earlier parameters; nil if the default is ParamInfo.Default, if any
}

// newParam returns a parameter with values of unit u that is stored in a field of the model;
// field returns a pointer to it. Without a default (""), the parameter is required.
func newParam[M any, T comparable](u setting.Unit[T], field func(*M) *T, name, defaultText, help string) param[M] {
	key := "loss." + name
	return param[M]{
		ParamInfo: setting.ParamInfo{Name: name, Unit: u.Name, Default: defaultText, Min: u.Min, Max: u.Max, Help: help},
		readValue: func(m *M, value any) (err error) {
			if value == nil {
				return u.Refuse(key, "nothing")
			}
			*field(m), err = u.Read(key, value)
			return err
		},
		check: func(m *M) error {
			if v := *field(m); !u.InRange(v) {
				return u.Refuse(key, u.Format(v))
			}
			return nil
		},
		text: func(m *M) string { return u.Format(*field(m)) },
	}
}

// percent returns a parameter from 0% to 100%. The arguments are those of newParam.
func percent[M any](field func(*M) *float64, name, defaultText, help string) param[M] {
	return newParam(setting.Percent, field, name, defaultText, help)
}

// withDefault returns the parameter with a default that set computes from the parameters before it
// and stores in the model.
func (p param[M]) withDefault(set func(*M)) param[M] {
	p.setDefault = set
	return p
}

// params are the parameters of a model, in the order in which its text lists them.
type params[M any] []param[M]

// newKind returns the kind of a model with these parameters. finish converts the model after
// reading, for example to a simpler one; nil means that M itself is the Model.
func (ps params[M]) newKind(finish func(M) Model, info setting.ModelInfo) kind {
	for _, p := range ps {
		info.Params = append(info.Params, p.ParamInfo)
	}
	return kind{ModelInfo: info, read: func(t Table) (Model, error) {
		var m M
		for _, p := range ps {
			value := t[p.Name]
			switch {
			case value == nil && p.setDefault != nil: // the default depends on other parameters
				p.setDefault(&m)
				continue
			case value == nil && p.Default != "":
				value = p.Default
			}
			if err := p.readValue(&m, value); err != nil {
				return nil, err
			}
		}
		if finish != nil {
			return finish(m), nil
		}
		return any(m).(Model), nil
	}}
}

// check returns the error of the first parameter that is out of range.
func (ps params[M]) check(m M) error {
	for _, p := range ps {
		if err := p.check(&m); err != nil {
			return err
		}
	}
	return nil
}

// text formats the model m, whose name is model, with its parameters, such as "periodic every=9".
func (ps params[M]) text(model string, m M) string {
	for _, p := range ps {
		model += " " + p.Name + "=" + p.text(&m)
	}
	return model
}

// readFile reads the parameters "file", "by" and "sha256" of a table. Without them it returns the zero File. "by"
// or "sha256" without "file" is an error. description names the kind of file in errors, and hasTimes is true if
// the file may be replayed by send time; see tracefile.Unit.
func (t Table) readFile(description string, hasTimes bool) (f tracefile.File, err error) {
	u := tracefile.Unit(description, hasTimes)
	if t["file"] == nil {
		if t["by"] != nil || t["sha256"] != nil {
			return f, u.Refuse("loss.file", "nothing")
		}
		return f, nil
	}
	path, ok := t["file"].(string)
	f.Path = path
	if !ok || path == "" {
		return f, u.Refuse("loss.file", setting.FormatValue(t["file"]))
	}
	for _, key := range []string{"by", "sha256"} {
		value, given := t[key]
		if text, _ := value.(string); given && !f.Option(key, text) {
			return f, u.Refuse("loss."+key, setting.FormatValue(value))
		}
	}
	return f, nil
}
