package ui

import (
	"errors"
	"fmt"
	"slices"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/live"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/pages/packets"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/tour"

	tea "github.com/charmbracelet/bubbletea"
)

// Execute implements Screen: it sends the command of an order to the lab, then executes the part of
// the order that concerns the dashboard.
func (m *dashboard) Execute(o command.Order) (tea.Cmd, error) {
	if err := m.lab.Do(o.Command); err != nil {
		return nil, err
	}
	switch {
	case o.Crosshair != nil && *o.Crosshair == 0:
		m.crosshair = 0
	case o.Crosshair != nil:
		return m.perform(m.setCrosshair(*o.Crosshair)), nil
	case o.Packets != nil:
		return m.listPackets(*o.Packets)
	case o.FindRow != nil:
		return m.findRow(*o.FindRow)
	case o.HTML:
		return m.writeHTML(), nil
	case o.Previous:
		return nil, m.shadowPrevious()
	case o.Open != "":
		return m.openFile(o.Open), nil
	case o.Tour:
		m.startTour()
	case o.Quit != command.NoQuit:
		return m.quit(o.Quit), nil
	}
	return nil, nil
}

// writeHTML writes the HTML page of the selected report.
func (m *dashboard) writeHTML() tea.Cmd {
	if pane, _, ok := findPane[room.HTMLWriter](m.Shell); ok {
		return m.perform(pane.WriteHTML())
	}
	return nil
}

// List implements listScreen.
func (m *dashboard) List(commandName string) (room.Overlay, error) {
	isShadow := commandName == "shadow"
	reason := room.NoShadows(m.lab.Snap)
	switch {
	case isShadow && reason != "":
		return nil, errors.New(reason)
	case isShadow, commandName == "encoder":
		return m.cat.EncoderList(m.lab.Config(), m.lab.Snap, isShadow), nil
	case commandName == "profile":
		return m.cat.ProfileList(m.lab.Config()), nil
	case commandName == "open":
		return m.openList(), nil
	}
	return nil, nil
}

// updateEncoderList updates the list of encoders, if it is open, and reports whether it changed. While it is open, the
// lab estimates the encoders in it.
func (m *dashboard) updateEncoderList() (changed bool) {
	var wanted []config.Encoder
	if list, ok := m.overlay.(*controls.EncoderList); ok {
		changed = list.Observe(m.pageView(!allPanes))
		wanted = list.Encoders()
	}
	if !slices.EqualFunc(wanted, m.estimated, config.Encoder.Equal) && m.lab.Send(live.Command{Estimate: &wanted}) {
		m.estimated = wanted
	}
	return changed
}

// Context implements Screen: it returns the state by which typed commands are parsed and completed.
func (m *dashboard) Context() command.Context {
	snap := m.lab.Snap
	return command.Context{Catalog: m.cat, Config: m.lab.Config(), Schema: snap.Schema, World: snap.World, Screen: command.Lab,
		Paths: m.paths.Complete}
}

// explain returns the request to show the packet under the cursor of the page, the explanation of a pane or,
// if the page has neither, the explanation of recent problems.
func (m *dashboard) explain() room.Request {
	if id, ok := m.page().ChosenPacket(); ok {
		return room.Request{Packet: &id}
	}
	if r, ok := m.page().Reasons(); ok {
		return r
	}
	v := m.pageView(!allPanes)
	if v.Snap.Crowd != nil {
		return room.Refusal("x explains a crowd on the page Crowd")
	}
	box := packets.NewProblems(v.Snap, v.Cfg)
	if box == nil {
		return room.Request{Notice: "nothing to explain: no packet failed or was much larger than those before it"}
	}
	return room.Request{Overlay: box}
}

// errNoPackets means that the session has no page of packets.
var errNoPackets = errors.New("no client of this crowd is repeated; the page Crowd shows the newest packets of a client")

// listPackets opens the page of packets and executes an order for its list.
func (m *dashboard) listPackets(o room.PacketOrder) (tea.Cmd, error) {
	pane, page, ok := findPane[room.PacketLister](m.Shell)
	if !ok {
		return nil, errNoPackets
	}
	m.openPage(page)
	r, err := pane.ListPackets(o)
	return m.perform(r), err
}

