package setting

import "strings"

// Unmet returns the first of the needs of a setting that is not met, "" if all are met. A need is a list of
// alternatives, separated by " or ":
//
//	key              the setting called key does not have its default
//	key = value      the setting has the value, which parameters may follow
//	key != value     the setting has another value
//	a change of key  the setting changes
//	a setting of key like key, which is a table of settings
//
// get returns the text of a setting and its default. The text is "" if the setting changes or is unknown, so that it
// meets every need.
func Unmet(needs []string, get func(key string) (text, standard string)) string {
	for _, need := range needs {
		if !isMet(need, get) {
			return need
		}
	}
	return ""
}

// isMet reports whether one of the alternatives of a need is met.
func isMet(need string, get func(key string) (text, standard string)) bool {
	for alternative := range strings.SplitSeq(need, " or ") {
		key, isChange := strings.CutPrefix(strings.TrimPrefix(alternative, "a setting of "), "a change of ")
		key, operator, _ := strings.Cut(key, " ")
		text, standard := get(key)
		value, _ := strings.CutPrefix(operator, "= ")
		value, isOther := strings.CutPrefix(value, "!= ")
		switch {
		case text == "":
			return true
		case isChange:
		case value == "":
			if text != standard {
				return true
			}
		case hasValue(text, value) != isOther:
			return true
		}
	}
	return false
}

// hasValue reports whether the text of a setting is value, or value followed by parameters or an argument.
func hasValue(text, value string) bool {
	rest, found := strings.CutPrefix(text, value)
	return found && strings.Trim(rest[:min(len(rest), 1)], " :,") == ""
}
