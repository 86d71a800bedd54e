package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/internal/escape"
	"wirelab/internal/units"
)

// The elements of the JUnit XML format that CI systems read.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Properties []junitProperty `xml:"properties>property"` // the main figures
		Cases      []junitCase     `xml:"testcase"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Failure *junitMessage `xml:"failure"`
		Error   *junitMessage `xml:"error"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
	}
)

// WriteJUnit writes a report in the JUnit XML format. Each run is a suite, named by r.File and its point
// of the sweep, such as "loss.toml: down.loss=5% seed=2", and each assertion is a test; further tests
// check what must hold in every run. The main figures are properties of the suite. If runs are missing,
// an additional suite has an error.
func WriteJUnit(w io.Writer, r *Report) error {
	suites := junitSuites{Name: "wirelab"}
	prefix := ""
	if r.File != "" {
		prefix = r.File + ": "
	}
	for i, run := range r.Runs {
		name := strings.TrimSuffix(prefix+PointName(run.Set), ": ")
		if name == "" || len(run.Set) == 0 && len(r.Runs) > 1 { // nothing distinguishes the run from the others
			name = prefix + fmt.Sprintf("run %d", i+1)
		}
		suites.add(junitSuiteOf(name, run))
	}
	if r.Error != "" || r.Interrupted || len(r.Runs) < r.Planned {
		why := r.Error
		if why == "" {
			why = fmt.Sprintf("%d of %d runs were finished", len(r.Runs), r.Planned)
		}
		suites.add(junitSuite{Name: prefix + "all runs", Tests: 1, Errors: 1, Cases: []junitCase{{Name: "finished", Class: "all runs", Error: newJUnitMessage(why)}}})
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(&suites); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// add adds a suite, with its counts added to those of s, and sets the class of its tests to its name.
func (s *junitSuites) add(x junitSuite) {
	x.Name = escape.Line(x.Name)
	for i := range x.Cases {
		x.Cases[i].Class = x.Name
	}
	s.Suites = append(s.Suites, x)
	s.Tests, s.Failures, s.Errors = s.Tests+x.Tests, s.Failures+x.Failures, s.Errors+x.Errors
}

// junitSuiteOf returns the suite of run r: its assertions, then the checks that apply to every run.
func junitSuiteOf(name string, r *engine.Result) junitSuite {
	s := junitSuite{Name: name}
	values := figures.Flatten(r.Totals)
	for _, row := range figures.Ranked(figures.Main) {
		if v, known := values[row.Key]; known {
			s.Properties = append(s.Properties, junitProperty{row.Key, units.General(v, -1)})
		}
	}
	add := func(name, failure string) { // an empty failure means that the test passed
		c := junitCase{Name: escape.Line(name)}
		if failure != "" {
			c.Failure, s.Failures = newJUnitMessage(failure), s.Failures+1
		}
		s.Cases, s.Tests = append(s.Cases, c), s.Tests+1
	}
	for _, a := range r.Assertions {
		failure := ""
		switch {
		case a.Absent:
			failure = "the run has no data for it"
		case !a.Holds:
			failure = fmt.Sprintf("measured %g", a.Got)
		}
		add(a.Name+" "+a.Bound, failure)
	}
	t := &r.Totals
	add("nothing decoded wrong", countMessage(t.Wrong, "packets decoded to a frame that differs from the sender's"))
	add("the encoder takes every frame", countMessage(t.EncodeFailed, "frames were rejected: "+r.CodecError))
	add("the decoder takes every undamaged packet", countMessage(t.DecodeRefused, "packets were rejected: "+r.CodecError))
	if n := len(r.Refused); n > 0 || len(r.Changes) > 0 {
		why := ""
		if n > 0 {
			why = fmt.Sprintf("%d could not be made; the first: %s", n, r.Refused[0].Why)
		}
		add("every change could be made", why)
	}
	if r.Interrupted {
		s.Cases = append(s.Cases, junitCase{Name: "finished", Error: newJUnitMessage(fmt.Sprintf("interrupted after %.1f s", r.DurationS))})
		s.Tests, s.Errors = s.Tests+1, s.Errors+1
	}
	return s
}

// countMessage returns the message of a failure that occurred n times; empty if n is 0.
func countMessage(n int64, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d %s", n, what)
}

// newJUnitMessage returns the element of a failure or an error.
func newJUnitMessage(message string) *junitMessage { return &junitMessage{escape.Line(message)} }
