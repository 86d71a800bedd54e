package packetfilter

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"wirelab/experiment/config"
	"wirelab/experiment/engine/packetlog"
)

// maxLength is the maximum length of a filter in bytes. It bounds the depth of the parser's recursion.
const maxLength = 400

// Parse parses a filter. An empty text selects all packets. The errors are for the user.
func Parse(text string) (Filter, error) {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" || strings.EqualFold(text, allName) {
		return Filter{}, nil
	}
	if len(text) > maxLength {
		return Filter{}, fmt.Errorf("expected a filter of at most %d characters", maxLength)
	}
	p := &parser{tokens: splitTokens(text)}
	match, err := p.parseOr()
	if err == nil && p.token() != "" {
		err = fmt.Errorf("expected && or || before %q", p.token())
	}
	if err != nil {
		return Filter{}, err
	}
	return Filter{text: text, match: match, needsRows: p.needsRows}, nil
}

// splitTokens splits a filter into words, numbers and operators.
func splitTokens(text string) (tokens []string) {
	const operators = "&|!()=<>"
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		n := strings.IndexAny(text, operators+" ")
		switch {
		case n < 0:
			n = len(text)
		case n == 0 && len(text) > 1 && slices.Contains([]string{"&&", "||", "==", "!=", "<=", ">="}, text[:2]):
			n = 2
		case n == 0:
			n = 1
		}
		tokens, text = append(tokens, text[:n]), text[n:]
	}
	return tokens
}

// parser reads the tokens of a filter by recursive descent; see the package documentation for the grammar.
type parser struct {
	tokens    []string
	at        int // index of the next token
	needsRows bool
}

// token returns the next token, "" at the end.
func (p *parser) token() string {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return ""
}

// accept skips the next token and returns true if it is one of list, in upper or lower case.
func (p *parser) accept(list ...string) bool {
	if p.at == len(p.tokens) || !slices.Contains(list, strings.ToLower(p.tokens[p.at])) {
		return false
	}
	p.at++
	return true
}

// parseOr parses alternatives.
func (p *parser) parseOr() (predicate, error) {
	left, err := p.parseAnd()
	for err == nil && p.accept("||", "or") {
		a := left
		var b predicate
		b, err = p.parseAnd()
		left = func(e *Env, r *packetlog.Record) bool { return a(e, r) || b(e, r) }
	}
	return left, err
}

// parseAnd parses conditions that must all hold.
func (p *parser) parseAnd() (predicate, error) {
	left, err := p.parseNot()
	for err == nil && p.accept("&&", "and") {
		a := left
		var b predicate
		b, err = p.parseNot()
		left = func(e *Env, r *packetlog.Record) bool { return a(e, r) && b(e, r) }
	}
	return left, err
}

// parseNot parses a negation, a filter in parentheses, a condition or a comparison.
func (p *parser) parseNot() (predicate, error) {
	switch {
	case p.accept("!", "not"):
		inner, err := p.parseNot()
		return func(e *Env, r *packetlog.Record) bool { return !inner(e, r) }, err
	case p.accept("("):
		inner, err := p.parseOr()
		if err == nil && !p.accept(")") {
			err = errors.New("expected a closing parenthesis")
		}
		return inner, err
	case p.token() == "":
		return nil, errors.New("expected a condition at the end, such as lost or bytes > 800")
	}
	name := strings.ToLower(p.token())
	p.at++
	if match, ok := condition(name); ok {
		return match, nil
	}
	if !slices.Contains(FieldNames(), name) {
		return nil, unknownName(name)
	}
	return p.parseComparison(name)
}

// parseComparison parses operator and value after the name of a field.
func (p *parser) parseComparison(field string) (predicate, error) {
	op := p.token()
	if !p.accept("==", "=", "!=", "<", "<=", ">", ">=") {
		return nil, fmt.Errorf("expected a comparison after %s, such as %s", field, example(field))
	}
	if op == "=" {
		op = "=="
	}
	value := p.token()
	if value != "" {
		p.at++
	}
	if slices.Contains(times, field) && slices.Contains([]string{"us", "ms", "s", "m"}, p.token()) { // "100 ms" is the same as "100ms"
		value += p.token()
		p.at++
	}
	match, ok := comparison(field, op, value)
	if !ok {
		return nil, fmt.Errorf("expected a comparison such as %s, not %q", example(field), field+" "+op+" "+value)
	}
	p.needsRows = p.needsRows || field == rowField
	return match, nil
}

// example returns a comparison of a field.
func example(field string) string {
	possible := possibleTexts(field)
	switch {
	case possible != nil:
		return field + " == " + possible[len(possible)/2]
	case field == "encoder":
		return "encoder == rotor"
	case field == rowField:
		return "row == 417"
	case slices.Contains(times, field):
		return field + " > 100ms"
	}
	return field + " > 5"
}

// unknownName returns the error for a name that is neither a condition nor a field.
func unknownName(name string) error {
	known := append(Conditions(), FieldNames()...)
	help := "expected all, trouble, an outcome such as lost, or a comparison such as " + example("bytes")
	if near := config.Near(name, known); near != "" {
		help = "did you mean " + near + "?"
	}
	return fmt.Errorf("unknown filter %q; %s", name, help)
}
