package patch

import "wirelab/encoders/patch/delta"

// newCoder returns the coder of a profile.
func newCoder(fast bool) coder {
	return &mixing{Model: delta.New()}
}

// mixing is the coder of the profile that is small.
type mixing struct {
	*delta.Model
	saved *delta.Model
}

// Save remembers what is learnt so far.
func (m *mixing) Save() {
	if m.saved == nil {
		m.saved = delta.New()
	}
	m.saved.CopyFrom(m.Model)
}

// Restore returns to the last Save.
func (m *mixing) Restore() { m.Model.CopyFrom(m.saved) }
