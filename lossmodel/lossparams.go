package lossmodel

// ModelInfo describes one way to lose packets, for lists and help.
type ModelInfo struct {
	Name    string      `json:"name"` // as the key loss takes it, in words or as a table's model
	Summary string      `json:"summary"`
	Source  string      `json:"source,omitempty"`
	Params  []ParamInfo `json:"params"`
}

// ParamInfo describes a parameter of a model.
type ParamInfo struct {
	Name    string `json:"name"`
	Unit    string `json:"unit,omitempty"`
	Default string `json:"default,omitempty"` // empty: it must be given, or Help says when not
	Min     string `json:"min,omitempty"`
	Max     string `json:"max,omitempty"`
	Help    string `json:"help"`
}

// LossModels lists the models that the key loss takes.
func LossModels() []ModelInfo {
	var all []ModelInfo
	for _, k := range lossKinds() {
		all = append(all, k.ModelInfo)
	}
	return all
}

func paramOf[T comparable](name string, u unit[T], def, help string) ParamInfo {
	return ParamInfo{Name: name, Unit: u.name, Default: def, Min: u.min, Max: u.max, Help: help}
}

// lossParam reads one parameter of a table into a model.
type lossParam func(lossTable) error

// number is a parameter that must be given.
func number[T comparable](to *T, name string, u unit[T]) lossParam {
	return func(t lossTable) (err error) {
		*to, err = required(t, name, u)
		return err
	}
}

// optional is a parameter with a default.
func optional[T comparable](to *T, name string, u unit[T], def T) lossParam {
	return func(t lossTable) (err error) {
		if t[name] == nil {
			*to = def
			return nil
		}
		*to, err = required(t, name, u)
		return err
	}
}

// read reads parameters up to the first that is wrong.
func (t lossTable) read(params ...lossParam) error {
	for _, p := range params {
		if err := p(t); err != nil {
			return err
		}
	}
	return nil
}

// file reads file, by and sha256.
func (t lossTable) file(what string, timed bool) (f File, err error) {
	u := fileUnit(what, timed)
	if t["file"] == nil {
		if t["by"] != nil || t["sha256"] != nil {
			return f, u.refuse("loss.file", "nothing")
		}
		return f, nil
	}
	path, ok := t["file"].(string)
	if f.Path = path; !ok || path == "" {
		return f, u.refuse("loss.file", show(t["file"]))
	}
	for _, key := range []string{"by", "sha256"} {
		value, given := t[key]
		if text, _ := value.(string); given && !f.option(key, text) {
			return f, u.refuse("loss."+key, show(value))
		}
	}
	return f, nil
}
