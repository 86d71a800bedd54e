package patch

import "wirelab/encoders/patch/delta"

// newCoder returns the coder of a profile.
func newCoder(fast bool) coder {
	if fast {
		return &model{Model: delta.NewFast(), fresh: delta.NewFast}
	}
	return &model{Model: delta.New(), fresh: delta.New}
}

// model is a coder that can go back.
type model struct {
	*delta.Model
	saved *delta.Model // nil until Save
	fresh func() *delta.Model
}

// Save remembers what is learnt so far.
func (m *model) Save() {
	if m.saved == nil {
		m.saved = m.fresh()
	}
	m.saved.CopyFrom(m.Model)
}

// Restore returns to the last Save.
func (m *model) Restore() { m.Model.CopyFrom(m.saved) }
