package channel

import (
	"encoding/binary"

	"github.com/flynn/noise"
)

// Sizes of the two Noise messages. Each has an ephemeral public key (32), a payload and a tag. The
// payload of the reply is the number of the session (4).
const (
	openingBytes = 32 + tagBytes
	replyBytes   = 32 + 4 + tagBytes
)

// opening is the dialer's Noise message.
type opening [openingBytes]byte

// reply is the listener's Noise message.
type reply [replyBytes]byte

// newNoise returns the state of a handshake Noise_NNpsk0_25519_AESGCM_SHA256: both peers prove that
// they have the token, and the session keys depend on two ephemeral private keys that are never stored or
// sent. The handshake fails if the peers use different purposes. initiator is true on the dialing side.
func (t *Token) newNoise(initiator bool, purpose uint8) *noise.HandshakeState {
	psk := derive(t.secret[:], "wirelab channel 2 noise")
	state, err := noise.NewHandshakeState(noise.Config{
		CipherSuite:  noise.NewCipherSuite(noise.DH25519, noise.CipherAESGCM, noise.HashSHA256),
		Pattern:      noise.HandshakeNN,
		Initiator:    initiator,
		Prologue:     []byte{version, purpose},
		PresharedKey: psk[:],
	})
	if err != nil {
		panic("channel: Noise refuses a constant configuration: " + err.Error())
	}
	return state
}

// sessionKeys is the result of a handshake.
type sessionKeys struct {
	session                  uint32
	fromDialer, fromListener [32]byte // keys of the two directions
}

// newOpening starts a handshake on the dialing side. The state is needed to read the reply.
func (t *Token) newOpening(purpose uint8) (*noise.HandshakeState, opening) {
	state := t.newNoise(true, purpose)
	b, _, _, err := state.WriteMessage(nil, nil)
	if err != nil {
		panic("channel: Noise cannot write its first message: " + err.Error())
	}
	return state, opening(b)
}

// answerOpening completes a handshake on the listening side: it returns the reply to an opening and
// the keys of the session, whose number the caller chooses. It fails if the opening was made with another
// token or purpose, or has an invalid ephemeral key.
func (t *Token) answerOpening(o opening, purpose uint8, session uint32) (reply, sessionKeys, error) {
	state := t.newNoise(false, purpose)
	if _, _, _, err := state.ReadMessage(nil, o[:]); err != nil {
		return reply{}, sessionKeys{}, err
	}
	b, fromDialer, fromListener, err := state.WriteMessage(nil, binary.BigEndian.AppendUint32(nil, session))
	if err != nil {
		return reply{}, sessionKeys{}, err
	}
	return reply(b), sessionKeys{session, fromDialer.UnsafeKey(), fromListener.UnsafeKey()}, nil
}

// readReply completes a handshake on the dialing side. It fails, and state may be used again, if the reply
// was not made for the opening of state.
func readReply(state *noise.HandshakeState, r reply) (sessionKeys, error) {
	payload, fromDialer, fromListener, err := state.ReadMessage(nil, r[:])
	if err != nil {
		return sessionKeys{}, err
	}
	return sessionKeys{binary.BigEndian.Uint32(payload), fromDialer.UnsafeKey(), fromListener.UnsafeKey()}, nil
}
