package container

// messageParts returns the encoded parts of messages at the beginning of in, and skips them.
func messageParts(in *reader) []byte {
	all := in.rest
	for range in.byte() {
		in.bytes(3) // lane and number
		in.bytes(int(in.uint16()))
	}
	if in.failed {
		return nil
	}
	return all[:len(all)-len(in.rest)]
}
