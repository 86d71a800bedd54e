package lossmodel

// lossKinds lists the models that a loss table can name. A new one is a file with
// the model and its process, and an entry here.
func lossKinds() []lossKind {
	path := ParamInfo{Name: "file", Unit: fileUnitName, Help: "path"}
	hash := ParamInfo{Name: "sha256", Help: "what the file's hash begins with; refused if it has changed"}
	by := ParamInfo{Name: "by", Default: "packet", Help: "packet: the n-th packet meets the n-th fate; time: that of the packet sent at the same time"}
	kind := func(from func(lossTable) (LossModel, error), name, source, summary string, params ...ParamInfo) lossKind {
		return lossKind{ModelInfo{Name: name, Source: source, Summary: summary, Params: params}, from}
	}
	return []lossKind{
		kind(bernoulliFrom, "bernoulli", "", "each packet is lost by itself",
			paramOf("p", percentUnit, "", "share lost")),
		kind(gilbertFrom, "gilbert", "E. N. Gilbert, Capacity of a Burst-Noise Channel, 1960", "bursts, in which everything is lost",
			paramOf("mean", percentUnit, "", "share lost"),
			paramOf("burst", burstUnit, "off", "mean number of packets lost in a row; off: that of independent losses")),
		kind(elliottFrom, "gilbert-elliott", "E. O. Elliott, Estimates of Error Rates for Codes on Burst-Noise Channels, 1963",
			"a good and a bad state, with losses in both",
			paramOf("p", percentUnit, "", "from good to bad, per packet"),
			paramOf("r", percentUnit, "", "from bad to good, per packet; above 0%"),
			paramOf("h", percentUnit, "0%", "share that arrives in the bad state"),
			paramOf("k", percentUnit, "100%", "share that arrives in the good state")),
		kind(fourStateFrom, "four-state", "S. Salsano, F. Ludovici, A. Ordine, Definition of a general and intuitive loss model, 2009; tc netem loss state",
			"bursts with arrivals in them, and single losses between",
			paramOf("p13", percentUnit, "", "a burst begins"),
			paramOf("p31", percentUnit, "", "a burst ends; 100% - p13 if not given"),
			paramOf("p32", percentUnit, "0%", "from losses to arrivals within a burst"),
			paramOf("p23", percentUnit, "100%", "from arrivals to losses within a burst"),
			paramOf("p14", percentUnit, "0%", "a single loss between bursts")),
		kind(correlatedFrom, "correlated", "", "each loss has an exact correlation with the one before it",
			paramOf("p", percentUnit, "", "share lost"),
			paramOf("rho", correlationUnit, "", "correlation of neighbours; below 0% spreads losses out")),
		kind(periodicFrom, "periodic", "", "every N-th packet is lost",
			paramOf("every", periodUnit, "", "N")),
		kind(patternFrom, "pattern", "", "a pattern that repeats: bits, or a file of them",
			ParamInfo{Name: "bits", Help: "0 for a packet that arrives, 1 for one that is lost"}, path, hash),
		kind(traceLossFrom, "trace", "", "what was lost in a capture is lost again", path, by, hash),
	}
}

// params returns the names that may stand beside the model's.
func (k *lossKind) params() (names []string) {
	for _, p := range k.Params {
		names = append(names, p.Name)
	}
	return names
}
