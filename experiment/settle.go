package experiment

// Settle opens the data, as a run would, and makes what nobody has chosen fit it:
// the configuration is then the one that a run goes by. It fails as a run would,
// if the data cannot be had or the encoders do not take it.
func Settle(c *Config) error {
	s, err := NewSession(c, SessionOptions{})
	if err != nil {
		return err
	}
	c.Adopt(s.Settled())
	return s.Close()
}
