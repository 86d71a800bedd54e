package ui

import (
	"errors"
	"path/filepath"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/openfile"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/live"
)

// openList is the list of what can be opened. It fills while files are examined in the background.
type openList struct {
	*controls.Picker
	search   *openfile.Search
	stepping bool // a step of the search is in progress
}

// openList returns the list of what can be opened, and starts the search for files.
func (m *dashboard) openList() room.Overlay {
	search := openfile.NewSearch(m.opt.Recent, m.opt.ReportsDir)
	list := controls.NewPicker("Open", "open", search.Found, "")
	list.Grows, list.Reading = true, true
	return &openList{Picker: list, search: search}
}

// continueSearch returns a command for the next step of the search; nil if none is due.
func (m *dashboard) continueSearch() tea.Cmd {
	list, isOpen := m.overlay.(*openList)
	if !isOpen || !list.Reading || list.stepping {
		return nil
	}
	list.stepping = true
	return func() tea.Msg {
		more := list.search.Step()
		return workDone(func() tea.Cmd {
			list.stepping, list.Reading = false, more
			list.SetOptions(list.search.Found)
			return nil
		})
	}
}

// errOpens means that another run cannot replace the present one.
var errOpens = errors.New("only a saved report can be opened while the receiver is on another machine; to send other data: tui --to TOKEN@HOST:PORT --data FILE")

// openFile returns the command that opens a file or a source of data: a report on the page of reports, a capture of a link
// as the links of this run, anything else in a new run. It asks first if much of the present run is unsaved.
func (m *dashboard) openFile(path string) tea.Cmd {
	return func() tea.Msg { // the file system may be slow
		kind, err := openfile.Recognise(path)
		return workDone(func() tea.Cmd {
			snap := m.lab.Snap
			switch {
			case err != nil:
				m.lab.Say(err.Error(), isError)
			case kind == openfile.Report:
				m.showReport(openfile.ReportPath(path))
				m.remember(path)
			case m.opt.Open == nil:
				m.lab.Say(errOpens.Error(), isError)
			case kind != openfile.LinkCapture && snap.Now-snap.Saved > askThreshold:
				m.askToOpen(path)
			default:
				return m.replaceRun(path)
			}
			return nil
		})
	}
}

// askToOpen asks whether to save the present run before it ends.
func (m *dashboard) askToOpen(path string) {
	snap := m.lab.Snap
	save := func() tea.Msg {
		return workDone(func() tea.Cmd {
			m.saveBefore(func() tea.Cmd { return m.replaceRun(path) })
			return nil
		})
	}
	m.overlay = newQuestion("Open "+filepath.Base(path)+"?", unsavedQuestion(snap.Now, snap.Now-snap.Saved),
		Choice{"s", "save and open", room.Request{Program: save}}, Choice{"d", "open without saving", room.Request{Program: m.replaceRun(path)}})
}

// openedLab is the message that a new run replaces the present one.
type openedLab struct {
	path string
	lab  room.Lab
	opt  Options
}

// replaceRun returns the command that opens a file with Options.Open.
func (m *dashboard) replaceRun(path string) tea.Cmd {
	m.pendingSave.then = nil
	return func() tea.Msg {
		opened, err := m.opt.Open(path)
		switch {
		case err != nil:
			return room.NoticeMsg{Text: err.Error(), IsError: true}
		case opened.Lab != nil:
			return openedLab{path, opened.Lab, m.opt}
		}
		return workDone(func() tea.Cmd {
			text := filepath.Base(path) + " sets the downlink: " + opened.Change.Label() + "; the uplink is unchanged"
			err := m.lab.Do(live.Command{Change: &opened.Change})
			if err != nil {
				text = err.Error()
			}
			m.lab.Say(text, err != nil)
			m.remember(path)
			return nil
		})
	}
}

// replace returns the dashboard of the opened run, on the terminal of the shell before.
func (o openedLab) replace(before *Shell) *Shell {
	o.opt.Tour, o.opt.Report = false, ""
	m := newDashboard(o.lab, o.opt)
	m.w, m.h = before.w, before.h
	m.line, m.output, m.sendFirst = before.line, before.output, before.sendFirst
	m.scheme = before.scheme
	m.applyTheme()
	m.lab.Say("opened "+o.path, !isError)
	m.remember(o.path)
	m.render()
	return m.Shell
}

// remember adds a path to those that were opened before. That the list cannot be written is no reason to interrupt.
func (m *dashboard) remember(path string) {
	if m.opt.Recent != "" {
		_ = openfile.Remember(m.opt.Recent, path)
	}
}

// showReport opens the page of saved reports at a report.
func (m *dashboard) showReport(path string) {
	if absolute, err := filepath.Abs(path); err == nil { // as the paths of the list are
		path = absolute
	}
	if list, page, ok := findPane[room.ReportLister](m.Shell); ok {
		m.openPage(page)
		m.perform(list.ShowReport(path))
	}
}