// findRow opens the page that shows the bits of a row.
func (m *dashboard) findRow(row int) (tea.Cmd, error) {
	pane, page, ok := findPane[room.RowFinder](m.Shell)
	if !ok {
		return nil, errNoPackets
	}
	r, err := pane.FindRow(row)
	if err != nil {
		return nil, err
	}
	m.openPage(page)
	return m.perform(r), nil
}

// shadowPrevious adds a shadow: the active encoder as it was before its last change, so that the effect of the
// change can be compared.
func (m *dashboard) shadowPrevious() error {
	before, cfg := m.lab.Snap.PreviousEncoder, m.lab.Config()
	switch {
	case room.SendsFiles(m.lab.Snap.Schema):
		return errors.New("files have no shadows of the same transfer; the next transfer shows the effect of a change")
	case before == nil:
		return errors.New("the encoder has not been changed yet")
	case before.IsIn(cfg.Shadows):
		return fmt.Errorf("%s, the encoder before the change, is a shadow already; the page Compare compares them", before.Text())
	case before.Equal(cfg.Encoder):
		return fmt.Errorf("%s is the active encoder, and there is no earlier one", before.Text())
	}
	return m.lab.Do(*room.Change(config.NewChange("shadow", []config.Encoder{before.Clone()})).Command)
}

// startTour starts the guided tour. When the tour ends, the page that was open before is opened
// again.
func (m *dashboard) startTour() {
	pageBefore := m.page()
	m.lab.ReturnToPresent() // the tour needs the newest snapshot, not one in the past
	t, err := tour.New(m.lab, m.spotlight, func() {
		m.tour = nil
		m.openPage(max(slices.Index(m.pages, pageBefore), 0))
	})
	if err != nil {
		m.lab.Say(err.Error(), isError)
		return
	}
	m.tour = t
	t.Begin()
}

// spotlight opens the page of a step of the tour and highlights the place s on it that the step
// explains. tour.Nowhere ends the highlighting.
func (m *dashboard) spotlight(s tour.Spot) {
	if s != tour.Nowhere {
		if s.Page() == m.flow.Name && !slices.Contains(m.pages, m.flow) {
			m.pages = append(m.pages, m.flow)
		}
		m.open = m.pageNamed(s.Page())
	}
	for _, p := range m.pages {
		var highlighted *room.Slot
		for _, slot := range p.Slots {
			if pane, ok := slot.Pane.(tour.Lighter); ok && pane.Light(s) {
				highlighted = slot
			}
		}
		p.Highlight(highlighted)
		p.Redraw()
	}
	m.refreshAll()
}

// losesWork reports whether a run is not repeated by the same start of the program: it was changed, or it is over a
// real network.
func losesWork(snap *engine.Snapshot) bool { return len(snap.Log) > 0 || snap.To != "" }

// quit sends the pending changes and ends the program. With QuitSaving the program ends later,
// when the report is written. With QuitAsking it opens a question instead if more than askThreshold is
// unsaved and cannot be repeated by starting the program again. The command saves a run that failed.
func (m *dashboard) quit(mode command.QuitMode) tea.Cmd {
	m.lab.Flush()
	switch snap := m.lab.Snap; {
	case mode == command.QuitSaving:
		m.saveBefore(func() tea.Cmd { return m.Quit(failure(m.lab.Snap)) })
		return nil
	case mode == command.QuitAsking && snap.Now-snap.Saved > askThreshold && losesWork(snap) && !lostPeer(snap):
		m.overlay = newQuestion("Quit?", unsavedQuestion(snap.Now, snap.Now-snap.Saved),
			Choice{"s", "save and quit", room.Request{Line: "quit save"}}, Choice{"d", "quit without saving", room.Request{Line: "quit now"}})
		return nil
	}
	return m.Quit(failure(m.lab.Snap))
}

// saveBefore saves a report, and calls then when it is written.
func (m *dashboard) saveBefore(then func() tea.Cmd) {
	if m.lab.Send(live.Command{Save: &m.opt.ReportsDir}) {
		m.pendingSave.start(m.lab.Snap, then)
	}
}
